"""Public functions with one or two wrong arguments.

Each call must return, or raise a `UserError` or `OSError`: never an error from inside NumPy or JAX.
"""

import signal
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import jax
import networkx
import numpy as np
import pytest
import scipy.sparse
from bad_input.tried import TRIED, within_memory
from hypothesis import given, note
from hypothesis import strategies as st

import algotransfer
from algotransfer import datasets, training
from algotransfer.datasets import Preset, make_splits
from algotransfer.errors import UserError
from algotransfer.symbolic import StepProgram

pytestmark = pytest.mark.usefixtures("quick_to_compile")
SECONDS = 60  # that a call may take
# `ALGORITHMS` is data; graphs and traces are made by other functions, out of arrays.
NOT_CALLED = {"ALGORITHMS", "Graph", "Trace", "UserError", "paper_tables"}
NOT_CALLED |= {"to_pyg", "to_torch", "to_torch_dataset"}  # need PyTorch


class Accepted(Exception):
    """A training would begin now."""


def accept(*arguments, **options):
    raise Accepted


def stop_before_work(patch):
    """Neither train, nor evaluate on the paper's 4,500 graphs."""
    patch.setattr(import_module("algotransfer.training.epochs"), "start_seeds", accept)
    patch.setattr(import_module("algotransfer.evaluation.evaluate"), "unseen_graphs", accept)
    patch.setattr(import_module("algotransfer.report.compare"), "unseen_graphs", accept)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Arguments that each public function or class accepts, by its name."""
    folder = tmp_path_factory.mktemp("calls")
    data = datasets.make_dataset("er", 2, 5)
    batch, trace = data.graphs, data.trace("dijkstra")
    datasets.save_dataset(data, folder / "data.npz", "dijkstra")
    algotransfer.write_graph(folder / "graph.csv", batch[0])
    pyg = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), edge_weight=np.ones(2))
    name = next(iter(training.committed_weights()))
    model = algotransfer.load_model(name)
    experiment, splits = model.experiment, make_splits(Preset(70, 1, 1, 5, (5,), family=("er",)))
    size = {"num_graphs": 2, "num_nodes": 5, "seed": 0, "split": "test", "attachments": 2}
    arguments = {
        "read_graph": {"path": folder / "graph.csv", "source": None},
        "from_networkx": {"graph": networkx.path_graph(3), "source": 2, "weight": "weight"},
        "to_networkx": {"graph": batch[0], "names": list("abcde")},
        "from_scipy": {"matrix": scipy.sparse.csr_array(1 - np.eye(3)), "source": 2},
        "to_scipy": {"graph": batch[0]},
        "from_pyg": {"data": pyg, "source": 1},
        "to_clrs": {"task": "dijkstra", "graphs": data},
        "discover": {"target": "dijkstra", "graphs": batch, "terms": ["key", "weight"]},
        "certify": {"program": StepProgram("weight", True, "prim"), "weights": (0.2, 1.0)},
        "split_dataset": {"dataset": data, "validation_share": 0.5, "seed": 0},
        "write_graph": {"path": folder / "new.csv", "graph": batch[0], "names": list("abcde")},
        "load_dataset": {"path": folder / "data.npz"},
        "save_dataset": {"dataset": data, "path": folder / "x.npz", "algorithm": "bfs"},
        "load_model": {"source": name},
        "list_models": {"target": "dijkstra", "folder": folder / "runs"},
        "sample_graphs": {"family": "er", **size, "shape": "any"},
        "make_dataset": {"family": ("er", "ba"), **size, "shape": "any"},
        "run": {"algorithm": "bfs", "graphs": batch, "record": "full", "layout": "dense"},
        "from_graphs": {"graphs": [batch, batch[0]], "family": ["a", "b"]},
        "make_splits": {"preset": Preset(2, 1, 1, 6, (6,)), "seed": 0},
        "train": {
            "experiment": experiment,
            "seeds": 2,
            "data": splits,
            "data_seed": 0,
            "folder": folder / "runs",
            "device": "cpu",
            "resume": False,
            "show": False,
            "track": None,
            "checkpoint_seconds": 1.0,
        },
        "evaluate": {"source": model, "datasets": [data]},
        "compare": {"models": [name], "datasets": [data], "metric": "pred"},
        "execute": {"model": name, "graph": batch[0], "seed": None, "steps": 5, "infinity": 9.0},
        "explore": {
            "graph": batch[0],
            "models": [name],
            "algorithm": experiment.target,
            "names": list("abcde"),
            "seed": None,
            "blind": True,
            "title": "t",
        },
        "draw_trace": {
            "algorithm": "dijkstra",
            "graph": batch[0],
            "trace": trace[0],
            "steps": [0, 1],
            "columns": 2,
        },
        "Experiment": vars(experiment),
        "Dataset": {"graphs": batch, "family": np.array(["a", "a"]), "arguments": {}},
        "Model": vars(model),
        "Algorithm": vars(algotransfer.ALGORITHMS["prim"]),
    }
    assert set(algotransfer.__all__) - NOT_CALLED == arguments.keys()
    return arguments


def nasty(calls):
    """Return wrong arguments of many kinds."""
    batch = calls["run"]["graphs"]
    strange = networkx.Graph()
    strange.add_edge("a", "b", weight="heavy")
    return [
        *(None, True, -1, 0, 3, 2.5, float("nan"), float("inf"), 10**9, 10**30, -1e308, 1j),
        *("", "nope", "er", "\0", "x" * 300, "²", "../..", b"er", Path("nope"), Path("/")),
        *([], (), {}, {3}, [None], ["nope"], ["er", "er"], [float("nan")], {"a": 1}, [[]], [-1]),
        *(object(), len, iter([1]), range(3), range(10**12), int, np.float32(2), np.int64(3)),
        *(np.array([np.nan]), np.zeros((2, 3)), np.array(["a"]), np.zeros(0), np.array(3)),
        *(np.zeros((0, 2), int), np.array([9**9]), np.array([None]), jax.numpy.ones((2, 2))),
        *(batch, batch[0], batch[:0], algotransfer.sample_graphs("grid", 1, 9)[0]),
        jax.tree.map(lambda leaf: leaf * np.float32(np.nan), batch[0]),
        jax.tree.map(lambda leaf: np.full_like(leaf, -7), batch[0]),
        jax.tree.map(lambda leaf: leaf[..., :0], batch),
        *(strange, networkx.Graph(), networkx.path_graph(3, create_using=networkx.DiGraph)),
        *(scipy.sparse.csr_array((3, 3)), scipy.sparse.csr_array(np.full((2, 2), np.nan))),
        *(calls["save_dataset"]["dataset"], calls["train"]["experiment"]),
        *(calls["evaluate"]["source"], calls["draw_trace"]["trace"]),
        *(algotransfer.ALGORITHMS["bfs"], calls["make_splits"]["preset"]),
    ]


def attempt(function, arguments):
    """Call a function; only a result, a `UserError` or an `OSError` is accepted."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    said = "nothing went wrong"
    try:
        function(**arguments)
    except Accepted:
        pass
    except (UserError, OSError) as raised:
        said = str(raised)
    finally:
        signal.alarm(0)
    assert len(said.split()) > 2, said


def too_long(number, frame):
    raise AssertionError(f"it takes more than {SECONDS} seconds")


def test_good_arguments_are_accepted(calls, monkeypatch):
    stop_before_work(monkeypatch)
    for name, arguments in calls.items():
        if name == "train":
            with pytest.raises(Accepted):
                algotransfer.train(**arguments)
        else:
            getattr(algotransfer, name)(**arguments)


@pytest.mark.slow
@given(data=st.data())
def test_wrong_arguments(data, calls, tmp_path_factory):
    """Every function once, with one or two wrong arguments."""
    values = nasty(calls)
    for name, arguments in calls.items():
        wrong = data.draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, max_size=2))
        changes = {k: values[data.draw(st.integers(0, len(values) - 1))] for k in wrong}
        note(f"{name} with {changes!r:.500}")
        TRIED["arguments of functions"] += 1
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path_factory.getbasetemp())
            stop_before_work(patch)
            with within_memory():
                attempt(getattr(algotransfer, name), {**arguments, **changes})
