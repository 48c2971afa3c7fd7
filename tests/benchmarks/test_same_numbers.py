"""The comparison of the fast and the plain path, on a few small graphs."""

import same_numbers

from algotransfer.experiment import Experiment
from algotransfer.networks import NE
from algotransfer.training import objective


def test_the_plain_path_calls_process_at_every_step():
    before = NE.folded_on, objective.SELECTION_PRECISION
    with same_numbers.on_path("fast"):
        assert (NE.folded_on, objective.SELECTION_PRECISION) == before
    with same_numbers.on_path("plain"):
        assert (NE.folded_on, objective.SELECTION_PRECISION) == ((), "float32")
    assert (NE.folded_on, objective.SELECTION_PRECISION) == before


def test_paths_agree_from_the_same_weights(monkeypatch, capsys):
    monkeypatch.setattr(same_numbers, "STEPS", 3)
    experiment = Experiment(model="ne", target="bellman_ford", hidden=8, batch_size=16)
    row = same_numbers.compared(experiment, seeds=1, to_the_end=False)
    apart = row["first_losses_apart"]
    assert 0 < apart["same weights"]["most"] < 1e-5  # folded or not, to float tolerance
    assert 0 < apart["nudged"]["most"] < 1e-3
    row["final_errors"] = {"fast": [{"20": 0.25}, {"20": 0.75}], "plain": [{"20": 0.5}]}
    same_numbers.show([row])
    assert "0.5000 ± 0.2500" in capsys.readouterr().out
