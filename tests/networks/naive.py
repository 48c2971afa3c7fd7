"""The networks in JAX as their formulas are written: an N×N×3h tensor, one matrix product.

Differentiated by JAX itself, this is what the cheap identities and their own gradients must equal.
"""

import jax
import jax.numpy as jnp

from algotransfer.networks import Memory


def on_pairs(receiver, sender, edge):
    """[receiver_i, sender_j, edge_ij] for all i and j."""
    shape = (len(receiver), len(sender))
    return jnp.concatenate(
        [
            jnp.broadcast_to(receiver[:, None], (*shape, receiver.shape[-1])),
            jnp.broadcast_to(sender[None, :], (*shape, sender.shape[-1])),
            edge,
        ],
        axis=-1,
    )


def max_over_neighbours(values, edges):
    return jnp.max(jnp.where(edges[..., None], values, -jnp.inf), axis=1)


def max_mpnn(processor, node, edge, edges):
    """U[node_i, max_j M[node_i, node_j, e_ij]]."""
    best = max_over_neighbours(on_pairs(node, node, edge) @ processor.message, edges)
    return jnp.concatenate([node, best], axis=-1) @ processor.update


def edge_embedding(layout, matrix):
    """e_ij = A [features of ij]."""
    return jnp.moveaxis(layout.features, 0, -1) @ matrix


def ne(network, features, memory, layout):
    """NE's step from the dense layout: the next memory, and what every head says."""
    edge = edge_embedding(layout, network.edge)
    z = jnp.concatenate([*features, memory.hidden], axis=-1) @ network.encoder
    hidden = z + sum(max_mpnn(p, z, edge, layout.edges) for p in network.processors)
    return Memory(hidden, memory.edge_states), [
        _heads(heads, network.termination, z, hidden, edge, layout) for heads in network.heads
    ]


def ne_plus_plus(network, features, memory, layout):
    """NE++'s step from the dense layout: the next memory, and what every head says."""
    hiddens, outputs = [], []
    for own, algorithm, x, before in zip(
        network.specialists, network.algorithms, features, memory, strict=True
    ):
        h = before.hidden
        kind = network.kinds.index("weight" if algorithm.weighted else "one")
        edge = edge_embedding(layout.with_features((kind,)), own.edge)
        node = jnp.concatenate([x, h], axis=-1)
        inputs = on_pairs(node, node, edge)
        q = inputs @ own.encoder.linear
        q = q + jax.nn.relu(inputs @ own.encoder.first) @ own.encoder.second
        hidden = sum(
            jnp.concatenate([h, max_over_neighbours(q @ p.message, layout.edges)], axis=-1)
            @ p.update
            for p in network.processors
        )
        hiddens.append(Memory(hidden, before.edge_states))
        outputs.append(_heads(own.heads, own.termination, node, hidden, edge, layout))
    return tuple(hiddens), outputs


def _heads(heads, termination, inputs, hidden, edge, layout):
    n = len(hidden)
    y = jnp.concatenate([inputs, hidden], axis=-1) @ heads.decoder
    senders = jnp.broadcast_to(hidden[None, :], (n, *hidden.shape))
    scores = (jnp.concatenate([senders, edge], axis=-1) @ heads.predecessor)[..., 0]
    summary = jnp.mean(max_mpnn(termination.processor, hidden, edge, layout.edges), axis=0)
    return y, scores, (summary @ termination.linear)[0]


NAIVE = {"ne": ne, "ne++": ne_plus_plus}
