"""`algotransfer train`: train all seeds of one experiment."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.cli.list_command import summarise_algorithm
from algotransfer.cli.options import (
    Device,
    Json,
    check_data,
    check_folder,
    choice,
    given_options,
    optional,
)
from algotransfer.datasets.presets import CLRS_TASKS, PRESETS
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment, check_seeds
from algotransfer.methods import METHODS
from algotransfer.networks.registry import MODELS, PROCESSORS
from algotransfer.supervisions import SUPERVISIONS


class ExperimentOptions(Experiment):
    """The fields of `Experiment` as options; adds only the choices that the help shows."""

    model: Annotated[str, choice(MODELS)]
    processor: Annotated[str, choice(PROCESSORS)]
    target: Annotated[str, choice(ALGORITHMS)]
    supervision: Annotated[str, choice(SUPERVISIONS)]
    method: Annotated[str, choice(METHODS)]
    base: Annotated[tuple[str, ...], choice(ALGORITHMS, "none")]
    hidden: Annotated[int | None, optional("INT", "32")]


@dataclass(frozen=True)
class TrainCommand:
    """Train a network to execute an algorithm, on several seeds at once.

    An interrupted run continues after its last checkpoint; a finished run is not trained again.
    """

    experiment: Annotated[ExperimentOptions, arg(name="")]
    """Settings of the experiment."""
    seeds: int = 5
    """Number of seeds (0, 1, …), trained together."""
    preset: Annotated[str | None, choice(PRESETS, "paper")] = None
    """Preset of the graphs to train on."""
    task: Annotated[str | None, choice(CLRS_TASKS, "the target's")] = None
    """Task of CLRS-30 whose graphs to train on, for its presets."""
    data: Annotated[Path | None, optional("FILE")] = None
    """Data file (.npz) of your own graphs to train on instead (`algotransfer data` writes one)."""
    validation_share: Annotated[float | None, optional("FLOAT", "0.1")] = None
    """Share of the graphs of --data that are used for validation."""
    data_seed: int = 0
    """Seed of the graphs of a preset, or of the division of --data."""
    folder: Path = Path("runs")
    """Folder of all runs; this run gets a folder in it."""
    device: Device = None
    """Where to train."""
    resume: bool = True
    """Continue an interrupted run, or train again from the beginning."""
    checkpoint_seconds: float = 120.0
    """Seconds between two checkpoints."""
    track: Annotated[Literal["trackio", "wandb"] | None, optional("{trackio,wandb}")] = None
    """Tracking service to send the losses to."""
    json: Json = False

    def run(self) -> None:
        """Train, and print the losses of every seed."""
        self._check()
        from algotransfer.cli.console import announce, next_step, output, print_json, wrote

        announce(
            f"training {self.experiment.name}, seeds: {self.seeds}, epochs: at most "
            f"{self.experiment.max_epochs}; the time left is known after data, compilation "
            "and the first epoch"
        )
        from algotransfer.cli.tables import seed_results, training_table
        from algotransfer.datasets import load_dataset
        from algotransfer.devices import peak_memory
        from algotransfer.training.curves import CURVES, write_curves
        from algotransfer.training.train import train

        epochs = []
        path, model = train(
            Experiment(**vars(self.experiment)),
            self.seeds,
            data=load_dataset(self.data) if self.data else self.preset or "paper",
            data_seed=self.data_seed,
            task=self.task,
            validation_share=self.validation_share,
            folder=self.folder,
            device=self.device,
            resume=self.resume,
            track=self.track,
            checkpoint_seconds=self.checkpoint_seconds,
            reporters=[lambda rows, graphs_per_second: epochs.append(rows)],
        )
        assert model is not None  # only a deadline pauses a run
        curves = path / CURVES
        if epochs or not curves.is_file():
            write_curves(path, model.experiment.short_name)
        if self.json:
            print_json({"run": path, "curves": curves, "seeds": seed_results(model)})
        output.print(training_table(model))
        if epochs:
            output.print(f"peak memory {peak_memory() / 2**30:.2f} GiB")
            wrote(path)
            wrote(curves)
        else:
            output.print(f"trained before, in {path}; --no-resume trains it again")
        next_step(f"algotransfer evaluate {path}{self._test_graphs()}")

    def _test_graphs(self) -> str:
        """Return the options of `evaluate` for test graphs that belong to the training graphs."""
        if self.data is not None:
            return " --data TEST.npz"
        options = {"preset": self.preset, "task": self.task}
        return "".join(f" --{name} {value}" for name, value in options.items() if value)

    def _check(self) -> None:
        """Check all options but --device, which needs jax, before anything is computed."""
        check_folder(self.folder)
        check_seeds(self.seeds)
        for option in ("data_seed", "checkpoint_seconds"):
            if not (value := getattr(self, option)) >= 0:
                raise UserError(f"--{option.replace('_', '-')} {value}; expected 0 or more")
        if self.preset is not None:
            PRESETS.check(self.preset)
            if self.data is not None:
                raise UserError("--preset and --data both say which graphs to train on; give one")
        sampling = given_options(self.experiment, ("trajectories", "select"))
        kind = self.experiment.supervision, _framework(self.experiment.target)
        if sampling and ("tf" in kind or "parallel" in kind):
            raise UserError(
                f"{sampling[0]} concerns trajectories, which are sampled for sequential algorithms "
                "without their steps (--supervision na); leave it out"
            )
        if self.task is not None and self.data is not None:
            raise UserError("--task belongs to presets of CLRS-30; leave it out with --data")
        if self.validation_share is not None and self.data is None:
            raise UserError(
                "--validation-share divides your own graphs; add --data FILE, or leave it out"
            )
        if self.data is not None and self.data.suffix != ".npz":
            check_data(self.data)
            from algotransfer.graphs.formats import FORMATS

            is_graph = self.data.suffix.lower() in FORMATS
            graph = self.data if is_graph else "FILE"
            source = "" if is_graph else f" from a graph file ({', '.join(FORMATS)})"
            raise UserError(
                f"--data {self.data}: expected a data file (.npz); make one with `algotransfer "
                f"data --algorithm {self.experiment.target} --graph {graph} --out own.npz`{source}"
            )


def _framework(algorithm: str) -> str:
    """Return the name of an algorithm's framework; imports jax for algorithms of the user only."""
    return ALGORITHMS.summary(algorithm, summarise_algorithm)[1]
