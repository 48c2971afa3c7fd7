"""Arguments are compared with annotations; errors say what came and what was expected."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np
import pytest
from jaxtyping import Int

from algotransfer.arguments import check_fields, checked

if TYPE_CHECKING:
    import only_for_checkers  # pyright: ignore[reportMissingImports]


@checked
def call(
    count: int = 1,
    rate: float = 1.0,
    flag: bool = False,
    path: str | os.PathLike[str] = "",
    names: Sequence[str] | None = None,
    seeds: int | Iterable[int] = 1,
    kind: Literal["a", "b"] | None = None,
    rows: Mapping[str, Sequence[int]] | None = None,
    act: Callable[[int], int] = abs,
    ends: Int[np.ndarray, "2 pairs"] | None = None,
    foreign: only_for_checkers.Thing | None = None,
    pairs: Mapping[str, tuple[int, only_for_checkers.Thing]] | None = None,
    anything: Any = None,
) -> dict[str, Any]:
    return {name: value for name, value in locals().items()}  # noqa: C416


@dataclass(frozen=True)
class Setting:
    width: int
    names: tuple[str, ...] = ()

    def __post_init__(self):
        check_fields(self)


@pytest.mark.parametrize(
    "good",
    [
        {"count": 3, "rate": 3, "path": Path("x"), "names": "ab", "seeds": range(10**12)},
        {"seeds": {1, 2}, "kind": "b", "rows": {"a": [1]}, "ends": np.zeros((2, 4), int)},
        {"foreign": object(), "anything": object(), "pairs": {"a": (1, object())}},
    ],
)
def test_what_fits_is_passed_on(good):
    assert good.items() <= call(**good).items()


def test_numbers_become_pythons_own():
    given = call(np.int64(3), np.float32(0.5), seeds=np.arange(2), flag=np.bool_(True))
    assert (given["count"], given["rate"], given["seeds"], given["flag"]) == (3, 0.5, [0, 1], True)
    assert [type(given[name]) for name in ("count", "rate", "flag")] == [int, float, bool]
    array = np.array(3)
    assert call(anything=array)["anything"] is array
    assert type(Setting(np.int32(2)).width) is int


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"count": 2.5}, "call: count is 2.5 (of type float); expected a whole number"),
        ({"count": True}, "count is True (of type bool); expected a whole number"),
        ({"rate": "fast"}, "rate is 'fast' (of type str); expected a number"),
        ({"path": 3}, "path is 3 (of type int); expected text or a path"),
        ({"path": "a\0b"}, "expected text or a path"),
        ({"names": b"abc"}, "expected a list or tuple, each item text or None"),
        ({"seeds": jax.random.key(0)}, "of type PRNGKeyArray); expected a whole number or a list"),
        ({"names": ["a", None]}, "names is ['a', None]"),
        ({"seeds": ["a"]}, "expected a whole number or a list, tuple or range, each item a whole"),
        ({"kind": 3}, "kind is 3 (of type int); expected 'a' or 'b' or None"),
        ({"rows": {"a": 1}}, "expected a dictionary, each item a list or tuple, each item a whole"),
        ({"pairs": {"a": (1,)}}, "a dictionary, each item a tuple of a whole number and a Thing"),
        ({"pairs": {"a": ("1", 1)}}, "pairs is {'a': ('1', 1)}"),
        ({"act": 3}, "expected a function"),
        ({"ends": np.zeros((3, 4), int)}, "expected an array, Int[ndarray, '2 pairs'] or None"),
        ({"count": 10**5000, "flag": 10**5000}, "flag is a huge number"),
        ({"unknown": 1}, "unexpected keyword argument 'unknown'"),
    ],
)
def test_wrong_types_get_a_sentence(bad, said):
    with pytest.raises(TypeError) as caught:
        call(**bad)
    assert said in str(caught.value)


def test_an_unknown_word_gets_the_known_ones():
    with pytest.raises(ValueError, match="kind='c'; choose 'a' or 'b'"):
        call(kind="c")  # pyright: ignore[reportArgumentType]


def test_fields():
    with pytest.raises(TypeError, match="Setting: names is 'ab' .*; expected a tuple, each item"):
        Setting(1, "ab")  # pyright: ignore[reportArgumentType]
