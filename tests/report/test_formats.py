"""The formats of the report: the same numbers in Markdown, LaTeX, CSV and HTML."""

import re
from html import unescape
from html.parser import HTMLParser

import pandas
import pytest
from report.cases import by_name, section

from algotransfer.cli import main
from algotransfer.evaluation.result_tables import number
from algotransfer.report import example_pages, html
from algotransfer.report.html import html_table, render_html
from algotransfer.report.latex import latex_table, render_latex
from algotransfer.report.markdown import markdown_table, render_markdown
from algotransfer.report.report_data import make_report
from algotransfer.report.write_report import write_report
from algotransfer.training import load_model

pytestmark = pytest.mark.usefixtures("quick_to_compile")


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
            both = re.findall('<td class="n"[^>]*><span>(.*?)</span></td>', line)
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


@pytest.fixture(scope="module")
def html_page(report):
    return render_html(report)


def test_claims_and_agreement_are_the_same_in_both_pages(report, html_page):
    markdown, page = render_markdown(report), unescape(re.sub("<[^>]+>", "", html_page))
    for name in ("claims", "agreement"):
        part = section(report, name)
        texts = [*part.paragraphs, *part.notes]
        texts += [text for table in part.tables for row in table.rows for text in row.texts]
        for text in texts:
            assert text in markdown
            assert re.sub(r"\*\*|\*|`", "", text) in page


def test_every_format_notes_the_papers_swap(report, html_page):
    for text in (render_markdown(report), html_page, render_latex(report)):
        assert text.count("are swapped between this table and") == 2


def test_empty_cells_are_shown_as_such(results):
    some = results[results["target"] == "dijkstra"]
    tables = by_name(make_report(some))
    text = markdown_table(tables["seq-na"])
    assert "| reliable_seq | NE | none |  |  | – (" in text
    assert '<td class="n"><span>–<small>' in html_table(tables["seq-na"])


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


def test_the_page_is_self_contained_and_accessible(html_page):
    text, page = html_page, Page()
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
    assert not any(tag in ("link", "img") for tag, _ in page.seen)
    assert [attributes for tag, attributes in page.seen if tag == "script"] == [{}]
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


@pytest.mark.slow
def test_equal_results_give_equal_bytes(report, html_page):
    assert render_html(report) == html_page


@pytest.mark.slow
def test_the_command_writes_everything_from_the_tables_alone(results, tmp_path, capsys):
    results.to_csv(tmp_path / "results.csv", index=False)
    assert main(["report", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "17 claims of the paper, chosen by us" in text
    assert "Our medians over seeds beside 402 numbers of the paper" in text
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"results.md", "tables.tex", "tables.csv", "report.html"}
    page = (tmp_path / "results.md").read_text()
    assert "“Multi-task helps systematic generalisation” (§6.1), keys" in page
    assert main(["report", "--out", str(tmp_path / "nothing")]) == 2
    assert "or a folder of the paper's experiments with --folder" in capsys.readouterr().err
    assert main(["report", "--folder", str(tmp_path / "nothing")]) == 2
    assert "holds no evaluated runs" in capsys.readouterr().err


@pytest.mark.slow
def test_the_report_has_figures_by_hop_distance(results, tmp_path):
    hops = results[results["metric"] == "pred"].drop_duplicates(
        ["supervision", "model", "method", "source", "target", "row", "num_nodes"]
    )
    hops = hops.assign(hop=1, low=0.1, high=0.9, seeds=3)
    *_, page = write_report(make_report(results, hops), tmp_path)
    text = page.read_text()
    assert text.count("<svg") == 12
    assert "hops from the source" in text


@pytest.mark.slow
def test_cells_hold_the_seeds_behind_them(results, tables):
    (row,) = [r for r in tables["seq-na"].rows if r.texts[:3] == ("dijkstra", "NE", "none")]
    cell = row.cells[tables["seq-na"].columns.index(("pred", 20))]
    assert cell.values == pytest.approx((0.023, 0.023 * 1.001, 0.023 * 1.002))
    assert 'data-seeds="0.023 0.02302 0.02305" data-paper="0.023 ' in html_table(tables["seq-na"])
    infinite = results.assign(value=results["value"].mask(results["seed"] == 1, float("inf")))
    assert " Infinity " in html_table(by_name(make_report(infinite))["seq-na"])


@pytest.mark.slow
def test_rows_name_their_live_page(html_page, tables, tmp_path):
    names = ("ne-dijkstra-tf", "ne-dijkstra-dijkstra-tf-two_processor", "relax-dijkstra-inf100")
    models = {name: load_model(name) for name in (*names, "relax-dijkstra")}
    pages = dict(example_pages.write_examples(models, tmp_path))
    assert pages == {
        ("tf", "NE", "none", "", "dijkstra"): "examples/ne-dijkstra-tf.html#choice=0",
        ("tf", "NE", "two_processor", "dijkstra", "dijkstra"): (
            "examples/ne-dijkstra-tf.html#choice=1"
        ),
        ("na", "relax", "none", "", "dijkstra"): "examples/relax-dijkstra-na.html#choice=0",
    }
    assert {path.name for path in (tmp_path / "examples").iterdir()} == {
        "ne-dijkstra-tf.html",
        "relax-dijkstra-na.html",
    }
    page = html_table(tables["seq-tf"], pages)
    assert page.count('data-live="examples/ne-dijkstra-tf.html#choice=0"') == 1
    assert "data-live" not in html_table(tables["seq-na"], pages)
    assert 'id="graphs"' not in html_page


@pytest.mark.slow
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


def test_text_of_a_table_is_shown_as_text(results, monkeypatch):
    monkeypatch.setattr(html, "_figure", lambda figure: "")
    foreign = results.assign(
        model="<script>alert(1)</script>|", marks="<b>bold</b>", infinity="<i>\n# head"
    )
    report = make_report(pandas.concat([results, foreign], ignore_index=True), note="<p>note")
    markdown, page = render_markdown(report), render_html(report)
    for text in (markdown, page):
        assert not re.search("<script>alert|<b>bold|<i>\\s*# head|<p>note", text)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    lines = markdown.splitlines()
    assert "# head" not in lines
    rows = [line for line in lines if "alert(1)" in line and line.startswith("| dijkstra")]
    assert rows
    assert all(r"&lt;/script&gt;\| †" in line for line in rows)
