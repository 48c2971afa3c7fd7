"""Runs as one archive, to go on with them on another machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
import tempfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from algotransfer.array_files import load_arrays
from algotransfer.checksums import CHECKSUMS_FILE
from algotransfer.errors import UserError
from algotransfer.evaluation.evaluate import EVALUATION
from algotransfer.files import DamagedFile, open_atomically
from algotransfer.locks import locked
from algotransfer.reproduce.call_log import CALL
from algotransfer.training.runs import CHECKPOINT, WEIGHTS

MAX_UNPACKED_BYTES = 2**32  # bytes that an archive may unpack to
MAX_READ_BYTES = 2**26  # bytes that reading may ask for at once: names and sizes need far fewer
NAMES = {
    "config.json",
    "environment.json",
    "metrics.jsonl",
    CHECKPOINT,
    WEIGHTS,
    EVALUATION,
    CHECKSUMS_FILE,
    CALL,
}


def pack(folder: str | Path, archive: str | Path) -> int:
    """Puts the files of all runs below a folder into an archive; returns how many.

    Equal runs give equal bytes: no times, and nothing about whoever packs them.
    """
    files, packed = sorted(Path(folder).glob("*/*/*")), 0
    with (
        open_atomically(archive) as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as tar,
    ):
        for path in files:
            if path.name not in NAMES:
                continue
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

    A run that is further here stays as it is: one that has ended, unless it has ended in the
    archive too, or a checkpoint after more epochs. When weights arrive, the checkpoint that led to
    them goes, and so does an evaluation of others. The whole archive is read and checked before
    the first file is written.

    **Returns:** how many files were taken.
    """
    try:
        with gzip.open(archive) as content:
            members = _check(content, archive)
            runs: dict[PurePosixPath, dict[str, tarfile.TarInfo]] = {}
            for member in members:
                path = PurePosixPath(member.name)
                runs.setdefault(path.parent, {})[path.name] = member
            content.seek(0)
            with tarfile.open(fileobj=content, mode="r:") as tar:
                return sum(_take(tar, files, Path(folder, run)) for run, files in runs.items())
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFile(f"{archive} is damaged or no archive of runs ({error})") from error


def _check(content: gzip.GzipFile, archive: str | Path) -> list[tarfile.TarInfo]:
    """The members of an archive, after a look at each and at the checksum behind the last."""
    limited = _Limited(content, f"{archive} unpacks to more than {MAX_UNPACKED_BYTES} bytes")
    members, total = [], 0
    with tarfile.open(fileobj=cast(BinaryIO, limited), mode="r:") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            inside = len(path.parts) == 3 and ".." not in path.parts and not path.is_absolute()
            if not (member.isfile() and inside and path.name in NAMES):
                raise UserError(f"{archive} holds {member.name!r}, which is no file of a run")
            total += member.size
            if total > MAX_UNPACKED_BYTES:
                raise UserError(limited.too_much)
            members.append(member)
    while limited.read(2**20):
        pass
    return members


def _take(tar: tarfile.TarFile, files: dict[str, tarfile.TarInfo], run: Path) -> int:
    """Writes the files of one run, unless what is there is further."""
    run.mkdir(parents=True, exist_ok=True)
    with locked(run):
        if WEIGHTS in files:
            if EVALUATION not in files and not _is_same(run / WEIGHTS, tar, files[WEIGHTS]):
                (run / EVALUATION).unlink(missing_ok=True)
        elif (run / WEIGHTS).exists() or _is_further(run / CHECKPOINT, tar, files.get(CHECKPOINT)):
            return 0
        for name, member in files.items():
            with open_atomically(run / name) as stream:
                shutil.copyfileobj(_open(tar, member), stream)
        if WEIGHTS in files:
            (run / CHECKPOINT).unlink(missing_ok=True)
    return len(files)


def _open(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Any:
    content = tar.extractfile(member)
    assert content is not None  # a plain file has content
    return content


def _is_same(path: Path, tar: tarfile.TarFile, member: tarfile.TarInfo) -> bool:
    """Whether a file here is the one in the archive."""
    if not path.exists():
        return False
    with path.open("rb") as here, _open(tar, member) as there:
        sums = [hashlib.file_digest(stream, "sha256").digest() for stream in (here, there)]
    return sums[0] == sums[1]


def _is_further(path: Path, tar: tarfile.TarFile, member: tarfile.TarInfo | None) -> bool:
    """Whether a checkpoint here has more epochs behind it than the one in the archive, if any."""
    epochs = _epochs(path)
    if not epochs or member is None:
        return epochs > 0
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(_open(tar, member), copy)
        copy.flush()
        return epochs > _epochs(Path(copy.name))


def _epochs(checkpoint: Path) -> int:
    """Epochs behind a checkpoint; none if it is damaged or not there."""
    try:
        epoch = load_arrays(checkpoint)[1].get("epoch")
    except (DamagedFile, FileNotFoundError):
        return 0
    return epoch if isinstance(epoch, int) else 0


class _Limited:
    """What comes out of a compressed stream, until it is too much."""

    def __init__(self, stream: gzip.GzipFile, too_much: str):
        self.stream, self.too_much = stream, too_much

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; never all that there are."""
        if not 0 <= size <= MAX_READ_BYTES or self.stream.tell() > MAX_UNPACKED_BYTES:
            raise UserError(self.too_much)
        return self.stream.read(size)

    def seek(self, place: int) -> int:
        """Goes there, by reading everything before it."""
        if place > MAX_UNPACKED_BYTES:
            raise UserError(self.too_much)
        return self.stream.seek(place)

    def tell(self) -> int:
        """The place in what comes out."""
        return self.stream.tell()
