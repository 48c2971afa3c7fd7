"""Start of the command line: quick help, version, parse errors, `python -m algotransfer`."""

import subprocess
import sys

import pytest

from algotransfer import __version__
from algotransfer.algorithms import definitions
from algotransfer.algorithms.registry import _SUMMARIES
from algotransfer.cli import main
from algotransfer.cli.list_command import _described, summarise_algorithm
from algotransfer.cli.main import COMMANDS
from algotransfer.networks.registry import MODELS

PROBE = """
import sys, time
from algotransfer.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert stop.code == 0
seconds = time.process_time()  # of the processor: other work on the machine does not count
heavy = {"jax", "numpy", "networkx", "matplotlib", "pandas", "beartype"} & set(sys.modules)
print(f"{seconds:.3f} {','.join(sorted(heavy)) or 'none'}", file=sys.stderr)
"""


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_imports_nothing_heavy_and_is_quick(command):
    seconds = []
    for _ in range(3):  # the quickest counts
        result = subprocess.run(
            [sys.executable, "-c", PROBE, *command, "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        measured, heavy = result.stderr.split()
        assert heavy == "none"
        assert "usage: algotransfer" in result.stdout
        seconds.append(float(measured))
        if seconds[-1] < 0.5:
            break
    assert min(seconds) < 0.5


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"algotransfer {__version__}\n"


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)


def test_a_command_s_help_shows_choices_and_defaults(capsys):
    with pytest.raises(SystemExit):
        main(["data", "--help"])
    text = capsys.readouterr().out
    assert "{er,ba,grid,ws,delaunay}" in text
    assert "reliable_seq" in text
    assert "(default: 1000)" in text
    assert "(default: all)" in text


def test_python_dash_m():
    result = subprocess.run(
        [sys.executable, "-m", "algotransfer", "data", "--preset", "papr"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: unknown preset 'papr' (did you mean 'paper'?)")


def test_list_imports_neither_jax_nor_pandas():
    result = subprocess.run(
        [sys.executable, "-c", PROBE, "list"], capture_output=True, text=True, check=True
    )
    _, heavy = result.stderr.split()
    assert not {"jax", "pandas", "matplotlib", "networkx"} & {*heavy.split(",")}


def test_summaries_of_algorithms_are_theirs():
    for name, summary in _SUMMARIES.items():
        assert summary == summarise_algorithm(getattr(definitions, name))


def test_names_without_a_summary_are_described_by_their_docstring(monkeypatch):
    class Mine:
        """My network.

        It has more lines.
        """

    monkeypatch.setitem(MODELS, "mine", Mine)
    assert ("mine", "My network.") in [*_described(MODELS)]


ANNOUNCED = {
    "data --num-graphs 2 --num-nodes 4 --algorithm bfs": "making graphs and traces …",
    "execute relax-dijkstra path.csv": "running relax-dijkstra on path.csv; a first call compiles",
    "evaluate relax-dijkstra --num-nodes 4 --num-graphs 2 --family er": (
        "evaluating relax-dijkstra on 2 graphs of each of er with 4 nodes; a first call compiles …"
    ),
    "explore --out page.html": "writing page.html, in seconds; nothing is compiled …",
    "sweep --model ne --dry-run": "planning steps in runs; their estimated time follows …",
    "reproduce --dry-run": "planning steps in runs; their estimated time follows …",
    "train": "training ne-dijkstra-na, seeds: 5, epochs: at most 500; the time left is known after",
    "compare relax-dijkstra": "comparing relax-dijkstra; a first call compiles …",
    "report runs": "writing a report to report, in seconds …",
    "discover --target dijkstra": "learning the step of dijkstra from answers; this takes seconds",
    "certify relax-dijkstra": "proving the step of relax-dijkstra, in seconds …",
    "bench --part data": "measuring data; all parts take minutes, most of it compiling …",
}


@pytest.mark.parametrize("command", ANNOUNCED)
def test_commands_say_what_they_do_before_jax_is_imported(command, tmp_path, monkeypatch):
    """Importing jax takes longer than the second in which a user expects a sign of life."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "path.csv").write_text("source,target,weight\na,b,0.5\n")
    probe = """
import sys
from algotransfer.cli import console, main
class Errors:
    def print(self, text, **style):
        print(f"{'jax' in sys.modules} {text}", flush=True)
        raise KeyboardInterrupt
console.errors = Errors()
try:
    main(sys.argv[1:])
except KeyboardInterrupt:
    pass
"""
    shown = subprocess.run(
        [sys.executable, "-c", probe, *command.split()], capture_output=True, text=True
    )
    assert shown.stdout.startswith(f"False {ANNOUNCED[command]}")


@pytest.mark.parametrize(
    ("call", "program"), [("main()", "python mine.py"), ("main(['list'])", "algotransfer")]
)
def test_next_commands_start_with_the_script_that_is_the_command_line(call, program, tmp_path):
    (tmp_path / "mine.py").write_text(f"from algotransfer.cli import main\n\n{call}\n")
    command = [sys.executable, "mine.py", "list"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"next  {program} " in printed.stdout
