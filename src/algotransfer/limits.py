"""The largest numbers that can be asked for: far more than anybody has trained.

Beyond them numbers and shapes overflow. This module imports nothing heavy, so that an `Experiment`
can use it.
"""

import sys

MAX_SETTINGS = {
    "trajectories": 10_000,
    "batch_size": 10_000_000,
    "patience": 1_000_000,
    "max_epochs": 1_000_000,
    "hidden": 16_384,
}
MAX_FLOAT = sys.float_info.max  # neither ∞, nor a whole number that no float is near
