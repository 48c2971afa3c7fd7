"""Networks that run on after the end, on a few graphs; and what is said about made-up errors."""

import json
import sys

import numpy as np
import overthinking


def test_answers_are_read_around_the_end(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(overthinking, "AFTER", 3)
    out, picture = tmp_path / "overthinking.json", tmp_path / "overthinking.png"
    weights = ["ne++-dijkstra-na", "ne++-prim-dijkstra-na-multitask"]
    options = ["--num-graphs", "2", "--weights", *weights, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["overthinking.py", *options, "--picture", str(picture)])
    overthinking.main()
    rows = json.loads(out.read_text())["rows"]
    assert [row["weights"] for row in rows] == weights
    for row in rows:
        assert list(row["errors"]) == [str(k) for k in range(-overthinking.BEFORE, 4)]
        errors = np.array(list(row["errors"].values()))
        assert errors.shape[1] == len(row["seeds"]) == 3
        assert np.all(errors[overthinking.BEFORE] < 0.2)  # at the end, as trained
        assert np.all(errors[0] > errors[overthinking.BEFORE])  # too early
    assert overthinking.is_lost(rows[1]).sum() == 2  # whose answer is gone three steps later
    assert picture.stat().st_size > 0
    assert "dijkstra" in capsys.readouterr().out


def test_an_answer_is_lost_if_its_error_grows_on_the_whole():
    after = {str(k): [0.1, 0.1 + 0.3 * (k % 2)] for k in range(1, overthinking.AFTER + 1)}
    row = {"errors": {"0": [0.1, 0.1], **after}}
    np.testing.assert_allclose(overthinking.afterwards(row), [0.1, 0.25])
    assert overthinking.is_lost(row).tolist() == [False, True]
