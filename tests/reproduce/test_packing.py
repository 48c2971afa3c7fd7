"""Archives of runs: complete round trips, nothing that leaves the folder, nothing good lost."""

import gzip
import io
import json
import tarfile
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.checksums import write_checksum
from algotransfer.evaluation import COLUMNS
from algotransfer.evaluation.evaluate import save_evaluation
from algotransfer.experiment import Experiment, fingerprint
from algotransfer.files import Notice
from algotransfer.reproduce import packing
from algotransfer.reproduce.packing import pack, unpack
from algotransfer.training.epochs import CHECKPOINT_FORMAT
from algotransfer.training.runs import FORMAT, run_folder, write_json

FAST = Experiment(target="bfs", supervision="tf", hidden=2)


def configured(root, experiment=FAST, seeds=(0, 1)):
    """The folder of a run that has begun, and its configuration."""
    config = {"experiment": experiment.to_json(), "seeds": list(seeds), "data": {"train": {}}}
    run = run_folder(root, experiment, config)
    run.mkdir(parents=True, exist_ok=True)
    write_json(run / "config.json", config)
    slices = {"slices": []}
    write_json(run / "environment.json", {**slices, "sha256": fingerprint(slices)})
    return run, config


def checkpointed(root, epoch=3, **settings):
    """A run that was paused after so many epochs."""
    run, config = configured(root, **settings)
    (run / "metrics.jsonl").write_text("".join(f'{{"epoch": {e}}}\n' for e in range(epoch)))
    header = {"format": CHECKPOINT_FORMAT, "config": config, "epoch": epoch}
    save_arrays(run / "checkpoint.npz", {"leaf": np.zeros(2)}, header)
    return run


def finished(root, weight=0.5, sizes=(20,), **settings):
    """A run that has ended; without `sizes` it has not been evaluated."""
    run, config = configured(root, **settings)
    (run / "metrics.jsonl").write_text(json.dumps({"epoch": 1, "loss": weight}) + "\n")
    write_checksum(run / "metrics.jsonl")
    save_arrays(run / "weights.npz", {"leaf": np.full(200, weight)}, {"format": FORMAT, **config})
    if sizes:
        rows = [
            ("network", seed, "er", size, "pred", None, weight, 4)
            for size in sizes
            for seed in config["seeds"]
        ]
        save_evaluation(run, pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS))
    return run


def contents(folder):
    """All files below a folder, by their path in it."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def unpacked(archive, folder):
    """The number of files that were taken, and the notes on those that were not."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", Notice)
        taken = unpack(archive, folder)
    return taken, [str(warning.message) for warning in told]


def moved(tmp_path, source="there"):
    """Packs a folder and unpacks it over `here`."""
    pack(tmp_path / source, tmp_path / f"{source}.tar.gz")
    return unpacked(tmp_path / f"{source}.tar.gz", tmp_path / "here")


def test_round_trip(tmp_path):
    run = finished(tmp_path / "there")
    other = checkpointed(tmp_path / "there", seeds=(7,))
    (other / ".checkpoint.npz.tmp").write_bytes(b"half")  # left by a kill: stays behind
    assert moved(tmp_path) == (9, [])
    (other / ".checkpoint.npz.tmp").unlink()
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert moved(tmp_path) == (0, [])
    assert (tmp_path / "here" / run.relative_to(tmp_path / "there") / "SHA256SUMS").exists()


def test_weights_replace_the_checkpoint_that_led_to_them(tmp_path):
    checkpointed(tmp_path / "here")
    checkpointed(tmp_path / "early", epoch=9)
    finished(tmp_path / "there")
    taken, notes = moved(tmp_path)
    assert (taken, notes) == (5, [])
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    # An archive from before the end has nothing to say any more.
    assert moved(tmp_path, "early") == (0, [])
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@pytest.mark.parametrize(("here", "there", "stays"), [(50, 200, 200), (200, 50, 200), (3, 0, 3)])
def test_the_checkpoint_after_more_epochs_stays(tmp_path, here, there, stays):
    run = checkpointed(tmp_path / "here", here)
    if there:
        checkpointed(tmp_path / "there", there)
    else:
        configured(tmp_path / "there")
    assert moved(tmp_path) == (4 if stays == there else 0, [])
    assert load_arrays(run / "checkpoint.npz")[1]["epoch"] == stays
    # What belongs together comes together.
    assert len((run / "metrics.jsonl").read_text().splitlines()) == stays


def test_weights_that_hold_stay(tmp_path):
    finished(tmp_path / "here", weight=0.5)
    finished(tmp_path / "there", weight=0.6)
    before = contents(tmp_path / "here")
    taken, (note,) = moved(tmp_path)
    assert taken == 0
    assert "the run has ended here with other weights, which stay" in note
    assert contents(tmp_path / "here") == before


@pytest.mark.parametrize(
    ("here", "there", "stays"),
    [
        ((20,), (20, 50), (20, 50)),
        ((20, 50), (20,), (20, 50)),
        ((), (20,), (20,)),
        ((20,), (), (20,)),
    ],
)
def test_an_evaluation_of_the_same_weights_with_more_lines_is_taken(tmp_path, here, there, stays):
    run = finished(tmp_path / "here", sizes=here)
    finished(tmp_path / "there", sizes=there)
    assert moved(tmp_path) == (int(stays != here), [])
    assert tuple(pandas.read_csv(run / "evaluation.csv")["num_nodes"].unique()) == stays


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "flip": flipped,
    "truncate": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
}
FOREIGN = {
    "swap": {"experiment": Experiment(target="prim", supervision="tf", hidden=2)},
    "other seeds": {"seeds": (5, 6)},
}
FILES = ("config.json", "environment.json", "metrics.jsonl", "weights.npz", "evaluation.csv")


@pytest.mark.parametrize("name", [*FILES, "SHA256SUMS"])
@pytest.mark.parametrize("kind", [*DAMAGES, *FOREIGN, "older", "newer"])
def test_no_damage_in_an_archive_harms_a_good_run(tmp_path, kind, name):
    run = finished(tmp_path / "here").relative_to(tmp_path / "here")
    theirs = finished(tmp_path / "there")
    if kind in DAMAGES:
        (theirs / name).write_bytes(DAMAGES[kind]((theirs / name).read_bytes()))
    elif kind in FOREIGN:
        other = finished(tmp_path / "other", weight=0.7, sizes=(20, 50), **FOREIGN[kind])
        (theirs / name).write_bytes((other / name).read_bytes())
    elif kind == "older":
        (theirs / "weights.npz").unlink()
        checkpointed(tmp_path / "there")
    else:
        finished(tmp_path / "there", weight=0.6, sizes=(20, 50))
    before = contents(tmp_path / "here" / run)
    taken, notes = moved(tmp_path)
    assert contents(tmp_path / "here" / run) == before
    assert taken == 0
    unnamed = {"SHA256SUMS"} | ({"environment.json"} if kind in FOREIGN else set())
    if kind in DAMAGES | FOREIGN and name not in unnamed:
        assert any(name in note and "left out" in note for note in notes)


@pytest.mark.parametrize("kind", [*DAMAGES, *FOREIGN])
def test_damaged_weights_do_not_arrive_at_all(tmp_path, kind):
    checkpointed(tmp_path / "here")
    theirs = finished(tmp_path / "there")
    if kind in DAMAGES:
        content = DAMAGES[kind]((theirs / "weights.npz").read_bytes())
    else:
        content = (
            finished(tmp_path / "other", weight=0.7, **FOREIGN[kind]) / "weights.npz"
        ).read_bytes()
    (theirs / "weights.npz").write_bytes(content)
    before = contents(tmp_path / "here")
    taken, (note,) = moved(tmp_path)
    assert (taken, contents(tmp_path / "here")) == (0, before)
    assert "weights.npz is left out" in note


@pytest.mark.parametrize("kind", [*DAMAGES, *FOREIGN])
def test_good_weights_heal_a_run(tmp_path, kind):
    ours, theirs = finished(tmp_path / "here"), finished(tmp_path / "there")
    if kind in DAMAGES:
        content = DAMAGES[kind]((ours / "weights.npz").read_bytes())
    else:
        content = (
            finished(tmp_path / "other", weight=0.7, **FOREIGN[kind]) / "weights.npz"
        ).read_bytes()
    (ours / "weights.npz").write_bytes(content)
    moved(tmp_path)
    now = contents(ours)
    assert now.pop("weights.npz.damaged") == content
    assert now == contents(theirs)


def test_what_is_left_out_is_named_a_few_times_only(tmp_path):
    for seed in range(packing.MAX_NOTICES + 5):
        run = finished(tmp_path / "there", seeds=(seed,), sizes=())
        (run / "weights.npz").write_bytes(b"")
    _, notes = moved(tmp_path)
    assert len(notes) == packing.MAX_NOTICES + 1
    assert notes[-1].endswith("5 more files or runs were left out")


def archive_of(path, names):
    """An archive of empty files."""
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for name in names:
            stream.write(tarfile.TarInfo(name).tobuf())
        stream.write(bytes(1024))


def test_an_archive_of_too_many_runs_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "MAX_FOLDERS", 50)
    archive_of(tmp_path / "many.tar.gz", (f"a/{number}/config.json" for number in range(1000)))
    with pytest.raises(ValueError, match="holds more than 50 runs and calls; pack fewer at once"):
        unpack(tmp_path / "many.tar.gz", tmp_path / "here")
    assert not (tmp_path / "here").exists()
    for number in range(51):
        configured(tmp_path / "there", seeds=(number,))
    with pytest.raises(ValueError, match="holds 51 runs and calls; an archive takes at most 50"):
        pack(tmp_path / "there", tmp_path / "runs.tar.gz")


def test_headers_without_end_are_refused(tmp_path):
    header = tarfile.TarInfo("x")
    for header.type in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        with gzip.open(tmp_path / "bad.tar.gz", "wb", compresslevel=1) as stream:
            stream.write(header.tobuf() * 20_000)
        with pytest.raises(ValueError, match="is damaged or not an archive of runs"):
            unpack(tmp_path / "bad.tar.gz", tmp_path / "here")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a/b/config.json"] * 3, "twice"),
        (["a/b/config.json", "a/c/config.json", "a/b/weights.npz"], "in several places"),
        ([f"a/{'b' * 300}/config.json"], "which is no file of a run"),
    ],
)
def test_an_archive_that_pack_would_not_write_is_refused(tmp_path, names, words):
    with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(ValueError, match=words) as caught:
        unpack(tmp_path / "bad.tar.gz", tmp_path / "here")
    assert len(str(caught.value).replace(str(tmp_path), "")) < 200


def test_a_file_removed_while_packing_is_left_out(tmp_path, monkeypatch):
    run = tmp_path / "runs" / "ne-bfs-tf" / "0"
    run.mkdir(parents=True)
    (run / "checkpoint.npz").write_bytes(b"half")
    (run / "metrics.jsonl").write_bytes(b"log")
    found = sorted(run.iterdir())
    (run / "checkpoint.npz").unlink()
    monkeypatch.setattr(Path, "glob", lambda self, pattern: found)
    assert pack(tmp_path / "runs", tmp_path / "runs.tar.gz") == 1


@pytest.mark.parametrize(
    "name", ["../config.json", "/a/b/config.json", "a/../config.json", "a/b/evil.py", "config.json"]
)
def test_strangers_are_refused(tmp_path, name):
    with tarfile.open(tmp_path / "bad.tar", "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = 2
        tar.addfile(member, io.BytesIO(b"{}"))
    with pytest.raises(ValueError, match="which is no file of a run"):
        unpack(tmp_path / "bad.tar", tmp_path / "runs")
    assert not (tmp_path / "config.json").exists()


def test_links_and_damage_are_refused(tmp_path):
    with tarfile.open(tmp_path / "link.tar", "w:gz") as tar:
        member = tarfile.TarInfo("a/b/config.json")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(ValueError, match="which is no file of a run"):
        unpack(tmp_path / "link.tar", tmp_path / "runs")
    (tmp_path / "noise.tar").write_bytes(b"not an archive at all" * 100)
    with pytest.raises(ValueError, match="is damaged or not an archive of runs"):
        unpack(tmp_path / "noise.tar", tmp_path / "runs")
