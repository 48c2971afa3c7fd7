"""`Dataset`: graphs of one size, or padded to it, their families, and traces of algorithms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from typing import Any

import jax
import numpy as np
from jaxtyping import Int, Shaped

from algotransfer.algorithms import Algorithm, Trace, get_algorithm, run
from algotransfer.array_files import content_hash
from algotransfer.datasets.ragged import to_ragged
from algotransfer.errors import UserError
from algotransfer.graphs import FAMILIES, Graph, NamedGraph, concatenate, sample_graphs
from algotransfer.graphs.graph import resize_graphs
from algotransfer.graphs.named import check_names
from algotransfer.type_checks import check_fields

HASH_DIGITS = 8  # of the hash of a graph


@dataclass(frozen=True, eq=False)
class Dataset:
    """Graphs of one size, or padded to it, and traces of algorithms, computed on first use.

    `arguments` determine the graphs: they are on the card of a data file, as JSON, and hashed where
    results are cached. `names` are those of the nodes, for each graph; None if they are numbers. A
    graph with fewer names than nodes is padded: its last nodes are isolated and have no names.
    """

    graphs: Graph
    family: Shaped[np.ndarray, " graphs"]  # of each graph
    arguments: Mapping[str, Any]
    names: Sequence[Sequence[Hashable]] | None = field(default=None, repr=False)
    _traces: dict[Algorithm, Trace] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        check_fields(self)
        if self.graphs.batch_shape != self.family.shape or not len(self.family):
            raise UserError(
                f"graphs have batch shape {self.graphs.batch_shape} and family has shape "
                f"{self.family.shape}; expected a batch and one family per graph"
            )
        if self.names is not None and len(self.names) != len(self.family):
            raise UserError(
                f"got names for {len(self.names)} graphs, and {len(self.family)} graphs; expected "
                "the names of the nodes of each graph"
            )
        self._check_names()

    def __len__(self) -> int:
        """Number of graphs."""
        return len(self.graphs)

    @property
    def num_nodes(self) -> int:
        """Number of nodes, the same for every graph; padding counts."""
        return self.graphs.num_nodes

    @property
    def sizes(self) -> Int[np.ndarray, " graphs"]:
        """Number of nodes of each graph, without the padding of `from_graphs`."""
        if self.names is None:
            return np.full(len(self), self.num_nodes)
        return np.array([len(names) for names in self.names])

    @property
    def families(self) -> tuple[str, ...]:
        """Families, in the order of their first graph."""
        return tuple(dict.fromkeys(self.family.tolist()))

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Algorithms whose traces are in memory."""
        return tuple(algorithm.name for algorithm in self._traces)

    def trace(self, algorithm: str | Algorithm) -> Trace:
        """Return the steps of an algorithm on every graph; computed once, then cached."""
        algorithm = get_algorithm(algorithm)
        if algorithm not in self._traces:
            self._traces[algorithm] = run(algorithm, self.graphs)
        return self._traces[algorithm]

    def named_graph(self, index: int) -> NamedGraph:
        """Return one graph without padding, with the names of its nodes, for `execute`."""
        if not -len(self) <= index < len(self):
            raise UserError(f"there is no graph {index}; expected 0…{len(self) - 1}")
        if self.names is None:
            return NamedGraph(self.graphs[index], tuple(range(self.num_nodes)))
        names = tuple(self.names[index])
        return NamedGraph(resize_graphs(self.graphs[index], len(names)), names)

    def part(self, indices: Int[np.ndarray, " some"]) -> Dataset:
        """Return the dataset of some graphs, with their names and traces."""
        graphs, family = self.graphs[indices], self.family[indices]
        smallest = int(self.sizes[indices].min(initial=self.num_nodes))
        traces = {
            algorithm: jax.tree.map(np.asarray, trace)[indices]
            for algorithm, trace in self._traces.items()
        }
        return Dataset(
            graphs=graphs,
            family=family,
            arguments={
                **describe_graphs(graphs, family, smallest),
                "part_of": dict(self.arguments),
            },
            names=None if self.names is None else [self.names[index] for index in indices],
            _traces=traces,
        )

    def forget(self) -> None:
        """Free the memory of the cached traces."""
        self._traces.clear()

    def _check_names(self) -> None:
        """Raise a `UserError` unless nodes have different names, and nodes without are isolated."""
        if self.names is None:
            return
        for names in self.names:
            check_names(names, min(len(names), self.num_nodes))
        size, source = self.sizes, np.asarray(self.graphs.source)
        ends = np.maximum(self.graphs.senders, self.graphs.receivers)
        used = np.max(ends, axis=-1, where=np.asarray(self.graphs.edge_mask()), initial=-1)
        for graph in np.flatnonzero(np.maximum(used, source) >= size)[:1]:
            raise UserError(
                f"got {size[graph]} names for {self.num_nodes} nodes of graph {graph}; expected a "
                "name for each node that has edges or is the source"
            )

    def __repr__(self) -> str:
        least, most = int(self.sizes.min()), self.num_nodes
        size = f"{most} nodes" if least == most else f"{least} to {most} nodes"
        return f"<Dataset of {len(self)} graphs ({', '.join(self.families)}) with {size}>"


def describe_graphs(
    graphs: Graph, family: Shaped[np.ndarray, " graphs"], min_nodes: int
) -> dict[str, Any]:
    """Return the arguments of a dataset of given graphs, which their content identifies.

    `min_nodes` is the number of nodes of the smallest graph, without padding.
    """
    runs = [(name, len([*run])) for name, run in groupby(family.tolist())]
    source = np.asarray(graphs.source)
    return {
        "graph": [name for name, _ in runs],
        "num_graphs": [count for _, count in runs],
        "num_nodes": graphs.num_nodes,
        "graphs_sha256": content_hash({**vars(to_ragged(graphs)), "source": source}, {}),
        **({"min_nodes": min_nodes} if min_nodes < graphs.num_nodes else {}),
        **({"directed": True} if graphs.directed else {}),
    }


def graph_hashes(graphs: Graph) -> list[str]:
    """Return a short hash of the edges of each graph, without its source."""
    rows = zip(
        np.asarray(graphs.edge_mask()).sum(axis=-1),
        np.asarray(graphs.senders, np.int32),
        np.asarray(graphs.receivers, np.int32),
        np.asarray(graphs.weights, np.float32),
        strict=True,
    )
    hashes = (sha256(b"".join(row[:count].tobytes() for row in edges)) for count, *edges in rows)
    return [content.hexdigest()[:HASH_DIGITS] for content in hashes]


def total_graphs(arguments: Mapping[str, Any]) -> int:
    """Return the number of graphs of a dataset from its arguments, as on a card.

    Sampled datasets have one number for all families, others a list.
    """
    count = arguments["num_graphs"]
    return sum(count) if isinstance(count, list) else int(count) * len(arguments["graph"])


def make_dataset(
    family: str | Sequence[str] = "er",
    num_graphs: int = 1000,
    num_nodes: int = 20,
    seed: int = 0,
    *,
    split: str = "train",
    attachments: int = 4,
    shape: str | None = None,
    min_nodes: int | None = None,
) -> Dataset:
    """Sample a dataset; equal arguments give equal graphs, weights and sources on every machine.

    **Arguments:**

    - `family`: a family (`er`, `ba`, `grid`, `ws`, `delaunay`) or several, which follow one another
        in that order.
    - `num_graphs`: how many graphs *of each family*.
    - `split`: `train`, `validation`, `test` or any other name; no two share random numbers.
    - `attachments`: edges that a new node of a `ba` graph brings.
    - `shape`: shape rule of `grid`, `any` or `square`; by the number of nodes if not given.
    - `min_nodes`: mix sizes: as many graphs of each size from `min_nodes` to `num_nodes`, padded
        with isolated nodes to `num_nodes`. Grids have no prime sizes.

    **Returns:** the `Dataset`; its traces are computed when asked for.
    """
    families = (family,) if isinstance(family, str) else tuple(family)
    FAMILIES.check(*families)
    if not families or len(set(families)) < len(families):
        raise UserError(f"family={families!r}; name one or more families, each of them once")
    sampling = {"seed": seed, "split": split, "attachments": attachments, "shape": shape}
    if min_nodes is None:
        parts = [sample_graphs(name, num_graphs, num_nodes, **sampling) for name in families]
    else:
        sizes = range(min_nodes, num_nodes + 1)
        parts = [_sample_sizes(name, num_graphs, sizes, sampling) for name in families]
    return Dataset(
        graphs=concatenate(parts),
        family=np.repeat(families, num_graphs),
        arguments={
            "graph": list(families),
            "num_graphs": num_graphs,
            "num_nodes": num_nodes,
            **sampling,
            **({} if min_nodes is None else {"min_nodes": min_nodes}),
        },
    )


def _sample_sizes(family: str, num_graphs: int, sizes: range, sampling: Mapping[str, Any]) -> Graph:
    """Sample graphs of several sizes, in order of size, padded to the largest size."""

    def sample(count: int, num_nodes: int) -> Graph:
        return resize_graphs(sample_graphs(family, count, num_nodes, **sampling), sizes[-1])

    def exists(num_nodes: int) -> bool:
        try:
            sample(1, num_nodes)
        except UserError:
            return False
        return True

    if not 2 <= sizes.start < sizes.stop:
        raise UserError(
            f"min_nodes is {sizes.start} and num_nodes is {sizes.stop - 1}; expected at least 2 "
            "nodes, and no more of the smallest than of the largest graphs"
        )
    possible = [num_nodes for num_nodes in sizes if exists(num_nodes)]
    if not possible:
        return sample_graphs(family, num_graphs, sizes[-1], **sampling)  # raises the reason
    counts = np.diff(np.linspace(0, num_graphs, len(possible) + 1).astype(int)).tolist()
    return concatenate(
        [sample(count, size) for count, size in zip(counts, possible, strict=True) if count]
    )
