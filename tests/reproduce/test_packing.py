"""Archives of runs: complete round trips, and nothing that leaves the folder."""

import io
import tarfile

import pytest

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
