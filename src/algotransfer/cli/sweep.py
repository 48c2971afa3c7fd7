"""`algotransfer sweep`: train and evaluate all combinations of settings."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from tyro.conf import Positional, arg

from algotransfer.cli.options import check_input, choice, optional
from algotransfer.cli.runner_options import RunnerOptions
from algotransfer.datasets.presets import PRESETS
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment


def _option(name: str, kind: Any) -> tuple[str, Any, Any]:
    """Return the field of a dataclass that takes several values of an experiment's field."""
    kind = {"base": str, "hidden": int}.get(name, kind)
    text = f"Values of {name} (see `algotransfer train --help`)."
    values = Annotated[tuple[kind, ...], arg(help=text, help_behavior_hint="")]  # type: ignore[valid-type]
    return name, values, ()


SweptFields = dataclasses.make_dataclass(
    "SweptFields",
    [_option(name, kind) for name, kind in get_type_hints(Experiment).items()],
    frozen=True,
)


@dataclass(frozen=True, kw_only=True)
class SweepCommand(RunnerOptions):
    """Train and evaluate an experiment for every combination of settings.

    Settings are options with several values (`--model ne ne++ --extra-steps 0 10`), or lines of a
    TOML file (`model = ["ne", "ne++"]`), which options override. Finished experiments are skipped
    and interrupted ones continued. With --data, experiments are trained only: evaluate each of them
    with `algotransfer evaluate RUN --data TEST.npz`, or compare them with `algotransfer compare`.
    """

    file: Positional[Annotated[Path | None, optional("FILE")]] = None
    """TOML file with a value or a list of values for each setting."""
    fields: Annotated[SweptFields, arg(name="")]  # type: ignore[valid-type]
    """Settings."""
    seeds: int = 5
    """Number of seeds of each experiment, trained together."""
    preset: Annotated[str | None, choice(PRESETS, "paper")] = None
    """Preset of the graphs to train and test on."""
    data: Annotated[Path | None, optional("FILE")] = None
    """Data file (.npz) of your own graphs to train on instead, a tenth of them for validation;
    nothing is evaluated then."""

    def run(self) -> None:
        """Run all experiments; print what is done, what is left, and how to compare them."""
        if self.preset is not None:
            PRESETS.check(self.preset)
            if self.data is not None:
                raise UserError("--preset and --data both say which graphs to train on; give one")
        check_input(self.file)
        self.check()
        from algotransfer.cli.console import next_step
        from algotransfer.experiment import check_seeds
        from algotransfer.reproduce.steps import EvaluateStep, TrainStep
        from algotransfer.reproduce.sweep import read_sweep, sweep

        values = {} if self.file is None else read_sweep(self.file)
        values |= {name: given for name, given in vars(self.fields).items() if given}
        if not values:
            raise UserError("nothing to sweep over; give a TOML file, or options as of `train`")
        seeds = tuple(range(check_seeds(self.seeds)))
        try:
            experiments = sweep(values)
        except UserError as error:
            if self.file is None:
                raise
            raise type(error)(f"{self.file}: {error}") from error
        graphs = self.data or self.preset or "paper"
        trainings = [TrainStep(experiment, seeds, graphs) for experiment in experiments]
        plan = trainings if self.data else [EvaluateStep(training) for training in trainings]
        if self.run_plan(plan, str(graphs), self.seeds):
            folders = " ".join(str(training.path(self.folder)) for training in trainings)
            test_graphs = " --data TEST.npz" if self.data else ""
            next_step(f"algotransfer compare {folders}{test_graphs}")
