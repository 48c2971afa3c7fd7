"""The whole grid in small: a cell of every class, network and method, from data to tables."""

import os
import subprocess
import sys

import pandas
import pytest

from algotransfer.report.collect import read_results

SCRIPT = "from algotransfer.cli import main; raise SystemExit(main())"
COMMAND = [sys.executable, "-c", SCRIPT]
QUICK_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


@pytest.mark.slow
def test_smoke(tmp_path):
    run = [*COMMAND, "reproduce", "--preset", "smoke", "--seeds", "2"]
    environment = {**os.environ, "XLA_FLAGS": QUICK_TO_COMPILE}
    done = subprocess.run(
        [*run, "--jobs", "2"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "time went into" in done.stdout
    report = [*COMMAND, "report", "--folder", "runs"]
    done = subprocess.run(report, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = read_results(tmp_path / "results" / "results.csv")
    networks = results[results["row"] == "network"]
    cells = networks.drop_duplicates(["target", "model", "method"])
    assert set(cells["target"]) == {"dijkstra", "bellman_ford"}
    assert len(cells) == 2 * 2 * 5
    assert networks["value"].notna().all()
    assert set(networks["seed"]) == {0, 1}
    assert "other data" in networks["marks"].iloc[0]
    hops = pandas.read_csv(tmp_path / "results" / "hops.csv")
    assert len(hops.drop_duplicates(["target", "model", "method"])) == 20
    assert "†" in (tmp_path / "results" / "report.html").read_text()
