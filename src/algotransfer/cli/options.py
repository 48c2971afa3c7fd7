"""Annotations of command-line options: the choices of a registry, and readable defaults."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from tyro.conf import arg


def choice(names: Iterable[str], default: str | None = None) -> Any:
    """Show the choices of an option; the command checks them, with the nearest name in errors."""
    return arg(metavar="{" + ",".join(names) + "}", help_behavior_hint=_default(default))


def optional(metavar: str, default: str = "none") -> Any:
    """Show an option that may be left out, without `{None}`."""
    return arg(metavar=metavar, help_behavior_hint=_default(default))


def _default(text: str | None) -> str | None:
    return None if text is None else f"(default: {text})"


Device = Annotated[Literal["cpu", "gpu"] | None, optional("{cpu,gpu}", "a GPU if there is one")]
