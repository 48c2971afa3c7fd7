"""`Stream`: random numbers whose bytes are the same on every machine.

Philox is a counter-based generator whose raw bits NumPy promises not to change. Only those bits
are taken from it; everything else is made here from exact IEEE operations, so that a new release
of NumPy, another processor or another number of cores cannot change a dataset.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np
from jaxtyping import Float, Int, UInt64


class Stream:
    """A stream of random numbers that its five arguments alone decide.

    **Arguments:**

    - `seed`, `split`, `family`, `num_nodes`: which sample of graphs the numbers are for.
    - `purpose`: what they decide there (`"edges"`, `"labels"`, `"weights"`, `"source"`).
    """

    def __init__(self, seed: int, split: str, family: str, num_nodes: int, purpose: str):
        # JSON keeps the five apart: no two lists of arguments are written alike.
        text = json.dumps(["algotransfer", seed, split, family, num_nodes, purpose])
        key = hashlib.sha256(text.encode()).digest()[:16]
        self._bits = np.random.Philox(key=int.from_bytes(key, "little"))

    def raw(self, *shape: int) -> UInt64[np.ndarray, "..."]:
        """Uniform 64-bit integers."""
        return self._bits.random_raw(shape)

    def uniform(self, *shape: int) -> Float[np.ndarray, "..."]:
        """Multiples of 2⁻⁵³ in [0, 1), all equally likely."""
        raw = self.raw(*shape)
        raw >>= np.uint64(11)
        return raw * 2.0**-53

    def integers(self, *shape: int, below: int) -> Int[np.ndarray, "..."]:
        """Integers in [0, below); the product cannot be rounded up to `below` itself."""
        return (self.uniform(*shape) * below).astype(np.int64)

    def permutations(self, count: int, size: int) -> Int[np.ndarray, "count size"]:
        """`count` independent permutations of 0 … size − 1: the order of random keys."""
        # The index is kept in the low bits of its key, so that sorting the keys is enough
        # (faster than argsort) and no two keys are equal. 40 random bits are left at 2²⁴ nodes.
        low = np.uint64(max(size - 1, 1).bit_length())
        keys = self.raw(count, size)
        keys >>= low
        keys <<= low
        keys |= np.arange(size, dtype=np.uint64)
        keys.sort(axis=-1)
        keys &= (np.uint64(1) << low) - np.uint64(1)
        return keys.astype(np.int64)
