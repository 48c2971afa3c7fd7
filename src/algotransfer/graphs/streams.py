"""`Stream`: random numbers with the same bytes on every machine.

NumPy guarantees the raw bits of its Philox generator. Only those are used; everything else is
computed here by exact IEEE operations, so that a dataset does not depend on the release of NumPy,
the processor or the number of cores.
"""

import hashlib
import json

import numpy as np
from jaxtyping import Float, Int, UInt64


class Stream:
    """A stream of random numbers for one purpose of a sample, determined by its arguments."""

    def __init__(self, seed: int, split: str, family: str, num_nodes: int, purpose: str):
        # As JSON, different arguments give different texts.
        text = json.dumps(["algotransfer", seed, split, family, num_nodes, purpose])
        key = hashlib.sha256(text.encode()).digest()[:16]
        self._bits = np.random.Philox(key=int.from_bytes(key, "little"))

    def raw(self, *shape: int) -> UInt64[np.ndarray, "..."]:
        """Return uniform 64-bit integers."""
        return self._bits.random_raw(shape)

    def uniform(self, *shape: int) -> Float[np.ndarray, "..."]:
        """Return uniform multiples of 2⁻⁵³ in [0, 1)."""
        raw = self.raw(*shape)
        raw >>= np.uint64(11)
        return raw * 2.0**-53

    def integers(self, *shape: int, below: int) -> Int[np.ndarray, "..."]:
        """Return integers in [0, below); the product never rounds up to `below`."""
        return (self.uniform(*shape) * below).astype(np.int64)

    def permutations(self, count: int, size: int) -> Int[np.ndarray, "count size"]:
        """Return `count` independent permutations of 0 … size − 1, by sorting random keys."""
        # The low bits of each key hold the index, so that keys are distinct and `sort` replaces
        # the slower `argsort`. At 2²⁴ nodes, 40 random bits remain.
        low = np.uint64(max(size - 1, 1).bit_length())
        keys = self.raw(count, size)
        keys >>= low
        keys <<= low
        keys |= np.arange(size, dtype=np.uint64)
        keys.sort(axis=-1)
        keys &= (np.uint64(1) << low) - np.uint64(1)
        return keys.astype(np.int32)
