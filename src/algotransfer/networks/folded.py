"""One step of NE or NE++ with consecutive weight matrices multiplied together."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from algotransfer.networks.layouts import DENSE_MAX_NODES, Layout

Linear = Callable[[int, Float[Array, "n x"]], Float[Array, "n y"]]


@final
class EdgeStage(eqx.Module):
    """The part of a folded step that runs on edges, between its two products per node."""

    edge: tuple[Float[Array, "f h"], ...]  # one per processor
    hidden_edge: Float[Array, "f q"] | None = None
    second: tuple[Float[Array, "q h"], ...] = ()

    @property
    def hidden(self) -> int:
        """Width of the hidden state."""
        return self.edge[0].shape[1]

    def step(self, inputs: Float[Array, "n _xh"], layout: Layout, linear: Linear):
        """Return h' and the outputs y of algorithms that run free.

        `linear(0, x)` multiplies by `Folded.first`, `linear(1, x)` by `Folded.update`.
        """
        units = [] if self.hidden_edge is None else [self.hidden_edge.shape[1]] * 2
        ends = np.cumsum(units + [self.hidden] * len(self.edge))
        product = linear(0, inputs)
        *parts, keep = jnp.split(product, ends, axis=-1)
        best = self._max_by_kernel(product, layout)
        if best is None:
            best = jnp.concatenate(self._max(parts, layout), axis=-1)
        after = keep + linear(1, best)
        return after[:, : self.hidden], after[:, self.hidden :]

    def _max_by_kernel(self, product, layout: Layout):
        if self.hidden_edge is None:
            return None  # `max_plus` calls the kernel
        edge, second = (jnp.concatenate(each, axis=1) for each in (self.edge, self.second))
        return layout.max_through_layer(product, edge, self.hidden_edge, second)

    def _max(self, parts, layout: Layout):
        if self.hidden_edge is None:
            return list(map(layout.max_plus, parts, self.edge))
        if layout.num_nodes <= DENSE_MAX_NODES:
            return _max_through_layer(self, parts, layout)
        # The backward pass recomputes per-edge activations instead of storing them.
        return jax.checkpoint(_max_through_layer)(self, parts, layout)


@final
class Folded(eqx.Module):
    """One step of NE or NE++ as two matrix products per node, with an `EdgeStage` in between.

    [r, s, l, k] = first[x, h];  b_i = max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij));
    [h', y] = k + update b, with an l, an e and an S for each processor. NE has no hidden layer.
    """

    first: Float[Array, "_xh d"]
    update: Float[Array, "_ph _hy"]
    edge_stage: EdgeStage


def _max_through_layer(stage: EdgeStage, parts, layout: Layout):
    receiver, sender, *linear = parts
    assert stage.hidden_edge is not None
    layer = jax.nn.relu(layout.pairs(receiver, sender, stage.hidden_edge))
    return [
        layout.max(layout.pairs(None, part, edge) + layer @ second)
        for part, edge, second in zip(linear, stage.edge, stage.second, strict=True)
    ]
