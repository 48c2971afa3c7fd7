"""Committed networks are evaluated again on a CPU, with the names of `results.csv`."""

import device_sensitivity
import pandas
import pytest

from algotransfer.report.collect import add_cpu_values, read_results


@pytest.mark.usefixtures("quick_to_compile")
def test_values_are_compared_with_the_committed_ones(tmp_path, monkeypatch):
    out = tmp_path / "cpu.csv"
    words = ["--weights", "ne-dijkstra-na", "--num-nodes", "20", "--num-graphs", "2"]
    monkeypatch.setattr("sys.argv", ["device_sensitivity.py", *words, "--out", str(out)])
    device_sensitivity.main()
    results = add_cpu_values(read_results("results/results.csv"), out)
    found = results[results["value_cpu"].notna()]
    assert len(found) == len(pandas.read_csv(out)) > 3 * 3 * 4
    assert set(found["target"]) == {"dijkstra"}
    assert set(found["num_nodes"]) == {20}
