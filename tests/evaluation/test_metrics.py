"""Metrics against loops in plain Python, and of answers whose metrics are known."""

import numpy as np
import pytest
from evaluation import cases
from evaluation.plain import Plain

from algotransfer.algorithms import ALGORITHMS
from algotransfer.evaluation.metrics import METRICS

CASES = [
    *[(name, "tf") for name in ("dijkstra", "widest_seq", "prim", "dfs")],
    *[(name, "tf") for name in ("bellman_ford", "reliable_par", "bfs")],
    *[(name, "na") for name in ("dijkstra", "widest_par", "bfs")],
]
PERFECT = {"cost": 1, "exact": 1, "tree": 1, "term": 1, "micro_f1": 1}  # errors: 0


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request):
    """An algorithm, a supervision, graphs, executions from perfect to random, and their scores."""
    name, supervision = request.param
    graphs = cases.some_graphs()
    executions = [cases.at_random(name, graphs, seed=k, mistakes=k / 3) for k in range(4)]
    executions[0] = cases.perfect(name, graphs)
    executions.append(cases.along(name, graphs, "bfs"))
    scores = cases.score(name, supervision, graphs, cases.stacked(*executions))
    return name, supervision, graphs, executions, scores


def test_metrics_are_those_of_plain_loops(case):
    name, supervision, graphs, executions, scores = case
    for seed, execution in enumerate(executions):
        for g in range(len(graphs)):
            outputs = [execution.key[g], execution.pointer[g]]
            if supervision == "tf":
                outputs.append(None if execution.chosen is None else execution.chosen[g].tolist())
                outputs.append(execution.stop[g])
            plain = Plain(name, graphs[g], *map(_host, outputs))
            expected = plain.teacher_forced() if supervision == "tf" else plain.no_algorithm()
            got = {metric: values[seed, g] for metric, values in scores.graphs.items()}
            assert got == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True)


def _host(value):
    return value if value is None or isinstance(value, list) else np.asarray(value)


def test_the_algorithm_itself_is_perfect(case):
    name, _, _, _, scores = case
    right = {"key": 1, "key_last": 1} if name == "bfs" else {}
    for metric, values in [*scores.graphs.items(), *scores.hops.items()]:
        there = values[0][~np.isnan(values[0])]
        assert len(there)
        assert np.all(there == (PERFECT | right).get(metric, 0)), metric


def test_costs_are_at_least_one_and_metrics_are_known(case):
    _, _, _, _, scores = case
    assert set(scores.graphs) <= set(METRICS)
    if "cost" in scores.graphs:
        cost = scores.graphs["cost"]
        assert np.all(cost[~np.isnan(cost)] >= 1)
        assert np.nanmax(cost) > 1


def test_distances_add_up_to_the_whole(case):
    name, _, graphs, _, scores = case
    hop = cases.hop_distances(graphs)
    count = np.stack([(hop == h).sum(axis=1) for h in range(21)], axis=-1)  # [graphs, hops]
    for metric in {"next", "key", "pred", "key_last", "pred_last", "no_path"} & set(scores.hops):
        total = np.nansum(scores.hops[metric] * count, axis=-1) / count.sum(axis=-1)
        np.testing.assert_allclose(total, scores.graphs[metric], rtol=1e-12)
    for metric in {"exact", "tree"} & set(scores.hops):
        all_of = np.nanmin(scores.hops[metric], axis=-1)
        np.testing.assert_array_equal(all_of, scores.graphs[metric])
    assert ("cost" in scores.hops) == (ALGORITHMS[name].cost == "path")


def test_a_tree_that_is_not_the_best(case):
    name, _, graphs, _, scores = case
    if ALGORITHMS[name].binary:
        assert "tree" not in scores.graphs
        return
    assert np.all(scores.graphs["tree"][4] == 1)
    assert np.all(scores.graphs["no_path"][4] == 0)
    assert np.mean(scores.graphs["exact"][4]) < 1
    last_graph_has_one_edge = scores.graphs["exact"][4][len(graphs) - 1]
    assert last_graph_has_one_edge == 1
