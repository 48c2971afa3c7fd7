"""Graphs and answers sampled by dm-clrs, as ours; dm-clrs itself need not be installed here.

CLRS-30 (Veličković et al., 2022) lists self-loops, which our graphs do not have: they change no
answer and are dropped. Its undirected graphs are taken, its directed ones refused.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms import ALGORITHMS
from algotransfer.archive import DAMAGE, SUFFIX, parse_array
from algotransfer.arguments import checked, shown
from algotransfer.graphs.graph import Graph, from_edges

LARGEST = 2**30  # bytes that a file of samples may unpack to


class _Counterpart(NamedTuple):
    algorithm: str  # its name here
    key: str  # the hint that ends as the key
    reached: str  # the hint that ends as the set of reached nodes


COUNTERPARTS = {
    "bfs": _Counterpart("bfs", key="reach_h", reached="reach_h"),
    "bellman_ford": _Counterpart("bellman_ford", key="d", reached="msk"),
    "dijkstra": _Counterpart("dijkstra", key="d", reached="mark"),
    "mst_prim": _Counterpart("prim", key="key", reached="mark"),
}


@dataclass(frozen=True, eq=False)
class ClrsFeedback:
    """Graphs that dm-clrs sampled, and the answers of its algorithm in our terms.

    **Arguments:**

    - `algorithm`: our name of the algorithm.
    - `key`: final keys, with the algorithm's own value (∞, or 0 for `bfs`) at unreached nodes.
    - `pred`: final predecessors; −1 at unreached nodes, the source points at itself.
    """

    algorithm: str
    graphs: Graph
    key: Float[np.ndarray, "graphs nodes"]
    pred: Int[np.ndarray, "graphs nodes"]


@checked
def import_clrs(path: str | Path) -> dict[str, ClrsFeedback]:
    """Reads a file that `benchmarks/peers/clrs_samples.py feedback FILE.npz` wrote.

    **Returns:** graphs with answers, by our name of the algorithm.
    """
    try:
        with zipfile.ZipFile(path) as archive:  # numpy.load would take a single array as well
            arrays, left = {}, LARGEST
            if any(entry.header_offset < 0 for entry in archive.infolist()):
                raise ValueError("its entries begin before it does")
            for name in archive.namelist():
                with archive.open(name) as stream:
                    content = stream.read(left + 1)  # whatever the archive says of its sizes
                left -= len(content)
                if left < 0:
                    raise ValueError(f"it unpacks to more than {LARGEST} bytes")
                arrays[name.removesuffix(SUFFIX)] = parse_array(name, content)
    except (*DAMAGE, zlib.error) as error:
        raise ValueError(
            f"{path} is not a readable .npz archive ({error}); write it anew with "
            "benchmarks/peers/clrs_samples.py"
        ) from error
    probes: dict[str, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        algorithm, _, probe = name.partition(".")
        probes.setdefault(algorithm, {})[probe] = array
    if not probes:
        raise ValueError(f"{path} holds no arrays; write it with benchmarks/peers/clrs_samples.py")
    imported = [_convert(algorithm, arrays) for algorithm, arrays in probes.items()]
    return {feedback.algorithm: feedback for feedback in imported}


@checked
def from_clrs(name: str, feedback) -> ClrsFeedback:
    """Converts a batch straight from a dm-clrs sampler, where both packages are installed.

    **Arguments:**

    - `name`: CLRS's name of the algorithm, such as `mst_prim`.
    - `feedback`: what `clrs.build_sampler(name, …)[0].next()` returns.
    """
    if not hasattr(feedback, "features") or not hasattr(feedback, "outputs"):
        raise TypeError(
            f"expected the feedback of a dm-clrs sampler, not {shown(feedback)}: it has neither "
            "features nor outputs"
        )
    features = feedback.features
    last = np.asarray(features.lengths).astype(int) - 1  # hints after a graph's end are padding

    def arrays(probes) -> dict[str, np.ndarray]:
        return {probe.name: np.asarray(probe.data) for probe in probes}

    hints = {
        hint: data[last, np.arange(len(last))] for hint, data in arrays(features.hints).items()
    }
    return _convert(name, arrays(features.inputs) | arrays(feedback.outputs) | hints)


def _convert(name: str, probes: Mapping[str, np.ndarray]) -> ClrsFeedback:
    if name not in COUNTERPARTS:
        raise ValueError(
            f"CLRS's {name!r:.80} has no counterpart here; sample one of {', '.join(COUNTERPARTS)} "
            "(CLRS's dfs runs on directed graphs and restarts at every node)"
        )
    counterpart = COUNTERPARTS[name]
    needed = ("A", "adj", "s", "pi", counterpart.key, counterpart.reached)
    missing = [probe for probe in needed if probe not in probes]
    if missing:
        raise ValueError(
            f"feedback of {name!r:.80} lacks {', '.join(missing)}, it has {', '.join(probes)}; "
            "write it with benchmarks/peers/clrs_samples.py"
        )
    reached = probes[counterpart.reached] == 1
    unreached_key = ALGORITHMS[counterpart.algorithm].unreached_key
    key = np.where(reached, probes[counterpart.key], unreached_key)
    return ClrsFeedback(
        algorithm=counterpart.algorithm,
        graphs=_graphs(name, probes["A"], probes["adj"], probes["s"]),
        key=key.astype(np.float32),
        pred=np.where(reached, probes["pi"], -1).astype(np.int32),
    )


def _graphs(
    name: str,
    weights: Float[np.ndarray, "graphs nodes nodes"] | Int[np.ndarray, "graphs nodes nodes"],
    adjacency: Float[np.ndarray, "graphs nodes nodes"],
    is_source: Float[np.ndarray, "graphs nodes"],
) -> Graph:
    directed = (weights != weights.mT).any((1, 2)) | (adjacency != adjacency.mT).any((1, 2))
    if directed.any():
        raise ValueError(
            f"graph {np.argmax(directed)} of CLRS's {name!r:.80} is directed, but graphs here are "
            "undirected; sample it with A and adj symmetric, as CLRS does unless told otherwise"
        )
    num_graphs, num_nodes = is_source.shape
    graph_id, *ends = np.nonzero(np.triu(adjacency, k=1))  # above the diagonal: no self-loops
    return from_edges(
        num_nodes,
        num_graphs,
        graph_id=graph_id,
        ends=np.stack(ends),
        weights=weights[graph_id, ends[0], ends[1]].astype(np.float32),
        source=is_source.argmax(-1),
    )
