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
            sha256 = content.pop("sha256", None)
            ended = path.parent.name.partition("-")[0]
            time.strptime(ended, ENDED)
        except (ValueError, AttributeError, RecursionError):
            continue
        if sha256 in (None, fingerprint(content)):
            calls.append({**content, "ended": ended})
    return calls


def time_spent(calls: Iterable[dict[str, Any]], preset: str = "paper") -> str:
    """One paragraph about all calls with a preset: the clock, and what the time went into."""
    calls = [call for call in calls if call["preset"] == preset]
    if not calls:
        return ""
    spent: Counter[str] = Counter()
    for call in calls:
        spent.update(call["seconds"])
    parts = [f"{name} {value / spent.total():.0%}" for name, value in spent.most_common() if value]
    devices = ", ".join(sorted({call["device"]["kind"] for call in calls}))
    jobs = sorted({call["jobs"] for call in calls})
    return (
        f"Time on the clock: {_on_the_clock(calls) / 60:.0f} minutes in "
        f"{len(calls)} calls of `algotransfer reproduce` on {devices}, some of them at the same "
        f"time, each with {' or '.join(map(str, jobs))} steps at once. The steps' own time, "
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
