"""Answers made by hand, whose metrics can be worked out on paper."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from algorithms import batches
from evaluation import cases

from algotransfer.evaluation.harness import Execution
from algotransfer.graphs import concatenate

# Source 0. Node 2 is as near through 1 as it is directly; Dijkstra lists 0 as its predecessor.
#   0 —¼— 1 —¼— 2 —½— 3, 0 —½— 2
EDGES, WEIGHTS = [(0, 1), (1, 2), (0, 2), (2, 3)], [0.25, 0.25, 0.5, 0.5]
SQUARE = concatenate([batches.graph(4, EDGES, weights=WEIGHTS)])
TRUE = [0, 0, 0, 2]

ANSWERS = {  # pointers: pred, no_path, tree, exact, cost
    "right": (TRUE, 0, 0, 1, 1, 1),
    "equally good": ([0, 0, 1, 2], 1 / 4, 0, 1, 0, 1),
    "detour": ([0, 2, 0, 2], 1 / 4, 0, 1, 0, (3 + 1 + 1) / 3),
    "itself": ([0, 0, 0, 3], 1 / 4, 1 / 4, 0, 0, 1),
    "cycle": ([0, 0, 3, 2], 1 / 4, 1 / 2, 0, 0, 1),
    "longer cycle": ([0, 2, 1, 2], 2 / 4, 3 / 4, 0, 0, np.nan),
    "no root": ([1, 0, 0, 2], 1 / 4, 0, 0, 0, 1),
    "all wrong": ([2, 1, 3, 3], 1, 3 / 4, 0, 0, np.nan),
}


@pytest.fixture(scope="module")
def scores():
    pointers = jnp.array([row[0] for row in ANSWERS.values()], jnp.int32)
    execution = Execution(pointer=pointers[:, None, None])  # seeds, one graph, one step
    return cases.score("dijkstra", "na", SQUARE, execution)


@pytest.mark.parametrize(
    ("column", "metric"), [(1, "pred"), (2, "no_path"), (3, "tree"), (4, "exact"), (5, "cost")]
)
def test_answers(scores, column, metric):
    expected = {name: row[column] for name, row in ANSWERS.items()}
    got = dict(zip(ANSWERS, scores.graphs[metric][:, 0], strict=True))
    assert got == pytest.approx(expected, nan_ok=True)


def test_answers_by_distance(scores):
    hops = {metric: values[:, 0] for metric, values in scores.hops.items()}
    row = list(ANSWERS).index("detour")  # 0 | 1, 2 | 3
    assert hops["pred"][row, :4].tolist() == pytest.approx([0, 1 / 2, 0, np.nan], nan_ok=True)
    assert hops["cost"][row, :4].tolist() == pytest.approx([np.nan, 2, 1, np.nan], nan_ok=True)
    assert hops["exact"][row, :3].tolist() == [1, 0, 1]
    row = list(ANSWERS).index("cycle")
    assert hops["no_path"][row, :3].tolist() == [0, 1 / 2, 1]
    assert hops["tree"][row, :3].tolist() == [1, 0, 0]
    assert np.isnan(hops["no_path"][:, 3:]).all()
    assert "key" not in scores.graphs  # nobody said anything about keys


def test_exploding_keys_are_carried():
    keys = np.array([[0, 0.25, 0.5, 1]] * 5, np.float32)
    keys[1:, 3] = [2, 1e30, np.inf, np.nan]
    execution = Execution(key=jnp.asarray(keys)[:, None, None])
    error = cases.score("dijkstra", "na", SQUARE, execution).graphs["key"][:, 0]
    assert error.tolist() == pytest.approx([0, 1 / 4, 1e60 / 4, np.inf, np.inf])


class TestSteps:
    """Dijkstra by teacher forcing: nodes 0, 1, 2, 3 in this order, ∞ seen as 2."""

    @pytest.fixture(scope="class")
    @staticmethod
    def right():
        return cases.perfect("dijkstra", SQUARE)

    @staticmethod
    def score(execution):
        graphs = cases.score("dijkstra", "tf", SQUARE, cases.stacked(execution)).graphs
        return {metric: value for metric, ((value,),) in graphs.items()}

    def test_another_order(self, right):
        held = np.array([[0, 2, 2, 2], [0, 2, 2, 5], [0, 2, 0.25, 5], [0, 0.5, 0.25, 5]])
        pointer = [[0, 1, 2, 3], [0, 1, 2, 2], [0, 0, 1, 2], [0, 0, 0, 3]]
        execution = dataclasses.replace(
            right,
            key=jnp.array([held], jnp.float32),
            pointer=jnp.array([pointer], jnp.int32),
            chosen=jnp.array([[0, 3, 2, 1]]),
            stop=jnp.array([[-1.0, -1.0, 1.0, 1.0]]),
        )
        assert self.score(execution) == pytest.approx(
            {
                "next": 2 / 4,  # the third is right
                # 0: right; 1: still ∞; 2: a quarter off; 3: 5 for 1
                "key": (0 + 1.75**2 + 0.25**2 + 4**2) / 4,
                "key_picked": (0 + 4**2 + 0.25**2 + 0.25**2) / 4,
                "pred": 3 / 4,  # at their steps 1 → 1, 2 → 1, 3 → 3
                "term": 1 - 1 / 4,
                # Each at its own step: 0 → 0, 3 → 2, 2 → 1, 1 → 0.
                "tree": 1,
                "no_path": 0,
                "exact": 0,
                "cost": 1,
                "micro_f1": 3 / 4,
                "worse": 0,  # the way through 2 is as short
            }
        )

    def test_it_never_ends(self, right):
        score = self.score(dataclasses.replace(right, stop=jnp.full((1, 4), -1.0)))
        assert score["term"] == 1  # at most as many steps as nodes, which is right here

    def test_it_ends_at_once(self, right):
        score = self.score(dataclasses.replace(right, stop=jnp.array([[0.5, -1.0, -1.0, 1.0]])))
        assert score["term"] == 1 - 3 / 4

    def test_one_half_is_not_enough_to_end(self, right):
        score = self.score(dataclasses.replace(right, stop=jnp.array([[0.0, -1.0, 1.0, 1.0]])))
        assert score["term"] == 1 - 1 / 4

    def test_a_node_chosen_twice_and_one_never(self, right):
        score = self.score(dataclasses.replace(right, chosen=jnp.array([[0, 1, 2, 2]])))
        assert score["next"] == 1 / 4
        assert score["no_path"] == 1 / 4  # nobody was asked for 3's pointer
        assert score["pred"] == 0


def test_any_of_several_tied_nodes_is_right():
    star = concatenate([batches.graph(4, [(0, 1), (0, 2), (0, 3)], weights="equal")])
    right = cases.perfect("dijkstra", star)
    orders = [[0, 1, 2, 3], [0, 3, 2, 1], [0, 1, 3, 2], [3, 1, 2, 0]]
    executions = [dataclasses.replace(right, chosen=jnp.array([order])) for order in orders]
    score = cases.score("dijkstra", "tf", star, cases.stacked(*executions)).graphs
    # All three are right at the second step, but truth goes on to 1, 2, 3: by the time of the
    # last step only 3 is left to be right.
    assert score["next"][:, 0].tolist() == [0, 1 / 4, 1 / 4, 1 / 2]


def test_prim_is_judged_by_the_weight_of_its_tree():
    pointers = jnp.array([[0, 0, 1, 2], [0, 0, 0, 2], [0, 2, 0, 2], [0, 0, 3, 2]], jnp.int32)
    execution = Execution(pointer=pointers[:, None, None])
    cost = cases.score("prim", "na", SQUARE, execution).graphs["cost"][:, 0]
    assert cost.tolist() == pytest.approx([1, 5 / 4, 5 / 4, np.nan], nan_ok=True)


def test_the_narrow_way_costs_more():
    execution = Execution(pointer=jnp.array([[[[0, 0, 1, 2]]]], jnp.int32))
    cost = cases.score("widest_par", "na", SQUARE, execution).graphs["cost"]
    # 1 and 3 are reached through 2 at best: ¼ and ½, here ¼ for all.
    assert cost.item() == pytest.approx((1 + 2 + 2) / 3)
