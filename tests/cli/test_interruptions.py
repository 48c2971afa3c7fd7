"""Ctrl-C and SIGTERM while modules are imported and garbage is collected."""

import gc
import os
import signal
import subprocess
import sys
import time

import pytest

from algotransfer.interruptions import Terminated, raised_interruptions

IMPORTS = """
from dataclasses import dataclass
from algotransfer.cli import main
from algotransfer.cli.main import COMMANDS

@dataclass(frozen=True)
class Imports:
    def run(self):
        import interrupted

COMMANDS["imports"] = Imports
raise SystemExit(main())
"""


@pytest.mark.parametrize(("number", "said"), [(2, "interrupted"), (15, "terminated")])
def test_a_signal_during_an_import_ends_the_process_in_one_sentence(number, said, tmp_path):
    code = f"import os, time; os.kill(os.getpid(), {number}); time.sleep(60)"
    (tmp_path / "interrupted.py").write_text(code)
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS, "imports"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.stderr == f"{said}; run the same command again\n"
    assert ended.returncode == 128 + number


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)]
)
def test_a_signal_in_garbage_collection_is_not_lost(number, error):
    def _xla_gc_callback(phase, info):  # the name of the function of jax
        gc.callbacks.remove(_xla_gc_callback)
        signal.raise_signal(number)

    def collect():
        gc.callbacks.append(_xla_gc_callback)
        gc.collect()
        time.sleep(10)

    with raised_interruptions(None), pytest.raises(error):
        collect()


def test_handlers_of_the_caller_stay():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with raised_interruptions(None):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
