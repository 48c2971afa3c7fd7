"""Steps are proven for all graphs, or refused with a graph that shows why."""

import dataclasses
import json
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from algotransfer.algorithms import ALGORITHMS, get_algorithm, run
from algotransfer.cli import main
from algotransfer.datasets import make_dataset
from algotransfer.errors import UserError
from algotransfer.graphs import from_networkx
from algotransfer.symbolic import StepProgram, certify, discover, network_programs
from algotransfer.symbolic.check_certificate import TARGETS, check
from algotransfer.symbolic.exact import execute_exactly
from algotransfer.symbolic.expressions import to_json
from algotransfer.symbolic.grammar import grammar
from algotransfer.symbolic.proofs import Domain, at_infinity, target_step
from algotransfer.symbolic.rounding import rounding_table
from algotransfer.training import load_model

NAMES = tuple(TARGETS)
SUM = ("add", "key", "weight")


def program_of(name: str) -> StepProgram:
    algorithm = get_algorithm(name)
    return StepProgram(target_step(algorithm), algorithm.smaller_is_better, name)


def checked(certificate) -> list[str]:
    return check(json.loads(json.dumps(certificate.to_json())))


@pytest.mark.parametrize("name", NAMES)
def test_the_steps_of_the_algorithms_are_certified_and_checked(name):
    certificate = certify(program_of(name))
    assert certificate.certified, certificate.reason
    assert certificate.scale == 1
    assert checked(certificate) == []


def test_products_below_the_range_of_float32_are_not_bounded():
    weight = ("mul", ("mul", ("mul", ("mul", "weight", 1e-30), 1e-30), 1e30), 1e30)
    certificate = certify(StepProgram(("add", "key", weight), True, "bellman_ford"))
    assert {row.gap for row in certificate.rounding} == {None}
    assert checked(certificate) == []


def test_rounding_may_change_the_order_of_prim():
    assert certify(StepProgram(("mul", 0.7, "weight"), True, "prim")).rounding == []
    assert {row.gap for row in certify(program_of("prim")).rounding} == {0.0}


def test_replacing_equal_keys_reaches_no_unreached_node():
    scope: dict = {}
    exec(StepProgram(SUM, True, "bellman_ford", "not worse").source(), scope)
    _, pred = scope["run"]({0: {}, 1: {2: 1.0}, 2: {1: 1.0}}, 0)
    assert pred == {0: 0}


@pytest.mark.parametrize("name", NAMES)
def test_the_checker_knows_the_targets_of_the_package(name):
    algorithm = get_algorithm(name)
    known = (
        to_json(target_step(algorithm)),
        algorithm.smaller_is_better,
        algorithm.source_key(2),
        algorithm.unreached_key,
        *algorithm.weights,
    )
    assert known == TARGETS[name]


def test_prim_is_not_a_best_path_but_certified():
    claims = {claim.name: claim.proven for claim in certify(program_of("prim")).claims}
    assert claims["equal"]
    assert not claims["no gain"]


@pytest.mark.parametrize(("operation", "name"), [("add", "dijkstra"), ("min", "widest_par")])
def test_a_factor_of_the_weights_only_scales_all_keys(operation, name):
    step = (operation, "key", ("mul", 1.5, "weight"))
    certificate = certify(StepProgram(step, get_algorithm(name).smaller_is_better, name))
    assert certificate.certified
    assert certificate.scale == Fraction(3, 2)
    assert checked(certificate) == []


def test_numbers_are_those_of_float32_as_in_executions(monkeypatch, tmp_path, capsys):
    """0.3 in an algorithm is the float32 number next to it, and so is a learned 0.3."""
    tolled = dataclasses.replace(get_algorithm("dijkstra"), name="tolled", relax=_with_toll)
    monkeypatch.setitem(ALGORITHMS, "tolled", tolled)
    graphs = make_dataset(("er",), 30, 12, split="validation")
    program = discover("tolled", graphs, grammar(1))
    assert "0.3 + " in program.source()
    certificate = certify(program)
    assert certificate.certified, certificate.reason
    program.save(tmp_path / "tolled.json")
    saved = ["--out", str(tmp_path / "certificate.json")]
    assert main(["certify", str(tmp_path / "tolled.json"), *saved]) == 0
    assert "check_certificate" not in capsys.readouterr().out  # the checker knows no own targets


def _with_toll(key, weight):
    return key + weight + 0.3


REFUSED = {
    "key grows": ("dijkstra", ("add", ("mul", 1.01, "key"), "weight"), True),
    "sign": ("bellman_ford", ("sub", "key", "weight"), True),
    "direction": ("dijkstra", SUM, False),
    "extra term": ("bellman_ford", ("add", SUM, ("mul", 1e-6, ("mul", "key", "key"))), True),
    "product": ("reliable_seq", ("mul", 0.99, ("mul", "key", "weight")), False),
    "minimum": ("widest_seq", ("min", ("mul", 0.9, "key"), "weight"), False),
    "division": ("reliable_par", ("div", "key", ("sub", 2.0, "weight")), False),
}


@pytest.mark.parametrize("what", REFUSED)
def test_other_steps_are_refused_with_a_graph_that_shows_it(what):
    target, step, smaller = REFUSED[what]
    certificate = certify(StepProgram(step, smaller, target))
    assert not certificate.certified
    assert checked(certificate) == []  # what it says is true
    example = certificate.counterexample
    assert example is not None
    graph = nx.Graph()
    graph.add_nodes_from(range(1 + max(v for _, v in example.edges)))
    graph.add_weighted_edges_from((u, v, float(w)) for (u, v), w in example.edges.items())
    true = run(target, from_networkx(graph, source=0), "final").final_pred
    assert true[example.node] == (-1 if example.target_pred is None else example.target_pred)
    assert example.pred != example.target_pred


def test_replacing_equal_keys_is_harmless_only_if_candidates_are_worse():
    harmless = certify(StepProgram(SUM, True, "dijkstra", "not worse"))
    assert harmless.certified
    assert "equally good predecessors" in harmless.reason
    harmful = certify(StepProgram(("min", "key", "weight"), False, "widest_par", "not worse"))
    assert not harmful.certified
    assert harmful.counterexample is not None
    assert checked(harmless) == checked(harmful) == []


def forged(**changes) -> dict:
    data = json.loads(json.dumps(certify(program_of("dijkstra")).to_json()))
    for path, value in changes.items():
        *folders, last = path.split("__")
        place = data
        for folder in folders:
            place = place[folder]
        place[last] = value
    return data


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"program__step": ["sub", "key", "weight"]}, "does not hold"),
        ({"program__step": ["add", "key", ["mul", 1.01, "weight"]]}, "'equal' does not hold"),
        ({"program__smaller_is_better": False}, "'direction' does not hold"),
        ({"program__target": "reliable_par"}, "'equal' does not hold"),
        ({"program__target": "mine"}, "not among the targets"),
        ({"scale": "-1"}, "form of a certificate"),
        ({"format": "other"}, "form of a certificate"),
        ({"rounding__rows": [{"num_nodes": 400, "gap": 1e-6}]}, "too small"),
        ({"rounding__rows": [{"num_nodes": 20, "gap": float("nan")}]}, "too small"),
        ({"rounding__weights": [1e-30, 1e38]}, "too small"),
        ({"rounding__weights": [1.0, "2"]}, "form of a certificate"),
        ({"program__step": ["add", "key", ["pow", "weight", 1.9]]}, "form of a certificate"),
        ({"program__step": ["add", "key", "weight", "weight"]}, "form of a certificate"),
        ({"program__step": ["add", "own", "weight"]}, "form of a certificate"),
        ({"certified": "false"}, "form of a certificate"),
        ({"proven": [["equal"]]}, "form of a certificate"),
        ({"proven": ["P = NP"]}, "does not hold"),
        ({"program": None}, "form of a certificate"),
    ],
)
def test_the_checker_refuses_forged_certificates(changes, wrong):
    assert any(wrong in sentence for sentence in check(forged(**changes)))


def test_the_checker_runs_without_jax(tmp_path):
    certify(program_of("bellman_ford")).save(tmp_path / "certificate.json")
    code = (
        "import runpy, sys; sys.argv = ['check', sys.argv[1]]\n"
        "try: runpy.run_module('algotransfer.symbolic.check_certificate', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code and 'jax' not in sys.modules"
    )
    path = str(tmp_path / "certificate.json")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "certified: on every graph the program has the keys of bellman_ford" in done.stdout


@pytest.mark.parametrize("name", ["bellman_ford", "reliable_par"])
def test_rounding_errors_on_long_paths_stay_below_their_bound(name):
    nodes = 40
    generator = np.random.default_rng(0)
    algorithm, exact = get_algorithm(name), Fraction(get_algorithm(name).source_key(2))
    key = np.float32(exact)
    (row,) = rounding_table(target_step(algorithm), float(exact), (0.2, 1.0), (nodes,))
    for _ in range(nodes - 1):
        weight = np.float32(generator.uniform(0.2, 1))
        key = np.float32(algorithm.relax(key, weight))
        exact = (
            exact + Fraction(float(weight))
            if name == "bellman_ford"
            else (exact * Fraction(float(weight)))
        )
    error = abs(Fraction(float(key)) - exact) / exact
    assert 0 < error < row.gap / 2


def test_products_of_a_hundred_weights_may_leave_the_range_of_float32():
    rows = rounding_table(("mul", "key", "weight"), 1.0, (0.2, 1.0), (50, 100))
    assert [row.gap is None for row in rows] == [False, True]


def test_networks_with_a_factor_of_the_weights_are_certified_and_products_are_not():
    sums = network_programs(load_model("relax-dijkstra"))
    assert len(sums) == 5
    assert all(certify(program).certified for program in sums.values())
    product = network_programs(load_model("relax-reliable_par"))[0]
    assert certify(product).counterexample is not None
    with pytest.raises(UserError, match="name a relax model"):
        network_programs(load_model("ne-dijkstra"))


@pytest.mark.parametrize("name", NAMES)
def test_the_program_text_gives_the_answers_of_the_algorithm(name):
    if name == "dag_shortest_paths":
        return  # undirected graphs have cycles
    graph = nx.gnp_random_graph(12, 0.3, seed=3)
    generator = np.random.default_rng(0)
    for _, _, data in graph.edges(data=True):
        data["weight"] = float(np.float32(generator.integers(1, 64) / 64))
    trace = run(name, from_networkx(graph, source=0), "final")
    scope: dict = {}
    exec(program_of(name).source(), scope)
    keys, pred = scope["run"](
        {u: {v: d["weight"] for v, d in sorted(graph[u].items())} for u in graph}, 0
    )
    np.testing.assert_allclose([keys[n] for n in range(12)], trace.final_key, rtol=1e-6)
    assert [pred.get(n, -1) for n in range(12)] == trace.final_pred.tolist()


def test_programs_are_saved_and_bad_files_refused(tmp_path):
    path = tmp_path / "step.json"
    program_of("widest_seq").save(path)
    assert StepProgram.load(path) == program_of("widest_seq")
    good = json.loads(path.read_text())
    bad = {
        "format": ("x", "no step program"),
        "target": ("dijkstraa", "dijkstra"),
        "smaller_is_better": (1, "expected true or false"),
        "replace_if": ("always", "expected true or false"),
        "step": (["add", "own", "key"], "reads own"),
    }
    for name, (value, message) in bad.items():
        path.write_text(json.dumps({**good, name: value}))
        with pytest.raises(UserError, match=message):
            StepProgram.load(path)
    certify(program_of("dijkstra")).save(path)
    with pytest.raises(UserError, match="its format is 'algotransfer certificate 1', expected"):
        StepProgram.load(path)
    path.write_bytes(b" " * (2**20 + 1))
    with pytest.raises(UserError, match="more than"):
        StepProgram.load(path)


def test_depth_first_search_cannot_be_certified():
    with pytest.raises(UserError, match="keeps first keys"):
        StepProgram(("sub", "key", 1.0), True, "dfs")
    with pytest.raises(UserError, match="weights from"):
        certify(program_of("reliable_par"), weights=(0.5, 2.0))


def test_infinity_minus_infinity_is_undefined():
    assert at_infinity(("min", "key", "weight")) == "weight"
    assert at_infinity(("max", "key", "weight")) == float("inf")
    difference = ("sub", SUM, ("max", "key", "weight"))  # min(key, weight) on finite keys
    assert np.isnan(at_infinity(difference))
    assert np.isnan(at_infinity(("max", ("min", ("sub", "key", "key"), "weight"), SUM)))
    hidden = ("max", ("min", ("sub", "key", "key"), "weight"), ("min", "key", "weight"))
    assert not certify(StepProgram(hidden, False, "widest_par")).certified
    assert not certify(StepProgram(difference, False, "widest_par")).certified


def test_exact_executions_agree_with_the_engine():
    generator = np.random.default_rng(5)
    for name in ("dijkstra", "bellman_ford", "prim", "reliable_seq"):
        graph = nx.gnp_random_graph(8, 0.5, seed=2)
        for _, _, data in graph.edges(data=True):
            data["weight"] = int(generator.integers(1, 64)) / 64
        edges = {(u, v): Fraction(d["weight"]) for u, v, d in graph.edges(data=True)}
        algorithm = get_algorithm(name)
        pred = execute_exactly(
            target_step(algorithm),
            algorithm.smaller_is_better,
            "better",
            algorithm.framework.name,
            Domain.of(algorithm),
            edges,
        )
        true = run(name, from_networkx(graph, source=0), "final").final_pred
        assert [pred.get(n, -1) for n in range(8)] == true.tolist()
