"""Train and score dm-clrs' own MPNN without hints on CLRS-30, as `studies/clrs30.md` says.

    python studies/clrs30_mpnn.py check    # compares losses with dm-clrs' training loop
    python studies/clrs30_mpnn.py train    # trains and scores, on a GPU
    python studies/clrs30_mpnn.py add      # adds the scores to results/clrs30.csv

`check` and `train` need dm-clrs, but no TensorFlow. Where jax and optax are installed:

    pip install --target .peer-clrs --no-deps dm-clrs==2.0.3 dm-haiku==0.0.17 chex==0.1.92 \
        jmp==0.0.4 attrs toolz tabulate absl-py typing_extensions

Network, loss, optimizer and score are dm-clrs'. The loop over steps is ours, a `lax.scan`.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import jax
import jax.numpy as jnp
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
HASHES = ROOT / "tests" / "datasets" / "clrs30_splits.json"
FOLDER = Path("runs/clrs30-mpnn")
TASKS = ("bellman_ford", "dijkstra", "mst_prim", "bfs", "dag_shortest_paths")


class Settings(NamedTuple):
    """Settings that tests make smaller; the defaults are those of dm-clrs' example script."""

    hidden: int = 128
    batch: int = 32
    steps: int = 10_000
    eval_every: int = 50
    seeds: int = 5


@functools.cache
def import_clrs() -> ModuleType:
    """Import dm-clrs; without TensorFlow, leave out its text tasks and its reader of archives."""
    sys.path.append(str(ROOT / ".peer-clrs"))
    if importlib.util.find_spec("tensorflow") is None:
        sys.modules["tensorflow"] = MagicMock(Tensor=type("Tensor", (), {}))
        sys.modules["clrs._src.dataset"] = MagicMock()
        sys.modules["clrs._src.clrs_text"] = MagicMock()
    import clrs

    return clrs


def official_split(task: str, split: str) -> Any:
    """Return an official split as dm-clrs' `Feedback`, after comparing it with our hashes."""
    clrs = import_clrs()
    feedback = clrs.build_sampler(task, **clrs.CLRS30[split])[0].next()
    probes = {p.name: p.data for p in (*feedback.features.inputs, *feedback.outputs)}
    for name, expected in json.loads(HASHES.read_text())[f"{task}/{split}"].items():
        found = hashlib.sha256(np.asarray(probes[name], "<f8").tobytes()).hexdigest()
        assert found == expected, f"{task}/{split}: {name} differs from {HASHES.name}"
    return feedback


def with_data(probe: Any, data: Any) -> Any:
    return type(probe)(probe.name, probe.location, probe.type_, data)


def blank_hints(feedback: Any) -> Any:
    """Keep the number of steps, which dm-clrs reads from the shape of a hint, and no hint."""
    first = feedback.features.hints[0]
    hint = with_data(first, np.zeros(first.data.shape[:2], np.float32))  # steps, graphs
    return feedback._replace(features=feedback.features._replace(hints=(hint,)))


def with_random_positions(key: Any, feedback: Any) -> Any:
    """Replace the input `pos` by sorted uniform numbers, as dm-clrs' `process_random_pos` does."""
    inputs = tuple(
        with_data(p, jnp.sort(jax.random.uniform(key, p.data.shape))) if p.name == "pos" else p
        for p in feedback.features.inputs
    )
    return feedback._replace(features=feedback.features._replace(inputs=inputs))


def draw_batch(key: Any, feedback: Any, size: int) -> Any:
    """Draw graphs with replacement, as dm-clrs' samplers do, and positions."""
    graph_key, position_key = jax.random.split(key)
    (inputs, hints, lengths), outputs = feedback
    index = jax.random.randint(graph_key, (size,), 0, len(lengths))
    inputs, lengths, outputs = jax.tree.map(lambda x: x[index], (inputs, lengths, outputs))
    hints = jax.tree.map(lambda x: x[:, index], hints)
    batch = type(feedback)(type(feedback.features)(inputs, hints, lengths), outputs)
    return with_random_positions(position_key, batch)


def make_model(task: str, feedback: Any, settings: Settings) -> Any:
    """Return dm-clrs' model with the defaults of its example script, but `mpnn` and no hints."""
    clrs = import_clrs()
    model = clrs.models.BaselineModel(
        spec=[clrs.SPECS[task]],
        dummy_trajectory=[feedback],
        processor_factory=clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=8),
        hidden_dim=settings.hidden,
        encode_hints=False,
        decode_hints=False,
        encoder_init="xavier_on_scalars",
        learning_rate=1e-3,
        grad_clip_max_norm=1.0,
    )
    model.opt_state_skeleton = model.opt.init(jnp.zeros(1))  # as `model.init` sets it
    return model


class Training:
    """Training of all seeds on one task.

    Its state is `(params, opt_state, best_params, best_score)`, with an axis of seeds first. The
    best weights are those with the best score on the validation graphs.
    """

    def __init__(self, task: str, settings: Settings, scored: str):
        self.task, self.settings = task, settings
        self.train, val, self.scored = (official_split(task, s) for s in ("train", "val", scored))
        self.model = make_model(task, self.train, settings)
        self.graphs, self.scored_features = jax.device_put(
            ((blank_hints(self.train), blank_hints(val)), blank_hints(self.scored).features)
        )
        self.keys = jax.vmap(jax.random.PRNGKey)(jnp.arange(settings.seeds))
        init = jax.jit(jax.vmap(self._init, in_axes=(0, None)))
        self.state = init(self.keys, self.graphs[0].features)
        block = jax.jit(jax.vmap(self._block, in_axes=(0, 0, None, None)), donate_argnums=0)
        self.block = block.lower(self.state, self.keys, 0, self.graphs).compile()
        answer = jax.jit(jax.vmap(self._answer, in_axes=(0, None)))
        self.answer = answer.lower(self.state[0], self.scored_features).compile()

    def _init(self, key: Any, features: Any) -> tuple:
        flags = {"algorithm_index": -1, "return_hints": False, "return_all_outputs": False}
        params = self.model.net_fn.init(key, [features], True, **flags)
        return params, self.model.opt.init(params), params, jnp.float32(-1)

    def _answer(self, params: Any, features: Any) -> dict[str, Any]:
        return self.model._predict(params, None, features, 0, False, False)[0]

    def _block(self, state: tuple, key: Any, block: int, graphs: tuple) -> tuple[tuple, Any]:
        """Train until the next evaluation. Returns the new state and the losses."""
        params, opt_state, *best = state
        train, val = graphs

        def step(carry: tuple, key: Any) -> tuple:
            batch_key, model_key = jax.random.split(key)
            batch = draw_batch(batch_key, train, self.settings.batch)
            loss, *carry = self.model._feedback(carry[0], model_key, batch, carry[1], 0)
            return tuple(carry), loss

        keys = jax.random.split(jax.random.fold_in(key, block), self.settings.eval_every + 1)
        (params, opt_state), losses = jax.lax.scan(step, (params, opt_state), keys[1:])
        val = with_random_positions(keys[0], val)
        (truth,) = val.outputs
        answer = self._answer(params, val.features)[truth.name]
        score = jnp.mean(answer.data == truth.data)  # dm-clrs' score of pointers
        best = jax.tree.map(
            lambda new, old: jnp.where(score > best[1], new, old), [params, score], best
        )
        return (params, opt_state, *best), losses

    def run(self) -> None:
        """Train to the end."""
        start, blocks = time.perf_counter(), self.settings.steps // self.settings.eval_every
        for block in range(blocks):
            self.state, losses = self.block(self.state, self.keys, block, self.graphs)
            if (block + 1) % max(1, blocks // 10) == 0:
                at = f"{self.task}, step {(block + 1) * self.settings.eval_every}"
                scores = f"loss {losses.mean():.4f}, best validation {self.state[3]}"
                print(f"{at}: {scores}, {time.perf_counter() - start:.1f} s", flush=True)

    def score(self) -> list[float]:
        """Score the best weights of every seed with dm-clrs' `evaluate`."""
        answers = jax.device_get(self.answer(self.state[2], self.scored_features))
        by_seed = [jax.tree.map(lambda x, s=s: x[s], answers) for s in range(self.settings.seeds)]
        evaluate = import_clrs().evaluate
        return [float(evaluate(self.scored.outputs, answer)["score"]) for answer in by_seed]

    def check(self) -> None:
        """Compare the losses of the first block with those of dm-clrs' `init` and `feedback`."""
        self.state, losses = self.block(self.state, self.keys, 0, self.graphs)
        for seed, ours in enumerate(jax.device_get(losses)):
            model = make_model(self.task, self.train, self.settings)
            model.init(draw_batch(self.keys[seed], self.train, 1).features, seed)
            theirs = []
            block_key = jax.random.fold_in(self.keys[seed], 0)
            for key in jax.random.split(block_key, self.settings.eval_every + 1)[1:]:
                batch_key, model_key = jax.random.split(key)
                batch = draw_batch(batch_key, self.train, self.settings.batch)  # with its hints
                theirs.append(float(model.feedback(model_key, batch, 0)))
            np.testing.assert_allclose(ours, theirs, rtol=1e-3)
            print(f"{self.task}, seed {seed}: losses {ours} agree with {np.float32(theirs)}")


def train(tasks: list[str], folder: Path) -> None:
    """Train, score once on the official test split, and write a file per task."""
    import_clrs()
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [task for task in tasks if not (folder / f"{task}.json").exists()]
    with ThreadPoolExecutor(max_workers=2) as pool:  # compiles the next task during a training
        for prepared in [pool.submit(Training, task, Settings(), "test") for task in tasks]:
            start, training = time.perf_counter(), prepared.result()
            training.run()
            record = {
                "task": training.task,
                "best_validation": [float(score) for score in training.state[3]],
                "test": training.score(),
                "settings": training.settings._asdict(),
                "device": jax.devices()[0].device_kind,
                "jax": jax.__version__,
                "seconds": time.perf_counter() - start,
            }
            (folder / f"{training.task}.json").write_text(json.dumps(record, indent=1) + "\n")
            print(json.dumps(record), flush=True)


def add(folder: Path) -> None:
    """Add the scores of a folder to `results/clrs30.csv`."""
    from clrs30 import add_scores

    at = {"test": "official", "num_nodes": 64, "num_graphs": 32, "metric": "micro_f1"}
    rows = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        names = {"target": record["task"], "task": record["task"]}
        scores = enumerate(record["test"])
        rows += [{**names, **at, "seed": seed, "value": score} for seed, score in scores]
    add_scores("clrs-mpnn", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("check", "train", "add"))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="default: all")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="files of scores, by task")
    arguments = parser.parse_args()
    if arguments.action == "add":
        add(arguments.folder)
    elif arguments.action == "train":
        train(arguments.tasks, arguments.folder)
    else:
        for task in arguments.tasks:
            Training(task, Settings(eval_every=3, seeds=2), scored="val").check()


if __name__ == "__main__":
    main()
