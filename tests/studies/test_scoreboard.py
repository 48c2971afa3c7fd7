"""The scoreboard: page and table are those that the command makes, and rows are complete."""

import re

import pandas
import pytest
import scoreboard

from algotransfer.datasets import CLRS_TASKS


@pytest.fixture(scope="module")
def table():
    return scoreboard.scoreboard()


def test_committed_table_and_page_are_those_of_the_command(table):
    committed = pandas.read_csv(scoreboard.SCOREBOARD, dtype=str, keep_default_na=False)
    pandas.testing.assert_frame_equal(committed, table.reset_index(drop=True))
    assert scoreboard.PAGE.read_text(encoding="utf-8") == scoreboard.page(table)


def test_every_row_says_what_it_is(table):
    for column in ("system", "hints", "steps_given", "task", "training_data", "test_data"):
        assert table[column].str.strip().all(), column
    assert table["seeds"].str.strip().all()
    is_ours = table["source"].str.startswith("ours: `python studies/")
    assert (is_ours | table["source"].str.contains("](https://", regex=False)).all()
    scored = table[["micro_f1", "node_accuracy", "graph_accuracy"]]
    assert (scored != "").any(axis=1).all()
    for column in scored:
        numbers = pandas.to_numeric(scored[column]).dropna()
        assert ((numbers >= 0) & (numbers <= 100)).all()


def test_our_rows_are_the_means_of_the_measured_seeds(table):
    measured = pandas.read_csv(scoreboard.CLRS30).query(
        "task == 'dag_shortest_paths' and num_nodes == 1024 and metric == 'micro_f1'"
    )
    rows = table[
        (table["task"] == "dag_shortest_paths") & table["test_data"].str.contains("1,024 nodes")
    ].set_index("system")["micro_f1"]
    for system, mean in measured.groupby("system")["value"].mean().items():
        shown = float(rows[scoreboard.SYSTEMS[system].name])
        assert shown == pytest.approx(100 * mean, abs=0.005)
    assert len(rows) == measured["system"].nunique() > 1


def test_only_official_rows_leave_the_diagonal_out(table):
    off_diagonal = table["task"] == "floyd_warshall, off the diagonal"
    assert set(table[off_diagonal]["test_data"]) == {scoreboard.OFFICIAL}
    one_source = table["task"] == "floyd_warshall, one source per graph"
    assert table[one_source]["test_data"].str.startswith("wide").all()
    assert one_source.any()


def test_commands_name_the_folder_of_committed_weights(table):
    scored = table[table["source"].str.contains("clrs30.py score", regex=False)]
    for source in scored["source"].unique():
        model = re.search(r"--model (\S+?)[ `]", source)[1]
        committed = list((scoreboard.ROOT / "studies/runs/clrs30").glob(f"{model}-*/*/weights.npz"))
        assert ("--folder studies/runs/clrs30" in source) == bool(committed), source
        assert ("`train` first" in source) != bool(committed), source


def test_the_page_names_every_missing_score(table):
    official = table[table["test_data"] == scoreboard.OFFICIAL]
    text = scoreboard.PAGE.read_text(encoding="utf-8")
    section = text.partition("## Not finished")[2].partition("\n## ")[0]
    listed = {}
    for line in section.splitlines():
        if line.startswith("| **"):
            listed[line.split(" | ")[0].removeprefix("| ")] = set(re.findall("`(.*?)`", line))
    tasks = set(CLRS_TASKS)
    for key, system in scoreboard.SYSTEMS.items():
        if key == "relax-no-simplicity":  # a control on the spanning trees alone
            continue
        rows = official[official["system"].map(lambda name: name.split(" of `")[0]) == system.name]
        assert tasks - set(rows["task"]) == listed.get(system.name, set()), key


def test_almost_perfect_is_not_rounded_to_perfect():
    assert scoreboard._number(100.0) == "100.00"
    assert scoreboard._number(99.998) == "99.9980"
    assert scoreboard._number(97.391) == "97.39"


def test_a_system_without_description_is_refused():
    measured = pandas.read_csv(scoreboard.CLRS30).head(3).assign(system="unknown")
    with pytest.raises(SystemExit, match=r"\['unknown'\]; describe them in SYSTEMS"):
        scoreboard.clrs30_rows(measured)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"task": "bfss"},
            r"row 2 of scoreboard_cited\.csv \(PGN\) has the task 'bfss'; expected on",
        ),
        ({"hints": "", "seeds": " "}, r"\(PGN\) has no hints, seeds; write 'not stated'"),
        ({"micro_f1": ""}, r"\(PGN\) has no score; fill in one of micro_f1, node_accuracy, graph"),
    ],
)
def test_wrong_rows_of_others_are_refused(changes, message):
    cited = pandas.read_csv(scoreboard.CITED, dtype=str, keep_default_na=False).head(2)
    cited.loc[1, list(changes)] = list(changes.values())
    with pytest.raises(SystemExit, match=message):
        scoreboard.check_cited(cited)
