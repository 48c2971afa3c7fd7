"""Committed networks are evaluated again, and their rows put into a table of results."""

import evaluate_committed
import pytest

from algotransfer.report.collect import add_cpu_values, read_results


@pytest.mark.usefixtures("quick_to_compile")
def test_rows_are_named_as_in_the_committed_table_and_replaced(tmp_path, monkeypatch):
    out = tmp_path / "results.csv"

    def evaluate(*words):
        words = ["ne-dijkstra-na", "--num-nodes", "20", "--num-graphs", "2", *words]
        monkeypatch.setattr("sys.argv", ["evaluate_committed.py", *words, "--out", str(out)])
        evaluate_committed.main()
        return read_results(out)

    first = evaluate()
    results = read_results("results/results.csv")
    found = add_cpu_values(results, out)
    found = found[found["value_cpu"].notna() & (found["row"] == "network")]
    # The committed table is older than two metrics.
    newer = first["metric"].isin(["micro_f1", "worse"])
    networks = first[(first["row"] == "network") & ~newer]
    assert len(found[found["halt"].isna()]) == len(networks) > 3 * 3 * 4
    assert set(found["run"]) == set(first["run"])
    assert evaluate().equals(first)
    both = evaluate("--halt", "horizon", "--metrics", "pred")
    added = both[len(first) :]
    assert set(added["halt"]) == {"horizon"}
    assert set(added["metric"]) == {"pred"}
    assert both[: len(first)].drop(columns="halt").equals(first.drop(columns="halt"))
