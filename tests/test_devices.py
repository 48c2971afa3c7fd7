"""Memory of this process alone, whoever started it."""

import subprocess
import sys

from algotransfer.devices import find_device, memory_limit, peak_memory, peak_of_process

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
