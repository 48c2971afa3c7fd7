"""The runner: order, several steps at once, deadlines, failures; steps that compute nothing."""

import signal
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from algotransfer.locks import InUse
from algotransfer.reproduce import runner
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.runner import Interrupted, run_steps
from algotransfer.reproduce.steps import UNWATCHED, Paused, Step, graph


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

    def found(self, folder):
        return (folder / self.word).exists()

    def estimate(self, folder, estimates):
        return 1.0

    def run(self, folder, device=None, watch=UNWATCHED):
        ACTS.get(self.act, lambda watch: None)(watch)
        assert all(step.found(folder) for step in self.needs)
        watch.tell(1, "written")
        (folder / self.word).write_text(threading.current_thread().name)
        return {"writing": 0.5}


def fail(watch):
    raise ArithmeticError("the pen is broken")


def wait_for_end(watch):
    while not watch.pause():
        time.sleep(0.001)
    raise Paused({"waiting": 0.5})


def find_in_use(watch):
    raise InUse("another writes here")


TOGETHER = threading.Barrier(2, timeout=20)
ACTS = {
    "fail": fail,
    "wait": wait_for_end,
    "meet": lambda watch: TOGETHER.wait(),
    "in use": find_in_use,
}


class Notes:
    def __init__(self):
        self.seen = []

    def start(self, step):
        self.seen.append(("start", step.name))

    def tell(self, step, done, words):
        self.seen.append((words, step.name))

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


def test_what_is_there_is_found(tmp_path):
    run_steps([FIRST], tmp_path)
    results = run_steps([TABLE], tmp_path)
    assert states(results) == {"base": "found", "first": "found", "second": "done", "table": "done"}


def test_what_is_there_is_found_without_time_too(tmp_path):
    """Also what nothing needs any more, such as data of trainings that have ended."""
    run_steps([TABLE], tmp_path)
    (tmp_path / "base").unlink()
    results = run_steps([TABLE], tmp_path, seconds=0)
    assert set(states(results).values()) == {"found"}
    for lost in ("first", "table"):
        (tmp_path / lost).unlink()
    results = states(run_steps([TABLE], tmp_path, seconds=0))
    assert results == {**dict.fromkeys(("base", "first", "table"), "waiting"), "second": "found"}


def test_several_steps_run_at_once(tmp_path):
    results = run_steps([Write("a", act="meet"), Write("b", act="meet")], tmp_path, jobs=2)
    assert states(results) == {"a": "done", "b": "done"}
    assert (tmp_path / "a").read_text() != (tmp_path / "b").read_text()
    with pytest.raises(ValueError, match="0 jobs; expected at least 1"):
        run_steps([BASE], tmp_path, jobs=0)


def test_a_failure_blocks_what_needs_it_and_nothing_else(tmp_path, capfd):
    broken = Write("broken", (BASE,), act="fail")
    table = Write("table", (FIRST, Write("middle", (broken,))))
    results = run_steps([broken, table, SECOND], tmp_path, jobs=2)
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
    assert "the pen is broken" in capfd.readouterr().err  # with where it happened


def test_what_another_process_works_on_is_left_to_it(tmp_path):
    busy = Write("busy", (BASE,), act="in use")
    results = run_steps([busy, Write("table", (busy,)), SECOND], tmp_path)
    assert states(results) == {
        "base": "done",
        "busy": "waiting",
        "table": "waiting",
        "second": "done",
    }
    assert [result.reason for result in results if result.reason] == ["another writes here"]


def test_a_deadline_pauses_what_runs_and_begins_nothing(tmp_path):
    long = Write("long", act="wait")
    results = run_steps([long, Write("after", (long,)), BASE], tmp_path, seconds=0.05)
    assert states(results) == {"long": "paused", "after": "waiting", "base": "waiting"}
    assert results[0].seconds == {"waiting": 0.5}
    assert set(states(run_steps([TABLE], tmp_path, seconds=-1)).values()) == {"waiting"}
    assert not list(tmp_path.iterdir())


def test_what_would_come_to_nothing_is_not_begun(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setitem(ACTS, "last", lambda watch: clock.append(clock.pop() + 60.0))

    class Slow(Write):
        def least(self, estimates):
            return 1000.0

    steps = [Slow("slow"), BASE]
    results = run_steps(steps, tmp_path, seconds=100, estimates=Estimates())
    assert states(results) == {"slow": "done", "base": "done"}  # most of the slice is left
    more = [Write("long", act="last"), Slow("slower", (BASE,)), SECOND]
    results = run_steps(more, tmp_path, seconds=100, estimates=Estimates())
    assert states(results) == {
        "long": "done",
        "base": "found",
        "slower": "waiting",
        "second": "done",
    }


@pytest.mark.usefixtures("default_signals")
def test_an_interruption_lets_steps_end_in_order(tmp_path):
    class Impatient(Notes):
        def start(self, step):
            super().start(step)
            if step.name == "second":
                signal.raise_signal(signal.SIGINT)

    notes = Impatient()
    with pytest.raises(Interrupted) as stop:
        run_steps([Write("long", act="wait"), SECOND], tmp_path, jobs=2, view=notes)
    assert states(stop.value.results) == {"long": "paused", "base": "done", "second": "done"}
    assert {("paused", "long"), ("done", "second")} <= set(notes.seen)
    assert not any(thread.name.startswith("step") for thread in threading.enumerate())


def test_whatever_stops_the_runner_pauses_its_steps(tmp_path):
    class Ending(Notes):
        def start(self, step):
            super().start(step)
            if step.name == "second":
                raise SystemExit  # as handlers of signals in other libraries do

    with pytest.raises(SystemExit):
        run_steps([Write("long", act="wait"), SECOND], tmp_path, jobs=2, view=Ending())
    assert not any(thread.name.startswith("step") for thread in threading.enumerate())


def test_the_graph_is_plain_data():
    assert list(graph([TABLE])) == [BASE, FIRST, SECOND, TABLE]
    assert graph([TABLE])[TABLE] == (FIRST, SECOND)
