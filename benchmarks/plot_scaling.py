"""Plot time per step over the number of edges, from `algotransfer bench --part large --out FILE`.

python benchmarks/plot_scaling.py FILE.json docs/images/scaling.png
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

SIZE = re.compile(r"([\d,]+) nodes, ([\d,]+) edges")


def points(bench: dict) -> list[tuple[int, int, float]]:
    """Return nodes, edges and milliseconds per step of every row of the part `large`."""
    rows = []
    for row in bench["rows"]:
        if row.get("part") == "large":
            size = SIZE.search(row["what"])
            assert size is not None
            nodes, edges = (int(number.replace(",", "")) for number in size.groups())
            rows.append((nodes, edges, row["milliseconds_per_step"]))
    if not rows:
        raise ValueError("no rows of the part 'large'; run `algotransfer bench --part large`")
    return sorted(rows)


def plot(bench: dict):
    """Return a figure with a point per graph, and a linear reference through the largest."""
    nodes, edges, milliseconds = (np.array(column) for column in zip(*points(bench), strict=True))
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.loglog(edges, milliseconds, "o-", label="NE, one step with its heads")
    axes.loglog(edges, milliseconds[-1] * edges / edges[-1], "--", color="grey", label="linear")
    for n, x, y in zip(nodes, edges, milliseconds, strict=True):
        place = {"xytext": (4, -12), "textcoords": "offset points", "fontsize": "small"}
        axes.annotate(f"{n:,} nodes", (x, y), **place)
    axes.margins(x=0.3, y=0.1)  # room for the labels
    axes.set(xlabel="edges", ylabel=f"milliseconds per step, {bench['device']['kind']}")
    axes.legend()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, help="output of `algotransfer bench`")
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    plot(json.loads(options.bench.read_text())).savefig(options.picture, dpi=150)
    print(f"wrote {options.picture}")


if __name__ == "__main__":
    main()
