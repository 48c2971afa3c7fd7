"""Networks of one's own train by their own steps: what is trained is what is evaluated."""

import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import quick_jit
from training.small import examples_of, graphs, one, tasks_of

from algotransfer.algorithms import ALGORITHMS
from algotransfer.networks import MODELS, NE, NEPlusPlus, executor, latents
from algotransfer.networks.layouts.listed import Listed
from algotransfer.training.objective import draw_noise, objective
from algotransfer.training.training_rollouts import plain_latents, training_latents, training_layout

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def own():
    """The networks that the example and the page about networks add, by where they come from."""
    registered = dict(MODELS)
    example, page = {}, {}
    # The rest of the example trains.
    exec((ROOT / "examples/07_add_a_network.py").read_text().split("\nsplits = ")[0], example)
    text = (ROOT / "docs/how-to/networks.md").read_text()
    for block in re.findall(r"(?<!-->\n)```python\n(.*?)```", text, re.DOTALL):
        exec(block, page)
    MODELS.clear()
    MODELS.update(registered)
    return {
        "example": example["ReluNE"],
        "page, network": page["ReluNE"],
        "page, processor": page["GatedNE"],
        "processor": page["GatedProcessor"],
    }


def case(supervision):
    tasks = tasks_of(("dijkstra",), (supervision,))
    return tasks, examples_of(tasks, graphs(per_family=1), layout="dense")


def fresh(network, *names):
    algorithms = tuple(ALGORITHMS[name] for name in names or ("dijkstra",))
    return network.create(algorithms, hidden=4, key=jax.random.key(1))


@pytest.mark.parametrize("supervision", ["tf", "na"])
@pytest.mark.parametrize("name", ["example", "page, network", "page, processor"])
def test_training_takes_the_steps_of_evaluation(own, name, supervision):
    (task,), examples = case(supervision)
    layout, (truth,) = one(examples.layouts, 0), one(examples.truths, 0)
    noise = jax.random.gumbel(jax.random.key(3), truth.key[1:].shape) if task.samples else None
    driver = task.supervision.driver(True, truth, noise)

    @quick_jit
    def run(network):
        ways = (plain_latents, training_latents)
        return [way(network, layout, (driver,), examples.num_steps) for way in ways]

    expected, found = map(jax.tree.leaves, run(fresh(own[name])))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_weight_of_a_processor_learns(own):
    tasks, examples = case("na")
    noise = draw_noise(tasks, examples, 2, jax.random.key(0))

    @quick_jit
    @jax.grad
    def gradient(network):
        return jnp.mean(objective(network, tasks, examples, noise, "best")[0])

    (processor,) = gradient(fresh(own["page, processor"])).processors
    assert all(np.any(leaf != 0) for leaf in jax.tree.leaves(processor))


@pytest.fixture
def on_gpu(monkeypatch):
    """As if the default device were a GPU that has kernels."""
    monkeypatch.setattr(executor, "default_platform", lambda: "gpu")
    monkeypatch.setattr(latents, "kernels_run", lambda: True)


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize("network", [NE, NEPlusPlus])
def test_only_a_class_that_says_so_is_folded(network):
    class Inherits(network):
        pass

    class InheritsAgain(Inherits):
        pass

    class SaysSo(network):
        folded_on = network.folded_on

    assert fresh(network).folds
    assert fresh(SaysSo).folds
    assert not fresh(Inherits).folds
    assert not fresh(InheritsAgain).folds


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize("network", [NE, NEPlusPlus])
def test_kernels_and_folding_are_for_the_paper_s_processor(own, network):
    _, examples = case("tf")
    layout = one(examples.layouts, 0)
    plain = fresh(network)
    gated = fresh(own["page, processor"]).processors
    other = eqx.tree_at(lambda network: network.processors, plain, gated)
    assert plain.folds
    assert isinstance(training_layout(plain, layout), Listed)
    assert not other.folds
    assert training_layout(other, layout) is layout


def test_a_part_of_a_network_is_of_its_class():
    class Inherits(NEPlusPlus):
        pass

    part = fresh(Inherits, "prim", "dijkstra").only(1)
    assert type(part) is Inherits
    assert part.algorithms == (ALGORITHMS["dijkstra"],)
