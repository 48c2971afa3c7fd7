"""Train and compare the experiments of `studies/transfer_grid.md`.

    python studies/transfer_grid.py train --model ne++ --method none multitask --for 500
    python studies/transfer_grid.py test --model ne++  # errors on test graphs
    python studies/transfer_grid.py last --model ne++  # best and last weights, validation graphs
    python studies/transfer_grid.py compare  # the comparisons that the protocol asks for
    python studies/transfer_grid.py train-tries --for 500
    python studies/transfer_grid.py tries  # the bounded tries, validation graphs

The trained networks are in `studies/runs/transfer_grid`: pass it as `--folder` to measure them
without training. Of the tries, the control `dfs multitask` is in `studies/runs/transfer_tries`:
pass it as `--tries-folder`.

Training resumes where it stopped. Several processes can share a GPU; each trains the experiments
that it is given, one after the other, and skips what another one is training.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import math
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from seeds import error_ratio, spread, train_each

from algotransfer.datasets.dataset import make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.datasets.splits import make_splits
from algotransfer.evaluation.evaluate import evaluate
from algotransfer.experiment import Experiment
from algotransfer.losses import binary_cross_entropy
from algotransfer.report.statistics import holm, welch_contrast
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.epochs import TrainingRun, finite
from algotransfer.training.runs import Model, load_model, save_model
from algotransfer.training.supervision import NoAlgorithm

SEEDS = tuple(range(100, 105))
EPOCHS = {"ne++": 80, "ne": 120}
BASES = {"dijkstra": "prim", "reliable_seq": "widest_seq"}
METHODS = ("multitask", "none", "fine_tune", "two_processor", "freeze")
TRANSFER = ("freeze", "fine_tune", "two_processor")
NODES = 100  # of the graphs that decide
READINGS = (("told", NODES), ("told", 20), ("horizon", NODES))  # the first one decides
NAMES = ["model", "target", "method"]
FOLDER = Path("runs/transfer_grid")
TRIES_FOLDER = Path("runs/transfer_tries")  # apart, since one try has the name of an experiment
TEST = Path("results/transfer-grid-test.csv")
COMPARISON = Path("results/transfer-grid-comparison.json")
LAST = Path("results/transfer-grid-last.csv")
TRIES = Path("results/transfer-grid-tries.csv")


def experiment(model: str, target: str, method: str, **changes) -> Experiment:
    base = () if method == "none" else (BASES[target],)
    return Experiment(
        model=model,
        target=target,
        method=method,
        base=base,
        max_epochs=EPOCHS[model],
        **changes,
    )


class SlowTarget(Experiment):
    """A transfer experiment whose base was trained with the default learning rate."""

    def pretraining(self):
        base = super().pretraining()
        assert base is not None
        fields = {field.name: getattr(base, field.name) for field in dataclasses.fields(base)}
        return Experiment(**fields | {"learning_rate": Experiment.learning_rate})


class Terminating(NoAlgorithm):
    """No algorithm, with a loss on the termination head.

    Every fourth graph stops at a random step before its end and is trained to go on; it has no
    other loss. The others are trained to stop at their end, and to have the answer there.
    """

    def training_steps(self, length, extra_steps):
        early = np.random.default_rng(0).integers(1, np.maximum(length, 2))
        return np.where(np.arange(len(length)) % 4 == 3, early, length)

    def losses(self, network, task, layout, truth, latents):
        at_end = truth.length >= jnp.sum(truth.visited[-1])
        answer = super().losses(network, task, layout, truth, latents)
        stop = network.terminate(task, latents, layout)
        losses = {name: jnp.where(at_end, loss, 0.0) for name, loss in answer.items()}
        return losses | {"termination": binary_cross_entropy(stop, at_end)}


SUPERVISIONS["na_terminate"] = Terminating()


@dataclasses.dataclass(frozen=True)
class Try:
    """An experiment that differs from one of the grid in one setting, or in its graphs."""

    experiment: Experiment
    data_seed: int = 0

    @property
    def usual(self) -> Experiment:
        """The experiment of the grid that it is compared with."""
        changed = self.experiment
        return experiment(changed.model, changed.target, changed.method)


def tries() -> dict[str, Try]:
    """Return the bounded tries that need training, by name and method."""
    lr4 = experiment("ne++", "dijkstra", "fine_tune", learning_rate=1e-4)
    fields = {field.name: getattr(lr4, field.name) for field in dataclasses.fields(lr4)}
    terminating = {"supervision": "na_terminate"}
    unrelated = dataclasses.replace(experiment("ne", "dijkstra", "multitask"), base=("dfs",))
    return {
        "lr4 fine_tune": Try(SlowTarget(**fields)),
        "terminate none": Try(experiment("ne++", "dijkstra", "none", **terminating)),
        "terminate multitask": Try(experiment("ne++", "dijkstra", "multitask", **terminating)),
        "graphs none": Try(experiment("ne", "dijkstra", "none"), data_seed=1),
        "dfs multitask": Try(unrelated),
    }


def keep_last_weights() -> None:
    """Make `train` also write the weights after the last epoch, as `last.npz`."""
    run = TrainingRun.run

    def run_and_keep(self, training, *arguments):
        finished = run(self, training, *arguments)
        if finished:
            program = self.program
            card = {
                "data": self.config["data"],
                "epochs": np.asarray(self.states.epoch).tolist(),
                "diverged": np.asarray(self.states.diverged).tolist(),
                "validation_loss": finite(self.states.best_loss),
                "infinity": [1.0] * len(program.tasks),  # replaced by that of weights.npz
                "horizon": int(np.max(training.truths[-1].length)),
            }
            model = Model(
                program.experiment, tuple(self.config["seeds"]), self.states.network, card
            )
            save_model(self.path / "last.npz", model)
        return finished

    TrainingRun.run = run_and_keep


def train_all(chosen: list[Try], folder: Path, seconds: float) -> None:
    """Train experiments one after the other until the time is over; keep the last weights."""
    keep_last_weights()
    trainings = ((one.experiment, make_splits("mixed", one.data_seed)) for one in chosen)
    train_each(trainings, SEEDS, folder, seconds)


def weights_of(experiments: list[Experiment], folder: Path) -> dict[Experiment, Path]:
    """Return the weights files of the finished experiments."""
    found = {each: sorted((folder / each.name).glob("*/weights.npz")) for each in experiments}
    return {each: paths[0] for each, paths in found.items() if paths}


def measure(source: Model, num_graphs: int, sizes: tuple[int, ...], split: str, halt: str):
    """Return predecessor and key errors of all seeds on sampled graphs, as a tidy table."""
    graphs = [make_dataset(PAPER_FAMILIES, num_graphs, n, split=split) for n in sizes]
    table = evaluate(source, graphs, halt=halt)
    wanted = (table["row"] == "network") & table["metric"].isin(["pred", "key"])
    names = {name: getattr(source.experiment, name) for name in NAMES}
    columns = ["seed", "family", "num_nodes", "metric", "value", "num_graphs"]
    return table[wanted & table["hop"].isna()][columns].assign(halt=halt, **names)


def test(experiments: list[Experiment], folder: Path) -> None:
    """Measure finished experiments on test graphs, at the true end and at the horizon."""
    tables = []
    for each, path in weights_of(experiments, folder).items():
        model = load_model(path)
        for halt, sizes in (("told", (20, NODES)), ("horizon", (NODES,))):
            tables.append(measure(model, 100, sizes, "test", halt))
        print(f"measured {each.name}", flush=True)
    add_rows(TEST, tables, [*NAMES, "halt", "seed", "family", "num_nodes", "metric"])


def add_rows(path: Path, tables: list, keys: list[str]) -> None:
    """Add rows to a table of results, or replace those with the same keys."""
    import pandas

    known = [pandas.read_csv(path)] if path.exists() else []
    table = pandas.concat([*known, *tables]).drop_duplicates(keys, keep="last").sort_values(keys)
    table[[*keys, "value", "num_graphs"]].to_csv(path, index=False)


def compare_last(experiments: list[Experiment], folder: Path) -> None:
    """Measure the best and the last weights of finished experiments on validation graphs."""
    tables = []
    for each, path in weights_of(experiments, folder).items():
        if (last := path.with_name("last.npz")).exists():
            best = load_model(path)
            models = {
                "best": best,
                "last": dataclasses.replace(best, networks=load_model(last).networks),
            }
            for name, model in models.items():
                part = measure(model, 20, (NODES,), "validation", "told")
                tables.append(part.assign(weights=name))
            print(f"measured {each.name}", flush=True)
    add_rows(LAST, tables, [*NAMES, "weights", "seed", "family", "metric"])


def measure_tries(folder: Path, grid_folder: Path) -> None:
    """Measure the bounded tries, and the same methods of the grid, on validation graphs."""
    tables = []
    for name, one in tries().items():
        pairs = ((name, one.experiment, folder), (f"grid, {name}", one.usual, grid_folder))
        for label, trained, where in pairs:
            for path in weights_of([trained], where).values():
                model = load_model(path)
                for halt, size in READINGS:
                    part = measure(model, 20, (size,), "validation", halt)
                    tables.append(part.assign(run=label))
                print(f"measured {label}", flush=True)
    add_rows(TRIES, tables, ["run", *NAMES, "halt", "seed", "family", "num_nodes", "metric"])


def errors_of_tries(halt: str = "told", num_nodes: int = NODES) -> dict[str, np.ndarray]:
    """Return the predecessor errors of all seeds, by run of the table of tries."""
    import pandas

    table = pandas.read_csv(TRIES)
    table = table[(table["halt"] == halt) & (table["num_nodes"] == num_nodes)]
    errors = table[table["metric"] == "pred"].groupby(["run", "seed"])["value"].mean()
    return {str(run): of_run.to_numpy() for run, of_run in errors.groupby(level="run")}


def tries_over_grid() -> dict:
    """Return the ratio of the error of every try to that of the same method in the grid."""
    errors = errors_of_tries()
    return {
        name: {
            "tried": spread(errors[name], 6),
            "usual": spread(errors[f"grid, {name}"], 6),
            **error_ratio(errors[name], errors[f"grid, {name}"]),
        }
        for name in tries()
        if name in errors
    }


def control(halt: str, num_nodes: int) -> dict:
    """Compare NE on Dijkstra alone, with the related base, and with the unrelated one."""
    errors = errors_of_tries(halt, num_nodes)
    runs = {"none": "grid, graphs none", "prim": "grid, dfs multitask", "dfs": "dfs multitask"}
    by_base = {base: errors[run] for base, run in runs.items()}
    pairs = (("prim", "dfs"), ("dfs", "none"), ("prim", "none"))
    return {base: spread(values, 6) for base, values in by_base.items()} | {
        f"{one} over {other}": error_ratio(by_base[one], by_base[other]) for one, other in pairs
    }


def ratio(errors: dict, model: str, targets: list[str], methods: tuple[str, ...]) -> dict | None:
    """Compare the geometric mean error of methods with that of none, averaged over targets."""
    samples = []
    for target in targets:
        none = errors.get((model, target, "none"))
        others = [errors.get((model, target, method)) for method in methods]
        if none is None or any(other is None for other in others):
            return None
        samples += [np.log(other) / len(methods) / len(targets) for other in others]
        samples.append(-np.log(none) / len(targets))
    contrast = welch_contrast(samples)
    low, high = (math.exp(bound) for bound in contrast.interval())
    verdict = "helps" if high < 1 else "harms" if low > 1 else "undecided"
    if low >= 0.8 and high <= 1.25:
        verdict = "makes no difference"
    return {
        "ratio": round(math.exp(contrast.estimate), 3),
        "interval": [round(low, 3), round(high, 3)],
        "p": contrast.p_differs(0.0),
        "verdict": verdict,
    }


def compare(halt: str) -> dict:
    """Return medians and ranges, the four main comparisons and the 16 single ones."""
    import pandas

    table = pandas.read_csv(TEST)
    table = table[
        (table["halt"] == halt) & (table["num_nodes"] == NODES) & (table["metric"] == "pred")
    ]
    seeds = table.groupby([*NAMES, "seed"])["value"].mean()
    groups = seeds.groupby(level=NAMES)
    errors = {name: group.to_numpy() for name, group in groups}
    medians = {" ".join(name): spread(values, 6) for name, values in errors.items()}
    main, single = {}, {}
    for model in EPOCHS:
        for name, methods in (("multitask", ("multitask",)), ("transfer", TRANSFER)):
            main[f"{model} {name}"] = ratio(errors, model, list(BASES), methods)
        for target, method in itertools.product(BASES, METHODS):
            if method != "none":
                result = ratio(errors, model, [target], (method,))
                if result is not None:
                    del result["verdict"]
                single[f"{model} {target} {method}"] = result
    finished = {name: result for name, result in main.items() if result is not None}
    # Corrected for all four comparisons, also while those of NE are missing.
    missing = [1.0] * (len(main) - len(finished))
    corrected = holm([result["p"] for result in finished.values()] + missing)
    for result, p in zip(finished.values(), corrected, strict=False):
        result["p_holm"] = round(p, 4)
    for result in (*finished.values(), *single.values()):
        if result is not None:
            result["p"] = round(result["p"], 4)
    return {"errors": medians, "main": main, "single": single}


def last_over_best() -> dict:
    """Return the mean ratio of the error of the last weights to that of the best ones."""
    import pandas

    table = pandas.read_csv(LAST)
    table = table[table["metric"] == "pred"]
    errors = table.groupby([*NAMES, "seed", "weights"])["value"].mean().unstack("weights")
    contrast = welch_contrast([np.log(errors["last"] / errors["best"])])
    low, high = (round(math.exp(bound), 3) for bound in contrast.interval())
    ratio = round(math.exp(contrast.estimate), 3)
    return {"networks": len(errors), "ratio": ratio, "interval": [low, high]}


def ended_at_the_limit(folder: Path) -> dict:
    """Return how many seeds of finished experiments trained until the largest epoch, by model."""
    counts = {}
    for model, limit in EPOCHS.items():
        grid = [experiment(model, *cell) for cell in itertools.product(BASES, METHODS)]
        epochs = [load_model(path).card["epochs"] for path in weights_of(grid, folder).values()]
        ended = sum(epoch == limit for seeds in epochs for epoch in seeds)
        counts[model] = {"seeds": sum(map(len, epochs)), "ended_at_the_limit": ended}
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = ("train", "test", "compare", "last", "train-tries", "tries")
    parser.add_argument("action", choices=actions)
    parser.add_argument("--model", nargs="+", default=list(EPOCHS), choices=EPOCHS)
    parser.add_argument("--target", nargs="+", default=list(BASES), choices=BASES)
    parser.add_argument("--method", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--tries-folder", type=Path, default=TRIES_FOLDER)
    parser.add_argument("--try", nargs="+", default=list(tries()), choices=tries(), dest="names")
    parser.add_argument("--for", type=float, default=np.inf, dest="seconds", help="seconds")
    arguments = parser.parse_args()
    grid = itertools.product(arguments.model, arguments.method, arguments.target)
    experiments = [experiment(model, target, method) for model, method, target in grid]
    if arguments.action == "train":
        train_all([Try(each) for each in experiments], arguments.folder, arguments.seconds)
    elif arguments.action == "test":
        test(experiments, arguments.folder)
        print(f"wrote {TEST}")
    elif arguments.action == "train-tries":
        chosen = [tries()[name] for name in arguments.names]
        train_all(chosen, arguments.tries_folder, arguments.seconds)
    elif arguments.action == "tries":
        measure_tries(arguments.tries_folder, arguments.folder)
        print(f"wrote {TRIES}")
    elif arguments.action == "last":
        compare_last(experiments, arguments.folder)
        print(f"wrote {LAST}")
    else:
        comparison = {"told": compare("told"), "horizon": compare("horizon")}
        comparison["last over best weights"] = last_over_best()
        comparison["tries over grid, validation graphs"] = tries_over_grid()
        comparison["unrelated base, validation graphs"] = {
            f"{halt}, {size} nodes": control(halt, size) for halt, size in READINGS
        }
        comparison["epochs"] = ended_at_the_limit(arguments.folder)
        COMPARISON.write_text(json.dumps(comparison, indent=1) + "\n")
        print(f"wrote {COMPARISON}")


if __name__ == "__main__":
    main()
