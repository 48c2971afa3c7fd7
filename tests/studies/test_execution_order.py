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


def test_steps_of_a_path():
    # Node 1 has its predecessor from step 1, node 2 only from step 3.
    pred = np.array([[[0, -1, -1], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1]]])
    assert execution_order.first_steps(pred)[0, 1:].tolist() == [1, 3]


@pytest.mark.parametrize(("algorithm", "ahead"), [("dijkstra", 0), ("bellman_ford", 1)])
def test_the_algorithms_are_found_in_their_own_order(algorithm, ahead, dataset, truth):
    pointers = np.asarray(run(algorithm, dataset.graphs).pred)[:, 1:]
    rows = execution_order.order_rows(pointers, truth)
    table = pandas.DataFrame(rows, columns=["quantity", "step", "value"]).assign(seed=0)
    assert table.set_index("quantity").loc["nodes, waiting", "value"] > 5
    order = execution_order.order_of(table)
    assert order["share found ahead"]["median"] == ahead
    assert order["pace"]["median"] == ahead


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


def test_the_page_quotes_the_comparison(committed):
    page = (ROOT / "docs/execution-order.md").read_text()
    for name in execution_order.NETWORKS:
        network = committed[name]
        after = network["error after 20 steps"]["parallel only"]
        before = network["error before Dijkstra has the answer"]
        cells = [f"{cell['median']:.3f} ({range_of(cell, 3)})" for cell in (after, before)]
        cells += [f"{network[k]['median']:.2f} ({range_of(network[k], 2)})" for k in ORDER]
        assert f"| {after['seeds']} | {' | '.join(cells)} |" in page, name
        if "factors" in network:
            cells = [f"{c['median']:.2f} ({range_of(c, 2)})" for c in network["factors"].values()]
            assert f"| {' | '.join(cells)} |" in page, name
    guess = committed["NE++"]["guess"]
    assert f"| {guess['parallel only']:.3f} | {guess['waiting']:.3f} |" in page
    at_end = committed["NE++, mixed sizes"]["errors by marks"]["end"]
    for rule in ("own", "none"):
        assert f"{at_end[rule]['median']:.3f} (5 seeds, {range_of(at_end[rule], 3)})" in page


ORDER = ("share found ahead", "pace")


def range_of(cell, digits):
    return f"{cell['lowest']:.{digits}f}–{cell['highest']:.{digits}f}"


def test_the_figure_has_a_line_per_seed():
    figure = execution_order.draw(pandas.read_csv(ROOT / execution_order.TABLE))
    first, *_, last = figure.axes
    assert len(first.lines) == 8 + 1  # seeds, and the step of Dijkstra's algorithm
    assert len(last.lines) == 2 + 1
