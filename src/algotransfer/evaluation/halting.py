"""Halting rules: after which step the answer of a free-running network is read.

A rule maps the recorded steps of one graph to a number of steps. Rules apply to networks that
learned from answers alone; a network taught by steps predicts its own termination.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from algotransfer.algorithms.frameworks.comparison import first_stop
from algotransfer.errors import UserError
from algotransfer.evaluation.harness import Execution
from algotransfer.evaluation.registry import HALTING_RULES
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model

PATIENCE = 5  # steps without a changed pointer after which an answer counts as settled

# Rules for which nothing is read from recorded steps: two know the number of steps before the run,
# and networks that predict termination have their own final answer.
WITHOUT_READING = ("told", "horizon", "termination")

# (all steps of one graph, the algorithm's number of steps, the longest training rollout)
HaltingRule = Callable[[Execution, Int[Array, ""], int], Int[Array, ""]]


def told(execution: Execution, length: Int[Array, ""], horizon: int) -> Int[Array, ""]:
    """Read after the algorithm's true number of steps, as the paper does."""
    return length


def at_horizon(execution: Execution, length: Int[Array, ""], horizon: int) -> Int[Array, ""]:
    """Read after as many steps as the longest training rollout had."""
    return jnp.int32(horizon)


def settled(execution: Execution, length: Int[Array, ""], horizon: int) -> Int[Array, ""]:
    """Read at the first step at which no pointer has changed for `PATIENCE` steps."""
    assert execution.pointer is not None
    changed = jnp.any(execution.pointer[1:] != execution.pointer[:-1], axis=-1)  # [steps - 1]
    num_steps = execution.pointer.shape[0]
    step = jnp.arange(2, num_steps + 1)
    last_change = jax.lax.cummax(jnp.where(changed, step, 1))
    quiet = step - last_change >= PATIENCE
    return jnp.where(jnp.any(quiet), step[jnp.argmax(quiet)], num_steps)


def termination(execution: Execution, length: Int[Array, ""], horizon: int) -> Int[Array, ""]:
    """Read at the first step whose termination probability exceeds one half."""
    assert execution.stop is not None
    return first_stop(execution.stop)


def check_halt(halt: str, target: Task) -> None:
    """Raise a `UserError` unless a network with this target can be read by a rule."""
    HALTING_RULES.check(halt)
    answers_alone = target.supervision.told_steps
    if halt != "told" and answers_alone == (halt == "termination"):
        trained = "from answers alone" if answers_alone else "with teacher forcing"
        rules = "choose told, horizon or settled"
        if not answers_alone:
            rules = "it predicts its own termination, so leave halt out"
        raise UserError(f"halt={halt!r} for a network trained {trained}; {rules}")


def needs_steps(halt: str, target: Task) -> bool:
    """Return whether every step must be recorded to read the answer."""
    return not target.supervision.told_steps or halt not in WITHOUT_READING


def default_halt(model: Model, target: Task) -> str:
    """Return the rule for networks that are told nothing, chosen on validation graphs.

    `told` then stands for as many steps as there are nodes.
    """
    if not target.supervision.told_steps:
        return "termination"
    keeps_answer = model.networks.keeps_answer or model.experiment.extra_steps
    return "told" if keeps_answer else "horizon"


def read_at(
    halt: str, execution: Execution, length: Int[Array, ""] | int, horizon: int
) -> tuple[Execution, Int[Array, ""]]:
    """Reduce the recorded steps of one graph to the one that a rule reads.

    **Returns:** an `Execution` of a single step, and the number of that step.
    """
    assert execution.pointer is not None
    assert execution.key is not None
    step = HALTING_RULES[halt](execution, jnp.asarray(length), horizon)
    step = jnp.clip(step, 1, execution.pointer.shape[0])
    key, pointer = execution.key[step - 1], execution.pointer[step - 1]
    return Execution(key=key[None], pointer=pointer[None]), step
