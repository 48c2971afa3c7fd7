"""The command `bench` at a small scale, and the memory of a large graph."""

import json
import os
import subprocess
import sys

import pytest

from algotransfer.bench.baseline import compare_times
from algotransfer.bench.data_speed import random_graph
from algotransfer.cli import main
from algotransfer.training import runs

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
    options = ["--model", "ne", "--largest", "20", "--repeats", "1"]
    command = ["bench", "--part", "evaluate", "large", *options, "--steps", "2"]
    assert main([*command, "--out", str(out)]) == 0
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
    row = {"part": "train", "what": "ne-dijkstra-tf, 1 seed", "milliseconds_per_step": 1e-6}
    options = ["--model", "ne", "--supervision", "tf", "--seeds", "1"]
    for data, said in (("paper", "training is not compared"), ("small", "slower than in")):
        baseline.write_text(json.dumps({"rows": [row], "data": data}))
        command = ["bench", "--part", "train", *options, "--repeats", "1"]
        assert main([*command, "--baseline", str(baseline)]) == 0
        assert said in capsys.readouterr().out


def test_committed_files_of_the_same_device_are_the_default(tmp_path, capsys, monkeypatch):
    def write(name, device, cores):
        content = {"rows": [row], "data": "small", "device": device, "cores": cores}
        (tmp_path / "results" / name).write_text(json.dumps(content))

    (tmp_path / "results").mkdir()
    row = {"part": "evaluate", "what": "ne-dijkstra-tf, 64 × 20 nodes, 2,594 edges"}
    row["milliseconds_per_step"] = 1e-6
    here = {"kind": "cpu", "platform": "cpu"}
    write("bench-here.json", here, os.cpu_count())
    write("bench-larger.json", here, 1000)
    write("bench-gpu.json", {"kind": "NVIDIA H200", "platform": "gpu"}, os.cpu_count())
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    options = ["--part", "evaluate", "--model", "ne", "--largest", "20", "--repeats", "1"]
    assert main(["bench", *options, "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)["compared"]
    ((file, (time,)),) = compared.items()
    assert file == "bench-here.json"
    assert time["before"] == 1e-6 < time["now"]


def test_times_are_compared_by_name_and_rows_of_other_formats_ignored():
    def row(what, milliseconds):
        return {"part": "train", "what": what, "milliseconds_per_step": milliseconds}

    new = [row("a", 1.09), row("b", 1.5), row("new", 9.0)]
    old = [row("a", 1.0), row("b", 1.0), row("c", 1.0)]
    compared = compare_times(new, old)
    assert [each.what for each in compared] == ["a", "b"]
    assert [each.is_slower for each in compared] == [False, True]
    others = [{"experiment": "an older format"}, row("a", 0), row("b", None), ["c"]]
    assert compare_times(new, others) == []


def test_a_baseline_of_another_format_is_refused_before_measuring(tmp_path, capsys):
    path = tmp_path / "bench.json"
    for content, said in (("[]", "is not a JSON object"), ('{"rows": 1}', "is not a list")):
        path.write_text(content)
        assert main(["bench", "--baseline", str(path)]) == 2
        assert said in capsys.readouterr().err.replace("\n", " ")


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
