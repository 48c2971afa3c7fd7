"""Reference rows of result tables: the algorithm itself and two trivial predictors."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms.truth import Truth
from algotransfer.evaluation.harness import Execution
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.streams import Stream

RANDOM_SEED = 0  # of the random neighbours

Pointers = Int[np.ndarray, "graphs n"]


@jax.jit
def the_algorithm(truth: Truth) -> Execution:
    """Return the true execution of a batch of graphs in the form of a network's, with one seed."""
    num_steps = truth.key.shape[-2] - 1
    is_last = jnp.arange(1, num_steps + 1) == truth.length[..., None]
    pred, itself = truth.pred[..., 1:, :], jnp.arange(truth.pred.shape[-1], dtype=truth.pred.dtype)
    chosen = None
    if truth.next_node is not None:
        chosen = jnp.argmax(truth.visited[..., 1:, :] & ~truth.visited[..., :-1, :], axis=-1)
    execution = Execution(
        key=truth.key[..., 1:, :],
        pointer=jnp.where(pred < 0, itself, pred),
        chosen=chosen,
        stop=jnp.where(is_last, 1.0, -1.0),
    )
    return jax.tree.map(lambda leaf: leaf[None], execution)


def random_neighbour(graphs: Graph) -> Pointers:
    """Each node points at one of its neighbours, all equally likely; the source at itself."""
    edges = _edges(graphs)
    stream = Stream(RANDOM_SEED, "reference", "any", graphs.num_nodes, "neighbour")
    drawn = (stream.uniform(len(edges.degree)) * edges.degree).astype(np.int64)
    return _pointers(graphs, edges, edges.neighbour, edges.first + drawn)


def lightest_edge(graphs: Graph) -> Pointers:
    """Each node points over its lightest edge (ties: lowest index); the source at itself."""
    edges = _edges(graphs)
    order = np.lexsort((edges.neighbour, edges.weight, edges.node))
    return _pointers(graphs, edges, edges.neighbour[order], edges.first)


class _Edges(NamedTuple):
    """The edges of all graphs in order of their node, and where in that order a node's begin."""

    node: Int[np.ndarray, " edges"]  # numbered through all graphs
    neighbour: Int[np.ndarray, " edges"]  # numbered within its graph
    weight: Float[np.ndarray, " edges"]
    degree: Int[np.ndarray, " nodes"]
    first: Int[np.ndarray, " nodes"]


def _edges(graphs: Graph) -> _Edges:
    mask = np.asarray(graphs.edge_mask())
    node = np.nonzero(mask)[0] * graphs.num_nodes + np.asarray(graphs.senders)[mask]
    degree = np.bincount(node, minlength=len(graphs) * graphs.num_nodes)
    return _Edges(
        node=node,
        neighbour=np.asarray(graphs.receivers)[mask],
        weight=np.asarray(graphs.weights)[mask],
        degree=degree,
        first=np.cumsum(degree) - degree,
    )


def _pointers(graphs: Graph, edges: _Edges, neighbour, place) -> Pointers:
    """Every node's neighbour at its place; the source, and a node without edges, itself."""
    pointer = np.tile(np.arange(graphs.num_nodes, dtype=np.int32), len(graphs))
    some = edges.degree > 0
    pointer[some] = neighbour[place[some]]
    pointer = pointer.reshape(len(graphs), graphs.num_nodes)
    source = np.asarray(graphs.source)
    pointer[np.arange(len(graphs)), source] = source
    return pointer


POINTERS = {"random_neighbour": random_neighbour, "lightest_edge": lightest_edge}
