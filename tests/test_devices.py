"""Which device is used, and the memory of this process alone, whoever started it."""

import subprocess
import sys
from types import SimpleNamespace

import jax
import pytest

from algotransfer import devices
from algotransfer.devices import (
    default_device,
    default_platform,
    find_device,
    has_tf32,
    memory_limit,
    peak_memory,
    peak_of_process,
)

CHILD = "from algotransfer.devices import peak_of_process as peak; print(peak())"
GIVEN_BACK = "held = b'x' * 2**30; del held; " + CHILD
PARENT = f"""
import subprocess, sys
held = b"x" * 2**30
subprocess.run([sys.executable, "-c", {CHILD!r}])
"""


def printed(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return int(done.stdout)


def test_a_child_does_not_count_what_its_parent_had():
    assert printed(PARENT) < 2**30


def test_memory_that_was_given_back_counts():
    assert printed(GIVEN_BACK) > 2**30


def test_a_cpu_has_the_memory_of_the_machine():
    assert find_device("cpu").platform == "cpu"
    assert peak_of_process() <= peak_memory() < memory_limit()


def test_the_default_device_is_the_one_that_was_chosen():
    assert default_device() == jax.devices()[0]
    chosen = object()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "find_device", lambda name: chosen)
        with jax.default_device("cpu"):
            assert default_device() is chosen
    with jax.default_device(jax.devices("cpu")[0]):
        assert default_platform() == "cpu"


@pytest.mark.parametrize(
    ("capability", "expected"), [("7.5", False), ("8.0", True), ("10.3", True), ("gfx90a", False)]
)
def test_tensor_cores_are_those_of_ampere_and_newer(capability, expected, monkeypatch):
    device = SimpleNamespace(compute_capability=capability)
    monkeypatch.setattr(devices, "default_device", lambda: device)
    assert has_tf32() == expected


def test_a_cpu_has_no_tensor_cores():
    with jax.default_device(jax.devices("cpu")[0]):
        assert not has_tf32()
