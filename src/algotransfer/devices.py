"""Device selection and memory use."""

import os
import resource
import sys
from pathlib import Path
from typing import Any

import jax

from algotransfer.errors import UserError


def find_device(name: str | None) -> Any:
    """Return the first device of a platform, `cpu` or `gpu`; the default device for None."""
    if name is None:
        return default_device()
    try:
        return jax.devices(name)[0]
    except RuntimeError as error:
        kinds = sorted({device.platform for device in jax.devices()})
        raise UserError(
            f"there is no device {name!r:.80}; choose from {', '.join(kinds)}"
        ) from error


def default_device() -> Any:
    """Return the device for new arrays: `jax.default_device` if set, else the best one."""
    chosen = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    if chosen is None:
        return jax.devices()[0]
    return find_device(chosen) if isinstance(chosen, str) else chosen


def default_platform() -> str:
    """Return its platform, `cpu` or `gpu` (`jax.default_backend` ignores `jax.default_device`)."""
    return default_device().platform


def has_tf32() -> bool:
    """Return whether the default device is an NVIDIA GPU with tf32: Ampere or newer."""
    major, *_ = str(getattr(default_device(), "compute_capability", "0")).split(".")
    return major.isdigit() and int(major) >= 8


def memory_limit() -> int:
    """Return the bytes of memory of the default device (for a CPU: of the machine)."""
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _memory_statistics().get("bytes_limit") or of_machine


def peak_memory() -> int:
    """Return the peak memory on the default device in bytes (for a CPU: of this process)."""
    return _memory_statistics().get("peak_bytes_in_use") or peak_of_process()


def peak_of_process() -> int:
    """Return the peak memory of this process in bytes.

    Read from `/proc` on Linux, since `getrusage` includes the peak of the parent in a process
    started by `vfork`.
    """
    status = Path("/proc/self/status")
    if status.exists():
        counts = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if "VmHWM" in counts:
            return int(counts["VmHWM"].split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, others kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _memory_statistics() -> dict[str, int]:
    """Return the memory statistics of the default device; a CPU has none."""
    return default_device().memory_stats() or {}
