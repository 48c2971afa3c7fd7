"""Convert pytrees to named arrays and back, so that files need no pickle."""

from functools import partial
from typing import TypeVar

import jax
import numpy as np

from algotransfer.errors import UserError

Tree = TypeVar("Tree")
_name = partial(jax.tree_util.keystr, simple=True, separator=".")


def to_arrays(tree) -> dict[str, np.ndarray]:
    """Return the leaves of a tree by their path, such as `network.processors.0.message`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {_name(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(like: Tree, arrays: dict[str, np.ndarray], what: str) -> Tree:
    """Build a tree like a given one, of arrays or their shapes; `what` is for error messages."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    expected = {_name(path): f"{leaf.dtype} {leaf.shape}" for path, leaf in leaves}
    found = {name: f"{array.dtype} {array.shape}" for name, array in arrays.items()}
    if expected != found:
        differing = sorted(
            name for name in expected | found if expected.get(name) != found.get(name)
        )
        name = differing[0]
        raise UserError(
            f"{what} does not fit this network: {name} is {found.get(name, 'absent')}, "
            f"expected {expected.get(name, 'absent')} ({len(differing)} arrays differ); "
            "if its code has changed, train again with --no-resume (in Python resume=False)"
        )
    return jax.tree.unflatten(structure, jax.device_put([arrays[name] for name in expected]))
