"""`StepProgram`: a relaxation step with its framework, as a file, as text and as an `Algorithm`."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from algotransfer.algorithms import ALGORITHMS, Algorithm, get_algorithm
from algotransfer.errors import UserError
from algotransfer.files import read_json, write_atomically
from algotransfer.symbolic.expressions import (
    Expression,
    as_text,
    from_json,
    in_float32,
    relax_function,
    to_json,
    variables,
)

FORMAT = "algotransfer step 1"
MAX_BYTES = 2**20


@dataclass(frozen=True)
class StepProgram:
    """A step in the framework of an algorithm.

    **Arguments:**

    - `step`: the candidate key of a node through a neighbour; its numbers are rounded to float32,
        in which it is executed.
    - `smaller_is_better`: which of two candidates is taken.
    - `target`: name of the algorithm whose answers the step was learned from; it gives the
        framework, the initial keys and the valid weights.
    - `replace_if`: when a candidate replaces a key; the frameworks' rule is `better`.
    """

    step: Expression
    smaller_is_better: bool
    target: str
    replace_if: Literal["better", "not worse"] = "better"

    def __post_init__(self):
        object.__setattr__(self, "step", in_float32(from_json(to_json(self.step))))
        if get_algorithm(self.target).relax_once:
            raise UserError(f"{self.target} keeps first keys; a step alone does not describe it")
        if unknown := variables(self.step) - {"key", "weight"}:
            raise UserError(
                f"the step {as_text(self.step)} reads {', '.join(sorted(unknown))}; a framework "
                "gives a step the neighbour's key and the weight"
            )

    @property
    def algorithm(self) -> Algorithm:
        """The program as an algorithm, for `run` and `explore`."""
        if self.replace_if != "better":
            raise UserError("the frameworks replace a key only by a better one")
        return dataclasses.replace(
            get_algorithm(self.target),
            name=f"learned_{self.target}",
            title=f"Learned from answers of {self.target}",
            relax=relax_function(self.step),
            smaller_is_better=self.smaller_is_better,
        )

    def source(self) -> str:
        """Return the program as Python source."""
        algorithm = get_algorithm(self.target)
        signs = {True: "<", False: ">"}[self.smaller_is_better]
        return SOURCES[algorithm.framework.name].format(
            better=signs + "=" * (self.replace_if == "not worse"),
            best="min" if self.smaller_is_better else "max",
            candidate=as_text(self.step),
            source_key=_number(algorithm.source_key),
            unreached_key=_number(lambda num_nodes: algorithm.unreached_key),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the content of a file."""
        return {
            "format": FORMAT,
            "step": to_json(self.step),
            "smaller_is_better": self.smaller_is_better,
            "target": self.target,
            "replace_if": self.replace_if,
        }

    def save(self, path: str | Path) -> None:
        """Write the program as JSON."""
        write_atomically(path, (json.dumps(self.to_json(), indent=2) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> StepProgram:
        """Read a program that `save` wrote; validates its content."""
        path = Path(path)
        if path.stat().st_size > MAX_BYTES:
            raise UserError(f"{path} has more than {MAX_BYTES:,} bytes; expected a step program")
        found = read_json(path, "format")["format"]
        if found != FORMAT:
            raise UserError(
                f"{path} is no step program: its format is {found!r:.80}, expected {FORMAT!r}; "
                "name the file that `algotransfer discover --out` wrote"
            )
        data = read_json(path, "step", "smaller_is_better", "target", "replace_if")
        ALGORITHMS.check(str(data["target"])[:100])
        rule, smaller = data["replace_if"], data["smaller_is_better"]
        if not isinstance(smaller, bool) or rule not in ("better", "not worse"):
            raise UserError(
                f"{path}: smaller_is_better is {smaller!r:.40} and replace_if {rule!r:.40}; "
                "expected true or false, and 'better' or 'not worse'"
            )
        return cls(from_json(data["step"]), smaller, data["target"], rule)


def _number(formula) -> str:
    value = formula(2)
    if value != formula(3):
        return "len(graph)"
    return f'float("{value}")' if abs(value) == float("inf") else f"{value:g}"


SOURCES = {}
SOURCES["parallel"] = """\
def run(graph, source):  # graph[u] = {{v: weight of the edge from u to v}}
    keys = dict.fromkeys(graph, {unreached_key})
    keys[source] = {source_key}
    pred = {{source: source}}
    for _ in graph:
        before = dict(keys)
        for u in [u for u in graph if u in pred]:
            for v, weight in graph[u].items():
                key = before[u]
                candidate = {candidate}
                if candidate {better} keys[v]:
                    keys[v], pred[v] = candidate, u
    return keys, pred
"""

SOURCES["sequential"] = """\
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
