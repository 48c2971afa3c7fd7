"""The figure of the transfer study has a panel per network and target, and a dot per seed."""

import pandas
import plot_transfer_grid


def test_the_committed_table_is_drawn(tmp_path, monkeypatch):
    table = pandas.read_csv(plot_transfer_grid.TABLE)
    figure = plot_transfer_grid.draw(table)
    assert [axes.get_title() for axes in figure.axes] == list(plot_transfer_grid.PANELS.values())
    seeds, median = figure.axes[0].lines[:2]  # NE on Dijkstra, none, read at the end
    assert len(seeds.get_ydata()) == 5
    assert median.get_ydata()[0] == pandas.Series(seeds.get_ydata()).median()
    path = tmp_path / "figure.png"
    monkeypatch.setattr("sys.argv", ["plot_transfer_grid.py", "--out", str(path)])
    plot_transfer_grid.main()
    assert path.stat().st_size > 10_000
