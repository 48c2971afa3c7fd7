"""Measure in which order networks find predecessors, and whether they need the nodes they visit.

    python studies/execution_order.py measure  # the measurements of `studies/execution_order.md`
    python studies/execution_order.py compare  # what the protocol asks for, and the figure

The networks are committed; nothing is trained.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas
from jax import lax
from later_steps import GRAPHS, NODES, RUNS, STEP
from matplotlib.figure import Figure
from rich.progress import track
from seeds import spread

from algotransfer import Dataset, load_model, make_dataset, run
from algotransfer.algorithms.frameworks.sequential import pointer_when_chosen
from algotransfer.algorithms.state import State
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.draw import save_figure
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.evaluation.harness import best_predecessors
from algotransfer.evaluation.references import lightest_edge
from algotransfer.networks import make_layouts
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model

NETWORKS = {  # a folder of `RUNS`, or a name that `load_model` knows
    "NE++": "extra_steps/none/ne++-dijkstra-na",
    "NE++, random extra steps": "extra_steps/random10/ne++-dijkstra-na-extra10",
    "NE++, mixed sizes": "transfer_grid/ne++-dijkstra-na",
    "NE, mixed sizes": "transfer_grid/ne-dijkstra-na",
    "relax": "relax-dijkstra",
    "NE++ on Bellman–Ford": "ne++-bellman_ford-na",
    "NE++, with Dijkstra's steps": "ne++-dijkstra-tf",
}
TRACES = {"Dijkstra": "dijkstra", "Bellman–Ford": "bellman_ford"}  # controls
COLOURS = dict.fromkeys(NETWORKS, "#0072b2") | {"Dijkstra": "black", "Bellman–Ford": "#d55e00"}
RULES = ("own", "true", "random", "none")
CLASSES = ("both", "parallel only", "neither")
MIN_HOPS, MIN_GAP, LAST = 3, 5, 18  # of the nodes that wait for Dijkstra's algorithm
OFFSETS = range(-7, 3)  # steps before and after Dijkstra's algorithm has the answer
TABLE = Path("results/execution-order.csv")
COMPARISON = Path("results/execution-order.json")
PICTURE = Path("docs/images/execution_order.png")


@partial(jax.jit, static_argnames=("task", "num_steps"))
def execute(networks, graphs, infinity, marks, task, num_steps):
    """Return predecessors and visited nodes by seed, graph and step.

    **Arguments:**

    - `marks`: nodes marked as visited before the first step and after every step, by graph; a
        step visits the node that is marked after it. None for the network's own.
    """
    algorithm, framework = task.algorithm, task.algorithm.framework

    def one(network, layout, source, infinity, marks):
        state = algorithm.start(source, layout.num_nodes, infinity)
        driver = task.supervision.free_driver(algorithm, state, jnp.int32(num_steps))

        def step(carry, marked):
            memory, state = carry
            choice = None
            if marked is not None:
                before, after = marked
                state = State(state.key, before.astype(state.visited.dtype))
                choice = jnp.where(after & ~before, 1e9, 0.0)  # added to the next-node logits
            features = (framework.features(state),)
            memory, (latent,) = network.process(features, memory, layout)
            y = network.decode(0, latent)
            allowed = None
            if not driver.carry_all:
                allowed = framework.allowed_predecessors(layout, state, source)
            pointer = best_predecessors(network, 0, latent, layout, allowed)
            now = framework.advance(algorithm, layout, state, y, choice, driver.carry_all)
            return (memory, now), (pointer, jnp.argmax(now.visited - state.visited))

        steps = None if marks is None else (marks[:-1], marks[1:])
        return lax.scan(step, (network.start(layout), state), steps, length=num_steps)[1]

    with jax.default_matmul_precision("float32"):
        layouts = make_layouts(graphs, networks.kinds, "sparse")
        on_graphs = jax.vmap(one, in_axes=(None, 0, 0, 0, None if marks is None else 0))
        return jax.vmap(on_graphs, in_axes=(0, None, None, None, None))(
            networks, layouts, jnp.asarray(graphs.source), infinity, marks
        )


def first_steps(pred) -> np.ndarray:
    """Return the first step from which every reached node but the source has its predecessor."""
    right = pred == pred[:, -1:]  # [graphs, steps, nodes]; not right at step 0
    return right.shape[1] - np.argmin(right[:, ::-1], axis=1)


def marks_of(rule: str, visited) -> np.ndarray | None:
    """Return the marks that a rule gives to the network, in place of the algorithm's `visited`."""
    if rule == "own":
        return None
    if rule == "none":
        return np.zeros_like(visited)
    if rule == "random":
        random = np.random.default_rng(0)
        order = np.stack([random.permutation(visited.shape[-1]) for _ in visited])
        return np.take_along_axis(visited, order[:, None], axis=-1)
    return visited


class Truth(NamedTuple):
    """What both algorithms do on a dataset.

    **Arguments:**

    - `pred`: final predecessors, by graph and node.
    - `counted`: reached nodes but the source.
    - `parallel`, `sequential`: the first step from which either algorithm has the answer.
    - `visited`: nodes visited by Dijkstra's algorithm before every step.
    - `last`: index of the last step of Dijkstra's algorithm, by graph.
    - `guess`: errors of the lightest edge, by graph and node.
    """

    pred: np.ndarray
    counted: np.ndarray
    parallel: np.ndarray
    sequential: np.ndarray
    visited: np.ndarray
    last: np.ndarray
    guess: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> Truth:
        trace, parallel = (run(name, dataset.graphs) for name in TRACES.values())
        pred, by_parallel = np.asarray(trace.pred), np.asarray(parallel.pred)
        final = pred[:, -1]
        np.testing.assert_array_equal(final, by_parallel[:, -1])
        return cls(
            pred=final,
            counted=(final >= 0) & (final != np.arange(final.shape[-1])),
            parallel=first_steps(by_parallel),
            sequential=first_steps(pred),
            visited=np.asarray(trace.visited),
            last=np.asarray(trace.length) - 1,
            guess=lightest_edge(dataset.graphs) != final,
        )


def measure(model: Model, dataset: Dataset, truth: Truth) -> list[tuple]:
    """Return rows (seed, rule, quantity, step, value) of both measurements."""
    batch = EvaluationBatch.prepare(model, dataset.graphs)
    task, graphs = batch.target, jax.tree.map(jnp.asarray, dataset.graphs)
    every, reached = np.arange(len(graphs)), truth.pred >= 0
    rows = []
    for rule in rules_of(task):
        marks = marks_of(rule, truth.visited)
        outputs = execute(batch.run.networks, graphs, batch.run.infinity[0], marks, task, NODES)
        found, chosen = map(np.asarray, outputs)
        if task.supervision.told_steps:
            moments = {"step 20": np.minimum(STEP - 1, truth.last), "end": truth.last}
            answers = {name: found[:, every, step] for name, step in moments.items()}
        else:
            answers = {"end": np.asarray(when_chosen(found, chosen))}
        for quantity, answer in answers.items():
            error = ((answer != truth.pred) & reached).sum(-1) / reached.sum(-1)
            families = [error[:, dataset.family == name].mean(1) for name in dataset.families]
            for seed, value in zip(model.seeds, np.mean(families, axis=0), strict=True):
                rows.append((seed, rule, quantity, None, value))
        if rule == "own":
            for seed, pointers in zip(model.seeds, found, strict=True):
                rows += [(seed, rule, *row) for row in order_rows(pointers, truth)]
    return rows


when_chosen = jax.vmap(jax.vmap(pointer_when_chosen))  # over seeds and graphs


def rules_of(task: Task) -> tuple[str, ...]:
    """Return the rules for marks that a network can follow."""
    if not task.algorithm.sequential:
        return ("own",)
    return RULES if task.supervision.told_steps else ("own", "true", "random")


def order_rows(pointers, truth: Truth) -> list[tuple]:
    """Return rows (quantity, step, value) of the predecessors after every step, from the first."""
    rows = []
    wrong, counted = pointers != truth.pred[:, None], truth.counted
    parallel, sequential = truth.parallel, truth.sequential
    members = (
        counted & (sequential <= STEP),
        counted & (parallel <= STEP) & (sequential > STEP),
        counted & (parallel > STEP),
    )
    for name, member in zip(CLASSES, members, strict=True):
        rows.append((f"nodes, {name}", STEP, member.sum()))
        rows.append((f"error, {name}", STEP, wrong[:, STEP - 1][member].mean()))
        rows.append((f"guess, {name}", STEP, truth.guess[member].mean()))

    waits = counted & (parallel >= MIN_HOPS) & (sequential >= parallel + MIN_GAP)
    graph, node = np.nonzero(waits & (sequential <= LAST))

    def error(step):
        return wrong[graph, step[graph, node] - 1, node].mean()

    rows.append(("nodes, waiting", None, len(node)))
    rows.append(("guess, waiting", None, truth.guess[graph, node].mean()))
    rows.append(("before", None, error(parallel - 2)))
    rows.append(("paced", None, error(parallel + 1)))
    rows += [("waiting", offset, error(sequential + offset)) for offset in OFFSETS]
    return rows


def compare(table: pandas.DataFrame) -> dict:
    """Return the quantities of the protocol, by network."""
    return {
        name: order_of(rows[rows["rule"] == "own"]) | marks_matter(rows)
        for name, rows in table.groupby("network", sort=False)
    }


def order_of(rows: pandas.DataFrame) -> dict:
    """Return the errors of a network by class of nodes, and when it finds the answers."""
    waiting = rows[rows["quantity"] == "waiting"].pivot(
        index="seed", columns="step", values="value"
    )
    others = rows[rows["quantity"] != "waiting"].pivot(
        index="seed", columns="quantity", values="value"
    )
    counts, guess = (others.filter(like=name).iloc[0] for name in ("nodes", "guess"))
    fall = others["before"] - waiting[2]
    ahead = (others["before"] - waiting[-1]) / fall
    return {
        "nodes": {key: int(counts[f"nodes, {key}"]) for key in (*CLASSES, "waiting")},
        "guess": {key: round(float(guess[f"guess, {key}"]), 3) for key in (*CLASSES, "waiting")},
        "error after 20 steps": {key: spread(others[f"error, {key}"], 3) for key in CLASSES},
        "error before Dijkstra has the answer": spread(waiting[-1], 3),
        "error after Dijkstra has the answer": spread(waiting[2], 3),
        "share found ahead": spread(ahead, 3),
        "pace": spread((others["before"] - others["paced"]) / fall, 3),
    }


def marks_matter(rows: pandas.DataFrame) -> dict:
    """Return the errors of a network by rule for marks, and their factors over its own marks."""
    errors = rows[rows["quantity"].isin(["step 20", "end"])].pivot_table(
        "value", ["quantity", "seed"], "rule", sort=False
    )
    others = [rule for rule in RULES[1:] if rule in errors]
    if not others:
        return {}
    moments = errors.index.get_level_values("quantity").unique()
    judged = errors.loc["step 20" if "step 20" in moments else "end"]
    factors = {rule: spread(judged[rule] / judged["own"], 3) for rule in others}
    return {
        "errors by marks": {
            when: {rule: spread(errors.loc[when, rule], 3) for rule in ("own", *others)}
            for when in moments
        },
        "factors": factors,
    }


def draw(table: pandas.DataFrame) -> Figure:
    """Draw errors around the step at which Dijkstra's algorithm has the answer."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    *panels, last = figure.subplots(2, 4, sharex=True, sharey=True).flat
    waiting = table[table["quantity"] == "waiting"]
    places = dict(zip(NETWORKS, panels, strict=True)) | dict.fromkeys(TRACES, last)
    for (name, _), rows in waiting.groupby(["network", "seed"], sort=False):
        style = {"alpha": 0.7} if name in NETWORKS else {"label": name}
        places[name].plot(rows["step"], rows["value"], color=COLOURS[name], linewidth=0.9, **style)
        places[name].set_title(name if name in NETWORKS else "the algorithms", fontsize=10)
    for axes in figure.axes:
        axes.axvline(0, color="black", linewidth=0.8, linestyle=":")
    last.legend(fontsize=8, frameon=False)
    last.set_ylim(0, 1.04)
    figure.supxlabel("steps after Dijkstra's algorithm has the answer")
    figure.supylabel("share of wrong predecessors")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("measure", "compare"))
    parser.add_argument("--num-graphs", type=int, default=GRAPHS, help="of each family")
    parser.add_argument("--table", type=Path, default=TABLE, help="table of all seeds (.csv)")
    parser.add_argument("--out", type=Path, default=COMPARISON, help="comparisons (.json)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="figure (.png)")
    arguments = parser.parse_args()
    if arguments.action == "measure":
        dataset = make_dataset(PAPER_FAMILIES, arguments.num_graphs, NODES, split="validation")
        truth, rows = Truth.of(dataset), []
        for name, source in track(NETWORKS.items()):
            for path in sorted((RUNS / source).glob("*/weights.npz")) or [source]:
                rows += [(name, *row) for row in measure(load_model(path), dataset, truth)]
        for name, algorithm in TRACES.items():
            pointers = np.asarray(run(algorithm, dataset.graphs).pred)[:, 1:]
            rows += [(name, 0, "own", *row) for row in order_rows(pointers, truth)]
        columns = ["network", "seed", "rule", "quantity", "step", "value"]
        frame = pandas.DataFrame(rows, columns=columns).astype({"step": "Int64"})
        frame.to_csv(arguments.table, index=False, float_format="%.5g")
    table = pandas.read_csv(arguments.table)
    result = compare(table)
    arguments.out.write_text(json.dumps(result, indent=2) + "\n")
    save_figure(draw(table), arguments.picture, dots_per_inch=90)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
