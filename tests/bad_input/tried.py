"""What was tried so far, and how much memory it may have taken."""

from collections import Counter
from contextlib import contextmanager

from algotransfer.devices import peak_of_process

TRIED: Counter[str] = Counter()  # inputs by kind


@contextmanager
def within_memory():
    """Fails where more than 4 GiB are taken on top of what the process had at most before."""
    bound = peak_of_process() + 4 * 2**30
    yield
    assert peak_of_process() < bound
