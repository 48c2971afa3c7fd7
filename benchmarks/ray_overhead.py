"""The smoke grid here and on a Ray cluster of two machines of one core each, both on this one.

    python benchmarks/ray_overhead.py --out results/ray.json
    python benchmarks/ray_overhead.py --kill --out results/ray-killed.json

Checks that both leave the same weights and evaluations, and takes the time of each. With `--kill`
one of the machines is killed in the middle: what was finished by then must not be touched again.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

QUICK_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
os.environ.setdefault("XLA_FLAGS", QUICK_TO_COMPILE)
os.environ["ALGOTRANSFER_COMPILATION_CACHE"] = "0"  # neither may profit from the other
os.environ.setdefault("JAX_PLATFORMS", "cpu")
JOBS = 2


class Killer:
    """A view that ends one of the machines once a third of the trainings have finished."""

    def __init__(self, machines, folder: Path, trainings: int):
        self.machines, self.folder, self.left = machines, folder, trainings // 3
        self.finished: dict[Path, os.stat_result] = {}

    def start(self, step) -> None:
        pass

    def tell(self, step, done, words) -> None:
        pass

    def finish(self, result) -> None:
        self.left -= result.step.name.startswith("train")
        if self.left <= 0 and not self.finished:
            paths = (*self.folder.rglob("weights.npz"), *self.folder.rglob("evaluation.csv"))
            self.finished = {path: path.stat() for path in paths}
            dead = next(iter(self.machines.worker_nodes))
            self.machines.remove_node(dead, allow_graceful=False)

    def check(self) -> int:
        """How many results were there before, none of which may have changed since."""
        again = [path for path, before in self.finished.items() if path.stat() != before]
        assert self.finished, "no machine was killed"
        assert not again, again
        return len(self.finished)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", nargs="*", default=[], help="of the paper; by default all")
    parser.add_argument("--kill", action="store_true", help="a machine in the middle")
    parser.add_argument("--out", type=Path, help="file for the numbers (.json)")
    options = parser.parse_args()
    import ray
    from ray.cluster_utils import Cluster as Machines

    from algotransfer.array_files import load_arrays
    from algotransfer.reproduce.executors.ray import Cluster
    from algotransfer.reproduce.grid import TABLES, experiments
    from algotransfer.reproduce.plan import plan
    from algotransfer.reproduce.runner import run_steps
    from algotransfer.reproduce.steps import TrainStep, graph
    from algotransfer.training.runs import environment, write_json

    steps = list(graph(plan(experiments(tuple(options.table) or TABLES), 2, "smoke")))
    content = {"steps": len(steps), "identical": True, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as place:
        here, away = Path(place, "here"), Path(place, "away")
        machines = Machines(initialize_head=True, head_node_args={"num_cpus": 0})
        for _ in range(JOBS):
            machines.add_node(num_cpus=1)
        machines.wait_for_nodes()
        trainings = sum(isinstance(step, TrainStep) for step in steps)
        killer = Killer(machines, away, trainings) if options.kill else None
        began = time.monotonic()
        cluster = Cluster(machines.address, "cpu")
        results = run_steps(steps, away, jobs=JOBS, executor=cluster.run, view=killer)
        ray_seconds, ray_load = time.monotonic() - began, os.getloadavg()[0]
        if killer is not None:
            content["finished_before_the_kill"] = killer.check()
        ray.shutdown()
        machines.shutdown()
        assert {result.state for result in results} == {"done"}, results
        began = time.monotonic()
        results = run_steps(steps, here, jobs=JOBS)
        local_seconds, local_load = time.monotonic() - began, os.getloadavg()[0]
        assert {result.state for result in results} == {"done"}, results
        weights = sorted(here.rglob("weights.npz"))
        for path in weights:
            other = away / path.relative_to(here)
            assert load_arrays(path)[1]["sha256"] == load_arrays(other)[1]["sha256"], path
            ours, theirs = path.parent / "evaluation.csv", other.parent / "evaluation.csv"
            assert not ours.exists() or ours.read_bytes() == theirs.read_bytes(), path
    content |= {
        "runs": len(weights),
        "seconds": {"local": round(local_seconds, 1), "ray": round(ray_seconds, 1)},
        "load_average": {"local": round(local_load, 1), "ray": round(ray_load, 1)},
    }
    print(content)
    if options.out:
        write_json(options.out, {**content, **environment()})


if __name__ == "__main__":
    main()
