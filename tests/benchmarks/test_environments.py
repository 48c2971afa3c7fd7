"""Virtual environments of the peers: creation, and errors of their processes."""

import subprocess
import sys
import venv

import numpy as np
import pytest
from peers import environments
from peers.environments import Peer, how_to_make, make, python_of


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """An empty project root, and the collected `pip install` commands."""
    calls = []
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(venv, "create", lambda folder, **_: folder.mkdir(exist_ok=True))
    monkeypatch.setattr(subprocess, "run", lambda command, check: calls.append(command))
    return calls


def test_an_environment_is_made_once(installed, tmp_path):
    assert python_of("clrs") is None
    make("clrs")
    make("clrs")
    assert len(installed) == 1
    assert installed[0][0] == python_of("clrs") == tmp_path / ".venv-clrs" / "bin" / "python"
    assert "dm-clrs==2.0.3" in installed[0]
    assert python_of("pyg") is None


def test_an_interrupted_installation_is_not_ready(installed, monkeypatch):
    def interrupt(command, check):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", interrupt)
        with pytest.raises(KeyboardInterrupt):
            make("pyg")
    assert python_of("pyg") is None
    make("pyg")
    assert python_of("pyg") is not None


def test_other_requirements_make_it_anew(installed, monkeypatch):
    make("pyg")
    monkeypatch.setitem(environments.REQUIREMENTS, "pyg", ["torch==9"])
    assert python_of("pyg") is None
    make("pyg")
    assert installed[1][-1] == "torch==9"


def test_the_error_for_a_missing_environment_names_the_command(installed):
    with pytest.raises(FileNotFoundError, match=r"no .venv-clrs: make it with `python .* clrs`"):
        Peer("clrs", "clrs_samples.py", "time")


def test_the_output_of_a_failed_peer_is_shown(monkeypatch):
    monkeypatch.setattr(environments, "python_of", lambda peer: sys.executable)
    with (
        Peer("clrs", "no_such_script.py") as peer,
        pytest.raises(RuntimeError, match=r"(?s)ended early.*can't open file.*no_such_script.py"),
    ):
        peer.ask(steps=1)


@pytest.mark.skipif(python_of("pyg") is None, reason=how_to_make("pyg"))
def test_pyg_answers_with_seconds(tmp_path):
    path = tmp_path / "graph.npz"
    edge_index = np.array([[0, 1, 1, 2], [1, 0, 2, 1]], np.int32)
    np.savez(path, edge_index=edge_index, edge_weight=np.ones(4, np.float32))
    with Peer("pyg", "pyg_step.py", str(path), "8") as peer:
        assert peer.ask(backward=False)["seconds"] > 0
        assert peer.ask(backward=True)["seconds"] > 0


@pytest.mark.skipif(python_of("clrs") is None, reason=how_to_make("clrs"))
def test_clrs_trains_when_asked():
    with Peer("clrs", "clrs_train.py", "--num-nodes", "4", "--batch-size", "2") as peer:
        answers = [peer.ask(steps=40, hint_teacher_forcing=1.0) for _ in range(2)]
    assert answers[1]["loss"] < answers[0]["loss"]
    assert all(answer["seconds"] > 0 for answer in answers)
