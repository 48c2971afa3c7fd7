"""Compiled programs are kept where the user's caches are, if they can be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from algotransfer.compilation_cache import SWITCH, cache_folder

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


def test_a_folder_of_one_s_own(monkeypatch, tmp_path):
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
