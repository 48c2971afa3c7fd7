"""Steps are learned from answers alone."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

from algotransfer.algorithms import get_algorithm, run
from algotransfer.datasets import make_dataset
from algotransfer.errors import UserError
from algotransfer.graphs import sample_graphs
from algotransfer.graphs.graph import concatenate
from algotransfer.symbolic import discover, learn
from algotransfer.symbolic.answers import Answers, collect_answers, fixed_point_equations
from algotransfer.symbolic.expressions import as_text, evaluate, from_json, relax_function
from algotransfer.symbolic.grammar import grammar
from algotransfer.symbolic.learn import Combination, Library, learn_step
from algotransfer.symbolic.numpy_frameworks import execute_step, numpy_step
from algotransfer.symbolic.proofs import target_step

STEPS = {
    "bfs": "key",
    "bellman_ford": "key + weight",
    "widest_par": "min(key, weight)",
    "reliable_par": "key * weight",
    "prim": "weight",
    "dijkstra": "key + weight",
    "widest_seq": "min(key, weight)",
    "reliable_seq": "key * weight",
    "minimax_par": "max(key, weight)",
}


@pytest.fixture(scope="module")
def graphs():
    return make_dataset(("er", "ba", "grid"), 12, 20, split="validation").graphs


@pytest.fixture(scope="module")
def answers(graphs):
    return {name: collect_answers(get_algorithm(name), graphs) for name in (*STEPS, "dfs")}


@pytest.mark.parametrize("name", STEPS)
def test_frameworks_agree_with_the_engines(answers, name):
    algorithm = get_algorithm(name)
    step = numpy_step(target_step(algorithm))
    key, pred = execute_step(step, algorithm.smaller_is_better, answers[name])
    np.testing.assert_array_equal(key, answers[name].key)
    np.testing.assert_array_equal(pred, answers[name].pred)


@pytest.mark.parametrize("name", [*STEPS, "dfs"])
def test_answers_are_fixed_points_of_the_step(answers, name):
    equations = fixed_point_equations(answers[name])
    step = evaluate(target_step(get_algorithm(name)), equations.values())
    assert len(equations.own) > 300
    np.testing.assert_allclose(np.broadcast_to(step, equations.own.shape), equations.own, rtol=1e-6)


@pytest.mark.parametrize("name", STEPS)
def test_the_step_of_every_algorithm_but_one_is_found(answers, name):
    found = learn_step(answers[name], grammar(1))
    assert as_text(found.step) == STEPS[name]
    assert found.smaller_is_better == get_algorithm(name).smaller_is_better


def test_depth_first_search_is_not_expressible(answers):
    # Its step is key − 1, but a framework without `relax_once` improves keys later.
    with pytest.raises(UserError, match="no step found.*add terms"):
        learn_step(answers["dfs"], ["key", "weight", 1.0, "own", ("add", "key", "weight")])


def test_own_keys_satisfy_all_equations_but_give_no_answer(answers):
    with pytest.raises(UserError, match="1 shortest combinations of the 1 terms"):
        learn_step(answers["dijkstra"], ["own"])


@pytest.mark.parametrize("sequential", [False, True])
def test_coefficients_and_several_terms_are_learned(graphs, sequential):
    truth = from_json(["add", ["mul", 1.3, "key"], ["add", ["mul", "weight", "weight"], 0.25]])
    algorithm = dataclasses.replace(
        get_algorithm("dijkstra" if sequential else "bellman_ford"),
        relax=relax_function(truth),
        source_key=lambda num_nodes: 1.0,
    )
    answers = collect_answers(algorithm, graphs)
    found = learn_step(answers, grammar(1))
    points = {"key": np.linspace(1, 3, 50), "weight": np.linspace(1, 0.2, 50)}
    np.testing.assert_allclose(evaluate(found.step, points), evaluate(truth, points), rtol=1e-12)


def test_a_wrong_answer_leaves_no_step(answers):
    key = answers["dijkstra"].key.copy()
    key[0, np.argmax(answers["dijkstra"].pred[0] != answers["dijkstra"].source[0])] += 0.01
    damaged = Answers(**{**vars(answers["dijkstra"]), "key": key})
    with pytest.raises(UserError, match="no step found: the 0 shortest"):
        learn_step(damaged, ["key", "weight"])


def test_terms_that_are_never_finite_are_named(answers):
    with pytest.raises(UserError, match="no term is finite"):
        learn_step(answers["dijkstra"], [("div", 1.0, "key")])


def test_a_step_that_reads_the_own_key_is_passed_over(answers):
    terms = [("add", ("min", "own", "key"), "weight"), ("add", "weight", ("mul", "key", 1.0))]
    assert "own" not in as_text(learn_step(answers["dijkstra"], terms).step)


def test_rare_graphs_decide_between_steps(graphs):
    # All weights are 1 in most graphs, where key and key · weight are the same.
    ones = dataclasses.replace(graphs, weights=np.ones_like(graphs.weights))
    several = concatenate([ones] * 10 + [graphs])
    assert as_text(discover("reliable_par", several, grammar(1)).step) == "key * weight"


def test_coefficients_are_fitted_again_to_all_equations(answers):
    library = Library.create(fixed_point_equations(answers["dijkstra"]), ["key", "weight"])
    found = library.confirmed(Combination(("key", "weight"), (1.0, 1.01)))
    assert found == Combination(("key", "weight"), (1.0, 1.0))
    assert library.confirmed(Combination(("weight",), (1.0,))) is None


def test_a_search_that_fails_ends(answers, monkeypatch):
    monkeypatch.setattr(learn, "MAX_TRIED", 3)
    terms = ["own", ("add", "own", 1.0), 1.0, ("add", "own", "key"), "key"]
    with pytest.raises(UserError, match="the 3 shortest"):
        learn_step(answers["dfs"], terms)


def test_graphs_without_edges_are_refused(graphs):
    alone = dataclasses.replace(
        graphs,
        senders=np.full_like(graphs.senders, graphs.num_nodes),
        receivers=np.full_like(graphs.receivers, graphs.num_nodes),
    )
    with pytest.raises(UserError, match="no node has a predecessor"):
        discover("dijkstra", alone, grammar(1))
    with pytest.raises(UserError, match="a batch of graphs"):
        discover("dijkstra", graphs[0])


def test_a_list_of_graphs_is_enough():
    graphs = [nx.cycle_graph(6), nx.path_graph(6), nx.complete_graph(6)]
    for graph in graphs:
        for number, (_, _, data) in enumerate(graph.edges(data=True)):
            data["weight"] = 1.0 + number
    assert as_text(discover("bellman_ford", graphs, grammar(1)).step) == "key + weight"


def test_a_discovered_program_runs_on_larger_graphs(graphs):
    program = discover("prim", graphs, grammar(1))
    larger = sample_graphs("er", 3, 100, seed=1, split="validation")
    learned, wanted = (run(each, larger, "final") for each in (program.algorithm, "prim"))
    np.testing.assert_array_equal(learned.final_pred, wanted.final_pred)
