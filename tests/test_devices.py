"""Choice of the device, and peak memory of this process without its parent's."""

import subprocess
import sys
from types import SimpleNamespace

import jax
import pytest
from processes import run_python

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
from algotransfer.training import runs

CHILD = "from algotransfer.devices import peak_of_process as peak; print(peak())"
GIVEN_BACK = "held = b'x' * 2**30; del held; " + CHILD
PARENT = f"""
import subprocess, sys
held = b"x" * 2**30
subprocess.run([sys.executable, "-c", {CHILD!r}])
"""

ON_THE_SECOND = """
import os, sys
os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=2"
import jax
from algotransfer import Experiment, make_splits, run, train
from algotransfer.datasets import Preset

module = sys.modules["algotransfer.algorithms.run"]
module.CHUNK_CELLS["cpu"] = 36  # one graph of six nodes
dense, used = module.run_dense, set()


def program(*arguments):
    trace, *faults = dense(*arguments)
    used.update(*(fault.devices() for fault in faults))
    return trace, *faults


program.eval_shape = dense.eval_shape
module.run_dense = program
second = jax.devices()[1]
splits = make_splits(Preset(family=("er",), train=4, validation=2, test=2, num_nodes=6))
experiment = Experiment(target="bfs", supervision="tf", hidden=2, batch_size=2, max_epochs=1)
with jax.default_device(second):
    run("bfs", splits.train.graphs)
    _, model = train(experiment, 1, data=splits, show=False)
used.update(*(leaf.devices() for leaf in jax.tree.leaves(model.networks)))
assert used == {second}, used
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


@pytest.mark.slow
def test_runs_and_trainings_go_where_arrays_go(tmp_path):
    run_python(ON_THE_SECOND, folder=tmp_path)


def test_the_record_names_the_device_that_was_used(monkeypatch):
    chosen = SimpleNamespace(device_kind="chosen", platform="other")
    monkeypatch.setattr(runs, "default_device", lambda: chosen)
    assert runs.environment()["device"] == {"kind": "chosen", "platform": "other"}


@pytest.mark.parametrize(("system", "expected"), [("darwin", 5_000), ("freebsd", 5_120_000)])
def test_the_unit_of_memory_depends_on_the_system(system, expected, monkeypatch, tmp_path):
    monkeypatch.setattr(devices.sys, "platform", system)
    monkeypatch.setattr(devices, "Path", lambda name: tmp_path / "nothing")
    usage = SimpleNamespace(ru_maxrss=5_000)
    monkeypatch.setattr(devices.resource, "getrusage", lambda who: usage)
    assert peak_of_process() == expected


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
