"""Learn the step of a relaxation algorithm from inputs and outputs alone.

The final keys are a fixed point of the step, so every edge from a node's predecessor gives one
linear equation for the coefficients of a library of terms. The step is the shortest combination
of at most three terms that satisfies all equations up to rounding and that, executed from the
start, gives the answers of the training graphs. Nothing is initialised, and nothing follows a
gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import comb

import numpy as np
from jaxtyping import Float, Int

from algotransfer.errors import UserError
from algotransfer.symbolic.answers import Answers, Equations, fixed_point_equations
from algotransfer.symbolic.expressions import (
    Expression,
    evaluate,
    linear_combination,
    size,
    variables,
)
from algotransfer.symbolic.numpy_frameworks import execute_step, numpy_step

MAX_TERMS = 3
MAX_SUBSETS = {1: 10**8, 2: 10**8, 3: 2 * 10**6}  # by number of terms; then of shorter terms only
LENGTHS = (3, 5, 7, 9, 12, 16, 200)  # description lengths up to which is searched in turn
MAX_TRIED = 1_000  # combinations that are executed before the search gives up
SCREENED_ROWS = 600  # equations that screen combinations before all equations decide
SCREEN = 1e-7  # largest squared residual of screened equations, relative to the squared keys
INDEPENDENT = 1e-7  # smallest determinant of the correlations of terms
NEEDED = 1e-4  # smallest part of the keys that a term explains
ROUNDING = 8 * 2.0**-24  # error of an equation in float32, relative to the sizes of its terms
DENOMINATORS = 12  # largest denominator of a simple coefficient
DECIMALS = (2, 3, 4, 5)
FEW_GRAPHS = 8  # graphs that a combination runs on first
TRIED_GRAPHS = 1_000  # graphs whose answers it has to give
RIGHT = 0.999  # share of right predecessors; rounding decides between near ties
BLOCK = 512  # terms whose pairs with all others are screened at a time
CHUNK = 2**18  # larger combinations that are screened at a time


@dataclass(frozen=True)
class Combination:
    """A sum of terms."""

    terms: tuple[Expression, ...]
    coefficients: tuple[float, ...]

    @property
    def step(self) -> Expression:
        """The candidate key as one expression."""
        return linear_combination(self.coefficients, self.terms)

    @property
    def length(self) -> int:
        """Description length: parts of the terms, coefficients other than 1, and additions."""
        coefficients = sum(number != 1 for number in self.coefficients)
        return sum(map(size, self.terms)) + coefficients + len(self.terms) - 1


@dataclass(frozen=True)
class Learned:
    """A learned step.

    **Arguments:**

    - `step`: the candidate key of a node through a neighbour.
    - `smaller_is_better`: the learned direction.
    - `num_tried`: combinations that satisfied all equations and were executed, this one included.
    """

    step: Expression
    smaller_is_better: bool
    num_tried: int


def learn_step(answers: Answers, terms: Sequence[Expression]) -> Learned:
    """Return the shortest step whose executions give the answers.

    **Arguments:**

    - `answers`: inputs and outputs, of `collect_answers`.
    - `terms`: the library, such as `grammar(1)` or a part of `grammar(2)`.
    """
    equations = fixed_point_equations(answers)
    if len(equations.own) == 0:
        raise UserError("no node has a predecessor with a finite key; give graphs with more edges")
    library = Library.create(equations, terms)
    tried = answers[np.random.default_rng(0).permutation(len(answers))[:TRIED_GRAPHS]]
    waiting: list[Combination] = []
    num_tried, shorter = 0, 0
    for longest in LENGTHS:
        found = library.combinations(shorter, longest)
        waiting = sorted([*waiting, *found], key=lambda each: each.length)
        while waiting and waiting[0].length <= longest and num_tried < MAX_TRIED:
            combination = library.confirmed(waiting.pop(0))
            if combination is None:
                continue
            num_tried += 1
            smaller = _direction(combination.step, tried)
            # The frameworks give a step no own key; another step may say the same without it.
            if smaller is not None and "own" not in variables(combination.step):
                return Learned(combination.step, smaller, num_tried)
        shorter = longest
    raise UserError(
        f"no step found: the {num_tried} shortest combinations of the {len(terms)} terms that "
        "satisfy the equations of the answers do not give these answers when executed; add terms"
    )


def _direction(step: Expression, answers: Answers) -> bool | None:
    """Return whether smaller keys are better if executions give the answers so, else None."""
    for smaller in (True, False):
        if _gives(step, smaller, answers[:FEW_GRAPHS]) and _gives(step, smaller, answers):
            return smaller
    return None


def _gives(step: Expression, smaller: bool, answers: Answers) -> bool:
    key, pred = execute_step(numpy_step(step), smaller, answers)
    if not np.allclose(key, answers.key, rtol=1e-4, atol=1e-6):
        return False
    return bool(np.mean((pred == answers.pred)[answers.pred >= 0]) >= RIGHT)


@dataclass(frozen=True)
class Library:
    """Terms with their values on some equations, and all equations."""

    terms: list[Expression]
    values: Float[np.ndarray, "rows terms"]
    own: Float[np.ndarray, " rows"]
    sizes: Int[np.ndarray, " terms"]
    equations: Equations

    @classmethod
    def create(cls, equations: Equations, terms: Sequence[Expression]) -> Library:
        """Evaluate terms; leave out those that are not finite or always 0."""
        rows = np.random.default_rng(0).permutation(len(equations.own))[:SCREENED_ROWS]
        few = equations[rows]
        with np.errstate(all="ignore"):
            columns = {
                term: np.broadcast_to(evaluate(term, few.values()), len(rows)) for term in terms
            }
        usable = [t for t, c in columns.items() if np.isfinite(c).all() and np.abs(c).max() > 0]
        if not usable:
            raise UserError("no term is finite on all equations of the answers; give other terms")
        values = np.stack([columns[term] for term in usable], axis=1).astype(np.float64)
        return cls(usable, values, few.own, np.array([size(t) for t in usable]), equations)

    def combinations(self, shorter: int, longest: int) -> Iterator[Combination]:
        """Yield the combinations that satisfy the screened equations, by their length.

        Lengths are those with all coefficients 1: above `shorter`, up to `longest`.
        """
        for count in range(1, MAX_TERMS + 1):
            size_limit = longest - 2 * (count - 1)
            while comb(int((self.sizes <= size_limit).sum()), count) > MAX_SUBSETS[count]:
                size_limit -= 1
            short = np.flatnonzero(self.sizes <= size_limit)
            for subset in self._screened(short, count):
                length = self.sizes[subset].sum() + count - 1
                if shorter < length <= longest:
                    values = self.values[:, subset]
                    if (found := _fit(values, self.own)) is not None:
                        yield Combination(tuple(self.terms[index] for index in subset), found)

    def confirmed(self, combination: Combination) -> Combination | None:
        """Return a combination that satisfies all equations, with new coefficients if necessary."""
        own = self.equations.own
        with np.errstate(all="ignore"):
            columns = [evaluate(term, self.equations.values()) for term in combination.terms]
        values = np.stack([np.broadcast_to(column, own.shape) for column in columns], axis=1)
        if _satisfied(values, own, np.array(combination.coefficients)):
            return combination
        if not np.isfinite(values).all() or (found := _fit(values, own)) is None:
            return None
        return Combination(combination.terms, found)

    def _screened(self, among: Int[np.ndarray, " few"], count: int) -> Iterator[list[int]]:
        """Yield subsets with a small residual on some equations, from their correlations."""
        values = self.values[:, among]
        unit = values / np.linalg.norm(values, axis=0)
        target = unit.T @ (self.own / np.linalg.norm(self.own))
        if count == 1:
            found = iter(np.flatnonzero(1 - target**2 < SCREEN)[:, None])
        elif count == 2:
            found = _screened_pairs(unit, target)
        else:
            found = _screened_subsets(unit.T @ unit, target, count)
        for subset in found:
            yield among[subset].tolist()


def _screened_pairs(
    unit: Float[np.ndarray, "rows terms"], target: Float[np.ndarray, " terms"]
) -> Iterator[Int[np.ndarray, " 2"]]:
    """Yield pairs whose span nearly has the keys, by the formula for two columns of length 1."""
    for first in range(0, len(target), BLOCK):
        inner = unit[:, first : first + BLOCK].T @ unit
        left, right = target[first : first + BLOCK, None], target[None]
        with np.errstate(all="ignore"):
            det = 1 - inner**2
            weights = (left - inner * right) / det, (right - inner * left) / det
            residual = 1 - weights[0] * left - weights[1] * right
        needed = np.minimum(*np.abs(weights)) > NEEDED
        good = (residual < SCREEN) & needed & (det > INDEPENDENT)
        rows, columns = np.nonzero(good)
        once = rows + first < columns
        yield from np.stack([rows + first, columns], axis=1)[once]


def _screened_subsets(gram, target, count: int) -> Iterator[Int[np.ndarray, " count"]]:
    """Yield subsets of `count` terms whose span nearly has the keys."""
    subsets = combinations(range(len(target)), count)
    while some := list(islice(subsets, CHUNK)):
        chosen = np.array(some)
        inner, right = gram[chosen[:, :, None], chosen[:, None, :]], target[chosen]
        good = np.linalg.det(inner) > INDEPENDENT
        chosen, inner, right = chosen[good], inner[good], right[good]
        weights = np.linalg.solve(inner, right[..., None])[..., 0]
        residual = 1 - np.sum(weights * right, axis=1)
        needed = np.abs(weights).min(axis=1, initial=1) > NEEDED
        yield from chosen[(residual < SCREEN) & needed]


def _fit(
    values: Float[np.ndarray, "rows k"], own: Float[np.ndarray, " rows"]
) -> tuple[float, ...] | None:
    """Return coefficients, simple ones if they do, or None if an equation is violated."""
    fitted = np.linalg.lstsq(values, own, rcond=None)[0]
    if not _satisfied(values, own, fitted):
        return None
    for coefficients in _simple(fitted):
        if _satisfied(values, own, coefficients):
            return tuple(coefficients.tolist())
    return None


def _satisfied(values, own, coefficients) -> bool:
    """Return whether all equations hold up to rounding in float32."""
    parts = values * coefficients
    sizes = np.abs(parts).sum(axis=1) + np.abs(own)
    return bool(np.all(np.abs(parts.sum(axis=1) - own) <= ROUNDING * sizes))


def _simple(fitted: Float[np.ndarray, " k"]) -> Iterator[Float[np.ndarray, " k"]]:
    """Yield simpler numbers near the fitted ones, simplest first, and then these."""
    for denominator in range(1, DENOMINATORS + 1):
        near = [Fraction(float(x)).limit_denominator(denominator) for x in fitted]
        yield np.array([float(x) for x in near])
    for digits in DECIMALS:
        yield np.round(fitted, digits)
    yield fitted
