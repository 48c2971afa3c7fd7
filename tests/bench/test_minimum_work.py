"""Minimum work of a step, compared with XLA's count and with hand calculations."""

import jax
import jax.numpy as jnp
import pytest

from algotransfer.algorithms import get_algorithm
from algotransfer.bench.measurement import Ceilings, Measurement
from algotransfer.bench.minimum_work import PROCESS, GraphShape, Work, execution_step, training_step
from algotransfer.bench.training_speed import minimum_work
from algotransfer.datasets import make_dataset
from algotransfer.experiment import Experiment
from algotransfer.graphs import sample_graphs
from algotransfer.networks import MODELS, make_layouts


@pytest.mark.parametrize("model", PROCESS)
def test_no_program_does_less_than_the_minimum(model):
    """XLA's count of the sparse step leaves out the comparisons of segment maxima."""
    graphs = sample_graphs("er", 1, 64)
    network = MODELS[model].create((get_algorithm("dijkstra"),), 32, jax.random.key(0))
    layout = jax.tree.map(lambda leaf: leaf[0], make_layouts(graphs, network.kinds, "sparse"))
    shape = GraphShape(nodes=64, entries=2 * int(graphs.num_edges()[0]) + 64)

    def step(network, features, memory, layout):
        return network.process((features,), memory, layout)[0]

    memory = network.start(layout)
    compiled = jax.jit(step).lower(network, jnp.ones((64, 2)), memory, layout).compile()
    counted = compiled.cost_analysis()["flops"]
    minimum = PROCESS[model](shape)
    assert 0.9 * minimum < counted < 4 * minimum


def test_ne_by_hand():
    shape = GraphShape(nodes=1, entries=1, hidden=1, features=1, outputs=1)
    # z: 4, M₁ and M₂: 4, U: 4, the entry: 3; y: 4; a score: 2 and 5; termination: 2 and 3.
    work = execution_step("ne", shape, hidden_in_memory=False)
    assert work == Work(4 + 4 + 4 + 3 + 4 + 7 + 5, 12)
    with_memory = execution_step("ne", shape, hidden_in_memory=True)
    assert with_memory == Work(work.operations, 12 + 8 + 8)


def test_training_without_steps_runs_all_trajectories_forward_and_one_backward():
    shape = GraphShape(nodes=20, entries=100)
    some = {"steps": 20, "batch": 1, "parameters": 0}
    one, ten = (training_step("ne", False, shape, trajectories=k, **some) for k in (1, 10))
    assert ten.operations / one.operations == pytest.approx(12 / 3, rel=0.01)
    taught = training_step("ne", True, shape, trajectories=1, **some)
    assert taught.operations > one.operations


def test_networks_without_a_formula_have_no_minimum_work():
    assert execution_step("mine", GraphShape(2, 4), hidden_in_memory=False) is None
    graphs = make_dataset("er", 2, 6)
    assert minimum_work(Experiment(model="relax"), graphs) is None
    assert minimum_work(Experiment(model="ne++"), graphs).operations > 0


def row(what, milliseconds, **more):
    numbers = {"graphs_per_second": 1.0, "compile_seconds": 0.0, "memory_bytes": 0}
    return Measurement(
        part="train", what=what, milliseconds_per_step=milliseconds, peak_bytes=0, **numbers, **more
    )


def test_shares_of_the_ceilings():
    assert row("a", 1000.0).shares(Ceilings(10, 10)) is None
    assert row("a", 1000.0, operations=5, bytes=1).shares(Ceilings(10, 10)) == (0.5, 0.1)
