"""Compare the smoke grid in threads and on a Ray cluster of two one-core nodes on this machine.

    python benchmarks/ray_overhead.py --out results/ray.json
    python benchmarks/ray_overhead.py --kill --out results/ray-killed.json

Checks that weights and evaluations are identical, and measures both times. With `--kill` one node
is killed after a third of the training steps; results finished before must not change.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

QUICK_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
os.environ.setdefault("XLA_FLAGS", QUICK_TO_COMPILE)
# Neither uses programs that the other has compiled.
os.environ["ALGOTRANSFER_COMPILATION_CACHE"] = "0"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from algotransfer.reproduce.runner import View, run_steps  # noqa: E402

JOBS = 2


class NodeKiller(View):
    """View that kills one node after a third of the training steps."""

    def __init__(self, nodes, folder: Path, trainings: int):
        self.nodes, self.folder, self.left = nodes, folder, trainings // 3
        self.finished: dict[Path, os.stat_result] = {}

    def finish(self, result) -> None:
        self.left -= result.step.name.startswith("train")
        if self.left <= 0 and not self.finished:
            paths = (*self.folder.rglob("weights.npz"), *self.folder.rglob("evaluation.csv"))
            self.finished = {path: path.stat() for path in paths}
            self.nodes.remove_node(next(iter(self.nodes.worker_nodes)), allow_graceful=False)

    def check(self) -> int:
        """Return the number of results before the kill, after checking that none has changed."""
        changed = [path for path, before in self.finished.items() if path.stat() != before]
        assert self.finished, "no node was killed"
        assert not changed, changed
        return len(self.finished)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--table", nargs="*", default=[], help="tables of the paper; by default all"
    )
    parser.add_argument("--kill", action="store_true", help="kill a node during the run")
    parser.add_argument("--out", type=Path, help="file for the numbers (.json)")
    options = parser.parse_args()
    import ray
    from ray.cluster_utils import Cluster

    from algotransfer.array_files import load_arrays
    from algotransfer.reproduce.executors import RayExecutor, ThreadExecutor
    from algotransfer.reproduce.grid import TABLES, experiments
    from algotransfer.reproduce.plan import plan
    from algotransfer.reproduce.steps import TrainStep, step_graph
    from algotransfer.training.runs import environment, write_json

    steps = list(step_graph(plan(experiments(tuple(options.table) or TABLES), 2, "smoke")))
    content = {"steps": len(steps), "identical": True, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as place:
        here, away = Path(place, "here"), Path(place, "away")
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        for _ in range(JOBS):
            nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()
        trainings = sum(isinstance(step, TrainStep) for step in steps)
        killer = NodeKiller(nodes, away, trainings) if options.kill else None
        began = time.monotonic()
        with RayExecutor("cpu", JOBS, nodes.address) as executor:
            results = run_steps(steps, away, executor=executor, view=killer)
        ray_seconds, ray_load = time.monotonic() - began, os.getloadavg()[0]
        if killer is not None:
            content["finished_before_the_kill"] = killer.check()
        ray.shutdown()
        nodes.shutdown()
        assert {result.state for result in results} == {"done"}, results
        began = time.monotonic()
        with ThreadExecutor("cpu", JOBS) as executor:
            results = run_steps(steps, here, executor=executor)
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
