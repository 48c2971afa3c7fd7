"""`Experiment`: everything that decides a training run, besides seeds and data, as plain data.

This module imports nothing heavy, so that the command line can show it at once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from algotransfer.arguments import check_fields, shown
from algotransfer.limits import LARGEST, LARGEST_FLOAT, is_positive
from algotransfer.methods import ALONE, METHODS, TOGETHER
from algotransfer.names import check_name

LONGEST = 1000  # steps that an answer is asked to last
MOST_SEEDS = 1000  # that are trained together
FLOAT32 = "finite as float32 (at most about 3e38)"
SEVERAL = {"ne++": 16}  # width of networks that are narrower with several algorithms; others: 32


@dataclass(frozen=True)
class Experiment:
    """One training: a network, a target algorithm, and what is known beside it."""

    model: str = "ne"
    """The network: the Neural Executor, its more expressive successor, or another."""
    target: str = "dijkstra"
    """The algorithm to learn (`algotransfer list` names them)."""
    supervision: Literal["tf", "na"] = "na"
    """Teacher forcing (every step is shown), or no algorithm (inputs and outputs alone)."""
    method: str = ALONE
    """How knowledge of the base algorithms is transferred to the target."""
    base: tuple[str, ...] = ()
    """Base algorithms, trained with teacher forcing; none for the method `none`."""
    trajectories: int = 10
    """Trajectories sampled per graph when a sequential target is trained without its steps."""
    select: Literal["best", "mean"] = "best"
    """Whether the best trajectory is back-propagated, or their mean."""
    linger: int = 0
    """Steps that an answer must last: without the algorithm every training graph runs on for none
    to so many of them after the end, and only then is the answer looked at."""
    infinity: float | Literal["instance"] = "instance"
    """What the network sees for ∞: each graph's own stand-in, or a fixed number."""
    hidden: int | None = None
    """Width of the hidden state; by default 32, or 16 for NE++ with several algorithms."""
    batch_size: int = 64
    """Graphs per step."""
    learning_rate: float = 5e-4
    """Adam's learning rate."""
    clip_norm: float = 8.0
    """Norm to which gradients are clipped."""
    patience: int = 10
    """Epochs without a better validation loss after which training stops."""
    tolerance: float = 5e-6
    """By how much a validation loss must be lower to count as better."""
    max_epochs: int = 500
    """Epochs after which training stops in any case."""
    precision: Literal["float32", "tensorfloat32"] = "float32"
    """Precision of matrix products in training (evaluation always uses float32)."""

    def __post_init__(self):
        check_fields(self)
        for field, most in LARGEST.items():
            value = getattr(self, field)
            if value is not None and not 1 <= value <= most:
                raise ValueError(f"{field}={value}; expected at least 1 and at most {most:,}")
        if not 0 <= self.linger <= LONGEST:
            raise ValueError(f"linger={self.linger}; expected at least 0 and at most {LONGEST:,}")
        for field in ("learning_rate", "clip_norm"):
            if not is_positive(value := getattr(self, field)):
                raise ValueError(f"{field}={shown(value)}; expected a number above 0, {FLOAT32}")
        if not abs(self.tolerance) <= LARGEST_FLOAT:
            raise ValueError(f"tolerance={shown(self.tolerance)}; expected a number {FLOAT32}")
        check_name("transfer method", self.method, METHODS)
        if METHODS[self.method].needs_base == (not self.base):
            raise ValueError(
                f"method {self.method!r:.80} with base {list(self.base)}: every method but 'none' "
                "needs a base algorithm (--base prim), and 'none' takes none"
            )
        if not isinstance(self.infinity, str) and not is_positive(self.infinity):
            raise ValueError(
                f"infinity={shown(self.infinity)}; expected 'instance' or a number above 0, "
                f"{FLOAT32}"
            )

    @property
    def width(self) -> int:
        """Width of the hidden state."""
        several = len(self.base) > 1 or METHODS[self.method].joint
        return self.hidden or (SEVERAL.get(self.model, 32) if several else 32)

    @property
    def tasks(self) -> tuple[tuple[str, str], ...]:
        """(algorithm, supervision) of everything trained in this run; the target is the last."""
        joint = [(name, "tf") for name in self.base] if METHODS[self.method].joint else []
        return (*joint, (self.target, self.supervision))

    @property
    def name(self) -> str:
        """A short name for folders and tables."""
        parts = [self.model, *self.base, self.target, self.supervision]
        if self.method != ALONE:
            parts.append(self.method)
        if self.select != "best":
            parts.append(self.select)
        if self.linger:
            parts.append(f"linger{self.linger}")
        return "-".join(parts)

    def pretraining(self) -> Experiment | None:
        """The experiment whose processor this one starts from, if there is one."""
        if not METHODS[self.method].pretrained:
            return None
        *others, last = self.base
        base = dataclasses.replace(
            self,
            target=last,
            supervision="tf",
            base=tuple(others),
            method=TOGETHER if others else ALONE,
            trajectories=Experiment.trajectories,  # teacher forcing samples none: one base for all
            select=Experiment.select,
            linger=Experiment.linger,
        )
        return base if base.width == self.width else dataclasses.replace(base, hidden=self.width)

    def to_json(self) -> dict:
        """All fields, as JSON knows them."""
        fields = {**dataclasses.asdict(self), "base": list(self.base)}
        if not self.linger:  # younger than the first runs, whose names must stay
            del fields["linger"]
        return fields

    @classmethod
    def from_json(cls, fields: Any) -> Experiment:
        """The inverse of `to_json`; believes nothing."""
        known = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(fields, dict) or not fields.keys() <= known or "base" not in fields:
            raise ValueError(f"{fields!r:.80} is no experiment of this version")
        names = [fields.get(name, "") for name in ("model", "target", "supervision", "method")]
        try:
            if all(isinstance(name, str) for name in [*names, *fields["base"]]):
                return cls(**{**fields, "base": tuple(fields["base"])})
        except TypeError as error:
            raise ValueError(f"an experiment cannot have these fields: {error}") from error
        raise ValueError(f"an experiment's names must be text, got {names} {fields['base']}")


def check_seeds(count: int) -> int:
    """A number of seeds that can be trained together."""
    if not 1 <= count <= MOST_SEEDS:
        raise ValueError(f"{count} seeds; expected at least 1 and at most {MOST_SEEDS}")
    return count


def fingerprint(content: dict) -> str:
    """A short hash of plain data: equal content gives equal names, on any machine."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def first_difference(theirs: Any, ours: Any, path: str = "") -> str:
    """Names the first place where two JSON documents differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                return first_difference(theirs.get(key), ours.get(key), f"{path}.{key}".strip("."))
    return f"{path} is {shown(theirs)} there and {shown(ours)} here"
