"""Errors by step and by halting rule of committed networks, on validation graphs of 100 nodes.

    python studies/halting.py measure --out results/by-step.csv
    python studies/halting.py draw --out results/by-step.csv --picture docs/images/by_step.png

The networks learned from answers alone (`na`). Each runs for as many steps as there are nodes. The
table has the predecessor error, averaged over families, after each step and at the step that each
halting rule reads; the rule `last` reads the last step. `draw` prints medians by rule, and draws
one panel per experiment with one line per seed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pandas
from matplotlib.figure import Figure
from plot_extra_steps import draw_seeds
from rich.console import Console
from rich.progress import track
from rich.table import Table

from algotransfer import Dataset, load_model, make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.draw import save_figure
from algotransfer.evaluation.by_step import EVERY_STEP_UP_TO, pointer_errors
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.evaluation.halting import at_horizon, settled, told
from algotransfer.evaluation.horizon import training_horizon
from algotransfer.evaluation.summary import paper_key
from algotransfer.methods import METHODS
from algotransfer.report.claims import PAPER_BASES, SEQUENTIAL
from algotransfer.report.collect import EXPERIMENT
from algotransfer.trained_models import committed_weights


def last(execution, length, horizon: int):
    """Read after the last step."""
    return jnp.int32(execution.pointer.shape[0])


RULES = {"last": last, "told": told, "horizon": at_horizon, "settled": settled}
NODES, GRAPHS = 100, 20  # of each family
RELAX = (
    "relax-dijkstra-na-4a6b0caf5adbc5a0",
    "relax-reliable_seq-na-99b7712939e07732",
    "relax-bellman_ford-na-5489d04c11e3345f",
    "relax-reliable_par-na-06be5978ef7c021c",
)
TABLE = Path(__file__).parents[1] / "results" / "by-step.csv"


def measure(weights: str, dataset: Dataset) -> pandas.DataFrame:
    """Return every seed's predecessor error after each step, and at the step of each rule."""
    model = load_model(weights)
    horizon = training_horizon(model)
    batch = EvaluationBatch.prepare(model, dataset.graphs, halt="settled")
    length, true = jnp.asarray(batch.end.length), np.asarray(batch.end.final_pred)
    found: dict[str, list[np.ndarray]] = {}
    for index, new in batch.chunks():
        execution = batch.run.run(dataset.graphs, index, "steps")
        errors = pointer_errors(np.asarray(execution.pointer), true[index])[:, :new]
        for step in range(1, errors.shape[-1] + 1):
            if step <= EVERY_STEP_UP_TO or step % 5 == 0:
                found.setdefault(str(step), []).append(errors[..., step - 1])
        for name, rule in RULES.items():
            on_graphs = jax.vmap(lambda one, end, rule=rule: rule(one, end, horizon))
            steps = jax.vmap(on_graphs, in_axes=(0, None))(execution, length[index])
            steps = np.minimum(steps, errors.shape[-1])[:, :new, None] - 1
            found.setdefault(name, []).append(np.take_along_axis(errors, steps, -1)[..., 0])
    rows = []
    for step, parts in found.items():
        errors = np.concatenate(parts, axis=1)  # [seeds, graphs]
        families = [errors[:, dataset.family == family].mean(1) for family in dataset.families]
        rows += zip(model.seeds, [step] * len(errors), np.mean(families, axis=0), strict=True)
    frame = pandas.DataFrame(rows, columns=["seed", "step", "value"])
    return frame.assign(**paper_key(model.experiment))[[*EXPERIMENT, *frame.columns]]


def show(table: pandas.DataFrame) -> None:
    """Print the median error of each rule over all methods and seeds, by network and target."""
    rules = table[table["step"].isin(list(RULES))]
    trained = rules["supervision"].str.contains("extra").map({True: "extra steps", False: "plain"})
    groups = rules.groupby(["target", "model", trained, "step"])["value"]
    printed = Table(title=f"Predecessor error at {NODES} nodes: median (range) by halting rule")
    for head in ("target", "network", "training", "networks", *RULES):
        printed.add_column(head)
    for key in dict.fromkeys(key[:3] for key, _ in groups):
        parts = [groups.get_group((*key, rule)) for rule in RULES]
        texts = [f"{p.median():.3f} ({p.min():.3f}–{p.max():.3f})" for p in parts]
        printed.add_row(*key, str(len(parts[0])), *texts)
    Console(width=140).print(printed)


def draw(table: pandas.DataFrame) -> Figure:
    """Draw a row of panels per target and network, a column per method; a line per seed."""
    bases = table["target"].map(PAPER_BASES)
    table = table[(table["source"] == "") | (table["source"] == bases)]
    columns = [("na", method) for method in METHODS]
    columns += [("na_extra10", "none"), ("na_extra10", "multitask")]
    rows = [(target, model) for target in SEQUENTIAL for model in ("NE", "NE++")]
    figure = Figure(figsize=(1.9 * len(columns), 1.8 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True)
    steps = table[table["step"].str.isdecimal()]
    cells = dict(iter(steps.groupby(["target", "model", "supervision", "method"])))
    for (target, model), line in zip(rows, panels, strict=True):
        for (supervision, method), axes in zip(columns, line, strict=True):
            cell = cells.get((target, model, supervision, method))
            if cell is None:
                axes.set_visible(False)
                continue
            draw_seeds(axes, cell.set_index(["seed", "step"])["value"])
            extra = supervision.removeprefix("na").replace("_", ", ")
            axes.set_title(f"{model}, {target}\n{method}{extra}", fontsize=8)
    figure.supxlabel("step")
    figure.supylabel(f"predecessor error, {NODES} nodes")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("measure", "draw"))
    parser.add_argument("--weights", nargs="+", help="default: all of NE and NE++, four of relax")
    parser.add_argument("--num-graphs", type=int, default=GRAPHS, help="of each family")
    parser.add_argument("--out", type=Path, default=TABLE, help="table (.csv)")
    parser.add_argument("--picture", type=Path, help="figure (.png)")
    arguments = parser.parse_args()
    if arguments.action == "measure":
        names = [n for n in committed_weights() if n.startswith("ne") and "-na" in n]
        dataset = make_dataset(PAPER_FAMILIES, arguments.num_graphs, NODES, split="validation")
        parts = [measure(name, dataset) for name in track(arguments.weights or [*names, *RELAX])]
        pandas.concat(parts).to_csv(arguments.out, index=False, float_format="%.5g")
    table = pandas.read_csv(arguments.out, dtype={"step": str}, keep_default_na=False)
    show(table)
    if arguments.picture:
        save_figure(draw(table), arguments.picture, dots_per_inch=80)


if __name__ == "__main__":
    main()
