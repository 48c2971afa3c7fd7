"""Archives: equal contents give equal bytes, and no damage goes unnoticed."""

import io
import json
import resource
import struct
import zipfile
from contextlib import suppress

import hypothesis.extra.numpy as numpy_strategies
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from algotransfer import array_files
from algotransfer.array_files import load_arrays, load_card, save_arrays
from algotransfer.files import DamagedFile

ARRAYS = {
    "weights/first": np.arange(6, dtype=np.float32).reshape(2, 3),
    "flags": np.array([True, False]),
    "empty": np.zeros((0, 4), np.int32),
    "one": np.array(7, np.int64),
    "words": np.array(["a", "déjà"]),
}
HEADER = {"name": "β", "nested": {"list": [1, 2.5, None, True]}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.npz"
    save_arrays(path, ARRAYS, HEADER)
    return path


def same(arrays, other):
    return arrays.keys() == other.keys() and all(
        arrays[name].dtype == other[name].dtype and np.array_equal(arrays[name], other[name])
        for name in arrays
    )


def test_round_trip(tmp_path):
    sha256 = save_arrays(tmp_path / "file.npz", ARRAYS, HEADER)
    arrays, card = load_arrays(tmp_path / "file.npz")
    assert same(arrays, ARRAYS)
    assert card == {**HEADER, "sha256": sha256}
    assert list(tmp_path.iterdir()) == [tmp_path / "file.npz"]


@given(
    st.dictionaries(
        st.text("abc/_", min_size=1, max_size=5),
        numpy_strategies.arrays(
            st.sampled_from(["?", "<i4", "<i8", "<f4", "<f8", "<u1"]),
            numpy_strategies.array_shapes(min_dims=0, max_dims=3, min_side=0),
        ),
        max_size=4,
    )
)
def test_round_trip_of_any_arrays(tmp_path_factory, arrays):
    path = tmp_path_factory.getbasetemp() / "any.npz"
    save_arrays(path, arrays, {})
    loaded, _ = load_arrays(path)
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name], array, strict=True)


def test_numpy_reads_it(path):
    with np.load(path, allow_pickle=False) as file:
        assert same({name: file[name] for name in ARRAYS}, ARRAYS)
        card = json.loads(str(file["card"]))
    assert card["name"] == "β"
    assert len(card["sha256"]) == 64


def test_equal_contents_give_equal_bytes(path, tmp_path):
    other = tmp_path / "other.npz"
    turned = np.asfortranarray(ARRAYS["weights/first"]).astype(">f4")
    save_arrays(other, {**ARRAYS, "weights/first": turned}, dict(reversed(HEADER.items())))
    assert other.read_bytes() == path.read_bytes()
    assert b"\x00\x00!\x00" in path.read_bytes()  # the first of January 1980


def test_every_truncation_is_detected(path):
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"file\.npz is damaged or was not written by"):
            load_arrays(path)


def test_no_flipped_bit_changes_what_is_read(path):
    content = path.read_bytes()
    unnoticed = 0
    for place in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with suppress(ValueError):  # nothing but a ValueError may come
            arrays, card = load_arrays(path)
            # That bit of the zip format means nothing, such as a time.
            assert same(arrays, ARRAYS)
            assert {**HEADER, "sha256": card["sha256"]} == card
            unnoticed += 1
    assert unnoticed < 0.2 * len(content) / 3


def rewrite(path, change, compression=zipfile.ZIP_STORED):
    """Writes the file anew with valid checksums of the zip format, entries changed."""
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in entries.items():
            file.writestr(name, content)


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def npy_with(header):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


def card_with(path, **changes):
    _, card = load_arrays(path)
    return npy(np.array(json.dumps({**card, **changes})))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda e, p: e.update({"one.npy": npy(np.array(8))}), "does not match the sha256"),
        (lambda e, p: e.update({"card.npy": card_with(p, name="γ")}), "does not match the sha256"),
        (
            lambda e, p: e.update({"card.npy": card_with(p, sha256="0")}),
            "does not match the sha256",
        ),
        (lambda e, p: e.pop("flags.npy"), "does not match the sha256"),
        (lambda e, p: e.update({"more.npy": npy(np.ones(2))}), "does not match the sha256"),
        (lambda e, p: e.pop("card.npy"), "it has no card"),
        (lambda e, p: e.update({"card.npy": npy(np.array("[1]"))}), "not a JSON object"),
        (lambda e, p: e.update({"card.npy": npy(np.array("{"))}), "damaged"),
        (lambda e, p: e.update({"card.npy": npy(np.array("[" * 10**5))}), "damaged"),
        (
            lambda e, p: e.update({"one.npy": npy(np.array([{}]), allow_pickle=True)}),
            "not a plain array",
        ),
        (
            lambda e, p: e.update({"flags.npy": e["flags.npy"][:-1]}),
            "does not have the size",
        ),
        (
            lambda e, p: e.update(
                {"flags.npy": e["flags.npy"].replace(b"(2,), }      ", b"(2000000,), }")}
            ),
            "does not have the size",
        ),
        (lambda e, p: e.update({"flags.npy": b"\x93NUMPY\x09\x00"}), "unknown version"),
        (lambda e, p: e.update({"flags.npy": b"no array"}), "damaged"),
        *[
            (lambda e, p, h=header: e.update({"flags.npy": npy_with(h)}), reason)
            for header, reason in {
                "{'descr': '|b1', 'shape': (2,": r"entry 'flags' has a damaged header\)",
                "{'descr': '|b1', 'shape': (0,), " + " " * 10**4: r"'flags' has a damaged header\)",
                "{'descr': ['|b1'], 'fortran_order': False, 'shape': (2,)}": "a damaged header",
                "{'descr': '|b1', 'fortran_order': False, 'shape': (False,)}": "not a plain array",
            }.items()
        ],
    ],
)
def test_tampering_is_noticed(path, change, reason):
    rewrite(path, lambda entries: change(entries, path))
    with pytest.raises(ValueError, match=reason):
        load_arrays(path)


def test_nothing_is_decompressed(path):
    rewrite(path, lambda entries: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="an entry is compressed"):
        load_arrays(path)


def test_entries_cannot_claim_more_than_the_file_has(path):
    content = path.read_bytes()
    with zipfile.ZipFile(path) as file:
        size = file.getinfo("card.npy").file_size
    claim = size.to_bytes(4, "little") * 2
    place = content.rindex(claim)  # in the central directory, compressed and plain size
    path.write_bytes(content[:place] + (2**31).to_bytes(4, "little") * 2 + content[place + 8 :])
    with pytest.raises(ValueError, match="declare more bytes than it has"):
        load_arrays(path)


@pytest.mark.parametrize("load", [load_arrays, load_card])
def test_a_file_whose_middle_is_missing(path, load):
    content = path.read_bytes()
    path.write_bytes(content[:10] + content[200:])
    with pytest.raises(DamagedFile, match=r"file\.npz is damaged .*negative offset"):
        load(path)


def test_a_file_too_large_is_not_read(path, monkeypatch):
    monkeypatch.setattr(array_files, "MAX_FILE_BYTES", 100)
    with pytest.raises(ValueError, match="expected at most 100"):
        load_arrays(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.npz; check the path"):
        load_arrays(tmp_path / "none.npz")
    with pytest.raises(IsADirectoryError, match="is a folder; give one of the"):
        load_arrays(tmp_path)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "file.npz"
    with pytest.raises(ValueError, match=r"array 'a' has type object, .* without pickle"):
        save_arrays(path, {"a": np.array([{}])}, {})
    with pytest.raises(ValueError, match="'card' .* 'sha256' are reserved"):
        save_arrays(path, {"card": np.ones(1)}, {})
    with pytest.raises(ValueError, match="'card' .* 'sha256' are reserved"):
        save_arrays(path, {}, {"sha256": ""})
    with pytest.raises(ValueError, match="JSON"):
        save_arrays(path, {}, {"a": float("nan")})
    with pytest.raises(OSError, match="cannot write"):
        save_arrays(tmp_path / "none" / "file.npz", {}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(path):
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"cannot write .*file\.npz"):
            save_arrays(path, {"large": np.zeros(100_000)}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
