"""`make_scene`: everything that a page shows, as JSON-compatible data."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex

from algotransfer.algorithms import Algorithm, get_algorithm, run
from algotransfer.draw import BEST, WORST
from algotransfer.explorer.divergence import count_answers, errors, find_divergence, right_choices
from algotransfer.explorer.recording import RecordedExecution, RecordedRun, record_trace
from algotransfer.graphs import Graph
from algotransfer.graphs.named import unique_edges
from algotransfer.node_layout import place_nodes
from algotransfer.training.runs import Model

MAX_EXPLORE_NODES = 500
MIN_PROBABILITY = 0.0005  # smaller probabilities are left out
SHORT = 24  # characters of a shortened name
SHADES = 12

Data = dict[str, Any]


def make_scene(
    graph: Graph,
    names: Sequence[str],
    algorithms: Sequence[str | Algorithm],
    recorded: Mapping[str, tuple[Model, RecordedRun]],
    title: str,
) -> Data:
    """Return the graph, the true executions, and those of networks for the first algorithm."""
    chosen = [get_algorithm(algorithm) for algorithm in algorithms]
    truths = [record_trace(algorithm, run(algorithm, graph)) for algorithm in chosen]
    short = [shortened(name) for name in names]
    shades = matplotlib.colormaps["viridis"](np.linspace(BEST, WORST, SHADES))
    return {
        "title": title,
        "graph": {
            "names": list(names),
            "short": short,
            "places": np.round(place_nodes(graph), 3).tolist(),
            "edges": [[u, v, number(float(w))] for u, v, w in unique_edges(graph)],
            "source": int(graph.source),
            **({"directed": True} if graph.directed else {}),
        },
        "shades": [to_hex(shade) for shade in shades],
        "truths": [
            {
                "name": algorithm.name,
                "title": algorithm.title,
                "sequential": algorithm.sequential,
                "binary": algorithm.binary,
                "smaller": algorithm.smaller_is_better,
                "unreached": number(algorithm.unreached_key),
                "range": key_range(truth),
                **execution(truth),
            }
            for algorithm, truth in zip(chosen, truths, strict=True)
        ],
        "networks": [
            _network(label, model, seen, chosen[0], graph, truths[0], short)
            for label, (model, seen) in recorded.items()
        ],
    }


def _network(
    label: str,
    model: Model,
    recorded: RecordedRun,
    algorithm: Algorithm,
    graph: Graph,
    truth: RecordedExecution,
    short: Sequence[str],
) -> Data:
    seen = until_the_end(recorded.execution, truth)
    divergence = find_divergence(algorithm, graph, truth, seen, short)
    wrong, worse, reached = count_answers(algorithm, graph, truth, seen)
    curves = errors(algorithm, truth, seen, recorded.infinity, recorded.unit)
    right = {}
    if seen.chosen is not None:
        right = {"right": "".join(str(int(one)) for one in right_choices(truth, seen))}
    return {
        "label": label,
        "experiment": model.experiment.name,
        "seed": recorded.seed,
        "infinity": number(recorded.infinity),
        "told": recorded.told,
        "divergence": {
            "step": divergence.step,
            "node": divergence.node,
            "sentence": divergence.sentence,
        },
        "wrong": [wrong, reached] if algorithm.predicts_predecessors else None,
        "worse": worse,
        "errors": {name: [number(one) for one in curve] for name, curve in curves.items()},
        **right,
        **execution(seen),
    }


def until_the_end(seen: RecordedExecution, truth: RecordedExecution) -> RecordedExecution:
    """Drop the steps after both the network and the algorithm have terminated."""
    if seen.stop is None:
        return seen
    ended = np.flatnonzero(seen.stop > 0.5)
    own = int(ended[0]) + 1 if ended.size else seen.num_steps
    last = min(max(own, truth.num_steps), seen.num_steps)

    def cut(values, length: int):
        return None if values is None else values[:length]

    return RecordedExecution(
        key=seen.key[: last + 1],
        held=seen.held[: last + 1],
        pred=seen.pred[: last + 1],
        reached=seen.reached[: last + 1],
        visited=cut(seen.visited, last + 1),
        chosen=cut(seen.chosen, last),
        probability=cut(seen.probability, last),
        stop=seen.stop[:last],
    )


def execution(seen: RecordedExecution) -> Data:
    """Return an execution as lists; a state is a digit (0 unreached, 1 reached, 2 visited)."""
    state = seen.reached.astype(int)
    if seen.visited is not None:
        state = np.where(seen.visited, 2, state)
    key = [
        [number(value) if held else None for value, held in zip(*row, strict=True)]
        for row in zip(seen.key.tolist(), seen.held.tolist(), strict=True)
    ]
    data: Data = {
        "key": key,
        "pred": seen.pred.tolist(),
        "state": ["".join(map(str, row)) for row in state.tolist()],
    }
    if seen.chosen is not None:
        data["chosen"] = seen.chosen.tolist()
    if seen.probability is not None:
        data["chance"] = [_likely(row) for row in seen.probability]
    if seen.stop is not None:
        data["stop"] = [number(value) for value in seen.stop.tolist()]
    return data


def _likely(probability: np.ndarray) -> list[list]:
    """Return pairs of a node and its probability, the most likely first."""
    order = np.argsort(-np.nan_to_num(probability), kind="stable")
    return [
        [int(v), round(float(probability[v]), 3)]
        for v in order
        if probability[v] >= MIN_PROBABILITY
    ]


def number(value: float) -> float | str:
    """Round to five digits; infinity and NaN become text, since JSON has neither."""
    return float(f"{value:.5g}") if np.isfinite(value) else str(float(value))


def key_range(truth: RecordedExecution) -> list[float]:
    """Return the smallest and largest finite key, between which colours are spread."""
    shown = truth.key[truth.held & np.isfinite(truth.key)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    return [low, high if high > low else low + 1]


def shortened(name: str) -> str:
    """Shorten a name to one line of at most 24 characters."""
    line = " ".join(name.split()) or "·"
    return line if len(line) <= SHORT else line[: SHORT - 1] + "…"
