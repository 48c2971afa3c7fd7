"""Training throughput: whole epochs of all seeds, as `train` runs them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from algotransfer.datasets import Dataset
from algotransfer.experiment import Experiment
from algotransfer.training.examples import make_examples
from algotransfer.training.train import compile_epoch, peak_memory, start_seeds


@dataclass(frozen=True)
class Throughput:
    """What an experiment's epochs cost; rates count training graphs, validation is in the time."""

    experiment: str
    seeds: int
    graphs_per_second: float
    milliseconds_per_step: float
    compile_seconds: float
    memory_bytes: int
    peak_bytes: int


def prepare_epoch(
    experiment: Experiment, seeds: int, training: Dataset, validation: Dataset
) -> tuple[Callable[[], None], int]:
    """Compiles an epoch of all seeds.

    **Returns:** a function that runs the next epoch and waits for it, and the bytes it needs.
    """
    program, states = start_seeds(experiment, tuple(range(seeds)))
    data = tuple(
        make_examples(program.tasks, dataset, experiment.infinity)
        for dataset in (training, validation)
    )
    with jax.default_matmul_precision(experiment.precision):
        epoch, memory = compile_epoch(program, states, *data)

    def run() -> None:
        nonlocal states
        states, report = epoch(states, *data)
        jax.block_until_ready(report)

    return run, memory


def measure(
    experiment: Experiment, seeds: int, training: Dataset, validation: Dataset, repeats: int = 3
) -> Throughput:
    """Times epochs after the first; the median counts."""
    began = time.perf_counter()
    epoch, memory = prepare_epoch(experiment, seeds, training, validation)
    compiled = time.perf_counter() - began
    epoch()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        epoch()
        seconds.append(time.perf_counter() - began)
    median = float(np.median(seconds))
    steps = len(training) // experiment.batch_size
    return Throughput(
        experiment=experiment.name,
        seeds=seeds,
        graphs_per_second=steps * experiment.batch_size * seeds / median,
        milliseconds_per_step=1000 * median / steps,
        compile_seconds=compiled,
        memory_bytes=memory,
        peak_bytes=peak_memory(),
    )
