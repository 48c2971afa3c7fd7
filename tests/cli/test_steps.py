"""`discover` learns a step, `certify` proves it or says why not."""

import json

import pytest

from algotransfer.cli import main
from algotransfer.symbolic.program import StepProgram


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("steps") / "dijkstra.json"
    options = ["--target", "dijkstra", "--num-graphs", "4", "--out", str(path)]
    assert main(["discover", *options]) == 0
    return path


def test_a_discovered_step_is_printed_written_and_certified(program, tmp_path, capsys):
    assert json.loads(program.read_text())["step"] == ["add", "key", "weight"]
    out = tmp_path / "certificate.json"
    assert main(["certify", str(program), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "candidate = key + weight" in text
    assert "certified: the keys and predecessors of dijkstra on every graph" in text
    assert f"check_certificate {out}" in text.replace("\n", "")
    assert json.loads(out.read_text())["certified"]


def test_code_is_printed_without_wrapping(program, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert main(["certify", str(program)]) == 0
    assert StepProgram.load(program).source() in capsys.readouterr().out
    options = ["--target", "dijkstra", "--num-graphs", "4"]
    assert main(["discover", *options]) == 0
    assert StepProgram.load(program).source() in capsys.readouterr().out


def test_discover_prints_the_program(capsys):
    options = ["--target", "widest_par", "--num-graphs", "4"]
    assert main(["discover", *options]) == 0
    text = capsys.readouterr().out
    assert "candidate = min(key, weight)" in text
    assert "--out FILE.json" in text


def test_a_wrong_step_is_refused_with_a_graph(program, tmp_path, capsys):
    data = json.loads(program.read_text())
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**data, "step": ["sub", "key", "weight"]}))
    assert main(["certify", str(path)]) == 2
    shown = capsys.readouterr()
    assert "counterexample: edges" in shown.out
    assert "not certified" in shown.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["certify", "relax-dijkstra", "--out", "x.json"], "choose one with --model-seed"),
        (["certify", "relax-dijkstra", "--model-seed", "9"], "has seeds 0, 1, 2, 3, 4"),
        (["certify", "ne-dijkstra"], "name a relax model"),
        (["certify", "nowhere.json"], "nowhere.json"),
        (["discover", "--target", "dijkstraa"], "dijkstra"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(options, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(options) == 2
    error = capsys.readouterr().err
    assert message in error.replace("\n", " ")
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())
