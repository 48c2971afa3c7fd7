"""Upper bounds of numeric settings, beyond which numbers and shapes overflow."""

import sys

MAX_SETTINGS = {
    "trajectories": 10_000,
    "batch_size": 10_000_000,
    "patience": 1_000_000,
    "max_epochs": 1_000_000,
    "hidden": 16_384,
}
MAX_FLOAT = sys.float_info.max  # excludes ∞ and integers beyond the range of a float
