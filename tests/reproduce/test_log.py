"""What calls took is kept beside the runs, travels with them, and adds up."""

from algotransfer.reproduce.log import log_call, read_calls, time_spent
from algotransfer.reproduce.packing import pack, unpack
from algotransfer.reproduce.runner import Result
from algotransfer.reproduce.steps import MakeData


def test_calls_are_kept_and_add_up(tmp_path):
    done = Result(MakeData("paper"), "done", {"compile": 60.0, "training": 120.0})
    waiting = Result(MakeData("small"), "waiting")
    here, there = tmp_path / "here", tmp_path / "there"
    log_call(here, [done, waiting], 150.0, preset="paper", seeds=3, jobs=3)
    log_call(here, [done], 90.0, preset="paper", seeds=3, jobs=3)
    log_call(here, [done], 1000.0, preset="quick", seeds=3, jobs=1)
    pack(here, tmp_path / "runs.tar.gz")
    unpack(tmp_path / "runs.tar.gz", there)
    calls = read_calls(there)
    assert len(calls) == 3
    assert calls == read_calls(here)
    (first,) = [call for call in calls if call["wall"] == 150.0]
    assert first["states"] == {"done": 1, "waiting": 1}
    text = time_spent(calls)
    assert text.startswith("Time on the clock: 4 minutes in 2 calls of `algotransfer reproduce` on")
    assert "3 steps at once" in text
    assert "6 minutes side by side, went into: training 67%, compile 33%." in text
    assert time_spent([]) == ""
