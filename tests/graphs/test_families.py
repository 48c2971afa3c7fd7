"""The families: each is what it says, by its exact counts and by its statistics."""

import math
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from algotransfer.graphs import families
from algotransfer.graphs.families import (
    Options,
    barabasi_albert,
    edge_probability,
    erdos_renyi,
    factor_pairs,
    grid,
    grid_edges,
    nth_pair,
    successes,
)
from algotransfer.graphs.streams import Stream


def stream(seed=0):
    return Stream(seed, "test", "any", 0, "edges")


@pytest.mark.parametrize("num_nodes", [2, 3, 4, 5, 16, 20, 100, 1024, 100_000])
def test_edge_probability(num_nodes):
    expected = min(math.log2(num_nodes) / num_nodes, 0.5)
    assert edge_probability(num_nodes) == pytest.approx(expected, rel=1e-15)


def test_edge_probability_is_exact_at_powers_of_two():
    assert edge_probability(1024) == 10 / 1024


@pytest.mark.parametrize(("num_nodes", "num_graphs"), [(2, 20_000), (3, 10_000), (5, 10_000)])
@pytest.mark.parametrize("seed", [0, 1])
def test_er_small_graphs_have_the_right_probability(num_nodes, num_graphs, seed):
    assert_binomial(num_nodes, num_graphs, seed)


@pytest.mark.parametrize(("num_nodes", "num_graphs"), [(20, 5000), (100, 1000), (3000, 3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_er_has_the_right_probability(num_nodes, num_graphs, seed):
    assert_binomial(num_nodes, num_graphs, seed)


def assert_binomial(num_nodes, num_graphs, seed):
    graph_id, _ = erdos_renyi(stream(seed), num_graphs, num_nodes, Options())
    pairs = num_nodes * (num_nodes - 1) // 2
    probability = edge_probability(num_nodes)
    trials = num_graphs * pairs
    z = (len(graph_id) - trials * probability) / math.sqrt(trials * probability * (1 - probability))
    assert abs(z) < 3
    # Graph by graph the numbers of edges vary as a binomial does: no graph knows of another.
    count = np.bincount(graph_id, minlength=num_graphs)
    variance = pairs * probability * (1 - probability)
    statistic = ((count - pairs * probability) ** 2).sum() / variance
    assert 0.001 < stats.chi2.cdf(statistic, num_graphs) < 0.999


def test_er_every_pair_is_equally_likely():
    num_graphs, num_nodes = 20_000, 8
    _, (low, high) = erdos_renyi(stream(), num_graphs, num_nodes, Options())
    assert (low < high).all()
    counts = np.bincount(low * num_nodes + high)
    counts = counts[counts > 0]
    assert len(counts) == 28
    assert stats.chisquare(counts).pvalue > 0.01


def test_er_pairs_are_independent():
    """Neighbouring pairs of the stream, within a graph and across, occur together p² often."""
    num_graphs, num_nodes = 20_000, 5
    graph_id, ends = erdos_renyi(stream(), num_graphs, num_nodes, Options())
    present = np.zeros((num_graphs, num_nodes, num_nodes), bool)
    present[graph_id, ends[0], ends[1]] = True
    trials = present[:, *nth_pair(np.arange(10))].ravel()
    together = (trials[1:] & trials[:-1]).sum()
    probability = edge_probability(num_nodes) ** 2
    expected, trials = len(trials) * probability, len(trials)
    assert abs(together - expected) < 4 * math.sqrt(trials * probability)


@pytest.mark.parametrize("probability", [0.5, 0.216, 0.01])
def test_gaps_between_successes_are_geometric(probability):
    """Also beyond the table, where a draw only says that there was no success yet."""
    hits = successes(stream(), probability, int(50_000 / probability))
    gaps = np.diff(hits, prepend=-1) - 1
    edges = np.unique(np.floor(np.array([0, 0.2, 0.5, 1, 2, 3, 3.9, 4.1, 5, 6]) / probability))
    observed = np.histogram(gaps, [*edges, np.inf])[0]
    survival = np.array([*(1 - probability) ** edges, 0])
    expected = -np.diff(survival) * len(gaps)
    assert gaps.max() > 4 / probability  # the table's length
    assert stats.chisquare(observed, expected).pvalue > 0.01


def test_successes_do_not_depend_on_the_block_size(monkeypatch):
    whole = successes(stream(), 0.1, 5000)
    monkeypatch.setattr(families, "DRAWS_PER_BLOCK", 7)
    assert np.array_equal(successes(stream(), 0.1, 5000), whole)


def test_fewer_trials_are_the_beginning_of_more():
    more = successes(stream(), 0.1, 5000)
    assert np.array_equal(successes(stream(), 0.1, 700), more[more < 700])


def test_nth_pair_counts_all_pairs():
    expected = sorted(combinations(range(60), 2), key=lambda pair: pair[::-1])
    assert np.array_equal(nth_pair(np.arange(len(expected))).T, expected)


def test_nth_pair_is_exact_for_large_graphs():
    larger = np.array([10**5, 10**6 - 1, 2**25 + 1, 2**26 - 3])
    first = larger * (larger - 1) // 2
    assert np.array_equal(nth_pair(first), [np.zeros(4), larger])
    assert np.array_equal(nth_pair(first - 1), [larger - 2, larger - 1])


@pytest.mark.parametrize(("num_nodes", "attachments"), [(20, 4), (5, 4), (2, 1), (30, 1), (12, 7)])
def test_ba_counts(num_nodes, attachments):
    graph_id, ends = barabasi_albert(stream(), 50, num_nodes, Options(attachments))
    assert (np.bincount(graph_id) == (num_nodes - attachments) * attachments).all()
    for number in range(50):
        graph = nx.Graph(ends[:, graph_id == number].T.tolist())
        assert graph.number_of_edges() == (num_nodes - attachments) * attachments
        assert set(graph) == set(range(num_nodes))
        assert nx.is_connected(graph)
        assert nx.number_of_selfloops(graph) == 0


def test_ba_starts_from_a_star():
    _, (old, new) = barabasi_albert(stream(), 1, 5, Options(attachments=4))
    assert sorted(zip(new.tolist(), old.tolist(), strict=True)) == [(0, k) for k in range(1, 5)]


def test_ba_new_nodes_join_older_ones():
    graph_id, (old, new) = barabasi_albert(stream(), 3, 40, Options(attachments=3))
    later = new > 3
    assert (old[later] < new[later]).all()
    assert (np.bincount(graph_id[later] * 40 + new[later])[4:40] == 3).all()


@pytest.mark.parametrize(("num_nodes", "attachments"), [(20, 4), (30, 2)])
def test_ba_has_the_degrees_of_networkx(num_nodes, attachments):
    """The mean degree of every node by age, and of the greatest degree, within error."""
    ours, theirs = 20_000, 1500
    graph_id, ends = barabasi_albert(stream(), ours, num_nodes, Options(attachments))
    degree = np.bincount((graph_id * num_nodes + ends).ravel(), minlength=ours * num_nodes)
    degree = degree.reshape(ours, num_nodes)
    expected = np.array(
        [
            [d for _, d in sorted(nx.barabasi_albert_graph(num_nodes, attachments, seed).degree)]
            for seed in range(theirs)
        ]
    )
    for statistic in (lambda d: d, lambda d: d.max(1), lambda d: (d**2).sum(1)):
        one, other = statistic(degree), statistic(expected)
        error = np.sqrt(one.var(0) / ours + other.var(0) / theirs)
        assert (np.abs(one.mean(0) - other.mean(0)) <= 4 * error).all()


@pytest.mark.parametrize(
    ("num_nodes", "expected"),
    [
        (20, [(2, 10), (4, 5)]),
        (100, [(2, 50), (4, 25), (5, 20), (10, 10)]),
        (4, [(2, 2)]),
        (49, [(7, 7)]),
    ],
)
def test_factor_pairs(num_nodes, expected):
    assert factor_pairs(num_nodes) == expected


@pytest.mark.parametrize(
    ("num_nodes", "product"), [(2, 4), (3, 4), (5, 6), (97, 98), (100_003, 100_004)]
)
def test_a_prime_has_no_grid(num_nodes, product):
    with pytest.raises(ValueError, match=rf"{num_nodes}; expected a product .*such as {product}$"):
        grid(stream(), 1, num_nodes, Options())


@pytest.mark.parametrize("shape", [(2, 2), (2, 10), (4, 5), (7, 7)])
def test_grid_edges(shape):
    rows, columns = shape
    ours = nx.Graph(grid_edges(rows, columns).T.tolist())
    theirs = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns), ordering="sorted")
    assert nx.utils.graphs_equal(ours, theirs)
    assert grid_edges(rows, columns).shape[1] == 2 * rows * columns - rows - columns


@pytest.mark.parametrize(
    ("num_nodes", "rule", "shapes"),
    [
        (20, None, [(2, 10), (4, 5)]),
        (100, None, [(2, 50), (4, 25), (5, 20), (10, 10)]),
        (100, "square", [(10, 10)]),
        (102, None, [(6, 17)]),
        (102, "any", [(2, 51), (3, 34), (6, 17)]),
    ],
)
def test_grid_shapes_are_equally_likely(num_nodes, rule, shapes):
    num_graphs = 6000
    graph_id, ends = grid(stream(), num_graphs, num_nodes, Options(shape=rule))
    size = {
        rows * (columns - 1) + columns * (rows - 1): (rows, columns) for rows, columns in shapes
    }
    count = np.bincount(graph_id)
    assert set(count.tolist()) == set(size)
    for edges, (rows, columns) in size.items():
        one = np.flatnonzero(count == edges)[0]
        assert np.array_equal(ends[:, graph_id == one], grid_edges(rows, columns))
    if len(shapes) > 1:
        assert stats.chisquare([(count == edges).sum() for edges in size]).pvalue > 0.01
