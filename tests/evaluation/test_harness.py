"""Free-running execution: step by step as by hand, blind to the truth, the same in both layouts."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from evaluation import cases

from algotransfer.algorithms import Trace, get_algorithm
from algotransfer.evaluation import harness as module
from algotransfer.evaluation.evaluation_batch import EvaluationBatch, first_and_last
from algotransfer.evaluation.harness import FreeRun, graphs_per_chunk
from algotransfer.experiment import Experiment
from algotransfer.graphs import sample_graphs
from algotransfer.networks.layouts.dense import dense_layout

NUM_NODES = 6
SINGLE = [
    Experiment(model="ne", target="dijkstra", supervision="tf", hidden=4),
    Experiment(model="ne++", target="prim", supervision="tf", hidden=4),
    Experiment(model="ne", target="bellman_ford", supervision="tf", hidden=4),
    Experiment(model="ne++", target="widest_seq", supervision="na", hidden=4),
    Experiment(model="ne", target="bfs", supervision="na", hidden=4),
]
JOINT = [
    Experiment(
        model=model, target=target, supervision="na", method="multitask", base=base, hidden=4
    )
    for model in ("ne", "ne++")
    for target, base in [("dijkstra", ("prim",)), ("bellman_ford", ("bfs",))]
]


def name_of(experiment):
    return experiment.name


def prepare(experiment, graphs=None, count=2):
    graphs = cases.some_graphs(NUM_NODES) if graphs is None else graphs
    return EvaluationBatch.prepare(cases.fresh_model(experiment, count), graphs)


def executed(batch, **changes):
    batch = dataclasses.replace(batch, run=dataclasses.replace(batch.run, **changes))
    return jax.tree.map(np.asarray, batch.execute(np.arange(len(batch.graphs))))


@pytest.mark.parametrize(
    "experiment",
    SINGLE[:3] + [pytest.param(each, marks=pytest.mark.slow) for each in SINGLE[3:] + JOINT],
    ids=name_of,
)
def test_steps_are_those_made_by_hand(experiment):
    batch = prepare(experiment)
    for run in batch.runs.values():
        check_steps(experiment, dataclasses.replace(batch, run=run))


def test_parallel_networks_taught_by_steps_also_run_masked():
    rows = {experiment.name: list(prepare(experiment).runs) for experiment in SINGLE + JOINT}
    masked = [name for name, of_run in rows.items() if of_run == ["network", "masked"]]
    assert masked == ["ne-bellman_ford-tf"]
    batch = prepare(SINGLE[2])
    key, masked = (executed(batch, tasks=run.tasks).key for run in batch.runs.values())
    assert not np.array_equal(key, masked)


def check_steps(experiment, batch):
    got = executed(batch)
    for seed in range(2):
        network = jax.tree.map(lambda leaf, seed=seed: leaf[seed], batch.run.networks)
        for g in (0, 3, len(batch.graphs) - 1):
            steps = by_hand(network, batch, g)
            every_step = experiment.supervision == "tf"
            length = int(batch.end.length[g])
            steps = steps if every_step else steps[length - 1 : length]
            key, pointer, chosen, stop = zip(*steps, strict=True)
            np.testing.assert_allclose(got.key[seed, g], key, rtol=1e-4, atol=1e-5)
            assert got.pointer[seed, g].tolist() == [list(p) for p in pointer]
            if every_step:
                np.testing.assert_allclose(got.stop[seed, g], stop, rtol=1e-4, atol=1e-5)
            if every_step and get_algorithm(experiment.target).sequential:
                assert got.chosen[seed, g].tolist() == list(chosen)


@eqx.filter_jit
def process(network, inputs, memory, layout):
    """One step of a network: memory, and what its heads say about every task."""
    memory, latents = network.process(inputs, memory, layout)
    last = len(latents) - 1
    scores = network.scores(last, latents[last], layout)
    stop = network.terminate(last, latents[last], layout)
    return memory, scores, stop, [network.decode(k, latent) for k, latent in enumerate(latents)]


def by_hand(network, batch, g):
    """The target's steps in a plain loop: (keys, pointers, node chosen, termination logit)."""
    graph = batch.graphs[g]
    layout = dense_layout(jax.tree.map(jnp.asarray, graph), network.kinds)
    edges, n, source = np.asarray(layout.edges), graph.num_nodes, int(graph.source)
    states = []
    for algorithm, steps in zip(network.algorithms, batch.run.steps, strict=True):
        truth = cases.truth_of(algorithm.name, batch.graphs)
        visited = np.zeros(n) if algorithm.sequential else np.arange(n) == source
        states.append((np.asarray(truth.key[g, 0]), visited.astype(float), int(steps[g])))
    memory, history = network.start(layout), []
    for t in range(n):
        inputs = tuple(
            jnp.stack([visited, key] if a.sequential else [key], axis=-1).astype(jnp.float32)
            for a, (key, visited, _) in zip(network.algorithms, states, strict=True)
        )
        memory, scores, stop, outputs = process(network, inputs, memory, layout)
        task, scores = len(states) - 1, np.asarray(scores)
        allowed = edges.copy()
        carry_all = [task.supervision.carries_all(task.algorithm) for task in batch.run.tasks]
        if network.algorithms[task].sequential and not carry_all[task]:
            visited = states[task][1] > 0
            reached = (edges & visited).any(axis=1) | (np.arange(n) == source)
            allowed &= reached | np.eye(n, dtype=bool)
        pointer = np.where(allowed, scores, -np.inf).argmax(axis=1)
        for k, algorithm in enumerate(network.algorithms):
            y = np.asarray(outputs[k])
            key, visited, length = states[k]
            if carry_all[k] and t >= length:
                continue
            chosen = None
            if algorithm.sequential:
                chosen = int(np.where(visited > 0, -np.inf, y[:, 0]).argmax())
                now = np.arange(n) == chosen
                key = np.where(now | carry_all[k], y[:, 1], key)
                states[k] = (key, visited + now, length)
            else:
                new = (y[:, 0] > 0).astype(float) if algorithm.binary else y[:, 0]
                reached = (edges & (visited > 0)).any(axis=1)
                if not carry_all[k]:
                    visited = reached.astype(float)
                states[k] = (np.where(reached | carry_all[k], new, key), visited, length)
        history.append((states[-1][0], pointer, chosen, stop))
    return history


@pytest.mark.parametrize("experiment", SINGLE + JOINT, ids=name_of)
def test_nothing_of_the_truth_is_read_but_two_numbers(experiment):
    batch = prepare(experiment)
    rng = np.random.default_rng(0)
    tasks, corrupted = batch.run.tasks, []
    for task in tasks:
        ends = first_and_last(task.algorithm, batch.graphs)
        order = rng.permutation(NUM_NODES)  # the largest key, and so ∞'s stand-in, stays
        key, pred = ends.key.copy(), ends.pred.copy()
        key[:, 1] = key[:, 1][:, order]
        pred[:, 1] = rng.integers(-1, NUM_NODES, pred[:, 1].shape)
        visited = ends.visited
        if visited is not None:
            visited = np.stack([visited[:, 0], rng.random(visited[:, 1].shape) < 0.5], axis=1)
        length = ends.length
        if not task.supervision.told_steps:
            length = rng.integers(1, NUM_NODES, length.shape).astype(np.int32)
        corrupted.append(Trace(key, pred, visited, length))
    told = FreeRun.told(batch.run.networks, tasks, corrupted, experiment.infinity)
    expected, got = executed(batch), executed(batch, infinity=told.infinity, steps=told.steps)
    for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("experiment", [SINGLE[0], SINGLE[3], SINGLE[4], JOINT[1]], ids=name_of)
def test_layouts_agree(experiment):
    batch = prepare(experiment)
    dense, sparse = executed(batch, layout="dense"), executed(batch, layout="sparse")
    for ours, theirs in zip(jax.tree.leaves(dense), jax.tree.leaves(sparse), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_plus_plus_runs_its_target_alone():
    prim, dijkstra = get_algorithm("prim"), get_algorithm("dijkstra")
    alone, together = prepare(JOINT[2]), prepare(JOINT[0])
    assert alone.run.networks.algorithms == (dijkstra,)
    assert together.run.networks.algorithms == (prim, dijkstra)
    assert (len(alone.run.tasks), len(together.run.tasks)) == (1, 2)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_pointers_stay_neighbours_when_everything_overflows(layout):
    graphs = cases.some_graphs(NUM_NODES)
    adjacent = np.asarray(graphs.adjacency()) | np.eye(NUM_NODES, dtype=bool)
    for experiment in SINGLE[0], SINGLE[3]:
        batch = prepare(experiment, graphs)
        for scale in (1e6, -1e12, np.nan):
            huge = jax.tree.map(lambda leaf, scale=scale: leaf * scale, batch.run.networks)
            got = executed(batch, networks=huge, layout=layout)
            assert got.pointer.min() >= 0
            assert got.pointer.max() < NUM_NODES
            ok = np.take_along_axis(
                np.broadcast_to(adjacent[:, None], (*got.pointer.shape[1:], NUM_NODES)),
                np.moveaxis(got.pointer, 0, -1),
                axis=-1,
            )
            assert ok.all()


def test_one_program_per_shape():
    module._run.clear_cache()
    batch = prepare(SINGLE[0])
    for _ in range(2):
        executed(batch)
        executed(batch, networks=jax.tree.map(lambda leaf: leaf + 1, batch.run.networks))
    assert module._run._cache_size() == 1
    executed(prepare(SINGLE[0], sample_graphs("er", 3, NUM_NODES)))
    assert module._run._cache_size() == 2


def test_chunks_cover_every_graph_once_with_one_shape(monkeypatch):
    graphs = sample_graphs("er", 11, NUM_NODES)
    batch = prepare(SINGLE[0], graphs)
    monkeypatch.setitem(module.CHUNK_BYTES, "cpu", 4 * 10**4)
    size = graphs_per_chunk(batch.run.networks, graphs, NUM_NODES)
    assert 1 < size < 11
    chunks = list(batch.chunks())
    assert len({len(index) for index, _ in chunks}) == 1
    assert len(chunks[0][0]) <= size
    assert [g for index, new in chunks for g in index[:new]] == list(range(11))
    monkeypatch.setitem(module.CHUNK_BYTES, "cpu", 1)
    assert graphs_per_chunk(batch.run.networks, graphs, NUM_NODES) == 1


def test_chunks_shrink_with_seeds_and_size(monkeypatch):
    monkeypatch.setitem(module.CHUNK_BYTES, "cpu", 2**22)

    def at_once(count, num_nodes, num_steps):
        graphs = sample_graphs("er", 1000, num_nodes)
        networks = jax.eval_shape(lambda: cases.fresh_networks(SINGLE[0], count))
        return graphs_per_chunk(networks, graphs, num_steps)

    assert at_once(1, 20, 20) > at_once(4, 20, 20) > at_once(4, 50, 50)
    assert at_once(1, 20, 1) > at_once(1, 20, 20)
