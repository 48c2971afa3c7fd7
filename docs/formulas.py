"""Formulas of the pages as SVG, drawn by matplotlib when the site is built.

Pages have formulas as `math` blocks in LaTeX, which GitHub shows as formulas. The site must work
without a network connection, so it does not load MathJax; matplotlib is a dependency anyway.
"""

from __future__ import annotations

import html
import re

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath

BLOCK = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ALIGNED = re.compile(r"\\begin\{aligned\}(.*)\\end\{aligned\}", re.DOTALL)
FONT, FONT_SIZE = FontProperties(math_fontfamily="cm"), 15.0
GAP, WIDE_GAP, LEADING = 5.0, 30.0, 12.0  # pixels
COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}  # of SVG


def replace_formulas(markdown: str) -> str:
    """Replace the `math` blocks of a page by SVG."""
    return BLOCK.sub(lambda block: formula(block[1].strip()), markdown)


def formula(latex: str) -> str:
    """Return a formula as an SVG element with the LaTeX as its text for screen readers.

    The lines of an `aligned` environment are aligned at each `&`.
    """
    aligned = ALIGNED.fullmatch(latex)
    content = aligned[1].strip() if aligned else latex
    rows = [[_path(part.strip()) for part in line.split("&")] for line in content.split(r"\\")]
    count = max(map(len, rows))
    rows = [[*row, *[None] * (count - len(row))] for row in rows]
    widths = [max(_extent(row[k])[1] for row in rows) for k in range(count)]
    shapes, top = [], 0.0
    for row in rows:
        low, high = min(_extent(path)[2] for path in row), max(_extent(path)[3] for path in row)
        x, y = 0.0, top + high
        for place, (path, width) in enumerate(zip(row, widths, strict=True)):
            shift = width - _extent(path)[1] if place == 0 else 0.0  # the first is flush right
            shapes.append(_shape(path, x + shift, y))
            x += width + (GAP if place == 0 else WIDE_GAP)
        top = y - low + LEADING
    width, height = sum(widths) + GAP + WIDE_GAP * count, top
    label = html.escape(" ".join(latex.split()))
    return (
        f'<svg role="img" aria-label="{label}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'style="max-width: 100%" fill="currentColor">{"".join(shapes)}</svg>'
    )


def _path(latex: str) -> TextPath | None:
    return TextPath((0, 0), f"${latex}$", size=FONT_SIZE, prop=FONT) if latex else None


def _extent(path: TextPath | None) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top."""
    if path is None:
        return 0.0, 0.0, 0.0, 0.0
    box = path.get_extents()
    return float(box.x0), float(box.x1), float(box.y0), float(box.y1)


def _shape(path: TextPath | None, x: float, y: float) -> str:
    """Return a path element at a position; the y axis of SVG points down."""
    if path is None:
        return ""
    words = []
    for vertices, code in path.iter_segments(curves=True, simplify=False):
        if code == Path.CLOSEPOLY:
            words.append("Z")
        else:
            words.append(COMMANDS[code] + " ".join(f"{value:.2f}" for value in vertices))
    return f'<path transform="translate({x:.1f} {y:.1f}) scale(1 -1)" d="{"".join(words)}"/>'
