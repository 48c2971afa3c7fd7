"""Run-time type checks of public arguments, by beartype.

Only the public names of the package are checked: functions where `algotransfer` hands them out,
dataclasses when they are made. Ranges and names are checked by the functions themselves.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args, get_origin

from algotransfer.errors import UserError, shown


def check_arguments(function: Any) -> Any:
    """Return a function that checks its arguments at every call; return other objects as given."""
    if not inspect.isfunction(function):
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*positional, **named):
        bound = signature.bind(*positional, **named)
        bound.arguments.update(check_types(function, bound.arguments))
        return function(*bound.args, **bound.kwargs)

    return checked


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass against its annotations; call this in `__post_init__`."""
    for name, value in check_types(type(instance), vars(instance)).items():
        object.__setattr__(instance, name, value)  # it may be frozen


def check_types(owner: Callable, values: Mapping[str, Any]) -> dict[str, Any]:
    """Raise a `UserError` unless each value fits its annotation in `owner`.

    **Returns:** the values, with numbers of NumPy and JAX as Python numbers (JSON can hold them).
    """
    from beartype import BeartypeConf
    from beartype.door import is_bearable

    conf = BeartypeConf(is_pep484_tower=True)  # an int is a float
    checked = {}
    for name, (hint, text) in _annotations(owner).items():
        if name not in values:
            continue
        value = checked[name] = _as_python(values[name], hint)
        if isinstance(value, str) and "\0" in value:
            raise UserError(f"{name} is {shown(value)}; text cannot hold a null character")
        # bool is a subclass of int, but True is not a number of nodes.
        bool_as_number = isinstance(value, bool) and not _accepts_bool(hint)
        if bool_as_number or not is_bearable(value, hint, conf=conf):
            advice = _order_hint(owner, name, values) or _conversion_hint(value, hint)
            raise UserError(
                f"{owner.__name__}: {name} is {shown(value)} (of type {type(value).__name__}); "
                f"expected {text}{advice}"
            )
    return checked


def _order_hint(owner: Callable, name: str, values: Mapping[str, Any]) -> str:
    """Return the order of the arguments if the value of `name` was exchanged with another one."""
    from beartype.door import is_bearable

    hint, _ = _annotations(owner)[name]
    for other, (expected, _) in _annotations(owner).items():
        if other not in values or Any in (hint, expected):
            continue
        ours, theirs = values[name], values[other]
        if is_bearable(ours, expected) and is_bearable(theirs, hint) and other != name:
            return f"; the order of the arguments is {', '.join(values)}"
    return ""


@functools.cache
def _annotations(owner: Callable) -> dict[str, tuple[Any, str]]:
    """Return each annotation as a type and as text for messages."""
    namespace = vars(sys.modules[owner.__module__])
    found = {}
    for name, text in inspect.get_annotations(inspect.unwrap(owner)).items():
        try:
            hint = eval(text, namespace) if isinstance(text, str) else text
        except NameError:  # imported under TYPE_CHECKING
            hint = Any
        words = re.sub(r"Literal\[(.*?)\]", lambda found: found[1].replace(", ", " | "), str(text))
        found[name] = (hint, words.replace(" | ", " or "))
    return found


def _as_python(value: Any, hint: Any) -> Any:
    """Convert array scalars, and rows where a sequence is expected, unless an array is."""
    kinds = [get_origin(kind) or kind for kind in (hint, *get_args(hint))]
    if Any in kinds or any(type(kind).__module__.startswith("jaxtyping") for kind in kinds):
        return value
    dimensions = getattr(value, "ndim", None)
    row = dimensions == 1 and (Sequence in kinds or Iterable in kinds)
    return value.tolist() if hasattr(value, "tolist") and (dimensions == 0 or row) else value


def _accepts_bool(hint: Any) -> bool:
    kinds = (hint, *get_args(hint))
    return bool in kinds or not (int in kinds or float in kinds)


def _conversion_hint(value: Any, hint: Any) -> str:
    """Return which function converts `value`, where an expected class says so."""
    kinds = [kind for kind in (hint, *get_args(hint)) if hasattr(kind, "conversion_hint")]
    return "".join(f"; {said}" for kind in kinds if (said := kind.conversion_hint(value)))
