"""Every example runs in a separate process and folder, and prints something."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import QUICK_TO_COMPILE

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_examples_are_numbered():
    numbers = [path.name.split("_")[0] for path in EXAMPLES]
    assert numbers
    assert len(set(numbers)) == len(numbers)
    assert all(len(number) == 2 and number.isdigit() for number in numbers)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    environment = {**os.environ, "XLA_FLAGS": QUICK_TO_COMPILE}
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
