"""Hold parts of trained networks after step 20, and see which of them loses the answer.

    python studies/later_steps.py measure  # the interventions of `studies/later_steps.md`
    python studies/later_steps.py compare  # what the protocol asks for, from the table

The networks are those of `studies/runs`; nothing is trained.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas
from rich.progress import track
from seeds import spread

from algotransfer import Dataset, load_model, make_dataset
from algotransfer.algorithms import Algorithm
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.evaluation.by_step import pointer_errors
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.evaluation.harness import best_predecessors
from algotransfer.networks import NE, Executor, make_layouts, rollout
from algotransfer.networks.processors import MaxMPNN
from algotransfer.training.runs import Model

STEP = 20  # of the longest training rollout
NODES, GRAPHS = 100, 20  # of each family
RULES = ("free", "keys", "features", "hidden", "scaled")
RUNS = Path(__file__).parent / "runs"
NETWORKS = {
    "NE++, dijkstra": "extra_steps/none/ne++-dijkstra-na",
    "NE++, dijkstra, mixed sizes": "transfer_grid/ne++-dijkstra-na",
    "NE++, reliable_seq, mixed sizes": "transfer_grid/ne++-reliable_seq-na",
    "NE, dijkstra, mixed sizes": "transfer_grid/ne-dijkstra-na",
    "NE, dijkstra, mixed sizes, multitask": "transfer_grid/ne-prim-dijkstra-na-multitask",
    "NE, reliable_seq, mixed sizes, multitask": (
        "transfer_grid/ne-widest_seq-reliable_seq-na-multitask"
    ),
    "NE, dijkstra, mixed sizes, multitask with dfs": "transfer_tries/ne-dfs-dijkstra-na-multitask",
}
OF_BASE = ("free", "features", "base", "target")
RULES_OF = {  # other rules than `RULES`
    "NE, dijkstra, mixed sizes, multitask": (*RULES, "base", "target"),
    "NE, reliable_seq, mixed sizes, multitask": OF_BASE,
    "NE, dijkstra, mixed sizes, multitask with dfs": OF_BASE,
}
LOST = 0.1  # rise of the error from which a network counts as losing its answer
GAINED = 0.05  # fall of the error from which the execution after `STEP` counts as a gain
TABLE = Path("results/later-steps.csv")
COMPARISON = Path("results/later-steps.json")


class Held(Executor):
    """A network that holds its features or its hidden state after `STEP` steps."""

    network: Executor
    processors: tuple[eqx.Module, ...]
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)
    rule: str = eqx.field(static=True)

    @classmethod
    def of(cls, network: Executor, rule: str) -> Held:
        parts = {name: getattr(network, name) for name in ("processors", "algorithms", "kinds")}
        return cls(network=network, rule=rule, **parts)

    @classmethod
    def create(cls, algorithms, hidden, key, processor=MaxMPNN):
        return cls.of(NE.create(algorithms, hidden, key, processor), "free")

    def start(self, layout):
        """Return the step, the memory, and the features and memory that are held."""
        memory, nodes = self.network.start(layout), layout.num_nodes
        features = tuple(jnp.zeros((nodes, a.framework.num_features)) for a in self.algorithms)
        return jnp.int32(0), memory, (features, memory)

    def process(self, features, memory, layout):
        step, memory, held = memory
        held = jax.tree.map(partial(jnp.where, step <= STEP), (features, memory), held)
        held_features, held_memory = held
        if self.rule == "keys":
            pairs = zip(features, held_features, strict=True)
            features = tuple(now.at[:, -1].set(then[:, -1]) for now, then in pairs)
        elif self.rule == "features":
            features = held_features
        elif self.rule == "base":
            features = (*held_features[:-1], features[-1])
        elif self.rule == "target":
            features = (*features[:-1], held_features[-1])
        elif self.rule == "hidden":
            memory = held_memory
        elif self.rule == "scaled":
            memory = jax.tree.map(_scaled, memory, held_memory)
        memory, latents = self.network.process(features, memory, layout)
        return (step + 1, memory, held), latents

    def decode(self, task, latent):
        return self.network.decode(task, latent)

    def scores(self, task, latent, layout):
        return self.network.scores(task, latent, layout)

    def terminate(self, task, latent, layout):
        return self.network.terminate(task, latent, layout)

    def for_task(self, task):
        return Held.of(self.network.for_task(task), self.rule)

    @property
    def independent(self):
        return self.network.independent


def root_mean_square(values):
    return jnp.sqrt(jnp.mean(values**2))


def _scaled(values, like):
    size = root_mean_square(values)  # 0 before the first step
    return values * root_mean_square(like) / jnp.where(size > 0, size, 1.0)


@partial(jax.jit, static_argnames=("tasks", "num_steps", "rule"))
def execute(networks, graphs, infinity, steps, tasks, num_steps, rule):
    """Return predecessors and sizes of hidden states, by seed, graph and step."""
    target = len(tasks) - 1

    def one(network, layout, source, infinity, steps):
        drivers = tuple(
            task.supervision.free_driver(
                task.algorithm, task.algorithm.start(source, layout.num_nodes, constant), count
            )
            for task, constant, count in zip(tasks, infinity, steps, strict=True)
        )

        def emit(before, latents, after):
            pointer = best_predecessors(network, target, latents[target], layout)
            return pointer, root_mean_square(latents[target].hidden)

        return rollout(Held.of(network, rule), layout, drivers, num_steps, emit).emitted

    with jax.default_matmul_precision("float32"):
        layouts = make_layouts(graphs, networks.kinds, "sparse")
        on_graphs = jax.vmap(one, in_axes=(None, 0, 0, 0, 0))
        return jax.vmap(on_graphs, in_axes=(0, None, None, None, None))(
            networks, layouts, jnp.asarray(graphs.source), infinity, steps
        )


def measure(model: Model, rule: str, dataset: Dataset) -> pandas.DataFrame:
    """Return every seed's error at `STEP` and at the end, and the growth of its hidden state."""
    batch = EvaluationBatch.prepare(model, dataset.graphs)
    run, true = batch.run, np.asarray(batch.end.final_pred)

    def errors_and_sizes(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        graphs = jax.tree.map(jnp.asarray, dataset.graphs[index])
        told = (tuple(a[index] for a in each) for each in (run.infinity, run.steps))
        found = execute(run.networks, graphs, *told, run.tasks, run.num_steps, rule)
        pointer, size = map(np.asarray, found)
        ends = np.stack([np.full(len(index), STEP), run.steps[-1][index]], axis=-1) - 1
        by_step = pointer_errors(pointer, true[index])
        error, size = (np.take_along_axis(each, ends[None], -1) for each in (by_step, size))
        return error, size

    error, size = batch.on_all_graphs(errors_and_sizes)
    families = [error[:, dataset.family == family].mean(1) for family in dataset.families]
    at_step, at_end = np.mean(families, axis=0).T
    growth = np.log10(size[..., 1] / size[..., 0]).mean(1)
    columns = {"seed": model.seeds, "step_20": at_step, "end": at_end, "growth": growth}
    return pandas.DataFrame(columns).assign(rule=rule)


def compare(table: pandas.DataFrame) -> dict:
    """Return errors, what is left of loss and gain under every rule, and the correlation."""
    ends = table.pivot_table("end", ["network", "seed"], "rule", sort=False)
    free = table[table["rule"] == "free"].set_index(["network", "seed"])
    step, growth = free["step_20"], free["growth"]
    networks = {}
    for name, seeds in ends.groupby(level="network", sort=False):
        networks[name] = {
            "step 20": spread(step[name], 3),
            "growth, powers of ten": spread(growth[name], 3),
            **{rule: spread(seeds[rule], 3) for rule in seeds.dropna(axis=1)},
        }

    rise = ends["free"] - step.loc[ends.index]
    left = ends.sub(step.loc[ends.index], axis=0).div(rise, axis=0)[rise > LOST]
    of_rules, of_unrelated = left.dropna(subset=list(RULES)), left.filter(like="dfs", axis=0)
    gain = ends["features"] - ends["free"]
    share = ends.sub(ends["free"], axis=0).div(gain, axis=0)[gain > GAINED]

    of_ne_plus_plus = free.index.get_level_values("network").str.startswith("NE++")
    both = pandas.DataFrame({"growth": growth, "rise": rise})[of_ne_plus_plus]
    correlations = {
        name: rank_correlation(part) for name, part in both.groupby(level="network", sort=False)
    }
    return {
        "networks": networks,
        "remaining loss": {
            rule: by_network(of_rules[rule]) | {"all": spread(of_rules[rule], 3)}
            for rule in RULES[1:]
        },
        "remaining loss, unrelated base": {
            rule: spread(of_unrelated[rule], 3) for rule in OF_BASE[1:]
        },
        "rank correlation of growth and rise, NE++": {
            **rank_correlation(both),
            "by network": correlations,
        },
        "share of the gain": {
            rule: by_network(share[rule].dropna()) for rule in ("base", "target")
        },
    }


def rank_correlation(both: pandas.DataFrame) -> dict:
    """Return Spearman's correlation of growth and rise, and the number of trained networks."""
    value = both.rank().corr().loc["growth", "rise"]
    return {"networks": len(both), "value": round(float(value), 3)}


def by_network(values: pandas.Series) -> dict:
    return {name: spread(part, 3) for name, part in values.groupby(level="network", sort=False)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("measure", "compare"))
    parser.add_argument("--network", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--num-graphs", type=int, default=GRAPHS, help="of each family")
    parser.add_argument("--table", type=Path, default=TABLE, help="table of all seeds (.csv)")
    parser.add_argument("--out", type=Path, default=COMPARISON, help="comparisons (.json)")
    arguments = parser.parse_args()
    if arguments.action == "measure":
        dataset = make_dataset(PAPER_FAMILIES, arguments.num_graphs, NODES, split="validation")
        parts = [pandas.read_csv(arguments.table)] if arguments.table.exists() else []
        for name in track(arguments.network):
            for path in sorted((RUNS / NETWORKS[name]).glob("*/weights.npz")):
                model = load_model(path)
                for rule in RULES_OF.get(name, RULES):
                    parts.append(measure(model, rule, dataset).assign(network=name))
        keys = ["network", "rule", "seed"]
        table = pandas.concat(parts).drop_duplicates(keys, keep="last")
        columns = [*keys, "step_20", "end", "growth"]
        table[columns].to_csv(arguments.table, index=False, float_format="%.5g")
    table = pandas.read_csv(arguments.table)
    if missing := sorted(set(NETWORKS) - set(table["network"])):
        raise SystemExit(f"not compared, for {arguments.table} lacks {', '.join(missing)}")
    result = compare(table)
    arguments.out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
