"""A page about a grid, and untrained networks."""

from dataclasses import fields, replace

import jax
import pytest

from algotransfer.experiment import Experiment
from algotransfer.explorer import explore
from algotransfer.graphs import sample_graphs
from algotransfer.networks import NE
from algotransfer.training import Model
from algotransfer.training.examples import network_of

GRAPH = sample_graphs("grid", 1, 50, seed=1, split="test")[0]
MODELS = {"with steps": "ne-dijkstra-tf", "answers only": "ne++-dijkstra-na"}


@pytest.fixture(scope="module")
def viewer():
    return explore(GRAPH, MODELS, title="a grid")


@pytest.fixture(scope="module")
def page(viewer, tmp_path_factory):
    return viewer.save(tmp_path_factory.mktemp("pages") / "grid.html")


def untrained(**fields) -> Model:
    """A small network with random weights: what it does is nonsense, but it does something."""
    experiment = Experiment(**{"hidden": 4, **fields})
    network = network_of(experiment, jax.random.key(0))
    count = len(experiment.tasks)
    card = {"diverged": [False], "infinity": [3.0] * count, "horizon": 8}
    return Model(experiment, (0,), jax.tree.map(lambda leaf: leaf[None], network), card)


class OwnNE(NE):  # pyright: ignore[reportGeneralTypeIssues]
    """A network of a user, which the page cannot run: it knows the exact class only."""


@pytest.fixture(scope="session")
def model():
    return untrained


@pytest.fixture(scope="session")
def own_model():
    """An untrained network that only Python can run."""
    trained = untrained(supervision="tf")
    weights = {each.name: getattr(trained.networks, each.name) for each in fields(trained.networks)}
    return replace(trained, networks=OwnNE(**weights))
