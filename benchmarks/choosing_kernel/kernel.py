"""Latents of sampled trajectories by one GPU kernel for all steps, without gradient."""

from functools import partial

import jax
import jax.numpy as jnp
from choosing_kernel.program import Graph, Matrices, Memory, Tiling, rollout_program
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from algotransfer.networks import Latent
from algotransfer.networks.folded import Folded
from algotransfer.networks.layouts.base import NeighbourLists
from algotransfer.networks.layouts.edge_programs import Weights, interpreted

# The hidden layer is computed times this power of two, which is exact. So float16 holds values up
# to 16 million, and has as many bits as tf32 above 0.02.
HALF_SCALE = 2.0**-8


def kernel_latents(tiling: Tiling, task, network, layout, truth, noise) -> Latent:
    """Return the last latents of trajectories of a sequential algorithm without teacher."""
    driver = task.supervision.driver(task.algorithm, truth, noise[0])
    layout = layout if layout.neighbours is not None else layout.with_neighbours()
    lists = network.folded_layout(layout).neighbours
    start = jnp.moveaxis(task.algorithm.framework.features(driver.start), -1, 0)
    x, before, after = roll_out(network.fold((True,)), lists, start, noise, driver.steps, tiling)
    return jax.vmap(lambda *seen: network.latent(0, *seen))(before, after, (x,))


def roll_out(
    folded: Folded,
    lists: NeighbourLists,
    start: Float[Array, "2 n"],
    noise: Float[Array, "k steps n"],
    steps: Int[Array, ""],
    tiling: Tiling,
) -> tuple[Float[Array, "k n 2"], Float[Array, "k n h"], Float[Array, "k n h"]]:
    """Return x and h before the last step of every trajectory, and h after it; 0 without steps.

    `start` are the initial node features, `noise` is the Gumbel noise of every trajectory. The
    hidden state must have 32, 64, … numbers. `vmap` over graphs and seeds adds axes to the grid.
    """
    nodes = start.shape[1]
    tiling = tiling._replace(copies=min(tiling.copies, len(noise)))
    stage = folded.edge_stage
    second = jnp.concatenate(stage.second, axis=1) if stage.second else None
    weights = Weights(jnp.concatenate(stage.edge, axis=1), stage.hidden_edge, second)
    matrices = _matrices(folded, weights, tiling.edge_product)
    present = [each for each in matrices if each is not None]
    lists_read = lists.order, lists.degree, lists.senders, lists.features
    graph = Graph(*lists_read, start, noise, jnp.reshape(steps, 1))
    programs, rows = pl.cdiv(len(noise), tiling.copies), tiling.num_rows(nodes)
    shapes = Memory(
        hidden=(programs, 2, rows, stage.hidden),
        x=(programs, 2, len(start), rows + 1),
        messages=(programs, rows, weights.units + weights.outputs),
        y=(programs, len(matrices.hidden_y), rows + 1),
    )
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    memory = Memory(
        *pl.pallas_call(
            partial(rollout_program, tiling, len(present)),
            grid=(programs,),
            in_specs=[anywhere] * (len(graph) + len(present)),
            out_specs=[anywhere] * len(shapes),
            out_shape=[jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes],
            compiler_params=triton.CompilerParams(num_warps=tiling.warps, num_stages=1),
            interpret=interpreted(),
            name="rollout_program",
        )(*graph, *present)
    )

    def by_trajectory(half, values: Float[Array, "programs 2 rows _"]):
        values = jnp.where(half == 0, values[:, 0], values[:, 1])[:, : nodes * tiling.copies]
        values = values.reshape(programs, nodes, tiling.copies, -1)
        values = jnp.swapaxes(values, 1, 2).reshape(programs * tiling.copies, nodes, -1)
        return jnp.where(steps > 0, values[: len(noise)], 0.0)

    last = steps % 2  # the half that the last step wrote
    x = by_trajectory(1 - last, jnp.swapaxes(memory.x, 2, 3))
    return x, by_trajectory(1 - last, memory.hidden), by_trajectory(last, memory.hidden)


def _matrices(folded: Folded, weights: Weights, edge_product: str) -> Matrices:
    hidden = folded.edge_stage.hidden
    num_features = len(folded.first) - hidden
    keep_end = 2 * weights.units + weights.outputs + hidden
    first, hidden_edge, second = folded.first, weights.hidden_edge, weights.second
    if second is not None and edge_product == "f16":
        of_layer = jnp.arange(first.shape[1]) < 2 * weights.units
        first = jnp.where(of_layer, HALF_SCALE * first, first)
        hidden_edge = HALF_SCALE * hidden_edge
        second = (second / HALF_SCALE).astype(jnp.float16)[None]
    elif second is not None:
        second = _bfloat16_parts(second)
    of_hidden = first[num_features:]
    return Matrices(
        hidden=_bfloat16_parts(of_hidden[:, :keep_end]),
        hidden_y=of_hidden[:, keep_end:].T,
        x=first[:num_features],
        update=_bfloat16_parts(folded.update[:, :hidden]),
        update_y=folded.update[:, hidden:].T,
        edge=weights.edge,
        hidden_edge=hidden_edge,
        second=second,
    )


def _bfloat16_parts(matrix: Float[Array, "a b"]) -> Float[Array, "2 a b"]:
    # Not a cast back and forth, which XLA may remove.
    high = jax.lax.reduce_precision(matrix, exponent_bits=8, mantissa_bits=7)
    return jnp.stack([high, matrix - high]).astype(jnp.bfloat16)
