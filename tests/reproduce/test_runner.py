"""The runner: order, concurrency, deadlines, failures and interruptions, with trivial steps."""

import signal
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from algotransfer.locks import InUse
from algotransfer.reproduce import runner
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.executors import ThreadExecutor
from algotransfer.reproduce.runner import Interrupted, View, run_steps
from algotransfer.reproduce.steps import NO_MONITOR, Step, StepPaused, step_graph


@dataclass(frozen=True)
class Write(Step):
    """Writes a file named after itself."""

    word: str
    needs: tuple["Write", ...] = ()
    act: str = ""

    @property
    def name(self):
        return self.word

    @property
    def inputs(self):
        return self.needs

    def is_finished(self, folder):
        return (folder / self.word).exists()

    def estimate(self, folder, estimates):
        return 1.0

    def run(self, folder, device=None, monitor=NO_MONITOR):
        ACTS.get(self.act, lambda monitor: None)(monitor)
        assert all(step.is_finished(folder) for step in self.needs)
        monitor.report(1, "written")
        (folder / self.word).write_text(threading.current_thread().name)
        return {"writing": 0.5}


def fail(monitor):
    raise ArithmeticError("the pen is broken")


def wait_for_end(monitor):
    while not monitor.should_pause():
        time.sleep(0.001)
    raise StepPaused({"waiting": 0.5})


def find_in_use(monitor):
    raise InUse("another writes here")


TOGETHER = threading.Barrier(2, timeout=20)
ACTS = {
    "fail": fail,
    "wait": wait_for_end,
    "meet": lambda monitor: TOGETHER.wait(),
    "in use": find_in_use,
}


class Notes(View):
    def __init__(self):
        self.seen = []

    def start(self, step):
        self.seen.append(("start", step.name))

    def report(self, step, done, message):
        self.seen.append((message, step.name))

    def finish(self, result):
        self.seen.append((result.state, result.step.name))


def states(results):
    return {result.step.name: result.state for result in results}


BASE = Write("base")
FIRST, SECOND = Write("first", (BASE,)), Write("second", (BASE,))
TABLE = Write("table", (FIRST, SECOND))


def test_inputs_come_first_and_each_step_runs_once(tmp_path):
    notes = Notes()
    results = run_steps([SECOND, FIRST, TABLE], tmp_path, view=notes)
    begun = [name for what, name in notes.seen if what == "start"]
    assert begun == ["base", "second", "first", "table"]  # as listed
    assert set(states(results).values()) == {"done"}
    assert results[0].seconds == {"writing": 0.5}
    assert ("written", "table") in notes.seen


def test_finished_steps_are_cached(tmp_path):
    run_steps([FIRST], tmp_path)
    results = run_steps([TABLE], tmp_path)
    assert states(results) == {
        "base": "cached",
        "first": "cached",
        "second": "done",
        "table": "done",
    }


def test_finished_steps_are_cached_without_time_too(tmp_path):
    """Steps that only finished steps need count as finished too."""
    run_steps([TABLE], tmp_path)
    (tmp_path / "base").unlink()
    results = run_steps([TABLE], tmp_path, seconds=0)
    assert set(states(results).values()) == {"cached"}
    for lost in ("first", "table"):
        (tmp_path / lost).unlink()
    results = states(run_steps([TABLE], tmp_path, seconds=0))
    assert results == {**dict.fromkeys(("base", "first", "table"), "waiting"), "second": "cached"}


def test_several_steps_run_at_once(tmp_path):
    with ThreadExecutor(jobs=2) as executor:
        steps = [Write("a", act="meet"), Write("b", act="meet")]
        results = run_steps(steps, tmp_path, executor=executor)
    assert states(results) == {"a": "done", "b": "done"}
    assert (tmp_path / "a").read_text() != (tmp_path / "b").read_text()
    with pytest.raises(ValueError, match="0 jobs; expected at least 1"):
        ThreadExecutor(jobs=0)


def test_a_failure_blocks_only_dependent_steps(tmp_path, capfd):
    broken = Write("broken", (BASE,), act="fail")
    table = Write("table", (FIRST, Write("middle", (broken,))))
    results = run_steps([broken, table, SECOND], tmp_path, executor=ThreadExecutor(jobs=2))
    assert states(results) == {
        "base": "done",
        "broken": "failed",
        "first": "done",
        "middle": "blocked",
        "table": "blocked",
        "second": "done",
    }
    reasons = {result.step.name: result.reason for result in results if result.reason}
    assert reasons == {
        "broken": "ArithmeticError: the pen is broken",
        "middle": "needs broken",
        "table": "needs middle",
    }
    assert "the pen is broken" in capfd.readouterr().err  # the traceback


def test_steps_in_use_by_another_process_wait(tmp_path):
    busy = Write("busy", (BASE,), act="in use")
    results = run_steps([busy, Write("table", (busy,)), SECOND], tmp_path)
    assert states(results) == {
        "base": "done",
        "busy": "waiting",
        "table": "waiting",
        "second": "done",
    }
    assert [result.reason for result in results if result.reason] == ["another writes here"]


def test_a_deadline_pauses_running_steps_and_starts_none(tmp_path):
    long = Write("long", act="wait")
    results = run_steps([long, Write("after", (long,)), BASE], tmp_path, seconds=0.05)
    assert states(results) == {"long": "paused", "after": "waiting", "base": "waiting"}
    assert results[0].seconds == {"waiting": 0.5}
    assert set(states(run_steps([TABLE], tmp_path, seconds=-1)).values()) == {"waiting"}
    assert not list(tmp_path.iterdir())


def test_no_step_starts_that_could_not_compile_before_the_deadline(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setitem(ACTS, "last", lambda monitor: clock.append(clock.pop() + 60.0))
    slow_compilation = Estimates(compilations=[1000.0])
    steps = [Write("long", act="last"), BASE]
    results = run_steps(steps, tmp_path, seconds=100, estimates=slow_compilation)
    # At most half of the time is reserved for compilation, so that one step always starts.
    assert states(results) == {"long": "done", "base": "waiting"}
    results = run_steps([BASE], tmp_path, seconds=100, estimates=Estimates())
    assert states(results) == {"base": "done"}


@pytest.mark.usefixtures("default_signals")
def test_an_interruption_pauses_all_steps(tmp_path):
    class Impatient(Notes):
        def start(self, step):
            super().start(step)
            if step.name == "second":
                signal.raise_signal(signal.SIGINT)

    notes = Impatient()
    steps = [Write("long", act="wait"), SECOND]
    with pytest.raises(Interrupted) as stop, ThreadExecutor(jobs=2) as executor:
        run_steps(steps, tmp_path, executor=executor, view=notes)
    assert states(stop.value.results) == {"long": "paused", "base": "done", "second": "done"}
    assert {("paused", "long"), ("done", "second")} <= set(notes.seen)
    assert not any(thread.name.startswith("step") for thread in threading.enumerate())


def test_any_exception_in_the_runner_pauses_all_steps(tmp_path):
    class Ending(Notes):
        def start(self, step):
            super().start(step)
            if step.name == "second":
                raise SystemExit  # as handlers of signals in other libraries do

    steps = [Write("long", act="wait"), SECOND]
    with pytest.raises(SystemExit), ThreadExecutor(jobs=2) as executor:
        run_steps(steps, tmp_path, executor=executor, view=Ending())
    assert not any(thread.name.startswith("step") for thread in threading.enumerate())


def test_the_graph_is_plain_data():
    assert list(step_graph([TABLE])) == [BASE, FIRST, SECOND, TABLE]
    assert step_graph([TABLE])[TABLE] == (FIRST, SECOND)
