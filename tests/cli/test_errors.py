"""A user's mistake is one sentence and status 2; a bug keeps its traceback."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from algotransfer.cli import main
from algotransfer.cli.main import COMMANDS
from algotransfer.errors import UserError


def fails_with(error):
    @dataclass(frozen=True)
    class Fails:
        """Fails."""

        def run(self):
            raise error

    return Fails


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UserError("seven is prime; take eight"), "error: seven is prime; take eight\n"),
        (OSError(13, "cannot write x (denied)"), "error: cannot write x (denied)\n"),
        (OSError(2, "No such file", "x.csv"), "error: x.csv: No such file\n"),
        (FileNotFoundError("there is no file x"), "error: there is no file x\n"),
        (OSError(36, "Too long", "x" * 10**5), "error: " + "x" * 300 + "…: Too long\n"),
        (UserError("x" * 10**5), "error: " + "x" * 1993 + "…\n"),
        (UserError("[red]not markup[/red]" + " long" * 40), None),
    ],
)
def test_a_mistake_is_one_line_and_status_2(error, said, monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "fail", fails_with(error))
    assert main(["fail"]) == 2
    captured = capsys.readouterr()
    assert captured.err == (said or f"error: {error}\n")
    assert captured.out == ""


KEPT = "interrupted; finished work is kept; run the same command again to continue\n"
NOTHING_KEPT = "interrupted; run the same command again\n"


@pytest.mark.parametrize(
    ("command", "said"), [("train", KEPT), ("sweep", KEPT), ("list", NOTHING_KEPT)]
)
def test_interruption_is_status_130(command, said, monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, command, fails_with(KeyboardInterrupt()))
    assert main([command]) == 130
    assert capsys.readouterr().err == said


INTERRUPTED = """
import atexit, os, threading, time
from algotransfer.cli import main
from algotransfer.cli.main import COMMANDS, Terminated
from dataclasses import dataclass

@dataclass(frozen=True)
class Compiles:
    def run(self):
        threading.Thread(target=time.sleep, args=[600]).start()
        atexit.register(os.abort)
        print("printed before")
        raise {}

COMMANDS["compiles"] = Compiles
raise SystemExit(main())
"""


@pytest.mark.parametrize(
    ("error", "said", "status"),
    [("KeyboardInterrupt", "interrupted", 130), ("Terminated", "terminated", 143)],
)
def test_an_interrupted_process_ends_without_its_threads(error, said, status):
    command = [sys.executable, "-c", INTERRUPTED.format(error), "compiles"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == status
    assert ended.stdout == "printed before\n"
    assert f"{said}; run the same command again\n" in ended.stderr


@pytest.mark.parametrize("error", [AttributeError("a bug"), ValueError("of numpy"), MemoryError()])
def test_a_bug_keeps_its_traceback(error, monkeypatch):
    monkeypatch.setitem(COMMANDS, "fail", fails_with(error))
    with pytest.raises(type(error)):
        main(["fail"])
