"""Sweeps: all experiments with the given values of some fields, also from a TOML file."""

import dataclasses
import itertools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from algotransfer.errors import UserError
from algotransfer.experiment import Experiment
from algotransfer.methods import METHODS
from algotransfer.registry import check_name

FIELDS = tuple(field.name for field in dataclasses.fields(Experiment))


def sweep(values: Mapping[str, Sequence[Any]]) -> list[Experiment]:
    """Return an experiment for every combination of values.

    A value of `base` is a name, or several joined by `+`. Methods that take no base ignore it.
    """
    for name, given in values.items():
        check_name("field of an experiment", name, FIELDS)
        if not given:
            raise UserError(f"{name} has no values; give one or more, or leave it out")
    experiments = []
    for combination in itertools.product(*values.values()):
        fields = dict(zip(values, combination, strict=True))
        base = fields.pop("base", "")
        if METHODS[fields.get("method", Experiment.method)].needs_base:
            fields["base"] = tuple(str(base).split("+")) if base else ()
        experiments.append(Experiment(**fields))
    return list(dict.fromkeys(experiments))


def read_sweep(path: Path) -> dict[str, list[Any]]:
    """Read a TOML file with one line per field: a value, or a list of values."""
    try:
        content = tomllib.loads(path.read_text())
    except (ValueError, RecursionError) as error:  # also text that is not UTF-8
        raise UserError(f"{path} is not a TOML file: {error!s:.200}") from error
    return {name: value if isinstance(value, list) else [value] for name, value in content.items()}
