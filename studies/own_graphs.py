"""Trained networks on graphs like a user's own: real and realistic ones, in several units.

    python studies/own_graphs.py validate --out results/own-graphs-validation.csv
    python studies/own_graphs.py measure --out results/own-graphs.csv

`own_graphs.md` is the protocol.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import Delaunay

from algotransfer import execute, load_model, make_dataset
from algotransfer.algorithms import run
from algotransfer.algorithms.truth import stand_in_for
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.evaluation.harness import FreeRun, target_only
from algotransfer.evaluation.paths import breadth_first_keys, hop_distances
from algotransfer.files import Notice
from algotransfer.graphs import Graph, from_networkx, to_scipy
from algotransfer.training.examples import tasks_of

MODELS = ("relax-dijkstra", "ne++-dijkstra-extra10")
UNITS = (1.0, 0.001, 60.0, 1e6)
ALL_UNITS_UP_TO = {"ne++-dijkstra-extra10": 600}  # nodes; above, the first unit only
ONE_SEED_ABOVE = {"ne++-dijkstra-extra10": 1000}
VALIDATION_GRAPHS = {20: 40, 100: 12}  # of each family, by number of nodes
SPANS = (5, 20, 300)  # largest weight divided by smallest
Draw = np.random.Generator


def real_graphs() -> Iterator[tuple[str, nx.Graph]]:
    """Yield the networks that come with networkx."""
    yield "karate club", nx.karate_club_graph()
    yield "Les Misérables", nx.les_miserables_graph()
    yield "Florentine families", nx.florentine_families_graph()
    yield "Southern women", nx.davis_southern_women_graph()
    yield "Krackhardt kite", nx.krackhardt_kite_graph()


def realistic_graphs() -> Iterator[tuple[str, nx.Graph]]:
    """Yield networks of generators, with weights in a natural unit."""
    draw = np.random.default_rng(0)
    blocks = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 25))
    yield "city blocks (m)", weighted(blocks, lambda u, v: draw.integers(80, 220))
    yield "road network (m)", gabriel_graph(300, draw)
    yield "large road network (m)", gabriel_graph(2500, draw)
    yield "power grid (km)", spanning_tree_and_more(1000, draw)
    points = {k: xy.tolist() for k, xy in enumerate(draw.random((200, 2)))}
    sensors = nx.random_geometric_graph(200, 0.13, pos=points)
    yield "sensor network (m)", weighted(sensors, lambda u, v: 100 * distance(points, u, v))
    internet = nx.random_internet_as_graph(800, seed=0)
    yield "internet (ms)", weighted(internet, lambda u, v: draw.lognormal(2.5, 0.8))
    waxman = nx.waxman_graph(150, 0.6, 0.15, seed=0)
    places = nx.get_node_attributes(waxman, "pos")
    yield "backbone, Waxman (km)", weighted(waxman, lambda u, v: 3000 * distance(places, u, v))
    papers = nx.powerlaw_cluster_graph(3000, 3, 0.4, seed=0)
    yield "citations (age in days)", weighted(papers, lambda u, v: draw.integers(20, 3000))
    friends = nx.LFR_benchmark_graph(250, 3, 1.5, 0.1, average_degree=5, min_community=20, seed=10)
    friends.remove_edges_from(nx.selfloop_edges(friends))
    yield "friendships (1/messages)", weighted(friends, lambda u, v: 1 / draw.integers(1, 60))
    neurons = nx.connected_watts_strogatz_graph(300, 8, 0.1, seed=0)
    yield "small world (mm)", weighted(neurons, lambda u, v: draw.gamma(3, 0.2))
    river = nx.balanced_tree(2, 8)
    yield "river system (km)", weighted(river, lambda u, v: draw.uniform(1, 40))


def weighted(graph: nx.Graph, weight: Callable) -> nx.Graph:
    """Return the undirected structure of a graph with new weights."""
    plain = nx.Graph()
    plain.add_nodes_from(graph.nodes)
    plain.add_weighted_edges_from((u, v, float(weight(u, v))) for u, v in graph.edges)
    return plain


def in_unit(graph: nx.Graph, unit: float) -> nx.Graph:
    """Multiply all weights by a number; a missing weight is 1."""
    return weighted(graph, lambda u, v: unit * graph.edges[u, v].get("weight", 1.0))


def distance(places, u, v) -> float:
    """Return the distance of two nodes in the plane."""
    return float(np.hypot(*np.subtract(places[u], places[v])))


def delaunay_edges(points: np.ndarray) -> set[tuple[int, int]]:
    """Return the edges of the Delaunay triangulation."""
    corners = Delaunay(points).simplices
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    return {tuple(pair) for pair in np.sort(pairs, axis=1).tolist()}


def gabriel_graph(num_nodes: int, draw: Draw) -> nx.Graph:
    """Return points in 10 km × 10 km; two are joined if no point is in the circle between them."""
    points = 10_000 * draw.random((num_nodes, 2))
    graph = nx.Graph()
    for u, v in sorted(delaunay_edges(points)):
        middle, length = (points[u] + points[v]) / 2, float(np.hypot(*(points[u] - points[v])))
        apart = np.hypot(*(points - middle).T)
        if np.sum(apart < length / 2 - 1e-6) == 0:
            graph.add_edge(u, v, weight=length * draw.uniform(1, 1.4))
    return graph


def spanning_tree_and_more(num_nodes: int, draw: Draw) -> nx.Graph:
    """Return the shortest spanning tree of points, with a third as many edges again."""
    points = 500 * draw.random((num_nodes, 2))
    near = weighted(nx.Graph(sorted(delaunay_edges(points))), lambda u, v: distance(points, u, v))
    tree = nx.minimum_spanning_tree(near)
    others = sorted(set(near.edges) - set(tree.edges), key=lambda edge: near.edges[edge]["weight"])
    for u, v in others[: num_nodes // 3]:
        tree.add_edge(u, v, weight=near.edges[u, v]["weight"])
    return tree


def measure(models: list[str], max_nodes: int) -> Iterator[dict]:
    """Yield a row for each graph, unit, model and seed."""
    for name, graph in (*real_graphs(), *realistic_graphs()):
        if len(graph) > max_nodes:
            continue
        hub = max(graph.nodes, key=graph.degree)
        for model_name in models:
            model = load_model(model_name)
            every = len(graph) <= ALL_UNITS_UP_TO.get(model_name, len(graph))
            one = len(graph) > ONE_SEED_ABOVE.get(model_name, len(graph))
            seeds = model.seeds[:1] if one else model.seeds
            for unit in UNITS if every else UNITS[:1]:
                own = from_networkx(in_unit(graph, unit), source=hub).graph
                for seed in seeds:
                    yield {
                        "graph": name,
                        "nodes": own.num_nodes,
                        "edges": int(own.num_edges()),
                        "span": f"{own.weights.max() / own.weights.min():.3g}",
                        "unit": unit,
                        "model": model_name,
                        "seed": seed,
                        **compared(model, own, seed),
                    }


def compared(model, graph: Graph, seed: int) -> dict:
    """Run one network on a graph; count differing and worse predecessors, and check with scipy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        answer = execute(model, graph, seed=seed)
    matrix, source = to_scipy(graph).astype(np.float64), int(graph.source)
    shortest = dijkstra(matrix, indices=source)
    length, arrives = path_lengths(matrix, answer.pred, source)
    counts = answer.reached & arrives & (shortest > 0)
    ratio = np.max(length[counts] / shortest[counts], initial=1.0)
    return {
        "reached": int(answer.reached.sum()),
        "differ": int(answer.wrong.sum()),
        "worse": int(answer.worse.sum()),
        "no_path": int((answer.reached & ~arrives).sum()),
        "ratio": f"{ratio:.7g}",
    }


def path_lengths(matrix, pointer: np.ndarray, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of paths along pointers, and whether they end at the source."""
    num_nodes = len(pointer)
    ahead, length = np.arange(num_nodes), np.zeros(num_nodes)
    step = np.asarray(matrix[np.arange(num_nodes), pointer]).ravel()
    for _ in range(num_nodes):
        moving = ahead != source
        length[moving] += step[ahead[moving]]
        ahead = np.where(moving, pointer[ahead], ahead)
    return length, ahead == source


def validate(sizes: dict[int, int]) -> Iterator[dict]:
    """Yield the error of each model under each rule, on validation graphs."""
    for num_nodes, count in sizes.items():
        graphs = make_dataset(PAPER_FAMILIES, count, num_nodes, split="validation").graphs
        for name in MODELS:
            for rule in ("training_mean", "fewest_edges", "hops", "nodes", "instance"):
                about = {"infinity": rule, "rescaled": "no", "span": 5}
                yield {"model": name, "nodes": num_nodes, **about, **error(name, graphs, rule)}
            for span in SPANS:
                wide = log_uniform(graphs, span)
                for which in (np.max, np.mean, np.median):
                    about = {"infinity": "fewest_edges", "rescaled": which.__name__, "span": span}
                    fitted = rescaled(wide, which)
                    yield {
                        "model": name,
                        "nodes": num_nodes,
                        **about,
                        **error(name, fitted, "fewest_edges"),
                    }


def log_uniform(graphs: Graph, span: float) -> Graph:
    """Replace weights w in [0.2, 1] by 100·span^((w − 0.2) / 0.8)."""
    weights = np.where(graphs.edge_mask(), 100 * span ** ((graphs.weights - 0.2) / 0.8), 0)
    return dataclasses.replace(graphs, weights=weights.astype(np.float32))


def rescaled(graphs: Graph, which: Callable) -> Graph:
    """Bring a statistic of each graph's weights to 1 (the largest) or 0.6 by a power of two."""
    middle = 1.0 if which is np.max else 0.6
    value = [which(w[edges]) for w, edges in zip(graphs.weights, graphs.edge_mask(), strict=True)]
    exponent = np.log2(middle / np.array(value))
    factor = np.exp2(np.floor(exponent) if which is np.max else np.round(exponent))
    weights = (graphs.weights * factor[:, None]).astype(np.float32)
    return dataclasses.replace(graphs, weights=weights)


def error(name: str, graphs: Graph, rule: str) -> dict:
    """Return the predecessor error after as many steps as nodes: median and range over seeds."""
    model = load_model(name)
    networks, (task,) = target_only(model.networks, tasks_of(model.experiment))
    truth = run(task.algorithm, graphs, record="final")
    largest = np.max(graphs.weights, axis=-1)
    if rule == "training_mean":
        infinity = np.full(len(graphs), model.card["infinity"][-1])
    elif rule == "hops":
        infinity = np.max(hop_distances(graphs), axis=-1) * largest + 1
    elif rule == "nodes":
        infinity = graphs.num_nodes * largest + 1
    else:
        instance = rule == "instance"
        key = truth.final_key if instance else breadth_first_keys(task.algorithm, graphs)
        infinity = np.asarray(stand_in_for(task.algorithm, key, "instance"))
    free_run = FreeRun.untold(networks, (task,), [infinity], graphs.num_nodes, len(graphs))
    pointer = np.asarray(free_run.run(graphs, np.arange(len(graphs)), "last").pointer)[:, :, 0]
    true = np.asarray(truth.final_pred)
    wrong = ((pointer != true) & (true >= 0)).sum((1, 2)) / (true >= 0).sum()
    numbers = {"median": np.median(wrong), "lowest": wrong.min(), "highest": wrong.max()}
    return {key: f"{value:.4f}" for key, value in numbers.items()}


def main() -> None:
    """Run one part and write its table row by row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("validate", "measure"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--max-nodes", type=int, default=10**6)
    arguments = parser.parse_args()
    if arguments.part == "validate":
        rows = validate({n: k for n, k in VALIDATION_GRAPHS.items() if n <= arguments.max_nodes})
    else:
        rows = measure(arguments.models, arguments.max_nodes)
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = None
        for row in rows:
            writer = writer or csv.DictWriter(file, list(row), lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(*row.values(), file=sys.stderr)


if __name__ == "__main__":
    main()
