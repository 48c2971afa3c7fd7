"""Sampled trajectories of a graph by one GPU kernel for all steps, without gradient.

Training chooses among trajectories by it: it is fast and rounds the hidden layer to float16.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array, Float

from algotransfer.networks.executor import FoldableExecutor
from algotransfer.networks.folded import Folded
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Dense
from algotransfer.networks.layouts.edge_kernel import run_program
from algotransfer.networks.rollout import Driver
from algotransfer.networks.trajectory_program import (
    COPIES,
    HALF_SCALE,
    Graph,
    Matrices,
    Memory,
    num_rows,
    trajectory_program,
)

WARPS = 4


def fits(network: FoldableExecutor, driver: Driver) -> bool:
    """Return whether the kernel can run trajectories of the network's only algorithm."""
    (algorithm,), stage = network.algorithms, network.fold((True,)).edge_stage
    units = 0 if stage.hidden_edge is None else stage.hidden_edge.shape[1]
    tiles = units % min(32, stage.hidden) == 0 and stage.hidden >= 16
    powers_of_two = all(each & (each - 1) == 0 for each in (stage.hidden, len(stage.edge)))
    same_rule = algorithm.framework.sampled_by_kernel and driver.noise is not None
    return tiles and powers_of_two and same_rule and driver.carry_all and driver.teacher is None


def kernel_latents(
    network: FoldableExecutor,
    layout: Dense,
    driver: Driver,
    noise: Float[Array, "trajectories steps n"],
) -> Latent:
    """Return the last latent of every trajectory; `vmap` over graphs and seeds adds programs."""
    folded, read_layout = network.fold((True,)), network.folded_layout(layout)
    assert isinstance(read_layout, Dense)
    lists = read_layout.neighbours
    assert lists is not None
    (algorithm,), programs = network.algorithms, pl.cdiv(len(noise), COPIES)
    start, nodes = algorithm.framework.features(driver.start).T, layout.num_nodes
    read = lists.order, lists.degree, lists.senders, lists.features
    graph = Graph(*read, start, noise, jnp.reshape(driver.steps, 1))
    matrices, rows = _matrices(folded), num_rows(nodes)
    shapes = Memory(
        hidden=((programs, 2, rows, folded.edge_stage.hidden), jnp.float32),
        x=((programs, 2, 2, rows + 1), jnp.float32),
        layer=((programs, rows, max(1, matrices.units)), jnp.float16),
        linear=((programs, rows, matrices.outputs), jnp.float32),
        y=((programs, 2, rows + 1), jnp.float32),
    )
    program = partial(trajectory_program, len(jax.tree.leaves(matrices)))
    shapes = [jax.ShapeDtypeStruct(*shape) for shape in shapes]
    memory = Memory(*run_program(program, (programs,), shapes, (graph, matrices), WARPS))

    def by_trajectory(half, values: Float[Array, "programs 2 rows _"]):
        values = jnp.where(half == 0, values[:, 0], values[:, 1])[:, : nodes * COPIES]
        values = values.reshape(programs, nodes, COPIES, -1)
        values = jnp.swapaxes(values, 1, 2).reshape(programs * COPIES, nodes, -1)
        return jnp.where(driver.steps > 0, values[: len(noise)], 0.0)

    last = driver.steps % 2  # the half that the last step wrote
    x = by_trajectory(1 - last, jnp.swapaxes(memory.x, 2, 3))
    before, after = by_trajectory(1 - last, memory.hidden), by_trajectory(last, memory.hidden)
    return jax.vmap(lambda *seen: network.latent(0, *seen))(before, after, (x,))


def _matrices(folded: Folded) -> Matrices:
    stage, first = folded.edge_stage, folded.first
    edge, num_features = jnp.concatenate(stage.edge, axis=1), len(first) - stage.hidden
    hidden_edge = second = None
    end = edge.shape[1] + stage.hidden  # of the columns of k
    if stage.hidden_edge is not None:
        of_layer = jnp.arange(first.shape[1]) < 2 * stage.hidden_edge.shape[1]
        first = jnp.where(of_layer, HALF_SCALE * first, first)
        hidden_edge = stage.hidden_edge.astype(jnp.float16)
        second = (jnp.concatenate(stage.second, axis=1) / HALF_SCALE).astype(jnp.float16)
        end += 2 * len(second)
    return Matrices(
        hidden=_bfloat16_parts(first[num_features:, :end]),
        hidden_y=first[num_features:, end:].T,
        x=first[:num_features],
        update=_bfloat16_parts(folded.update[:, : stage.hidden]),
        update_y=folded.update[:, stage.hidden :].T,
        edge=edge,
        hidden_edge=hidden_edge,
        second=second,
    )


def _bfloat16_parts(matrix: Float[Array, "a b"]) -> Float[Array, "2 a b"]:
    # Not a cast back and forth, which XLA may remove.
    high = jax.lax.reduce_precision(matrix, exponent_bits=8, mantissa_bits=7)
    return jnp.stack([high, matrix - high]).astype(jnp.bfloat16)
