"""Compare a network's execution with the true one: first divergence and errors by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.frameworks import initial_state
from algotransfer.algorithms.frameworks.sequential import best_queued, visit
from algotransfer.evaluation.metrics import squared, wrong
from algotransfer.evaluation.paths import worse_predecessors
from algotransfer.explorer.recording import RecordedExecution
from algotransfer.graphs import Graph


@dataclass(frozen=True)
class Divergence:
    """The first step at which a network differs from the algorithm (None: never), in words."""

    step: int | None
    node: int | None
    sentence: str


def find_divergence(
    algorithm: Algorithm,
    graph: Graph,
    truth: RecordedExecution,
    network: RecordedExecution,
    names: Sequence[str],
) -> Divergence:
    """Compare choices and pointers (sequential), or pointers and reached nodes (parallel)."""
    compare = _parallel if network.chosen is None else _sequential
    divergence = compare(algorithm, graph, truth, network, names)
    return divergence or Divergence(
        None, None, "The network follows the algorithm to its last step."
    )


def errors(
    algorithm: Algorithm,
    truth: RecordedExecution,
    network: RecordedExecution,
    infinity: float,
    unit: float,
) -> dict[str, list[float]]:
    """Errors after each step 1 … T, over the nodes that the algorithm has done by then.

    Done is visited (sequential) or reached (parallel), so that the last values of an `na` network
    are its `key` and `pred` of evaluation. Keys are divided by `unit`.
    """
    done = truth.reached if truth.visited is None else truth.visited
    result: dict[str, list[float]] = {"key": [], "pred": []}
    for step in range(1, max(truth.num_steps, network.num_steps) + 1):
        t, s = truth.at(step), network.at(step)
        mine, wanted = network.key[s][done[t]], truth.key[t][done[t]]
        wanted = np.where(np.isinf(wanted), infinity, wanted)
        apart = wrong(mine, wanted) if algorithm.binary else squared(mine / unit, wanted / unit)
        result["key"].append(float(np.mean(apart)))
        other = wrong(network.pred[s][done[t]], truth.pred[t][done[t]])
        result["pred"].append(float(np.mean(other)))
    if not algorithm.predicts_predecessors:
        del result["pred"]
    if network.chosen is not None:
        mistaken = np.cumsum(~right_choices(truth, network))
        result["next"] = (mistaken / np.arange(1, len(mistaken) + 1)).tolist()
    return result


def count_answers(
    algorithm: Algorithm, graph: Graph, truth: RecordedExecution, network: RecordedExecution
) -> tuple[int, int, int]:
    """Count the reached nodes with another final predecessor, those with a worse one, and all."""
    reached = truth.reached[-1]
    taught_by_steps = truth.visited is None and network.stop is not None  # parallel
    last = network.pred[network.at(truth.num_steps) if taught_by_steps else -1]
    pointer = np.where(last < 0, np.arange(graph.num_nodes), last)  # none: the node itself
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], graph)
    answer = (pointer[None], truth.key[-1:], truth.pred[-1:])
    worse = worse_predecessors(algorithm, batch, *answer)
    return int((reached & (last != truth.pred[-1])).sum()), int(worse.sum()), int(reached.sum())


def right_choices(
    truth: RecordedExecution, network: RecordedExecution
) -> Bool[np.ndarray, " steps"]:
    """Whether each choice is a queued node with the true best key of its step."""
    assert truth.chosen is not None
    assert network.chosen is not None
    assert truth.visited is not None
    both = min(truth.num_steps, network.num_steps)
    step, mine, theirs = np.arange(both), network.chosen[:both], truth.chosen[:both]
    queued = truth.reached[step, mine] & ~truth.visited[step, mine]
    return queued & (truth.key[step, mine] == truth.key[step, theirs])


def _sequential(algorithm, graph: Graph, truth: RecordedExecution, network, names):
    """Follow the network's choices as long as the algorithm could have made them too.

    Any of several best nodes may be next. After a choice that differs from the trace's, the
    network is compared with the algorithm continued from that choice.
    """
    assert network.chosen is not None
    assert network.probability is not None
    weights = np.full((graph.num_nodes, graph.num_nodes), np.nan, np.float32)
    edges = np.asarray(graph.edge_mask())
    ends = np.asarray(graph.senders)[edges], np.asarray(graph.receivers)[edges]
    weights[ends] = np.asarray(graph.weights)[edges]
    state = initial_state(algorithm, graph.source, graph.num_nodes)
    taught_by_steps = network.stop is not None  # its pointers are fixed when a node is chosen
    for step, node in enumerate(network.chosen.tolist(), start=1):
        best = int(_best_queued(algorithm, state))
        if best == graph.num_nodes:
            break  # the algorithm has ended
        key, pred = np.asarray(state.key), np.asarray(state.pred)
        queued = key[node] != algorithm.unreached_key and not state.visited[node]
        if not queued or key[node] != key[best]:
            given, wanted = network.probability[step - 1][[node, best]]
            return Divergence(
                step,
                node,
                f"step {step}: chose {names[node]} (p {given:.2f}) "
                f"instead of {names[best]} (p {wanted:.2f})",
            )
        pointer = int(network.pred[step, node])
        if taught_by_steps and pointer not in (pred[node], truth.pred[-1, node]):
            return _pointer(step, node, pointer, int(pred[node]), names)
        state = _visit(algorithm, weights, state, jnp.int32(node))
    return _in_the_end(truth, network, names)


_best_queued = partial(jax.jit, static_argnums=0)(best_queued)
_visit = partial(jax.jit, static_argnums=0)(visit)


def _in_the_end(truth: RecordedExecution, network: RecordedExecution, names) -> Divergence | None:
    last = network.num_steps
    unlike = truth.reached[-1] & (network.pred[-1] != truth.pred[-1])
    if not unlike.any():
        return None
    node = int(np.argmax(unlike))
    return _pointer(last, node, int(network.pred[-1, node]), int(truth.pred[-1, node]), names)


def _parallel(algorithm, graph: Graph, truth: RecordedExecution, network: RecordedExecution, names):
    for step in range(1, max(truth.num_steps, network.num_steps) + 1):
        t, s = truth.at(step), network.at(step)
        if algorithm.binary:
            unlike = network.key[s] != truth.key[t]
        else:
            unlike = truth.reached[t] & (network.pred[s] != truth.pred[t])
        if not unlike.any():
            continue
        node = int(np.argmax(unlike))
        others = int(unlike.sum()) - 1
        more = f" (and {others} more {'nodes' if others > 1 else 'node'})" if others else ""
        if algorithm.binary:
            said = "reached" if network.key[s][node] > 0 else "not reached"
            return Divergence(step, node, f"step {step}: says that {names[node]} is {said}{more}")
        return _pointer(
            step, node, int(network.pred[s][node]), int(truth.pred[t][node]), names, more
        )
    return None


def _pointer(step: int, node: int, mine: int, theirs: int, names, more: str = "") -> Divergence:
    def name(other: int) -> str:
        return "nothing" if other < 0 else "itself" if other == node else names[other]

    sentence = f"step {step}: {names[node]} points at {name(mine)} instead of {name(theirs)}{more}"
    return Divergence(step, node, sentence)
