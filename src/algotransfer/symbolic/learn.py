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
from itertools import combinations
from math import comb

import numpy as np
from jaxtyping import Float, Int

from algotransfer.errors import UserError
from algotransfer.symbolic.answers import Answers, Equations, fixed_point_equations
from algotransfer.symbolic.expressions import Expression, evaluate, linear_combination, size
from algotransfer.symbolic.frames import execute_step, numpy_step

MAX_TERMS = 3
MAX_SUBSETS = 5 * 10**7  # combinations of one size; larger sizes are left out
MAX_TRIED = 1_000  # combinations that are executed before the search gives up
SCREENED_ROWS = 2_000  # equations that screen combinations before all equations decide
SCREEN = 1e-7  # largest squared residual of screened equations, relative to the squared keys
INDEPENDENT = 1e-7  # smallest determinant of the correlations of terms
NEEDED = 1e-4  # smallest part of the keys that a term explains
ROUNDING = 8 * 2.0**-24  # error of an equation in float32, relative to the sizes of its terms
DENOMINATORS = 12  # largest denominator of a simple coefficient
DECIMALS = (2, 3, 4, 5)
FEW_GRAPHS = 8  # graphs that a combination runs on first
TRIED_GRAPHS = 128  # graphs whose answers it has to give
RIGHT = 0.999  # share of right predecessors; rounding decides between near ties
CHUNK = 2**20  # combinations that are screened at a time


@dataclass(frozen=True)
class Combination:
    """A sum of terms that satisfies all equations."""

    terms: tuple[Expression, ...]
    coefficients: tuple[float, ...]

    @property
    def step(self) -> Expression:
        """The candidate key as one expression."""
        return linear_combination(list(self.coefficients), list(self.terms))

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
        raise UserError("no node has a predecessor; give graphs with edges and their answers")
    library = Library.create(equations, terms)
    waiting: list[Combination] = []
    num_tried = 0
    for count in range(1, MAX_TERMS + 1):
        last = count == MAX_TERMS or comb(len(library.terms), count + 1) > MAX_SUBSETS
        waiting = sorted([*waiting, *library.combinations(count)], key=lambda each: each.length)
        # With one more term the shortest combination has 2·count + 1 parts.
        short = 2 * count + 1
        while waiting and num_tried < MAX_TRIED and (last or waiting[0].length <= short):
            step = waiting.pop(0).step
            num_tried += 1
            if (smaller := _direction(step, answers)) is not None:
                return Learned(step, smaller, num_tried)
        if last or num_tried == MAX_TRIED:
            break
    raise UserError(
        f"no step found: the {num_tried} shortest combinations of the {len(terms)} terms that "
        "satisfy the equations of the answers do not give these answers when executed; add terms"
    )


def _direction(step: Expression, answers: Answers) -> bool | None:
    """Return whether smaller keys are better if executions give the answers so, else None."""
    for smaller in (True, False):
        few, many = answers[:FEW_GRAPHS], answers[:TRIED_GRAPHS]
        if _gives(step, smaller, few) and _gives(step, smaller, many):
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
    equations: Equations

    @classmethod
    def create(cls, equations: Equations, terms: Sequence[Expression]) -> Library:
        """Evaluate terms; leave out those that are not finite, constant 0, or repeat another."""
        rows = np.random.default_rng(0).permutation(len(equations.own))[:SCREENED_ROWS]
        few = equations[rows]
        with np.errstate(all="ignore"):
            columns = {
                term: np.broadcast_to(evaluate(term, few.values()), len(rows)) for term in terms
            }
        usable = [t for t, c in columns.items() if np.isfinite(c).all() and np.abs(c).max() > 0]
        values = np.stack([columns[term] for term in usable], axis=1).astype(np.float64)
        return cls(usable, values, few.own, equations)

    def combinations(self, count: int) -> Iterator[Combination]:
        """Yield the combinations of `count` terms that satisfy all equations."""
        for subset in self._screened(count):
            terms = tuple(self.terms[index] for index in subset)
            if (found := self._fit(terms, self.values[:, subset])) is not None:
                yield Combination(terms, found)

    def _screened(self, count: int) -> Iterator[list[int]]:
        """Yield subsets with a small residual on some equations, from their correlations."""
        unit = self.values / np.linalg.norm(self.values, axis=0)
        target = unit.T @ (self.own / np.linalg.norm(self.own))
        if count == 1:
            yield from np.flatnonzero(1 - target**2 < SCREEN)[:, None].tolist()
            return
        gram = unit.T @ unit
        for subsets in _chunks(len(self.terms), count):
            inner = gram[subsets[:, :, None], subsets[:, None, :]]
            right = target[subsets]
            good = np.linalg.det(inner) > INDEPENDENT
            subsets, inner, right = subsets[good], inner[good], right[good]
            weights = np.linalg.solve(inner, right[..., None])[..., 0]
            residual = 1 - np.sum(weights * right, axis=1)
            good = (residual < SCREEN) & (np.abs(weights).min(axis=1, initial=1) > NEEDED)
            yield from subsets[good].tolist()

    def _fit(self, terms, values: Float[np.ndarray, "rows k"]) -> tuple[float, ...] | None:
        """Return coefficients, simple ones if they do, or None if an equation is violated."""
        fitted = np.linalg.lstsq(values, self.own, rcond=None)[0]
        if not _satisfied(values, self.own, fitted):
            return None
        with np.errstate(all="ignore"):
            columns = [evaluate(term, self.equations.values()) for term in terms]
        every = np.stack([np.broadcast_to(c, self.equations.own.shape) for c in columns], axis=1)
        for coefficients in _simple(fitted):
            if _satisfied(every, self.equations.own, coefficients):
                return tuple(coefficients.tolist())
        return None


def _chunks(num_terms: int, count: int) -> Iterator[Int[np.ndarray, "subsets count"]]:
    """Yield all subsets of `count` terms, some at a time."""
    if count == 2:
        first, second = np.triu_indices(num_terms, 1)
        for at in range(0, len(first), CHUNK):
            yield np.stack([first[at : at + CHUNK], second[at : at + CHUNK]], axis=1)
    else:
        subsets = combinations(range(num_terms), count)
        while True:
            chunk = np.fromiter(
                (each for _, each in zip(range(CHUNK), subsets, strict=False)),
                dtype=np.dtype((int, count)),
            )
            if len(chunk) == 0:
                return
            yield chunk


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
