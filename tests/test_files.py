"""Atomic files: whole or not at all, and nothing left behind."""

import errno
import os
import re
import stat

import pytest

from algotransfer import files
from algotransfer.files import open_atomically, write_atomically


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"first")
    write_atomically(str(path), memoryview(b"second"))
    assert path.read_bytes() == b"second"
    assert os.listdir(tmp_path) == ["file"]


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    write_atomically(tmp_path / "ours", b"")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "ours")}
    assert len(modes) == 1


def test_a_long_name(tmp_path):
    path = tmp_path / ("n" * 250)  # 255 is the longest a name can be
    write_atomically(path, b"content")
    assert path.read_bytes() == b"content"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"content"


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe: it is not a regular file; name another"):
        write_atomically(tmp_path / "pipe", b"content")
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_writer_changes_nothing(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def interrupted():
        with open_atomically(path) as file:
            file.write(b"half of it")
            file.flush()
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["file"]


def test_the_file_is_complete_on_disk_before_it_appears(tmp_path, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        original = getattr(os, name)

        def recorded(*arguments, original=original, name=name):
            done.append(name)
            return original(*arguments)

        monkeypatch.setattr(files.os, name, recorded)
    write_atomically(tmp_path / "file", b"content")
    assert done == ["fsync", "replace", "fsync"]  # the last one: the folder


def test_a_full_disk(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    path = tmp_path / "file"
    message = re.escape(f"cannot write {path} (No space left on device); nothing was changed there")
    with pytest.raises(OSError, match=message):
        write_atomically(path, b"content")
    assert os.listdir(tmp_path) == []


def test_a_really_full_disk(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")

    def redirected():
        with open_atomically(tmp_path / "file") as file:
            os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
            file.write(b"content")

    with pytest.raises(OSError, match="No space left on device"):
        redirected()
    assert os.listdir(tmp_path) == []


def test_no_such_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot write .*/file \(No such file or dir"):
        write_atomically(tmp_path / "missing" / "file", b"")


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match=r"cannot write .*/file \(Not a directory\)"):
        write_atomically(tmp_path / "plain" / "file", b"")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"cannot write .* \(Is a directory\)"):
        write_atomically(tmp_path, b"")


def test_an_unwritable_folder(tmp_path, monkeypatch):
    def denied(*arguments):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(PermissionError, match=r"cannot write .*/file \(Permission denied\)"):
        write_atomically(tmp_path / "file", b"")
