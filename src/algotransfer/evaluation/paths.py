"""Follow predicted predecessor pointers to the source."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from algotransfer.algorithms import Algorithm, run
from algotransfer.algorithms.definitions import bellman_ford
from algotransfer.graphs.graph import Graph

hops = replace(
    bellman_ford,
    name="hops",
    title="Hop distance",
    relax=lambda key, weight: key + 1,
    weights=(-np.inf, np.inf),
    weighted=False,
    cost=None,
)

TOLERANCE = 1e-6  # relative difference of equally good keys, against rounding


class Paths(eqx.Module):
    """The paths that predicted pointers describe."""

    arrives: Bool[Array, "*batch n"]  # whether a node's path ends at the source
    key: Float[Array, "*batch n"]  # true key of that path; unreached if it does not arrive
    weight: Float[Array, "*batch n"]  # of the edge between a node and its pointer; 0 without one


def hop_distances(graphs: Graph) -> Int[np.ndarray, "graphs n"]:
    """Edges between each node and its source; −1 where there is no path."""
    distance = np.asarray(run(hops, graphs, record="final").final_key)
    return np.where(np.isfinite(distance), distance, -1).astype(np.int32)


def breadth_first_keys(algorithm: Algorithm, graphs: Graph) -> Float[np.ndarray, "graphs n"]:
    """Keys along the paths with the fewest edges: never better than the algorithm's answer."""
    parent = np.asarray(run(hops, graphs, record="final").final_pred)
    parent = np.where(parent < 0, np.arange(graphs.num_nodes), parent)
    return np.asarray(follow(algorithm, graphs, jnp.asarray(parent)).key)


@partial(jax.jit, static_argnums=0)
def follow(algorithm: Algorithm, graphs: Graph, pointer: Int[Array, "*seeds graphs n"]) -> Paths:
    """Follow the pointers of a batch of graphs; axes in front of the batch are seeds."""
    one = jax.vmap(partial(_follow_one, algorithm))
    for _ in pointer.shape[:-2]:
        one = jax.vmap(one, in_axes=(None, 0))
    return one(jax.tree.map(jnp.asarray, graphs), pointer)


def _follow_one(algorithm: Algorithm, graph: Graph, pointer: Int[Array, " n"]) -> Paths:
    graph = graph.reverse()  # pointers go against the edges
    n = graph.num_nodes
    is_source = jnp.arange(n) == graph.source
    pointer = jnp.where(is_source, graph.source, pointer)  # a path ends where it arrives

    # Doubling: after k rounds `ahead` is 2ᵏ pointers away, and `depth` of them were needed.
    ahead, depth = pointer, (~is_source).astype(jnp.int32)
    for _ in range(max(1, n - 1).bit_length()):
        depth, ahead = depth + depth[ahead], ahead[ahead]
    arrives = ahead == graph.source

    # An edge (v, pointer of v) is found in the list of edges: no matrix of all pairs is needed.
    taken = graph.receivers == pointer.at[graph.senders].get(mode="fill", fill_value=-1)
    weight = jnp.zeros(n, graph.weights.dtype)
    weight = weight.at[jnp.where(taken, graph.senders, n)].set(graph.weights, mode="drop")

    def lengthen(_, key):
        longer = algorithm.relax(key[pointer], weight)
        return jnp.where(arrives & ~is_source, longer, key)

    key = algorithm.initial_key(graph.source, n)
    key = lax.fori_loop(0, jnp.max(jnp.where(arrives, depth, 0)), lengthen, key)
    return Paths(arrives, key, weight)


def worse_predecessors(
    algorithm: Algorithm,
    paths: Paths,
    pointer: Int[np.ndarray, "*seeds graphs n"],
    true_key: Float[np.ndarray, "graphs n"],
    true_pred: Int[np.ndarray, "graphs n"],
) -> Bool[np.ndarray, "*seeds graphs n"]:
    """Mark the reached nodes whose predecessor is not the algorithm's and not as good.

    A predecessor is as good if it leads to the source and the key through it is as good as the
    true key; for `cost="tree"`, if all predecessors form a tree that is as light as the true one.
    """
    paths = jax.tree.map(np.asarray, paths)
    reached, nodes = true_pred >= 0, np.arange(true_pred.shape[-1])
    other = reached & (pointer != true_pred)
    if algorithm.cost == "path":
        from_key = np.take_along_axis(np.broadcast_to(true_key, pointer.shape), pointer, -1)
        through = np.asarray(algorithm.relax(from_key, paths.weight))
        close = np.isclose(through, true_key, rtol=TOLERANCE, atol=0)
        as_good = paths.arrives & (close | np.asarray(algorithm.better(through, true_key)))
    elif algorithm.cost == "tree":
        inner = reached & (true_pred != nodes)
        weight, best = (np.sum(w, axis=-1, where=inner) for w in (paths.weight, true_key))
        rooted = np.all(paths.arrives & ~(other & ~inner), axis=-1, where=reached)
        as_good = (rooted & (weight <= best * (1 + TOLERANCE)))[..., None]
    else:
        as_good = False
    return other & ~np.asarray(as_good)
