"""Runs as one archive, to go on with them on another machine."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import shutil
import tarfile
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from algotransfer.archive import load_arrays
from algotransfer.evaluation.runs import EVALUATION, parse_evaluation
from algotransfer.experiment import Experiment
from algotransfer.files import (
    DamagedFile,
    ForeignFile,
    Notice,
    open_atomically,
    set_aside,
    write_atomically,
)
from algotransfer.locks import locked
from algotransfer.reproduce.log import CALL, CALLS, read_call
from algotransfer.sums import SUMS, is_sealed, seal
from algotransfer.training.checkpoints import FORMAT as CHECKPOINT_FORMAT
from algotransfer.training.runs import (
    CHECKPOINT,
    FORMAT,
    METRICS,
    WEIGHTS,
    card_configuration,
    read_config,
    run_folder,
)
from algotransfer.training.slices import ENVIRONMENT, read_entries

LARGEST = 2**32  # bytes that an archive may unpack to
AT_ONCE = 2**26  # bytes that reading may ask for at once: names and sizes need far fewer
MOST_FOLDERS = 10_000  # of runs and of calls in one archive
LONGEST_PART = 255  # bytes in a part of a path, as most file systems have it
MOST_NOTES = 20  # sentences about what was left out
CONFIG = "config.json"


def pack(folder: str | Path, archive: str | Path) -> int:
    """Puts the files of all runs below a folder into an archive; returns how many.

    Equal runs give equal bytes: no times, and nothing about whoever packs them.
    """
    files, packed = sorted(Path(folder).glob("*/*/*")), 0
    files = [path for path in files if path.name in NAMES]
    if (folders := len({path.parent for path in files})) > MOST_FOLDERS:
        raise ValueError(
            f"{folder} holds {folders} runs and calls; an archive takes at most {MOST_FOLDERS}: "
            "move some of them to another folder"
        )
    with (
        open_atomically(archive) as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as tar,
    ):
        for path in files:
            try:
                content = path.read_bytes()
            except FileNotFoundError:  # a checkpoint goes when a training ends
                continue
            member = tarfile.TarInfo(str(path.relative_to(folder)))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
            packed += 1
    return packed


def unpack(archive: str | Path, folder: str | Path) -> int:
    """Takes runs out of an archive; only plain files of runs, nothing that leaves the folder.

    The whole archive is read before the first file is written. Every file is compared with its
    hash, and with the run that its folder is named after; a `Notice` names those that are left out.

    Weights that hold stay as they are, and so does a checkpoint after as many epochs or more. When
    weights arrive, the checkpoint that led to them goes. With the same weights on both sides, files
    that are missing or damaged here are taken, and an evaluation that has all lines of the one
    here and more.

    **Returns:** how many files were taken.
    """
    taken, notes = 0, []
    try:
        with gzip.open(archive) as content:
            members = _check(content, archive)
            content.seek(0)
            with tarfile.open(fileobj=content, mode="r:") as tar:
                for run, files in itertools.groupby(members, _run_of):
                    with tempfile.TemporaryDirectory() as place:
                        incoming = Path(place, run)
                        _extract(tar, files, incoming)
                        names, more = _take(incoming, Path(folder, run))
                    taken += len(names)
                    notes += [f"{archive}: {run}: {note}"[:400] for note in more]
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFile(f"{archive} is damaged or no archive of runs ({error})") from error
    for note in notes[:MOST_NOTES]:
        warnings.warn(note, Notice, stacklevel=2)
    if len(notes) > MOST_NOTES:
        more = f"{archive}: {len(notes) - MOST_NOTES} more files or runs were left out"
        warnings.warn(more, Notice, stacklevel=2)
    return taken


def _run_of(member: tarfile.TarInfo) -> PurePosixPath:
    return PurePosixPath(member.name).parent


def _check(content: gzip.GzipFile, archive: str | Path) -> list[tarfile.TarInfo]:
    """The members of an archive, after a look at each and at the checksum behind the last."""
    limited = _Limited(content, f"{archive} unpacks to more than {LARGEST} bytes")
    members: list[tarfile.TarInfo] = []
    names: set[PurePosixPath] = set()
    runs: list[PurePosixPath] = []
    total = 0
    with tarfile.open(fileobj=cast(BinaryIO, limited), mode="r:") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            inside = len(path.parts) == 3 and ".." not in path.parts and not path.is_absolute()
            short = all(len(os.fsencode(part)) <= LONGEST_PART for part in path.parts)
            if not (member.isfile() and inside and short and path.name in NAMES):
                raise ValueError(f"{archive} holds {member.name!r:.80}, which is no file of a run")
            if path in names:
                raise ValueError(f"{archive} holds {member.name!r:.80} twice; pack the runs again")
            total += member.size
            if total > LARGEST:
                raise ValueError(limited.too_much)
            if not runs or path.parent != runs[-1]:
                runs.append(path.parent)
            if len(runs) > MOST_FOLDERS:
                raise ValueError(
                    f"{archive} holds more than {MOST_FOLDERS} runs and calls; pack fewer at once"
                )
            names.add(path)
            members.append(member)
    while limited.read(2**20):
        pass
    if len(set(runs)) < len(runs):  # going back in a compressed stream takes long
        raise ValueError(f"{archive} has files of one run in several places; pack the runs again")
    return members


def _extract(tar: tarfile.TarFile, files: Iterable[tarfile.TarInfo], place: Path) -> None:
    place.mkdir(parents=True)
    for member in files:
        content = tar.extractfile(member)
        assert content is not None  # a plain file has content
        with (place / PurePosixPath(member.name).name).open("wb") as stream:
            shutil.copyfileobj(content, stream)


@dataclass(frozen=True)
class _Contents:
    """The files of a run folder that hold, and what is wrong with the others.

    **Arguments:**

    - `weights`: the hash of the weights; None if there are none that hold.
    - `epochs`: behind the checkpoint; 0 if there is none that holds.
    """

    files: frozenset[str]
    problems: tuple[str, ...]
    weights: str | None
    epochs: int


def _inspect(run: Path) -> _Contents:
    """Compares the files of a run with their hashes and with the name of their folder."""
    files: set[str] = set()
    problems: list[str] = []
    found: dict[str, Any] = {}
    for name in sorted(NAMES):
        if not (run / name).is_file():
            continue
        try:
            found[name] = NAMES[name](run / name)
            files.add(name)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            reason = str(error).replace(f"{run}{os.sep}", "")
            problems.append(f"{name} is left out ({reason})")
    weights = found.get(WEIGHTS)
    return _Contents(frozenset(files), tuple(problems), weights, found.get(CHECKPOINT, 0))


def _check_config(path: Path) -> None:
    config = read_config(path.parent)
    if config is None:
        raise DamagedFile("it is not the configuration that its folder is named after")
    _check_name(path, config)


def _check_weights(path: Path) -> str:
    card = load_arrays(path)[1]
    if card.get("format") != FORMAT:
        raise ValueError(f"its format is {card.get('format')!r:.80}, expected {FORMAT!r}")
    _check_name(path, card_configuration(card))
    return card["sha256"]


def _check_checkpoint(path: Path) -> int:
    card = load_arrays(path)[1]
    epoch = card.get("epoch")
    if card.get("format") != CHECKPOINT_FORMAT or type(epoch) is not int:
        raise ValueError(f"its format is {card.get('format')!r:.80}, not {CHECKPOINT_FORMAT!r}")
    _check_name(path, card.get("config"))
    return epoch


def _check_name(path: Path, config: Any) -> None:
    """Raise unless a file is in the folder of the run with this configuration."""
    fields = config.get("experiment") if isinstance(config, dict) else None
    expected = run_folder(path.parents[2], Experiment.from_json(fields), config)
    if path.parent != expected:
        raise ForeignFile(f"it belongs to the run {expected.parent.name}/{expected.name}")


def _check_metrics(path: Path) -> None:
    if (path.parent / WEIGHTS).exists():  # before that it grows, and checkpoints have a copy
        _check_sealed(path)
    for line in path.read_bytes().split(b"\n")[:-1]:
        json.loads(line)


def _check_evaluation(path: Path) -> None:
    _check_sealed(path)
    seeds = set(parse_evaluation(path)["seed"].dropna())
    config = read_config(path.parent)
    if config is not None and not seeds <= {*config["seeds"]}:
        raise ForeignFile(f"it is of the seeds {sorted(seeds)!s:.80}, which the run does not have")


def _check_sealed(path: Path) -> None:
    if not is_sealed(path):
        raise DamagedFile(f"it does not match its line in {SUMS}")


def _check_sums(path: Path) -> None:
    """Lines are compared with files, and written anew for those that are taken."""


def _check_call(path: Path) -> None:
    if path.parents[1].name != CALLS:
        raise ForeignFile("it is not the record of a call")
    read_call(path)


# What a run consists of; each function raises a ValueError if a file does not hold.
NAMES: dict[str, Callable[[Path], Any]] = {
    CONFIG: _check_config,
    ENVIRONMENT: read_entries,
    METRICS: _check_metrics,
    CHECKPOINT: _check_checkpoint,
    WEIGHTS: _check_weights,
    EVALUATION: _check_evaluation,
    SUMS: _check_sums,
    CALL: _check_call,
}


def _take(incoming: Path, run: Path) -> tuple[list[str], list[str]]:
    """Writes what is better than the files here.

    **Returns:** names of the files that were taken, and sentences about those left out.
    """
    theirs = _inspect(incoming)
    notes = list(theirs.problems)
    if not theirs.files - {SUMS}:
        return [], notes
    run.mkdir(parents=True, exist_ok=True)
    with locked(run):
        ours = _inspect(run)
        if ours.weights and theirs.weights not in (None, ours.weights):
            notes.append("it has ended here with other weights, which stay; remove them to replace")
        wanted = _wanted(ours, theirs, incoming, run)
        if WEIGHTS in wanted:
            for name in {WEIGHTS, METRICS, EVALUATION} - {*wanted} | {WEIGHTS}:
                if (run / name).exists():
                    reason = f"{run / name} does not belong to the weights that were unpacked"
                    set_aside(run / name, reason, "it is not used any more")
        for name in wanted:
            write_atomically(run / name, (incoming / name).read_bytes())
            if name == EVALUATION or (name == METRICS and theirs.weights):
                seal(run / name)
        if WEIGHTS in wanted:
            (run / CHECKPOINT).unlink(missing_ok=True)
    return wanted, notes


def _wanted(ours: _Contents, theirs: _Contents, incoming: Path, run: Path) -> list[str]:
    """Names of the files to take, in the order in which they are written."""
    names = theirs.files - {SUMS}
    if ours.weights:
        names -= {CHECKPOINT} | ours.files
        if theirs.weights != ours.weights:
            names = frozenset()
        elif EVALUATION in theirs.files & ours.files:
            lines = [set((at / EVALUATION).read_bytes().splitlines()) for at in (run, incoming)]
            names |= {EVALUATION} if lines[0] < lines[1] else set()
    elif theirs.weights:
        names -= {CHECKPOINT}
    elif theirs.epochs > ours.epochs:
        names -= {EVALUATION}
    else:
        names -= {EVALUATION, CHECKPOINT} | ours.files
    return [name for name in NAMES if name in names]


class _Limited:
    """What comes out of a compressed stream, until it is too much."""

    def __init__(self, stream: gzip.GzipFile, too_much: str):
        self.stream, self.too_much = stream, too_much

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; never all that there are."""
        if not 0 <= size <= AT_ONCE or self.stream.tell() > LARGEST:
            raise ValueError(self.too_much)
        return self.stream.read(size)

    def seek(self, place: int) -> int:
        """Goes there, by reading everything before it."""
        if place > LARGEST:
            raise ValueError(self.too_much)
        return self.stream.seek(place)

    def tell(self) -> int:
        """The place in what comes out."""
        return self.stream.tell()
