"""Plugins: packages whose entry points register algorithms, networks, processors and others.

A package names a module, or a function without arguments, under the entry point group
`algotransfer.plugins`. The module registers when it is imported, the function when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.files import notify

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "algotransfer.plugins"
_loaded: set[EntryPoint] = set()


def load_plugins() -> None:
    """Load the entry points of all installed packages, each of them once.

    A plugin that raises an exception is left out with a warning, so that the others can be used.
    """
    from importlib.metadata import entry_points

    for plugin in entry_points(group=GROUP):
        if plugin in _loaded:
            continue
        _loaded.add(plugin)  # first, since a plugin may look up names itself
        try:
            loaded = plugin.load()
            if callable(loaded):
                loaded()
        except Exception as error:  # noqa: BLE001 (a user's code may raise anything)
            package = plugin.dist.name if plugin.dist else "an unknown package"
            notify(
                f"the plugin {plugin.name!r:.80} of {package} is left out "
                f"({type(error).__name__}: {error!s:.80}); `python -c 'import {plugin.module}'` "
                "shows where it fails"
            )
