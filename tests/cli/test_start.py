"""Start of the command line: quick help, version, parse errors, `python -m algotransfer`."""

import subprocess
import sys

import pytest

from algotransfer import __version__
from algotransfer.cli import main
from algotransfer.cli.main import COMMANDS

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
    assert "{er,ba,grid}" in text
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
