"""Steps on a real Ray cluster of several machines, all of them on this one."""

import os
import threading
import time
from dataclasses import dataclass

import pytest

from algotransfer.archive import load_arrays
from algotransfer.cli import main
from algotransfer.datasets import Preset
from algotransfer.experiment import Experiment
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import UNWATCHED, Evaluate, MakeData, Paused, Step, Train

ray = pytest.importorskip("ray", reason="Ray has no wheel for this Python: pip install ray")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

from ray.cluster_utils import Cluster as Machines  # noqa: E402

from algotransfer.reproduce.on_ray import Cluster  # noqa: E402

TINY = Preset(graph=("er",), train=16, validation=4, test=4, num_nodes=6, test_sizes=(6,))
FAST = Experiment(target="bfs", supervision="tf", hidden=2, batch_size=8, max_epochs=2)


@dataclass(frozen=True)
class Slow(Step):
    """Notes where it begins and ends; takes a while in between, on files alone."""

    word: str
    needs: tuple["Slow", ...] = ()
    seconds: float = 0.0

    @property
    def name(self):
        return self.word

    @property
    def inputs(self):
        return self.needs

    def found(self, folder):
        return (folder / self.word).exists()

    def estimate(self, folder, estimates):
        return 1.0

    def run(self, folder, device=None, watch=UNWATCHED):
        node = ray.get_runtime_context().get_node_id()
        with (folder / "log").open("a") as log:
            log.write(f"begin {self.word} {node}\n")
        watch.tell(1, "under way")
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            time.sleep(0.05)
            if watch.pause():
                raise Paused
        if self.word == "broken":
            raise ValueError("the pen is broken")
        assert all(step.found(folder) for step in self.needs)
        (folder / self.word).write_text(node)
        with (folder / "log").open("a") as log:
            log.write(f"end {self.word} {node}\n")
        return {"writing": self.seconds}


@pytest.fixture(scope="module")
def machines():
    """A head that computes nothing, and two machines with one core each."""
    machines = Machines(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        machines.add_node(num_cpus=1)
    machines.wait_for_nodes()
    yield machines
    ray.shutdown()
    machines.shutdown()


@pytest.fixture(scope="module")
def cluster(machines):
    return Cluster(machines.address, "cpu")


class Notes:
    def __init__(self, act=lambda step: None):
        self.seen, self.act = [], act

    def start(self, step):
        self.seen.append(("start", step.name))

    def tell(self, step, done, words):
        self.seen.append((words, step.name))
        self.act(step)

    def finish(self, result):
        self.seen.append((result.state, result.step.name))


def states(results):
    return {result.step.name: result.state for result in results}


def begun(folder, word="begin"):
    lines = (folder / "log").read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith(word)]


def test_results_are_those_of_a_local_run(cluster, tmp_path):
    data = MakeData(TINY)
    steps = [Evaluate(Train(FAST, seeds, data)) for seeds in ((0,), (1,))]
    away = run_steps(steps, tmp_path / "away", jobs=cluster.slots, executor=cluster.run)
    here = run_steps(steps, tmp_path / "here")
    assert [(r.step, r.state) for r in away] == [(r.step, r.state) for r in here]
    for step in steps:
        ours, theirs = (step.train.path(tmp_path / place) for place in ("away", "here"))
        assert (
            load_arrays(ours / "weights.npz")[1]["sha256"]
            == load_arrays(theirs / "weights.npz")[1]["sha256"]
        )
        assert (ours / "evaluation.csv").read_bytes() == (theirs / "evaluation.csv").read_bytes()
    again = run_steps(steps, tmp_path / "here", jobs=cluster.slots, executor=cluster.run)
    assert {r.state for r in again if r.step.uses_device} == {"found"}  # one cache for both


def test_news_failures_and_pauses_arrive(cluster, tmp_path):
    notes = Notes()
    steps = [Slow("long", seconds=2.0), Slow("broken", seconds=0.5)]
    results = run_steps(steps, tmp_path, jobs=2, view=notes, executor=cluster.run)
    assert states(results) == {"long": "done", "broken": "failed"}
    assert results[1].reason == "ValueError: the pen is broken"
    assert ("under way", "long") in notes.seen
    fresh = Cluster(device="cpu")  # a board of its own, on the same machines
    paused = run_steps([Slow("more", seconds=60.0)], tmp_path, seconds=0.5, executor=fresh.run)
    assert states(paused) == {"more": "paused"}


def test_a_machine_dies_and_the_rest_finishes(machines, cluster, tmp_path):
    first = [Slow(f"first{k}", seconds=0.2) for k in range(3)]
    second = [Slow(f"second{k}", (first[k],), seconds=1.5) for k in range(3)]
    last = Slow("last", tuple(second))
    killing = threading.Event()

    def kill_once(step):
        if step.name == "second0" and not killing.is_set():
            killing.set()
            lines = (tmp_path / "log").read_text().splitlines()
            (node,) = {line.split()[2] for line in lines if line.startswith("begin second0")}
            (dead,) = [m for m in machines.worker_nodes if m.node_id == node]
            machines.remove_node(dead, allow_graceful=False)

    results = run_steps([last], tmp_path, jobs=2, view=Notes(kill_once), executor=cluster.run)
    assert killing.is_set()
    assert set(states(results).values()) == {"done"}
    ends = begun(tmp_path, "end")
    assert sorted(ends) == sorted(step.name for step in [*first, *second, last])  # each once
    again = {name for name in begun(tmp_path) if begun(tmp_path).count(name) > 1}
    assert "second0" in again  # it was under way on the machine that died
    finished_before = {step.name for step in first[:1]}
    assert not again & finished_before
    assert not list(tmp_path.glob(".seen-*"))


def test_words_about_what_cannot_work(cluster, tmp_path, monkeypatch, capsys):
    assert main(["reproduce", "--address", "auto", "--dry-run"]) == 2
    assert "add --executor ray" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ValueError, match=r"pip install 'algotransfer\[ray\]'"):
        Cluster()
