"""What commands print is what they were given: no name is read as markup."""

import io
import re
from pathlib import Path

import pytest

from algotransfer.cli.console import plain_console, progress_bar
from algotransfer.cli.tables import titled
from algotransfer.evaluation.result_tables import plain_table
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.progress_view import ProgressView

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
