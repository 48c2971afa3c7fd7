"""Locks and checksums: one writer, detected damage, and damaged checksums that are ignored."""

import fcntl
import subprocess
import sys

import pytest

from algotransfer.checksums import is_damaged, verify_checksum, write_checksum
from algotransfer.files import DamagedFile, Notice, append_whole, set_aside
from algotransfer.locks import InUse, locked, tidy

HOLD = """
import sys
from algotransfer.locks import locked
with locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_the_error_for_a_locked_folder_names_the_owner(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"locked\n"
    with pytest.raises(InUse, match=f"is in use by process {process.pid} on .*; wait until"):
        locked(tmp_path).__enter__()
    process.kill()  # no time to clean up
    process.communicate()
    assert (tmp_path / ".lock").exists()
    with locked(tmp_path), pytest.raises(InUse):
        locked(tmp_path).__enter__()
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def unsupported(*arguments):
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with locked(tmp_path):
        pass


def test_tidy_spares_those_at_work(tmp_path):
    for name in ("busy", "dead"):
        (tmp_path / "a" / name).mkdir(parents=True)
        (tmp_path / "a" / name / ".weights.npz.0123.tmp").write_bytes(b"half")
    with locked(tmp_path / "a" / "busy"):
        tidy(tmp_path)
        assert (tmp_path / "a" / "busy" / ".weights.npz.0123.tmp").exists()
    assert list((tmp_path / "a" / "dead").iterdir()) == []


def test_sums_notice_damage_and_are_those_of_sha256sum(tmp_path):
    path = tmp_path / "evaluation.csv"
    path.write_bytes(b"a,b\n")
    assert not is_damaged(path)  # nothing is known about it
    write_checksum(path)
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 0
    path.write_bytes(b"a,c\n")
    with pytest.raises(DamagedFile, match="does not match its line in SHA256SUMS"):
        verify_checksum(path)
    sums = tmp_path / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().replace(b"  eval", b"  evil"))
    assert not is_damaged(path)  # who says so is damaged itself


def test_set_aside_keeps_every_damaged_file(tmp_path):
    path = tmp_path / "weights.npz"
    for name in ("weights.npz.damaged", "weights.npz.damaged-2"):
        path.write_bytes(b"")
        with pytest.warns(Notice, match=f"it is broken; set aside as {name}, it is made again"):
            assert set_aside(path, "it is broken").name == name


def test_a_line_is_appended_whole_or_not_at_all(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"first\n")
    with path.open("ab", buffering=0) as file:
        append_whole(file, b"second\n")
    assert path.read_bytes() == b"first\nsecond\n"
    with (
        open("/dev/full", "ab", buffering=0) as full,
        pytest.raises(OSError, match=r"cannot write /dev/full \(No space left"),
    ):
        append_whole(full, b"third\n")
