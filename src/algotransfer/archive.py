"""Arrays and a JSON card in one `.npz`: equal contents give equal bytes, damage is noticed.

`numpy.load` reads these files too. They differ from `numpy.savez` in three ways: entries carry no
time of writing, the card holds a sha256 over everything else, and reading believes nothing: sizes
are compared before memory is taken, nothing is unpickled, nothing is decompressed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from algotransfer.files import DamagedFile, open_atomically

CARD = "card"
SUFFIX = ".npy"
LARGEST_FILE = 2**34  # bytes that `load_arrays` is willing to read into memory
KINDS = "biufU"  # bits, integers, floats and text: what needs no pickle and no extra package
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time a zip entry has when it has none

# What `zipfile`, `numpy.lib.format` and `json` raise on bytes that nobody wrote on purpose.
DAMAGE = (zipfile.BadZipFile, EOFError, ValueError, struct.error, RuntimeError, RecursionError)


def save_arrays(
    path: str | Path, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> str:
    """Writes arrays and their card to `path`, all of it or nothing.

    **Arguments:**

    - `arrays`: by name; numbers, bits or text.
    - `header`: what the card says, as JSON; a key `sha256` is added.

    **Returns:** the sha256, which names the content.
    """
    arrays = {name: _portable(name, array) for name, array in arrays.items()}
    if CARD in arrays or "sha256" in header:
        raise ValueError("the names 'card' (an array) and 'sha256' (in the header) are taken")
    sha256 = content_hash(arrays, header)
    card = np.array(_json({**header, "sha256": sha256}), dtype="<U")
    with (
        open_atomically(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, array in {**arrays, CARD: card}.items():
            entry = zipfile.ZipInfo(name + SUFFIX, EARLIEST)
            entry.create_system = 3  # otherwise the operating system's number is written
            entry.file_size = array.nbytes  # lets zipfile prepare for more than 2 GiB
            with archive.open(entry, "w") as stream:
                description = np.lib.format.header_data_from_array_1_0(array)
                np.lib.format.write_array_header_1_0(stream, description)
                stream.write(_raw(array))
    return sha256


def load_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads what `save_arrays` wrote, and checks it against the sha256 on its card.

    **Returns:** the arrays by name (read-only), and the card.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name one of the .npz files in it")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    with path.open("rb") as file:
        try:
            return _unpack(file)
        except DAMAGE as error:
            raise DamagedFile(
                f"{path} is damaged or was not written by algotransfer ({error}); "
                "make or fetch it again"
            ) from error


def _unpack(file: BinaryIO) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the card of an open file; any damage is an error of some kind."""
    size = file.seek(0, os.SEEK_END)
    if size > LARGEST_FILE:
        raise ValueError(f"it has {size} bytes, more than the {LARGEST_FILE} that are read")
    if not zipfile.is_zipfile(file):
        raise ValueError("it is not a whole .npz file, and no other kind is read here")
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        names = [entry.filename.removesuffix(SUFFIX) for entry in entries]
        if len(set(names)) < len(names):
            raise ValueError("two entries have the same name")
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("an entry is compressed, but data is stored as it is")
        # Uncompressed entries that do not overlap cannot claim more than the file has.
        claimed = sum(max(entry.file_size, entry.compress_size) for entry in entries)
        if claimed > size or any(not 0 <= entry.header_offset < size for entry in entries):
            raise ValueError("its entries claim more bytes than it has")
        arrays = {
            name: parse_array(name, archive.read(entry))
            for name, entry in zip(names, entries, strict=True)
        }
    if CARD not in arrays:
        raise ValueError("it has no card")
    card = json.loads(str(arrays.pop(CARD)[()]))
    if not isinstance(card, dict):
        raise ValueError("its card is not a JSON object")
    header = {key: value for key, value in card.items() if key != "sha256"}
    if card.get("sha256") != content_hash(arrays, header):
        raise ValueError("its content does not match the sha256 on its card")
    return arrays, card


def _json(header: Mapping[str, Any]) -> str:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> str:
    """sha256 over a line of JSON (header; name, type and shape of arrays), then the raw bytes."""
    names = sorted(arrays)
    described = [[name, arrays[name].dtype.str, list(arrays[name].shape)] for name in names]
    sha256 = hashlib.sha256(_json({"header": header, "arrays": described}).encode() + b"\n")
    for name in names:
        sha256.update(_raw(arrays[name]))
    return sha256.hexdigest()


def _raw(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _portable(name: str, array: np.ndarray) -> np.ndarray:
    """The array in row order and little-endian, so that its bytes are the same everywhere."""
    array = np.asarray(array)
    if array.dtype.kind not in KINDS:
        raise ValueError(
            f"array {name!r:.80} has type {array.dtype}, which a file cannot hold without pickle; "
            "convert it to numbers or text"
        )
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def parse_array(name: str, content: bytes) -> np.ndarray:
    """One entry as an array that shares its memory; the header must account for every byte."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"entry {name!r:.80} is of an unknown version of the npy format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
    if fortran_order or dtype.kind not in KINDS or min(shape, default=0) < 0:
        raise ValueError(
            f"entry {name!r:.80} is not a plain array (type {dtype}, shape {shape!s:.80})"
        )
    count = 1
    for length in shape:
        count *= length  # a Python integer: a shape made to overflow does not
    if count * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(
            f"entry {name!r:.80} does not have the size that its shape {shape!s:.80} implies"
        )
    return np.frombuffer(content, dtype, count, stream.tell()).reshape(shape)
