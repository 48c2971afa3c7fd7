"""Where a network leaves an algorithm is found, said in a line, and measured as evaluation does."""

import dataclasses

import jax
import numpy as np
import pytest

from algotransfer.algorithms import get_algorithm, run
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.explorer.divergence import count_answers, errors, find_divergence, right_choices
from algotransfer.explorer.recording import record_execution, record_trace
from algotransfer.explorer.scene import until_the_end
from algotransfer.graphs import from_edges, sample_graphs

NAMES = [f"v{node}" for node in range(12)]
INFINITY = 5.0
GRAPH = sample_graphs("er", 3, 12, seed=1, split="test")[0]


def perfect(name, graph=GRAPH, stop=True):
    """The algorithm itself in the role of a network that is taught by steps."""
    algorithm = get_algorithm(name)
    truth = record_trace(algorithm, run(name, graph))
    probability = None
    if algorithm.sequential:
        probability = np.full((truth.num_steps, graph.num_nodes), 0.1)
        probability[np.arange(truth.num_steps), truth.chosen] = 0.8
    done = np.linspace(0, 1, truth.num_steps) if stop else None
    key = np.where(np.isinf(truth.key), np.float32(INFINITY), truth.key)  # as networks see it
    return algorithm, truth, dataclasses.replace(truth, key=key, probability=probability, stop=done)


@pytest.mark.parametrize("name", ["dijkstra", "dfs", "widest_seq", "prim", "bellman_ford", "bfs"])
def test_the_algorithm_agrees_with_itself(name):
    algorithm, truth, network = perfect(name)
    divergence = find_divergence(algorithm, GRAPH, truth, network, NAMES)
    assert divergence.step is None
    assert divergence.sentence == "The network follows the algorithm to its last step."
    assert count_answers(algorithm, GRAPH, truth, network)[:2] == (0, 0)
    for values in errors(algorithm, truth, network, INFINITY, 1.0).values():
        assert len(values) == truth.num_steps
        assert not np.any(values)


def test_another_choice_is_found_with_its_probabilities():
    algorithm, truth, network = perfect("dijkstra")
    chosen = network.chosen.copy()
    chosen[[4, 5]] = chosen[[5, 4]]
    probability = network.probability.copy()
    probability[4, chosen[4]], probability[4, chosen[5]] = 0.48, 0.41
    network = dataclasses.replace(network, chosen=chosen, probability=probability)
    divergence = find_divergence(algorithm, GRAPH, truth, network, NAMES)
    mine, best = chosen[4], chosen[5]
    assert divergence.step == 5
    assert divergence.node == mine
    assert divergence.sentence == f"step 5: chose v{mine} (p 0.48) instead of v{best} (p 0.41)"
    assert right_choices(truth, network).tolist().count(False) == 2


def test_any_of_several_best_nodes_may_be_next():
    """A star of equal edges: after its middle, every order is Dijkstra's."""
    ends = np.array([[0] * 5, [1, 2, 3, 4, 5]])
    star = from_edges(6, 1, np.zeros(5, int), ends, np.full(5, 0.5), np.array([0]))[0]
    algorithm, truth, network = perfect("dijkstra", star)
    backwards = dataclasses.replace(
        network, chosen=np.array([0, 5, 4, 3, 2, 1]), pred=np.zeros_like(network.pred)
    )
    assert find_divergence(algorithm, star, truth, backwards, NAMES).step is None
    early = dataclasses.replace(network, chosen=np.array([3, 0, 1, 2, 4, 5]))
    assert "step 1: chose v3" in find_divergence(algorithm, star, truth, early, NAMES).sentence


def test_a_wrong_pointer_is_found_when_it_is_set():
    algorithm, truth, network = perfect("dijkstra")
    node = int(truth.chosen[3])
    pred = network.pred.copy()
    pred[4:, node] = node
    network = dataclasses.replace(network, pred=pred)
    divergence = find_divergence(algorithm, GRAPH, truth, network, NAMES)
    right = truth.pred[-1, node]
    assert divergence.sentence == f"step 4: v{node} points at itself instead of v{right}"
    reached = int(truth.reached[-1].sum())
    assert count_answers(algorithm, GRAPH, truth, network) == (1, 1, reached)
    assert errors(algorithm, truth, network, INFINITY, 1.0)["pred"][3] == 0.25


def test_without_steps_pointers_count_in_the_end():
    algorithm, truth, network = perfect("dijkstra", stop=False)
    pred = network.pred.copy()
    node = int(truth.chosen[3])
    pred[2:-1, node] = node  # a detour that ends well
    network = dataclasses.replace(network, pred=pred)
    assert find_divergence(algorithm, GRAPH, truth, network, NAMES).step is None
    pred[-1, node] = node
    last = truth.num_steps
    assert find_divergence(algorithm, GRAPH, truth, network, NAMES).step == last


def test_parallel_algorithms_part_by_pointers_and_bits():
    algorithm, truth, network = perfect("bellman_ford")
    pred = network.pred.copy()
    wrong = np.flatnonzero(truth.reached[2] & (np.arange(12) != int(GRAPH.source)))[:3]
    pred[2:, wrong] = -1
    divergence = find_divergence(
        algorithm, GRAPH, truth, dataclasses.replace(network, pred=pred), NAMES
    )
    assert divergence.step == 2
    assert "points at nothing instead of v" in divergence.sentence
    assert divergence.sentence.endswith("(and 2 more nodes)")

    algorithm, truth, network = perfect("bfs")
    key = network.key.copy()
    key[1] = 0.0
    divergence = find_divergence(
        algorithm, GRAPH, truth, dataclasses.replace(network, key=key), NAMES
    )
    assert "step 1: says that v" in divergence.sentence
    assert "is not reached" in divergence.sentence


def test_last_errors_are_the_metrics_of_evaluation(model):
    target = "widest_par"  # whose source has the key ∞
    trained = model(target=target, supervision="na")
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], GRAPH)
    batch = EvaluationBatch.prepare(trained.networks, [0], trained.experiment, batch)
    metrics = batch.measure(np.array([0]))[0][1].graphs
    algorithm = get_algorithm(target)
    truth = record_trace(algorithm, run(target, GRAPH))
    seen, _, infinity, *_ = record_execution(trained, GRAPH)
    measured = errors(algorithm, truth, seen, infinity, 1.0)
    for name in ("key", "pred"):
        assert measured[name][-1] == pytest.approx(metrics[name].item(), rel=1e-4)


def test_steps_after_both_have_ended_are_left_out():
    _, truth, network = perfect("dijkstra")
    parallel = perfect("bellman_ford")[1]  # ends earlier
    stop = np.zeros(truth.num_steps)
    stop[parallel.num_steps] = 0.9
    says_so = dataclasses.replace(network, stop=stop)
    assert until_the_end(says_so, parallel).num_steps == parallel.num_steps + 1
    assert until_the_end(says_so, truth).num_steps == truth.num_steps
    never = dataclasses.replace(network, stop=0 * stop)
    assert until_the_end(never, parallel).num_steps == truth.num_steps
