"""The paper's numbers, and what the deviations page says about them."""

import numpy as np
import pandas as pd
import pytest

from algotransfer import paper_tables

CELL = ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]


@pytest.fixture(scope="module")
def tables():
    return paper_tables()


@pytest.fixture(scope="module")
def printed_and_recomputed(tables):
    """Cells printed as mean ± std, beside the breakdown's, NE and NE++ swapped back (S5)."""
    families = tables[tables.table.str.endswith("-breakdown")].copy()
    swapped = (families.table == "seq-tf-breakdown") & (families.target == "reliable_seq")
    other = families.model.map({"NE": "NE++", "NE++": "NE"})
    families["model"] = families.model.where(~swapped, other)
    by_cell = families.groupby(CELL, dropna=False).value
    recomputed = pd.DataFrame(
        {"mean": by_cell.mean(), "ddof_0": by_cell.std(ddof=0), "ddof_1": by_cell.std(ddof=1)}
    )
    return tables[tables.graph == "mean"].merge(recomputed.reset_index(), on=CELL)


def without_transfer(tables, table):
    """The cells of `table`, with the value of training on the target alone in `alone`."""
    keys = ["model", "target", "num_nodes", "metric"]
    alone = tables[tables.table == "seq-na"].set_index(keys).value.rename("alone")
    return tables[tables.table == table].join(alone, on=keys)


def test_columns_are_as_documented(tables):
    assert len(tables) == 1434
    assert set(tables.supervision) == {"tf", "na", "na_mean"}
    assert set(tables.model) == {"NE", "NE++"}
    assert set(tables.method) == {"none", "freeze", "fine_tune", "two_processor", "multitask"}
    assert set(tables.num_nodes) == {20, 50, 100}
    assert set(tables.graph) == {"grid", "er", "ba", "mean"}
    assert set(tables.metric) == {"next", "key", "pred", "term"}
    assert (tables["std"].notna() == (tables.graph == "mean")).all()
    assert (tables.source.isna() == (tables.method == "none")).all()
    assert tables.value.notna().all()
    assert not tables.duplicated(["table", *CELL, "graph"]).any()


def test_s5_teacher_forced_most_reliable_is_swapped(tables, printed_and_recomputed):
    assert np.allclose(printed_and_recomputed["mean"], printed_and_recomputed.value, rtol=0.07)
    block = tables[(tables.table == "seq-tf") & (tables.target == "reliable_seq")]
    assert len(block) == 18


def test_s6_printed_deviation_is_the_population_one(printed_and_recomputed):
    cells = printed_and_recomputed
    one_digit = cells[["ddof_0", "ddof_1"]].map(lambda value: float(f"{value:.1g}"))
    assert len(cells) == 336
    assert (one_digit.ddof_0 == cells["std"]).sum() == 333
    assert (one_digit.ddof_1 == cells["std"]).sum() == 100


def test_s7_transfer_helps_predecessors_in_six_cells(tables):
    cells = without_transfer(tables, "seq-transfer").query("metric == 'pred'")
    better = cells[cells.value < cells.alone]
    assert (len(better), len(cells)) == (6, 36)
    assert set(better.target) == {"reliable_seq"}
    assert set(better.num_nodes) == {50, 100}


def test_s8_mean_of_trajectories_is_often_better(tables):
    cells = without_transfer(tables, "seq-na-mean")
    better = cells[cells.value < cells.alone]
    assert (len(better), (cells.value == cells.alone).sum(), len(cells)) == (13, 1, 24)
    assert (better.target == "reliable_seq").sum() == 11


def test_s9_ne_beats_nepp_in_two_multi_task_cells(tables):
    multitask = tables.table.isin(["seq-multitask", "par-summary"]) & (tables.method == "multitask")
    wide = tables[multitask & (tables.metric == "pred")].pivot(
        index=["target", "num_nodes"], columns="model", values="value"
    )
    better = wide[wide["NE"] < wide["NE++"]]
    assert set(better.index) == {("dijkstra", 50), ("bellman_ford", 100)}
