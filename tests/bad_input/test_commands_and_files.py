"""Bad input: a sentence and a status, never a traceback; sizes are checked before memory goes."""

import gzip
import io
import json
import tarfile
import tracemalloc
import zipfile
from contextlib import chdir, redirect_stderr, redirect_stdout

import numpy as np
import pytest
from bad_input.tried import TRIED, within_memory
from hypothesis import assume, example, given
from hypothesis import strategies as st

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.bridges import clrs
from algotransfer.bridges.clrs import import_clrs
from algotransfer.cli import main
from algotransfer.cli.main import COMMANDS
from algotransfer.datasets import load_dataset, make_dataset, save_dataset
from algotransfer.experiment import Experiment, fingerprint
from algotransfer.graphs import read_graph
from algotransfer.reproduce import packing
from algotransfer.reproduce.packing import unpack
from algotransfer.training import committed_weights, load_model
from algotransfer.training.provenance import read_provenance

NASTY = ["", " ", "nan", "-1", "0", "1e400", "9" * 30, "../..", "/dev/null/x", "²", "[red]x[/]"]
NASTY += ["x" * 300, "a\tb", "\u202e", "--", "-", "nope", "None", "True", "{}", "%s", "ne;ls"]
# Options that make every command stop before it computes: what is tried stands beside them.
HARMLESS = {
    "list": [],
    "data": ["--num-graphs", "0"],
    "train": ["--preset", "nope"],
    "evaluate": ["nope"],
    "compare": ["nope"],
    "sweep": ["--preset", "nope"],
    "execute": ["nope", "nope.csv"],
    "reproduce": ["--table", "nope"],
    "report": ["--folder", "nope", "--out", "nope"],
    "explore": ["--num-nodes", "0"],
    "discover": ["--target", "dijkstra", "--data", "nope.npz"],
    "certify": ["nope"],
    "bench": ["--repeats", "0"],
}


def outcome(words):
    """The status of a command, and all that it says."""
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(said):
        try:
            status = main(words)
        except SystemExit as end:  # tyro's way to refuse options
            status = end.code
    return status, said.getvalue()


def options_of(command):
    fields = [*COMMANDS[command].__dataclass_fields__]
    if command in ("train", "sweep"):
        fields += Experiment.__dataclass_fields__
    names = {"--" + name.strip("_").replace("_", "-") for name in fields} - {
        "--experiment",
        "--fields",
    }
    return sorted(names - set(HARMLESS[command]))


def test_every_command_is_tried():
    assert set(HARMLESS) == set(COMMANDS)


@pytest.mark.parametrize("command", [name for name in HARMLESS if name != "list"])
@given(data=st.data())
def test_commands(command, data, tmp_path_factory):
    words = [command, *HARMLESS[command]]
    for _ in range(data.draw(st.integers(1, 3))):
        option = data.draw(st.sampled_from(options_of(command)))
        words += [option, *data.draw(st.lists(st.sampled_from(NASTY), max_size=2))]
    assume("--help" not in words)
    TRIED["words of a command line"] += 1
    with within_memory(), chdir(tmp_path_factory.getbasetemp()):
        status, said = outcome(words)
    assert status == 2, (words, status, said)
    assert "Traceback" not in said


def refused(what, read):
    """Calls a reader; what it does not accept it must refuse with a ValueError."""
    TRIED[what] += 1
    try:
        read()
    except ValueError as error:
        return str(error)
    return ""


@given(
    content=st.binary(max_size=300) | st.text("source,target weight\n\"'#01.e-nainf\r", max_size=99)
)
@example(content="source,target,weight\na,b," + "9" * 5000 + "\n")
@example(content="source,target\n" + "a," * 10_000)
def test_edge_lists(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused("CSV files", lambda: read_graph(path))


TAGS = ["<graph>", "</graph>", '<node id="a"/>', '<node id="b"/>', '<edge source="a" target="b"/>']
TAGS += ['<key id="w" for="edge" attr.name="weight">', "</key>", "<default>1e999", "</default>"]
TAGS += [
    "<edge source='a' target='a'>",
    "<data key='w'>nan</data>",
    "</edge>",
    "<hyperedge/>",
    "&x;",
]


@given(parts=st.lists(st.sampled_from(TAGS), max_size=12), junk=st.binary(max_size=20))
def test_graphml(parts, junk, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.graphml"
    path.write_bytes(b"<graphml>" + "".join(parts).encode() + junk + b"</graphml>")
    refused("GraphML files", lambda: read_graph(path))


@pytest.mark.parametrize(
    "entity", ['"ha">', 'SYSTEM "file:///etc/passwd">', '"&b;&b;"><!ENTITY b "&c;&c;">']
)
def test_entities_are_refused_before_they_expand(entity, tmp_path):
    path = tmp_path / "laughs.graphml"
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a {entity}]>'
        '<graphml><graph><node id="&a;"/></graph></graphml>'
    )
    with pytest.raises(ValueError, match="document type"):
        read_graph(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    save_dataset(make_dataset("er", 2, 5), folder / "data.npz", "bfs")
    weights = next(iter(committed_weights().values()))
    (folder / "weights.npz").write_bytes(weights.read_bytes())
    return folder


@pytest.mark.parametrize(("name", "read"), [("data", load_dataset), ("weights", load_model)])
@given(data=st.data())
def test_damaged_npz(name, read, data, files, tmp_path_factory):
    content = bytearray((files / f"{name}.npz").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / f"{name}.npz"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
    refused("npz files, damaged", lambda: read(path))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
).filter(lambda value: value not in (float("inf"), -float("inf")))


@given(data=st.data())
def test_cards_with_arbitrary_content(data, files, tmp_path_factory):
    """The hash is right, the content is arbitrary: malicious, or of another version."""
    arrays, card = load_arrays(files / "weights.npz")
    del card["sha256"]
    part = data.draw(st.sampled_from([card, card["experiment"]]))
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(
        JSON | st.sampled_from([10**12, -1, [], {}, "nope"])
    )
    path = tmp_path_factory.getbasetemp() / "card.npz"
    try:
        save_arrays(path, arrays, card)
    except ValueError:  # JSON has no infinity
        return
    refused("npz files, with a right hash", lambda: load_model(path))


@given(text=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
@example(text=b"[" * 3_000)
def test_records(text, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    TRIED["JSON files"] += 1
    (folder / "environment.json").write_bytes(text)
    assert isinstance(read_provenance(folder), list)


@given(slices=JSON | st.lists(st.fixed_dictionaries({"device": JSON}), max_size=2))
@example(slices={})
def test_records_with_a_right_hash(slices, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    TRIED["JSON files"] += 1
    content = {"slices": slices}
    sealed = json.dumps({**content, "sha256": fingerprint(content)})
    (folder / "environment.json").write_text(sealed)
    assert isinstance(read_provenance(folder), list)


@given(
    header=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()),
    size=st.integers(0, 2**64 - 1) | st.none(),
)
@example(header=b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', size=None)
def test_safetensors(header, size, tmp_path_factory):
    """There is no reader of them: wherever a file is expected, one is refused."""
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    length = len(header) if size is None else size
    path.write_bytes(length.to_bytes(8, "little") + header + bytes(4))
    for read in (load_model, load_dataset, import_clrs):
        assert ".npz" in refused("safetensors files", lambda read=read: read(path))
    assert "the suffix '.safetensors'" in refused("safetensors files", lambda: read_graph(path))


def test_safetensors_on_the_command_line(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes((2).to_bytes(8, "little") + b"{}")
    name = next(iter(committed_weights()))
    for words in (["evaluate", path], ["execute", path, path], ["execute", name, path]):
        status, said = outcome(list(map(str, words)))
        assert status == 2
        assert "model.safetensors" in " ".join(said.split())


def peak(act):
    """The most bytes that Python took meanwhile."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_zip_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("key.npy", bytes(2**28))

    def read():
        with pytest.raises(ValueError, match="is compressed"):
            load_arrays(path)

    assert peak(read) < 2**22


def test_an_array_that_claims_to_be_huge_is_not_allocated(tmp_path):
    path, claim = tmp_path / "huge.npz", io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (2**40,)}
    np.lib.format.write_array_header_1_0(claim, header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("card.npy", claim.getvalue())

    def read():
        with pytest.raises(ValueError, match="does not have the size"):
            load_arrays(path)

    assert peak(read) < 2**22


@pytest.mark.parametrize("claimed", [2**26, 2**40])
def test_samples_of_clrs_that_unpack_to_too_much(claimed, tmp_path, monkeypatch):
    monkeypatch.setattr(clrs, "MAX_SAMPLE_BYTES", 2**20)
    path, claim = tmp_path / "bomb.npz", io.BytesIO()
    header = {"descr": "|u1", "fortran_order": False, "shape": (claimed,)}
    np.lib.format.write_array_header_1_0(claim, header)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bfs.A.npy", claim.getvalue() + bytes(claimed if claimed < 2**30 else 9))

    def read():
        with pytest.raises(ValueError, match="more than 1,048,576 bytes|not have the size"):
            import_clrs(path)

    assert peak(read) < 2**23


def bomb(path, size, kind=tarfile.REGTYPE):
    """An archive whose only entry is some kilobytes and unpacks to so many zeros."""
    member = tarfile.TarInfo("a/b/weights.npz")
    member.size, member.type = size, kind
    with gzip.open(path, "wb", compresslevel=9) as stream:
        stream.write(member.tobuf())
        for _ in range(size // 2**20):
            stream.write(bytes(2**20))
        stream.write(bytes(10240))


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_archive_that_unpacks_to_too_much(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "MAX_UNPACKED_BYTES", 2**23)
    monkeypatch.setattr(packing, "MAX_READ_BYTES", 2**22)
    bomb(tmp_path / "bomb.tar.gz", 2**26, kind)

    def read():
        with pytest.raises(ValueError, match="unpacks to more than 8388608 bytes"):
            unpack(tmp_path / "bomb.tar.gz", tmp_path / "runs")

    assert peak(read) < 2**23
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden": 10**12},
        {"hidden": 0},
        {"trajectories": 10**9},
        {"batch_size": 10**12},
        {"max_epochs": 10**30},
        {"learning_rate": float("nan")},
        {"infinity": float("nan")},
    ],
)
def test_experiments_have_bounds(changes):
    with pytest.raises(ValueError, match="expected"):
        Experiment(**changes)
