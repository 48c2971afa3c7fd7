"""Every example runs in a separate process and folder, and prints something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import QUICK_TO_COMPILE

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
# Runs the cells of a notebook in one namespace and prints what the last line of each displays.
RUN_CELLS = """
import ast, json, sys
names = {}
for source in json.load(sys.stdin):
    lines = ast.parse(source).body
    last = ast.Expression(lines.pop().value) if isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "cell", "exec"), names)
    if last is not None:
        value = eval(compile(last, "cell", "eval"), names)
        print("DISPLAYED", value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
"""


def test_examples_are_numbered():
    numbers = [path.name.split("_")[0] for path in (*EXAMPLES, *FOLDER.glob("*.ipynb"))]
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


@pytest.mark.slow
def test_the_notebook_runs_and_shows_the_live_page(tmp_path):
    notebook = json.loads((FOLDER / "13_notebook.ipynb").read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in code)  # they would be large, and soon outdated
    done = subprocess.run(
        [sys.executable, "-c", RUN_CELLS],
        input=json.dumps(["".join(cell["source"]) for cell in code]),
        cwd=tmp_path,
        env={**os.environ, "XLA_FLAGS": QUICK_TO_COMPILE},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    _, shapes, folder, mine, theirs, page = done.stdout.split("DISPLAYED ")
    assert shapes.strip() == "((100, 21, 20), (100, 21, 20))"
    assert "runs/notebook/relax-dijkstra-na" in folder
    assert "<td>" in mine
    assert "<td>" in theirs
    assert page.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert "relax, trained here" in page
