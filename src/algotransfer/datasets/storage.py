"""Save and load data files: a dataset and the traces of one algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from algotransfer.algorithms import ALGORITHMS, Algorithm, Trace, definitions, get_algorithm, run
from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.ragged import Ragged, check_edges, from_ragged, to_ragged
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import check_names
from algotransfer.registry import REGISTER_FIRST, UnknownName

FORMAT_VERSION = 1
SUFFIX = ".npz"
NOT_ARGUMENTS = ("format_version", "algorithm", "sha256")  # entries of a card about the file itself

# Type and shape of the entries: G graphs, E edges, N nodes, T steps.
ENTRIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "format_version": ("int32", ()),
    "edge_index": ("int32", ("2", "E")),
    "edge_offset": ("int64", ("G+1",)),
    "edge_weight": ("float32", ("E",)),
    "num_nodes": ("int32", ()),
    "source": ("int32", ("G",)),
    "key": ("float32", ("G", "T+1", "N")),
    "pred": ("int32", ("G", "T+1", "N")),
    "visited": ("bool", ("G", "T+1", "N")),
    "length": ("int32", ("G",)),
}
NAMES = "node_names"  # optional: text [G, N], empty for padding nodes


def save_dataset(dataset: Dataset, path: str | Path, algorithm: str | Algorithm) -> str:
    """Write the graphs and the traces of one algorithm; equal arguments give equal bytes.

    **Returns:** the sha256 on the card of the file.
    """
    if Path(path).suffix != SUFFIX:
        raise UserError(f"{path} does not end in {SUFFIX}, as data files do; rename it")
    algorithm = get_algorithm(algorithm)
    edges = to_ragged(dataset.graphs)
    trace = dataset.trace(algorithm)
    arrays = {
        "format_version": np.int32(FORMAT_VERSION),
        "edge_index": edges.edge_index,
        "edge_offset": edges.edge_offset,
        "edge_weight": edges.edge_weight,
        "num_nodes": np.int32(dataset.num_nodes),
        "source": dataset.graphs.source,
        "key": trace.key,
        "pred": trace.pred,
        "visited": trace.visited,
        "length": trace.length,
        NAMES: _text(dataset),
    }
    card = {"format_version": FORMAT_VERSION, "algorithm": algorithm.name, **dataset.arguments}
    present = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    return save_arrays(path, present, card)


def _text(dataset: Dataset) -> np.ndarray | None:
    """Return the names of the nodes as text; raise a `UserError` if two become equal."""
    if dataset.names is None:
        return None
    names = [[str(name) for name in names] for names in dataset.names]
    for of_graph in names:
        check_names(of_graph, len(of_graph))  # 1 and "1" differ, but not in a file
        if "" in of_graph:
            raise UserError("a node has an empty name, which data files keep for padding; name it")
    return np.array([[*row, *[""] * (dataset.num_nodes - len(row))] for row in names])


def load_dataset(path: str | Path) -> Dataset:
    """Read a data file and check version, types, shapes, ranges and sha256.

    **Returns:** the `Dataset`, with the traces of the file; others are computed on first use.
    """
    if Path(path).suffix != SUFFIX and not Path(path).is_dir():
        raise UserError(
            f"{path} does not end in {SUFFIX}; expected a data file: make one of graph files with "
            "`algotransfer data --algorithm NAME --graph FILE --out own.npz`, or in Python "
            "with save_dataset(from_graphs(graphs), 'own.npz', NAME)"
        )
    arrays, card = load_arrays(path)
    try:
        return _dataset(arrays, card)
    except ValueError as error:
        raise UserError(f"cannot use {path} as a data file: {error}") from error


def _dataset(arrays: Mapping[str, np.ndarray], card: Mapping[str, Any]) -> Dataset:
    version = card.get("format_version")
    if version != FORMAT_VERSION:
        raise UserError(
            f"it has format version {version!r:.80}; expected {FORMAT_VERSION}: make it again, or "
            "use the release that wrote it"
        )
    try:
        algorithm = ALGORITHMS[card.get("algorithm", "")]
    except UnknownName as error:
        raise UserError(f"{error}; {REGISTER_FIRST}") from error
    texts = arrays.get(NAMES)
    arrays = {name: array for name, array in arrays.items() if name != NAMES}
    _check_shapes(arrays, algorithm)
    num_nodes, num_graphs = int(arrays["num_nodes"]), len(arrays["source"])
    arguments = {key: value for key, value in card.items() if key not in NOT_ARGUMENTS}
    family = _family(arguments, num_graphs, num_nodes)
    _check_ranges(arrays, num_nodes)
    names = None if texts is None else _names(texts, (num_graphs, num_nodes))

    edges = Ragged(arrays["edge_index"], arrays["edge_offset"], arrays["edge_weight"])
    directed = arguments.get("directed", False)
    if not isinstance(directed, bool):
        raise UserError(f"directed is {directed!r:.80} on its card; expected true or false")
    check_edges(edges, num_nodes, directed)
    trace = Trace(arrays["key"], arrays["pred"], arrays.get("visited"), arrays["length"])
    graphs = from_ragged(edges, arrays["source"], num_nodes, directed)
    if getattr(definitions, algorithm.name, None) is not algorithm:
        _check_trace(algorithm, graphs, trace)
    return Dataset(
        graphs=graphs,
        family=family,
        arguments=arguments,
        names=names,
        _traces={algorithm: trace},
    )


def _check_trace(algorithm: Algorithm, graphs: Graph, trace: Trace) -> None:
    """Raise a `UserError` if an algorithm of the user has changed since its traces were saved."""
    fresh = run(algorithm, graphs)
    if not all(
        np.array_equal(getattr(trace, name), getattr(fresh, name)) for name in ("key", "pred")
    ):
        raise UserError(
            f"its steps are not those of the registered algorithm {algorithm.name!r:.80}, which "
            "has changed since; make the file again, or give the changed algorithm another name"
        )


def _names(texts: np.ndarray, shape: tuple[int, int]) -> list[list[str]]:
    """Return the names of the nodes of each graph, without the empty ones of padding nodes."""
    if (texts.dtype.kind, texts.shape) != ("U", shape):
        raise UserError(
            f"entry {NAMES!r} is {texts.dtype} {list(texts.shape)}, expected text {list(shape)}"
        )
    counts = np.max((texts != "") * np.arange(1, shape[1] + 1), axis=1)
    return [row[:count].tolist() for row, count in zip(texts, counts, strict=True)]


def _check_shapes(arrays: Mapping[str, np.ndarray], algorithm: Algorithm) -> None:
    visits = algorithm.framework.visits_nodes
    expected = {k: v for k, v in ENTRIES.items() if k != "visited" or visits}
    if set(arrays) != set(expected):
        missing, extra = sorted(set(expected) - set(arrays)), sorted(set(arrays) - set(expected))
        raise UserError(f"missing entries: {missing or 'none'}; unknown: {extra or 'none'}")
    if arrays["num_nodes"].shape or arrays["source"].ndim != 1 or arrays["edge_weight"].ndim != 1:
        raise UserError("num_nodes must be 0-d, source and edge_weight must be 1-d")
    n, g, e = int(arrays["num_nodes"]), len(arrays["source"]), len(arrays["edge_weight"])
    sizes = {"2": 2, "E": e, "G": g, "G+1": g + 1, "N": n, "T+1": n + 1}
    for name, (dtype, axes) in expected.items():
        shape = tuple(sizes[axis] for axis in axes)
        array = arrays[name]
        if array.dtype != dtype or array.shape != shape:
            raise UserError(
                f"entry {name!r:.80} is {array.dtype} {list(array.shape)}, "
                f"expected {dtype} {list(shape)}"
            )


def _family(arguments: Mapping[str, Any], num_graphs: int, num_nodes: int) -> np.ndarray:
    """Return the family of each graph, from `graph` and `num_graphs` on the card."""
    if arguments.get("num_nodes") != num_nodes:
        raise UserError(f"num_nodes is missing or wrong on its card; expected {num_nodes}")
    names, count = arguments.get("graph"), arguments.get("num_graphs")
    names = names if isinstance(names, list) else []
    counts: list[Any] = count if isinstance(count, list) else [count] * len(names)
    valid = all(isinstance(name, str) for name in names) and all(
        type(count) is int and 0 <= count <= num_graphs for count in counts
    )
    if not valid or len(counts) != len(names) or sum(counts) != num_graphs:
        raise UserError(f"graph and num_graphs on its card do not add up to {num_graphs} graphs")
    return np.repeat(np.array(names, dtype=str), counts)


def _check_ranges(arrays: Mapping[str, np.ndarray], num_nodes: int) -> None:
    ranges = {
        "format_version": (FORMAT_VERSION, FORMAT_VERSION),
        "num_nodes": (1, num_nodes),
        "source": (0, num_nodes - 1),
        "pred": (-1, num_nodes - 1),
        "length": (1, num_nodes),
    }
    for name, (low, high) in ranges.items():
        array = arrays[name]
        if array.size and (array.min() < low or array.max() > high):
            raise UserError(
                f"entry {name!r:.80} holds {array.min()}…{array.max()}, expected {low}…{high}"
            )
    if np.any(np.isnan(arrays["key"])):
        raise UserError("entry 'key' holds NaN; expected numbers or infinity")
