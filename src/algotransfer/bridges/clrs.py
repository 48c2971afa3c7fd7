"""Import graphs and answers that dm-clrs sampled; dm-clrs need not be installed.

CLRS-30 (Veličković et al., 2022) adds self-loops. They change no answer and are removed, since a
`Graph` has none. Directed graphs raise a `UserError`.
"""

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms import ALGORITHMS
from algotransfer.array_files import DAMAGE, check_entries, parse_array
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph, from_edges

MAX_SAMPLE_BYTES = 2**30  # uncompressed
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of NumPy


class _Counterpart(NamedTuple):
    algorithm: str  # name in `ALGORITHMS`
    key: str  # hint whose final value is the key
    reached: str  # hint whose final value is the set of reached nodes


COUNTERPARTS = {
    "bfs": _Counterpart("bfs", key="reach_h", reached="reach_h"),
    "bellman_ford": _Counterpart("bellman_ford", key="d", reached="msk"),
    "dijkstra": _Counterpart("dijkstra", key="d", reached="mark"),
    "mst_prim": _Counterpart("prim", key="key", reached="mark"),
}


@dataclass(frozen=True, eq=False)
class ClrsFeedback:
    """Graphs sampled by dm-clrs, and the final answers of its algorithm as in a `Trace`."""

    algorithm: str  # name in `ALGORITHMS`
    graphs: Graph
    key: Float[np.ndarray, "graphs nodes"]  # at unreached nodes ∞, or 0 for `bfs`
    pred: Int[np.ndarray, "graphs nodes"]  # −1 at unreached nodes, the source itself at the source


def import_clrs(path: str | Path) -> dict[str, ClrsFeedback]:
    """Read a file written by `benchmarks/peers/clrs_samples.py feedback FILE.npz`.

    **Returns:** graphs and answers by algorithm, with the names of `ALGORITHMS`.
    """
    try:
        with zipfile.ZipFile(path) as archive:  # numpy.load would also read a single array
            arrays, left = {}, MAX_SAMPLE_BYTES
            for name, entry in check_entries(archive).items():
                if entry.compress_type not in COMPRESSIONS:
                    raise UserError("an entry is compressed, but not as NumPy does it")
                with archive.open(entry.filename) as stream:
                    content = stream.read(left + 1)  # the declared size may be wrong
                left -= len(content)
                if left < 0:
                    raise UserError(f"it holds more than {MAX_SAMPLE_BYTES:,} bytes")
                arrays[name] = parse_array(name, content)
    except (*DAMAGE, zlib.error) as error:
        raise UserError(
            f"{path} is not a readable .npz archive ({error}); write it again with "
            "benchmarks/peers/clrs_samples.py"
        ) from error
    probes: dict[str, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        algorithm, _, probe = name.partition(".")
        probes.setdefault(algorithm, {})[probe] = array
    if not probes:
        raise UserError(f"{path} holds no arrays; write it with benchmarks/peers/clrs_samples.py")
    imported = [_convert(algorithm, arrays) for algorithm, arrays in probes.items()]
    return {feedback.algorithm: feedback for feedback in imported}


def from_clrs(name: str, feedback) -> ClrsFeedback:
    """Convert a batch of a dm-clrs sampler, where both packages are installed.

    **Arguments:**

    - `name`: name of the algorithm in CLRS-30, such as `mst_prim`.
    - `feedback`: a batch from `clrs.build_sampler(name, …)[0].next()`.
    """
    features = feedback.features
    last = np.asarray(features.lengths).astype(int) - 1  # later hints are padding

    def arrays(probes) -> dict[str, np.ndarray]:
        return {probe.name: np.asarray(probe.data) for probe in probes}

    hints = {
        hint: data[last, np.arange(len(last))] for hint, data in arrays(features.hints).items()
    }
    return _convert(name, arrays(features.inputs) | arrays(feedback.outputs) | hints)


def _convert(name: str, probes: Mapping[str, np.ndarray]) -> ClrsFeedback:
    if name not in COUNTERPARTS:
        raise UserError(
            f"the CLRS-30 algorithm {name!r:.80} has no counterpart; sample one of "
            f"{', '.join(COUNTERPARTS)} (dfs of CLRS-30 runs on directed graphs and restarts at "
            "every node)"
        )
    counterpart = COUNTERPARTS[name]
    needed = ("A", "adj", "s", "pi", counterpart.key, counterpart.reached)
    missing = [probe for probe in needed if probe not in probes]
    if missing:
        raise UserError(
            f"the feedback of {name!r:.80} has {', '.join(probes)!s:.80} but not "
            f"{', '.join(missing)}; write it with benchmarks/peers/clrs_samples.py"
        )
    _check_arrays(name, {probe: probes[probe] for probe in needed})
    reached = probes[counterpart.reached] == 1
    unreached_key = ALGORITHMS[counterpart.algorithm].unreached_key
    key = np.where(reached, probes[counterpart.key], unreached_key)
    return ClrsFeedback(
        algorithm=counterpart.algorithm,
        graphs=_graphs(name, probes["A"], probes["adj"], probes["s"]),
        key=key.astype(np.float32),
        pred=np.where(reached, probes["pi"], -1).astype(np.int32),
    )


def _check_arrays(name: str, probes: Mapping[str, np.ndarray]) -> None:
    """Raise a `UserError` unless shapes and values are those of a feedback."""
    shape = probes["A"].shape
    if len(shape) != 3 or shape[1] != shape[2] or 0 in shape:
        raise UserError(
            f"A of {name!r:.80} has shape {shape}; expected [graphs, nodes, nodes], at least one "
            "of each: write the file with benchmarks/peers/clrs_samples.py"
        )
    for probe, data in probes.items():
        expected = shape if probe in ("A", "adj") else shape[:2]
        if data.shape != expected or data.dtype.kind not in "biuf":
            raise UserError(
                f"{probe} of {name!r:.80} has shape {data.shape} and type {data.dtype}; expected "
                f"finite numbers of shape {expected}"
            )
        with np.errstate(over="ignore"):
            stored = data.astype(np.float32)
        if not np.isfinite(stored).all():
            raise UserError(
                f"{probe} of {name!r:.80} has NaN, infinity or numbers that float32 cannot hold; "
                "expected finite numbers"
            )
    if not np.isin(probes["adj"], (0, 1)).all():
        raise UserError(f"adj of {name!r:.80} has other values than 0 and 1; expected a mask")
    if (probes["A"][probes["adj"] > 0] < 0).any():
        raise UserError(f"A of {name!r:.80} has a negative weight; expected weights above 0")
    if ((probes["s"] == 1).sum(axis=1) != 1).any():
        raise UserError(f"s of {name!r:.80} marks no or several sources; expected one per graph")
    if not np.isin(probes["pi"], np.arange(shape[1])).all():
        raise UserError(f"pi of {name!r:.80} has values outside 0…{shape[1] - 1}; expected nodes")


def _graphs(
    name: str,
    weights: Float[np.ndarray, "graphs nodes nodes"] | Int[np.ndarray, "graphs nodes nodes"],
    adjacency: Float[np.ndarray, "graphs nodes nodes"],
    is_source: Float[np.ndarray, "graphs nodes"],
) -> Graph:
    directed = (weights != weights.mT).any((1, 2)) | (adjacency != adjacency.mT).any((1, 2))
    if directed.any():
        raise UserError(
            f"graph {np.argmax(directed)} of {name!r:.80} is directed; expected symmetric A and "
            "adj: sample undirected graphs, the default of CLRS-30"
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
