"""The order of answers is measured as the protocol says, and the page quotes the measurement."""

import json
from pathlib import Path

import execution_order
import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from algotransfer import load_model, make_dataset, run
from algotransfer.evaluation.evaluation_batch import EvaluationBatch

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dataset():
    return make_dataset("grid", 2, 46, split="validation")  # 2×23: paths of over 20 edges


@pytest.fixture(scope="module")
def truth(dataset):
    return execution_order.Truth.of(dataset)


def test_first_steps_are_those_after_the_last_error():
    pred = np.array([[0, 0, 1]])
    pointers = np.array([[[0, 0, 0], [0, 2, 1], [0, 0, 0], [0, 0, 1]]])
    assert execution_order.first_steps(pointers, pred).tolist() == [[0, 2, 3]]


@pytest.mark.parametrize("algorithm", execution_order.TRACES.values())
def test_keys_name_a_predecessor_no_later_than_the_algorithm(algorithm, dataset, truth):
    pointers = execution_order.read_out(algorithm, dataset.graphs)
    named = execution_order.first_steps(pointers, truth.pred)
    known = execution_order.first_steps(np.asarray(run(algorithm, dataset.graphs).pred), truth.pred)
    earlier = (known - named)[truth.counted]
    assert (earlier >= 0).all()
    assert (earlier > 0).any()


@pytest.mark.parametrize(("algorithm", "ahead"), [("dijkstra", 0), ("bellman_ford", 1)])
def test_the_algorithms_are_found_in_their_own_order(algorithm, ahead, dataset, truth):
    pointers = execution_order.read_out(algorithm, dataset.graphs)[:, 1:]
    rows = execution_order.order_rows(pointers, truth)
    table = pandas.DataFrame(rows, columns=["quantity", "step", "value"]).assign(seed=0)
    assert table.set_index("quantity").loc["nodes, waiting", "value"] > 5
    order = execution_order.order_of(table)
    assert order["share found ahead"]["median"] == pytest.approx(ahead, abs=0.05)
    assert order["pace"]["median"] == pytest.approx(ahead, abs=0.05)


@pytest.mark.parametrize("name", ["ne++-dijkstra-na", "ne++-dijkstra-tf"])
def test_a_network_with_its_own_marks_runs_as_in_evaluation(name, dataset):
    batch = EvaluationBatch.prepare(load_model(name), dataset.graphs)
    every = np.arange(len(dataset.graphs))
    expected = batch.run.with_steps(dataset.num_nodes).run(dataset.graphs, every, "steps")
    found = outputs(batch, dataset, None)
    np.testing.assert_array_equal(found[0], expected.pointer)
    np.testing.assert_array_equal(found[1], expected.chosen)


def outputs(batch, dataset, marks):
    graphs = jax.tree.map(jnp.asarray, dataset.graphs)
    arguments = (batch.run.infinity[0], marks, batch.target, dataset.num_nodes)
    return execution_order.execute(batch.run.networks, graphs, *arguments)


def test_a_network_visits_the_nodes_that_a_rule_marks(dataset, truth):
    batch = EvaluationBatch.prepare(load_model("ne++-dijkstra-na"), dataset.graphs)
    marks = execution_order.marks_of("random", truth.visited)
    assert (marks.sum(-1) == truth.visited.sum(-1)).all()
    assert (marks != truth.visited).any()
    _, chosen = outputs(batch, dataset, marks)
    for graph, last in enumerate(truth.last):
        expected = np.argmax(marks[graph, 1:] & ~marks[graph, :-1], axis=-1)[: last + 1]
        for seed in range(len(batch.seeds)):
            np.testing.assert_array_equal(chosen[seed, graph, : last + 1], expected)


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / execution_order.COMPARISON).read_text())


def test_the_comparison_follows_from_the_table(committed):
    assert execution_order.compare(pandas.read_csv(ROOT / execution_order.TABLE)) == committed


def cell(values, digits):
    return "{median:.{d}f} ({lowest:.{d}f}–{highest:.{d}f})".format(**values, d=digits)


def test_the_page_quotes_the_comparison(committed):
    page = (ROOT / "docs/execution-order.md").read_text()
    for name in execution_order.NETWORKS:
        network = committed[name]
        share = network["share found ahead"]
        after = network["error after 20 steps"]["parallel only"]
        before = network["error before Dijkstra names the answer"]
        cells = f"{cell(after, 3)} | {cell(before, 3)} | {cell(share, 2)} |"
        assert f"| {name} | {share['seeds']} | {cells}" in page
        for errors in network.get("errors by marks", {}).values():
            if name.startswith("NE") and "none" in errors:
                cells = " | ".join(cell(errors[rule], 3) for rule in execution_order.RULES)
                assert f"| {name} | {share['seeds']} | {cells} |" in page
    guess, nodes = committed["NE++"]["guess"], committed["NE++"]["nodes"]
    cells = (f"{guess[f'guess, {key}']:.3f}" for key in ("parallel only", "waiting"))
    assert f"| {' | '.join(cells)} |" in page
    assert f"{nodes['nodes, parallel only']:,} predecessors" in page
    assert f"{nodes['grid nodes, parallel only']:,} of them are in grids" in page
    assert f"{nodes['nodes, waiting']} nodes (" in page


@pytest.mark.parametrize("name", ["README.md", "docs/findings.md"])
def test_the_front_pages_quote_the_comparison(name, committed):
    page = (ROOT / name).read_text()
    for network, seeds in (
        ("NE++, with Dijkstra's steps", 3),
        ("NE++, mixed sizes", 5),
        ("NE, mixed sizes", 5),
        ("NE++", 8),
    ):
        share = cell(committed[network]["share found ahead"], 2)
        assert share.replace("(", f"({seeds} seeds, ") in page, network


def test_the_figure_has_a_line_per_seed():
    figure = execution_order.draw(pandas.read_csv(ROOT / execution_order.TABLE))
    first, *_, last = figure.axes
    assert len(first.lines) == 8 + 2  # seeds, the guess, and the step of Dijkstra's keys
    assert len(last.lines) == 2 + 2
