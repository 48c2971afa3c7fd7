"""The report: all tables, both numbers in every cell, the same in every format."""

import re
from html import unescape
from html.parser import HTMLParser

import pandas
import pytest
from report.cases import as_printed, made_up

from algotransfer.cli import main
from algotransfer.evaluation.result_tables import number
from algotransfer.methods import METHODS, TransferMethod
from algotransfer.paper import paper_tables
from algotransfer.report import example_pages, html
from algotransfer.report.cells import reference_cells, seed_values
from algotransfer.report.collect import read_results
from algotransfer.report.extra_networks import size_tables
from algotransfer.report.figures import draw_methods
from algotransfer.report.html import html_table, render_html
from algotransfer.report.latex import latex_table, render_latex
from algotransfer.report.markdown import markdown_table, render_markdown
from algotransfer.report.report_data import make_report
from algotransfer.report.report_tables import EXTRA_METRICS
from algotransfer.report.write_report import END, START, put_claims, read_tables, write_report
from algotransfer.training import load_model

pytestmark = pytest.mark.usefixtures("quick_to_compile")


@pytest.fixture(scope="module")
def results():
    return as_printed()


@pytest.fixture(scope="module")
def report(results):
    return make_report(results)


def by_name(report):
    return {table.name: table for table in report.number_tables}


@pytest.fixture(scope="module")
def tables(report):
    return by_name(report)


def section(report, name):
    (found,) = [section for section in report.sections if section.name == name]
    return found


def test_every_number_of_the_paper_stands_in_its_table(report, tables):
    names = list(dict.fromkeys(paper_tables()["table"]))
    assert [name for name in tables if name in names] == names
    assert len(names) == 20
    cells = [cell for name in names for row in tables[name].rows for cell in row.cells]
    assert sum(cell.theirs != "" for cell in cells) == 1434
    assert report.cells["paper"].notna().sum() == 1434


def test_all_formats_show_the_same_numbers(report, tables):
    """Every cell's text is in all pages, and is what the CSV rounds to."""
    for table in tables.values():
        markdown = [line.split(" | ") for line in markdown_table(table).splitlines()[2:]]
        latex = [line for line in latex_table(table).splitlines() if line.endswith(r"\\")][1:]
        latex = iter(latex)
        columns = len(table.heads)
        page = re.findall('<tr[^>]*><th scope="row">.*?</tr>', html_table(table))
        for row, words, line in zip(table.rows, markdown, page, strict=False):
            ours = next(latex).removesuffix(r" \\").replace(r"$\pm$", "±").split(" & ")[columns:]
            assert ours == [cell.ours for cell in row.cells]
            if any(cell.theirs for cell in row.cells):
                theirs = next(latex).removesuffix(r" \\").replace(r"$\pm$", "±").split(" & ")
                expected = [f"({cell.theirs})" if cell.theirs else "" for cell in row.cells]
                assert theirs[columns:] == expected
            shown = [f"**{c.ours}** ({c.theirs})" if c.theirs else c.ours for c in row.cells]
            found = [word.removesuffix(" |") for word in words[columns:]]
            known = [place for place, cell in enumerate(row.cells) if cell.ours and cell.theirs]
            assert [found[place] for place in known] == [shown[place] for place in known]
            both = re.findall('<td class="n">(.*?)</td>', line)
            assert [both[place] for place in known] == [
                f"{row.cells[place].ours}<small>{row.cells[place].theirs}</small>"
                for place in known
            ]
    cells = report.cells[report.cells["graph"] == "mean"]
    keys = ["table", "supervision", "model", "method", "source", "target", "num_nodes", "metric"]
    cells = cells[cells["method"].notna()].set_index(keys).sort_index()
    compared = 0
    for table in tables.values():
        for row in table.rows:
            for cell, (metric, nodes) in zip(row.cells, table.columns, strict=True):
                key = (table.name, *row.experiment, nodes, metric)
                if key in cells.index and cell.seeds:
                    line = cells.loc[key]
                    assert cell.ours.split(" ")[0] == number(line["mean"])
                    assert cell.theirs.endswith(f", P{line['percentile']:.0f}")
                    compared += 1
    assert compared > 400


def test_claims_and_agreement_are_the_same_in_both_pages(report):
    markdown, page = render_markdown(report), unescape(re.sub("<[^>]+>", "", render_html(report)))
    for name in ("claims", "agreement"):
        part = section(report, name)
        texts = [*part.paragraphs, *part.notes]
        texts += [text for table in part.tables for row in table.rows for text in row.texts]
        for text in texts:
            assert text in markdown
            assert re.sub(r"\*\*|\*|`", "", text) in page


def test_ours_is_the_mean_over_seeds(tables):
    (row,) = [r for r in tables["seq-na"].rows if r.texts[:3] == ("dijkstra", "NE", "none")]
    place = tables["seq-na"].columns.index(("pred", 20))
    cell = row.cells[place]
    assert cell.mean == pytest.approx(0.023 * 1.001)
    assert cell.std == pytest.approx(0.023 * 0.001 * (2 / 3) ** 0.5)
    assert cell.ours == "0.023 ± 1.9e-5"
    assert cell.theirs.startswith("0.023 ± ")
    assert cell.theirs.endswith(", P0")  # the least seed is the paper's number, rounded up


def test_references_stand_in_every_table(tables):
    for name in dict.fromkeys(paper_tables()["table"]):
        table = tables[name]
        targets = {row.texts[0] for row in table.rows}
        random = [row for row in table.rows if row.texts[1] == "a random neighbour"]
        assert {row.texts[0] for row in random} == targets


def test_a_network_of_ones_own_joins_the_tables():
    results = made_up(lambda *_: 0.25, models=("NE", "relax"))
    tables = by_name(make_report(results))
    rows = [row for row in tables["seq-na"].rows if row.texts[1] == "relax"]
    assert [row.texts[0] for row in rows] == ["dijkstra", "reliable_seq"]
    assert {cell.ours for row in rows for cell in row.cells} == {"0.25 ± 0"}
    assert {cell.theirs for row in rows for cell in row.cells} == {""}
    figure = draw_methods(seed_values(results), "dijkstra")  # has the paper's networks alone
    assert figure.axes[-1].get_title(loc="left") == "NE++: key, mean squared error"


def test_a_method_of_ones_own_joins_tables_and_figures(results, monkeypatch):
    monkeypatch.setitem(METHODS, "half", TransferMethod(("base",), (False,)))
    half = results[(results["method"] == "freeze") & (results["model"] == "NE")]
    both = pandas.concat([results, half.assign(method="half", value=0.25)])
    values, tables = seed_values(both), by_name(make_report(both))
    rows = [row for row in tables["seq-transfer"].rows if row.texts[2] == "half"]
    assert [row.texts for row in rows] == [
        ("dijkstra", "NE", "half", "prim", "3"),
        ("reliable_seq", "NE", "half", "widest_seq", "3"),
    ]
    assert {cell.ours for row in rows for cell in row.cells} == {"0.25 ± 0"}
    assert not any(row.texts[2] == "half" for row in tables["seq-na"].rows)  # it has no base
    first = draw_methods(values, "dijkstra").axes[0]
    medians = [line for line in first.get_lines() if line.get_marker() == "o"]
    assert (0.25,) * 3 in {tuple(line.get_ydata()) for line in medians}


def test_cells_say_how_many_seeds_have_a_number(results):
    lost = results["metric"].eq("cost") & results["seed"].eq(1) & results["family"].eq("er")
    table = by_name(make_report(results[~lost]))["seq-na-beside"]
    cost = table.columns.index(("cost", 100))
    assert table.rows[0].cells[cost].ours.endswith(" (2 of 3 seeds)")
    assert "seeds" not in table.rows[0].cells[0].ours


def test_the_table_of_all_cells_has_references_and_our_own_metrics(report):
    cells = report.cells
    assert cells["paper"].notna().sum() == 1434
    assert set(EXTRA_METRICS) < set(cells["metric"])
    random = cells[cells["model"] == "random_neighbour"]
    assert set(random["table"]) == set(cells["table"])
    assert set(random["mean"].round(6)) == {0.7}


def test_the_papers_swap_is_told_in_every_format(report):
    for text in (render_markdown(report), render_html(report), render_latex(report)):
        assert text.count("are swapped between this table and") == 2


def test_references_are_those_of_most_graphs(results):
    few = results.assign(model="A", num_graphs=4, value=0.9)
    values = seed_values(pandas.concat([few, results], ignore_index=True))
    assert set(reference_cells(values)["value"].round(6)) == {0.7}


def test_own_networks_stand_beside_the_papers_best(results):
    assert "own" not in by_name(make_report(results))
    some = made_up(lambda _, seed, nodes, __: nodes / 1e3 + seed / 1e4, models=("NE", "relax"))
    some = some[some["method"] == "none"]
    report = make_report(some)
    table = by_name(report)["own"]
    assert table.columns == (("pred", 20), ("pred", 50), ("pred", 100))
    cells = {row.texts[0]: row.cells[-1] for row in table.rows if row.texts[1] == "relax"}
    assert len(cells) == len(table.rows)
    assert cells["dijkstra"].mean == pytest.approx(0.1001)
    assert cells["dijkstra"].theirs == "0.194"  # of all methods at 100 nodes
    assert cells["bellman_ford"].theirs == "0.095"
    (words,) = section(report, "own").paragraphs
    assert "in 3 of 4 rows all our seeds err less than that, in 1 all err more" in words
    assert words.endswith("relax on bellman_ford: 0.1 (3 seeds, 0.1–0.1; the paper's best 0.095).")
    assert words in render_markdown(report)
    assert words.replace("'", "&#x27;") in render_html(report)


def test_sizes_beyond_the_papers_have_tables_of_their_own(results):
    assert size_tables(results) == []
    some = made_up(lambda _, __, nodes, ___: nodes / 1e4, seeds=2, sizes=(20, 1600))
    some = some[(some["target"] == "dijkstra") & (some["method"] == "none")]
    constant = some.assign(run="1", infinity="100.0", marks="infinity=100.0")
    constant.loc[constant["num_nodes"] == 1600, "num_graphs"] = 4
    both = pandas.concat([some, constant], ignore_index=True)
    pred, key = size_tables(both)
    assert (pred.name, key.name) == ("sizes-pred", "sizes-key")
    assert pred.columns == (("pred", 20), ("pred", 1600))
    assert {(row.texts[1], *row.texts[4:], row.marks) for row in pred.rows} == {
        ("NE", "instance", "500", "2", ""),
        ("NE", "100.0", "4 to 500", "2", "infinity=100.0"),
        ("NE++", "instance", "500", "2", ""),
        ("NE++", "100.0", "4 to 500", "2", "infinity=100.0"),
    }
    assert {tuple(cell.ours for cell in row.cells) for row in key.rows} == {
        ("0.002 ± 0", "0.16 ± 0")
    }
    report = make_report(both)
    assert "## sizes-pred" in render_markdown(report)
    assert '<h2 id="sizes-key">' in render_html(report)


def test_a_run_with_other_settings_is_marked_and_gives_way(results):
    other = results.assign(marks="max_epochs=2", run="1", value=9.0)
    both = pandas.concat([results, other], ignore_index=True)
    assert render_markdown(make_report(both)) == render_markdown(make_report(results))
    report = make_report(other)
    page = render_markdown(report)
    assert "| dijkstra | NE † | none |" in page
    assert "† max_epochs=2" in page
    assert "| **undecided** † (0 of 4) |" in page  # the first claim
    latex = latex_table(by_name(report)["seq-na"])
    assert r"NE $\dagger$ & none" in latex
    assert r"\par $\dagger$ max\_epochs=2" in latex


def test_diverged_seeds_are_counted(results):
    first = results["seed"].eq(1) & results["target"].eq("dijkstra")
    page = render_markdown(make_report(results.assign(diverged=first)))
    assert "(1 diverged)" in page
    words = r"64 of the paper's 64 experiments and 0 of our own, 3 seeds each, \d+ seeds diverged"
    assert re.search(words, page)


def test_empty_cells_are_shown_as_such(results):
    some = results[results["target"] == "dijkstra"]
    tables = by_name(make_report(some))
    text = markdown_table(tables["seq-na"])
    assert "| reliable_seq | NE | none |  |  | – (" in text
    assert '<td class="n">–<small>' in html_table(tables["seq-na"])


def test_our_own_metrics_have_columns(tables):
    assert [metric for metric, nodes in tables["seq-na-beside"].columns if nodes == 20] == [
        "tree",
        "no_path",
        "cost",
        "exact",
    ]


def test_latex_is_balanced(report, tables):
    text = render_latex(report)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == len(tables)
    table = tables["seq-na"]
    width = len(table.heads) + len(table.columns)
    lines = [line for line in latex_table(table).splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in lines} == {width - 1}
    assert not re.search(r"(?<!\\)_", "".join(lines))


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.names = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.names += [value for name, value in attributes if name == "id"]

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_can_be_read_aloud(report):
    text = render_html(report)
    page = Page()
    page.feed(text)
    assert page.open == []
    addresses = [
        value
        for _, attributes in page.seen
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href")
    ]
    assert all(address.startswith("#") for address in addresses)
    assert "url(http" not in text
    assert not any(tag in ("script", "link", "img") for tag, _ in page.seen)
    drawn = [attributes for tag, attributes in page.seen if tag == "svg"]
    assert len(drawn) == 8
    assert all(a["role"] == "img" and "error" in a["aria-label"] for a in drawn)
    captions = [tag for tag, _ in page.seen if tag == "caption"]
    assert len(captions) >= 21
    assert "prefers-color-scheme: dark" in text
    assert "currentColor" in text
    sections = [
        name for name in page.names if name.startswith(("seq-", "par-", "experiment", "multi-"))
    ]
    assert len(sections) == len(set(sections)) == 20
    assert render_html(report) == text  # equal results give equal bytes


def test_the_command_writes_everything_from_the_tables_alone(results, tmp_path, capsys):
    results.to_csv(tmp_path / "results.csv", index=False)
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nstale\n{END}\nafter\n")
    assert main(["report", "--out", str(tmp_path), "--readme", str(readme)]) == 0
    text = capsys.readouterr().out
    assert "17 claims of the paper, chosen by us" in text
    assert "Our medians over seeds beside 402 numbers of the paper" in text
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"results.md", "tables.tex", "tables.csv", "report.html"}
    page = readme.read_text()
    assert page.startswith("before\n")
    assert page.endswith("\nafter\n")
    assert "stale" not in page
    assert "“Multi-task helps systematic generalisation” (§6.1), keys" in page
    again = make_report(read_results(tmp_path / "results.csv"))
    put_claims(readme, again)
    assert readme.read_text() == page
    readme.write_text("no marks")
    with pytest.raises(ValueError, match="has no lines"):
        put_claims(readme, again)
    assert main(["report", "--out", str(tmp_path / "nothing")]) == 2
    assert "name a folder of runs with --folder" in capsys.readouterr().err
    assert main(["report", "--folder", str(tmp_path / "nothing")]) == 2
    assert "holds no evaluated runs" in capsys.readouterr().err


def test_reports_know_hop_distances(results, tmp_path):
    hops = results[results["metric"] == "pred"].drop_duplicates(
        ["supervision", "model", "method", "source", "target", "row", "num_nodes"]
    )
    hops = hops.assign(hop=1, low=0.1, high=0.9)
    *_, page = write_report(make_report(results, hops), tmp_path)
    text = page.read_text()
    assert text.count("<svg") == 12
    assert "hops from the source" in text


def test_numbers_lead_to_executions(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(example_pages, "EXAMPLE_SIZES", (20,))
    models = {"ne-dijkstra-tf": load_model("ne-dijkstra-tf")}
    pages = dict(example_pages.write_examples(models, tmp_path))
    assert pages == {("tf", "NE", "none", "", "dijkstra", "20"): "examples/ne-dijkstra-tf-20.html"}
    assert "grid graph of 20 nodes" in (tmp_path / "examples/ne-dijkstra-tf-20.html").read_text()
    page = html_table(tables["seq-tf"], pages)
    linked = re.findall(r'<a href="examples/ne-dijkstra-tf-20.html"[^>]*>([^<]*)</a>', page)
    (row,) = [r for r in tables["seq-tf"].rows if r.texts[:3] == ("dijkstra", "NE", "none")]
    columns = tables["seq-tf"].columns
    at_20 = [c.ours for c, (_, n) in zip(row.cells, columns, strict=True) if n == 20]
    assert linked == at_20
    assert "<a href" not in html_table(tables["seq-na"], pages)


def test_gaps_are_explained_where_there_are_any(results, monkeypatch):
    monkeypatch.setattr(html, "to_svg", lambda *_: "")  # drawing is slow
    ends = results[results["metric"] == "pred"].assign(metric="term")
    complete = pandas.concat([results, ends], ignore_index=True)
    some = complete[complete["target"] != "dijkstra"]
    full, gaps = make_report(complete), make_report(some)
    for render in (render_markdown, render_html):
        assert "A – stands where we have no run." in render(gaps)
        assert "A – stands where we have no run." not in render(full)
        assert re.search(r"\d+ cells have no run\.", render(gaps))


def test_rows_read_by_another_halting_rule_change_only_the_claims(results):
    horizon = results[results["supervision"] == "na"].assign(halt="horizon", value=0.01)
    both = pandas.concat([horizon, results.assign(halt="told")], ignore_index=True)
    plain, more = make_report(results), make_report(both)
    assert plain.number_tables == more.number_tables
    assert plain.introduction == more.introduction
    assert section(plain, "agreement") == section(more, "agreement")
    assert len(more.claims.paragraphs) == 2
    assert "(`horizon`)" in more.claims.paragraphs[1]


def test_text_of_a_table_is_shown_as_text(results, monkeypatch):
    monkeypatch.setattr(html, "_figure", lambda figure: "")
    foreign = results.assign(
        model="<script>alert(1)</script>|", marks="<b>bold</b>", infinity="<i>\n# head"
    )
    report = make_report(pandas.concat([results, foreign], ignore_index=True), note="<p>note")
    markdown, page = render_markdown(report), render_html(report)
    for text in (markdown, page):
        assert not re.search("<script>|<b>bold|<i>\\s*# head|<p>note", text)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    lines = markdown.splitlines()
    assert "# head" not in lines
    rows = [line for line in lines if "alert(1)" in line and line.startswith("| dijkstra")]
    assert rows
    assert all(r"&lt;/script&gt;\| †" in line for line in rows)


def test_cells_that_depend_on_the_device_by_more_than_their_seeds_do_are_marked(results, tmp_path):
    """The seeds of a cell are up to 0.2 % apart; on the CPU NE is 1 % higher, NE++ 0.01 %."""
    results.to_csv(tmp_path / "results.csv", index=False)
    assert "‡" not in render_markdown(make_report(read_tables(tmp_path)[0]))
    chosen = results[(results["num_nodes"] == 100) & results["model"].isin(["NE", "NE++"])]
    chosen = chosen[chosen["supervision"] == "na"]
    factor = chosen["model"].map({"NE": 1.01, "NE++": 1.0001})
    chosen.assign(value=chosen["value"] * factor).to_csv(
        tmp_path / "device-sensitivity.csv", index=False
    )
    compared, _ = read_tables(tmp_path)
    assert len(compared) == len(results)
    report = make_report(compared)
    (table,) = [t for t in report.number_tables if t.name == "seq-na"]
    for row in table.rows:
        for cell, (_, num_nodes) in zip(row.cells, table.columns, strict=True):
            assert cell.ours.endswith(" ‡") == (row.texts[1] == "NE" and num_nodes == 100)
    page = render_markdown(report)
    assert "‡ marks a number that depends on the device." in page
    assert re.search(r"NE at 100 nodes (\d+) of \1 \(.*\), NE\+\+ at 100 nodes 0 of \d+ \(", page)
    assert r"$\ddagger$" in latex_table(table)
