"""Speed of training: whole epochs of all seeds, as `train` runs them."""

import time
from collections.abc import Callable

import equinox as eqx
import jax
import numpy as np
from jax.stages import Compiled

from algotransfer.algorithms import get_algorithm
from algotransfer.bench.measurement import Measurement, median_seconds
from algotransfer.bench.minimum_work import GraphShape, Work, training_step
from algotransfer.datasets import Dataset
from algotransfer.experiment import Experiment
from algotransfer.training.examples import make_examples, network_of, tasks_of
from algotransfer.training.program import compile_epoch, needed_bytes, start_seeds


def prepare_epoch(
    experiment: Experiment, seeds: int, training: Dataset, validation: Dataset
) -> tuple[Callable[[], None], Compiled]:
    """Compile an epoch of all seeds.

    **Returns:** a function that runs the next epoch and waits for it, and its compiled program.
    """
    program, states = start_seeds(experiment, tuple(range(seeds)))
    data = tuple(
        make_examples(program.tasks, dataset, experiment.infinity)
        for dataset in (training, validation)
    )
    with jax.default_matmul_precision(experiment.precision):
        epoch, _ = compile_epoch(program, states, *data)

    def run() -> None:
        nonlocal states
        states, report = epoch(states, *data)
        jax.block_until_ready(report)

    return run, epoch


def measure_training(
    experiment: Experiment, seeds: int, training: Dataset, validation: Dataset, repeats: int
) -> Measurement:
    """Measure epochs after the first, validation included; rates count training graphs only."""
    began = time.perf_counter()
    epoch, program = prepare_epoch(experiment, seeds, training, validation)
    compiled = time.perf_counter() - began
    epoch()
    seconds = median_seconds(epoch, repeats)
    steps = len(training) // experiment.batch_size
    work = minimum_work(experiment, training)
    return Measurement.of(
        None if work is None else work * seeds,
        part="train",
        what=f"{experiment.name}, {seeds} seed{'s' * (seeds > 1)}",
        graphs_per_second=steps * experiment.batch_size * seeds / seconds,
        milliseconds_per_step=1000 * seconds / steps,
        compile_seconds=compiled,
        memory_bytes=needed_bytes(program),
    )


def minimum_work(experiment: Experiment, training: Dataset) -> Work | None:
    """Return the minimum work of a training step of one seed on such graphs."""
    algorithm, graphs = get_algorithm(experiment.target), training.graphs
    features = algorithm.framework.num_features
    shape = GraphShape(
        nodes=graphs.num_nodes,
        entries=2 * float(np.mean(graphs.num_edges())) + graphs.num_nodes,
        hidden=experiment.width,
        features=features,
        outputs=features,  # a key and, for sequential algorithms, a logit of the next node
    )
    (*_, task) = tasks_of(experiment)
    network = eqx.filter_eval_shape(network_of, experiment, jax.random.key(0))
    return training_step(
        experiment.model,
        taught=not task.supervision.samples,
        s=shape,
        steps=float(np.mean(training.trace(algorithm).length)),
        batch=experiment.batch_size,
        trajectories=experiment.trajectories if task.samples else 1,
        parameters=sum(leaf.size for leaf in jax.tree.leaves(network)),
    )
