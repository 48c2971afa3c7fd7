"""The call log: round trip through an archive, and the summary of the time spent."""

from algotransfer.experiment import Experiment
from algotransfer.reproduce.call_log import log_call, read_calls, time_spent
from algotransfer.reproduce.packing import pack, unpack
from algotransfer.reproduce.runner import StepResult
from algotransfer.reproduce.steps import TrainStep

STEP = TrainStep(Experiment(), (0,), "paper")


def test_calls_are_kept_and_add_up(tmp_path):
    done = StepResult(STEP, "done", {"compile": 60.0, "training": 120.0})
    waiting = StepResult(STEP, "waiting")
    here, there = tmp_path / "here", tmp_path / "there"
    log_call(here, [done, waiting], 130.0, preset="paper", seeds=3, jobs=3)
    log_call(here, [done], 90.0, preset="paper", seeds=3, jobs=3)
    log_call(here, [done], 1000.0, preset="quick", seeds=3, jobs=1)
    pack(here, tmp_path / "runs.tar.gz")
    unpack(tmp_path / "runs.tar.gz", there)
    calls = read_calls(there)
    assert len(calls) == 3
    assert calls == read_calls(here)
    (first,) = [call for call in calls if call["wall"] == 130.0]
    assert first["states"] == {"done": 1, "waiting": 1}
    (here / "calls" / "by hand").mkdir()
    (here / "calls" / "by hand" / "call.json").write_text("{}")  # without a time in its name
    assert len(read_calls(here)) == 3
    text = time_spent(calls)
    assert text.startswith("Wall-clock time: 2 minutes in 2 calls of `algotransfer reproduce` on")
    assert "3 steps at a time" in text
    assert "Summed over steps: 6 minutes (training 67%, compile 33%)." in text
    assert time_spent([]) == ""


def test_calls_at_the_same_time_are_counted_once():
    rest = {"preset": "paper", "jobs": 1, "seconds": {"training": 60.0}, "device": {"kind": "cpu"}}
    calls = [
        {"ended": ended, "wall": wall, **rest}
        for ended, wall in (
            ("20261115T120500Z", 300.0),  # 12:00 to 12:05
            ("20261115T120400Z", 60.0),  # within it
            ("20261115T120800Z", 240.0),  # 12:04 to 12:08
            ("20261115T130200Z", 120.0),
        )
    ]
    text = time_spent(calls)
    assert text.startswith("Wall-clock time: 10 minutes in 4 calls")
    assert "not counted" not in text


def test_the_clock_is_that_of_one_kind_of_device():
    rest = {"preset": "paper", "jobs": 1, "seconds": {"training": 60.0, "compile": 60.0}}
    calls = [
        {"ended": ended, "wall": 120.0, "device": {"kind": kind}, **rest}
        for ended, kind in (
            ("20261115T120200Z", "NVIDIA H200"),
            ("20261115T130200Z", "cpu"),
            ("20261115T140200Z", "NVIDIA H200"),
        )
    ]
    text = time_spent(calls)
    assert text.startswith("Wall-clock time: 4 minutes in 2 calls of `algotransfer reproduce` on")
    assert "NVIDIA H200 (not counted: 1 on cpu), some of them concurrent, each with" in text
    assert "4 minutes (training 50%, compile 50%)." in text
    ours = {"command": ["algotransfer", "reproduce"], "device": {"kind": "NVIDIA H200"}}
    slices = [
        {**ours, "seconds": {"training": 450.0}},
        {**ours, "seconds": {"compile": 50.0, "training": 100.0}},
        {**ours, "device": {"kind": "cpu"}, "seconds": {"training": 999.0}},
        {**ours, "command": ["algotransfer", "train"], "seconds": {"training": 999.0}},
    ]
    words = "10 minutes (training 92%, compile 8%)."
    assert words in time_spent(calls, slices)  # paused steps too
