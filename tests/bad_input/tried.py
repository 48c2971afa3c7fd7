"""What was tried so far, and how much memory it may have taken."""

from collections import Counter

from algotransfer.devices import peak_of_process

BOUND = peak_of_process() + 4 * 2**30  # bytes: tests that ran before had theirs
TRIED: Counter[str] = Counter()  # inputs by kind
