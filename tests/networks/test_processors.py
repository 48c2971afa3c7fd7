"""Processors: the examples train with NE and NE++, in both layouts, and are chosen by name."""

import json
import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import LAYOUTS, padded_layout, quick_jit, random_graphs
from training.small import graphs

from algotransfer import Experiment, train
from algotransfer.algorithms import ALGORITHMS
from algotransfer.datasets import Splits
from algotransfer.errors import UserError
from algotransfer.networks import MODELS, PROCESSORS, MaxMPNN, Processor, create_network

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {
    "sum_mpnn": "09_add_a_sum_processor.py",
    "gatv2": "10_add_an_attention_processor.py",
    "triplet_gmpnn": "11_add_a_processor_with_edge_state.py",
}
ALGORITHM = (ALGORITHMS["dijkstra"],)


@pytest.fixture(scope="module", autouse=True)
def example_processors():
    """Register the processors of the examples for the tests of this module."""
    registered = dict(PROCESSORS)
    for file in FILES.values():
        runpy.run_path(str(EXAMPLES / file))  # without training
    yield
    PROCESSORS.clear()
    PROCESSORS.update(registered)


@pytest.mark.parametrize("model", ["ne", pytest.param("ne++", marks=pytest.mark.slow)])
@pytest.mark.parametrize("processor", FILES)
def test_steps_and_gradients_agree_in_both_layouts(processor, model):
    network = create_network(model, ALGORITHM, 4, jax.random.key(0), processor)
    rng = np.random.default_rng(1)
    graph = random_graphs(rng, 3, 6)[1]
    features = (jnp.asarray(rng.normal(size=(6, 2)), jnp.float32),)

    @quick_jit
    def run(network, layout):
        def total(network):
            memory = network.start(layout)
            for _ in range(3):
                memory, (latent,) = network.process(features, memory, layout)
            return jnp.sum(jnp.sin(latent.hidden))

        return jax.value_and_grad(total)(network)

    dense, sparse = (run(network, padded_layout(graph, network.kinds, name)) for name in LAYOUTS)
    for ours, theirs in zip(*map(jax.tree.leaves, (dense, sparse)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    for leaf in jax.tree.leaves(dense[1].processors):
        assert np.all(np.isfinite(leaf))
        assert np.any(leaf != 0)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ne", "ne++"])
@pytest.mark.parametrize("processor", FILES)
def test_training_lowers_the_loss(processor, model, tmp_path):
    data = {split: graphs(6, 8, split) for split in ("train", "validation", "test")}
    splits = Splits(data["train"], data["validation"], {6: data["test"]})
    experiment = Experiment(
        model=model,
        processor=processor,
        target="bellman_ford",
        supervision="tf",
        hidden=8,
        batch_size=8,
        learning_rate=3e-3,
        max_epochs=3,
    )
    folder, _ = train(experiment, seeds=1, data=splits, folder=tmp_path, show=False)
    rows = (folder / "metrics.jsonl").read_text().splitlines()
    losses = [np.mean(json.loads(row)["train_loss"]) for row in rows]
    assert np.all(np.isfinite(losses))
    assert losses[-1] < losses[0]


def test_a_processor_is_chosen_by_name():
    default, named = Experiment(), Experiment(processor="gatv2")
    assert "processor" not in default.to_json()
    assert Experiment.from_json(named.to_json()) == named
    assert named.name == "ne-gatv2-dijkstra-na"
    for processor, kind in PROCESSORS.items():
        network = create_network("ne", ALGORITHM, 4, jax.random.key(0), processor)
        assert type(network.processors[0]) is kind
    with pytest.raises(UserError, match="unknown processor 'gatv1'.*gatv2"):
        create_network("ne", ALGORITHM, 4, jax.random.key(0), "gatv1")
    with pytest.raises(UserError, match="relaxation executor"):
        create_network("relax", ALGORITHM, 4, jax.random.key(0), "gatv2")


def test_the_default_processor_is_registered():
    assert PROCESSORS[Experiment.processor] is MaxMPNN
    for model in MODELS:
        create_network(model, ALGORITHM, 4, jax.random.key(0))


class Identity(Processor):
    """Return nodes and edge state unchanged."""

    @classmethod
    def create(cls, hidden, draw):
        return cls()

    def __call__(self, nodes, inputs, layout, edge_state):
        return nodes, edge_state


class OnlyNodes(Identity):
    def __call__(self, nodes, inputs, layout, edge_state):
        return nodes


class Wide(Identity):
    def __call__(self, nodes, inputs, layout, edge_state):
        return jnp.concatenate([nodes, nodes], axis=-1), edge_state


class NewEdgeState(Identity):
    def __call__(self, nodes, inputs, layout, edge_state):
        return nodes, inputs.linear(jnp.ones((12, 2)))


class WithoutCreate(Processor):
    def __call__(self, nodes, inputs, layout, edge_state):
        return nodes, edge_state


@pytest.mark.parametrize(
    ("processor", "message"),
    [
        (OnlyNodes, r"OnlyNodes did not return two values; expected \(updated nodes, edge state\)"),
        (Wide, r"updated nodes of processor Wide of shape \(6, 8\); expected \(6, 4\)"),
        (NewEdgeState, r"NewEdgeState got the edge state None and returned float32 \(\d+, 2\)"),
        (WithoutCreate, "WithoutCreate.*; expected a subclass of Processor with `create`"),
        (Identity(), r"Identity\(\); expected a subclass of Processor"),
    ],
)
def test_mistakes_in_a_processor_are_named(processor, message, monkeypatch):
    monkeypatch.setitem(PROCESSORS, "wrong", processor)
    graph = random_graphs(np.random.default_rng(1), 3, 6)[1]

    def step():
        network = create_network("ne", ALGORITHM, 4, jax.random.key(0), "wrong")
        layout = padded_layout(graph, network.kinds, "sparse")
        return network.process((jnp.zeros((6, 2)),), network.start(layout), layout)

    with pytest.raises(UserError, match=message):
        jax.eval_shape(step)
