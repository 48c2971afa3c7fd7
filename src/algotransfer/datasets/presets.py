"""Dataset presets: number and size of the graphs in each split, by name. Importable without jax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from algotransfer.errors import UserError, shown
from algotransfer.registry import Registry

if TYPE_CHECKING:
    from algotransfer.datasets.clrs30 import ClrsTask
    from algotransfer.datasets.dataset import Dataset

PAPER_FAMILIES = ("er", "ba", "grid")


@dataclass(frozen=True)
class Preset:
    """Graphs *of each family* in each split; training and validation share their sizes.

    With `min_nodes`, training and validation graphs have `min_nodes` to `num_nodes` nodes.
    """

    train: int
    validation: int
    test: int
    num_nodes: int = 20
    test_sizes: tuple[int, ...] = (20, 50, 100)
    family: tuple[str, ...] = PAPER_FAMILIES
    min_nodes: int | None = None
    has_tasks = False

    @property
    def test_counts(self) -> dict[int, int]:
        """Number of test graphs of each family, by number of nodes."""
        return dict.fromkeys(self.test_sizes, self.test)

    def default_task(self, algorithm: str) -> str | None:
        """Return the task that an algorithm is trained on; these graphs are for all of them."""
        return None

    def make_split(
        self, split: str, num_graphs: int, num_nodes: int, seed: int, task: str | None
    ) -> Dataset:
        """Make the dataset of one split."""
        from algotransfer.datasets.dataset import make_dataset

        if task is not None:
            names = ", ".join(name for name, preset in PRESETS.items() if preset.has_tasks)
            raise UserError(
                f"task {shown(task)} with a preset of random families; tasks are those of the "
                f"presets {names}"
            )
        min_nodes = None if split == "test" else self.min_nodes
        return make_dataset(
            self.family, num_graphs, num_nodes, seed, split=split, min_nodes=min_nodes
        )


@dataclass(frozen=True)
class ClrsPreset:
    """Splits of CLRS-30's tasks, or its training splits with other test graphs.

    **Arguments:**

    - `test_counts`: number of test graphs by number of nodes.
    - `wide`: draw test graphs from the same distribution with another seed than the official one.
    """

    test_counts: dict[int, int]
    wide: bool
    train: int = 1000
    validation: int = 32
    num_nodes: int = 16
    family: tuple[str, ...] = ("clrs30",)
    min_nodes: int | None = None
    has_tasks = True

    def default_task(self, algorithm: str) -> str | None:
        """Return the task that an algorithm is trained on, if there is one."""
        tasks = (task.name for task in CLRS_TASKS.values() if task.algorithms[0] == algorithm)
        return next(tasks, None)

    def make_split(
        self, split: str, num_graphs: int, num_nodes: int, seed: int, task: str | None
    ) -> Dataset:
        """Make the dataset of one split."""
        from algotransfer.datasets.clrs30 import make_clrs_dataset

        if task is None:
            raise UserError(
                "a preset of CLRS-30 has other graphs for every task; choose one of "
                f"{', '.join(CLRS_TASKS)}, such as task='bfs' or --task bfs"
            )
        if seed != 0:
            raise UserError(f"seed {seed}; the splits of CLRS-30 have fixed seeds: leave it out")
        if split == "test" and self.wide:
            split = "wide"
        return make_clrs_dataset(CLRS_TASKS[task], split, num_graphs, num_nodes)


PAPER = Preset(train=5000, validation=500, test=500)
PRESETS: Registry[Preset | ClrsPreset] = Registry(
    "preset",
    {
        "paper": PAPER,
        "mixed": Preset(train=5000, validation=500, test=500, min_nodes=8),
        "small": Preset(train=200, validation=50, test=50),
        "clrs30": ClrsPreset(test_counts={64: 32}, wide=False),
        "clrs30_wide": ClrsPreset(test_counts={64: 1000, 256: 100, 1024: 20}, wide=True),
    },
)

_TASKS = (
    "bfs",
    "bellman_ford",
    "dijkstra",
    "mst_prim",
    "mst_kruskal",
    "dag_shortest_paths",
    "floyd_warshall",
)
CLRS_TASKS: Registry[ClrsTask] = Registry(
    "CLRS-30 task", {name: f"algotransfer.datasets.clrs30:{name}" for name in _TASKS}
)


def answered_task(algorithm: str, task: str | None) -> str:
    """Return the task of CLRS-30 to evaluate an algorithm on, by default the one it is trained on.

    Raise a `UserError` if the algorithm does not answer it.
    """
    task = task or PRESETS["clrs30"].default_task(algorithm)
    if task is None:
        trained = sorted({each.algorithms[0] for each in CLRS_TASKS.values()})
        raise UserError(
            f"CLRS-30 has no task for {algorithm}; choose a model of one of {', '.join(trained)}, "
            "or other graphs"
        )
    CLRS_TASKS[task].check_algorithm(algorithm)
    return task
