"""Comparison of measurements with an earlier output of `algotransfer bench`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from algotransfer.errors import UserError
from algotransfer.files import read_json

SLOWER_RATIO = 1.1  # time over the baseline's time above which a measurement is reported


class ComparedTime(NamedTuple):
    """Milliseconds per step of one measurement, now and in the baseline."""

    part: str
    what: str
    now: float
    before: float

    @property
    def ratio(self) -> float:
        """Time over the baseline's time."""
        return self.now / self.before

    @property
    def is_slower(self) -> bool:
        """Whether it takes over a tenth longer than the baseline."""
        return self.ratio > SLOWER_RATIO


def compare_times(rows: Iterable[dict], baseline: Iterable[Any]) -> list[ComparedTime]:
    """Return the measurements that are in both; rows of other formats are ignored."""
    before = {(row["part"], row["what"]): row for row in baseline if _is_measurement(row)}
    return [
        ComparedTime(*name, row["milliseconds_per_step"], before[name]["milliseconds_per_step"])
        for row in rows
        if (name := (row["part"], row["what"])) in before
    ]


def _is_measurement(row: Any) -> bool:
    if not isinstance(row, dict) or not {"part", "what"} <= row.keys():
        return False
    milliseconds = row.get("milliseconds_per_step")
    return isinstance(milliseconds, int | float) and milliseconds > 0


def read_baseline(path: Path) -> dict[str, Any]:
    """Read an output of `algotransfer bench`."""
    baseline = read_json(path, "rows")
    if not isinstance(baseline["rows"], list):
        raise UserError(f"rows of {path} is not a list; expected an output of `bench --out`")
    return baseline


def committed_baselines(device: dict[str, str], cores: int | None, folder: Path) -> list[Path]:
    """Return the files `bench*.json` of a folder that were measured on such a device.

    All CPUs have one name; only those with the same number of cores are compared.
    """
    found = []
    for path in sorted(folder.glob("bench*.json")):
        content = read_json(path)
        same_cores = device["platform"] != "cpu" or content.get("cores") == cores
        if content.get("device") == device and same_cores:
            found.append(path)
    return found
