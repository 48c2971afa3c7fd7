"""Without a browser tests are skipped with a sentence, except where they have to run."""

import subprocess
from pathlib import Path

import pytest
from browser import chromium

INSTALL = Path(chromium.__file__).with_name("install.sh")


def test_a_missing_browser_skips_or_fails(monkeypatch):
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Chromium is not installed: `bash tests/"):
        chromium.start_or_skip()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="Chromium is not installed"):
        chromium.start_or_skip()


def test_a_failed_installation_is_reported(tmp_path):
    """A machine with neither Chromium nor apt-get: only what the script itself needs."""
    for name in ("bash", "id", "env", "sudo"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = subprocess.run(
        ["/bin/bash", INSTALL], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "there is no apt-get here" in done.stdout
    assert "tests in the browser will be skipped" in done.stdout
