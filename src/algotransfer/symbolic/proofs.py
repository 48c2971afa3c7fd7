"""Proofs about a step for all keys and weights, and so for all graphs and sizes, with z3.

Keys and weights are real numbers here; `rounding.py` bounds what float32 adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.expressions import NotExpressible, expression
from algotransfer.errors import UserError
from algotransfer.symbolic.expressions import Expression, exact_value, from_json, variables

TIMEOUT = 10_000  # milliseconds of one proof

STATEMENTS = {
    "defined": "no divisor is 0",
    "closed": "a candidate through a reached node is the key of a reached node",
    "monotone": "a larger key gives no smaller candidate",
    "no gain": "a candidate is no better than the key it comes from",
    "strict": "a candidate is worse than the key it comes from",
    "source": "no candidate is better than the key of the source",
    "direction": "the direction is that of the target",
    "equal": "the step is the target's, up to a factor of all keys",
    "infinity": "the step and the target's agree on an infinite key",
}


@dataclass(frozen=True)
class Domain:
    """Keys of reached nodes and valid weights, by the target's initial keys and direction."""

    source_key: float
    unreached_key: float
    smaller_is_better: bool
    weights: tuple[float, float]

    @classmethod
    def of(cls, algorithm: Algorithm) -> Domain:
        """Return the domain of an algorithm; raise a `UserError` where proofs do not apply."""
        if algorithm.relax_once or algorithm.source_key(2) != algorithm.source_key(3):
            raise UserError(
                f"{algorithm.name} keeps first keys or starts at a key that depends on the size; "
                "steps of such an algorithm cannot be certified"
            )
        return cls(
            float(algorithm.source_key(2)),
            float(algorithm.unreached_key),
            algorithm.smaller_is_better,
            algorithm.weights,
        )


@dataclass(frozen=True)
class Claim:
    """A statement, whether it was proven, and values that refute it if some were found."""

    name: str
    proven: bool
    refuted_by: dict[str, str]


def target_step(algorithm: Algorithm) -> Expression:
    """Return the step of an algorithm as an expression."""
    try:
        return from_json(expression(algorithm.relax))
    except NotExpressible as error:
        raise UserError(
            f"the step of {algorithm.name} cannot be written as data: {error}"
        ) from None


def prove_laws(step: Expression, domain: Domain, smaller: bool) -> list[Claim]:
    """Prove the laws that make a framework find the best path on every graph."""
    z3 = load_z3()
    key, larger, weight = z3.Reals("key larger weight")
    inside = [is_key(domain, key), is_weight(domain, weight)]
    here, there = to_z3(step, key, weight), to_z3(step, larger, weight)
    sign = 1 if smaller else -1
    goals = {
        "defined": z3.And(*[d != 0 for d in _divisors(step, key, weight)]),
        "closed": is_key(domain, here),
        "monotone": z3.Implies(z3.And(is_key(domain, larger), larger >= key), there >= here),
        "no gain": sign * here >= sign * key,
        "strict": sign * here > sign * key,
    }
    if math.isfinite(domain.source_key):
        goals["source"] = sign * here >= sign * to_z3(domain.source_key, key, weight)
    return [_prove(name, inside, goal, (key, larger, weight)) for name, goal in goals.items()]


def prove_equal(step: Expression, target: Expression, domain: Domain, scale: Fraction) -> Claim:
    """Prove step(s·key, weight) = s·target(key, weight) for a factor s of all keys."""
    z3 = load_z3()
    key, weight = z3.Reals("key weight")
    factor = z3.RealVal(str(scale))
    inside = [is_key(domain, key), is_weight(domain, weight)]
    goal = to_z3(step, factor * key, weight) == factor * to_z3(target, key, weight)
    return _prove("equal", inside, goal, (key, weight))


def prove_infinity(step: Expression, target: Expression, domain: Domain, scale: Fraction) -> Claim:
    """Prove the same at the infinite key of the source."""
    z3 = load_z3()
    weight = z3.Real("weight")
    ours, theirs = at_infinity(step), at_infinity(target)
    if isinstance(ours, float) or isinstance(theirs, float):
        equal = ours == theirs and not math.isnan(theirs)  # pyright: ignore[reportArgumentType]
        return Claim("infinity", equal, {} if equal else {"key": "inf"})
    factor = z3.RealVal(str(scale))
    goal = to_z3(ours, weight, weight) == factor * to_z3(theirs, weight, weight)
    return _prove("infinity", [is_weight(domain, weight)], goal, (weight,))


def find_scale(step: Expression, target: Expression, domain: Domain) -> Fraction:
    """Return the factor of all keys that a proof of equality can use."""
    free = (0.0, math.inf, -math.inf)  # initial keys that a factor does not change
    if domain.source_key not in free or domain.unreached_key not in free:
        return Fraction(1)
    start = Fraction(0) if domain.source_key == 0 else domain.source_key
    ours, theirs = (exact_value(each, start, Fraction(1)) for each in (step, target))
    if not isinstance(ours, Fraction) or not isinstance(theirs, Fraction) or theirs == 0:
        return Fraction(1)
    return ours / theirs if ours / theirs > 0 else Fraction(1)


def load_z3() -> Any:
    """Import z3, which the extra `certify` installs."""
    try:
        import z3
    except ImportError:
        raise UserError(
            "proofs need the solver z3; install it with `pip install z3-solver`"
        ) from None
    return z3


def is_key(domain: Domain, key) -> Any:
    """Return the condition that a key is that of a reached node."""
    z3 = load_z3()
    sign = 1 if domain.smaller_is_better else -1
    conditions = []
    if math.isfinite(domain.source_key):
        conditions.append(sign * key >= sign * z3.RealVal(str(Fraction(domain.source_key))))
    if math.isfinite(domain.unreached_key):
        conditions.append(sign * key < sign * z3.RealVal(str(Fraction(domain.unreached_key))))
    return z3.And(*conditions)


def is_weight(domain: Domain, weight) -> Any:
    """Return the condition that a weight is valid."""
    z3 = load_z3()
    low, high = domain.weights
    conditions = []
    if math.isfinite(low):
        conditions.append(weight > 0 if low == 0 else weight >= z3.RealVal(str(Fraction(low))))
    if math.isfinite(high):
        conditions.append(weight <= z3.RealVal(str(Fraction(high))))
    return z3.And(*conditions)


def to_z3(step: Expression, key, weight) -> Any:
    """Return an expression as a term of z3; numbers are exact."""
    z3 = load_z3()
    if isinstance(step, str):
        return {"key": key, "weight": weight}[step]
    if not isinstance(step, tuple):
        return z3.RealVal(str(Fraction(step)))
    operation, left, right = step[0], *(to_z3(part, key, weight) for part in step[1:])
    if operation == "pow":
        return _power(left, step[2])
    return {
        "add": lambda: left + right,
        "sub": lambda: left - right,
        "mul": lambda: left * right,
        "div": lambda: left / right,
        "min": lambda: z3.If(left <= right, left, right),
        "max": lambda: z3.If(left >= right, left, right),
    }[operation]()


def at_infinity(step: Expression) -> Expression:
    """Return a step at key = ∞: an expression of the weight, ∞, or NaN for arithmetic with it."""
    if "key" not in variables(step):
        return step
    if step == "key":
        return math.inf
    operation, left, right = step[0], *(at_infinity(part) for part in step[1:])  # pyright: ignore
    parts = [part for part in (left, right) if part != math.inf]
    if operation not in ("min", "max") or any(part != part for part in parts):
        return math.nan
    if len(parts) == 2:
        return (operation, left, right)
    return parts[0] if operation == "min" and parts else math.inf


def _power(base, exponent: float) -> Any:
    result = base
    for _ in range(int(exponent) - 1):
        result = result * base
    return result


def _divisors(step: Expression, key, weight) -> list[Any]:
    if not isinstance(step, tuple):
        return []
    inner = [divisor for part in step[1:] for divisor in _divisors(part, key, weight)]
    return [*inner, to_z3(step[2], key, weight)] if step[0] == "div" else inner


def _prove(name: str, inside: list, goal, names) -> Claim:
    z3 = load_z3()
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT)
    solver.add(*inside, z3.Not(goal))
    answer = solver.check()
    if answer == z3.unsat:
        return Claim(name, True, {})
    values = {}
    if answer == z3.sat:
        model = solver.model()
        values = {str(n): str(model[n]) for n in names if model[n] is not None}
    return Claim(name, False, values)
