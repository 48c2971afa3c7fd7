"""Steps on a Ray cluster of several nodes, all of them on this machine."""

import functools
import math
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import QUICK_TO_COMPILE
from reproduce.cases import FAST, PLAIN, TINY, assert_same_as_in_threads

from algotransfer.cli import main
from algotransfer.reproduce import steps
from algotransfer.reproduce.runner import View, run_steps
from algotransfer.reproduce.steps import (
    NO_MONITOR,
    EvaluateStep,
    Monitor,
    Step,
    StepPaused,
    TrainStep,
)
from algotransfer.training.provenance import read_provenance

ray = pytest.importorskip("ray", reason="Ray has no wheel for this Python: pip install ray")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

from ray.cluster_utils import Cluster as Machines  # noqa: E402

from algotransfer.reproduce.executors import RayExecutor  # noqa: E402

WAITS_AT = 3  # epoch in which a training waits for the death of its node


@dataclass(frozen=True)
class Slow(Step):
    """Waits for some seconds."""

    word: str
    seconds: float

    @property
    def name(self):
        return self.word

    @property
    def inputs(self):
        return ()

    def is_finished(self, folder):
        return False

    def estimate(self, folder, estimates):
        return 1.0

    def run(self, folder, device=None, monitor=NO_MONITOR):
        monitor.report(1, "under way")
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            time.sleep(0.05)
            if monitor.should_pause():
                raise StepPaused({"writing": 0.5})
        if self.word == "broken":
            raise ValueError("the pen is broken")
        return {"writing": self.seconds}


@dataclass(frozen=True)
class LoggedTrainStep(TrainStep):
    """A training step that logs its node, and writes a checkpoint every epoch."""

    waits: bool = False

    @property
    def name(self):
        return f"seed{self.seeds[0]}"

    def run(self, folder, device=None, monitor=NO_MONITOR):
        node = ray.get_runtime_context().get_node_id()
        self.note(folder, f"begin {self.name} {node}")

        def report(done, message):
            monitor.report(done, message)
            while self.waits and done == WAITS_AT and not (folder / "killed").exists():
                time.sleep(0.05)

        steps.train = functools.partial(steps.train, checkpoint_seconds=0)
        seconds = super().run(folder, device, Monitor(monitor.should_pause, report))
        self.note(folder, f"end {self.name} {node}")
        return seconds

    def note(self, folder, words):
        with (folder / "log").open("a") as log:
            log.write(words + "\n")


@pytest.fixture(scope="module")
def machines():
    """A head node without cores, and two nodes with one core each."""
    # A dead node is detected after five seconds instead of Ray's default of fifteen.
    head = {"num_cpus": 0, "_system_config": {"health_check_period_ms": 1000}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", QUICK_TO_COMPILE)
        # The nodes import this file, under either of the two names that pytest may give it.
        folders = os.pathsep.join(map(str, Path(__file__).parents[1:3]))
        patch.setenv("PYTHONPATH", folders, prepend=os.pathsep)
        machines = Machines(initialize_head=True, head_node_args=head)
        for _ in range(2):
            machines.add_node(num_cpus=1)
        machines.wait_for_nodes()
    yield machines
    ray.shutdown()
    machines.shutdown()


@pytest.fixture(scope="module")
def executor(machines):
    with RayExecutor("cpu", address=machines.address) as executor:
        yield executor


class Notes(View):
    """View that collects all calls, and acts on them."""

    def __init__(self, act=lambda: None):
        self.seen, self.act = [], act

    def start(self, step):
        self.seen.append(("start", step.name))

    def report(self, step, done, message):
        self.seen.append((message.split(",")[0], step.name))
        self.act()

    def finish(self, result):
        self.seen.append((result.state, result.step.name))
        self.act()


def states(results):
    return {result.step.name: result.state for result in results}


def test_progress_failures_and_pauses_arrive(executor, tmp_path):
    notes = Notes()
    slow = [Slow("long", 2.0), Slow("broken", 0.5)]
    results = run_steps(slow, tmp_path, view=notes, executor=executor)
    assert states(results) == {"long": "done", "broken": "failed"}
    assert results[1].reason == "ValueError: the pen is broken"
    assert ("under way", "long") in notes.seen
    # On a busy machine the actor may take a minute to start: only a pause ends this step.
    endless = Slow("more", math.inf)
    with RayExecutor("cpu") as new_executor:  # with its own actor, on the same nodes
        paused = run_steps([endless], tmp_path, seconds=0.5, executor=new_executor)
    assert states(paused) == {"more": "paused"}
    assert paused[0].seconds == {"writing": 0.5}


def test_a_step_resumes_after_the_death_of_its_node(machines, executor, tmp_path):
    """One training has finished; the node of another is killed in its third epoch."""
    away = tmp_path / "away"
    evaluations = [EvaluateStep(LoggedTrainStep(FAST, (k,), TINY, waits=k == 1)) for k in range(2)]
    first, second = (step.train.path(away) for step in evaluations)
    finished, lock = {}, threading.Lock()

    def kill_once():
        with lock:
            in_the_middle = (f"epoch {WAITS_AT}", "seed1") in notes.seen
            if finished or not in_the_middle or ("done", "seed0") not in notes.seen:
                return
            finished.update((path, path.stat().st_mtime_ns) for path in first.glob("weights.npz"))
            lines = [line.split() for line in (away / "log").read_text().splitlines()]
            (node,) = {node for word, name, node in lines if (word, name) == ("begin", "seed1")}
            (dead,) = [m for m in machines.worker_nodes if m.node_id == node]
            machines.remove_node(dead, allow_graceful=False)
            (away / "killed").touch()

    notes = Notes(kill_once)
    results = run_steps(evaluations, away, view=notes, executor=executor)
    assert set(states(results).values()) == {"done"}
    log = [line.split()[:2] for line in (away / "log").read_text().splitlines()]
    assert sorted(log) == [["begin", f"seed{k}"] for k in (0, 1, 1)] + [
        ["end", f"seed{k}"] for k in (0, 1)
    ]
    assert finished
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items())
    begins = [entry["epochs"][0] for entry in read_provenance(second) if "epochs" in entry]
    assert begins[-1] >= WAITS_AT - 1  # it went on from its checkpoint
    assert not list(away.rglob(".*"))

    assert_same_as_in_threads(away, tmp_path)
    again = run_steps(PLAIN, away)
    assert {result.state for result in again} == {"cached"}


def test_messages_about_wrong_options(executor, tmp_path, monkeypatch, capsys):
    assert main(["reproduce", "--address", "auto", "--dry-run"]) == 2
    assert "add --executor ray" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ValueError, match=r"pip install '\.\[ray\]'"):
        RayExecutor()
