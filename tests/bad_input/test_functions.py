"""Public functions with one or two arguments that nobody should give them.

To survive is to return, or to raise an error of our own: a sentence from this package, not one
from the depths of NumPy or JAX. The tests check types at every inner call too (see `conftest.py`),
and a wrong type that gets as far as that counts as a crash.
"""

import inspect
import signal
import sys
import traceback
from pathlib import Path

import equinox as eqx
import jax
import networkx
import numpy as np
import pytest
import scipy.sparse
from bad_input.networks import of_networks, strange_networks
from bad_input.tried import TRIED, within_memory
from hypothesis import given, note
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

import algotransfer
from algotransfer import algorithms, datasets, evaluation, graphs, networks, training, viewer
from algotransfer.arguments import checked
from algotransfer.bridges import clrs, pyg
from algotransfer.datasets import Preset, Splits, make_splits
from algotransfer.draw import save_figure
from algotransfer.experiment import Experiment
from algotransfer.methods import TransferMethod
from algotransfer.report.figures import draw_generalisation

pytestmark = pytest.mark.usefixtures("quick_to_compile")
PACKAGE = Path(algotransfer.__file__).parent
TRAINING = sys.modules["algotransfer.training.train"]  # the function has the same name
SECONDS = 60  # that a call may take
NOT_CALLED = {"ALGORITHMS", "FAMILIES", "PRESETS", "COLUMNS", "MODELS"}  # data
# Built by other functions out of arrays, whose shapes are their types.
NOT_CALLED |= {"Graph", "Trace", "NamedGraph", "Viewer", "Execution"}
NOT_CALLED |= {"Dense", "Sparse", "Layout", "Latent", "Outcome", "Processor"}
NOT_CALLED |= {"NE", "NEPlusPlus", "RelaxationExecutor", "Executor"}  # their methods are
# Run inside compiled programs, on what other functions have checked.
NOT_CALLED |= {"run_free", "make_free_drivers"}
NO_ARGUMENTS = {"paper_tables", "committed_weights"}


class Accepted(Exception):
    """A training would begin now."""


def accept(*arguments):
    raise Accepted


def stop_before_work(patch):
    """Neither trains, nor evaluates on the paper's 4,500 graphs."""
    patch.setattr(TRAINING, "start_seeds", accept)
    patch.setattr(evaluation.runs, "unseen_graphs", accept)


def made(kind):
    """Makes a dataclass without its `__init__`, where the tests' own check of types would come."""

    def make(**fields):
        instance = object.__new__(kind)
        for name, value in fields.items():
            object.__setattr__(instance, name, value)
        getattr(instance, "__check_init__" if issubclass(kind, eqx.Module) else "__post_init__")()

    return make


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """By name, a public function and arguments that it takes."""
    folder = tmp_path_factory.mktemp("calls")
    data = datasets.make_dataset("er", 2, 5)
    batch, trace = data.graphs, data.trace("dijkstra")
    datasets.save_dataset(data, folder / "data.npz", "dijkstra")
    algotransfer.write_graph(folder / "graph.csv", batch[0])
    name = next(iter(training.committed_weights()))
    model = algotransfer.load_model(name)
    experiment, splits = model.experiment, make_splits(Preset(70, 1, 1, 5, (5,), graph=("er",)))
    frame = evaluation.evaluate(model, [data])
    figure = algotransfer.draw_trace("dijkstra", batch[0], trace[0])
    matrix = graphs.to_scipy(batch[0])
    edges = {"graph_id": np.zeros(1, int), "ends": np.array([[0], [1]]), "weights": np.ones(1)}
    size = {"num_graphs": 2, "num_nodes": 5, "seed": 0, "split": "test", "attachments": 2}
    files = {
        "read_graph": {"path": folder / "graph.csv", "source": None},
        "write_graph": {"path": folder / "new.csv", "graph": batch[0], "names": list("abcde")},
        "load_dataset": {"path": folder / "data.npz"},
        "save_dataset": {"dataset": data, "path": folder / "x.npz", "algorithm": "bfs"},
        "load_model": {"source": name},
    }
    plain = {
        "sample_graphs": {"family": "er", **size, "shape": "any"},
        "make_dataset": {"graph": ("er", "ba"), **size, "shape": "any"},
        "from_edges": {"num_nodes": 2, "num_graphs": 1, **edges, "source": np.zeros(1, int)},
        "concatenate": {"graphs": [batch, batch[0]]},
        "from_networkx": {"graph": networkx.path_graph(3), "source": 0, "weight": "weight"},
        "to_networkx": {"graph": batch[0], "names": list("abcde"), "node_attributes": None},
        "from_scipy": {"matrix": matrix, "source": 0},
        "to_scipy": {"graph": batch[0]},
        "run": {"algorithm": "bfs", "graphs": batch, "record": "full", "layout": "dense"},
        "get_algorithm": {"algorithm": "bfs"},
        "from_graphs": {"graphs": [batch, batch[0]], "family": ["a", "b"]},
        "make_splits": {"preset": Preset(2, 1, 1, 6, (6,)), "seed": 0},
        "graph_statistics": {"dataset": data},
        "trace_statistics": {"dataset": data, "algorithm": "bfs"},
    }
    trained = {
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
            "pause": bool,
            "watchers": (),
        },
        "evaluate": {"source": model, "datasets": [data], "progress": lambda done, total: None},
        "evaluate_networks": {
            "networks": model.networks,
            "experiment": experiment,
            "seeds": model.seeds,
            "datasets": [data],
            "layout": None,
        },
        "per_seed": {"frame": frame},
        "summary": {"frame": frame},
        "summary_table": {"frame": frame},
        "beside_paper": {"frame": frame, "experiment": experiment},
        "beside_paper_table": {"frame": frame, "experiment": experiment, "graph": "er"},
        "execute": {"model": name, "graph": batch[0], "seed": None, "steps": 5, "infinity": 9.0},
    }
    shown = {
        "explore": {
            "graph": batch[0],
            "models": [name],
            "algorithm": experiment.target,
            "names": list("abcde"),
            "seed": None,
            "blind": True,
            "title": "t",
        },
        "write_example": {
            "model": name,
            "path": folder / "page.html",
            "family": "er",
            "num_nodes": 5,
            "seed": 0,
            "label": "l",
        },
        "draw_trace": {
            "algorithm": "dijkstra",
            "graph": batch[0],
            "trace": trace[0],
            "steps": [0, 1],
            "columns": 2,
        },
        "draw_generalisation": {
            "results": {"a": (experiment, frame)},
            "metrics": ("pred",),
        },
        "save_figure": {"figure": figure, "path": folder / "a.png", "dots_per_inch": 30},
    }
    bridges = {
        "to_pyg": {"graphs": data, "trace": trace},
        "import_clrs": {"path": folder / "data.npz"},
        "from_clrs": {"name": "bfs", "feedback": None},
    }
    fields = {
        "Experiment": vars(experiment),
        "Preset": vars(Preset(2, 1, 1, 5, (5,))),
        "Splits": vars(splits),
        "Dataset": {
            "graphs": batch,
            "family": np.array(["a", "a"]),
            "arguments": {},
            "_traces": {},
        },
        "Model": vars(model),
        "Algorithm": vars(algorithms.ALGORITHMS["prim"]),
        "TransferMethod": {"processors": ("base",), "frozen": (True,), "joint": False},
    }
    here = {
        "draw_generalisation": draw_generalisation,
        "save_figure": save_figure,
        "TransferMethod": TransferMethod,
        "Splits": Splits,
        "Experiment": Experiment,
    }
    rooms = (algotransfer, graphs, algorithms, datasets, training, evaluation, viewer, pyg, clrs)
    found = {k: vars(room)[k] for room in rooms for k in vars(room) if not k.startswith("_")}
    found |= {k: getattr(room, k) for room in rooms for k in getattr(room, "__all__", ())}
    arguments = files | plain | trained | shown | bridges | fields
    methods = of_networks(batch)
    public = {k for room in (*rooms, networks) for k in getattr(room, "__all__", ())}
    known = arguments.keys() | {name.split()[0] for name in methods}
    assert public - NOT_CALLED - NO_ARGUMENTS <= known
    functions = found | here | {"from_edges": checked(inspect.unwrap(graphs.from_edges))}
    every = {name: (functions[name], given) for name, given in arguments.items()} | methods
    parts = fields.keys() | {"State", "Driver"}
    return every | {name: (made(every[name][0]), every[name][1]) for name in parts}


def nasty(calls):
    """Whatever one might pass by mistake, or on purpose."""
    batch = calls["run"][1]["graphs"]
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
        *(calls["save_dataset"][1]["dataset"], calls["train"][1]["experiment"]),
        *(calls["evaluate"][1]["source"], calls["summary"][1]["frame"].head(0)),
        *(calls["summary"][1]["frame"][["seed"]], calls["draw_trace"][1]["trace"]),
        *(algorithms.ALGORITHMS["bfs"], calls["make_splits"][1]["preset"]),
        *strange_networks(calls),
    ]


def attempt(function, arguments):
    """Calls a function; anything but a result or a sentence of ours is a failure."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    said = None
    try:
        function(**arguments)
    except Accepted:
        pass
    except (ValueError, TypeError, OSError, FloatingPointError, ImportError) as error:
        said = error
    finally:
        signal.alarm(0)
    if said is not None:
        where = Path(traceback.extract_tb(said.__traceback__)[-1].filename)
        ours = where.is_relative_to(PACKAGE) or isinstance(said, OSError)
        assert ours, f"not a sentence of ours: {said!r} from {where}"
        assert not isinstance(said, TypeCheckError), f"it came too far: {said}"
        assert len(str(said).split()) > 2, repr(said)


def too_long(number, frame):
    raise AssertionError(f"it takes more than {SECONDS} seconds")


def test_what_is_fuzzed_works(calls, monkeypatch):
    """Otherwise wrong arguments would prove nothing."""
    refused = {"import_clrs": ValueError, "from_clrs": TypeError, "to_pyg": ImportError}
    stop_before_work(monkeypatch)
    for name, (function, arguments) in calls.items():
        expected = {**refused, "train": Accepted}.get(name)
        if expected is None:
            function(**arguments)
        else:
            with pytest.raises(expected):
                function(**arguments)


@given(data=st.data())
def test_wrong_arguments(data, calls, tmp_path_factory):
    """Every function once, with one or two wrong arguments."""
    values = nasty(calls)
    for name, (function, arguments) in calls.items():
        wrong = data.draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, max_size=2))
        changes = {k: values[data.draw(st.integers(0, len(values) - 1))] for k in wrong}
        note(f"{name} with {changes!r:.500}")
        TRIED["arguments of functions"] += 1
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path_factory.getbasetemp())
            stop_before_work(patch)
            with within_memory():
                attempt(function, {**arguments, **changes})
