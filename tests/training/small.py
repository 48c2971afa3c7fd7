"""Tiny data for training: graphs of six nodes; one of them has nodes out of reach."""

from functools import lru_cache

import jax
import numpy as np
from networks.plain import PlainGraph
from networks.weights import draw_weights, plain_network, to_network

from algotransfer.algorithms import ALGORITHMS
from algotransfer.datasets import Dataset, make_dataset
from algotransfer.networks import make_layouts
from algotransfer.networks.executor import edge_kinds
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.examples import make_examples
from algotransfer.training.objective import Examples, Task


@lru_cache
def graphs(num_nodes: int = 6, per_family: int = 3, split: str = "train") -> Dataset:
    """ER graphs, then grids."""
    return make_dataset(("er", "grid"), per_family, num_nodes, seed=6, split=split)


def plain_graph(dataset: Dataset, number: int) -> PlainGraph:
    """One graph of a dataset."""
    return PlainGraph.from_matrix(np.asarray(dataset.graphs[number].weight_matrix()))


def tasks_of(names: tuple[str, ...], supervisions: tuple[str, ...]) -> tuple[Task, ...]:
    """Algorithms and how each is supervised."""
    return tuple(
        Task(ALGORITHMS[name], SUPERVISIONS[supervision])
        for name, supervision in zip(names, supervisions, strict=True)
    )


def examples_of(tasks, dataset: Dataset, infinity="instance", layout=None) -> Examples:
    """What a program trains on."""
    examples = make_examples(tasks, dataset, infinity)
    if layout is None:
        return examples
    kinds = edge_kinds(tuple(task.algorithm for task in tasks))
    return Examples(make_layouts(dataset.graphs, kinds, layout), examples.truths)


def one(tree, number: int):
    """One entry of a batch."""
    return jax.tree.map(lambda leaf: leaf[number], tree)


def networks(model: str, names: tuple[str, ...], hidden: int = 3, seed: int = 0, **options):
    """A network of the package and the plain one, with the same random weights."""
    weights = draw_weights(np.random.default_rng(seed), model, names, hidden, **options)
    return to_network(model, names, weights), plain_network(model, names, weights)
