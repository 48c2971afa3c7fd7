"""The figure of the study on extra steps has a panel per variant and a line per seed."""

import pandas
import plot_extra_steps

ROWS = [
    (variant, seed, family, step, 0.1 * seed)
    for variant in ("none", "mixed")
    for seed in (1, 2, 3)
    for family in ("er", "grid")
    for step in ("5", "20", "100", "told")
]
TABLE = pandas.DataFrame(ROWS, columns=["variant", "seed", "family", "step", "value"])


def test_panels_and_lines():
    figure = plot_extra_steps.draw(TABLE)
    none, mixed, *_, last = figure.axes
    assert [axes.get_title() for axes in (none, mixed)] == ["none", "mixed sizes 8–20"]
    assert len(none.lines) == 3 + 1  # seeds, and the training horizon
    assert none.lines[0].get_xdata().tolist() == [5, 20, 100]
    medians = [line.get_ydata()[0] for line in last.lines[1::2]]
    assert medians == [0.2, 0.2]


def test_the_committed_table_is_drawn(tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    monkeypatch.setattr("sys.argv", ["plot_extra_steps.py", "--out", str(path)])
    plot_extra_steps.main()
    assert path.stat().st_size > 10_000
