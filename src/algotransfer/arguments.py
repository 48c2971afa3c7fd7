"""Arguments of public functions: a wrong type gets a sentence at the door.

The annotations say what is expected; they are read when a function is first called. What an array
holds, and whether a number makes sense, is for the functions to say. Numbers of NumPy and JAX
become Python's own, so that they can be written as JSON. This module imports nothing heavy, so
that an `Experiment` can use it.
"""

from __future__ import annotations

import collections.abc as abc
import functools
import inspect
import itertools
import numbers
import os
import reprlib
import types
import typing
from pathlib import PurePath
from typing import Any, TypeVar

Function = TypeVar("Function", bound=abc.Callable)
UNIONS = (typing.Union, types.UnionType)
ITEMS = 1000  # of a collection that are looked at
WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "text",
    types.NoneType: "None",
    abc.Callable: "a function",
    abc.Sequence: "a list or tuple",
    abc.Iterable: "a list, tuple or range",
    abc.Mapping: "a dictionary",
    abc.Hashable: "a name",
    os.PathLike: "a path",
}


def checked(function: Function) -> Function:
    """Compares the types of a function's arguments with its annotations at every call."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*positional, **named):
        try:
            bound = signature.bind(*positional, **named)
        except TypeError:
            return function(*positional, **named)  # which says what is missing or too much
        bound.arguments.update(check_types(function.__name__, hints_of(function), bound.arguments))
        return function(*bound.args, **bound.kwargs)

    return typing.cast(Function, call)


def check_fields(instance: Any) -> None:
    """The same for the fields of a dataclass or a module; call it when they are set."""
    owner = type(instance)
    for name, value in check_types(owner.__name__, hints_of(owner), vars(instance)).items():
        object.__setattr__(instance, name, value)  # it may be frozen


def check_types(
    owner: str, hints: abc.Mapping[str, Any], values: abc.Mapping[str, Any]
) -> dict[str, Any]:
    """Raises a `TypeError`, or a `ValueError` for a word that is none of the known ones.

    **Returns:** the values, numbers and lists being Python's own.
    """
    values = {name: _plain(value, hints.get(name, Any)) for name, value in values.items()}
    for name, value in values.items():
        if not _fits(value, hints.get(name, Any)):
            chosen = isinstance(value, str) and _choices(hints[name])
            if chosen:
                raise ValueError(f"{name}={value!r:.60}; choose {' or '.join(map(repr, chosen))}")
            raise TypeError(
                f"{owner}: {name} is {shown(value)} (of type {type(value).__name__}); "
                f"expected {_words(hints[name])}{_way(value, hints[name])}"
            )
    return values


def shown(value: Any) -> str:
    """A value in a few words, whatever it is."""
    try:
        return reprlib.repr(value)
    except ValueError:  # integers of thousands of digits
        return "a huge number"


class _Unknown:
    """Stands for what is imported for type checkers alone: anything fits."""

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, name: str) -> _Unknown:
        return _Unknown(name)

    def __or__(self, other: Any) -> _Unknown:
        return self

    __ror__ = __or__

    def __call__(self) -> None:
        """Never called; `typing` wants types to be callable."""


@functools.cache
def hints_of(owner: Any) -> dict[str, Any]:
    """The annotations of a function or class, as types."""
    unknown: dict[str, Any] = {}
    while True:
        try:
            return typing.get_type_hints(owner, localns=unknown)
        except NameError as error:
            unknown[str(error.name)] = _Unknown(str(error.name))


def _plain(value: Any, hint: Any) -> Any:
    """Numbers and rows of numbers as Python's own, where no array is asked for."""
    kinds = [typing.get_origin(one) or one for one in (hint, *typing.get_args(hint))]
    if Any in kinds or any(map(_is_array, kinds)) or not hasattr(value, "tolist"):
        return value
    size = getattr(value, "ndim", None)
    listed = abc.Sequence in kinds or abc.Iterable in kinds
    return value.tolist() if size == 0 or (size == 1 and listed) else value


def _is_array(hint: Any) -> bool:
    return type(hint).__module__.startswith("jaxtyping")


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in UNIONS:
        if any(_is_path(one) for one in inner) and isinstance(value, str | os.PathLike):
            return "\0" not in str(value)
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return isinstance(value, str) and value in inner
    if origin is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)
    if origin is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if not isinstance(origin, type) or origin is Any:
        return True
    if origin in (abc.Sequence, abc.Iterable) and (
        isinstance(value, bytes | abc.Mapping) or getattr(value, "ndim", None) == 0
    ):
        return False
    if not isinstance(value, origin):
        return False
    if not inner or not isinstance(value, abc.Collection):
        return True
    if _each(origin, inner):
        return len(value) == len(inner) and all(map(_fits, value, inner))
    keyed = isinstance(value, abc.Mapping)
    items, kind = (value.values(), inner[1]) if keyed else (value, inner[0])
    return all(_fits(item, kind) for item in itertools.islice(items, ITEMS))


def _way(value: Any, hint: Any) -> str:
    """How an expected class says that one of it is made of a value (`way_from`), if it does."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in UNIONS else (hint,)
    classes = [kind for kind in kinds if isinstance(kind, type) and hasattr(kind, "way_from")]
    return "".join(f"; {way}" for way in (kind.way_from(value) for kind in classes) if way)


def _each(origin: Any, inner: tuple) -> bool:
    """Whether every item of a tuple has a type of its own."""
    return origin is tuple and Ellipsis not in inner


def _is_path(hint: Any) -> bool:
    hint = typing.get_origin(hint) or hint
    return hint is os.PathLike or (isinstance(hint, type) and issubclass(hint, PurePath))


def _choices(hint: Any) -> tuple:
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    parts = typing.get_args(hint) if typing.get_origin(hint) in UNIONS else ()
    return tuple(choice for part in parts for choice in _choices(part))


def _words(hint: Any) -> str:
    origin, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in UNIONS:
        return " or ".join(dict.fromkeys(map(_words, inner)))
    if origin is typing.Literal:
        return " or ".join(map(repr, inner))
    words = "a path" if _is_path(origin) else WORDS.get(origin)
    if words is None:
        name = getattr(origin, "__name__", str(origin))
        if _is_array(origin):
            return "a key, as of jax.random.key(0)" if "Key" in name else f"an array, {name}"
        words = f"an {name}" if name[0] in "AEIOU" else f"a {name}"
    if inner and _each(origin, inner):
        return f"{words} of {' and '.join(map(_words, inner))}"
    several = origin in (abc.Sequence, abc.Iterable, abc.Mapping, tuple) and inner
    keyed = origin is abc.Mapping
    return f"{words}, each item {_words(inner[keyed])}" if several else words
