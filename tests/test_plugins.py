"""Packages of users reach the command line through entry points."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "example_plugin"


def install(site: Path, package: str, points: dict[str, str]) -> None:
    """Write what pip would write about a package into a folder of packages."""
    about = site / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}\n" for name, value in points.items()]
    (about / "entry_points.txt").write_text("[algotransfer.plugins]\n" + "".join(lines))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of packages in which the example is installed."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / "detours", site / "detours")
    install(site, project["name"], project["entry-points"]["algotransfer.plugins"])
    return site


@pytest.fixture
def command(site, tmp_path):
    """Runs the command line with the packages of `site`, and returns what it prints."""
    paths = [str(site), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}

    def run(line: str) -> str:
        arguments = [sys.executable, "-m", "algotransfer", *line.split()]
        done = subprocess.run(
            arguments, env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


def test_names_of_a_plugin_are_choices(command):
    text = command("train --help")
    for name in ("costliest_edge", "gated", "sum_mpnn", "two_trained"):
        assert name in text


@pytest.mark.slow
def test_a_plugin_is_trained_on_own_data(command):
    command("data --algorithm costliest_edge --num-graphs 20 --num-nodes 6 --out own.npz")
    said = command(
        "train --data own.npz --validation-share 0.2 --model gated --processor sum_mpnn "
        "--target costliest_edge --base bellman_ford --method two_trained --supervision tf "
        "--hidden 4 --batch-size 8 --max-epochs 1 --seeds 1"
    )
    name = "gated-sum_mpnn-bellman_ford-costliest_edge-tf-two_trained"
    assert f"wrote runs/{name}" in said


def test_a_broken_plugin_is_left_out_with_a_note(command, site):
    install(site, "broken", {"mine": "no_such_module"})
    said = command("train --help")
    assert "note: the plugin 'mine' of broken is left out (ModuleNotFoundError" in said
    assert "costliest_edge" in said
