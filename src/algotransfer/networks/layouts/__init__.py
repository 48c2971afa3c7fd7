"""One graph as the network sees it, dense or sparse: two layouts of one interface.

Both hold every edge in both directions plus a self-loop at every node, with one row of edge
features per kind of feature. `i` is the node that receives, `j` the neighbour (or itself) that
sends. Code written with the methods of `Layout` does not notice which one it is given.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import Layout, Scores
from algotransfer.networks.layouts.dense import Dense, dense_layout
from algotransfer.networks.layouts.sparse import Sparse, sparse_layout

__all__ = ["DENSE_UP_TO", "Dense", "Layout", "Scores", "Sparse", "make_layouts"]

DENSE_UP_TO = 256  # nodes up to which the dense layout is the faster one


def make_layouts(
    graphs: Graph, kinds: tuple[str, ...], layout: Literal["dense", "sparse"] | None = None
) -> Dense | Sparse:
    """The layouts of a batch of graphs, as one pytree with the batch in front."""
    dense = graphs.num_nodes <= DENSE_UP_TO if layout is None else layout == "dense"
    make = dense_layout if dense else sparse_layout
    return _make_layouts(make, kinds, jax.tree.map(jnp.asarray, graphs))


@partial(jax.jit, static_argnums=(0, 1))
def _make_layouts(make, kinds, graphs):
    return jax.vmap(lambda graph: make(graph, kinds))(graphs)
