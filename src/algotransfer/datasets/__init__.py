"""Datasets: graphs with traces, sampled by arguments or by preset, or made of one's own graphs."""

from algotransfer.datasets.dataset import Dataset, make_dataset
from algotransfer.datasets.presets import PRESETS, Preset, Splits, make_splits

__all__ = ["PRESETS", "Dataset", "Preset", "Splits", "make_dataset", "make_splits"]
