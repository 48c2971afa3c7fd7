"""Training warns of weights far from those that its settings suit."""

import dataclasses
import re
import warnings

import numpy as np
import pytest

from algotransfer.datasets import make_dataset
from algotransfer.datasets.clrs30 import make_clrs_dataset
from algotransfer.datasets.presets import CLRS_TASKS
from algotransfer.experiment import Experiment
from algotransfer.training.train import _notify_of_scale

EXPERIMENT = Experiment(target="bellman_ford")


@pytest.mark.parametrize(
    ("factor", "advice"),
    [(1, None), (5, None), (5000, r"divide them by 5,000$"), (1e-3, r"multiply them by 1,000$")],
)
def test_weights_far_from_the_usual_range_are_named(factor, advice):
    sampled = make_dataset("er", 8, 8).graphs
    graphs = dataclasses.replace(sampled, weights=np.float32(factor) * sampled.weights)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _notify_of_scale(EXPERIMENT, graphs)
        _notify_of_scale(dataclasses.replace(EXPERIMENT, target="bfs"), graphs)  # has no weights
        _notify_of_scale(
            EXPERIMENT, make_clrs_dataset(CLRS_TASKS["bellman_ford"], "train", 9, 16).graphs
        )
    messages = [str(notice.message) for notice in caught]
    assert len(messages) == (advice is not None)
    assert all(re.search(f"weights go from .* suit weights near 1 .*{advice}", m) for m in messages)
