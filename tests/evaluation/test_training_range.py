"""Own graphs: weights in any unit, ∞ from the graph, equally good answers, training graphs."""

import dataclasses
import warnings

import networkx
import numpy as np
import pytest
from algorithms import batches

from algotransfer import ALGORITHMS, execute, from_graphs, load_model, run, sample_graphs
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.datasets import split_dataset
from algotransfer.datasets.dataset import graph_hashes
from algotransfer.errors import UserError
from algotransfer.evaluation import evaluate_by_step
from algotransfer.evaluation.evaluate import evaluate
from algotransfer.evaluation.paths import follow, worse_predecessors
from algotransfer.evaluation.training_range import fit_graphs, infinity_without_answer
from algotransfer.files import Notice
from algotransfer.graphs import Graph, concatenate, from_networkx
from algotransfer.training.examples import tasks_of

pytestmark = pytest.mark.usefixtures("quick_to_compile")


@pytest.fixture(scope="module")
def relax():
    return load_model("relax-dijkstra")


def times(graphs: Graph, factor) -> Graph:
    return dataclasses.replace(graphs, weights=np.float32(factor) * graphs.weights)


@pytest.mark.parametrize("name", [*PAPER_ALGORITHMS, "minimax_par"])
def test_answers_scale_as_declared(name):
    graphs, algorithm = sample_graphs("er", 8, 9, split="test"), ALGORITHMS[name]
    whole, half = (run(name, times(graphs, factor), record="final") for factor in (1, 0.5))
    keys = np.asarray(whole.final_key), np.asarray(half.final_key)
    expected = {"linear": 0.5, "constant": 1.0, None: np.nan}[algorithm.scaling]
    assert np.array_equal(keys[0] * expected, keys[1]) == (algorithm.scaling is not None)
    if algorithm.scaling is not None:
        assert np.array_equal(whole.final_pred, half.final_pred)


@pytest.mark.parametrize("unit", [1, 1e-3, 60, 1e6])
def test_relax_is_right_on_the_karate_club_in_any_unit(relax, unit):
    club = networkx.karate_club_graph()
    for *_, edge in club.edges(data=True):
        edge["weight"] *= unit
    with pytest.warns(Notice, match=r"a factor of 7; the network was .* other than relax"):
        answer = execute(relax, from_networkx(club, source=33).graph)
    assert answer.worse.sum() == 0
    assert answer.wrong.sum() < 5  # equally good
    assert np.allclose(answer.key, answer.true_key, rtol=0.01)
    true = networkx.single_source_dijkstra_path_length(club, 33)
    assert np.allclose(answer.true_key, [true[node] for node in club], rtol=1e-5)


def test_graphs_of_the_training_range_stay_as_they_are(relax):
    graphs = sample_graphs("ba", 50, 12, split="test")
    fitted = fit_graphs(relax, graphs)
    assert fitted.graphs is graphs
    assert set(fitted.weight_factor) == set(fitted.key_factor) == {1.0}


def test_graphs_of_a_batch_are_rescaled_one_by_one(relax):
    graphs = sample_graphs("er", 3, 12, split="test")
    mixed = concatenate([times(graphs[0], 1), times(graphs[1], 2000), times(graphs[2], 2e-5)])
    fitted = fit_graphs(relax, mixed)
    real = np.asarray(mixed.edge_mask())
    assert np.array_equal(fitted.graphs.weights[0], mixed.weights[0])
    assert all(0.1 < fitted.graphs.weights[k][real[k]].min() for k in range(3))
    assert all(fitted.graphs.weights[k].max() < 1.5 for k in range(3))
    assert np.array_equal(np.log2(fitted.key_factor) % 1, np.zeros(3))  # rounds nothing


def test_evaluate_does_not_depend_on_the_unit(relax):
    graphs = sample_graphs("er", 4, 8, split="test")
    plain, metres = (evaluate(relax, from_graphs([times(graphs, k)])) for k in (1, 1024))
    assert plain["value"].equals(metres["value"])


def test_errors_by_step_do_not_depend_on_the_unit():
    model, graphs = load_model("ne++-dijkstra"), sample_graphs("er", 4, 8, split="test")
    plain, metres = (
        evaluate_by_step(model, from_graphs([times(graphs, k)]), past_end=2) for k in (1, 1024)
    )
    assert plain["value"].between(0.01, 0.99).any()
    assert plain["value"].equals(metres["value"])


@pytest.mark.parametrize(
    ("weight", "name"),
    [(0.001, "relax-reliable_seq"), (-2.0, "ne++-prim-dijkstra-dfs-tf-multitask")],
)
def test_weights_that_cannot_be_rescaled_are_named(weight, name):
    path = batches.graph(5, [(0, 1), (1, 2), (2, 3), (3, 4)], weights=[weight] * 4)
    with pytest.warns(Notice, match=f"weights go from {weight:g} to {weight:g}, the network was"):
        fitted = fit_graphs(load_model(name), concatenate([path]))
    assert fitted.weight_factor.tolist() == [1.0]


@pytest.mark.parametrize(("weight", "notices"), [(0.199, 0), (0.161, 0), (0.159, 1)])
def test_weights_just_outside_the_training_range_cause_no_notice(weight, notices):
    model = load_model("relax-reliable_seq")  # trained on 0.2 to 1
    path = batches.graph(3, [(0, 1), (1, 2)], weights=[weight, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert fit_graphs(model, concatenate([path])).weight_factor.tolist() == [1.0]
    assert len(caught) == notices


@pytest.mark.parametrize("name", ["relax-dijkstra", "relax-dijkstra-inf100", "ne++-prim-tf"])
def test_infinity_is_above_every_key(name):
    model = load_model(name)
    tasks = tasks_of(model.experiment)
    graphs = sample_graphs("grid", 6, 40, split="test")
    long = times(graphs, 30)
    truth = np.asarray(run(tasks[-1].algorithm, long, record="final").final_key)
    (infinity,) = infinity_without_answer(model, tasks, long)
    assert np.all(infinity > truth.max(axis=-1))
    (short,) = infinity_without_answer(model, tasks, times(graphs, 0.01))
    assert np.all(short == 100.0) == (name == "relax-dijkstra-inf100")


@pytest.mark.parametrize(
    ("name", "pointer", "worse"),
    [
        ("dijkstra", [0, 0, 0, 1], []),  # the algorithm's answer
        ("dijkstra", [0, 0, 0, 2], []),  # the other side of the square is as short
        ("dijkstra", [0, 0, 0, 3], [3]),
        ("dijkstra", [1, 0, 0, 1], [0]),  # the source points away
        ("widest_seq", [0, 0, 0, 2], []),
        ("widest_seq", [0, 3, 0, 1], [1]),  # as wide, but a circle
        ("prim", [0, 0, 0, 2], []),
        ("prim", [0, 0, 3, 1], []),  # another tree, as light
        ("prim", [0, 0, 3, 2], [2, 3]),
        ("dfs", [0, 0, 0, 2], [3]),
    ],
)
def test_equally_good_predecessors_are_not_worse(name, pointer, worse):
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    square = concatenate([batches.graph(4, edges, weights="equal")])
    truth = run(name, square, record="final")
    answer = np.asarray(truth.final_key), np.asarray(truth.final_pred)
    pointers = np.array([pointer])
    paths = follow(ALGORITHMS[name], square, pointers)
    marked = worse_predecessors(ALGORITHMS[name], paths, pointers, *answer)
    assert np.flatnonzero(marked[0]).tolist() == worse


def test_training_graphs_are_named(relax):
    graphs = sample_graphs("ba", 5000, 20)
    some = concatenate([graphs[:2], sample_graphs("ba", 3, 20, split="test")])
    with pytest.warns(Notice, match=r"trained on 2 of these 5 graphs; .* split='test'"):
        fit_graphs(relax, some)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        fit_graphs(relax, sample_graphs("ba", 50, 20, split="test"))


@pytest.mark.parametrize(
    "changes",
    [
        {"graph": ["of another package"]},
        {"graph": 3},
        {"num_graphs": 10**12},
        {"num_graphs": "many"},
        {"unknown": 1},
    ],
)
def test_training_graphs_that_cannot_be_sampled_are_not_compared(relax, changes):
    data = {**relax.card["data"]["train"], **changes}
    model = dataclasses.replace(relax, card={**relax.card, "data": {"train": data}})
    graphs = sample_graphs("er", 2, data["num_nodes"], split="test")
    assert fit_graphs(model, graphs).graphs is graphs


def test_own_training_graphs_are_recognised_one_by_one(relax):
    data = from_graphs([times(sample_graphs("er", 4, 8), 50)])
    splits = split_dataset(data, 0.25)
    card = relax.card | {
        "data": {"train": splits.train.arguments},
        "weights": [10.0, 50.0],
        "graphs": {name: "".join(graph_hashes(part.graphs)) for name, part in splits},
    }
    own = dataclasses.replace(relax, card=card)
    for graphs, message in [
        (data.graphs, "trained on 3 and validated on 1 of these 4 graphs; evaluate it on graphs"),
        (splits.train.graphs[1:], "trained on 2 of these 2 graphs"),
        (splits.validation.graphs, "validated on 1 of these 1 graphs"),
    ]:
        with pytest.warns(Notice, match=message):
            fitted = fit_graphs(own, graphs)
        assert fitted.graphs is graphs  # in the range of that training
    with pytest.warns(Notice, match="trained on 1 of these 1 graphs"):
        execute(own, splits.train.named_graph(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        fit_graphs(own, times(sample_graphs("er", 4, 8, split="test"), 50))


def test_an_answer_prints_in_one_line(relax):
    answer = execute(relax, networkx.path_graph(["valley", "lake", "ridge"]))
    assert repr(answer) == (
        "<Answer of dijkstra on 3 nodes, read after 3 steps: 0 of 3 predecessors differ from the "
        "algorithm's, 0 of them worse>"
    )


def test_an_edge_with_a_wrong_weight_is_named(relax):
    roads = networkx.Graph()
    roads.add_edge("valley", "lake", weight=-1)
    for function, first in ((run, "dijkstra"), (execute, relax)):
        with pytest.raises(UserError, match="between nodes 'valley' and 'lake' has weight -1"):
            function(first, roads)
