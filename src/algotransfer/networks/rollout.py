"""One scan for every mode: teacher forcing, sampled trajectories, and free-running execution.

The mode of an algorithm is its `Driver`: what it starts from, whether a teacher gives the state of
every step, the noise with which it samples, and how many steps it runs. Nothing else differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from algotransfer.algorithms import Algorithm
from algotransfer.errors import UserError
from algotransfer.networks.checks import check_number, check_shape
from algotransfer.networks.executor import Executor
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Layout

Tree = TypeVar("Tree")
MAX_STEPS = 10_000_000  # ten times the nodes of the largest graph


class State(eqx.Module):
    """The state of an algorithm as the network sees it: the algorithm's own, nothing hidden.

    `visited` holds 0 or 1 (a number, since samples are differentiated through). For a parallel
    algorithm it holds the nodes reached so far.
    """

    key: Float[Array, "*steps n"]
    visited: Float[Array, "*steps n"]


class Driver(eqx.Module):
    """How one algorithm moves from step to step.

    **Arguments:**

    - `start`: the initial state.
    - `steps`: how many steps it runs; afterwards its state and latent stay as they are.
    - `teacher`: the true state of every step, or None to go on from the network's own.
    - `noise`: Gumbel noise with which the next node is sampled; None takes the arg-max.
    - `carry_all`: whether every node's key is updated (no algorithm), or only the chosen node's
        (a sequential algorithm) or those of the nodes reached (a parallel one).
    """

    start: State
    steps: Int[Array, ""]
    teacher: State | None = None
    noise: Float[Array, "steps n"] | None = None
    carry_all: bool = eqx.field(static=True, default=False)


class Outcome(eqx.Module):
    """Where a rollout ended: for each algorithm its last state and latent; and what was emitted."""

    states: tuple[State | None, ...]
    latents: tuple[Latent | None, ...]
    emitted: Any


Emit = Callable[[tuple[State, ...], tuple[Latent, ...], tuple[State, ...]], Any]


def features(algorithm: Algorithm, state: State) -> Float[Array, "*steps n f"]:
    """x = [visited, key] for a sequential algorithm, [key] for a parallel one."""
    columns = [state.visited, state.key] if algorithm.sequential else [state.key]
    return jnp.stack(columns, axis=-1)


def rollout(
    network: Executor,
    layout: Layout,
    drivers: tuple[Driver, ...],
    num_steps: int,
    emit: Emit = lambda before, latents, after: None,
) -> Outcome:
    """Runs all algorithms of a network in lockstep.

    **Arguments:**

    - `num_steps`: length of the scan; at least the largest `steps` of the drivers.
    - `emit`: `(states stepped from, latents, states stepped to) -> what to keep of this step`.

    **Returns:** the `Outcome`; states and latents are None for algorithms with a teacher.
    """
    algorithms = network.algorithms
    check_number("num_steps", num_steps, 1, MAX_STEPS)
    _check_drivers(drivers, len(algorithms), num_steps, layout.num_nodes)

    def step(carry, now):
        t, teachers, noises = now
        memory, states, latents = carry
        before = tuple(
            state if teacher is None else teacher
            for state, teacher in zip(states, teachers, strict=True)
        )
        inputs = tuple(features(a, s) for a, s in zip(algorithms, before, strict=True))
        new_memory, new_latents = network.process(inputs, memory, layout)

        after, ends = [], []
        for task, driver in enumerate(drivers):
            if driver.teacher is not None:
                after.append(None)
                ends.append(None)
                continue
            y = network.decode(task, new_latents[task])
            moved = advance(
                algorithms[task], layout, before[task], y, noises[task], driver.carry_all
            )
            active = t < driver.steps
            after.append(choose(active, moved, states[task]))
            ends.append(choose(active, new_latents[task], latents[task]))

        running = t < jnp.max(jnp.stack([driver.steps for driver in drivers]))
        memory = choose(running, new_memory, memory)
        return (memory, tuple(after), tuple(ends)), emit(before, new_latents, tuple(after))

    states = tuple(None if d.teacher is not None else d.start for d in drivers)
    memory = network.start(layout)
    _, shapes = jax.eval_shape(
        lambda: network.process(
            tuple(features(a, d.start) for a, d in zip(algorithms, drivers, strict=True)),
            memory,
            layout,
        )
    )
    latents = tuple(
        None if d.teacher is not None else jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), like)
        for d, like in zip(drivers, shapes, strict=True)
    )
    per_step = (
        jnp.arange(num_steps),
        tuple(d.teacher for d in drivers),
        tuple(d.noise for d in drivers),
    )
    (_, states, latents), emitted = lax.scan(step, (memory, states, latents), per_step)
    return Outcome(states, latents, emitted)


def _check_drivers(
    drivers: tuple[Driver, ...], num_algorithms: int, num_steps: int, num_nodes: int
) -> None:
    if len(drivers) != num_algorithms:
        raise UserError(
            f"{len(drivers)} drivers for a network of {num_algorithms} algorithms; expected one "
            "for each"
        )
    for driver in drivers:
        for leaf in jax.tree.leaves(driver.start):
            check_shape("the start of a driver", leaf, (num_nodes,))
        check_shape("the steps of a driver", driver.steps, ())
        for what, given in (("teacher", driver.teacher), ("noise", driver.noise)):
            for leaf in jax.tree.leaves(given):
                check_shape(f"the {what} of a driver", leaf, (num_steps, num_nodes))


def advance(
    algorithm: Algorithm,
    layout: Layout,
    state: State,
    y: Float[Array, "n y"],
    noise: Float[Array, " n"] | None,
    carry_all: bool,
) -> State:
    """The next state from the network's own outputs; reads nothing of the truth."""
    if not algorithm.sequential:
        key = (y[:, 0] > 0).astype(y.dtype) if algorithm.binary else y[:, 0]
        if carry_all:
            return State(key, state.visited)
        reached = layout.reach(state.visited > 0.5)
        return State(jnp.where(reached, key, state.key), reached.astype(y.dtype))

    open_nodes = state.visited < 0.5
    some = jnp.any(open_nodes)
    logits = y[:, 0] if noise is None else y[:, 0] + noise
    logits = jnp.where(open_nodes | ~some, logits, -jnp.inf)
    chosen = jnp.arange(len(logits)) == jnp.argmax(logits)
    choice = chosen.astype(y.dtype)
    if noise is not None:
        # Straight-through: the sample forwards, the softmax backwards.
        soft = jax.nn.softmax(logits)
        choice = soft + lax.stop_gradient(choice - soft)
    key = y[:, 1] if carry_all else jnp.where(chosen, y[:, 1], state.key)
    return choose(some, State(key, state.visited + choice), state)


def choose(condition: Bool[Array, ""], new: Tree, old: Tree) -> Tree:
    """One of two pytrees."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), new, old)
