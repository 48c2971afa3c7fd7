"""Runs as one archive, to go on with them on another machine."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from algotransfer.files import DamagedFile, open_atomically
from algotransfer.locks import locked
from algotransfer.reproduce.log import CALL
from algotransfer.sums import SUMS
from algotransfer.training.runs import CHECKPOINT, WEIGHTS

LARGEST = 2**32  # bytes that an archive may unpack to
AT_ONCE = 2**26  # bytes that reading may ask for at once: names and sizes need far fewer
NAMES = {
    "config.json",
    "environment.json",
    "metrics.jsonl",
    CHECKPOINT,
    WEIGHTS,
    "evaluation.csv",
    SUMS,
    CALL,
}


def pack(folder: str | Path, archive: str | Path) -> int:
    """Puts the files of all runs below a folder into an archive; returns how many.

    Equal runs give equal bytes: no times, and nothing about whoever packs them.
    """
    files = [path for path in sorted(Path(folder).glob("*/*/*")) if path.name in NAMES]
    with (
        open_atomically(archive) as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as tar,
    ):
        for path in files:
            member = tarfile.TarInfo(str(path.relative_to(folder)))
            with path.open("rb") as content:
                member.size = content.seek(0, 2)
                content.seek(0)
                tar.addfile(member, content)
    return len(files)


def unpack(archive: str | Path, folder: str | Path) -> int:
    """Takes runs out of an archive; only plain files of runs, nothing that leaves the folder.

    A run that has ended here stays as it is, unless it has ended in the archive too; a checkpoint
    goes when the weights that it led to arrive. The whole archive is read and checked before the
    first file is written.

    **Returns:** how many files were taken.
    """
    try:
        with gzip.open(archive) as content:
            members = _check(content, archive)
            ended = {PurePosixPath(m.name).parent for m in members if m.name.endswith(WEIGHTS)}
            content.seek(0)
            with tarfile.open(fileobj=content, mode="r:") as tar:
                return sum(_take(tar, member, Path(folder), ended) for member in members)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFile(f"{archive} is damaged or no archive of runs ({error})") from error


def _check(content: gzip.GzipFile, archive: str | Path) -> list[tarfile.TarInfo]:
    """The members of an archive, after a look at each and at the checksum behind the last."""
    limited = _Limited(content, f"{archive} unpacks to more than {LARGEST} bytes")
    members, total = [], 0
    with tarfile.open(fileobj=cast(BinaryIO, limited), mode="r:") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            inside = len(path.parts) == 3 and ".." not in path.parts and not path.is_absolute()
            if not (member.isfile() and inside and path.name in NAMES):
                raise ValueError(f"{archive} holds {member.name!r}, which is no file of a run")
            total += member.size
            if total > LARGEST:
                raise ValueError(limited.too_much)
            members.append(member)
    while limited.read(2**20):
        pass
    return members


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, ended: set) -> bool:
    """Writes one file, unless what is there is further."""
    path = PurePosixPath(member.name)
    target = Path(folder, *path.parts)
    if path.parent not in ended and (target.parent / WEIGHTS).exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(member)
    assert source is not None  # a plain file has content
    with locked(target.parent):
        with open_atomically(target) as stream:
            shutil.copyfileobj(source, stream)
        if path.name == WEIGHTS:
            (target.parent / CHECKPOINT).unlink(missing_ok=True)
    return True


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
