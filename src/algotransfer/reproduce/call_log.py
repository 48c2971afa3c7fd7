"""What every call of `reproduce` took: a small file each, which travels with the runs."""

from __future__ import annotations

import calendar
import json
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from algotransfer.experiment import fingerprint
from algotransfer.reproduce.runner import Result
from algotransfer.training.runs import environment, write_json

CALLS, CALL = "calls", "call.json"
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
        try:
            content = json.loads(path.read_bytes())
            sha256 = content.pop("sha256")
            ended = path.parent.name.partition("-")[0]
            time.strptime(ended, ENDED)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if sha256 == fingerprint(content):
            calls.append({**content, "ended": ended})
    return calls


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
