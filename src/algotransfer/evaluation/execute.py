"""`execute`: run a trained network on a user's graph and compare with the true answer."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm, run
from algotransfer.algorithms.run import check_structure, check_weights
from algotransfer.errors import UserError, shown
from algotransfer.evaluation.halting import (
    WITHOUT_READING,
    check_halt,
    default_halt,
    needs_steps,
    read_at,
)
from algotransfer.evaluation.harness import FreeRun, target_only
from algotransfer.evaluation.horizon import training_horizon
from algotransfer.evaluation.paths import follow, worse_predecessors
from algotransfer.evaluation.training_range import fit_graphs, infinity_without_answer
from algotransfer.graphs import GraphLike, to_named_graph
from algotransfer.limits import FLOAT32_RANGE, MAX_STEPS, is_positive
from algotransfer.training.examples import tasks_of
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model, load_model


@dataclass(frozen=True, repr=False)
class Answer:
    """The answers of a network and of the algorithm for one graph.

    Keys are in the units of the graph's weights (`dfs`: divided by the number of nodes). A node
    that the algorithm does not reach has −1 as its true predecessor.

    **Arguments:**

    - `steps`: the step after which the network's answer was read.
    - `infinity`: what stood for ∞.
    - `weight_factor`: what weights were multiplied by for the network.
    - `names`: the nodes, as the graph names them; `key`, `pred` and the others are in this order.
    - `worse`: the reached nodes whose predecessor is not the algorithm's and not as good.
    """

    algorithm: Algorithm
    seed: int
    steps: int
    infinity: float
    weight_factor: float
    names: tuple[Hashable, ...]
    key: Float[np.ndarray, " n"]
    pred: Int[np.ndarray, " n"]
    true_key: Float[np.ndarray, " n"]
    true_pred: Int[np.ndarray, " n"]
    worse: Bool[np.ndarray, " n"]

    def __repr__(self) -> str:
        return (
            f"<Answer of {self.algorithm.name} on {len(self.names)} nodes, read after {self.steps} "
            f"steps: {self.wrong.sum()} of {self.reached.sum()} predecessors differ from the "
            f"algorithm's, {self.worse.sum()} of them worse>"
        )

    @property
    def reached(self) -> np.ndarray:
        """The nodes that the algorithm reaches."""
        return self.true_pred >= 0

    @property
    def wrong(self) -> np.ndarray:
        """The reached nodes whose predecessor is not the algorithm's, equally good ones too."""
        return self.reached & (self.pred != self.true_pred)


def execute(
    model: str | Path | Model,
    graph: GraphLike,
    *,
    source: Hashable = None,
    seed: int | None = None,
    steps: int | None = None,
    infinity: float | None = None,
    halt: str | None = None,
) -> Answer:
    """Run a trained network free on a graph, without any knowledge of the answer.

    Weights outside the range of the training graphs are rescaled for the network if the answer
    does not depend on their scale, and keys are scaled back.

    **Arguments:**

    - `model`: a model, its name (see `list_models`), a run folder or a weights file.
    - `graph`: a single graph: a `Graph`, a networkx graph, a scipy sparse matrix, a `Data` of
        PyTorch Geometric, or the path of a graph file.
    - `source`: node from which to start, or its index; by default the source that the graph has,
        or the first node.
    - `seed`: which of the model's networks; by default the first that did not diverge.
    - `steps`: read the answer after this many steps; by default `halt` decides.
    - `infinity`: what stands for ∞, in the units of the keys; by default the largest key along
        paths with the fewest edges, plus one in the network's units.
    - `halt`: when the answer of a network that learned from answers alone is read: `horizon`,
        `settled`, or `told` (after as many steps as there are nodes). By default `told` for relax
        and for training with extra steps, otherwise `horizon`.

    **Returns:** the network's `Answer`, with the true one.
    """
    model = load_model(model)
    named = to_named_graph(graph, source)
    graph = named.graph
    seed = healthy_seed(model) if seed is None else seed
    if infinity is not None and not is_positive(infinity):
        raise UserError(f"infinity={shown(infinity)}; expected a number above 0, {FLOAT32_RANGE}")
    networks = jax.tree.map(lambda leaf: np.asarray(leaf)[None], model.network(seed))
    networks, tasks = target_only(networks, tasks_of(model.experiment))
    target = tasks[-1]
    halt, steps = _rule_and_steps(model, target, halt, steps, graph.num_nodes)

    algorithm = target.algorithm
    check_structure(algorithm, graph)
    check_weights(algorithm, graph, named.names)
    batch = jax.tree.map(np.asarray, graph)[None]
    truth = run(algorithm, batch, record="final")
    true_key, true_pred = np.asarray(truth.final_key), np.asarray(truth.final_pred)

    fitted, weight_factor, key_factor = fit_graphs(model, batch)
    if infinity is None:
        stand_ins = infinity_without_answer(model, tasks, fitted)
    else:
        stand_ins = [infinity * key_factor] * len(tasks)
    free_run = FreeRun.untold(networks, tasks, stand_ins, steps)
    record = "steps" if needs_steps(halt, target) else "last"
    execution = free_run.run(fitted, np.array([0]), record)
    execution = jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[0, 0], execution))
    if halt not in WITHOUT_READING:
        execution, step = read_at(halt, execution, steps, steps)
        steps = int(step)
    key, pred = target.supervision.final_answer(algorithm, execution)
    pred = np.asarray(pred)
    paths = follow(algorithm, batch, pred[None])
    return Answer(
        algorithm=algorithm,
        seed=seed,
        steps=steps,
        infinity=float(stand_ins[-1][0] / key_factor[0]),
        weight_factor=float(weight_factor[0]),
        names=named.names,
        key=np.asarray(key) / key_factor,
        pred=pred,
        true_key=true_key[0] / np.float32(algorithm.unit(graph.num_nodes)),
        true_pred=true_pred[0],
        worse=worse_predecessors(algorithm, paths, pred[None], true_key, true_pred)[0],
    )


def _rule_and_steps(
    model: Model, target: Task, halt: str | None, steps: int | None, num_nodes: int
) -> tuple[str, int]:
    """Return the halting rule and the number of steps to run; `halt` and `steps` may be None."""
    if steps is not None and not 1 <= steps <= MAX_STEPS:
        raise UserError(f"steps={steps}; expected 1 to {MAX_STEPS:,}")
    if halt is None:
        halt = "told" if steps else default_halt(model, target)
    elif steps is not None and halt in ("told", "horizon"):
        raise UserError(
            f"steps={steps} and halt={halt!r} both say when the answer is read; give one of them"
        )
    check_halt(halt, target)
    if steps is None:
        steps = training_horizon(model) if halt == "horizon" else num_nodes
    return halt, steps


def healthy_seed(model: Model) -> int:
    """Return the first of a model's seeds whose training did not diverge."""
    healthy = [s for s, bad in zip(model.seeds, model.diverged, strict=True) if not bad]
    if not healthy:
        raise UserError("every seed of this model diverged; name one with `seed` to run it anyway")
    return healthy[0]
