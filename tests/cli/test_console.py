"""What commands print is what they were given: no name is read as markup."""

import io
import re
from pathlib import Path

import pytest

from algotransfer.cli.console import plain_console, progress_bar
from algotransfer.cli.tables import titled
from algotransfer.evaluation.result_tables import plain_table
from algotransfer.experiment import Experiment
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.progress_view import ProgressView
from algotransfer.training import progress

NAMES = ["q[a]", "[/b]", "a[red]b", ":car:"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_lines_and_bars_are_shown_as_they_are(name):
    shown = io.StringIO()
    console = plain_console(file=shown, width=80)
    console.print(f"into {name}")
    for bar in (progress_bar(), ProgressView([], Path(), Estimates(), console).progress):
        bar.add_task(f"step {name}", message=f"of {name}")
        console.print(bar.make_tasks_table(bar.tasks))
    counts = [shown.getvalue().count(f"{word} {name}") for word in ("into", "step", "of")]
    assert counts == [1, 2, 1]


def test_a_long_name_is_shortened_and_the_time_left_is_not(monkeypatch):
    shown = io.StringIO()
    console = plain_console(file=shown, width=80, force_terminal=True, color_system=None)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    experiment = Experiment("ne++", target="dijkstra", method="multitask", base=("prim", "bfs"))
    row = {"epoch": 7, "seconds": 60, "train_loss": 0.12345, "validation_loss": 0.12345}
    with progress.bar(experiment, 5) as report:
        report([row] * 5, 12345.6)
    *_, line = [text for text in re.split("[\r\n]", shown.getvalue()) if "min at most" in text]
    assert "493 min at most" in line
    assert "ne++-prim-bfs-dijk…" in line


@pytest.mark.parametrize("terminal", [True, False])
def test_names_cannot_command_the_terminal(terminal):
    shown = io.StringIO()
    console = plain_console(file=shown, width=80, force_terminal=terminal, color_system=None)
    name = "a\x1b[31mb\x1b]0;title\x07\x9bc\x7f\u202ed"
    table = plain_table(["node"])
    table.add_row(name)
    console.print(titled(name, table))
    console.print(f"line {name}\nnext")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown.getvalue())
    assert shown.getvalue().count("a␛[31mb␛]0;title") == 3
    assert "\nnext" in shown.getvalue()
