"""What commands print is what they were given: no name is read as markup."""

import io
from pathlib import Path

import pytest

from algotransfer.cli.console import plain_console, progress_bar
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.view import Overview

NAMES = ["q[a]", "[/b]", "a[red]b", ":car:"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_lines_and_bars_are_shown_as_they_are(name):
    console = plain_console(file=io.StringIO(), width=80)
    console.print(f"into {name}")
    for bar in (progress_bar(), Overview([], Path(), Estimates(), console).progress):
        bar.add_task(f"step {name}", words=f"of {name}")
        console.print(bar.make_tasks_table(bar.tasks))
    shown = console.file.getvalue()
    assert [words in shown for words in (f"into {name}", f"step {name}", f"of {name}")] == [
        True
    ] * 3
    assert shown.count(f"step {name}") == 2
