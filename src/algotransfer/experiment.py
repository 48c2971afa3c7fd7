"""`Experiment`: the settings of a training run, except seeds and data. Importable without jax."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.errors import UserError, shown
from algotransfer.limits import FLOAT32_RANGE, MAX_FLOAT, MAX_SETTINGS, is_positive
from algotransfer.methods import ALONE, METHODS, TOGETHER
from algotransfer.networks.registry import MODELS, PROCESSORS
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.type_checks import check_fields

MAX_EXTRA_STEPS = 1000
MAX_SEEDS = 1000  # trained together
# Settings that the name of an experiment shows.
IN_NAME = "model", "processor", "target", "supervision", "method", "base", "select", "extra_steps"
WIDTH, WIDTH_OF_SEVERAL = 32, {"ne++": 16}  # NE++ is narrower when it learns several algorithms


@dataclass(frozen=True)
class Experiment:
    """One training: a network, a target algorithm, its supervision and the transfer method."""

    model: str = "ne"
    """Network: the Neural Executor (ne), NE++, relax, or a registered one."""
    processor: str = "max_mpnn"
    """Processor of NE and NE++: max_mpnn (the paper's), or a registered one."""
    target: str = "dijkstra"
    """Algorithm to learn (`algotransfer list` shows all)."""
    supervision: str = "na"
    """tf: teacher forcing, which shows every step; na: no algorithm, inputs and outputs alone."""
    method: str = ALONE
    """Transfer method from the base algorithms to the target."""
    base: tuple[str, ...] = ()
    """Base algorithms, trained with teacher forcing; required by every method but none."""
    trajectories: int = 10
    """Trajectories sampled per graph when a sequential target is trained without its steps."""
    select: Literal["best", "mean"] = "best"
    """Back-propagate through the best trajectory of a graph, or the mean over all of them."""
    extra_steps: int = 0
    """Train (na) with up to this many steps after the end of the algorithm, drawn per graph, so
    that the answer stays right; 0 stops at the end."""
    infinity: float | Literal["instance"] = "instance"
    """Number that stands for ∞ in the network's input: chosen per graph (instance), or fixed."""
    hidden: int | None = None
    """Width of the hidden state; by default 32, or 16 for NE++ with several algorithms."""
    batch_size: int = 64
    """Graphs per gradient step."""
    learning_rate: float = 5e-4
    """Learning rate of Adam."""
    clip_norm: float = 8.0
    """Largest norm of a gradient; longer ones are scaled down."""
    patience: int = 10
    """Epochs without a better validation loss after which training stops."""
    tolerance: float = 5e-6
    """Decrease of the validation loss that counts as better."""
    max_epochs: int = 500
    """Largest number of epochs."""
    precision: Literal["float32", "tensorfloat32"] = "float32"
    """Precision of matrix products in training (evaluation always uses float32)."""

    def __post_init__(self):
        check_fields(self)
        MODELS.check(self.model)
        PROCESSORS.check(self.processor)
        ALGORITHMS.check(self.target, *self.base)
        SUPERVISIONS.check(self.supervision)
        METHODS.check(self.method)
        for field, most in MAX_SETTINGS.items():
            value = getattr(self, field)
            if value is not None and not 1 <= value <= most:
                raise UserError(f"{field}={value}; expected at least 1 and at most {most:,}")
        if not 0 <= self.extra_steps <= MAX_EXTRA_STEPS:
            raise UserError(f"extra_steps={self.extra_steps}; expected 0 to {MAX_EXTRA_STEPS:,}")
        if self.extra_steps and self.supervision == "tf":
            raise UserError(
                f"extra_steps={self.extra_steps} with supervision 'tf': teacher forcing shows "
                "every step and ends with the algorithm; use 'na', or leave extra_steps out"
            )
        for field in ("learning_rate", "clip_norm"):
            if not is_positive(value := getattr(self, field)):
                raise UserError(
                    f"{field}={shown(value)}; expected a number above 0, {FLOAT32_RANGE}"
                )
        if not abs(self.tolerance) <= MAX_FLOAT:
            raise UserError(f"tolerance={shown(self.tolerance)}; expected a number {FLOAT32_RANGE}")
        if METHODS[self.method].needs_base == (not self.base):
            raise UserError(
                f"method {self.method!r} with base {list(self.base)}: every method but 'none' "
                "needs a base algorithm (--base prim), and 'none' takes none"
            )
        if len(set(self.base)) < len(self.base):
            raise UserError(f"base {list(self.base)}; name each base algorithm once")
        if not isinstance(self.infinity, str) and not is_positive(self.infinity):
            raise UserError(
                f"infinity={shown(self.infinity)}; expected 'instance' or a number above 0, "
                f"{FLOAT32_RANGE}"
            )

    @property
    def width(self) -> int:
        """Width of the hidden state."""
        several = len(self.base) > 1 or METHODS[self.method].joint
        return self.hidden or (WIDTH_OF_SEVERAL.get(self.model, WIDTH) if several else WIDTH)

    @property
    def tasks(self) -> tuple[tuple[str, str], ...]:
        """(algorithm, supervision) of each trained task; the target is the last."""
        joint = [(name, "tf") for name in self.base] if METHODS[self.method].joint else []
        return (*joint, (self.target, self.supervision))

    @property
    def name(self) -> str:
        """Short name for folders and tables."""
        parts = [self.model, *self.base, self.target, self.supervision]
        if self.processor != Experiment.processor:
            parts.insert(1, self.processor)
        if self.method != ALONE:
            parts.append(self.method)
        if self.select != "best":
            parts.append(self.select)
        if self.extra_steps:
            parts.append(f"extra{self.extra_steps}")
        return "-".join(parts)

    @property
    def short_name(self) -> str:
        """Name of trained models: without `na`, and with a constant for ∞ (`inf100`)."""
        name = self.name.replace(f"{self.target}-na", self.target)
        return name if self.infinity == "instance" else f"{name}-inf{self.infinity:g}"

    def changed_settings(self, but: Collection[str] = IN_NAME) -> list[str]:
        """Return the settings that differ from their defaults, such as `hidden=8`.

        **Arguments:**

        - `but`: settings to leave out; by default those that `name` shows.
        """
        return [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if field.name not in but and getattr(self, field.name) != field.default
        ]

    def pretraining(self) -> Experiment | None:
        """Return the experiment whose trained processor this one starts from, or None."""
        if not METHODS[self.method].pretrained:
            return None
        *others, last = self.base
        base = dataclasses.replace(
            self,
            target=last,
            supervision="tf",
            base=tuple(others),
            method=TOGETHER if others else ALONE,
            trajectories=Experiment.trajectories,  # unused by teacher forcing; one base for all
            select=Experiment.select,
            extra_steps=Experiment.extra_steps,
        )
        return base if base.width == self.width else dataclasses.replace(base, hidden=self.width)

    def to_json(self) -> dict:
        """Return all fields as JSON values."""
        fields = {**dataclasses.asdict(self), "base": list(self.base)}
        if not self.extra_steps:  # added later; keeps the hashes of older runs
            del fields["extra_steps"]
        if self.processor == Experiment.processor:
            del fields["processor"]
        return fields

    @classmethod
    def from_json(cls, fields: Any) -> Experiment:
        """Inverse of `to_json`; validates its input."""
        known = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(fields, dict) or not fields.keys() <= known:
            raise UserError(f"{fields!r:.80} is not an experiment of this version")
        if not isinstance(base := fields.get("base"), list):
            raise UserError(f"base is {base!r:.80}; expected a list of algorithms")
        return cls(**{**fields, "base": tuple(base)})


def differing_settings(experiments: Sequence[Experiment]) -> list[str]:
    """Return the settings of each experiment in which those of the same name differ."""
    texts = []
    for experiment in experiments:
        alike = [vars(each) for each in experiments if each.short_name == experiment.short_name]
        differing = [
            f"{name}={value}"
            for name, value in vars(experiment).items()
            if any(other[name] != value for other in alike)
        ]
        texts.append(", ".join(differing))
    return texts


def check_seeds(count: int) -> int:
    """Return `count` if that many seeds can be trained together."""
    if not 1 <= count <= MAX_SEEDS:
        raise UserError(f"seeds={count}; expected at least 1 and at most {MAX_SEEDS}")
    return count


def fingerprint(content: dict) -> str:
    """Return a short hash of JSON data, the same on every machine."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def first_difference(theirs: Any, ours: Any, path: str = "") -> str:
    """Describe the first place where two JSON documents differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                return first_difference(theirs.get(key), ours.get(key), f"{path}.{key}".strip("."))
    return f"{path} is {shown(theirs)} there and {shown(ours)} here"
