"""Compiled programs are kept where the user's caches are, if they can be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from algotransfer.compilation_cache import SWITCH, cache_folder, keep_compiled_programs

PROGRAM = """
import sys
from algotransfer.compilation_cache import keep_compiled_programs
early = sys.argv[1] == "before"
if not early:
    import jax
keep_compiled_programs()
assert ("jax" in sys.modules) != early  # it imports nothing itself
import jax
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.jit(lambda x: x + 1)(1.0)
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_a_compiled_program_leaves_a_file_in_the_user_s_cache(tmp_path, order):
    settings = {key: value for key, value in os.environ.items() if key != SWITCH}
    environment = settings | {"XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", PROGRAM, order], env=environment, check=True)
    (folder,) = (tmp_path / "algotransfer").iterdir()
    assert any(path.name.endswith("-cache") for path in folder.iterdir())


def test_switched_off(monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    assert cache_folder() is None


def test_the_user_may_choose_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(SWITCH, str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    assert (tmp_path / "mine").is_dir()


def test_where_nothing_can_be_written_nothing_is_kept(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache_folder() is None
    monkeypatch.setenv(SWITCH, str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    assert cache_folder() is None


def test_empty_entries_of_a_full_disk_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv(SWITCH, str(tmp_path))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    (tmp_path / "jit_f-0-cache").touch()
    (tmp_path / "jit_g-0-cache").write_bytes(b"whole")
    keep_compiled_programs()
    assert [path.name for path in tmp_path.iterdir()] == ["jit_g-0-cache"]


COMMAND = """
import warnings
from algotransfer.cli.main import _notices
from algotransfer.compilation_cache import keep_compiled_programs
keep_compiled_programs()
import jax
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
with _notices():
    jax.jit(lambda x: x + 1)(1.0)
"""


@pytest.mark.parametrize("size", [0, 100])
def test_a_damaged_entry_is_written_again(tmp_path, size):
    environment = {**os.environ, SWITCH: str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)

    def call():
        words = [sys.executable, "-c", COMMAND]
        return subprocess.run(words, env=environment, check=True, capture_output=True, text=True)

    call()
    entry = max(tmp_path.glob("*-cache"), key=lambda path: path.stat().st_size)
    whole = entry.stat().st_size
    with entry.open("rb+") as stream:
        stream.truncate(size)
    said = call().stderr
    assert ("a compiled program in the cache was damaged" in said) == (size > 0)
    assert entry.stat().st_size > whole / 2
    assert call().stderr == ""
