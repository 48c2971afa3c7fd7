"""`Viewer`: one self-contained HTML page, in a file or a notebook."""

import base64
import html
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from algotransfer.files import write_atomically
from algotransfer.graphs import Graph
from algotransfer.graphs.named import unique_edges

HEIGHT = 900  # pixels in a notebook
# Characters that end a script element, or that old JavaScript parsers read as a new line.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
ENGINE = ("format", "arrays", "algorithms", "networks", "relax", "execution", "comparison")
VIEW = ("graphs", "files", "panels", "charts", "cards", "answers", "editor", "viewer")
SCRIPTS = ("cytoscape.min.js", *(f"{name}.js" for name in ENGINE + VIEW))


@dataclass(frozen=True)
class Viewer:
    """A page about one graph; a notebook displays it, `save` writes it to a file."""

    scene: dict[str, Any]  # what is shown, as plain data

    def html(self) -> str:
        """Return the whole page: markup, style, scripts and data."""
        fills = {
            "title": html.escape(f"{self.scene['title']} · algotransfer"),
            "style": static_file("style.css"),
            "data": embedded(self.scene),
            "scripts": "\n".join(f"<script>{static_file(name)}</script>" for name in SCRIPTS),
        }
        # One pass, so that inserted text is not scanned for placeholders.
        return re.sub(r"<!-- (\w+) -->", lambda hit: fills[hit[1]], static_file("page.html"))

    def save(self, path: str | Path) -> Path:
        """Write the page atomically."""
        write_atomically(path, self.html().encode())
        return Path(path)

    def _repr_html_(self) -> str:
        page = html.escape(self.html())
        style = f"width:100%;height:{HEIGHT}px;border:0"
        allowed = "allow-scripts allow-downloads"
        return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        return f"<viewer of {self.scene['title']}; .save(path) writes it>"


def embedded(data: Any) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = re.sub("[<>&\u2028\u2029]", lambda hit: UNSAFE[hit[0]], text)
    # Lone surrogates cannot be written as UTF-8; JSON can escape them.
    return re.sub("[\ud800-\udfff]", lambda hit: f"\\u{ord(hit[0]):04x}", text)


def link_graph(graph: Graph) -> str:
    """Return a graph as the text that a link to a page holds: `page.html#graph=TEXT`."""
    edges = [(u, v, float(str(np.float32(w)))) for u, v, w in unique_edges(graph)]
    flat = [value for edge in edges for value in edge]
    data = [graph.num_nodes, int(graph.source), flat, [], bool(graph.directed)]
    text = json.dumps(data, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@cache
def static_file(name: str) -> str:
    """Return a file of the page."""
    return (resources.files("algotransfer.explorer") / "static" / name).read_text(encoding="utf-8")
