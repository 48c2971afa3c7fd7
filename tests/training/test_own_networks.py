"""Added networks and processors train with the steps with which they are evaluated."""

import re
import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import quick_jit
from training.small import examples_of, graphs, one, tasks_of

from algotransfer.algorithms import ALGORITHMS
from algotransfer.networks import MODELS, NE, PROCESSORS, MaxMPNN, NEPlusPlus, executor
from algotransfer.training import training_rollouts
from algotransfer.training.objective import draw_noise, objective
from algotransfer.training.training_rollouts import plain_latents, training_latents, training_layout

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def own():
    """The network of the example, and NE with the processor of the documentation."""
    models, processors, page = dict(MODELS), dict(PROCESSORS), {}
    example = runpy.run_path(str(ROOT / "examples/07_add_a_network.py"))  # without training
    text = (ROOT / "docs/how-to/networks.md").read_text()
    for block in re.findall(r"(?<!-->\n)```python\n(.*?)```", text, re.DOTALL):
        exec(block, page)
    for registry, before in ((MODELS, models), (PROCESSORS, processors)):
        registry.clear()
        registry.update(before)
    return {"network": (example["GatedExecutor"], MaxMPNN), "processor": (NE, page["SumMPNN"])}


def case(supervision):
    tasks = tasks_of(("dijkstra",), (supervision,))
    return tasks, examples_of(tasks, graphs(per_family=1), layout="dense")


def fresh(network, processor=MaxMPNN, names=("dijkstra",)):
    algorithms = tuple(ALGORITHMS[name] for name in names)
    return network.create(algorithms, 4, jax.random.key(1), processor)


@pytest.mark.parametrize("supervision", ["tf", "na"])
@pytest.mark.parametrize("name", ["network", "processor"])
def test_training_takes_the_steps_of_evaluation(own, name, supervision):
    (task,), examples = case(supervision)
    layout, (truth,) = one(examples.layouts, 0), one(examples.truths, 0)
    noise = jax.random.gumbel(jax.random.key(3), truth.key[1:].shape) if task.samples else None
    driver = task.supervision.driver(task.algorithm, truth, noise)

    @quick_jit
    def run(network):
        ways = (plain_latents, training_latents)
        return [way(network, layout, (driver,), examples.num_steps) for way in ways]

    expected, found = map(jax.tree.leaves, run(fresh(*own[name])))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_weight_of_a_processor_learns(own):
    tasks, examples = case("na")
    noise = draw_noise(tasks, examples, 2, jax.random.key(0))

    @quick_jit
    @jax.grad
    def gradient(network):
        return jnp.mean(objective(network, tasks, examples, noise, "best")[0])

    (processor,) = gradient(fresh(*own["processor"])).processors
    assert all(np.any(leaf != 0) for leaf in jax.tree.leaves(processor))


@pytest.fixture
def on_gpu(monkeypatch):
    """As if the default device were a GPU that has kernels."""
    monkeypatch.setattr(executor, "default_platform", lambda: "gpu")
    monkeypatch.setattr(training_rollouts, "kernels_run", lambda: True)


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize("network", [NE, NEPlusPlus])
def test_a_subclass_is_not_folded(network):
    class Inherits(network):
        pass

    assert fresh(network).can_fold
    assert not fresh(Inherits).can_fold


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize("network", [NE, NEPlusPlus])
def test_kernels_and_folding_are_for_the_default_processor(own, network):
    _, examples = case("tf")
    layout = one(examples.layouts, 0)
    plain, other = fresh(network), fresh(network, own["processor"][1])
    assert plain.can_fold
    assert training_layout(plain, layout).neighbours is not None
    assert not other.can_fold
    assert training_layout(other, layout) is layout


def test_a_part_of_a_network_is_of_its_class():
    class Inherits(NEPlusPlus):
        pass

    part = fresh(Inherits, names=("prim", "dijkstra")).for_task(1)
    assert type(part) is Inherits
    assert part.algorithms == (ALGORITHMS["dijkstra"],)
