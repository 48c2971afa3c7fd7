"""`StepProgram`: a relaxation step with its framework, as a file, as text and as an `Algorithm`."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from algotransfer.algorithms import ALGORITHMS, Algorithm, get_algorithm
from algotransfer.errors import UserError
from algotransfer.files import write_atomically
from algotransfer.symbolic.expressions import (
    Expression,
    as_text,
    from_json,
    relax_function,
    to_json,
    variables,
)

FORMAT = 1
MAX_BYTES = 2**20


@dataclass(frozen=True)
class StepProgram:
    """A step, and the algorithm whose answers it was learned from.

    **Arguments:**

    - `step`: the candidate key of a node through a neighbour.
    - `smaller_is_better`: which of two candidates is taken.
    - `target`: name of the algorithm; it gives the framework, the initial keys and the valid
        weights.
    """

    step: Expression
    smaller_is_better: bool
    target: str

    def __post_init__(self):
        if unknown := variables(self.step) - {"key", "weight"}:
            raise UserError(
                f"the step {as_text(self.step)} reads {', '.join(sorted(unknown))}; a framework "
                "gives a step the neighbour's key and the weight"
            )

    @property
    def algorithm(self) -> Algorithm:
        """The program as an algorithm, for `run` and `explore`."""
        return dataclasses.replace(
            get_algorithm(self.target),
            name=f"learned_{self.target}",
            title=f"Learned from answers of {self.target}",
            relax=relax_function(self.step),
            smaller_is_better=self.smaller_is_better,
        )

    def source(self) -> str:
        """Return the program as Python source."""
        better = "<" if self.smaller_is_better else ">"
        best = "min" if self.smaller_is_better else "max"
        candidate = as_text(self.step)
        start = _initial_keys(get_algorithm(self.target))
        return (_SEQUENTIAL if get_algorithm(self.target).sequential else _PARALLEL).format(
            better=better, best=best, candidate=candidate, **start
        )

    def to_json(self) -> dict[str, Any]:
        """Return the content of a file."""
        return {
            "format_version": FORMAT,
            "step": to_json(self.step),
            "smaller_is_better": self.smaller_is_better,
            "target": self.target,
        }

    def save(self, path: str | Path) -> None:
        """Write the program as JSON."""
        text = json.dumps(self.to_json(), indent=2) + "\n"
        write_atomically(path, lambda file: file.write(text.encode()))

    @classmethod
    def load(cls, path: str | Path) -> StepProgram:
        """Read a program; validate its content."""
        path = Path(path)
        wanted = "expected a file that algotransfer discover wrote"
        try:
            if path.stat().st_size > MAX_BYTES:
                raise UserError(f"{path} is larger than {MAX_BYTES} bytes; {wanted}")
            data = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError(f"{path} cannot be read as JSON; {wanted}") from error
        if not isinstance(data, dict) or data.get("format_version") != FORMAT:
            raise UserError(f"{path} is no step program of format version {FORMAT}; {wanted}")
        smaller, target = data.get("smaller_is_better"), data.get("target")
        if not isinstance(smaller, bool) or target not in ALGORITHMS:
            raise UserError(f"{path} names no direction or no known target; {wanted}")
        return cls(from_json(data.get("step")), smaller, target)


def _initial_keys(algorithm: Algorithm) -> dict[str, str]:
    few, many = algorithm.source_key(2), algorithm.source_key(3)
    source = "len(graph)" if few != many else _number(few)
    return {"source_key": source, "unreached_key": _number(algorithm.unreached_key)}


def _number(value: float) -> str:
    return f'float("{value}")' if value in (float("inf"), float("-inf")) else f"{value:g}"


_PARALLEL = """\
def run(graph, source):  # graph[u] = {{v: weight of the edge from u to v}}
    keys = dict.fromkeys(graph, {unreached_key})
    keys[source] = {source_key}
    pred = {{source: source}}
    for _ in graph:
        before = dict(keys)
        for u in graph:
            for v, weight in graph[u].items():
                key = before[u]
                candidate = {candidate}
                if candidate {better} keys[v]:
                    keys[v], pred[v] = candidate, u
    return keys, pred
"""

_SEQUENTIAL = """\
def run(graph, source):  # graph[u] = {{v: weight of the edge from u to v}}
    keys = dict.fromkeys(graph, {unreached_key})
    keys[source] = {source_key}
    pred, queue = {{source: source}}, set(graph)
    while queue & pred.keys():
        u = {best}(queue & pred.keys(), key=keys.get)
        queue.remove(u)
        for v, weight in graph[u].items():
            key = keys[u]
            candidate = {candidate}
            if v in queue and candidate {better} keys[v]:
                keys[v], pred[v] = candidate, u
    return keys, pred
"""
