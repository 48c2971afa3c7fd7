"""Expressions and the grammar."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algotransfer.errors import UserError
from algotransfer.symbolic.expressions import (
    OPERATIONS,
    as_text,
    evaluate,
    exact_value,
    from_json,
    linear_combination,
    size,
    to_json,
)
from algotransfer.symbolic.grammar import grammar

LEAVES = st.sampled_from(["key", "weight", 1.0, 0.5, -2.0, 3.25])
BINARY = st.sampled_from([name for name in OPERATIONS if name != "pow"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(BINARY, inner, inner),
        st.tuples(st.just("pow"), inner, st.sampled_from([2.0, 3.0])),
    ),
    max_leaves=8,
)
VALUES = {"key": 0.75, "weight": 0.4, "own": 2.0}


@given(EXPRESSIONS)
def test_text_json_and_fractions_have_the_value_of_the_expression(expression):
    with np.errstate(all="ignore"):
        value = float(evaluate(expression, VALUES))
    assert from_json(to_json(expression)) == expression
    if not np.isfinite(value) or abs(value) > 1e12:
        return
    assert eval(as_text(expression), dict(VALUES)) == pytest.approx(value, rel=1e-9, abs=1e-9)
    exact = exact_value(expression, Fraction(3, 4), Fraction(2, 5))
    assert float(exact) == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "data",
    [
        "source",
        ["add", "key"],
        ["system", "key", "weight"],
        float("nan"),
        True,
        None,
        {"add": 1},
        ["add", "key", ["add"] * 3],
        ["pow", "key", 1.5],
        ["pow", "key", 1e8],
        1e39,
        1e-46,
    ],
)
def test_other_data_is_refused(data):
    with pytest.raises(UserError, match="no part of an expression"):
        from_json(data)


def test_a_deep_or_long_expression_is_refused():
    deep = "key"
    for _ in range(5000):
        deep = ["add", deep, "weight"]
    with pytest.raises(UserError, match="more than 200 parts"):
        from_json(deep)


def test_a_sum_leaves_out_factors_of_one_and_terms_of_zero():
    assert linear_combination([1.0, 1.0], ["key", "weight"]) == ("add", "key", "weight")
    step = linear_combination([2.0, 0.0, -1.0, -0.5], ["key", "own", "weight", 1.0])
    assert as_text(step) == "2 * key - weight - 0.5"
    assert linear_combination([0.0], ["key"]) == 0.0
    assert as_text(linear_combination([-1.0], ["key"])) == "(-1) * key"


def test_the_grammar_has_every_operation_and_no_value_twice():
    assert [len(grammar(depth)) for depth in (0, 1, 2)] == [4, 46, 5708]
    assert set(grammar(1)) < set(grammar(2))
    used = {term[0] for term in grammar(1) if isinstance(term, tuple)}
    assert used == {"add", "sub", "mul", "div", "min", "max", "pow"}
    assert max(map(size, grammar(2))) == 7
    generator = np.random.default_rng(1)
    points = {name: generator.uniform(0.1, 5, 40) for name in VALUES}
    values = np.stack([np.broadcast_to(evaluate(t, points), 40) for t in grammar(1)])
    values = values / np.abs(values).max(axis=1, keepdims=True)
    different = np.abs(values[:, None] - values[None]).max(axis=-1) + np.eye(len(values))
    assert different.min() > 1e-6
