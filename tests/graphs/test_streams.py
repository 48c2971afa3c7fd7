"""Streams: the same numbers everywhere, uniform, and never shared."""

import hashlib
import math

import numpy as np
import pytest
from scipy import stats

from algotransfer.graphs.streams import Stream


def stream(seed=0, split="train", family="er", num_nodes=20, purpose="edges"):
    return Stream(seed, split, family, num_nodes, purpose)


def test_key_is_the_hash_of_the_arguments():
    text = '["algotransfer", 0, "train", "er", 20, "edges"]'
    key = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")
    assert np.array_equal(stream().raw(5), np.random.Philox(key=key).random_raw(5))


def test_numbers_never_change():
    assert stream().raw(3).tolist() == [
        14510754550644641625,
        15943756286630546385,
        16083800686441730850,
    ]


@pytest.mark.parametrize(
    "other",
    [{"seed": 1}, {"split": "test"}, {"family": "ba"}, {"num_nodes": 21}, {"purpose": "labels"}],
)
def test_streams_differ_in_every_argument(other):
    assert not np.isin(stream(**other).raw(1000), stream().raw(1000)).any()


def test_arguments_do_not_run_into_each_other():
    one, two = stream(split="a", family="bc"), stream(split="ab", family="c")
    assert not np.array_equal(one.raw(4), two.raw(4))


def test_numbers_do_not_depend_on_how_they_are_asked_for():
    parts, whole = stream(), stream()
    assert np.array_equal(np.concatenate([parts.uniform(3), parts.uniform(4)]), whole.uniform(7))
    assert np.array_equal(stream().uniform(2, 3).ravel(), stream().uniform(6))


def test_uniform_numbers_are_uniform():
    numbers = stream().uniform(100_000)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.array_equal(numbers * 2**53, np.floor(numbers * 2**53))
    assert stats.kstest(numbers, "uniform").pvalue > 0.01


def test_integers_are_uniform():
    counts = np.bincount(stream().integers(70_000, below=7), minlength=7)
    assert len(counts) == 7
    assert stats.chisquare(counts).pvalue > 0.01


@pytest.mark.parametrize("below", [1, 2, 3, 7, 1000, 2**31 - 1, 2**40 + 1, 2**53 - 1])
def test_the_greatest_number_stays_below(monkeypatch, below):
    ones = np.full(1, 2**64 - 1, np.uint64)
    monkeypatch.setattr(Stream, "raw", lambda self, *shape: ones.copy())
    assert stream().integers(1, below=below)[0] < below


@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 1000])
def test_permutations_are_permutations(size):
    rows = stream().permutations(20, size)
    assert rows.shape == (20, size)
    assert np.array_equal(np.sort(rows, axis=1), np.tile(np.arange(size), (20, 1)))


def test_all_permutations_are_equally_likely():
    rows = stream().permutations(24_000, 4)
    _, counts = np.unique(rows @ [64, 16, 4, 1], return_counts=True)
    assert len(counts) == math.factorial(4)
    assert stats.chisquare(counts).pvalue > 0.01
