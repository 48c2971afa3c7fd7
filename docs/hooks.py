"""Fills in what pages take from result files while the site is built (`hooks` in mkdocs.yml)."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
BENCHES = "<!-- every results/bench-*.json as a table -->"


def on_page_markdown(markdown: str, **_) -> str:
    """MkDocs calls this with the text of every page."""
    if BENCHES not in markdown:
        return markdown
    files = sorted(RESULTS.glob("bench-*.json"))
    tables = "\n".join(bench_table(json.loads(path.read_text()), path.name) for path in files)
    return markdown.replace(BENCHES, tables or "No numbers are committed yet.")


def bench_table(bench: dict, name: str) -> str:
    """A file of `algotransfer bench`, or one of the comparisons that `make bench` makes."""
    return beside_others(bench, name) if "machine" in bench else throughput(bench, name)


def throughput(bench: dict, name: str) -> str:
    """What `algotransfer bench --out` wrote, with the command and the versions that made it."""
    rows = [
        [
            f"`{row['experiment']}`",
            row["seeds"],
            f"{row['graphs_per_second']:,.0f}",
            f"{row['milliseconds_per_step']:.2f}",
            f"{row['compile_seconds']:.0f}",
            f"{row['memory_bytes'] / 2**30:.2f} GiB",
        ]
        for row in bench["rows"]
    ]
    head = ["experiment", "seeds", "graphs/s", "ms per step", "seconds to compile", "memory"]
    command, device = " ".join(bench["command"]), bench["device"]["kind"]
    made = f"**{device}.** `{command}`, JAX {bench['packages']['jax']}, `results/{name}`."
    return table(made, head, rows)


def beside_others(bench: dict, name: str) -> str:
    """Graphs per second of several libraries; the first one stands beside all others."""
    rows = []
    for row in bench["rows"]:
        rates = row["graphs_per_second"]
        setting = ", ".join(f"{k} {v}" for k, v in row.items() if k != "graphs_per_second")
        first = next(iter(rates.values()))
        for library, rate in rates.items():
            rows.append([setting, library, f"{rate:,.0f}", f"{first / rate:,.1f}×"])
    machine = bench["machine"]
    made = f"**CPU, {machine['cores']} cores.** JAX {machine['jax']}, `results/{name}`."
    return table(made, ["setting", "library", "graphs/s", "the first is"], rows)


def table(title: str, head: list[str], rows: list[list]) -> str:
    """Markdown: a line of text, then a table whose first column is text."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return title + "\n\n" + "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"
