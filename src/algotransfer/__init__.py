"""Learn graph algorithms from inputs and outputs, with the steps of other algorithms as a guide.

The public names below load their module when first used, so `import algotransfer` is immediate.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algotransfer.paper import paper_tables

__version__ = "0.1.0"

__all__ = [
    "paper_tables",
]

_MODULE_OF = {
    "paper_tables": "algotransfer.paper",
}


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
