"""Dense and sparse layouts of graphs, with one interface (`Layout`) and the same numbers."""

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp

from algotransfer.devices import default_platform
from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import Layout, Scores
from algotransfer.networks.layouts.dense import Dense, dense_layout
from algotransfer.networks.layouts.sparse import Sparse, sparse_layout

__all__ = [
    "DENSE_MAX_NODES",
    "Dense",
    "Layout",
    "LayoutName",
    "Scores",
    "Sparse",
    "faster_layout",
    "make_layouts",
]

# Largest number of nodes with the dense layout on a GPU, about where both layouts are equally fast.
# Gradients by `benchmarks/layouts.py`, dense and sparse, on an H200 with other work on it: NE 0.9
# and 1.2 ms at 128 nodes, 1.5 and 1.3 ms at 256; NE++ 1.6 and 1.8, 2.0 and 2.0 ms. On a CPU the
# sparse layout is as fast or faster at all sizes.
DENSE_MAX_NODES = 256

LayoutName = Literal["dense", "sparse"]


def faster_layout(num_nodes: int) -> LayoutName:
    """Return the faster layout for graphs of that size on the current device."""
    return "dense" if default_platform() != "cpu" and num_nodes <= DENSE_MAX_NODES else "sparse"


def make_layouts(
    graphs: Graph, kinds: tuple[str, ...], layout: LayoutName | None = None
) -> Dense | Sparse:
    """Return the layouts of a batch of graphs, as one pytree with the batch as first axis.

    `kinds` are those of a network. The default layout is the faster one for the number of nodes.
    """
    dense = (layout or faster_layout(graphs.num_nodes)) == "dense"
    make = dense_layout if dense else sparse_layout
    return _make_layouts(make, kinds, jax.tree.map(jnp.asarray, graphs))


@partial(jax.jit, static_argnums=(0, 1))
def _make_layouts(make, kinds, graphs):
    return jax.vmap(lambda graph: make(graph, kinds))(graphs)
