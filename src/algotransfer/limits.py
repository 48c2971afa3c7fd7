"""The largest numbers that can be asked for: far more than anybody has trained.

Beyond them numbers and shapes overflow. This module imports nothing heavy, so that an `Experiment`
can use it.
"""

LARGEST = {
    "trajectories": 10_000,
    "batch_size": 10_000_000,
    "patience": 1_000_000,
    "max_epochs": 1_000_000,
    "hidden": 16_384,
}
# Of float32, in which networks compute: beyond them numbers become ∞ or 0.
LARGEST_FLOAT = float.fromhex("0x1.fffffep127")
SMALLEST_FLOAT = 2.0**-126


def is_positive(number: float) -> bool:
    """Whether a number is above 0 and finite, also as float32."""
    return SMALLEST_FLOAT <= number <= LARGEST_FLOAT
