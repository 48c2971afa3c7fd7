"""Ctrl-C and SIGTERM while modules are imported and garbage is collected."""

import gc
import os
import signal
import subprocess
import sys
import time

import pytest

from algotransfer.interruptions import Terminated, raised_interruptions

pytestmark = pytest.mark.usefixtures("default_signals")

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
LOSES = """
import os, time
try:
    os.kill(os.getpid(), {})
    time.sleep(60)
except KeyboardInterrupt:
    pass
"""


@pytest.mark.parametrize(("number", "said"), [(2, "interrupted"), (15, "terminated")])
def test_a_signal_during_an_import_ends_the_process_in_one_sentence(number, said, tmp_path):
    (tmp_path / "interrupted.py").write_text(LOSES.format(number))
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
        gc.callbacks.clear()  # once
        signal.raise_signal(number)

    def collect():
        gc.collect()
        time.sleep(10)

    before = gc.callbacks[:]
    gc.callbacks[:] = [_xla_gc_callback]  # others, such as that of hypothesis, lose exceptions too
    try:
        with raised_interruptions(None), pytest.raises(error):
            collect()
    finally:
        gc.callbacks[:] = before


def test_handlers_of_the_caller_stay():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with raised_interruptions(None):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
