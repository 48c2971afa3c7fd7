"""Save and load arrays with a JSON card in one `.npz` file, protected by a sha256.

`numpy.load` reads these files too. Unlike those of `numpy.savez`, they have no time stamps, so that
equal contents give equal bytes, and the card holds a sha256 of everything else. Reading validates
the file: sizes are checked before memory is allocated, nothing is unpickled or decompressed.
"""

import hashlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from algotransfer.errors import UserError
from algotransfer.files import DamagedFile, open_atomically

CARD = "card"
SUFFIX = ".npy"
MAX_FILE_BYTES = 2**34
KINDS = "biufU"  # booleans, integers, floats and text: the dtypes that need no pickle
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of the zip format; a constant time stamp

# Exceptions of `zipfile`, `numpy.lib.format` and `json` on damaged files.
DAMAGE = (zipfile.BadZipFile, EOFError, ValueError, struct.error, RuntimeError, RecursionError)


def save_arrays(
    path: str | Path, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> str:
    """Write arrays (numbers, booleans or text) and a card atomically.

    **Returns:** the sha256 of arrays and header, which is added to the card.
    """
    arrays = {name: _portable(name, array) for name, array in arrays.items()}
    if CARD in arrays or "sha256" in header:
        raise UserError("the array name 'card' and the header key 'sha256' are reserved")
    sha256 = content_hash(arrays, header)
    card = np.array(_json({**header, "sha256": sha256}), dtype="<U")
    with open_atomically(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {**arrays, CARD: card}.items():
            entry = zipfile.ZipInfo(name + SUFFIX, EARLIEST)
            entry.create_system = 3  # the same on every operating system
            entry.file_size = array.nbytes  # zipfile needs it for entries above 2 GiB
            with archive.open(entry, "w") as stream:
                description = np.lib.format.header_data_from_array_1_0(array)
                np.lib.format.write_array_header_1_0(stream, description)
                stream.write(_raw(array))
    return sha256


def load_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a file of `save_arrays` and verify its sha256.

    **Returns:** the arrays by name (read-only), and the card.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give one of the .npz files in it")
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


def load_card(path: str | Path) -> dict[str, Any]:
    """Read only the card of a file of `save_arrays`, without verifying the sha256 of its arrays."""
    with Path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _card(parse_array(CARD, archive.read(_stored(archive, file)[CARD])))
        except DAMAGE as error:
            raise DamagedFile(f"{path} is damaged ({error}); make or fetch it again") from error


def _unpack(file: BinaryIO) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the card; raise one of `DAMAGE` if the file is damaged."""
    if not zipfile.is_zipfile(file):
        raise UserError("it is not a complete .npz file")
    with zipfile.ZipFile(file) as archive:
        arrays = {
            name: parse_array(name, archive.read(entry))
            for name, entry in _stored(archive, file).items()
        }
    card = _card(arrays.pop(CARD))
    header = {key: value for key, value in card.items() if key != "sha256"}
    if card.get("sha256") != content_hash(arrays, header):
        raise UserError("its content does not match the sha256 on its card")
    return arrays, card


def _stored(archive: zipfile.ZipFile, file: BinaryIO) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name; raise a `UserError` unless they can be read as they are."""
    size = file.seek(0, os.SEEK_END)
    if size > MAX_FILE_BYTES:
        raise UserError(f"it has {size:,} bytes; expected at most {MAX_FILE_BYTES:,}")
    entries = check_entries(archive)
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
        raise UserError("an entry is compressed; expected uncompressed entries")
    if sum(max(entry.file_size, entry.compress_size) for entry in entries.values()) > size:
        raise UserError("its entries declare more bytes than it has")
    if CARD not in entries:
        raise UserError("it has no card")
    return entries


def check_entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name without suffix; raise a `UserError` unless each has its own."""
    entries = {entry.filename.removesuffix(SUFFIX): entry for entry in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise UserError("two entries have the same name")
    if any(entry.header_offset < 0 for entry in entries.values()):
        raise UserError("an entry has a negative offset")
    return entries


def _card(array: np.ndarray) -> dict[str, Any]:
    card = json.loads(str(array[()]))
    if not isinstance(card, dict):
        raise UserError("its card is not a JSON object")
    return card


def _json(header: Mapping[str, Any]) -> str:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> str:
    """Return the sha256 of a line of JSON (header; name, type, shape of arrays) and raw bytes."""
    names = sorted(arrays)
    described = [[name, arrays[name].dtype.str, list(arrays[name].shape)] for name in names]
    sha256 = hashlib.sha256(_json({"header": header, "arrays": described}).encode() + b"\n")
    for name in names:
        sha256.update(_raw(arrays[name]))
    return sha256.hexdigest()


def _raw(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _portable(name: str, array: np.ndarray) -> np.ndarray:
    """Return the array in row-major order and little-endian: the same bytes on every machine."""
    array = np.asarray(array)
    if array.dtype.kind not in KINDS:
        raise UserError(
            f"array {name!r:.80} has type {array.dtype}, which a file cannot hold without pickle; "
            "convert it to numbers or text"
        )
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def parse_array(name: str, content: bytes) -> np.ndarray:
    """Return one entry as an array without copying; its header must match the number of bytes."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise UserError(f"entry {name!r:.80} has an unknown version of the npy format")
    try:
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
    except (ValueError, TypeError, tokenize.TokenError) as error:
        raise UserError(f"entry {name!r:.80} has a damaged header") from error
    is_shape = all(type(length) is int and length >= 0 for length in shape)  # a bool is an `int`
    if fortran_order or dtype.kind not in KINDS or not is_shape:
        raise UserError(
            f"entry {name!r:.80} is not a plain array (type {dtype}, shape {shape!s:.80})"
        )
    count = math.prod(shape)  # Python integers do not overflow
    if count * dtype.itemsize != len(content) - stream.tell():
        raise UserError(
            f"entry {name!r:.80} does not have the size that its shape {shape!s:.80} implies"
        )
    return np.frombuffer(content, dtype, count, stream.tell()).reshape(shape)
