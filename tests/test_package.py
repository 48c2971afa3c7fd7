"""The package as a whole: its public names, its version, what importing it costs."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from jaxtyping import TypeCheckError

import algotransfer
from algotransfer.graphs.families import edge_probability


@pytest.mark.parametrize("name", algotransfer.__all__)
def test_public_name_resolves(name):
    assert getattr(algotransfer, name) is not None
    assert name in dir(algotransfer)


def test_each_public_name_has_a_module():
    assert sorted(algotransfer.__all__) == sorted(algotransfer._MODULE_OF)


def test_type_checkers_see_the_same_names():
    """The names under TYPE_CHECKING are those that load lazily, from the same modules."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(algotransfer.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen == algotransfer._MODULE_OF


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
