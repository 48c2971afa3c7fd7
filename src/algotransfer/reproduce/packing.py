"""Runs as one archive, to go on with them on another machine."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

from algotransfer.files import open_atomically
from algotransfer.reproduce.log import CALL
from algotransfer.training.runs import CHECKPOINT, WEIGHTS

LARGEST = 2**32  # bytes that an archive may unpack to
NAMES = {
    "config.json",
    "environment.json",
    "metrics.jsonl",
    CHECKPOINT,
    WEIGHTS,
    "evaluation.csv",
    CALL,
}


def pack(folder: str | Path, archive: str | Path) -> int:
    """Puts the files of all runs below a folder into an archive; returns how many."""
    files = [path for path in sorted(Path(folder).glob("*/*/*")) if path.name in NAMES]
    with open_atomically(archive) as stream, tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for path in files:
            tar.add(path, arcname=str(path.relative_to(folder)), recursive=False)
    return len(files)


def unpack(archive: str | Path, folder: str | Path) -> int:
    """Takes runs out of an archive; only plain files of runs, nothing that leaves the folder.

    A run that has ended here stays as it is, unless it has ended in the archive too; a checkpoint
    goes when the weights that it led to arrive.
    """
    count, total = 0, 0
    try:
        with tarfile.open(archive) as tar:
            members = tar.getmembers()
            ended = {PurePosixPath(m.name).parent for m in members if m.name.endswith(WEIGHTS)}
            for member in members:
                path = PurePosixPath(member.name)
                inside = len(path.parts) == 3 and ".." not in path.parts and not path.is_absolute()
                if not (member.isfile() and inside and path.name in NAMES):
                    raise ValueError(f"{archive} holds {member.name!r}, which is no file of a run")
                total += member.size
                if total > LARGEST:
                    raise ValueError(f"{archive} unpacks to more than {LARGEST} bytes")
                target = Path(folder, *path.parts)
                if path.parent not in ended and (target.parent / WEIGHTS).exists():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                source = tar.extractfile(member)
                assert source is not None  # a plain file has content
                with open_atomically(target) as stream:
                    stream.write(source.read())
                count += 1
                if path.name == WEIGHTS:
                    (target.parent / CHECKPOINT).unlink(missing_ok=True)
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"{archive} is damaged or no archive of runs ({error})") from error
    return count
