"""The page's algorithms and networks, in Chromium, against those of Python on random graphs."""

import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algotransfer.algorithms import ALGORITHMS, get_algorithm, run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.evaluation.evaluation_batch import EvaluationBatch, first_and_last
from algotransfer.evaluation.execute import execute, healthy_seed
from algotransfer.evaluation.harness import FreeRun, target_only
from algotransfer.explorer.expressions import algorithm_data
from algotransfer.explorer.page import ENGINE, embedded, static_file
from algotransfer.explorer.page_data import model_data
from algotransfer.graphs import Graph, sample_graphs
from algotransfer.graphs.named import unique_edges
from algotransfer.training.examples import tasks_of
from algotransfer.training.runs import load_model

CASES = Path(__file__).with_name("comparison_cases.js").read_text()
CASES += "\nconst ALGORITHM = new Algorithm(JSON.parse(arguments[0]));\n"
NODES, PER_FAMILY = 12, 60
MODELS = (
    "ne-dijkstra-tf",
    "ne-bfs-bellman_ford-na-multitask",
    "ne-prim-dijkstra-na-two_processor",
    "ne-prim-dijkstra-na-multitask",
    "ne-bellman_ford-tf",
    "ne++-dijkstra-na",
    "ne++-bfs-tf",
    "ne++-prim-dijkstra-dfs-tf-multitask",
    "ne++-bfs-bellman_ford-na-two_processor",
    "ne++-widest_seq-tf",
    "relax-dijkstra-na-4a6b0caf5adbc5a0",
    "relax-bfs-bellman_ford-na-multitask-6d495eb4f9313a29",
    "relax-widest_par-reliable_par-na-multitask-1f14d71cd999fd9e",
)


def all_families(num_nodes: int, count: int) -> Graph:
    """A batch with graphs of every family."""
    parts = [sample_graphs(f, count, num_nodes, seed=5, split="test") for f in ("er", "ba", "grid")]
    width = max(part.senders.shape[-1] for part in parts)

    def joined(name, fill):
        arrays = [np.asarray(getattr(part, name)) for part in parts]
        gaps = [[(0, 0), (0, width - array.shape[-1])] for array in arrays]
        padded = [np.pad(a, gap, constant_values=fill) for a, gap in zip(arrays, gaps, strict=True)]
        return np.concatenate(padded)

    source = np.concatenate([np.asarray(part.source) for part in parts])
    edges = (joined("senders", num_nodes), joined("receivers", num_nodes), joined("weights", 0))
    return Graph(*edges, source, num_nodes)


def as_data(graph: Graph) -> dict:
    return {
        "names": [str(v) for v in range(graph.num_nodes)],
        "edges": [[u, v, float(w)] for u, v, w in unique_edges(graph)],
        "source": int(graph.source),
    }


GRAPHS = all_families(NODES, PER_FAMILY)
DATA = [as_data(GRAPHS[g]) for g in range(len(GRAPHS))]


@pytest.fixture
def engine(browser, tmp_path):
    """A page with the engine and the graphs, and no view."""
    scripts = "".join(
        f"<script>{static_file(f'{name}.js')}</script>" for name in (*ENGINE, "graphs")
    )
    text = f'<meta charset=utf-8><link rel=icon href="data:,">{scripts}'
    text += f"<script>const GRAPHS = {embedded(DATA)};</script>"
    path = tmp_path / "engine.html"
    path.write_text(text, encoding="utf-8")
    browser.open(path)
    return lambda code, *given: browser.driver.execute_script(code, *map(json.dumps, given))


def test_algorithms_are_those_of_python(engine):
    mine = replace(get_algorithm("dijkstra"), relax=lambda k, w: jnp.maximum(k, w) + jnp.sqrt(w))
    for algorithm in (*map(get_algorithm, (*PAPER_ALGORITHMS, "minimax_par")), mine):
        traces = run(algorithm, GRAPHS)
        found = engine(
            """const algorithm = new Algorithm(JSON.parse(arguments[0]));
            return GRAPHS.map((graph) => {
              const { key, pred, visited } = runAlgorithm(algorithm, graph), end = key.length - 1;
              return { key: Array.from(key[end], String), pred: pred.map((row) => [...row]),
                visited: visited && visited.map((row) => [...row]) };
            });""",
            algorithm_data(algorithm),
        )
        for g, seen in enumerate(found):
            trace, states = traces[g], int(traces.length[g]) + 1
            assert seen["pred"] == np.asarray(trace.pred)[:states].tolist()
            key = np.array([float(k.replace("Infinity", "inf")) for k in seen["key"]], np.float32)
            assert np.array_equal(key, np.asarray(trace.final_key))
            if trace.visited is not None:
                assert seen["visited"] == np.asarray(trace.visited)[:states].astype(int).tolist()


def executions(model):
    """The steps of a committed network on all graphs, told what evaluation tells it."""
    networks = jax.tree.map(lambda leaf: leaf[None], model.network(healthy_seed(model)))
    networks, tasks = target_only(networks, tasks_of(model.experiment))
    ends = [first_and_last(task.algorithm, GRAPHS) for task in tasks]
    free_run = FreeRun.told(networks, tasks, ends, model.experiment.infinity)
    steps = free_run.run(GRAPHS, np.arange(len(GRAPHS)), "all")
    return free_run, jax.tree.map(lambda leaf: np.asarray(leaf)[0], steps)


RUN = """const model = new Model(JSON.parse(arguments[0])), steps = JSON.parse(arguments[1]);
return GRAPHS.map((graph, g) => {
  const run = new FreeRun(model, graph).extend(steps[g]);
  const all = (name) => run.steps.map((step) => step[name] && [...step[name]]);
  return { infinity: run.infinity.at(-1), key: all("key"), pointer: all("pointer"),
    visited: all("visited"), stop: run.steps.map((step) => step.stop) };
});"""


@pytest.mark.parametrize("name", MODELS)
def test_networks_are_those_of_python(engine, name):
    model = load_model(name)
    free_run, wanted = executions(model)
    steps = free_run.steps[-1].tolist()
    found = engine(RUN, model_data(name, model, GRAPHS[0]), steps)
    different = 0
    for g, (mine, count) in enumerate(zip(found, steps, strict=True)):
        assert mine["infinity"] == free_run.infinity[-1][g]
        key, visited = wanted.key[g, :count], wanted.visited[g, :count].astype(int)
        if mine["visited"] != visited.tolist():
            # Two choices whose probabilities are equal to float32 rounding.
            step = int(np.argmax(np.any(np.array(mine["visited"]) != visited, axis=1)))
            top = np.sort(wanted.probability[g, step])[-2:]
            assert top[1] - top[0] < 1e-5
            different += 1
            continue
        largest = np.abs(key).max(axis=1, keepdims=True)
        assert np.all(np.abs(np.array(mine["key"]) - key) <= 1e-4 * largest)
        if free_run.tasks[-1].algorithm.predicts_predecessors:
            assert mine["pointer"] == wanted.pointer[g, :count].tolist()
        if not free_run.tasks[-1].supervision.told_steps:
            logits = wanted.stop[g, :count]
            assert np.allclose(mine["stop"], logits, rtol=1e-3, atol=1e-3)
    # The last bits, which decide such choices, depend on the processor; graphs with ties are few.
    assert different <= 5


BLIND = """const model = new Model(JSON.parse(arguments[0])), { algorithm } = model.target;
const rule = model.haltingRules.includes(model.blindHalt) ? model.blindHalt : "told";
return JSON.parse(arguments[1]).map((graph) => {
  const count = graph.names.length, run = new FreeRun(model, graph, true);
  run.extend(Math.max(count, model.horizon));
  const end = answerStep(rule, model, run.steps, 1, count, true), seen = recordRun(run);
  const unit = algorithm.unit(count), infinity = (run.infinity.at(-1) * run.unit) / unit;
  return { end, infinity, factor: run.weightFactor, key: seen.raw[end].map((key) => key / unit),
    pred: [...seen.pred[end]] };
});"""


@pytest.mark.parametrize(
    "name", ["ne-dijkstra-tf", "ne++-dijkstra-na", "ne-bellman_ford-tf", "relax-dijkstra-na-4a6b"]
)
def test_blind_answers_are_those_of_execute(engine, name):
    """Weights are far from those of the training graphs."""
    model = load_model(name)
    graphs = [replace(GRAPHS[g], weights=GRAPHS.weights[g] * 37) for g in range(0, 180, 30)]
    graphs += [GRAPHS[7]]
    data = model_data(name, model, graphs[0], blind=True)
    found = engine(BLIND, data, [as_data(graph) for graph in graphs])
    for graph, mine in zip(graphs, found, strict=True):
        answer = execute(model, graph)
        assert mine["factor"] == answer.weight_factor
        assert mine["infinity"] == pytest.approx(answer.infinity, rel=1e-6)
        assert mine["pred"] == answer.pred.tolist()
        assert np.allclose(mine["key"], answer.key, rtol=1e-4, atol=1e-4 * np.abs(answer.key).max())


def test_directed_graphs_are_run_in_the_direction_of_their_edges(engine):
    kept = np.asarray(GRAPHS.senders[3]) % 3 > 0  # some edges have no edge back
    lists = (GRAPHS.senders, GRAPHS.receivers, GRAPHS.weights)
    senders, receivers, weights = (np.asarray(part[3])[kept] for part in lists)
    source = np.asarray(GRAPHS.source[3])
    graph = Graph(senders, receivers, weights, source, NODES, directed=True)
    model = load_model("ne++-dijkstra-na")
    code = BLIND.replace(
        "return { end", "return { truth: [...runAlgorithm(algorithm, graph).pred.at(-1)], end"
    )
    data = model_data("directed", model, graph, blind=True)
    [mine] = engine(code, data, [{**as_data(graph), "directed": True}])
    answer = execute(model, graph)
    assert mine["truth"] == answer.true_pred.tolist()
    assert mine["pred"] == answer.pred.tolist()


def test_last_errors_are_the_metrics_of_evaluation(engine, model):
    trained = model(target="widest_par", supervision="na")  # whose source has the key ∞
    graph = GRAPHS[3]
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], graph)
    batch = EvaluationBatch.prepare(trained, batch)
    metrics = batch.measure(np.array([0]))[0].graphs
    errors = engine(
        """const model = new Model(JSON.parse(arguments[0])), { algorithm } = model.target;
        const graph = GRAPHS[3], truth = recordTruth(algorithm, graph);
        const run = new FreeRun(model, graph).extend(last(truth));
        const seen = recordRun(run);
        const { key, pred } = errorsByStep(algorithm, truth, seen, run.infinity[0], run.unit);
        return { key: key.at(-1), pred: pred.at(-1) };""",
        model_data("mine", trained, graph),
    )
    for name in ("key", "pred"):
        assert errors[name] == pytest.approx(metrics[name].item(), rel=1e-4)


@pytest.mark.parametrize("name", ["dijkstra", "dfs", "widest_seq", "prim", "bellman_ford", "bfs"])
def test_the_algorithm_agrees_with_itself(engine, name):
    algorithm = algorithm_data(ALGORITHMS[name])
    assert engine(CASES + "return agreement(ALGORITHM)", algorithm) == [True, 0, 0, True]


def test_the_first_divergence_is_found(engine):
    dijkstra = algorithm_data(ALGORITHMS["dijkstra"])
    for found, wanted in engine(CASES + "return sequentialCases(ALGORITHM)", dijkstra):
        assert found == wanted


def test_parallel_networks_diverge_by_pointers_and_bits(engine):
    bellman_ford, bfs = (algorithm_data(ALGORITHMS[name]) for name in ("bellman_ford", "bfs"))
    pointers = engine(CASES + "return lostPointers(ALGORITHM)", bellman_ford)
    assert pointers.startswith("step 2: v")
    assert "points at nothing instead of v" in pointers
    assert pointers.endswith("(and 2 more nodes)")
    bits = engine(CASES + "return lostBits(ALGORITHM)", bfs)
    assert "step 1: says that v" in bits
    assert "is not reached" in bits


def test_answers_are_read_by_the_halting_rules(engine):
    dijkstra = algorithm_data(ALGORITHMS["dijkstra"])
    assert engine(CASES + "return haltingSteps()", dijkstra) == [6, 9, 4, 8, 5, 6]
