"""The smoke grid, from training to the report: one cell per framework, network and method."""

import pytest
from processes import run_python

from algotransfer.report.collect import read_hops, read_results

COMMAND = "from algotransfer.cli import main; raise SystemExit(main())"


@pytest.mark.slow
@pytest.mark.timeout(1800)  # two dozen trainings are compiled
def test_smoke(tmp_path):
    words = ["reproduce", "--preset", "smoke", "--seeds", "2", "--jobs", "2"]
    assert "wall-clock time" in run_python(COMMAND, *words, folder=tmp_path)
    run_python(COMMAND, "report", "--folder", "runs", folder=tmp_path)
    results = read_results(tmp_path / "results" / "results.csv")
    networks = results[results["row"] == "network"]
    cells = networks.drop_duplicates(["target", "model", "method"])
    assert set(cells["target"]) == {"dijkstra", "bellman_ford"}
    assert len(cells) == 2 * 2 * 5
    assert networks["value"].notna().all()
    assert set(networks["seed"]) == {0, 1}
    assert "other_data" in networks["marks"].iloc[0]
    hops = read_hops(tmp_path / "results" / "hops.csv")
    assert len(hops.drop_duplicates(["target", "model", "method"])) == 20
    assert "†" in (tmp_path / "results" / "report.html").read_text()
