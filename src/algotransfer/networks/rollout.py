"""`rollout`: run a network step by step, teacher-forced, sampled or free.

The mode of each algorithm is its `Driver`: the initial state, the teacher's states, the noise of
sampled choices, and the number of steps.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.state import State
from algotransfer.networks.executor import Executor
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Layout

Tree = TypeVar("Tree")


class Driver(eqx.Module):
    """How one algorithm of a rollout moves from step to step.

    **Arguments:**

    - `start`: the initial state.
    - `steps`: how many steps it runs; afterwards its state and latent stay as they are.
    - `teacher`: the true state of every step, or None to go on from the network's own.
    - `noise`: Gumbel noise that samples the next node; None takes the arg-max.
    - `detached_steps`: no gradient flows into this many steps at the beginning.
    - `carry_all`: whether every node's key is updated, or only those that the algorithm would
        update: the chosen node's (sequential) or those of reached nodes (parallel).
    """

    start: State
    steps: Int[Array, ""]
    teacher: State | None = None
    noise: Float[Array, "steps n"] | None = None
    detached_steps: Int[Array, ""] | None = None
    carry_all: bool = eqx.field(static=True, default=False)


class Outcome(eqx.Module):
    """The end of a rollout: each algorithm's last state and latent, and what `emit` kept."""

    states: tuple[State | None, ...]
    latents: tuple[Latent | None, ...]
    emitted: Any


Emit = Callable[[tuple[State, ...], tuple[Latent, ...], tuple[State, ...]], Any]


def rollout(
    network: Executor,
    layout: Layout,
    drivers: tuple[Driver, ...],
    num_steps: int,
    emit: Emit = lambda before, latents, after: None,
) -> Outcome:
    """Run all algorithms of a network in lockstep.

    **Arguments:**

    - `num_steps`: length of the scan; at least the largest `steps` of the drivers.
    - `emit`: `(states stepped from, latents, states stepped to) -> what to keep of this step`.

    **Returns:** the `Outcome`; states and latents are None for algorithms with a teacher.
    """
    algorithms = network.algorithms

    def step(carry, now):
        t, learns, teachers, noises = now
        memory, states, latents = carry
        memory, before = detach(learns, (memory, stepped_from(states, teachers)))
        inputs = node_features(algorithms, before)
        new_memory, new_latents = network.process(inputs, memory, layout)

        after, ends = [], []
        for task, driver in enumerate(drivers):
            if driver.teacher is not None:
                after.append(None)
                ends.append(None)
                continue
            y = network.decode(task, new_latents[task])
            moved = algorithms[task].framework.advance(
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
    features = node_features(algorithms, tuple(driver.start for driver in drivers))
    _, shapes = jax.eval_shape(lambda: network.process(features, memory, layout))
    latents = tuple(
        None if d.teacher is not None else jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), like)
        for d, like in zip(drivers, shapes, strict=True)
    )
    per_step = (
        jnp.arange(num_steps),
        learning_steps(drivers, num_steps),
        tuple(d.teacher for d in drivers),
        tuple(d.noise for d in drivers),
    )
    (_, states, latents), emitted = lax.scan(step, (memory, states, latents), per_step)
    return Outcome(states, latents, emitted)


def learning_steps(drivers: tuple[Driver, ...], num_steps: int) -> Bool[Array, " steps"] | None:
    """The steps that pass gradients on to the step before; None if all do."""
    detached = [d.detached_steps for d in drivers if d.detached_steps is not None]
    if not detached:
        return None
    return jnp.arange(num_steps) > jnp.max(jnp.stack(detached))


def detach(learns: Bool[Array, "*steps"] | None, carry: Tree) -> Tree:
    """Stop the gradients of a carry, or of the carries of all steps, where a step is detached."""
    if learns is None:
        return carry

    def stop(leaf):
        condition = learns.reshape(learns.shape + (1,) * (leaf.ndim - learns.ndim))
        return jnp.where(condition, leaf, lax.stop_gradient(leaf))

    return jax.tree.map(stop, carry)


def choose(condition: Bool[Array, ""], new: Tree, old: Tree) -> Tree:
    """Select one of two pytrees by a scalar condition."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), new, old)


def stepped_from(states, teachers) -> tuple[State, ...]:
    """Return the teacher's state where there is one, else the network's own."""
    both = zip(states, teachers, strict=True)
    return tuple(state if teacher is None else teacher for state, teacher in both)


def node_features(algorithms: tuple[Algorithm, ...], states: tuple[State, ...]):
    """Return the node features x of every algorithm in its state."""
    return tuple(a.framework.features(s) for a, s in zip(algorithms, states, strict=True))
