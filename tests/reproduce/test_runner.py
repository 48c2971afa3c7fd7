"""The runner: finished work is found, a failure does not stop the rest, results become tables."""

import dataclasses

import pandas
import pytest

from algotransfer.cli import main
from algotransfer.datasets import Preset, make_splits
from algotransfer.experiment import Experiment
from algotransfer.report.collect import collect
from algotransfer.report.markdown import write_markdown
from algotransfer.reproduce import runner
from algotransfer.reproduce.runner import reproduce

TINY = Preset(train=12, validation=4, test=4, num_nodes=8, test_sizes=(8, 20))
SMALL = {"max_epochs": 1, "hidden": 4, "batch_size": 8}
ALONE = Experiment(target="bellman_ford")
FROZEN = dataclasses.replace(ALONE, method="freeze", base=("bfs",))
BROKEN = dataclasses.replace(ALONE, target="bellman_fjord")


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    patch = pytest.MonkeyPatch()
    patch.setitem(runner.PRESETS, "tiny", ("tiny", SMALL))
    patch.setattr(runner, "make_splits", lambda name: make_splits(TINY))
    told = []
    options = {"seeds": 2, "preset": "tiny", "folder": folder, "tell": told.append, "show": False}
    steps = reproduce([ALONE, BROKEN, FROZEN], **options)
    again = reproduce([ALONE, FROZEN], **options)
    late = reproduce([ALONE], **{**options, "folder": folder / "late"}, seconds=-1)
    patch.undo()
    return folder, steps, again, late, told


def test_a_failure_is_told_and_the_rest_goes_on(worked):
    _, steps, _, _, told = worked
    assert [step.state for step in steps] == ["done", "failed", "done"]
    assert "bellman_fjord" in steps[1].reason
    assert told[:3] == steps


def test_finished_work_is_found_again(worked):
    folder, steps, again, _, _ = worked
    assert [step.folder for step in again] == [steps[0].folder, steps[2].folder]
    assert all(step.seconds < 5 for step in again)
    assert len(list((folder / "ne-bfs-tf").iterdir())) == 1  # the base, trained once


def test_without_time_left_nothing_is_started(worked):
    folder, _, _, late, _ = worked
    assert [step.state for step in late] == ["waiting"]
    assert not (folder / "late").exists()


def test_results_become_tables_beside_the_paper(worked):
    folder = worked[0]
    results = collect(folder)
    assert set(results["method"]) == {"none", "freeze"}
    assert not results["diverged"].any()
    assert (
        len(results.query("row == 'network' and metric == 'pred' and num_nodes == 8")) == 2 * 2 * 3
    )
    page = write_markdown(results)
    assert "## par-summary" in page
    assert "| bellman_ford | NE | none |  | 20 | **" in page
    assert "(0.057)" in page  # the paper's own number stands beside ours
    assert "| bellman_ford | random_neighbour | 20 |" in page


def test_the_report_command_needs_runs_or_a_table(worked, tmp_path, capsys):
    folder = worked[0]
    out = tmp_path / "results"
    assert (
        main(["report", "--folder", str(folder), "--out", str(out), "--weights", str(tmp_path)])
        == 0
    )
    page = (out / "results.md").read_text()
    (out / "results.md").unlink()
    assert main(["report", "--out", str(out)]) == 0  # from the table alone
    assert (out / "results.md").read_text() == page
    assert len(pandas.read_csv(out / "results.csv")) == len(collect(folder))
    assert (tmp_path / "ne-bellman_ford-na.npz").exists()
    capsys.readouterr()
    assert main(["report", "--out", str(tmp_path / "nothing")]) == 2
    assert "name a folder of runs with --folder" in capsys.readouterr().err
    assert main(["report", "--folder", str(tmp_path / "nothing")]) == 2
    assert "holds no evaluated runs" in capsys.readouterr().err


def test_the_reproduce_command_lists_and_refuses(capsys):
    assert main(["reproduce", "--dry-run", "--table", "seq-na"]) == 0
    assert "4 experiments, 3 seeds each" in capsys.readouterr().out
    assert main(["reproduce", "--for", "soon", "--table", "seq-na", "--target", "dfs"]) == 2
    assert "expected a time such as 90s, 8m or 2h" in capsys.readouterr().err
    assert main(["reproduce", "--table", "nope", "--dry-run"]) == 2
    assert "the paper has no table 'nope'" in capsys.readouterr().err
