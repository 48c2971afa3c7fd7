"""NE and NE++ with all weights multiplied together that act one after the other."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from algotransfer.networks.layouts import DENSE_TRAINING_MAX_NODES, Layout
from algotransfer.networks.layouts.listed import Listed

Linear = Callable[[int, Float[Array, "n x"]], Float[Array, "n y"]]


class Folded(eqx.Module):
    """One step of NE or NE++ as two matrix products per node, with the edges in between.

    [r, s, l, k] = first[x, h];  b_i = max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij));
    [h', y] = k + update b, with an l, an e and an S for each processor. NE has no hidden layer.
    """

    first: Float[Array, "_xh d"]
    update: Float[Array, "_ph _hy"]
    edge_stage: EdgeStage


class EdgeStage(eqx.Module):
    """What happens on the edges, and how the two products are put around it."""

    along: tuple[Float[Array, "f h"], ...]  # one per processor
    hidden_along: Float[Array, "f q"] | None = None
    second: tuple[Float[Array, "q h"], ...] = ()
    rounded: bool = eqx.field(static=True, default=False)  # whether kernels may round products

    @property
    def hidden(self) -> int:
        """Width of the hidden state."""
        return self.along[0].shape[1]

    def step(self, inputs: Float[Array, "n _xh"], layout: Layout, linear: Linear):
        """h' and the outputs y of what runs free; `linear` is `first` and then `update`."""
        units = [] if self.hidden_along is None else [self.hidden_along.shape[1]] * 2
        ends = np.cumsum(units + [self.hidden] * len(self.along))
        product = linear(0, inputs)
        *parts, keep = jnp.split(product, ends, axis=-1)
        best = self._by_kernel(product, layout)
        if best is None:
            best = jnp.concatenate(self._best(parts, layout), axis=-1)
        after = keep + linear(1, best)
        return after[:, : self.hidden], after[:, self.hidden :]

    def _by_kernel(self, product, layout: Layout):
        if self.hidden_along is None or not isinstance(layout, Listed):
            return None
        along, second = (jnp.concatenate(each, axis=1) for each in (self.along, self.second))
        return layout.max_through(product, along, self.hidden_along, second, self.rounded)

    def _best(self, parts, layout: Layout):
        if self.hidden_along is None:
            return list(map(layout.max_plus, parts, self.along))
        if layout.num_nodes <= DENSE_TRAINING_MAX_NODES:
            return _through_hidden_layer(self, parts, layout)
        # Per-edge activations are made again in the backward pass instead of being kept.
        return jax.checkpoint(_through_hidden_layer)(self, parts, layout)


def _through_hidden_layer(edge_stage: EdgeStage, parts, layout: Layout):
    receiver, sender, *linear = parts
    assert edge_stage.hidden_along is not None
    layer = jax.nn.relu(layout.pairs(receiver, sender, edge_stage.hidden_along))
    return [
        layout.max(layout.pairs(None, part, along) + layer @ second)
        for part, along, second in zip(linear, edge_stage.along, edge_stage.second, strict=True)
    ]
