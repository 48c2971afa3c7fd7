"""Measure when the keys of networks name predecessors, and what marks of visited nodes change.

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
from algotransfer.algorithms.state import State
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.draw import save_figure
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.evaluation.harness import best_predecessors
from algotransfer.evaluation.references import lightest_edge
from algotransfer.graphs import Graph
from algotransfer.networks import make_layouts
from algotransfer.training.runs import Model

NETWORKS = {  # a folder of `RUNS`, or a name that `load_model` knows
    "NE++": "extra_steps/none/ne++-dijkstra-na",
    "NE++, random extra steps": "extra_steps/random10/ne++-dijkstra-na-extra10",
    "NE++, mixed sizes": "transfer_grid/ne++-dijkstra-na",
    "NE, mixed sizes": "transfer_grid/ne-dijkstra-na",
    "relax": "relax-dijkstra",
    "NE++ on Bellman–Ford": "ne++-bellman_ford-na",
}
# Keys of the algorithms, read as those of the networks are.
CONTROLS = {
    "Dijkstra's keys": "black",
    "Dijkstra's keys, relaxed once more": "#009e73",
    "Bellman–Ford's keys": "#d55e00",
}
RULES = ("own", "true", "random", "none")
MIN_GAP, LAST = 5, 18  # of the nodes that wait for Dijkstra's algorithm
OFFSETS = range(-5, 3)  # steps before and after Dijkstra's keys name the answer
DIGITS = 4  # of the comparison
TABLE = Path("results/execution-order.csv")
COMPARISON = Path("results/execution-order.json")
PICTURE = Path("docs/images/execution_order.png")


@partial(jax.jit, static_argnames=("task", "num_steps"))
def execute(networks, graphs, infinity, marks, task, num_steps):
    """Return predecessors, keys and visited nodes after every step, by seed and graph.

    **Arguments:**

    - `marks`: nodes marked as visited before every step, by graph; None for the network's own.
    """
    algorithm, framework = task.algorithm, task.algorithm.framework

    def one(network, layout, source, infinity, marks):
        def step(carry, marked):
            memory, state = carry
            if marked is not None:
                state = State(state.key, marked.astype(state.visited.dtype))
            features = (framework.features(state),)
            memory, (latent,) = network.process(features, memory, layout)
            y = network.decode(0, latent)
            state = framework.advance(algorithm, layout, state, y, None, True)
            pointer = best_predecessors(network, 0, latent, layout)
            return (memory, state), (pointer, state.key, state.visited)

        start = network.start(layout), algorithm.start(source, layout.num_nodes, infinity)
        return lax.scan(step, start, marks, length=num_steps)[1]

    with jax.default_matmul_precision("float32"):
        layouts = make_layouts(graphs, networks.kinds, "sparse")
        on_graphs = jax.vmap(one, in_axes=(None, 0, 0, 0, None if marks is None else 0))
        return jax.vmap(on_graphs, in_axes=(0, None, None, None, None))(
            networks, layouts, jnp.asarray(graphs.source), infinity, marks
        )


def edge_costs(graphs: Graph) -> np.ndarray:
    """Return the weights [graphs, neighbours, nodes], inf where there is no edge."""
    edges, weights = (jax.vmap(m)(graphs) for m in (Graph.adjacency, Graph.weight_matrix))
    return np.asarray(jnp.where(edges, weights, jnp.inf))


def read_out(keys, costs) -> np.ndarray:
    """Return the neighbour with the best sum of key and weight: [graphs, steps, nodes]."""
    return np.stack([np.argmin(k[:, :, None] + w, 1) for k, w in zip(keys, costs, strict=True)])


def relaxed(keys, costs) -> np.ndarray:
    """Relax all edges once."""
    pairs = zip(keys, costs, strict=True)
    return np.minimum(keys, np.stack([np.min(k[:, :, None] + w, 1) for k, w in pairs]))


def first_steps(pointers, pred) -> np.ndarray:
    """Return the first step from which every node points at its final predecessor."""
    right = pointers == pred[:, None]  # [graphs, steps, nodes]
    return np.where(right.all(1), 0, right.shape[1] - np.argmin(right[:, ::-1], axis=1))


def marks_of(rule: str, visited) -> np.ndarray | None:
    """Return the marks before every step by a rule, from those of Dijkstra's algorithm."""
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
    - `late`: nodes that Bellman–Ford's keys name by step `STEP`, and Dijkstra's do not.
    - `waiting`: nodes that Dijkstra's keys name at least `MIN_GAP` steps after Bellman–Ford's,
        and within `LAST` steps.
    - `sequential`: the first step from which Dijkstra's keys name the predecessor.
    - `visited`: nodes visited by Dijkstra's algorithm before every step.
    - `last`: index of the last step of Dijkstra's algorithm, by graph.
    - `costs`: see `edge_costs`.
    - `guess`: errors of the lightest edge, by graph and node.
    - `family`: of every graph.
    """

    pred: np.ndarray
    late: np.ndarray
    waiting: np.ndarray
    sequential: np.ndarray
    visited: np.ndarray
    last: np.ndarray
    costs: np.ndarray
    guess: np.ndarray
    family: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> Truth:
        graphs, costs = dataset.graphs, edge_costs(dataset.graphs)
        traces = [run(name, graphs) for name in ("bellman_ford", "dijkstra")]
        parallel, trace = traces
        pred = np.asarray(trace.final_pred)
        np.testing.assert_array_equal(pred, parallel.final_pred)
        b, d = (first_steps(read_out(np.asarray(t.key), costs), pred) for t in traces)
        counted = (pred >= 0) & (pred != np.arange(pred.shape[-1]))
        return cls(
            pred=pred,
            late=counted & (b <= STEP) & (d > STEP),
            waiting=counted & (d >= b + MIN_GAP) & (d <= LAST),
            sequential=d,
            visited=np.asarray(trace.visited)[:, :-1],
            last=np.asarray(trace.length) - 1,
            costs=costs,
            guess=lightest_edge(graphs) != pred,
            family=np.asarray(dataset.family),
        )


def controls(dataset: Dataset, truth: Truth) -> dict[str, np.ndarray]:
    """Return the keys of `CONTROLS` after every step, from the first."""
    dijkstra, bellman_ford = (
        np.asarray(run(name, dataset.graphs).key)[:, 1:] for name in ("dijkstra", "bellman_ford")
    )
    keys = (dijkstra, relaxed(dijkstra, truth.costs), bellman_ford)
    return dict(zip(CONTROLS, keys, strict=True))


def measure(model: Model, dataset: Dataset, truth: Truth) -> list[tuple]:
    """Return rows (seed, rule, quantity, step, value) of both measurements."""
    batch = EvaluationBatch.prepare(model, dataset.graphs)
    task, graphs = batch.target, jax.tree.map(jnp.asarray, dataset.graphs)
    every, reached = np.arange(len(graphs)), truth.pred >= 0
    rows = []
    for rule in RULES if task.algorithm.sequential else ("own",):
        marks = marks_of(rule, truth.visited)
        outputs = execute(batch.run.networks, graphs, batch.run.infinity[0], marks, task, NODES)
        pointers, keys, _ = map(np.asarray, outputs)
        for quantity, step in (("step 20", np.minimum(STEP - 1, truth.last)), ("end", truth.last)):
            wrong = (pointers[:, every, step] != truth.pred) & reached
            error = wrong.sum(-1) / reached.sum(-1)
            families = [error[:, dataset.family == name].mean(1) for name in dataset.families]
            for seed, value in zip(model.seeds, np.mean(families, axis=0), strict=True):
                rows.append((seed, rule, quantity, None, value))
        if rule == "own":
            for seed, of_seed in zip(model.seeds, keys, strict=True):
                rows += [(seed, rule, *row) for row in order_rows(of_seed, truth)]
    return rows


def order_rows(keys, truth: Truth) -> list[tuple]:
    """Return rows (quantity, step, value) of the keys after every step, from the first."""
    rows = []
    for name, nodes in (("late", truth.late), ("waiting", truth.waiting)):
        rows.append((f"nodes, {name}", None, nodes.sum()))
        rows.append((f"guess, {name}", None, truth.guess[nodes].mean()))
        for family in PAPER_FAMILIES:
            rows.append((f"{family} nodes, {name}", None, nodes[truth.family == family].sum()))
    wrong = read_out(keys, truth.costs) != truth.pred[:, None]
    rows.append(("late", STEP, wrong[:, STEP - 1][truth.late].mean()))
    graph, node = np.nonzero(truth.waiting)
    for offset in OFFSETS:
        step = truth.sequential[graph, node] + offset
        # At step 0 all keys are those of the start.
        known = wrong[graph, np.maximum(step - 1, 0), node]
        rows.append(("waiting", offset, known[step > 0].mean()))
    return rows


def compare(table: pandas.DataFrame) -> dict:
    """Return the quantities of the protocol, by network."""
    return {
        name: order_of(rows[rows["rule"] == "own"]) | marks_matter(rows)
        for name, rows in table.groupby("network", sort=False)
    }


def order_of(rows: pandas.DataFrame) -> dict:
    """Return the errors of what the keys of a network name, before Dijkstra's keys name it."""
    others = rows[rows["quantity"] != "waiting"].pivot(
        index="seed", columns="quantity", values="value"
    )
    same = others.iloc[0]  # nodes and guesses are those of all seeds
    before = rows[(rows["quantity"] == "waiting") & (rows["step"] == -1)]
    return {
        "nodes": same.filter(like="nodes").astype(int).to_dict(),
        "guess": same.filter(like="guess").round(DIGITS).to_dict(),
        "late": spread(others["late"], DIGITS),
        "waiting, one step before": spread(before["value"], DIGITS),
    }


def marks_matter(rows: pandas.DataFrame) -> dict:
    """Return the errors of a network by rule for marks."""
    errors = rows[rows["quantity"].isin(["step 20", "end"])].pivot_table(
        "value", ["quantity", "seed"], "rule", sort=False
    )
    if len(errors.columns) < 2:
        return {}
    return {
        "errors by marks": {
            when: {rule: spread(errors.loc[when, rule], DIGITS) for rule in errors}
            for when in ("step 20", "end")
        }
    }


def draw(table: pandas.DataFrame) -> Figure:
    """Draw errors around the step at which Dijkstra's keys name the answer."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels = list(figure.subplots(2, 4, sharex=True, sharey=True).flat)
    figure.delaxes(panels.pop())
    last = panels[-1]
    places = dict(zip(NETWORKS, panels[:-1], strict=True)) | dict.fromkeys(CONTROLS, last)
    waiting = table[table["quantity"] == "waiting"]
    for (name, _), rows in waiting.groupby(["network", "seed"], sort=False):
        axes, line = places[name], {"linewidth": 0.9, "color": CONTROLS.get(name, "#0072b2")}
        axes.plot(rows["step"], rows["value"], label=name, **line)
        axes.set_title(name if name in NETWORKS else "the algorithms", fontsize=10)
    guess = table.loc[table["quantity"] == "guess, waiting", "value"].iloc[0]
    for axes in panels:
        axes.axhline(guess, color="grey", linewidth=0.8, linestyle="--")
        axes.axvline(0, color="black", linewidth=0.8, linestyle=":")
        axes.set_ylim(0, 1.04)
        axes.tick_params(labelbottom=True)
    lines = last.lines[: len(CONTROLS)]
    figure.legend(
        handles=lines, loc="center", bbox_to_anchor=(0.88, 0.3), fontsize=8, frameon=False
    )
    figure.supxlabel("steps after Dijkstra's keys name the answer", fontsize=10)
    figure.supylabel("share of wrong predecessors", fontsize=10)
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
        for name, keys in controls(dataset, truth).items():
            rows += [(name, 0, "own", *row) for row in order_rows(keys, truth)]
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
