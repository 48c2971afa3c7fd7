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


@pytest.fixture(scope="module")
def batch(dataset):
    return EvaluationBatch.prepare(load_model("ne++-dijkstra-na"), dataset.graphs)


def outputs(batch, dataset, marks):
    graphs = jax.tree.map(jnp.asarray, dataset.graphs)
    arguments = (batch.run.infinity[0], marks, batch.target, dataset.num_nodes)
    found = execution_order.execute(batch.run.networks, graphs, *arguments)
    return tuple(map(np.asarray, found))


def test_first_steps_are_those_after_the_last_error():
    pred = np.array([[0, 0, 1]])
    pointers = np.array([[[0, 0, 0], [0, 2, 1], [0, 0, 0], [0, 0, 1]]])
    assert execution_order.first_steps(pointers, pred).tolist() == [[0, 2, 3]]


@pytest.mark.parametrize("algorithm", ["dijkstra", "bellman_ford"])
def test_keys_name_a_predecessor_no_later_than_the_algorithm(algorithm, dataset, truth):
    trace = run(algorithm, dataset.graphs)
    pointers = execution_order.read_out(np.asarray(trace.key), truth.costs)
    named = execution_order.first_steps(pointers, truth.pred)
    known = execution_order.first_steps(np.asarray(trace.pred), truth.pred)
    counted = truth.late | truth.waiting
    assert (named <= known)[counted].all()
    assert (named < known)[counted].any()


def test_controls_are_ordered(dataset, truth):
    errors = {}
    for name, keys in execution_order.controls(dataset, truth).items():
        rows = execution_order.order_rows(keys, truth)
        table = pandas.DataFrame(rows, columns=["quantity", "step", "value"]).assign(seed=0)
        order = execution_order.order_of(table)
        errors[name] = [order[k]["median"] for k in ("late", "waiting, one step before")]
    dijkstra, once_more, bellman_ford = errors.values()
    assert min(dijkstra) > 0.9
    assert 0.5 < once_more[0] <= dijkstra[0]
    assert bellman_ford == [0, 0]


def test_a_network_with_its_own_marks_runs_as_in_evaluation(batch, dataset):
    every = np.arange(len(dataset.graphs))
    expected = batch.run.with_steps(dataset.num_nodes).run(dataset.graphs, every, "steps")
    pointers, keys, _ = outputs(batch, dataset, None)
    np.testing.assert_array_equal(pointers, expected.pointer)
    np.testing.assert_array_equal(keys, expected.key)


def test_a_network_that_is_given_its_own_marks_runs_alike(batch, dataset):
    pointers, _, visited = outputs(batch, dataset, None)
    seed = 1
    before = np.pad(visited[seed] > 0.5, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    np.testing.assert_array_equal(outputs(batch, dataset, before)[0][seed], pointers[seed])


def test_random_marks_are_as_many(truth):
    marks = execution_order.marks_of("random", truth.visited)
    assert (marks.sum(-1) == truth.visited.sum(-1)).all()
    assert (marks != truth.visited).any()


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / execution_order.COMPARISON).read_text())


def test_the_comparison_follows_from_the_table(committed):
    assert execution_order.compare(pandas.read_csv(ROOT / execution_order.TABLE)) == committed


def cell(values):
    return "{median:.3f} ({lowest:.3f}–{highest:.3f})".format(**values)


def test_the_page_quotes_the_comparison(committed):
    page = (ROOT / "docs/execution-order.md").read_text()
    for name in execution_order.NETWORKS:
        network = committed[name]
        late, before = (network[k] for k in ("late", "waiting, one step before"))
        assert f"| {name} | {late['seeds']} | {cell(late)} | {cell(before)} |" in page
        for errors in network.get("errors by marks", {}).values():
            if name.startswith("NE"):
                cells = " | ".join(cell(errors[rule]) for rule in execution_order.RULES)
                assert f"| {name} | {late['seeds']} | {cells} |" in page
    for name in execution_order.CONTROLS:
        late, before = (committed[name][k] for k in ("late", "waiting, one step before"))
        assert f"| *{name}* | | {late['median']:.3f} | {before['median']:.3f} |" in page
    guess, nodes = committed["NE++"]["guess"], committed["NE++"]["nodes"]
    assert f"| {guess['guess, late']:.3f} | {guess['guess, waiting']:.3f} |" in page
    assert f"{nodes['nodes, late']:,} predecessors" in page
    assert f"{nodes['grid nodes, late']:,} of them are in grids" in page
    er, ba, grid = (nodes[f"{family} nodes, waiting"] for family in ("er", "ba", "grid"))
    assert f"{nodes['nodes, waiting']} predecessors ({er}, {ba} and {grid} in" in page


@pytest.mark.parametrize("name", ["README.md", "docs/findings.md"])
def test_the_front_pages_quote_the_comparison(name, committed):
    page = (ROOT / name).read_text()
    for network, seeds in (("NE++", 8), ("NE, mixed sizes", 5)):
        median, interval = cell(committed[network]["late"]).split(" (")
        assert median in page
        assert f"({seeds} seeds, {interval}" in page
    guess, nodes = committed["NE++"]["guess"], committed["NE++"]["nodes"]
    assert f"a guess {guess['guess, late']:.3f}" in page
    assert f"name {nodes['nodes, late']:,} predecessors" in page


def test_the_figure_has_a_line_per_seed():
    figure = execution_order.draw(pandas.read_csv(ROOT / execution_order.TABLE))
    first, *_, last = figure.axes
    assert len(first.lines) == 8 + 2  # seeds, the guess, and the step of Dijkstra's keys
    assert len(last.lines) == 3 + 2
