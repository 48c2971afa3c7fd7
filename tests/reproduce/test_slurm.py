"""The Slurm batch script, with stand-ins for Slurm's programs on one machine."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from processes import QUICK_TO_COMPILE

from algotransfer.reproduce.call_log import read_calls

pytest.importorskip("ray", reason="Ray has no wheel for this Python: pip install ray")

SCRIPT = Path(__file__).parents[2] / "examples" / "cluster" / "slurm.sh"
SCONTROL = """#!/bin/bash
[ "$1 $2 $3" = "show hostnames list-of-$SLURM_NNODES" ] || exit 1
hostname
for ((k = 1; k < SLURM_NNODES; k++)); do echo "elsewhere$k"; done
"""
# Every task is a process on this machine, so its worker ports must not be fixed.
SRUN = """#!/bin/bash
echo "$@" >> srun.log
tasks=1
while [[ $1 == -* ]]; do
  case $1 in
    --ntasks=*) tasks=${1#*=};;
    -w | -x) [ "$2" = "$(hostname)" ] || exit 1; shift;;
  esac
  shift
done
trap 'kill $(jobs -p); wait' TERM
for ((k = 0; k < tasks; k++)); do "$@" --min-worker-port=0 --max-worker-port=0 & done
wait
"""
SMALL = ["--preset=smoke", "--table=par-tf", "--model=ne", "--seeds=1", "--device=cpu"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def shims(folder):
    """A folder for PATH."""
    folder.mkdir()
    python = Path(sys.executable).parent
    for name, text in {"scontrol": SCONTROL, "srun": SRUN}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return os.pathsep.join([str(folder), str(python), os.environ["PATH"]])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="it is a script for bash")
def test_the_grid_finishes_on_two_machines(tmp_path):
    slurm = {"SLURM_NNODES": "2", "SLURM_JOB_NODELIST": "list-of-2", "SLURM_CPUS_PER_TASK": "1"}
    port = str(free_port())
    ray = {"RAY_PORT": port, "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0"}
    environment = {**os.environ, **slurm, **ray, "PATH": shims(tmp_path / "bin")}
    environment["XLA_FLAGS"] = QUICK_TO_COMPILE
    output = tmp_path / "slurm.out"
    with output.open("w") as file:
        process = subprocess.Popen(
            ["bash", SCRIPT, *SMALL, "--folder=runs"],
            cwd=tmp_path,
            env=environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):  # Slurm ends what a script leaves behind
                os.killpg(process.pid, signal.SIGTERM)
    assert status == 0, output.read_text()
    host = socket.gethostname()
    assert sorted((tmp_path / "srun.log").read_text().splitlines()) == [
        f"--nodes=1 --ntasks=1 -w {host} ray start --head --port={port} --num-cpus=1 --block",
        f"--nodes=1 --ntasks=1 -x {host} ray start --address={host}:{port} --num-cpus=1 --block",
    ]
    evaluations = (tmp_path / "runs").rglob("evaluation.csv")
    assert len({path.parent for path in evaluations}) == 1
    (call,) = read_calls(tmp_path / "runs")
    assert call["jobs"] == 2  # both machines had joined before the grid began
