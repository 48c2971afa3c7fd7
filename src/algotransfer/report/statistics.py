"""Statistics over seeds: Welch contrasts, equivalence tests and Holm's correction."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Contrast:
    """A sum of means of independent samples, with its standard error."""

    estimate: float
    error: float  # 0 if no sample varies
    freedom: float  # Welch–Satterthwaite degrees of freedom

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval."""
        half = float(t.ppf((1 + CONFIDENCE) / 2, self.freedom) * self.error) if self.error else 0.0
        return self.estimate - half, self.estimate + half

    def p_below(self, bound: float) -> float:
        """Return the one-sided p-value for the estimate being below the bound."""
        distance = self.estimate - bound
        if not self.error:
            return 0.5 * (1 + math.copysign(1, distance)) if distance else 1.0
        return float(t.cdf(distance / self.error, self.freedom))

    def p_differs(self, bound: float) -> float:
        """Return the two-sided p-value for the estimate differing from the bound (Welch)."""
        below = self.p_below(bound)
        return min(1.0, 2 * min(below, self._p_above(bound)))

    def p_within(self, margin: float) -> float:
        """Return the p-value for the estimate being between −margin and margin (TOST)."""
        return max(self.p_below(margin), self._p_above(-margin))

    def _p_above(self, bound: float) -> float:
        return Contrast(-self.estimate, self.error, self.freedom).p_below(-bound)


def welch_contrast(samples: Sequence[Sequence[float] | np.ndarray]) -> Contrast:
    """Return the sum of the samples' means; each sample has two or more values.

    The samples carry sign and weight: `welch_contrast([left, [-x for x in right]])` is the
    difference of means of Welch's t-test.
    """
    arrays = [np.asarray(sample, np.float64) for sample in samples]
    variances = [float(array.var(ddof=1)) / len(array) for array in arrays]
    total = sum(variances)
    spread = sum(v**2 / (len(a) - 1) for v, a in zip(variances, arrays, strict=True))
    freedom = total**2 / spread if spread else math.inf
    return Contrast(float(sum(a.mean() for a in arrays)), math.sqrt(total), freedom)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method."""
    adjusted = np.empty(len(p_values))
    largest = 0.0
    for rank, place in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted.tolist()
