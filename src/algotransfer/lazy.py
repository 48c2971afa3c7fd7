"""Lazy packages: public names that load their module on first use.

A package lists its public names once, under `if TYPE_CHECKING:`, as `from module import name as
name` (the form that type checkers treat as a re-export), and ends with `make_lazy(__name__)`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package whose public names are imported when they are first read."""

    _module_of: dict[str, str]
    _wrap: Callable[[Any], Any]

    def __getattr__(self, name: str) -> Any:
        if name not in self._module_of:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self._wrap(getattr(import_module(self._module_of[name]), name))
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a submodule sets it as an attribute of its package. A public function of the
        # same name (`training.train`) must not be replaced by it.
        if not (name in self._module_of and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._module_of})


def make_lazy(package: str, wrap: Callable[[Any], Any] = lambda value: value) -> None:
    """Load the names that a package imports under `if TYPE_CHECKING:` on first use.

    They become its `__all__`; `wrap` is applied to each object before it is handed out.
    """
    module = sys.modules[package]
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    imports = [
        statement
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
    ]
    names = {alias.name: str(line.module) for line in imports for alias in line.names}
    vars(module).update(__all__=sorted(names), _module_of=names, _wrap=wrap)
    module.__class__ = LazyPackage
