"""Devices: which one to use, and how much of its memory was used."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Any

import jax


def find_device(name: str | None) -> Any:
    """The first device of a kind, `cpu` or `gpu`; without a name the default one."""
    if name is None:
        return default_device()
    try:
        return jax.devices(name)[0]
    except RuntimeError as error:
        kinds = sorted({device.platform for device in jax.devices()})
        raise ValueError(f"no device {name!r:.80} here; there is {', '.join(kinds)}") from error


def default_device() -> Any:
    """The device that arrays go to by default: the best there is, unless somebody chose one."""
    chosen = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    if chosen is None:
        return jax.devices()[0]
    return find_device(chosen) if isinstance(chosen, str) else chosen


def default_platform() -> str:
    """Its kind, `cpu` or `gpu`; JAX's own `default_backend` would not notice a choice."""
    return default_device().platform


def has_tf32() -> bool:
    """Whether the default device is an NVIDIA GPU that multiplies tf32: Ampere or newer."""
    major, *_ = str(getattr(default_device(), "compute_capability", "0")).split(".")
    return major.isdigit() and int(major) >= 8


def memory_limit() -> int:
    """Bytes that the default device has (for a CPU: the machine)."""
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _memory_statistics().get("bytes_limit") or of_machine


def peak_memory() -> int:
    """The most bytes used so far on the default device (for a CPU: by this process)."""
    return _memory_statistics().get("peak_bytes_in_use") or peak_of_process()


def peak_of_process() -> int:
    """The most bytes of memory that this process has had at once.

    `getrusage` would count the parent's peak too where a process was started by `vfork`, so
    that Linux's own count for this program is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        counts = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if "VmHWM" in counts:
            return int(counts["VmHWM"].split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, others kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _memory_statistics() -> dict[str, int]:
    """What the device that arrays go to by default says of its memory; a CPU says nothing."""
    return default_device().memory_stats() or {}
