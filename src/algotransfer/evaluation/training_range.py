"""Fit graphs to the training graphs of a model: weights, the stand-in for ∞, graphs seen before.

`evaluate`, `evaluate_by_step` and `execute` fit graphs before anything else. Nothing here reads
the answer of the target.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from algotransfer.algorithms.algorithm import largest_final_key_plus_one
from algotransfer.datasets import Dataset, make_dataset
from algotransfer.datasets.dataset import HASH_DIGITS, graph_hashes
from algotransfer.errors import UserError
from algotransfer.evaluation.harness import target_only
from algotransfer.evaluation.paths import breadth_first_keys
from algotransfer.files import notify
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.sampling import MAX_WEIGHT, MIN_WEIGHT
from algotransfer.training.examples import tasks_of
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model
from algotransfer.type_checks import check_types

MAX_SAMPLED = 2_000_000  # nodes of the training graphs of a family, up to which they are sampled
TOLERANCE = 1.1  # factor by which the spread of weights may exceed that in training, unwarned
MARGIN = 0.05  # share of the training range by which weights may lie outside of it, unwarned


class FittedGraphs(NamedTuple):
    """Graphs as the networks of a model see them.

    **Arguments:**

    - `weight_factor`: what the weights of each graph were multiplied by, a power of two.
    - `key_factor`: what the target's keys are multiplied by in consequence.
    """

    graphs: Graph
    weight_factor: Float[np.ndarray, " graphs"]
    key_factor: Float[np.ndarray, " graphs"]


def fit_graphs(model: Model, graphs: Graph) -> FittedGraphs:
    """Rescale the weights of a batch to those of the training graphs; warn where that fails.

    Weights in the training range stay as they are. Others are multiplied by the power of two that
    brings their median closest to the middle of the training range, if the answer is the same
    (`Algorithm.scaling`). Powers of two change no rounding, so ties stay ties. Weights that cannot
    be rescaled cause a `Notice` if they lie outside the training range by more than 5 % of it.
    """
    _warn_of_training_graphs(model, graphs)
    same = np.ones(len(graphs), np.float32)
    _, tasks = target_only(model.networks, tasks_of(model.experiment))
    algorithms = [task.algorithm for task in tasks if task.algorithm.weighted]
    known = training_weights(model)
    edges = np.asarray(graphs.edge_mask())
    if known is None or not algorithms or not edges.any():
        return FittedGraphs(graphs, same, same)

    low, high = known
    weights = np.asarray(graphs.weights)
    smallest = np.min(weights, axis=-1, where=edges, initial=np.inf)
    largest = np.max(weights, axis=-1, where=edges, initial=-np.inf)
    outside = (smallest < low) | (largest > high)
    if not outside.any():
        return FittedGraphs(graphs, same, same)
    fixed = [a for a in algorithms if a.scaling is None]
    rescaled = outside & (smallest > 0) & np.isfinite(largest) & (not fixed)
    trained = f"the network was trained on {low:.4g} to {high:.4g}"
    margin = MARGIN * (high - low)
    far = (smallest < low - margin) | (largest > high + margin)
    for graph in np.flatnonzero(far & ~rescaled)[:1]:
        why = f", and weights of {fixed[0].name} cannot be rescaled" if fixed else ""
        notify(
            f"weights go from {smallest[graph]:.4g} to {largest[graph]:.4g}, {trained}{why}; "
            "expect more mistakes, or train on graphs like these"
        )
    ratio = np.where(rescaled, largest / np.where(rescaled, smallest, 1), 0)
    widest = np.argmax(ratio)
    if ratio[widest] * low > TOLERANCE * high:
        notify(
            f"weights go from {smallest[widest]:.4g} to {largest[widest]:.4g}, a factor of "
            f"{ratio[widest]:.4g}; {trained}, a factor of {high / low:.4g}: expect more "
            "mistakes of networks other than relax"
        )

    median = np.ones(len(graphs))
    median[rescaled] = np.nanmedian(np.where(edges, weights, np.nan)[rescaled], axis=-1)
    exponent = np.where(rescaled, np.round(np.log2((low + high) / 2 / median)), 0)
    factor = np.exp2(exponent).astype(np.float32)
    graphs = dataclasses.replace(graphs, weights=weights * factor[:, None])
    linear = tasks[-1].algorithm.scaling == "linear"
    return FittedGraphs(graphs, factor, factor if linear else same)


def fit_dataset(model: Model, dataset: Dataset) -> Dataset:
    """Return the dataset with graphs as `fit_graphs` returns them."""
    graphs = fit_graphs(model, dataset.graphs).graphs
    if graphs is dataset.graphs:
        return dataset
    return dataclasses.replace(dataset, graphs=graphs, _traces={})


def training_weights(model: Model) -> tuple[float, float] | None:
    """Smallest and largest weight of a model's training graphs; None if they are not known."""
    if "split" in _training_data(model):
        return MIN_WEIGHT, MAX_WEIGHT
    known = model.card.get("weights")
    return (known[0], known[1]) if known else None


def infinity_without_answer(
    model: Model, tasks: tuple[Task, ...], graphs: Graph
) -> list[Float[np.ndarray, " graphs"]]:
    """Choose the stand-in for ∞ of each task and graph, in the network's units.

    The instance rule is applied to the keys along the paths with the fewest edges. These keys are
    not better than the answer, so the stand-in is above all keys of a shortest path. A model that
    was trained with a constant keeps it where it is large enough.
    """
    chosen = []
    for task, constant in zip(tasks, model.card["infinity"][-len(tasks) :], strict=True):
        key = breadth_first_keys(task.algorithm, graphs)
        bound = np.maximum(task.algorithm.stand_in(key), largest_final_key_plus_one(key))
        bound = bound / np.float32(task.algorithm.unit(graphs.num_nodes))
        fixed = model.experiment.infinity != "instance"
        chosen.append(np.maximum(bound, np.float32(constant)) if fixed else bound)
    return chosen


def _training_data(model: Model) -> Mapping[str, Any]:
    return model.card.get("data", {}).get("train", {})


def _warn_of_training_graphs(model: Model, graphs: Graph) -> None:
    """Warn if the training of the model used some of the graphs."""
    data = _training_data(model)
    if data.get("num_nodes") != graphs.num_nodes:
        return
    known = {"trained on": _known_hashes(model, "train")}
    known["validated on"] = _known_hashes(model, "validation")
    if "split" in data and (sampled := _sample_again(dict(data))) is not None:
        known["trained on"] = {*graph_hashes(sampled)}
    hashes = graph_hashes(graphs)
    counts = {use: sum(one in seen for one in hashes) for use, seen in known.items()}
    uses = [f"{use} {count}" for use, count in counts.items() if count]
    if uses:
        notify(
            f"the model was {' and '.join(uses)} of these {len(graphs)} graphs; evaluate it on "
            "graphs that its training did not use: sample them with split='test', or keep some of "
            "your own graphs in another file"
        )


def _known_hashes(model: Model, split: str) -> set[str]:
    """Return the hashes that a card has of graphs of the user."""
    text = model.card.get("graphs", {}).get(split, "")
    return {text[k : k + HASH_DIGITS] for k in range(0, len(text), HASH_DIGITS)}


def _sample_again(data: dict[str, Any]) -> Graph | None:
    """Sample the training graphs from the arguments on a card; None if that is not possible.

    A card may come from another machine, where other families are registered.
    """
    arguments = {"family": data.pop("graph", None), **data}
    if arguments.keys() - signature(make_dataset).parameters.keys():
        return None
    try:
        arguments = check_types(make_dataset, arguments)
        if arguments["num_graphs"] * arguments["num_nodes"] > MAX_SAMPLED:
            return None
        return make_dataset(**arguments).graphs
    except (UserError, KeyError):
        return None
