"""Bounds of numeric settings and sizes, beyond which numbers overflow or memory ends."""

MAX_SETTINGS = {
    "trajectories": 10_000,
    "batch_size": 10_000_000,
    "patience": 1_000_000,
    "max_epochs": 1_000_000,
    "hidden": 16_384,
}
MAX_NODES = 10**6  # per graph; far below the range of int32
MAX_STEPS = 10 * MAX_NODES  # of an execution
# The range of normal float32 numbers, in which networks compute.
MAX_FLOAT = float.fromhex("0x1.fffffep127")
MIN_FLOAT = 2.0**-126
FLOAT32_RANGE = "finite as float32 (at most about 3e38)"  # for error messages


def is_positive(number: float) -> bool:
    """Return whether a number is above 0 and finite, also as float32."""
    return MIN_FLOAT <= number <= MAX_FLOAT
