"""Tasks of CLRS-30 on graphs, and the datasets of their official splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms import run
from algotransfer.datasets.dataset import Dataset
from algotransfer.graphs.clrs_sampling import ClrsSampler, at_every_source, with_sources
from algotransfer.graphs.graph import Graph
from algotransfer.registry import check_name

# The first three are those of dm-clrs. The last one is ours, for wider test sets.
SEEDS = {"train": 1, "validation": 2, "test": 3, "wide": 4}
WEIGHT_TOLERANCE = 1e-6  # of keys that a network computes
OFFICIAL_SIZES = {"train": (1000, 16), "validation": (32, 16), "test": (32, 64)}  # graphs, nodes


@dataclass(frozen=True)
class ClrsTask:
    """A task of CLRS-30.

    **Arguments:**

    - `name`: in CLRS-30.
    - `algorithms`: names in `ALGORITHMS` of the algorithms whose answers are the task's; the first
        is trained on it by default. A task without a source asks for answers from every source.
    - `sampler`: the distribution of its graphs.
    - `output`: name of its output in dm-clrs. `pi` holds predecessors, `Pi` predecessors from
        every source, `in_mst` is 1 at edges of the lightest spanning tree.
    - `from_trees`: names of the algorithms whose answers from every source give the lightest
        spanning tree, which becomes the task's output when it is rooted at the source.
    """

    name: str
    algorithms: tuple[str, ...]
    sampler: ClrsSampler
    output: Literal["pi", "Pi", "in_mst"] = "pi"
    from_trees: tuple[str, ...] = ()

    def check_algorithm(self, algorithm: str) -> None:
        """Raise a `UserError` unless the task's output can be read from an algorithm's answers."""
        known = self.algorithms + self.from_trees
        check_name(f"algorithm of the task {self.name}", algorithm, known)

    def asks_for_predecessors(self, algorithm: str) -> bool:
        """Return whether an algorithm's predecessors are themselves the task's output."""
        return self.output != "in_mst" and algorithm not in self.from_trees

    def graphs_for(self, algorithm: str, graphs: Graph) -> Graph:
        """Return the graphs that an algorithm runs on to answer the task on `graphs`."""
        self.check_algorithm(algorithm)
        return at_every_source(graphs) if algorithm in self.from_trees else graphs

    def read(
        self,
        algorithm: str,
        graphs: Graph,
        key: Float[np.ndarray, "*seeds answers n"],
        pointer: Int[np.ndarray, "*seeds answers n"],
    ) -> np.ndarray:
        """Return the task's output from an algorithm's answers on `graphs_for` these graphs.

        **Arguments:**

        - `pointer`: predecessors; unreached nodes point at themselves.
        """
        asked = self.graphs_for(algorithm, graphs)
        if algorithm in self.from_trees:
            return _rooted(_spanning_tree(asked, key, pointer), np.asarray(graphs.source))
        return READOUTS[self.output](asked, key, pointer)


# Shortest paths of unit weights, with ties to the lowest index, are the tree of CLRS-30's bfs.
bfs = ClrsTask("bfs", ("bfs", "bellman_ford", "dijkstra"), ClrsSampler(weighted=False))
bellman_ford = ClrsTask("bellman_ford", ("bellman_ford", "dijkstra"), ClrsSampler())
dijkstra = ClrsTask("dijkstra", ("dijkstra", "bellman_ford"), ClrsSampler())
mst_prim = ClrsTask("mst_prim", ("prim",), ClrsSampler(), from_trees=("minimax_par",))
# An edge is in the lightest spanning tree if no path between its ends has lighter edges only.
mst_kruskal = ClrsTask(
    "mst_kruskal", ("minimax_par",), ClrsSampler(probability=0.2, has_source=False), "in_mst"
)
dag_shortest_paths = ClrsTask(
    "dag_shortest_paths",
    ("dag_shortest_paths", "bellman_ford", "dijkstra"),
    ClrsSampler(acyclic=True),
)
floyd_warshall = ClrsTask(
    "floyd_warshall", ("bellman_ford", "dijkstra"), ClrsSampler(has_source=False), "Pi"
)


def _predecessors(graphs: Graph, key, pointer: Int[np.ndarray, "*graphs n"]):
    return pointer


def _predecessors_from_all(graphs: Graph, key, pointer: Int[np.ndarray, "*graphs n"]):
    """Return a matrix by source; in dm-clrs, a node that is not reached points at the source."""
    is_own = pointer == np.arange(graphs.num_nodes)
    return _by_graph(np.where(is_own, np.asarray(graphs.source)[:, None], pointer))


def _spanning_tree(graphs: Graph, key: Float[np.ndarray, "*graphs n"], pointer):
    """Return 1 at edges whose weight is the minimax key of their ends.

    The predecessor of one end is then the other, but a network may name another node through which
    the key is the same. Where weights are equal, these edges can be more than a tree.
    """
    graph, source = np.arange(len(graphs)), np.asarray(graphs.source)
    weights = np.asarray(graphs.weight_matrix())[graph, source]  # from the source
    named = pointer == source[:, None]
    is_in = (weights > 0) & (named | (key > weights - WEIGHT_TOLERANCE))
    return _by_graph(is_in.astype(np.int32))


def _rooted(
    trees: Int[np.ndarray, "*seeds graphs n n"], source: Int[np.ndarray, " graphs"]
) -> Int[np.ndarray, "*seeds graphs n"]:
    """Return the next node on the way to the source; the node itself where there is no way."""
    from scipy.sparse.csgraph import breadth_first_order

    pointer = np.tile(np.arange(trees.shape[-1]), (*trees.shape[:-2], 1))
    for index in np.ndindex(trees.shape[:-2]):
        _, before = breadth_first_order(trees[index], source[index[-1]], directed=False)
        pointer[index] = np.where(before < 0, pointer[index], before)
    return pointer


def _by_graph(rows: Int[np.ndarray, "*seeds rows n"]) -> Int[np.ndarray, "*seeds graphs n n"]:
    num_nodes = rows.shape[-1]
    return rows.reshape(*rows.shape[:-2], -1, num_nodes, num_nodes)


READOUTS = {"pi": _predecessors, "Pi": _predecessors_from_all, "in_mst": _spanning_tree}


def make_clrs_dataset(task: ClrsTask, split: str, num_graphs: int, num_nodes: int) -> Dataset:
    """Sample the graphs of a split of a task, equal to those of dm-clrs.

    Graphs of a task without a source are repeated with every node as the source. Only in wider test
    sets, which would become too large, graph g has the one source g modulo the number of nodes.

    **Arguments:**

    - `split`: `train`, `validation`, `test`, or `wide` for graphs of the same distribution that are
        in none of them.
    """
    sampler, seed = task.sampler, SEEDS[split]
    graphs = sampler.sample(num_graphs, num_nodes, seed)
    if not sampler.has_source:
        one_each = np.arange(num_graphs) % num_nodes
        graphs = with_sources(graphs, one_each) if split == "wide" else at_every_source(graphs)
    family = "clrs30_wide" if split == "wide" else "clrs30"
    return Dataset(
        graphs=graphs,
        family=np.repeat([family], len(graphs)),
        arguments={
            "graph": [family],
            "num_graphs": len(graphs),
            "num_nodes": num_nodes,
            "seed": seed,
            "task": task.name,
            "task_split": split,  # `split` is an argument of `make_dataset`
            **({"directed": True} if graphs.directed else {}),
        },
    )


def true_output(task: ClrsTask, graphs: Graph) -> np.ndarray:
    """Return the true output on graphs; those of a task without a source have all sources."""
    algorithm = task.algorithms[0]
    trace = run(algorithm, task.graphs_for(algorithm, graphs), record="final")
    pred = np.asarray(trace.final_pred)
    pointer = np.where(pred < 0, np.arange(graphs.num_nodes), pred)
    output = task.read(algorithm, graphs, np.asarray(trace.final_key), pointer)
    if task.output == "in_mst":
        weights = np.asarray(graphs[:: graphs.num_nodes].weight_matrix())
        return np.stack([_one_tree(*pair) for pair in zip(output, weights, strict=True)])
    return output


def _one_tree(is_in: Int[np.ndarray, "n n"], weights: Float[np.ndarray, "n n"]):
    """Return one of the lightest spanning trees, of which `is_in` has all edges.

    Equal weights are taken in the order of the matrix, as in dm-clrs.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    ends = np.nonzero(np.triu(is_in))
    rank = np.empty(len(ends[0]))
    rank[np.argsort(weights[ends], kind="stable")] = np.arange(1, len(rank) + 1)
    tree = minimum_spanning_tree(csr_array((rank, ends), shape=is_in.shape)).toarray() > 0
    return (tree | tree.T).astype(is_in.dtype)


def official_output(task: ClrsTask, split: str) -> np.ndarray:
    """Return the true output of an official split, equal to that of dm-clrs.

    On the diagonal of `Pi`, dm-clrs does not name the source: where a node has a self-loop, the
    distance from the node to itself starts at the weight of that loop instead of 0.
    """
    size = OFFICIAL_SIZES[split]
    output = true_output(task, make_clrs_dataset(task, split, *size).graphs)
    if task.output == "Pi":
        matrices = task.sampler.matrices(*size, SEEDS[split])
        diagonal = np.stack([_closed_walks(weights) for weights, _ in matrices])
        node = np.arange(size[1])
        output[:, node, node] = diagonal
    return output


def _closed_walks(weights: Float[np.ndarray, "n n"]) -> Int[np.ndarray, " n"]:
    """Return the last node but one of the lightest walk from each node back to it.

    In an undirected graph that walk is the self-loop, or the lightest other edge twice. A node
    without a self-loop names itself.
    """
    loops, others = np.diag(weights), np.where(weights > 0, weights, np.inf)
    np.fill_diagonal(others, np.inf)
    return np.where(2 * others.min(axis=1) < loops, others.argmin(axis=1), np.arange(len(loops)))
