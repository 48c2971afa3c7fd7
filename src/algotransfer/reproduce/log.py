"""What every call of `reproduce` took: a small file each, which travels with the runs."""

from __future__ import annotations

import calendar
import itertools
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
from algotransfer.reproduce.runner import Result
from algotransfer.training.runs import environment, write_json

CALLS, CALL = "calls", "call.json"
LONGEST_TIME = 1e12  # seconds
ENDED = "%Y%m%dT%H%M%SZ"  # in the name of a call's folder: when it ended


def log_call(folder: Path, results: Sequence[Result], wall: float, **settings: Any) -> None:
    """Keeps the time on the clock, what it went into, and how many steps were done."""
    spent: Counter[str] = Counter()
    for result in results:
        spent.update(result.seconds)
    place = folder / CALLS / f"{time.strftime(ENDED, time.gmtime())}-{secrets.token_hex(2)}"
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
    """The calls that worked on a folder, oldest first, without damaged records."""
    calls = []
    for path in sorted(folder.glob(f"{CALLS}/*/{CALL}")):
        with suppress(DamagedFile):
            calls.append(read_call(path))
    return calls


def read_call(path: Path) -> dict[str, Any]:
    """Read the record of one call; raise `DamagedFile` unless it is what was written."""
    try:
        content = json.loads(path.read_bytes())
        sha256 = content.pop("sha256")
        ended = path.parent.name.partition("-")[0]
        time.strptime(ended, ENDED)
        if sha256 == fingerprint(content):
            return {**content, "ended": ended}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise DamagedFile(f"{path} is damaged")


def check_calls(calls: Any, path: Path) -> None:
    """Raise a ValueError unless these are calls as `time_spent` reads them."""
    for call in _list(calls, path, "calls"):
        _check(isinstance(call.get("preset"), str), path, "a call without preset")
        _check_work(call, path)
        _check(_is_time(call.get("wall")), path, f"wall={call.get('wall')!r:.80}")
        _check(type(call.get("jobs")) is int, path, f"jobs={call.get('jobs')!r:.80}")
        try:
            time.strptime(call["ended"], ENDED)
        except (KeyError, TypeError, ValueError):
            _check(False, path, f"ended={call.get('ended')!r:.80}")


def check_slices(runs: Any, path: Path) -> None:
    """Raise a ValueError unless these are runs, each a list of slices."""
    for entry in itertools.chain.from_iterable(_list(run, path, "slices") for run in runs):
        _check(isinstance(entry.get("command"), list), path, "a slice without command")
        _check_work(entry, path)


def _list(entries: Any, path: Path, what: str) -> list[dict[str, Any]]:
    _check(isinstance(entries, list), path, f"{what} that are no list")
    _check(all(isinstance(entry, dict) for entry in entries), path, f"{what} that are no objects")
    return entries


def _check_work(entry: dict[str, Any], path: Path) -> None:
    device, seconds = entry.get("device"), entry.get("seconds")
    named = isinstance(device, dict) and isinstance(device.get("kind"), str)
    _check(named, path, f"device={device!r:.80}")
    counted = isinstance(seconds, dict) and all(map(_is_time, seconds.values()))
    _check(counted, path, f"seconds={seconds!r:.80}")


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < LONGEST_TIME


def _check(holds: bool, path: Path, found: str) -> None:
    if not holds:
        raise ValueError(
            f"{path} holds {found}, which `algotransfer report` does not write; fetch it again, or "
            "remove it to do without the note on time"
        )


def time_spent(
    calls: Iterable[dict[str, Any]], slices: Iterable[dict[str, Any]] = (), preset: str = "paper"
) -> str:
    """One paragraph about all calls with a preset: the clock, and what the time went into.

    Calls count on the device that was at work the longest; others are only mentioned.

    **Arguments:**

    - `slices`: of the runs, as their environments list them, for what the time went into; by
        default the calls say it, of which the first ones did not keep what paused steps took.
    """
    devices: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        if call["preset"] == preset:
            devices.setdefault(call["device"]["kind"], []).append(call)
    if not devices:
        return ""
    device = max(devices, key=lambda kind: _on_the_clock(devices[kind]))
    counted = devices.pop(device)
    spent: Counter[str] = Counter()
    own = [s for s in slices if "reproduce" in s["command"] and s["device"]["kind"] == device]
    for part in own or counted:
        spent.update(part["seconds"])
    parts = [f"{name} {value / spent.total():.0%}" for name, value in spent.most_common() if value]
    jobs = [call["jobs"] for call in counted]
    up_to = f"{max(jobs)}" if min(jobs) == max(jobs) else f"{min(jobs)} to {max(jobs)}"
    others = ", ".join(f"{len(left)} on {kind}" for kind, left in devices.items())
    return (
        f"Time on the clock: {_on_the_clock(counted) / 60:.0f} minutes in "
        f"{len(counted)} calls of `algotransfer reproduce` on {device}"
        f"{f' (not counted: {others})' if others else ''}, some of them at the same time, each "
        f"with {up_to} steps at once. The steps' own time, "
        f"{spent.total() / 60:.0f} minutes side by side, went into: {', '.join(parts)}.\n"
    )


def _on_the_clock(calls: Iterable[dict[str, Any]]) -> float:
    """Seconds in which at least one call was at work."""
    total, until = 0.0, 0.0
    ends = ((calendar.timegm(time.strptime(call["ended"], ENDED)), call["wall"]) for call in calls)
    for began, end in sorted((end - wall, end) for end, wall in ends):
        total += max(0.0, end - max(began, until))
        until = max(until, end)
    return total
