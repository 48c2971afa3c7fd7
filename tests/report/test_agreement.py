"""Agreement with the paper: two-sided counts by class, percentiles, and known reasons."""

import pytest
from report.cases import as_printed
from scipy.stats import percentileofscore

from algotransfer.report.agreement import measure_agreement
from algotransfer.report.cells import over_seeds, seed_values, table_cells
from algotransfer.report.sections import make_agreement_section


def cells_of(results):
    values = seed_values(results)
    return table_cells(values, over_seeds(values))


@pytest.fixture(scope="module")
def printed():
    return as_printed()


def test_equal_numbers_agree(printed):
    around = printed.assign(value=printed["value"] * (1 + (printed["seed"] - 1) / 100))
    agreement = measure_agreement(cells_of(around))
    total = agreement.total
    assert (total.cells, total.within_near, total.within_far, total.in_range) == (402,) * 4
    assert (total.above, total.below, agreement.missing) == (0, 0, 0)
    for column in ("supervision", "framework", "num_nodes", "metric"):
        assert sum(c.cells for (of, _), c in agreement.classes.items() if of == column) == 402
    known = sum(count.cells for count in agreement.reasons.values())
    assert known + agreement.unexplained.cells == 402


@pytest.mark.parametrize(("factor", "near", "far"), [(1.2, 1, 1), (1.5, 0, 1), (3, 0, 0)])
@pytest.mark.parametrize("above", [True, False])
def test_differences_count_in_both_directions(printed, factor, near, far, above):
    tf = printed["supervision"].eq("tf")
    factor = factor if above else 1 / factor
    other = printed.assign(value=printed["value"].where(~tf, factor * printed["value"]))
    count = measure_agreement(cells_of(other)).classes["supervision", "tf"]
    assert count.cells == 78
    assert (count.within_near, count.within_far) == (78 * near, 78 * far)
    assert (count.above, count.below) == (78 * (not near and above), 78 * (not near and not above))
    assert count.within_near + count.above + count.below == count.cells
    assert count.in_range == 0


def test_missing_cells_are_counted(printed):
    agreement = measure_agreement(cells_of(printed[printed["target"] == "dijkstra"]))
    assert agreement.missing == 402 - agreement.total.cells > 200
    text = make_agreement_section(agreement).paragraphs[0]
    assert f"{agreement.missing} cells have no run." in text


def test_percentiles_are_scipys(printed):
    moved = printed.assign(value=printed["value"] * (1 + (printed["seed"] - 1) / 100))
    cells = cells_of(moved)
    means = seed_values(moved).query("row == 'network' and graph == 'mean'")
    line = cells.query("table == 'seq-na' and metric == 'pred' and num_nodes == 100").iloc[0]
    keys = ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]
    for key in keys:
        means = means[means[key] == line[key]]
    assert line["percentile"] == percentileofscore(means["value"], line["paper"], kind="mean")
    assert cells.query("graph == 'mean'")["percentile"].notna().all()
