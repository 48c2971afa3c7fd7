"""Archives of runs, to continue them on another machine."""

import gzip
import io
import itertools
import json
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from algotransfer.array_files import load_arrays
from algotransfer.checksums import CHECKSUMS_FILE, has_valid_checksum, write_checksum
from algotransfer.errors import UserError
from algotransfer.evaluation.evaluate import COLUMNS, EVALUATION, read_table
from algotransfer.experiment import Experiment
from algotransfer.files import (
    DamagedFile,
    ForeignFile,
    notify,
    open_atomically,
    set_aside,
    write_atomically,
)
from algotransfer.locks import locked
from algotransfer.reproduce.call_log import CALL, CALLS, read_call
from algotransfer.training.epochs import CHECKPOINT_FORMAT
from algotransfer.training.provenance import ENVIRONMENT, read_entries
from algotransfer.training.runs import (
    CHECKPOINT,
    FORMAT,
    METRICS,
    WEIGHTS,
    card_configuration,
    read_config,
    run_folder,
)

MAX_UNPACKED_BYTES = 2**32  # bytes that an archive may unpack to
MAX_READ_BYTES = 2**26  # bytes that reading may ask for at once: names and sizes need far fewer
MAX_FOLDERS = 2_000  # of runs and of calls in one archive; each takes up to 10 ms to check
MAX_NAME_BYTES = 255  # in each part of a path, the limit of most file systems
MAX_NOTICES = 20  # of files that were left out
CONFIG = "config.json"


def pack(folder: str | Path, archive: str | Path) -> int:
    """Write the files of all runs in a folder into an archive; return how many.

    Equal runs give equal bytes: the archive holds neither times nor users.
    """
    files = [path for path in sorted(Path(folder).glob("*/*/*")) if path.name in CHECKS]
    if (folders := len({path.parent for path in files})) > MAX_FOLDERS:
        raise UserError(
            f"{folder} holds {folders} runs and calls; an archive takes at most {MAX_FOLDERS}: "
            "move some of them to another folder"
        )
    packed = 0
    with (
        open_atomically(archive) as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as tar,
    ):
        for path in files:
            try:
                content = path.read_bytes()
            except FileNotFoundError:  # a checkpoint is removed when its training ends
                continue
            member = tarfile.TarInfo(str(path.relative_to(folder)))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
            packed += 1
    return packed


def unpack(archive: str | Path, folder: str | Path) -> int:
    """Take runs out of an archive: only plain files of runs, only inside the folder.

    The whole archive is read before the first file is written. Every file is compared with its
    hash and with the run that its folder is named after; a `Notice` names each file that is left
    out.

    Intact weights are never replaced, and a checkpoint only by one after more epochs. When weights
    are taken, the checkpoint that led to them is removed. If the weights are the same on both
    sides, files that are missing or damaged in the folder are taken, and an evaluation that has
    more lines.

    **Returns:** how many files were taken.
    """
    taken, notices = 0, []
    try:
        with gzip.open(archive) as content:
            members = _check_members(content, archive)
            content.seek(0)
            with tarfile.open(fileobj=content, mode="r:") as tar:
                runs = itertools.groupby(members, lambda member: PurePosixPath(member.name).parent)
                for run, files in runs:
                    with tempfile.TemporaryDirectory() as place:
                        incoming = Path(place, run)
                        _extract(tar, files, incoming)
                        names, problems = _take(incoming, Path(folder, run))
                    taken += len(names)
                    notices += [f"{archive}: {run}: {problem}"[:400] for problem in problems]
    # RecursionError: tarfile reads headers that follow one another recursively.
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, RecursionError) as error:
        raise DamagedFile(f"{archive} is damaged or not an archive of runs ({error})") from error
    if (more := len(notices) - MAX_NOTICES) > 0:
        notices[MAX_NOTICES:] = [f"{archive}: {more} more files or runs were left out"]
    for notice in notices:
        notify(notice)
    return taken


def _check_members(content: gzip.GzipFile, archive: str | Path) -> list[tarfile.TarInfo]:
    """Return the members of an archive; check all of them, and the checksum after the last."""
    limited = _Limited(content, f"{archive} unpacks to more than {MAX_UNPACKED_BYTES} bytes")
    members: list[tarfile.TarInfo] = []
    names: set[PurePosixPath] = set()
    runs: list[PurePosixPath] = []
    total = 0
    with tarfile.open(fileobj=cast(BinaryIO, limited), mode="r:") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            inside = len(path.parts) == 3 and ".." not in path.parts and not path.is_absolute()
            short = all(len(os.fsencode(part)) <= MAX_NAME_BYTES for part in path.parts)
            if not (member.isfile() and inside and short and path.name in CHECKS):
                raise UserError(f"{archive} holds {member.name!r:.80}, which is no file of a run")
            if path in names:
                raise UserError(f"{archive} holds {member.name!r:.80} twice; pack the runs again")
            total += member.size
            if total > MAX_UNPACKED_BYTES:
                raise UserError(limited.too_much)
            if not runs or path.parent != runs[-1]:
                runs.append(path.parent)
            if len(runs) > MAX_FOLDERS:
                raise UserError(
                    f"{archive} holds more than {MAX_FOLDERS} runs and calls; pack fewer at once"
                )
            names.add(path)
            members.append(member)
    while limited.read(2**20):
        pass
    if len(set(runs)) < len(runs):  # seeking back in a compressed stream takes long
        raise UserError(f"{archive} has files of one run in several places; pack the runs again")
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
    """The valid files of a run folder, and what is wrong with the others."""

    files: frozenset[str]
    problems: tuple[str, ...]
    weights: str | None  # their hash; None without valid ones
    epochs: int  # before the checkpoint; 0 without a valid one


def _inspect(run: Path) -> _Contents:
    """Compare the files of a run with their hashes and with the name of their folder."""
    problems: list[str] = []
    found: dict[str, Any] = {}
    for name in sorted(CHECKS):
        if not (run / name).is_file():
            continue
        try:
            found[name] = CHECKS[name](run / name)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            reason = str(error).replace(f"{run}{os.sep}", "")
            problems.append(f"{name} is left out ({reason})")
    weights, epochs = found.get(WEIGHTS), found.get(CHECKPOINT, 0)
    return _Contents(frozenset(found), tuple(problems), weights, epochs)


def _check_config(path: Path) -> None:
    config = read_config(path.parent)
    if config is None:
        raise DamagedFile("it is not the configuration that its folder is named after")
    _check_folder(path, config)


def _check_weights(path: Path) -> str:
    card = load_arrays(path)[1]
    if card.get("format") != FORMAT:
        raise UserError(f"its format is {card.get('format')!r:.80}, expected {FORMAT!r}")
    _check_folder(path, card_configuration(card))
    return card["sha256"]


def _check_checkpoint(path: Path) -> int:
    card = load_arrays(path)[1]
    epoch = card.get("epoch")
    if card.get("format") != CHECKPOINT_FORMAT or type(epoch) is not int:
        raise UserError(f"its format is {card.get('format')!r:.80}, expected {CHECKPOINT_FORMAT!r}")
    _check_folder(path, card.get("config"))
    return epoch


def _check_folder(path: Path, config: Any) -> None:
    """Raise unless a file is in the folder of the run with this configuration."""
    fields = config.get("experiment") if isinstance(config, dict) else None
    expected = run_folder(path.parents[2], Experiment.from_json(fields), config)
    if path.parent != expected:
        raise ForeignFile(f"it belongs to the run {expected.parent.name}/{expected.name}")


def _check_metrics(path: Path) -> None:
    if (path.parent / WEIGHTS).exists():  # before that it grows, and checkpoints hold a copy
        _check_checksum(path)
    for line in path.read_bytes().split(b"\n")[:-1]:
        json.loads(line)


def _check_evaluation(path: Path) -> None:
    _check_checksum(path)
    seeds = set(read_table(path, COLUMNS)["seed"].dropna())
    config = read_config(path.parent)
    if config is not None and not seeds <= {*config["seeds"]}:
        raise ForeignFile(f"it is of the seeds {sorted(seeds)!s:.80}, which the run does not have")


def _check_checksum(path: Path) -> None:
    if not has_valid_checksum(path):
        raise DamagedFile(f"it does not match its line in {CHECKSUMS_FILE}")


def _check_call(path: Path) -> None:
    if path.parents[1].name != CALLS:
        raise ForeignFile("it is not the record of a call")
    read_call(path)


# The files of a run, in the order in which they are written; each function raises a ValueError,
# TypeError, KeyError or RecursionError if a file is damaged or foreign.
CHECKS: dict[str, Callable[[Path], Any]] = {
    CONFIG: _check_config,
    ENVIRONMENT: read_entries,
    METRICS: _check_metrics,
    CHECKPOINT: _check_checkpoint,
    WEIGHTS: _check_weights,
    EVALUATION: _check_evaluation,
    CHECKSUMS_FILE: lambda path: None,  # its lines are compared with the other files
    CALL: _check_call,
}


def _take(incoming: Path, run: Path) -> tuple[list[str], list[str]]:
    """Write the files that are better than those in the run folder.

    **Returns:** names of the files that were taken, and a sentence about each that was left out.
    """
    theirs = _inspect(incoming)
    problems = list(theirs.problems)
    if not theirs.files - {CHECKSUMS_FILE}:
        return [], problems
    run.mkdir(parents=True, exist_ok=True)
    with locked(run):
        ours = _inspect(run)
        if ours.weights and theirs.weights not in (None, ours.weights):
            problems.append(
                "the run has ended here with other weights, which stay; remove them to replace them"
            )
        wanted = _wanted(ours, theirs, incoming, run)
        if WEIGHTS in wanted:
            for name in {WEIGHTS, *({METRICS, EVALUATION} - {*wanted})}:
                if (run / name).exists():
                    reason = f"{run / name} does not belong to the weights that were unpacked"
                    set_aside(run / name, reason, "it is not used any more")
        for name in wanted:
            write_atomically(run / name, (incoming / name).read_bytes())
            if name == EVALUATION or (name == METRICS and theirs.weights):
                write_checksum(run / name)
        if WEIGHTS in wanted:
            (run / CHECKPOINT).unlink(missing_ok=True)
    return wanted, problems


def _wanted(ours: _Contents, theirs: _Contents, incoming: Path, run: Path) -> list[str]:
    """Return the names of the files to take, in the order in which they are written."""
    names = theirs.files - {CHECKSUMS_FILE}
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
    return [name for name in CHECKS if name in names]


class _Limited:
    """A compressed stream that raises a `UserError` beyond a number of unpacked bytes."""

    def __init__(self, stream: gzip.GzipFile, too_much: str):
        self.stream, self.too_much = stream, too_much

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes; refuse to read everything at once."""
        if not 0 <= size <= MAX_READ_BYTES or self.stream.tell() > MAX_UNPACKED_BYTES:
            raise UserError(self.too_much)
        return self.stream.read(size)

    def seek(self, place: int) -> int:
        """Move to a position by reading everything before it."""
        if place > MAX_UNPACKED_BYTES:
            raise UserError(self.too_much)
        return self.stream.seek(place)

    def tell(self) -> int:
        """Return the position in the unpacked bytes."""
        return self.stream.tell()
