"""`make faults`: inject hundreds of random faults and print a table of the outcomes."""

from __future__ import annotations

import argparse
import io
import random
import tempfile
import time
import traceback
from contextlib import redirect_stderr
from pathlib import Path

from rich.progress import track

from algotransfer.training.runs import environment, write_json
from faults.campaign import KINDS, Case
from faults.signals import PROCESSES, in_processes
from faults.work import digest, quick, work


def main() -> int:
    """Injects faults of all kinds in turn; the exit status says whether anything was lost."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=240, help="in tiny runs, within one process")
    parser.add_argument("--processes", type=int, default=42, help="on processes of their own")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other faults")
    parser.add_argument("--out", type=Path, help="file for the numbers (.json)")
    options = parser.parse_args()
    began, record = time.monotonic(), environment()
    record["command"] = ["python", "-m", "faults", *record["command"][1:]]
    kinds = [list(KINDS)[k % len(KINDS)] for k in range(options.faults)]
    kinds += [PROCESSES[k % len(PROCESSES)] for k in range(options.processes)]
    rows = {kind: {"injected": 0, "survived": 0} for kind in dict.fromkeys(kinds)}
    quick()
    with tempfile.TemporaryDirectory() as place:
        finished = Path(place, "finished")
        work(finished)
        for number, kind in enumerate(track(kinds, "faults")):
            rows[kind]["injected"] += 1
            folder = Path(place, str(number))
            folder.mkdir()
            dice = random.Random(f"{options.seed} {number}")
            fault = KINDS.get(kind) or in_processes(kind)
            noise = io.StringIO()
            try:
                with redirect_stderr(noise):
                    fault(Case(folder, dice, finished, digest(finished)))
                rows[kind]["survived"] += 1
            except Exception:  # noqa: BLE001 whatever it was, it is counted, shown, and fails
                print(f"{kind}, number {number}, seed {options.seed}:\n{traceback.format_exc()}")
    lost = sum(row["injected"] - row["survived"] for row in rows.values())
    for kind, row in rows.items():
        print(f"{kind:28} {row['injected']:4} injected {row['survived']:4} survived")
    print(f"{sum(row['injected'] for row in rows.values())} faults, {lost} lost")
    if options.out:
        content = {**record, "seed": options.seed, "faults": rows}
        write_json(options.out, {**content, "seconds": round(time.monotonic() - began)})
    return lost > 0


if __name__ == "__main__":
    raise SystemExit(main())
