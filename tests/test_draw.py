"""Pictures of traces."""

import networkx
import pytest

from algotransfer.algorithms import run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.datasets import make_dataset
from algotransfer.draw import draw_trace, save_figure
from algotransfer.graphs import from_networkx


def panels(figure):
    return [axis.get_title() for axis in figure.axes if axis.get_title()]


def test_steps_of_dijkstra(tmp_path):
    graph = from_networkx(networkx.path_graph(4), source=0).graph
    figure = draw_trace("dijkstra", graph, run("dijkstra", graph))
    assert panels(figure) == [
        "start",
        "step 1: visits key 0",
        "step 2: visits key 1",
        "step 3: visits key 2",
        "step 4: visits key 3",
    ]
    save_figure(figure, tmp_path / "trace.png", dots_per_inch=40)
    assert (tmp_path / "trace.png").read_bytes().startswith(b"\x89PNG")
    save_figure(figure, tmp_path / "trace.svg")
    assert b"<svg" in (tmp_path / "trace.svg").read_bytes()


def test_steps_of_a_parallel_algorithm():
    graph = from_networkx(networkx.star_graph(3), source=1).graph
    figure = draw_trace("bfs", graph, run("bfs", graph), columns=2)
    assert panels(figure) == [
        "start",
        "step 1: 1 new key",
        "step 2: 2 new keys",
        "step 3: 0 new keys",
    ]


@pytest.mark.parametrize("algorithm", PAPER_ALGORITHMS)
def test_every_algorithm_can_be_drawn(algorithm):
    network = networkx.disjoint_union(networkx.cycle_graph(4), networkx.path_graph(2))
    graph = from_networkx(network).graph
    figure = draw_trace(algorithm, graph, run(algorithm, graph), steps=[0, 1])
    assert len(panels(figure)) == 2
    figure.draw_without_rendering()


def test_directed_edges_are_arrows():
    network = networkx.DiGraph([(0, 1), (1, 2), (0, 2), (3, 2)])
    graph = from_networkx(network).graph
    trace = run("dag_shortest_paths", graph)
    figure = draw_trace("dag_shortest_paths", graph, trace, steps=[0])
    assert len(figure.axes[0].patches) == 4
    figure.draw_without_rendering()


def test_large_graphs_are_drawn_without_numbers():
    dataset = make_dataset("er", num_graphs=1, num_nodes=50)
    figure = draw_trace("dfs", dataset.graphs[0], dataset.trace("dfs")[0], steps=[50])
    assert [text.get_text() for text in figure.axes[0].texts] == ["source"]


def test_one_graph_at_a_time():
    dataset = make_dataset("er", num_graphs=3, num_nodes=5)
    with pytest.raises(ValueError, match=r"not a batch of shape \(3,\); select one, such as"):
        draw_trace("bfs", dataset.graphs, dataset.trace("bfs"))
