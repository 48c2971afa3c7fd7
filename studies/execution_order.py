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
from algotransfer.graphs import Graph
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
DIGITS = 4  # of the comparison
MIN_HOPS, MIN_GAP, LAST = 2, 5, 18  # of the nodes that wait for Dijkstra's algorithm
OFFSETS = range(-6, 3)  # steps before and after Dijkstra's algorithm has the answer
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


def read_out(algorithm: str, graphs: Graph) -> np.ndarray:
    """Return the neighbours that give the best keys: [graphs, steps, nodes], step 0 included.

    Every node compares the keys of all neighbours plus the edge between, as NE and NE++ do with
    hidden states. So it can name its predecessor one edge earlier than the algorithm.
    """
    keys = np.asarray(run(algorithm, graphs).key)
    edges, weights = (jax.vmap(m)(graphs) for m in (Graph.adjacency, Graph.weight_matrix))
    weights = np.asarray(jnp.where(edges, weights, jnp.inf))  # [graphs, neighbours, nodes]
    return np.stack([np.argmin(k[:, :, None] + w, 1) for k, w in zip(keys, weights, strict=True)])


def first_steps(pointers, pred) -> np.ndarray:
    """Return the first step from which every node points at its final predecessor."""
    right = pointers == pred[:, None]  # [graphs, steps, nodes]
    return np.where(right.all(1), 0, right.shape[1] - np.argmin(right[:, ::-1], axis=1))


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
    - `parallel`, `sequential`: the first step from which either algorithm's keys name the answer.
    - `visited`: nodes visited by Dijkstra's algorithm before every step.
    - `last`: index of the last step of Dijkstra's algorithm, by graph.
    - `guess`: errors of the lightest edge, by graph and node.
    - `family`: of every graph.
    """

    pred: np.ndarray
    counted: np.ndarray
    parallel: np.ndarray
    sequential: np.ndarray
    visited: np.ndarray
    last: np.ndarray
    guess: np.ndarray
    family: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> Truth:
        graphs, trace = dataset.graphs, run("dijkstra", dataset.graphs)
        pred = np.asarray(trace.final_pred)
        np.testing.assert_array_equal(pred, run("bellman_ford", graphs, "final").final_pred)
        return cls(
            pred=pred,
            counted=(pred >= 0) & (pred != np.arange(pred.shape[-1])),
            parallel=first_steps(read_out("bellman_ford", graphs), pred),
            sequential=first_steps(read_out("dijkstra", graphs), pred),
            visited=np.asarray(trace.visited),
            last=np.asarray(trace.length) - 1,
            guess=lightest_edge(graphs) != pred,
            family=np.asarray(dataset.family),
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
    waits = counted & (parallel >= MIN_HOPS) & (sequential >= parallel + MIN_GAP)
    waits &= sequential <= LAST
    for name, member in zip((*CLASSES, "waiting"), (*members, waits), strict=True):
        rows.append((f"nodes, {name}", None, member.sum()))
        for family in PAPER_FAMILIES:
            rows.append((f"{family} nodes, {name}", None, member[truth.family == family].sum()))
        if member.any():
            rows.append((f"guess, {name}", None, truth.guess[member].mean()))
    for name, member in zip(CLASSES, members, strict=True):
        if member.any():
            rows.append((f"error, {name}", STEP, wrong[:, STEP - 1][member].mean()))

    graph, node = np.nonzero(waits)

    def error(step):
        return wrong[graph, step[graph, node] - 1, node].mean()

    rows.append(("before", None, error(parallel - 1)))
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
    same = others.iloc[0]  # nodes and guesses are those of all seeds
    fall = others["before"] - waiting[2]
    return {
        "nodes": same.filter(like="nodes").astype(int).to_dict(),
        "guess": {
            name: round(float(value), 4) for name, value in same.filter(like="guess").items()
        },
        "error after 20 steps": {
            key: spread(others[f"error, {key}"], DIGITS)
            for key in CLASSES
            if f"error, {key}" in others
        },
        "error before Dijkstra names the answer": spread(waiting[-1], DIGITS),
        "share found ahead": spread((others["before"] - waiting[-1]) / fall, DIGITS),
        "pace": spread((others["before"] - others["paced"]) / fall, DIGITS),
    }


def marks_matter(rows: pandas.DataFrame) -> dict:
    """Return the errors of a network by rule for marks."""
    errors = rows[rows["quantity"].isin(["step 20", "end"])].pivot_table(
        "value", ["quantity", "seed"], "rule", sort=False
    )
    if len(errors.columns) < 2:
        return {}
    moments = errors.index.get_level_values("quantity").unique()
    of_rules = {
        when: {rule: spread(errors.loc[when, rule], DIGITS) for rule in errors} for when in moments
    }
    judged = errors.loc[moments[0]]
    factor = spread(judged["random"] / judged["own"], DIGITS)
    return {"errors by marks": of_rules, "factor of random marks": factor}


def draw(table: pandas.DataFrame) -> Figure:
    """Draw errors around the step at which Dijkstra's keys name the answer."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    *panels, last = figure.subplots(2, 4, sharex=True, sharey=True).flat
    waiting = table[table["quantity"] == "waiting"]
    places = dict(zip(NETWORKS, panels, strict=True)) | dict.fromkeys(TRACES, last)
    for (name, _), rows in waiting.groupby(["network", "seed"], sort=False):
        style = {"alpha": 0.7} if name in NETWORKS else {"label": name}
        places[name].plot(rows["step"], rows["value"], color=COLOURS[name], linewidth=0.9, **style)
        places[name].set_title(name if name in NETWORKS else "the algorithms", fontsize=10)
    guess = table.loc[table["quantity"] == "guess, waiting", "value"].iloc[0]
    for axes in figure.axes:
        axes.axhline(guess, color="grey", linewidth=0.8, linestyle="--")
        axes.axvline(0, color="black", linewidth=0.8, linestyle=":")
    last.legend(fontsize=8, frameon=False)
    last.set_ylim(0, 1.04)
    figure.supxlabel("steps after the keys of Dijkstra's algorithm name the answer")
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
            pointers = read_out(algorithm, dataset.graphs)[:, 1:]
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
