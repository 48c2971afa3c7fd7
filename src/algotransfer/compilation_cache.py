"""Persistent compilation cache of JAX, so that the second run of an experiment starts in seconds.

The folder is in the user's cache (`$XDG_CACHE_HOME`, or `~/.cache`) and named after the processor,
since programs for one may not run on another. Without a writable folder there is no cache.
"""

import glob
import hashlib
import os
import platform
import re
import sys
from contextlib import suppress
from pathlib import Path

SWITCH = "ALGOTRANSFER_COMPILATION_CACHE"  # 0: no cache; a path: another folder
FOLDER, LEAST_SECONDS = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
UNREADABLE = re.compile(r"Error reading persistent compilation cache entry for '([^']*)'")
SECONDS = 0.01  # programs that compile faster are not stored; a small network has dozens


def keep_compiled_programs() -> Path | None:
    """Enable the compilation cache of JAX, unless the user has set its folder; import nothing.

    **Returns:** the folder, or None if there is no cache or the user has set it.
    """
    if FOLDER.upper() in os.environ:
        return None
    folder = cache_folder()
    if folder is None:
        return None
    for entry in folder.glob("*-cache"):  # a full disk leaves empty entries; JAX keeps them
        with suppress(OSError):
            if entry.stat().st_size == 0:
                entry.unlink()
    settings = {FOLDER: str(folder), LEAST_SECONDS: SECONDS}
    jax = sys.modules.get("jax")
    if jax is None:  # it reads its environment on import
        os.environ.update({name.upper(): str(value) for name, value in settings.items()})
    elif jax.config.jax_compilation_cache_dir is None:
        for name, value in settings.items():
            jax.config.update(name, value)
    return folder


def remove_unreadable(warning: str) -> bool:
    """Remove the cache entries that a warning of JAX calls unreadable, so that JAX rewrites them.

    **Returns:** whether entries of our cache were removed.
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
    """Return the folder of the cache; None if it is switched off or not writable."""
    named = os.environ.get(SWITCH, "")
    if named == "0":
        return None
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = Path(named) if named else home / "algotransfer" / f"compiled-{processor_hash()}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home folder, or not writable
        return None
    return folder if os.access(folder, os.W_OK) else None


def processor_hash() -> str:
    """Return a short hash of the instruction set of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:  # not Linux
        features = platform.processor()
    return hashlib.sha256(f"{platform.machine()} {features}".encode()).hexdigest()[:8]
