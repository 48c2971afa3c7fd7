"""Reference rows of result tables: the algorithm itself and two trivial predictors."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from algotransfer.algorithms.truth import Truth
from algotransfer.datasets.ragged import to_ragged
from algotransfer.datasets.statistics import degree
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
    graphs = graphs.reverse()  # pointers go against the edges
    degrees = degree(graphs).ravel()
    stream = Stream(RANDOM_SEED, "reference", "any", graphs.num_nodes, "neighbour")
    drawn = (stream.uniform(len(degrees)) * degrees).astype(np.int64)
    return _pointers(graphs, to_ragged(graphs).edge_index[1], drawn)


def lightest_edge(graphs: Graph) -> Pointers:
    """Each node points over its lightest edge (ties: lowest index); the source at itself."""
    graphs = graphs.reverse()
    edges = to_ragged(graphs)
    node = edges.graph_id * graphs.num_nodes + edges.edge_index[0]
    order = np.lexsort((edges.edge_index[1], edges.edge_weight, node))
    return _pointers(graphs, edges.edge_index[1, order], 0)


def _pointers(graphs: Graph, neighbour: Int[np.ndarray, " edges"], place: Any) -> Pointers:
    """Every node's neighbour at its place; the source, and a node without edges, itself."""
    pointer = np.tile(np.arange(graphs.num_nodes, dtype=np.int32), len(graphs))
    degrees = degree(graphs).ravel()
    place, some = np.cumsum(degrees) - degrees + place, degrees > 0
    pointer[some] = neighbour[place[some]]
    pointer = pointer.reshape(len(graphs), graphs.num_nodes)
    source = np.asarray(graphs.source)
    pointer[np.arange(len(graphs)), source] = source
    return pointer


POINTERS = {"random_neighbour": random_neighbour, "lightest_edge": lightest_edge}
