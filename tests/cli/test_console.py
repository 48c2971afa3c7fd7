"""What commands print is what they were given: no name is read as markup."""

import io
from pathlib import Path

import pytest

from algotransfer.cli.console import plain_console, progress_bar
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
