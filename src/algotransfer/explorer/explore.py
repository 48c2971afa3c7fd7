"""`explore`: a page on which an algorithm and trained networks run, step by step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from algotransfer.algorithms import Algorithm, get_algorithm
from algotransfer.algorithms.run import check_relax, check_structure, check_weights
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment, differing_settings
from algotransfer.explorer.page import Viewer
from algotransfer.explorer.page_data import page_data
from algotransfer.graphs import GraphLike, to_named_graph
from algotransfer.graphs.named import check_names
from algotransfer.training.runs import Model, load_model

MAX_EXPLORE_NODES = 500

AnyModel = str | Path | Model


def explore(
    graph: GraphLike,
    models: AnyModel | Sequence[AnyModel] | Mapping[str, AnyModel] = (),
    *,
    source: Hashable = None,
    algorithm: str | Algorithm | Sequence[str | Algorithm] | None = None,
    names: Sequence[Hashable] | None = None,
    seed: int | None = None,
    blind: bool = False,
    halt: str | None = None,
    title: str | None = None,
) -> Viewer:
    """Show an algorithm's execution step by step, next to those of trained networks.

    The page runs both itself: edit the graph there, and they answer at once. Networks and
    algorithms of your own that only Python can run are recorded for the given graph.

    **Arguments:**

    - `graph`: a single graph of up to 500 nodes: a `Graph`, a networkx graph, a scipy sparse
        matrix, a `Data` of PyTorch Geometric, or the path of a graph file.
    - `models`: models that have learned one algorithm, or their names (see `list_models`), run
        folders or weights files; a mapping gives them labels of your own. None shows the
        algorithm alone.
    - `source`: node from which to start, or its index; by default the source that the graph has,
        or the first node.
    - `algorithm`: what to show without a model, Dijkstra's by default; several can be switched.
    - `names`: names of the nodes; by default those that the graph has.
    - `seed`: which of the models' networks; by default the first that did not diverge.
    - `blind`: tell the networks nothing of the answer, as `execute` does. By default they are told
        what evaluation tells them: what stands for ∞ and, in `na`, the number of steps. The page
        can switch that.
    - `halt`: when the answers of networks are read, a name of `HALTING_RULES`, which the page can
        switch. By default `told`, or the rule of `execute` for blind networks.

    **Returns:** a `Viewer`, which a notebook displays; `.save(path)` writes one HTML file.
    """
    named = to_named_graph(graph, source)
    graph, names = named.graph, named.names if names is None else names
    if graph.num_nodes > MAX_EXPLORE_NODES:
        raise UserError(
            f"the graph has {graph.num_nodes} nodes; `explore` shows at most {MAX_EXPLORE_NODES}: "
            "pass a subgraph"
        )
    names = [str(name) for name in check_names(names, graph.num_nodes)]
    loaded = _load(models)
    algorithms = _algorithms(algorithm, loaded)
    if not loaded and (seed is not None or blind or halt is not None):
        raise UserError(
            "the seed of a model, blind and halt are settings of networks; name a trained model, "
            "or leave them out"
        )
    for each in algorithms:
        check_relax(each)
        check_structure(each, graph)
        check_weights(each, graph, names)
    title = title or f"{graph.num_nodes} nodes, {int(graph.num_edges())} edges"
    return Viewer(page_data(graph, names, algorithms, loaded, title, seed, blind, halt))


def sample_title(family: str, num_nodes: int, seed: int) -> str:
    """Return the title of a sampled graph."""
    return f"{family} graph of {num_nodes} nodes, seed {seed}"


def model_label(model: Model) -> str:
    """Return a short label of a model: network, supervision, and what else its name says."""
    experiment = model.experiment
    parts = [f"{experiment.model.upper()} {experiment.supervision}"]
    if experiment.processor != Experiment.processor:
        parts.append(experiment.processor)
    if experiment.method != "none":
        parts.append(f"{experiment.method.replace('_', ' ')} ({' + '.join(experiment.base)})")
    if experiment.select != "best":
        parts.append("mean of trajectories")
    if experiment.extra_steps:
        parts.append(f"{experiment.extra_steps} extra steps")
    if experiment.infinity != "instance":
        parts.append(f"∞ = {experiment.infinity:g}")
    return ", ".join(parts)


def _load(models) -> dict[str, Model]:
    if isinstance(models, Mapping):
        return {str(k): load_model(model) for k, model in models.items()}
    several = models if isinstance(models, Sequence) and not isinstance(models, str) else [models]
    loaded = [load_model(model) for model in several]
    differing = differing_settings([model.experiment for model in loaded])
    labelled: dict[str, Model] = {}
    for model, settings in zip(loaded, differing, strict=True):
        whole = ", ".join(filter(None, (model_label(model), settings)))
        label, copies = whole, 1
        while label in labelled:
            copies += 1
            label = f"{whole} ({copies})"
        labelled[label] = model
    return labelled


def _algorithms(given, models: Mapping[str, Model]) -> list[Algorithm]:
    single = isinstance(given, str | Algorithm)
    wanted = [get_algorithm(one) for one in ([given] if single else given or ())]
    learned = {label: get_algorithm(model.experiment.target) for label, model in models.items()}
    if len(set(learned.values())) > 1:
        said = ", ".join(f"{label}: {one.name}" for label, one in learned.items())
        raise UserError(f"these models have learned different algorithms ({said}); explore one")
    if not learned:
        return wanted or [get_algorithm("dijkstra")]
    target = next(iter(learned.values()))
    if wanted and wanted != [target]:
        asked = ", ".join(one.name for one in wanted)
        raise UserError(
            f"these models have learned {target.name}, not {asked}; leave --algorithm out"
        )
    return [target]
