"""Compare the training throughput with dm-clrs' MPNN: Dijkstra, 20 nodes, batch 64, hidden 32.

    python benchmarks/train_peer.py

dm-clrs is measured twice: with its default, which feeds predicted hints back, and with true hints
as input, which is the paper's teacher forcing. Batches are sampled in advance and compilation is
excluded. A turn lasts some seconds; ours is an epoch with the validation of one graph at its end.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from peers.environments import Peer
from side_by_side import RESULTS, Contestant, graphs_per_second, show, timed, write


@dataclass(frozen=True)
class TrainingSetting:
    """Sizes that are the same for all contestants, and training steps per turn."""

    num_nodes: int = 20
    batch_size: int = 64
    hidden: int = 32
    steps: int = 32
    steps_of_peer: int = 4


@contextlib.contextmanager
def clrs_mpnn(hint_teacher_forcing: float, setting: TrainingSetting) -> Iterator[Contestant]:
    """Yield dm-clrs' MPNN, in its virtual environment."""
    sizes = {
        "--num-nodes": setting.num_nodes,
        "--batch-size": setting.batch_size,
        "--hidden": setting.hidden,
    }
    arguments = [str(word) for pair in sizes.items() for word in pair]
    with Peer("clrs", "clrs_train.py", *arguments) as peer:
        question = {"hint_teacher_forcing": hint_teacher_forcing, "steps": setting.steps_of_peer}
        peer.ask(**question)  # samples and compiles
        yield Contestant(
            graphs=setting.steps_of_peer * setting.batch_size,
            seconds=lambda repeat: peer.ask(**question)["seconds"],
        )


@contextlib.contextmanager
def ours(model: str, setting: TrainingSetting) -> Iterator[Contestant]:
    """Yield one of our networks with teacher forcing, one seed."""
    from algotransfer.bench.training_speed import prepare_epoch
    from algotransfer.datasets import make_dataset
    from algotransfer.experiment import Experiment

    experiment = Experiment(
        model=model,  # type: ignore[arg-type]
        supervision="tf",
        hidden=setting.hidden,
        batch_size=setting.batch_size,
    )
    graphs = setting.steps * setting.batch_size
    training = make_dataset("er", graphs, setting.num_nodes)
    validation = make_dataset("er", 1, setting.num_nodes, split="validation")
    epoch, _ = prepare_epoch(experiment, 1, training, validation)
    epoch()
    yield Contestant(graphs=graphs, seconds=lambda repeat: timed(epoch))


# Context managers that take the setting and yield a compiled contestant.
CONTESTANTS: dict[str, Callable[[TrainingSetting], AbstractContextManager[Contestant]]] = {
    "NE": partial(ours, "ne"),
    "NE++": partial(ours, "ne++"),
    "dm-clrs, own hints": partial(clrs_mpnn, 0.0),
    "dm-clrs, true hints": partial(clrs_mpnn, 1.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repeats", type=int, default=7, help="repeats, of which the median is reported"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "train_peer.json")
    arguments = parser.parse_args()
    contestants, missing = {}, []
    with contextlib.ExitStack() as stack:
        for name, make in CONTESTANTS.items():
            try:
                contestants[name] = stack.enter_context(make(TrainingSetting()))
            except FileNotFoundError as environment:
                missing.append(f"Without {name}: {environment}")
        if not contestants:
            parser.error("; ".join(missing))
        rates = graphs_per_second(contestants, arguments.repeats)
    rows = [
        {"algorithm": "dijkstra", "nodes": TrainingSetting().num_nodes, "graphs_per_second": rates}
    ]
    first = next(iter(contestants))
    show("Training throughput on the CPU", rows, first, note="\n".join(missing))
    write(arguments.out, rows, packages=("jax",))


if __name__ == "__main__":
    main()
