"""Wrong arguments of networks and rollouts get a sentence; right ones pass, traced or not."""

import jax
import jax.numpy as jnp
import pytest

from algotransfer import sample_graphs
from algotransfer.algorithms import ALGORITHMS
from algotransfer.networks import MODELS, NE, Driver, State, make_layouts, rollout

BFS = (ALGORITHMS["bfs"],)
GRAPHS = sample_graphs("er", 2, 5)
LAYOUT = jax.tree.map(lambda leaf: leaf[0], make_layouts(GRAPHS, ("one",)))
START = State(jnp.zeros(5), jnp.zeros(5))
KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def network():
    return NE.create(BFS, 3, KEY)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"algorithms": ("bfs",)}, "expected a tuple, each item an Algorithm"),
        ({"algorithms": ()}, "a network of no algorithms; expected at least one"),
        ({"hidden": 0}, "hidden=0; expected 1 to 16,384"),
        ({"key": 3}, r"key is 3 .*of type int.*; expected a key, as of jax.random.key\(0\)"),
        ({"key": jax.random.split(KEY)}, "PRNGKeyArray.; expected a key, as of"),
    ],
)
def test_create(model, wrong, said):
    with pytest.raises((TypeError, ValueError), match=said):
        MODELS[model].create(**{"algorithms": BFS, "hidden": 3, "key": KEY, **wrong})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"graphs": GRAPHS[0]}, r"graphs of batch shape \(\); expected .*a batch"),
        ({"kinds": ()}, "expected at least one of 'weight' and 'one'"),
        ({"kinds": ("wieght",)}, "unknown edge feature 'wieght' .did you mean 'weight'"),
        ({"layout": "round"}, "layout='round'; choose 'dense' or 'sparse'"),
    ],
)
def test_make_layouts(wrong, said):
    with pytest.raises(ValueError, match=said):
        make_layouts(**{"graphs": GRAPHS, "kinds": ("one",), **wrong})


def test_methods(network):
    with pytest.raises(ValueError, match="task=1; expected 0 to 0"):
        network.only(1)
    with pytest.raises(TypeError, match="NE.start: num_nodes is 2.5"):
        network.start(2.5)
    with pytest.raises(ValueError, match="num_nodes=0; expected 1 to 1,000,000"):
        network.start(0)
    several = jax.tree.map(lambda leaf: leaf[None], network)
    with pytest.raises(ValueError, match="NE.process: .* do not fit this network .*take one") as it:
        several.process((jnp.zeros((5, 1)),), network.start(5), LAYOUT)
    assert it.value.__cause__ is not None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"drivers": ()}, "0 drivers for a network of 1 algorithms; expected one for each"),
        ({"drivers": Driver(START, jnp.int32(2))}, "expected a tuple, each item a Driver"),
        ({"num_steps": 0}, "num_steps=0; expected 1 to 10,000,000"),
        ({"layout": None}, "layout is None"),
        (
            {"drivers": (Driver(START, jnp.int32(2), noise=jnp.zeros((3, 5))),)},
            r"the noise of a driver of shape \(3, 5\); expected \(2, 5\)",
        ),
        (
            {"drivers": (Driver(State(jnp.zeros(4), jnp.zeros(4)), jnp.int32(2)),)},
            r"the start of a driver of shape \(4,\); expected \(5,\)",
        ),
    ],
)
def test_rollout(network, wrong, said):
    drivers = (Driver(START, jnp.int32(2)),)
    right = {"network": network, "layout": LAYOUT, "drivers": drivers, "num_steps": 2}
    with pytest.raises((TypeError, ValueError), match=said):
        rollout(**{**right, **wrong})


def test_traced_arguments_pass(network):
    @jax.jit
    def last_key(network, graphs):
        layouts = make_layouts(graphs, network.kinds, "sparse")
        one = lambda layout: rollout(network, layout, (Driver(START, jnp.int32(2)),), 2)  # noqa: E731
        return jax.vmap(one)(layouts).states[0].key

    assert last_key(network, GRAPHS).shape == (2, 5)
