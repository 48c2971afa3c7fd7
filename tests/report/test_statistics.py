"""Statistics over seeds against scipy, and Holm's correction against a calculation by hand."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from algotransfer.report.statistics import holm, welch_contrast

RNG = np.random.default_rng(0)
LEFT, RIGHT = RNG.normal(0.2, 1.0, 8), RNG.normal(0.0, 0.3, 5)


def difference():
    return welch_contrast([LEFT, -RIGHT])


def shifted(bound, alternative="two-sided"):
    return ttest_ind(LEFT - bound, RIGHT, equal_var=False, alternative=alternative)


def test_two_samples_give_welchs_test():
    test, contrast = shifted(0), difference()
    assert contrast.estimate == pytest.approx(LEFT.mean() - RIGHT.mean())
    assert contrast.freedom == pytest.approx(test.df)
    assert contrast.interval() == pytest.approx(tuple(test.confidence_interval(0.95)))
    for bound in (0, -0.7, 1.5):
        assert contrast.p_differs(bound) == pytest.approx(shifted(bound).pvalue)
        assert contrast.p_below(bound) == pytest.approx(shifted(bound, "less").pvalue)


def test_equivalence_is_two_one_sided_tests():
    for margin in (0.1, 2.0):
        parts = shifted(margin, "less").pvalue, shifted(-margin, "greater").pvalue
        assert difference().p_within(margin) == pytest.approx(max(parts))


def test_one_sample_gives_students_test():
    contrast, test = welch_contrast([LEFT]), ttest_1samp(LEFT, 0.1)
    assert contrast.freedom == pytest.approx(len(LEFT) - 1)
    assert contrast.p_differs(0.1) == pytest.approx(test.pvalue)


def test_more_samples_add_their_variances():
    third = RNG.normal(1.0, 2.0, 4)
    contrast = welch_contrast([LEFT, -RIGHT, -third])
    parts = [np.var(x, ddof=1) / len(x) for x in (LEFT, RIGHT, third)]
    assert contrast.error == pytest.approx(math.sqrt(sum(parts)))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 7 + parts[1] ** 2 / 4 + parts[2] ** 2 / 3)
    assert contrast.freedom == pytest.approx(freedom)


def test_samples_without_variance_decide_at_once():
    contrast = welch_contrast([[-1.0, -1.0], [0.5, 0.5, 0.5]])
    assert contrast.interval() == (-0.5, -0.5)
    assert (contrast.p_differs(0), contrast.p_differs(-0.5)) == (0, 1)
    assert (contrast.p_within(1), contrast.p_within(0.25)) == (0, 1)


def test_holm_by_hand():
    # Ordered: 0.01 × 4 = 0.04; 0.02 × 3 = 0.06; 0.03 × 2 = 0.06; 0.04 × 1, raised to 0.06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.001, 0.7]) == pytest.approx([1.0, 0.003, 1.0])
    assert holm([]) == []
