"""Log of the calls of `reproduce`: wall time, activities and step counts, one file each."""

import calendar
import json
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from algotransfer.experiment import fingerprint
from algotransfer.files import DamagedFile
from algotransfer.reproduce.runner import StepResult
from algotransfer.training.runs import environment, write_json

CALLS, CALL = "calls", "call.json"
END_FORMAT = "%Y%m%dT%H%M%SZ"  # end of the call, in the name of its folder


def log_call(folder: Path, results: Sequence[StepResult], wall: float, **settings: Any) -> None:
    """Write the wall time of a call, its seconds by activity, and the number of steps by state."""
    spent: Counter[str] = Counter()
    for result in results:
        spent.update(result.seconds)
    place = folder / CALLS / f"{time.strftime(END_FORMAT, time.gmtime())}-{secrets.token_hex(2)}"
    place.mkdir(parents=True)
    content = {
        **environment(),
        **settings,
        "wall": round(wall, 1),
        "seconds": {name: round(value, 1) for name, value in spent.items()},
        "states": dict(Counter(result.state for result in results)),
    }
    write_json(place / CALL, {**content, "sha256": fingerprint(content)})


def read_calls(folder: Path) -> list[dict[str, Any]]:
    """Return the calls on a folder, oldest first, without damaged records."""
    calls = []
    for path in sorted(folder.glob(f"{CALLS}/*/{CALL}")):
        with suppress(DamagedFile):
            calls.append(read_call(path))
    return calls


def read_call(path: Path) -> dict[str, Any]:
    """Read the record of one call; raise `DamagedFile` unless it holds what was written."""
    try:
        content = json.loads(path.read_bytes())
        sha256 = content.pop("sha256")
        ended = path.parent.name.partition("-")[0]
        time.strptime(ended, END_FORMAT)
        if sha256 == fingerprint(content):
            return {**content, "ended": ended}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise DamagedFile(f"{path} is damaged")


def time_spent(calls: Iterable[dict[str, Any]], slices: Iterable[dict[str, Any]] = ()) -> str:
    """Return a paragraph about the time of all calls with the preset `paper`.

    Only calls on the device with the longest wall time count; the paragraph names the others. The
    time by activity is that of the slices of runs, since early calls lack that of paused steps.
    """
    devices: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        if call["preset"] == "paper":
            devices.setdefault(call["device"]["kind"], []).append(call)
    if not devices:
        return ""
    device = max(devices, key=lambda kind: _wall_seconds(devices[kind]))
    counted = devices.pop(device)
    spent: Counter[str] = Counter()
    trained = [s for s in slices if "reproduce" in s["command"] and s["device"]["kind"] == device]
    for part in trained or counted:
        spent.update(part["seconds"])
    shares = [f"{name} {value / spent.total():.0%}" for name, value in spent.most_common() if value]
    jobs = [call["jobs"] for call in counted]
    at_once = f"{max(jobs)}" if min(jobs) == max(jobs) else f"{min(jobs)} to {max(jobs)}"
    others = ", ".join(f"{len(left)} on {kind}" for kind, left in devices.items())
    return (
        f"Wall-clock time: {_wall_seconds(counted) / 60:.0f} minutes in "
        f"{len(counted)} calls of `algotransfer reproduce` on {device}"
        f"{f' (not counted: {others})' if others else ''}, some of them concurrent, each with "
        f"{at_once} steps at a time. Summed over steps: "
        f"{spent.total() / 60:.0f} minutes ({', '.join(shares)}).\n"
    )


def _wall_seconds(calls: Iterable[dict[str, Any]]) -> float:
    """Return the seconds during which at least one call was running."""
    total, until = 0.0, 0.0
    ends = (
        (calendar.timegm(time.strptime(call["ended"], END_FORMAT)), call["wall"]) for call in calls
    )
    for began, end in sorted((end - wall, end) for end, wall in ends):
        total += max(0.0, end - max(began, until))
        until = max(until, end)
    return total
