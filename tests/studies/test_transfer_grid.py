"""The committed comparison of transfer methods follows from the committed errors."""

import json
from pathlib import Path

import numpy as np
import pytest
import transfer_grid

from algotransfer.datasets.dataset import make_dataset
from algotransfer.datasets.splits import Splits
from algotransfer.experiment import Experiment
from algotransfer.training.epochs import TrainingRun
from algotransfer.training.runs import load_model

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / transfer_grid.COMPARISON).read_text())


@pytest.mark.parametrize("halt", ["told", "horizon"])
def test_comparisons_follow_from_the_errors(halt, committed):
    assert json.loads(json.dumps(transfer_grid.compare(halt))) == committed[halt]


def test_a_known_effect_is_found_and_averaged_over_targets():
    errors = {
        ("ne", target, method): np.exp([0.0, 0.1, -0.1, 0.05, -0.05]) * factor
        for target, factor in (("dijkstra", 0.01), ("reliable_seq", 0.3))
        for method in ("none", *transfer_grid.TRANSFER)
    }
    for target in ("dijkstra", "reliable_seq"):
        errors["ne", target, "multitask"] = errors["ne", target, "none"] / 2
    targets = list(transfer_grid.BASES)
    multitask = transfer_grid.ratio(errors, "ne", targets, ("multitask",))
    assert multitask["ratio"] == pytest.approx(0.5)
    assert multitask["verdict"] == "helps"
    transfer = transfer_grid.ratio(errors, "ne", targets, transfer_grid.TRANSFER)
    assert transfer["verdict"] == "makes no difference"
    del errors["ne", "dijkstra", "none"]
    assert transfer_grid.ratio(errors, "ne", targets, ("multitask",)) is None


def test_the_pages_quote_the_comparison(committed):
    page, findings = (
        (ROOT / "docs" / f"{n}.md").read_text() for n in ("transfer-study", "findings")
    )
    for name, cell in committed["told"]["errors"].items():
        quoted = f"{cell['median']:.3f} ({cell['lowest']:.3f}–{cell['highest']:.3f})"
        assert quoted in page, name
    assert len(committed["told"]["errors"]) == 20
    for name, result in committed["told"]["main"].items():
        low, high = result["interval"]
        assert f"{result['ratio']:.2f} ({low:.2f}–{high:.2f})" in page, name
        assert f"p = {result['p_holm']:.2g}" in page, name
        assert f"{result['ratio']:.2f} (" in findings, name
        assert f"{low:.2f}–{high:.2f}" in findings, name
    helps = committed["told"]["main"]["ne multitask"]
    assert helps["verdict"] == "helps"
    assert f"p = {helps['p_holm']}" in findings


def test_the_page_quotes_the_control(committed):
    page = (ROOT / "docs" / "transfer-study.md").read_text()
    control = committed["unrelated base, validation graphs"]
    readings = [f"{halt}, {size} nodes" for halt, size in transfer_grid.READINGS]
    assert control == {
        name: transfer_grid.control(*reading)
        for name, reading in zip(readings, transfer_grid.READINGS, strict=True)
    }
    end, small, horizon = (control[name] for name in readings)
    for name, base in (("nothing", "none"), ("Prim", "prim"), ("depth-first search", "dfs")):
        cells = [
            f"{one['median']:.3f} ({one['lowest']:.3f}–{one['highest']:.3f})"
            for one in (small[base], horizon[base], end[base])
        ]
        assert f"| {name} | {' | '.join(cells)} |" in page
    assert end["prim over dfs"]["interval"][1] < 1 < end["dfs over none"]["interval"][0]
    low, high = end["prim over dfs"]["interval"]
    assert f"{end['prim over dfs']['ratio']} times" in page
    assert f"({low}–{high})" in page.replace("95 % interval ", "")
    ratio, (low, high) = end["dfs over none"]["ratio"], end["dfs over none"]["interval"]
    assert f"({low:.1f}–{high:.1f})" in page
    for name in ("README.md", "docs/findings.md", "docs/index.md"):
        text = (ROOT / name).read_text()
        assert (
            f"{ratio:.1f} times the error of NE trained on Dijkstra alone ({low:.1f}–{high:.1f};"
            in text
        )


def test_the_last_weights_are_kept_beside_the_best(monkeypatch, tmp_path):
    monkeypatch.setattr(TrainingRun, "run", TrainingRun.run)  # put back after the test
    monkeypatch.setattr(transfer_grid, "make_splits", lambda name, seed: tiny_splits())
    monkeypatch.setattr(transfer_grid, "SEEDS", (100,))
    tiny = Experiment(model="relax", target="bellman_ford", max_epochs=1, batch_size=4)
    transfer_grid.train_all([transfer_grid.Try(tiny)], tmp_path, 600)
    (weights,) = transfer_grid.weights_of([tiny], tmp_path).values()
    last = load_model(weights.with_name("last.npz"))
    assert last.experiment == tiny
    assert last.seeds == (100,)


def tiny_splits() -> Splits:
    train, validation = (
        make_dataset(("er",), num_graphs=8, num_nodes=5, split=split)
        for split in ("train", "validation")
    )
    return Splits(train, validation, {})


def test_the_tries_differ_from_the_grid_in_one_setting():
    lr4 = transfer_grid.tries()["lr4 fine_tune"]
    assert lr4.experiment.learning_rate == 1e-4
    # The same settings, so the same run folder and the same base networks.
    assert lr4.experiment.pretraining() == lr4.usual.pretraining()


def test_every_fourth_graph_of_terminate_stops_early():
    length = np.array([1, 5, 9, 20] * 50)
    steps = transfer_grid.Terminating().training_steps(length, 0)
    early = np.arange(200) % 4 == 3
    assert (steps[~early] == length[~early]).all()
    assert (steps[early] < length[early]).all()
    assert (steps[early] >= 1).all()
    assert len(set(steps[early])) > 10
