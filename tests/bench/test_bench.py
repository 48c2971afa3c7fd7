"""The command `bench` at a small scale, and the memory of a large graph."""

import json
import subprocess
import sys

import pytest

from algotransfer.bench.data_speed import random_graph
from algotransfer.cli import main

LARGE = """
import resource
from algotransfer.bench.execution_speed import measure_execution
from algotransfer.bench.data_speed import random_graph
from algotransfer.experiment import Experiment
graph = random_graph(10_000, 100_000)
experiment = Experiment(model="ne++", target="dijkstra", supervision="na")
row = measure_execution(experiment, graph, part="large", steps=2, repeats=1)
print(row.peak_bytes)
"""


def test_parts_are_measured_compared_and_written(tmp_path, capsys):
    out = tmp_path / "bench.json"
    options = ["--model", "ne", "--largest", "20", "--steps", "2", "--repeats", "1"]
    assert main(["bench", "--part", "evaluate", "large", *options, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Gop/s" in printed
    assert f"wrote {out}" in printed.replace("\n", "")
    report = json.loads(out.read_text())
    assert {row["part"] for row in report["rows"]} == {"evaluate", "large", "whole"}
    assert all(row["milliseconds_per_step"] > 0 for row in report["rows"])
    assert report["ceilings"]["bytes_per_second"] > 0
    assert report["data"] == "small"

    for row in report["rows"]:
        row["milliseconds_per_step"] /= 1000
    out.write_text(json.dumps(report))
    assert main(["bench", "--part", "evaluate", *options, "--baseline", str(out)]) == 0
    assert f"slower than in {out.name}: evaluate: ne-dijkstra-tf" in capsys.readouterr().out


def test_epochs_of_other_graphs_are_not_compared(tmp_path, capsys):
    baseline = tmp_path / "bench.json"
    row = {"part": "train", "what": "ne-bfs-tf, 1 seed", "milliseconds_per_step": 1e-6}
    options = ["--model", "ne", "--target", "bfs", "--supervision", "tf", "--seeds", "1"]
    for data, said in (("paper", "training is not compared"), ("small", "slower than in")):
        baseline.write_text(json.dumps({"rows": [row], "data": data}))
        command = ["bench", "--part", "train", *options, "--repeats", "1"]
        assert main([*command, "--baseline", str(baseline)]) == 0
        assert said in capsys.readouterr().out


def test_ten_thousand_nodes_on_a_cpu_within_four_gibibytes():
    answer = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True
    )
    assert int(answer.stdout) < 4 * 2**30


def test_random_graphs_have_exactly_so_many_edges():
    graph = random_graph(50, 200)
    assert graph.num_edges().tolist() == [200]
    with pytest.raises(ValueError, match="700 edges among 50 nodes; expected at most 612"):
        random_graph(50, 700)
