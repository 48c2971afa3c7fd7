"""Dense and sparse layouts of graphs, with one interface (`Layout`) and the same numbers."""

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
from jax.core import Tracer

from algotransfer.devices import default_platform
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph, check_graph
from algotransfer.networks.layouts.base import Layout, Scores
from algotransfer.networks.layouts.dense import Dense, dense_layout
from algotransfer.networks.layouts.sparse import Sparse, sparse_layout
from algotransfer.registry import check_name

__all__ = [
    "DENSE_TRAINING_MAX_NODES",
    "DENSE_TRAINING_MAX_NODES_ON",
    "Dense",
    "Layout",
    "Scores",
    "Sparse",
    "make_layouts",
]

# Largest number of nodes with the dense layout in training, by platform and for all others: about
# where both layouts are equally fast. NE's gradient by `benchmarks/layouts.py`, dense
# and sparse: on two cores 2.6 and 2.8 ms a step at 16 nodes, 6.2 and 3.0 ms at 64; on an H200 with
# other work on it 0.9 and 1.2 ms at 128, 1.5 and 1.3 ms at 256 (NE++: 1.6 and 1.8, 2.0 and 2.0 ms).
DENSE_TRAINING_MAX_NODES_ON = {"cpu": 32}
DENSE_TRAINING_MAX_NODES = 256
KINDS = ("weight", "one")  # names of edge features


def make_layouts(
    graphs: Graph, kinds: tuple[str, ...], layout: Literal["dense", "sparse"] | None = None
) -> Dense | Sparse:
    """Return the layouts of a batch of graphs, as one pytree with the batch as first axis.

    `kinds` are those of a network. The default layout is the faster one for the number of nodes.
    """
    for kind in kinds:
        check_name("edge feature", kind, KINDS)
    if not kinds or len(graphs.batch_shape) != 1:
        raise UserError(
            f"kinds={kinds} and graphs of batch shape {graphs.batch_shape}; expected at least one "
            "of 'weight' and 'one', and a batch (of a single graph: jax.tree.map(lambda leaf: "
            "leaf[None], graph))"
        )
    if not isinstance(graphs.senders, Tracer):
        check_graph(graphs)
    limit = DENSE_TRAINING_MAX_NODES_ON.get(default_platform(), DENSE_TRAINING_MAX_NODES)
    dense = graphs.num_nodes <= limit if layout is None else layout == "dense"
    make = dense_layout if dense else sparse_layout
    return _make_layouts(make, kinds, jax.tree.map(jnp.asarray, graphs))


@partial(jax.jit, static_argnums=(0, 1))
def _make_layouts(make, kinds, graphs):
    return jax.vmap(lambda graph: make(graph, kinds))(graphs)
