"""Faults by kind, and the conditions that must hold afterwards.

Each kind is a function of a `Case` (a new folder, a random generator, the expected results). It
raises AssertionError if a result is lost, half-written or silently wrong, or if a message is not
one that a user would understand.
"""

from __future__ import annotations

import io
import random
import shutil
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from algotransfer.array_files import load_arrays
from algotransfer.checksums import write_checksum
from algotransfer.cli import main
from algotransfer.datasets import load_dataset, make_dataset, save_dataset
from algotransfer.files import DamagedFile, Notice
from algotransfer.locks import locked
from algotransfer.reproduce.packing import pack, unpack
from faults.disk import TROUBLES, Disk, Killed, failing
from faults.work import STEPS, check_whole, digest, work

CACHED = ("weights.npz", "checkpoint.npz", "evaluation.csv", "config.json", "metrics.jsonl")
MORE = ("environment.json", "SHA256SUMS")
# How a failed step may explain itself; the last one names a folder that cannot be made.
UNDERSTOOD = ("Killed", "KeyboardInterrupt", "needs ", "cannot write", "Error: [Errno")


@dataclass
class Case:
    """One fault: where it happens, dice for its details, and what should come out."""

    folder: Path
    dice: random.Random
    finished: Path
    expected: dict[str, str]

    def start(self, done: bool | None) -> Path:
        """A folder with everything finished, half of it, or nothing."""
        runs = self.folder / "runs"
        if done:
            shutil.copytree(self.finished, runs)
        elif done is False:
            work(runs, epochs=self.dice.randint(1, 4))
        return runs

    def resume(self, runs: Path) -> None:
        """Runs again, undisturbed: all that is missing is made, and nothing differs."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)
            results = work(runs)
        bad = [result for result in results if result.reason]
        assert not bad, f"after the fault: {bad}"
        assert digest(runs) == self.expected, "results differ from those of an undisturbed run"
        left = [path.name for path in runs.rglob(".*")]
        assert not left, f"left behind: {left}"


def disk_trouble(trouble: str) -> Callable[[Case], None]:
    """Something happens at a random write: of a fresh start, or of going on."""

    def fault(case: Case) -> None:
        runs = case.start(case.dice.choice([None, False]))
        for _ in range(case.dice.randint(1, 2)):  # the second time while going on
            disk = Disk(runs, trouble, case.dice.randint(1, 110))
            try:
                with failing(disk):
                    said = [result.reason for result in work(runs)]
            except (Killed, KeyboardInterrupt, OSError) as error:
                said = [f"{type(error).__name__}: {error}"]
            for reason in said:
                assert not reason or any(word in reason for word in UNDERSTOOD), reason
            if runs.exists():
                check_whole(runs)
        case.resume(runs)

    return fault


def damage(case: Case, path: Path) -> None:
    """Cuts a file off, flips bits in it, empties it or fills it with noise."""
    content = bytearray(path.read_bytes())
    way = case.dice.choice(["cut", "flip", "flip", "empty", "noise"])
    if way == "cut":
        content = content[: case.dice.randrange(max(len(content), 1))]
    elif way == "flip" and content:
        for _ in range(case.dice.choice([1, 1, 8])):
            content[case.dice.randrange(len(content))] ^= 1 << case.dice.randrange(8)
    elif way == "empty":
        content = bytearray()
    else:
        content = bytearray(case.dice.randbytes(len(content)))
    path.write_bytes(content)


def damaged(name: str) -> Callable[[Case], None]:
    """A file of the cache is not what was written; it must not be believed."""

    def fault(case: Case) -> None:
        runs = case.start(done=name != "checkpoint.npz" and case.dice.random() < 0.7)
        paths = sorted(runs.rglob(name))
        if not paths:  # not every file is there in the middle of a training
            runs = case.start(done=True) if not runs.exists() else runs
            paths = sorted(runs.rglob(name)) or sorted(runs.rglob("config.json"))
        path = case.dice.choice(paths)
        before = path.read_bytes()
        damage(case, path)
        if name == "metrics.jsonl" and (path.parent / "weights.npz").exists():
            refused_log(case, runs, path, before)
        else:
            case.resume(runs)

    return fault


def refused_log(case: Case, runs: Path, path: Path, before: bytes) -> None:
    """The log of a finished run cannot be made again: it is set aside, and the results stand."""
    same = path.read_bytes() == before
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", Notice)
        results = work(runs)
    assert not [result for result in results if result.reason]
    assert same or (path.parent / "metrics.jsonl.damaged").exists(), "a damaged log is believed"
    assert same or any("metrics.jsonl" in str(w.message) for w in told)
    del case.expected[str(path.relative_to(runs))]
    ours = digest(runs)
    ours.pop(str(path.relative_to(runs)), None)
    assert ours == case.expected


def damaged_data(case: Case) -> None:
    """A data file: refused with a sentence, or what it says is unchanged."""
    path = case.folder / "data.npz"
    save_dataset(make_dataset("er", 3, 6), path, "dijkstra")
    _, card = load_arrays(path)
    damage(case, path)
    try:
        load_dataset(path)
    except DamagedFile as error:
        said = str(error)
    else:
        assert load_arrays(path)[1] == card
        return
    assert "is damaged or was not written by algotransfer" in said


def damaged_archive(case: Case) -> None:
    """An archive: refused before anything is written, or what it brings is unchanged."""
    runs = case.start(done=case.dice.random() < 0.5)
    archive = case.folder / "runs.tar.gz"
    pack(runs, archive)
    damage(case, archive)
    there = case.folder / "there"
    said = ""
    try:
        unpack(archive, there)
    except ValueError as error:
        said = str(error)
    assert not said or str(archive) in said
    assert not (said and there.exists()), "something was unpacked from a damaged archive"
    case.resume(there)


def archive_of_damage(case: Case) -> None:
    """An archive with a damaged or foreign file, over a good folder: nothing there changes."""
    runs = case.start(done=True)
    there = case.folder / "there"
    shutil.copytree(case.finished, there)
    path = case.dice.choice(sorted(there.rglob("*/*/*")))
    if case.dice.random() < 0.5:
        damage(case, path)
    else:
        swap(case, there, path)
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    pack(there, case.folder / "runs.tar.gz")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", Notice)
        assert unpack(case.folder / "runs.tar.gz", runs) == 0
    assert {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()} == before
    for warning in told:
        assert "is left out" in str(warning.message) or "which stay" in str(warning.message)
    case.resume(runs)


def swap(case: Case, runs: Path, path: Path) -> None:
    """Puts the file of the same name of another run in the place of a file."""
    others = [other for other in runs.rglob(path.name) if other.parent != path.parent]
    path.write_bytes(case.dice.choice(sorted(others)).read_bytes())


def foreign_file(case: Case) -> None:
    """A file of another run lies in the folder: it must not pass as the run's own."""
    runs = case.start(done=True)
    name = case.dice.choice(("weights.npz", "evaluation.csv", "config.json", "environment.json"))
    swap(case, runs, case.dice.choice(sorted(runs.rglob(name))))
    case.resume(runs)


def foreign_table(case: Case) -> None:
    """A table or record of another kind: a report refuses it in one sentence and writes nothing."""
    runs, out = case.start(done=True), case.folder / "out"
    path = case.dice.choice(sorted(runs.rglob("evaluation.csv")))
    rows = path.read_text().splitlines()
    column = case.dice.choice([3, 6, 7])  # num_nodes, value, num_graphs
    fields = rows[1].split(",")
    fields[column] = case.dice.choice(["text", "<b>", "\x1b[31m"])
    kinds = [["a,b", "1,2"], [], [rows[0], ",".join(fields)], [rows[0].upper(), *rows[1:]]]
    path.write_text("".join(f"{row}\n" for row in case.dice.choice(kinds)))
    write_checksum(path)
    said = io.StringIO()
    with redirect_stderr(said):
        assert main(["report", "--folder", str(runs), "--out", str(out)]) == 2
    *_, error = said.getvalue().splitlines()
    assert said.getvalue().count("error: ") == 1, said.getvalue()
    assert error.startswith("error: ")
    assert "\x1b[31m" not in said.getvalue()
    assert not out.exists()


def two_at_once(case: Case) -> None:
    """Another process works in the same folder: the second is told so and changes nothing."""
    runs = case.start(done=False)
    run = STEPS[0].train.path(runs)
    run.mkdir(parents=True, exist_ok=True)
    with locked(run):
        before = {path: path.read_bytes() for path in run.iterdir()}
        (result,) = (result for result in work(runs) if result.reason)
        assert result.state == "waiting"
        assert "is in use by process" in result.reason
        assert {path: path.read_bytes() for path in run.iterdir()} == before
    case.resume(runs)


def two_threads(case: Case) -> None:
    """Two runners begin at the same moment: together they leave what one alone does."""
    runs = case.folder / "runs"
    threads = [threading.Thread(target=work, args=(runs,)) for _ in range(2)]
    for thread in threads:
        thread.start()
        time.sleep(case.dice.uniform(0, 0.1))
    for thread in threads:
        thread.join()
    check_whole(runs)
    case.resume(runs)


def clock_set_back(case: Case) -> None:
    """The clock stands at 1970 and runs backwards; files have dates in the future."""
    runs = case.start(done=case.dice.choice([None, False]))
    original, now = time.time, [1000.0]

    def backwards():
        now[0] -= 1.0
        return now[0]

    time.time = backwards
    try:
        case.resume(runs)
        pack(runs, case.folder / "runs.tar.gz")
    finally:
        time.time = original
    pack(runs, case.folder / "later.tar.gz")
    first, second = ((case.folder / f"{n}.tar.gz").read_bytes() for n in ("runs", "later"))
    assert first == second


KINDS: dict[str, Callable[[Case], None]] = {
    **{f"{trouble} while writing": disk_trouble(trouble) for trouble in TROUBLES},
    **{f"{name} damaged": damaged(name) for name in (*CACHED, *MORE)},
    "data file damaged": damaged_data,
    "packed archive damaged": damaged_archive,
    "archive of damaged files": archive_of_damage,
    "file of another run": foreign_file,
    "foreign table of results": foreign_table,
    "folder in use": two_at_once,
    "two runners at once": two_threads,
    "clock set back": clock_set_back,
}
