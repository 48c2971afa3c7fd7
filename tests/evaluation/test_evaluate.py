"""`evaluate` from weights to a tidy table."""

import dataclasses

import jax
import numpy as np
import pandas
import pytest
from algorithms import batches
from evaluation import cases

from algotransfer.cli import main
from algotransfer.datasets import from_graphs, make_dataset
from algotransfer.evaluation import COLUMNS, evaluate, harness
from algotransfer.evaluation.evaluate import read_evaluation, save_evaluation
from algotransfer.experiment import Experiment
from algotransfer.training.runs import Model

NO_ALGORITHM = Experiment(target="dijkstra", supervision="na", hidden=4)
ROWS = {"network", "algorithm", "random_neighbour", "lightest_edge"}
KEYS = ["row", "seed", "family", "num_nodes", "metric", "hop"]

ANSWER_METRICS = ["key", "pred", "worse", "tree", "no_path", "exact", "micro_f1"]


@pytest.fixture(scope="module")
def datasets():
    return {n: make_dataset(("er", "grid"), 5, n, split="test") for n in (4, 6)}


@pytest.fixture(scope="module")
def model():
    return dataclasses.replace(cases.fresh_model(NO_ALGORITHM, 2), seeds=(3, 9))


@pytest.fixture(scope="module")
def frame(model, datasets):
    return evaluate(model, datasets)


def values(frame, metric, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame[(frame["metric"] == metric) & frame["hop"].isna()]["value"].tolist()


def test_the_table_is_tidy(frame):
    assert list(frame.columns) == list(COLUMNS)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == COLUMNS
    assert set(frame["row"]) == ROWS
    assert not frame.duplicated(KEYS).any()
    assert not frame["value"].isna().any()
    network = frame[frame["row"] == "network"]
    assert set(network["seed"]) == {3, 9}
    assert frame[frame["row"] != "network"]["seed"].isna().all()
    overall = network[network["hop"].isna()]
    groups = overall.groupby(["seed", "family", "num_nodes"])["metric"].agg(list)
    assert len(groups) == 2 * 2 * 2
    for metrics in groups:
        assert [m for m in metrics if m != "cost"] == ANSWER_METRICS
    assert overall[overall["metric"] == "pred"]["num_graphs"].eq(5).all()
    assert frame["hop"].dropna().between(0, 5).all()


def test_references(frame):
    assert values(frame, "pred", row="algorithm") == [0] * 4
    assert values(frame, "key", row="algorithm") == [0] * 4
    assert values(frame, "tree", row="algorithm") == [1] * 4
    assert values(frame, "cost", row="algorithm") == [1] * 4
    for row in ("random_neighbour", "lightest_edge"):
        assert len(values(frame, "pred", row=row)) == 4
        assert 0 < np.mean(values(frame, "pred", row=row)) < 1
        assert values(frame, "key", row=row) == []


def test_without_datasets_there_is_an_error(model):
    with pytest.raises(ValueError, match="expected one Dataset or more"):
        evaluate(model, {})


def test_every_seed_by_itself(frame, model, datasets):
    for place, seed in enumerate([3, 9]):
        alone = jax.tree.map(lambda leaf, k=place: leaf[k : k + 1], model.networks)
        single = evaluate(Model(NO_ALGORITHM, (seed,), alone, {}), [datasets[6]])
        both = frame[(frame["seed"] == seed) & (frame["num_nodes"] == 6)].reset_index(drop=True)
        single = single[single["row"] == "network"].reset_index(drop=True)
        pandas.testing.assert_frame_equal(single, both, rtol=1e-4)


def test_chunks_do_not_matter(frame, model, datasets, monkeypatch):
    seen = []
    monkeypatch.setitem(harness.CHUNK_BYTES, "cpu", 10**4)
    chunked = evaluate(model, list(datasets.values()), lambda *now: seen.append(now))
    pandas.testing.assert_frame_equal(chunked, frame, rtol=1e-5)
    assert len(seen) > 4
    assert seen[-1] == (20, 20)
    assert sorted(seen) == seen


@pytest.mark.slow
def test_binary_keys_have_an_accuracy_and_no_pointers(datasets):
    for supervision, metrics in [("na", {"key"}), ("tf", {"key", "key_last", "term"})]:
        experiment = Experiment(target="bfs", supervision=supervision, hidden=4)
        frame = evaluate(cases.fresh_model(experiment, 1), [datasets[4]])
        assert set(frame["metric"]) == metrics
        masked = {"masked"} if supervision == "tf" else set()
        assert set(frame["row"]) == {"network", "algorithm"} | masked
        assert values(frame, "key", row="algorithm") == [1, 1]


def test_exploding_networks_still_give_numbers(model, datasets):
    huge = jax.tree.map(lambda leaf: leaf * 1e12, model.networks)
    frame = evaluate(dataclasses.replace(model, networks=huge), [datasets[6]])
    assert not frame["value"].isna().any()
    assert np.isposinf(values(frame, "key", row="network")).all()
    assert max(values(frame, "pred", row="network")) <= 1


@pytest.mark.slow
def test_graphs_of_the_user():
    alone = batches.graph(1, [], weights=[])
    apart = [batches.graph(5, [(0, 1), (1, 2)]), batches.graph(5, [(3, 4)], source=3)]
    for supervision in ("na", "tf"):
        experiment = Experiment(target="prim", supervision=supervision, hidden=4)
        data = [from_graphs([alone]), from_graphs(apart, family=["path", "edge"])]
        frame = evaluate(cases.fresh_model(experiment, 1), data)
        assert set(frame["family"]) == {"own", "path", "edge"}
        assert values(frame, "tree", row="algorithm") == [1, 1, 1]
        assert values(frame, "cost", row="algorithm", num_nodes=5) == [1, 1]
        assert values(frame, "cost", num_nodes=1) == []


def test_other_sizes_are_kept_when_asked_for(frame, tmp_path, capsys):
    small, large = (frame[frame["num_nodes"] == n] for n in (4, 6))
    save_evaluation(tmp_path, small)
    save_evaluation(tmp_path, large.assign(value=0.0), keep=True)
    save_evaluation(tmp_path, large, keep=True)
    expected = pandas.concat([small, large], ignore_index=True)
    kept = read_evaluation(tmp_path).astype(COLUMNS)
    pandas.testing.assert_frame_equal(kept, expected, check_exact=True)
    save_evaluation(tmp_path, large)
    assert set(read_evaluation(tmp_path)["num_nodes"]) == {6}
    assert main(["evaluate", "ne-dijkstra-na", "--keep", "--out", "x.csv"]) == 2
    assert "--keep applies to the table in a run folder" in capsys.readouterr().err
    (tmp_path / "weights.npz").touch()
    assert main(["evaluate", str(tmp_path), "--infinity", "100"]) == 2
    assert "is for the defaults; add --out" in capsys.readouterr().err


def test_families_may_have_any_name(tmp_path):
    names = ["NA", "None", "null", "nan", "007", "1.50"]
    rows = [("network", 0, name, 4, "pred", None, 0.5, 9) for name in names]
    rows.append(("algorithm", None, "NA", 4, "pred", 2, np.inf, 9))
    frame = pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    save_evaluation(tmp_path, frame)
    kept = read_evaluation(tmp_path).astype(COLUMNS)
    pandas.testing.assert_frame_equal(kept, frame, check_exact=True)


@pytest.mark.slow
def test_another_stand_in_for_infinity(tmp_path):
    """Exact relaxations do not depend on it; NE, which has seen another one in training, does."""
    options = ["--num-nodes", "8", "--family", "er", "--num-graphs", "4"]
    tables = {}
    for name in ("relax-dijkstra-na-4a6b0caf5adbc5a0", "ne-dijkstra-na"):
        for infinity in ("instance", "100"):
            out = tmp_path / f"{name}-{infinity}.csv"
            call = ["evaluate", name, *options, "--infinity", infinity, "--out", str(out)]
            assert main(call) == 0
            tables[name[:2], infinity] = pandas.read_csv(out)
    key = {place: np.mean(values(table, "key", row="network")) for place, table in tables.items()}
    assert key["re", "100"] == pytest.approx(key["re", "instance"], rel=1e-3)
    assert key["ne", "100"] > 10 * key["ne", "instance"]
