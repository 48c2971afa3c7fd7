"""Networks that run on after the end, on a few graphs; and what is said about made-up errors."""

import json
import sys

import holding
import numpy as np


def test_answers_are_read_around_the_end(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(holding, "AFTER", 3)
    out, picture = tmp_path / "holding.json", tmp_path / "holding.png"
    weights = ["ne++-dijkstra-na", "ne++-prim-dijkstra-na-multitask"]
    options = ["--num-graphs", "2", "--weights", *weights, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["holding.py", *options, "--picture", str(picture)])
    holding.main()
    rows = json.loads(out.read_text())["rows"]
    assert [row["weights"] for row in rows] == weights
    for row in rows:
        assert list(row["errors"]) == [str(k) for k in range(-holding.BEFORE, 4)]
        errors = np.array(list(row["errors"].values()))
        assert errors.shape[1] == len(row["seeds"]) == 3
        assert np.all(errors[holding.BEFORE] < 0.2)  # at the end, as trained
        assert np.all(errors[0] > errors[holding.BEFORE])  # too early
    assert holding.is_lost(rows[1]).sum() == 2  # whose answer is gone three steps later
    assert picture.stat().st_size > 0
    assert "dijkstra" in capsys.readouterr().out


def test_an_answer_is_lost_if_its_error_grows_on_the_whole():
    after = {str(k): [0.1, 0.1 + 0.3 * (k % 2)] for k in range(1, holding.AFTER + 1)}
    row = {"errors": {"0": [0.1, 0.1], **after}}
    np.testing.assert_allclose(holding.afterwards(row), [0.1, 0.25])
    assert holding.is_lost(row).tolist() == [False, True]
