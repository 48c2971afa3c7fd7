"""Measure the choosing pass of training, by the kernel for whole trajectories and step by step.

    python benchmarks/choosing_pass.py --out results/choosing-pass-h200.json

Training without the algorithm's steps samples ten trajectories of every graph, without gradient,
and learns from the best. The script measures this pass, and a training step without validation and
optimiser, each by the kernel of `networks/trajectory_kernel.py` and step by step, with kernels for
edges alone. It needs a GPU: on a CPU both are the same steps without kernels, so that
`--seeds 1 --graphs 2 --trajectories 2 --repeats 1` only checks that it runs.
"""

import argparse
import gzip
import json
import os
import statistics
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
from side_by_side import timed

from algotransfer.datasets import make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.devices import has_tf32
from algotransfer.experiment import Experiment
from algotransfer.networks import trajectory_kernel
from algotransfer.training import load_model, objective, training_rollouts
from algotransfer.training.examples import make_examples, tasks_of
from algotransfer.training.runs import environment, write_json

PRECISION = objective.SELECTION_PRECISION if has_tf32() else "float32"  # of the choosing pass


def step_by_step():
    """Leave the kernel for trajectories out of programs traced inside the `with` block."""
    return patch.object(trajectory_kernel, "fits", lambda *_: False)


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


def compile_and_time(arguments, repeats, function, precision, *contexts, trace: Path | None = None):
    """Return the result and the times of a function that is compiled in some contexts."""
    jax.clear_caches()  # what was traced in other contexts must not be used again
    began = time.perf_counter()
    with ExitStack() as stack:
        for context in (jax.default_matmul_precision(precision), *contexts):
            stack.enter_context(context)
        compiled = jax.jit(function).lower(*arguments).compile()
    seconds = time.perf_counter() - began

    def run():
        return jax.block_until_ready(compiled(*arguments))

    result, times = run(), [1000 * timed(run) for _ in range(repeats)]
    row: dict[str, Any] = {"milliseconds": statistics.median(times), "compile_seconds": seconds}
    if trace is not None:
        with jax.profiler.trace(str(trace)):
            run()
        row["kernels"] = kernel_times(trace)
    return result, row


def setting_of(model: str, seeds: int, graphs: int, trajectories: int) -> tuple:
    """Return an experiment, its tasks, and the networks, graphs and noise of a training step."""
    experiment = Experiment(model=model, target="dijkstra", supervision="na")
    tasks = tasks_of(experiment)
    data = make_dataset(PAPER_FAMILIES, -(-graphs // len(PAPER_FAMILIES)), 20, 0, split="train")
    with patch("algotransfer.networks.layouts.faster_layout", lambda _: "dense"):  # as on a GPU
        examples = make_examples(tasks, data, experiment.infinity)[jnp.arange(graphs)]
    trained = load_model(f"{model}-dijkstra-na").networks
    seed = np.arange(seeds) % len(jax.tree.leaves(trained)[0])  # seeds repeat if there are too few
    networks = jax.tree.map(lambda leaf: jnp.asarray(leaf)[seed], trained)
    keys = jax.random.split(jax.random.key(1), seeds)
    noise = jax.vmap(partial(objective.draw_noise, tasks, examples, trajectories))(keys)
    return experiment, tasks, (networks, examples, noise)


def training_step_of(tasks):
    """Return a training step of several seeds, without optimiser."""

    @partial(jax.vmap, in_axes=(0, None, 0))
    def training_step(network, examples, noise):
        def loss(network):
            return jnp.mean(objective.objective(network, tasks, examples, noise, "best")[0])

        return jax.value_and_grad(loss)(network)

    return training_step


def measure(model: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each program."""
    seeds, graphs = options.seeds, options.graphs
    experiment, tasks, arguments = setting_of(model, seeds, graphs, options.trajectories)
    training_step = training_step_of(tasks)

    def choosing_pass(network, examples, noise):
        def one(layout, truth, noise):
            layout = training_rollouts.training_layout(network, layout)
            return objective._sampled_losses(network, tasks[0], layout, truth, noise)

        return jax.vmap(one)(examples.layouts, examples.truths[0], noise)

    run = partial(compile_and_time, arguments, options.repeats)
    without_kernels = patch.dict(os.environ, {training_rollouts.SWITCH: "0"})
    every_seed = jax.vmap(choosing_pass, (0, None, 0))
    expected, _ = run(every_seed, "float32", without_kernels)
    paths = {"steps": (step_by_step,), "kernel": ()}
    for name, contexts in paths.items():
        losses, times = run(every_seed, PRECISION, *[c() for c in contexts])
        yield {"part": "choosing pass", "by": name} | times | agreement(losses, expected)
    for name, contexts in paths.items():
        trace = options.trace and options.trace / model / name
        _, times = run(training_step, experiment.precision, *[c() for c in contexts], trace=trace)
        rate = 1000 * seeds * graphs / times["milliseconds"]
        yield {"part": "training step", "by": name} | times | {"graphs_per_second": rate}


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
