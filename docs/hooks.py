"""MkDocs hooks: tables of results and formulas in pages, the live page, the report."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from functools import cache
from pathlib import Path

# MkDocs loads this file alone, and restores the path afterwards: import the others here.
sys.path.insert(0, str(Path(__file__).parent))
import formulas
from live_page import live_page

RESULTS = Path(__file__).parents[1] / "results"
# Outside the site, where nothing runs, links and a picture stand for tables and the live page.
BENCHES = re.compile("<!-- tables of measurements -->.*?<!-- end of tables -->", re.DOTALL)
FAULTS = re.compile("<!-- tables of faults -->.*?<!-- end of tables -->", re.DOTALL)
LIVE = re.compile("<!-- live page -->.*?<!-- end of live page -->", re.DOTALL)
FRAME = """<iframe src="live.html#step=49" title="Dijkstra's algorithm and five networks, live"
 style="width: 100%; height: 1010px; border: 1px solid #8884; border-radius: 12px"></iframe>

[Open the live page alone](live.html)"""


def on_files(files, config, **_):
    """Add the live page, the report and its live pages to the site; MkDocs calls this once."""
    from mkdocs.structure.files import File

    for name, content in made_pages().items():
        files.append(File.generated(config, name, content=content))
    return files


@cache
def made_pages() -> dict[str, str]:
    """Return pages by their address: five networks live, the report, the networks of its tables."""
    from algotransfer.report.example_pages import find_models, write_examples
    from algotransfer.report.html import render_html
    from algotransfer.report.report_data import make_report
    from algotransfer.report.write_report import read_tables, time_note

    results, hops = read_tables(RESULTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        examples = dict(write_examples(find_models(None, results), folder))
        pages = {str(p.relative_to(folder)): p.read_text("utf-8") for p in folder.rglob("*.html")}
    report = render_html(make_report(results, hops, time_note(RESULTS), examples))
    return {"live.html": live_page().html(), "report.html": report, **pages}


def on_page_markdown(markdown: str, page=None, **_) -> str:
    """Replace formulas and placeholders of a page; MkDocs calls this for every page."""
    if page is not None and page.is_homepage:
        page.meta["hide"] = ["toc"]  # room for the live page
    markdown = formulas.replace_formulas(markdown)
    markdown = LIVE.sub(FRAME, markdown).replace("](../results/report.html", "](report.html")
    markdown = FAULTS.sub(lambda _: faults_tables(), markdown)
    return BENCHES.sub(lambda _: bench_tables(), markdown)


def bench_tables() -> str:
    """Return a table for each committed measurement."""
    files = sorted(RESULTS.glob("bench-*.json"))
    return "\n".join(bench_table(json.loads(path.read_text()), path.name) for path in files)


def faults_tables() -> str:
    """Return tables of the results of `make faults`: faults and bad inputs by kind."""
    faults = json.loads((RESULTS / "faults.json").read_text())
    rows = [
        [kind, row["injected"], row["survived"], row["injected"] - row["survived"]]
        for kind, row in faults["faults"].items()
    ]
    rows.append(["**all**", *(sum(row[k] for row in rows) for k in (1, 2, 3))])
    title = f"**Faults**, `results/faults.json`, JAX {faults['packages']['jax']}."
    tables = [table(title, ["fault", "injected", "survived", "lost"], rows)]
    drawn, guided = (
        json.loads((RESULTS / name).read_text()) for name in ("fuzz.json", "fuzz-guided.json")
    )
    rows = [[kind, count] for kind, count in drawn["inputs"].items()]
    rows += [[f"{kind}, guided by coverage", count] for kind, count in guided["inputs"].items()]
    rows.append(["**all**", sum(count for _, count in rows)])
    crashes = drawn["crashes"] + guided["crashes"]
    title = f"**Bad inputs**, `results/fuzz.json` and `fuzz-guided.json`: {crashes} crashes."
    return "\n".join([*tables, table(title, ["input", "tried"], rows)])


def bench_table(bench: dict, name: str) -> str:
    """Return the table of an `algotransfer bench` file, or of a comparison by `make bench`."""
    return beside_others(bench, name) if "machine" in bench else throughput(bench, name)


def throughput(bench: dict, name: str) -> str:
    """Return the table of an `algotransfer bench --out` file, with its command and versions."""
    ceilings = bench.get("ceilings")
    head = ["", "graphs/s", "ms per step", "seconds to compile", "memory"]
    rows = []
    for row in bench["rows"]:
        cells = [
            f"{row['part']}: {row['what']}",
            number(row["graphs_per_second"]),
            f"{row['milliseconds_per_step']:,.2f}",
            f"{row['compile_seconds']:.0f}",
            f"{(row['memory_bytes'] or row['peak_bytes']) / 2**30:.2f} GiB",
        ]
        rows.append(cells + least(row, ceilings) if ceilings else cells)
    command, device = " ".join(bench["command"]), bench["device"]["kind"]
    made = f"**{device}.** `{command}`, JAX {bench['packages']['jax']}, `results/{name}`."
    if ceilings:
        head += ["at least", "of op/s", "of bytes/s"]
        most = ceilings["operations_per_second"] / 1e9, ceilings["bytes_per_second"] / 1e9
        made += f" The device reached {most[0]:,.0f} Gop/s in products, {most[1]:,.0f} GB/s."
    return table(made, head, rows)


def least(row: dict, ceilings: dict) -> list[str]:
    """Return the minimum work of a step, and the achieved shares of the device's ceilings."""
    if row.get("operations") is None:
        return [""] * 3
    seconds = row["milliseconds_per_step"] / 1000
    return [
        f"{row['operations'] / 1e6:,.3g} Mop, {row['bytes'] / 1e6:,.3g} MB",
        f"{row['operations'] / seconds / ceilings['operations_per_second']:.1%}",
        f"{row['bytes'] / seconds / ceilings['bytes_per_second']:.1%}",
    ]


def beside_others(bench: dict, name: str) -> str:
    """Return a table that compares libraries on the same work with the first of them."""
    column = next(c for c in ("graphs_per_second", "seconds") if c in bench["rows"][0])
    rows = []
    for row in bench["rows"]:
        setting = ", ".join(f"{k} {v}" for k, v in row.items() if k != column)
        first = next(iter(row[column].values()))
        for library, value in row[column].items():
            times = value / first if column == "seconds" else first / value
            rows.append([setting, library, number(value), f"{times:,.1f}×"])
    machine = bench["machine"]
    made = f"**CPU, {machine['cores']} cores.** JAX {machine['jax']}, `results/{name}`."
    heading = "seconds" if column == "seconds" else "graphs/s"
    return table(made, ["setting", "library", heading, "the first is"], rows)


def number(value: float) -> str:
    """Format a number with three digits, or all those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(title: str, head: list[str], rows: list[list]) -> str:
    """Return Markdown: a line of text, then a table whose first column is text."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return title + "\n\n" + "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"
