"""Compiled programs are kept on disk, so that the second run of an experiment starts in seconds.

JAX does the keeping, and its key covers the program and the versions. The folder is in the user's
cache (`$XDG_CACHE_HOME`, or `~/.cache`) and named after the processor, since programs for one may
not run on another. Where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import glob
import hashlib
import os
import platform
import re
import sys
from contextlib import suppress
from pathlib import Path

SWITCH = "ALGOTRANSFER_COMPILATION_CACHE"  # 0 switches it off, a path names another folder
FOLDER, LEAST_SECONDS = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
UNREADABLE = re.compile(r"Error reading persistent compilation cache entry for '([^']*)'")
SECONDS = 0.5  # programs that compile faster are not worth a file


def keep_compiled_programs() -> Path | None:
    """Tells JAX to keep what it compiles, unless its user has named a folder; imports nothing.

    **Returns:** the folder, or None where none is used or JAX has been told already.
    """
    if FOLDER.upper() in os.environ:
        return None
    folder = cache_folder()
    if folder is None:
        return None
    for entry in folder.glob("*-cache"):  # left by a full disk; JAX would never write them again
        with suppress(OSError):
            if entry.stat().st_size == 0:
                entry.unlink()
    settings = {FOLDER: str(folder), LEAST_SECONDS: SECONDS}
    jax = sys.modules.get("jax")
    if jax is None:  # it will read its environment when it is imported
        os.environ.update({name.upper(): str(value) for name, value in settings.items()})
    elif jax.config.jax_compilation_cache_dir is None:
        for name, value in settings.items():
            jax.config.update(name, value)
    return folder


def remove_unreadable(warning: str) -> bool:
    """Remove the entries that JAX warns it cannot read, so that it writes them again.

    **Returns:** whether this was such a warning, and entries of ours were removed.
    """
    match = UNREADABLE.match(warning)
    if match is None or (folder := cache_folder()) is None:
        return False
    entries = list(folder.glob(f"{glob.escape(match[1])}-*-cache"))
    for entry in entries:
        with suppress(OSError):
            entry.unlink()
    return bool(entries)


def cache_folder() -> Path | None:
    """Where compiled programs are kept; None if that is switched off or nowhere possible."""
    named = os.environ.get(SWITCH, "")
    if named == "0":
        return None
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = Path(named) if named else home / "algotransfer" / f"compiled-{_processor()}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a home that cannot be found, or written
        return None
    return folder if os.access(folder, os.W_OK) else None


def _processor() -> str:
    """A few letters that differ between processors with different instructions."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:  # not a Linux
        features = platform.processor()
    return hashlib.sha256(f"{platform.machine()} {features}".encode()).hexdigest()[:8]
