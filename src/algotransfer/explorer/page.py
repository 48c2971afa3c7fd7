"""`Viewer`: a scene as one HTML page that needs nothing else, on disk or in a notebook."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from algotransfer.files import write_atomically

HEIGHT = 900  # pixels in a notebook
# What a script element must not contain, or what old parsers of JavaScript read as a new line.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
SCRIPTS = ("cytoscape.min.js", "format.js", "panels.js", "charts.js", "cards.js", "viewer.js")


@dataclass(frozen=True)
class Viewer:
    """A page about one graph; a notebook displays it, `save` writes it to a file.

    **Arguments:**

    - `scene`: what is shown, as plain data.
    """

    scene: dict[str, Any]

    def html(self) -> str:
        """The whole page: markup, style, scripts and data."""
        fills = {
            "title": html.escape(f"{self.scene['title']} · algotransfer"),
            "style": _static("style.css"),
            "data": embedded(self.scene),
            "scripts": "\n".join(f"<script>{_static(name)}</script>" for name in SCRIPTS),
        }
        # One pass, so that nothing inside what is filled in is taken for a place to fill.
        return re.sub(r"<!-- (\w+) -->", lambda hit: fills[hit[1]], _static("page.html"))

    def save(self, path: str | Path) -> Path:
        """Writes the page, whole or not at all."""
        write_atomically(path, self.html().encode())
        return Path(path)

    def _repr_html_(self) -> str:
        page = html.escape(self.html())
        style = f"width:100%;height:{HEIGHT}px;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        return f"<viewer of {self.scene['title']}; .save(path) writes it>"


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element whatever the data holds."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = re.sub("[<>&\u2028\u2029]", lambda hit: UNSAFE[hit[0]], text)
    # Halves of characters cannot be written as UTF-8; JSON can name them.
    return re.sub("[\ud800-\udfff]", lambda hit: f"\\u{ord(hit[0]):04x}", text)


@cache
def _static(name: str) -> str:
    return (resources.files("algotransfer.explorer") / "static" / name).read_text(encoding="utf-8")
