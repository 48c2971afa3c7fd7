"""The package: public names, type checks of their arguments, version, import time."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from types import SimpleNamespace

import networkx
import numpy as np
import pytest
import scipy.sparse
from jaxtyping import TypeCheckError

import algotransfer
from algotransfer.errors import UserError
from algotransfer.graphs.families import edge_probability
from algotransfer.registry import Registry


@pytest.mark.parametrize("name", algotransfer.__all__)
def test_public_name_resolves(name):
    assert getattr(algotransfer, name) is not None
    assert name in dir(algotransfer)


def test_a_submodule_does_not_replace_the_function_of_its_name():
    import algotransfer.datasets.from_graphs
    import algotransfer.networks.rollout

    assert callable(algotransfer.datasets.from_graphs)
    assert callable(algotransfer.networks.rollout)


def test_public_functions_check_types():
    message = r"run: record is 3 \(of type int\); expected 'full' or"
    with pytest.raises(algotransfer.UserError, match=message):
        algotransfer.run("bfs", algotransfer.sample_graphs("er", 1, 5), 3)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (networkx.path_graph(3), "from_networkx(graph).graph makes one"),
        (scipy.sparse.eye_array(3), "from_scipy(matrix).graph makes one"),
        (SimpleNamespace(edge_index=[]), "from_pyg(data).graph makes one"),
        ("graph.csv", "read_graph(path).graph reads one from a file"),
    ],
)
def test_a_wrong_graph_names_its_converter(wrong, hint):
    with pytest.raises(UserError, match=re.escape(f"expected Graph; {hint}")):
        algotransfer.write_graph("new.csv", wrong)


def test_numbers_of_numpy_are_accepted():
    dataset = algotransfer.make_dataset("er", np.int64(2), np.array(5), np.uint8(1))
    assert json.dumps(dataset.arguments) == json.dumps(
        algotransfer.make_dataset("er", 2, 5, 1).arguments
    )


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'algotransfer' has no attribute 'no_such_name'"):
        algotransfer.no_such_name  # noqa: B018


def test_version_is_the_installed_one():
    assert algotransfer.__version__ == version("algotransfer")


def test_import_does_not_load_heavy_modules():
    code = (
        "import sys, algotransfer, algotransfer.paper; "
        "print(*sorted({'jax', 'numpy', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_annotations_are_checked_while_testing():
    with pytest.raises(TypeCheckError, match="num_nodes"):
        edge_probability(num_nodes="twenty")


def test_exchanged_arguments_are_named_in_their_order(tmp_path):
    (graph,) = algotransfer.sample_graphs("er", 1, 5)
    message = (
        r"^write_graph: path is Graph\(…\) \(of type Graph\); expected str or os.PathLike\[str\]; "
        r"the order of the arguments is path, graph$"
    )
    with pytest.raises(UserError, match=message):
        algotransfer.write_graph(graph, tmp_path / "graph.csv")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("algotransfer.networks.ne:NEE", r"networks.ne has no 'NEE' \(did you mean 'NE'"),
        ("anna.networks:Missing", "there is no module anna; register it as 'module:attribute'"),
    ],
)
def test_an_entry_that_cannot_be_imported_is_named(entry, message):
    networks = Registry("network", {"typo": entry})
    with pytest.raises(
        UserError, match=f"the network 'typo' is registered as '{entry}', .*{message}"
    ):
        networks["typo"]
