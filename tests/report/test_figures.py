"""Figures: which lines they have, in which order, at which sizes."""

import numpy as np
import pytest
from report.cases import made_up

from algotransfer.report.cells import seed_values
from algotransfer.report.figures import draw_methods, draw_networks
from algotransfer.report.report_data import make_report

pytestmark = pytest.mark.usefixtures("quick_to_compile")


@pytest.mark.slow
def test_figures_of_methods_keep_to_the_papers_sizes():
    results = made_up(lambda *_: 0.25, sizes=(20, 50, 100, 1600))
    figure = draw_methods(seed_values(results), "dijkstra")
    assert max(max(line.get_xdata(), default=0) for line in figure.axes[0].get_lines()) == 100
    tables = {table.name: table for table in make_report(results).number_tables}
    columns = tables["seq-na-beside"].columns
    assert {nodes for _, nodes in columns} == {20, 50, 100}


def test_lines_go_from_small_to_large_graphs_in_whatever_order_they_were_measured():
    results = made_up(lambda *_: 0.25, sizes=(100, 20, 50))
    figure = draw_methods(seed_values(results), "dijkstra")
    lines = [line for axes in figure.axes for line in axes.get_lines() if len(line.get_xdata()) > 1]
    assert lines
    assert all((np.diff(line.get_xdata()) > 0).all() for line in lines)


def test_one_figure_has_all_networks_at_all_sizes():
    sizes = (20, 100, 1600)
    results = made_up(lambda key, *_: len(key["model"]) / 8, models=("NE", "relax"), sizes=sizes)
    figure = draw_networks(seed_values(results), "dijkstra")
    pred, key = figure.axes
    assert pred.get_title(loc="left") == "dijkstra: predecessor error rate"
    assert pred.get_xlabel() == "nodes; lines of 3 seeds"
    medians = [line for line in pred.get_lines() if line.get_marker() == "o"]
    drawn = {tuple(line.get_ydata()) for line in medians}
    assert drawn == {(0.25,) * 3, (0.5,) * 3, (0.625,) * 3}  # NE, NE++, relax
    assert all(tuple(line.get_xdata()) == sizes for line in medians)
    words = [text.get_text() for text in key.get_legend().get_texts()]
    assert words == ["NE", "NE++", "relax", "random neighbour", "the paper"]
    assert draw_networks(seed_values(results).query("row != 'network'"), "dijkstra") is None
