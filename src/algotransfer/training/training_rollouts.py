"""Rollouts of training: the latents that losses read, computed the fastest way available."""

import os
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from algotransfer.algorithms.state import State
from algotransfer.devices import has_tf32
from algotransfer.networks import Dense, Driver, Executor, Latent, Layout, rollout
from algotransfer.networks.deferred_gradients import scan_with_deferred_gradients
from algotransfer.networks.executor import FoldableExecutor
from algotransfer.networks.rollout import (
    choose,
    detach,
    learning_steps,
    node_features,
    stepped_from,
)

KERNELS_UP_TO = 30  # nodes
SWITCH = "ALGOTRANSFER_KERNELS"  # set to 0 to disable the kernels


def kernels_run() -> bool:
    """Whether small graphs run on GPU kernels."""
    return has_tf32() and os.environ.get(SWITCH) != "0"


def training_layout(network: Executor, layout: Layout) -> Layout:
    """The layout in which a network's rollouts and losses are fastest."""
    if not isinstance(layout, Dense) or layout.num_nodes > KERNELS_UP_TO:
        return layout
    kernels = isinstance(network, FoldableExecutor) and network.can_fold and kernels_run()
    return layout.with_neighbours() if kernels else layout


def training_latents(
    network: Executor,
    layout: Layout,
    drivers: tuple[Driver, ...],
    num_steps: int,
) -> tuple[Latent, ...]:
    """Return all latents of algorithms with a teacher, and the last latent of the others."""
    if isinstance(network, FoldableExecutor) and network.can_fold:
        return folded_latents(network, layout, drivers, num_steps)
    return plain_latents(network, layout, drivers, num_steps)


def sampled_latents(
    network: Executor,
    layout: Layout,
    driver_of: Callable[[Float[Array, "steps n"]], Driver],
    noise: Float[Array, "trajectories steps n"],
) -> Latent:
    """Return the last latent of every trajectory of one algorithm.

    No gradient is needed, and the kernel for trajectories rounds products. `driver_of` takes the
    noise of a trajectory.
    """
    driver = driver_of(noise[0])
    if isinstance(layout, Dense) and layout.neighbours is not None:
        # Imported here because Pallas takes long to import, and only GPUs need it.
        from algotransfer.networks.trajectory_kernel import fits, kernel_latents

        assert isinstance(network, FoldableExecutor)  # see `training_layout`
        if fits(network, driver):
            return kernel_latents(network, layout, driver, noise)

    def one(noise):
        return training_latents(network, layout, (driver_of(noise),), len(noise))[0]

    return jax.vmap(one)(noise)


def plain_latents(
    network: Executor, layout: Layout, drivers: tuple[Driver, ...], num_steps: int
) -> tuple[Latent, ...]:
    """`training_latents` by the network's plain steps: the reference of all faster paths."""
    taught = [driver.teacher is not None for driver in drivers]

    def emit(before, latents, after):
        return tuple(latent if t else None for latent, t in zip(latents, taught, strict=True))

    outcome = rollout(network, layout, drivers, num_steps, emit)
    found = (outcome.emitted[k] if t else outcome.latents[k] for k, t in enumerate(taught))
    return tuple(latent for latent in found if latent is not None)


def _pad(matrix: Float[Array, "n d"], rows: int, columns: int) -> Float[Array, "_ _"]:
    return jnp.pad(matrix, [(0, rows), (0, columns)])


class _Carry(eqx.Module):
    hidden: Float[Array, "*steps n h"]
    states: tuple[State | None, ...]  # of algorithms without a teacher


class _Input(eqx.Module):
    learns: Bool[Array, "*steps"] | None
    running: Bool[Array, "*steps"]
    active: tuple[Bool[Array, "*steps"], ...]
    teachers: tuple[State | None, ...]
    noises: tuple[Float[Array, "*steps n"] | None, ...]


def folded_latents(
    network: FoldableExecutor,
    layout: Layout,
    drivers: tuple[Driver, ...],
    num_steps: int,
) -> tuple[Latent, ...]:
    """`training_latents` with folded weights: a few large products instead of many small ones."""
    if network.independent and len(drivers) > 1:
        each = [
            folded_latents(network.for_task(k), layout, (driver,), num_steps)
            for k, driver in enumerate(drivers)
        ]
        return tuple(latent for (latent,) in each)
    algorithms = network.algorithms
    free = tuple(driver.teacher is None for driver in drivers)
    carry_all = tuple(driver.carry_all for driver in drivers)
    folded = network.fold(free)
    # Zero-pad to multiples of four, the sizes that GPUs multiply at full speed.
    rows, columns = (-size % 4 for size in folded.first.shape)
    layout = network.folded_layout(layout)

    def step(linear, edge_stage, layout, carry: _Carry, now: _Input) -> _Carry:
        before = stepped_from(carry.states, now.teachers)
        old_hidden, before = detach(now.learns, (carry.hidden, before))
        x = node_features(algorithms, before)
        inputs = _pad(jnp.concatenate([*x, old_hidden], axis=-1), 0, rows)
        hidden, y = edge_stage.step(inputs, layout, linear)
        states, used = [], 0
        for k, algorithm in enumerate(algorithms):
            if not free[k]:
                states.append(None)
                continue
            width = algorithm.framework.num_outputs
            own = y[:, used : used + width]
            used += width
            moved = algorithm.framework.advance(
                algorithm, layout, before[k], own, now.noises[k], carry_all[k]
            )
            states.append(choose(now.active[k], moved, before[k]))
        return _Carry(choose(now.running, hidden, carry.hidden), tuple(states))

    t = jnp.arange(num_steps)
    inputs = _Input(
        learning_steps(drivers, num_steps),
        t < jnp.max(jnp.stack([driver.steps for driver in drivers])),
        tuple(t < driver.steps for driver in drivers),
        tuple(driver.teacher for driver in drivers),
        tuple(driver.noise for driver in drivers),
    )
    start = _Carry(
        jnp.zeros((layout.num_nodes, folded.edge_stage.hidden)),
        tuple(driver.start if f else None for driver, f in zip(drivers, free, strict=True)),
    )
    matrices = (_pad(folded.first, rows, columns), _pad(folded.update, 0, columns))
    stage = folded.edge_stage
    ran: Any = scan_with_deferred_gradients(step, matrices, stage, layout, inputs, start)
    carries, end = ran

    before = carries.hidden
    after = jnp.concatenate([before[1:], end.hidden[None]])
    inputs_of_steps = stepped_from(carries.states, tuple(driver.teacher for driver in drivers))
    before, inputs_of_steps = detach(inputs.learns, (before, inputs_of_steps))
    x = node_features(algorithms, inputs_of_steps)
    latents = []
    for k, driver in enumerate(drivers):
        seen = (before, after, x)
        if free[k]:  # only its last step, if it runs at all
            last = driver.steps - 1
            seen = jax.tree.map(lambda a, last=last: jnp.where(last < 0, 0.0, a[last]), seen)
        latents.append(network.latent(k, *seen))
    return tuple(latents)
