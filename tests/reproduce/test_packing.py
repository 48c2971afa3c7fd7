"""Archives of runs: complete round trips, and nothing that leaves the folder."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.reproduce.packing import pack, unpack


def test_round_trip(tmp_path):
    run = tmp_path / "runs" / "ne-bfs-tf" / "0123"
    run.mkdir(parents=True)
    for name in ("config.json", "metrics.jsonl", "checkpoint.npz"):
        (run / name).write_bytes(name.encode() * 3)
    (run / ".checkpoint.npz.tmp").write_bytes(b"half")  # left by a kill: stays behind
    assert pack(tmp_path / "runs", tmp_path / "runs.tar") == 3
    assert unpack(tmp_path / "runs.tar", tmp_path / "there") == 3
    there = tmp_path / "there" / "ne-bfs-tf" / "0123"
    assert sorted(path.name for path in there.iterdir()) == [
        "checkpoint.npz",
        "config.json",
        "metrics.jsonl",
    ]
    assert (there / "metrics.jsonl").read_bytes() == b"metrics.jsonl" * 3


def test_weights_replace_the_checkpoint_that_led_to_them(tmp_path):
    there, here = tmp_path / "there" / "ne-bfs-tf" / "0", tmp_path / "here" / "ne-bfs-tf" / "0"
    for run in (there, here):
        run.mkdir(parents=True)
        (run / "checkpoint.npz").write_bytes(b"half")
    pack(tmp_path / "there", tmp_path / "early.tar.gz")
    (there / "checkpoint.npz").rename(there / "weights.npz")
    pack(tmp_path / "there", tmp_path / "late.tar.gz")
    assert unpack(tmp_path / "late.tar.gz", tmp_path / "here") == 1
    assert [path.name for path in here.iterdir()] == ["weights.npz"]
    # An archive from before the end has nothing to say any more.
    assert unpack(tmp_path / "early.tar.gz", tmp_path / "here") == 0
    assert [path.name for path in here.iterdir()] == ["weights.npz"]


@pytest.mark.parametrize(("here", "there", "stays"), [(50, 200, 200), (200, 50, 200), (3, 0, 3)])
def test_the_checkpoint_after_more_epochs_stays(tmp_path, here, there, stays):
    for place, epoch in (("here", here), ("there", there)):
        run = tmp_path / place / "ne-bfs-tf" / "0"
        run.mkdir(parents=True)
        (run / "metrics.jsonl").write_text(f"{epoch}")
        if epoch:
            save_arrays(run / "checkpoint.npz", {"leaf": np.zeros(2)}, {"epoch": epoch})
    pack(tmp_path / "there", tmp_path / "runs.tar.gz")
    assert unpack(tmp_path / "runs.tar.gz", tmp_path / "here") == (2 if stays == there else 0)
    run = tmp_path / "here" / "ne-bfs-tf" / "0"
    assert load_arrays(run / "checkpoint.npz")[1]["epoch"] == stays
    assert (run / "metrics.jsonl").read_text() == f"{stays}"  # what belongs together comes together


@pytest.mark.parametrize(
    ("weights", "evaluation", "stays"),
    [("other", None, None), ("same", None, "ours"), ("other", "theirs", "theirs")],
)
def test_an_evaluation_is_one_of_the_weights_beside_it(tmp_path, weights, evaluation, stays):
    here, there = tmp_path / "here" / "ne-bfs-tf" / "0", tmp_path / "there" / "ne-bfs-tf" / "0"
    for run, content in ((here, "same"), (there, weights)):
        run.mkdir(parents=True)
        (run / "weights.npz").write_text(content)
    (here / "evaluation.csv").write_text("ours")
    if evaluation:
        (there / "evaluation.csv").write_text(evaluation)
    pack(tmp_path / "there", tmp_path / "runs.tar.gz")
    unpack(tmp_path / "runs.tar.gz", tmp_path / "here")
    assert (here / "weights.npz").read_text() == weights
    kept = here / "evaluation.csv"
    assert (kept.read_text() if kept.exists() else None) == stays


def test_a_file_that_goes_while_packing_is_left_out(tmp_path, monkeypatch):
    run = tmp_path / "runs" / "ne-bfs-tf" / "0"
    run.mkdir(parents=True)
    (run / "checkpoint.npz").write_bytes(b"half")
    (run / "metrics.jsonl").write_bytes(b"log")
    found = sorted(run.iterdir())
    (run / "checkpoint.npz").unlink()
    monkeypatch.setattr(Path, "glob", lambda self, pattern: found)
    assert pack(tmp_path / "runs", tmp_path / "runs.tar.gz") == 1
    assert unpack(tmp_path / "runs.tar.gz", tmp_path / "there") == 1


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
    with pytest.raises(ValueError, match="is damaged or no archive of runs"):
        unpack(tmp_path / "noise.tar", tmp_path / "runs")
