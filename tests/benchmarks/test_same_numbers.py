"""The fast and the plain path compared, on a few small graphs."""

import json
import sys

import same_numbers

from algotransfer.networks import NE
from algotransfer.training import objective


def test_the_plain_path_takes_a_networks_own_steps():
    before = NE.folded_on, objective.CHOOSING
    with same_numbers.on_path("fast"):
        assert (NE.folded_on, objective.CHOOSING) == before
    with same_numbers.on_path("plain"):
        assert (NE.folded_on, objective.CHOOSING) == ((), "float32")
    assert (NE.folded_on, objective.CHOOSING) == before


def test_paths_agree_from_the_same_weights(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(same_numbers, "STEPS", 2)
    monkeypatch.setattr(same_numbers, "final_errors", lambda *_: [{"20": 0.25}, {"20": 0.75}])
    out = tmp_path / "same.json"
    options = ["--model", "ne", "--supervision", "tf", "--seeds", "2", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["same_numbers.py", *options])
    same_numbers.main()
    (row,) = json.loads(out.read_text())["rows"]
    apart = row["first_losses_apart"]
    assert 0 < apart["same weights"]["most"] < 1e-5  # folded or not, to float tolerance
    assert 0 < apart["nudged"]["most"] < 1e-3
    assert "0.5000 ± 0.2500" in capsys.readouterr().out
