"""Measure one kernel for the choosing pass of training, beside the current pass.

    python benchmarks/choosing_kernel/measure.py --out runs/benchmarks/choosing_kernel.json

Training without the algorithm's steps samples ten trajectories of every graph, without gradient,
and learns from the best. The script measures this pass, current and with several tilings of the
kernel; a training step with both, without validation and optimiser; and the current pass with
parts left out, which can also let the compiler move other work out of the loop. It needs a GPU. On
a CPU, `--seeds 1 --graphs 2 --trajectories 2 --repeats 1` checks it with interpreted kernels.
"""

import argparse
import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from choosing_kernel.kernel import kernel_latents
from choosing_kernel.program import Tiling
from side_by_side import timed as seconds_of

from algotransfer.algorithms.frameworks.sequential import Sequential
from algotransfer.datasets import make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.devices import has_tf32
from algotransfer.experiment import Experiment
from algotransfer.networks.folded import EdgeStage
from algotransfer.training import load_model, objective, training_rollouts
from algotransfer.training.examples import make_examples, tasks_of
from algotransfer.training.runs import environment, write_json

PRECISION = objective.SELECTION_PRECISION if has_tf32() else "float32"  # of the choosing pass
TILINGS = (Tiling(5, 64), Tiling(10, 64), Tiling(5, 32, 2), Tiling(5, 64, 4, "bf16x3"))
LEFT_OUT = {  # class, method, replacement
    "choice": (Sequential, "advance", lambda self, algorithm, layout, state, *_: state),
    "edges": (EdgeStage, "_max_by_kernel", lambda self, product, _: product[:, : self.hidden]),
}


def latents_by_steps(latents_of, task, network, layout, truth, noise):
    """Return the last latents of all trajectories by a function of `training_rollouts`."""

    def one(noise):
        driver = task.supervision.driver(task.algorithm, truth, noise)
        return latents_of(network, layout, (driver,), len(noise))[0]

    return jax.vmap(one)(noise)


def trajectory_losses(latents_of, task, network, layout, truth, noise):
    """Return the losses of all trajectories of one graph."""

    def total(latent):
        return objective._total(task.supervision.losses(network, 0, layout, truth, latent))

    return jax.vmap(total)(latents_of(task, network, layout, truth, noise))


def choose_by_kernel(tiling: Tiling):
    """Replace the choosing pass of training steps that are traced inside the `with` block."""

    def graph_losses(network, tasks, layout, truths, noise, select):
        (task,), (truth,), alone = tasks, truths, lax.stop_gradient(network)
        by_kernel = partial(kernel_latents, tiling)
        with jax.default_matmul_precision(PRECISION):
            losses = trajectory_losses(by_kernel, task, alone, layout, truth, noise)
        best = objective._argmin(losses)
        return objective._trajectory_losses(network, tasks, layout, truths, noise[best])

    return patch.object(objective, "_graph_losses", graph_losses)


def agreement(losses, expected) -> dict[str, float]:
    """Compare losses and the choice by them with those of plain steps in float32."""
    losses, expected = (np.nan_to_num(np.asarray(each), nan=np.inf) for each in (losses, expected))
    difference, same = np.abs(losses / expected - 1), losses.argmin(-1) == expected.argmin(-1)
    return {"median_difference": float(np.median(difference)), "same_choice": float(same.mean())}


def kernel_times(trace: Path, most: int = 12) -> list[dict[str, Any]]:
    """Return the GPU kernels of a profile that took the most time, with their number of runs."""
    (path,) = trace.glob("**/*.trace.json.gz")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    named = [event for event in events if event.get("ph") == "M" and "name" in event["args"]]
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in named if e["name"] == "thread_name"}
    runs: dict[str, list[float]] = {}
    for event in events:
        stream = threads.get((event.get("pid"), event.get("tid")), "")
        if event.get("ph") == "X" and stream.startswith("Stream"):
            runs.setdefault(event["name"], []).append(event["dur"] / 1000)
    longest = sorted(runs.items(), key=lambda item: -sum(item[1]))[:most]
    return [{"kernel": n, "runs": len(ms), "milliseconds": sum(ms)} for n, ms in longest]


def timed(arguments, repeats, function, precision, *contexts, trace: Path | None = None):
    """Return the result and the times of a function that is traced in some contexts."""
    jax.clear_caches()  # what was traced in other contexts must not be used again
    began = time.perf_counter()
    with ExitStack() as stack:
        for context in (jax.default_matmul_precision(precision), *contexts):
            stack.enter_context(context)
        compiled = jax.jit(function).lower(*arguments).compile()
    seconds = time.perf_counter() - began

    def run():
        return jax.block_until_ready(compiled(*arguments))

    result, times = run(), [1000 * seconds_of(run) for _ in range(repeats)]
    row: dict[str, Any] = {"milliseconds": statistics.median(times), "compile_seconds": seconds}
    if trace is not None:
        with jax.profiler.trace(str(trace)):
            run()
        row["kernels"] = kernel_times(trace)
    return result, row


def measure(model: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each program."""
    experiment = Experiment(model=model, target="dijkstra", supervision="na")
    tasks, seeds, graphs = tasks_of(experiment), options.seeds, options.graphs
    data = make_dataset(PAPER_FAMILIES, -(-graphs // len(PAPER_FAMILIES)), 20, 0, split="train")
    examples = make_examples(tasks, data, experiment.infinity)[jnp.arange(graphs)]
    trained = load_model(f"{model}-dijkstra-na").networks
    seed = np.arange(seeds) % len(jax.tree.leaves(trained)[0])  # seeds repeat if there are too few
    networks = jax.tree.map(lambda leaf: jnp.asarray(leaf)[seed], trained)
    keys = jax.random.split(jax.random.key(1), seeds)
    noise = jax.vmap(partial(objective.draw_noise, tasks, examples, options.trajectories))(keys)

    def choosing_pass(latents_of):
        def one(network, layout, truth, noise):
            layout = training_rollouts.training_layout(network, layout)
            return trajectory_losses(latents_of, tasks[0], network, layout, truth, noise)

        def one_seed(network, examples, noise):
            every_graph = jax.vmap(partial(one, network))
            return every_graph(examples.layouts, examples.truths[0], noise)

        return jax.vmap(one_seed, (0, None, 0))

    @partial(jax.vmap, in_axes=(0, None, 0))
    def training_step(network, examples, noise):
        def loss(network):
            return jnp.mean(objective.objective(network, tasks, examples, noise, "best")[0])

        return jax.value_and_grad(loss)(network)

    run = partial(timed, (networks, examples, noise), options.repeats)
    plain = partial(latents_by_steps, training_rollouts.plain_latents)
    without_kernels = patch.dict(os.environ, {training_rollouts.SWITCH: "0"})
    expected, _ = run(choosing_pass(plain), "float32", without_kernels)
    current = partial(latents_by_steps, partial(training_rollouts.training_latents, learning=False))
    by_kernel = {str(tuple(t)): partial(kernel_latents, t) for t in TILINGS}
    for name, latents_of in {"current": current, **by_kernel}.items():
        losses, times = run(choosing_pass(latents_of), PRECISION)
        yield {"part": "choosing pass", "by": name} | times | agreement(losses, expected)
    for name, contexts in {"current": [], "kernel": [choose_by_kernel(TILINGS[0])]}.items():
        trace = options.trace and options.trace / model / name
        _, times = run(training_step, experiment.precision, *contexts, trace=trace)
        rate = 1000 * seeds * graphs / times["milliseconds"]
        yield {"part": "training step", "by": name} | times | {"graphs_per_second": rate}
    for names in (("choice",), ("edges",), ("choice", "edges")):
        contexts = [patch.object(*LEFT_OUT[name]) for name in names]
        _, times = run(choosing_pass(current), PRECISION, *contexts)
        yield {"part": f"choosing pass without {' and '.join(names)}", "by": "current"} | times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["ne++", "ne"])
    for name, default in {"seeds": 8, "graphs": 64, "trajectories": 10, "repeats": 7}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--trace", type=Path, help="folder for profiles of the training steps")
    parser.add_argument("--out", type=Path, help="file for the numbers (.json)")
    options = parser.parse_args()
    rows = []
    for model in options.model:
        for row in measure(model, options):
            row = {"model": model, **row}
            print(*(f"{k} {v:.4g}" if isinstance(v, float) else v for k, v in row.items()))
            rows.append(row)
    if options.out is not None:
        write_json(options.out, {"rows": rows, **environment()})


if __name__ == "__main__":
    main()
