"""Some faults of each kind in tiny runs; `make faults` injects hundreds more."""

import random

import pytest

from faults.campaign import KINDS, Case
from faults.signals import signalled
from faults.work import digest, quick, work

# One of each kind, and another of those that strike while files are written.
FAULTS = [*((kind, 0) for kind in KINDS), *((kind, 1) for kind in list(KINDS)[:4])]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        quick(patch.setattr)
        folder = tmp_path_factory.mktemp("finished") / "runs"
        assert {result.state for result in work(folder)} == {"done"}
        yield folder


@pytest.mark.parametrize(("kind", "seed"), FAULTS)
def test_fault(kind, seed, finished, tmp_path):
    KINDS[kind](Case(tmp_path, random.Random(f"{kind} {seed}"), finished, digest(finished)))


def test_a_request_to_end(tmp_path):
    signalled("SIGTERM to a process")(Case(tmp_path / "one", random.Random(0), tmp_path, {}))
