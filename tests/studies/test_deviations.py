"""Networks tested in other ways than they were trained for, on a few small graphs."""

import json
import sys

import deviations


def test_every_way_of_testing_gives_errors_of_every_seed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(deviations, "SIZES", (10,))
    out = tmp_path / "deviations.json"
    options = ["--num-graphs", "2", "--weights", "ne-dijkstra-na", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["deviations.py", *options])
    deviations.main()
    rows = json.loads(out.read_text())["rows"]
    assert [row["deviation"] for row in rows] == ["G2"] * 3 + ["G3"] * 2 + ["I1"] * 2
    assert all(len(row["pred"]["10"]) == len(row["key"]["10"]) == 3 for row in rows)
    same, other = rows[-2:]
    assert same["key"] != other["key"]  # ∞ is seen
    assert "square" in capsys.readouterr().out
