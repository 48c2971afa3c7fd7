"""The study of dm-clrs' MPNN: its training loop where dm-clrs is installed, and its rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import clrs30
import clrs30_mpnn
import pandas
import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
import sys
sys.path.insert(0, "studies")
from clrs30_mpnn import Settings, Training
training = Training("bfs", Settings(hidden=8, batch=4, steps=20, eval_every=5, seeds=2), "val")
training.check()
training.run()
assert all(0 < score < 1 for score in training.score()), training.score()
"""


def interpreter() -> str:
    """Return a Python that can import dm-clrs, or skip the test."""
    peer = ROOT / ".venv-clrs" / "bin" / "python"
    if (ROOT / ".peer-clrs").exists():
        return sys.executable
    if not peer.exists():
        pytest.skip("dm-clrs is not installed")
    return str(peer)


def test_losses_are_those_of_dm_clrs():
    env = os.environ | {"JAX_PLATFORMS": "cpu"}
    result = subprocess.run(
        [interpreter(), "-c", SMALL], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("agree with") == 2
    assert "bfs, step 20: loss" in result.stdout


def test_scores_of_a_folder_are_added(monkeypatch, tmp_path):
    monkeypatch.setattr(clrs30, "SCORES", tmp_path / "scores.csv")
    for task, scores in {"bfs": [0.5, 0.75], "mst_prim": [0.25, 0.5]}.items():
        (tmp_path / f"{task}.json").write_text(json.dumps({"task": task, "test": scores}))
    clrs30_mpnn.add(tmp_path)
    table = pandas.read_csv(clrs30.SCORES)
    assert set(table["system"]) == {"clrs-mpnn"}
    assert list(table["task"]) == list(table["target"]) == ["bfs"] * 2 + ["mst_prim"] * 2
    assert list(table["value"]) == [0.5, 0.75, 0.25, 0.5]
