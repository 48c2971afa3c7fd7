"""Time training steps of dm-clrs' MPNN on Dijkstra. Runs inside `.venv-clrs`.

Reads questions on stdin, one JSON object a line: {"steps": 10, "hint_teacher_forcing": 1.0}.
CLRS's default is 0 (predicted hints are fed back, 'soft'); 1 feeds the true hints. Everything else
is as in CLRS's example training script, with the sizes of the comparison. Batches are sampled in
advance; compilation and the first steps are excluded.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import clrs
import jax

BATCHES = 8  # different batches, used in turn
WARM_UP = 3  # steps


class ClrsTraining:
    """A model and its batches."""

    def __init__(self, num_nodes: int, batch_size: int, hidden: int, hint_teacher_forcing: float):
        sampler, spec = clrs.build_sampler(
            "dijkstra", BATCHES * batch_size, length=num_nodes, seed=0
        )
        self._batches = [sampler.next(batch_size) for _ in range(BATCHES)]
        self._model = clrs.models.BaselineModel(
            spec=[spec],
            dummy_trajectory=[self._batches[0]],
            processor_factory=clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=8),
            hidden_dim=hidden,
            encode_hints=True,
            decode_hints=True,
            encoder_init="xavier_on_scalars",
            learning_rate=1e-3,
            grad_clip_max_norm=1.0,
            hint_teacher_forcing=hint_teacher_forcing,
        )
        self._model.init([self._batches[0].features], 0)
        self._rng = jax.random.PRNGKey(0)
        self.take(WARM_UP)

    def take(self, steps: int) -> dict:
        """Train for some steps. Returns the seconds and the last loss."""
        start = time.perf_counter()
        for step in range(steps):
            self._rng, rng = jax.random.split(self._rng)
            loss = self._model.feedback(rng, self._batches[step % BATCHES], 0)
        last = float(loss)  # waits for it
        return {"loss": last, "seconds": time.perf_counter() - start}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-nodes", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=32)
    sizes = vars(parser.parse_args())
    trainings: dict[float, ClrsTraining] = {}
    for line in sys.stdin:
        question = json.loads(line)
        forcing = question["hint_teacher_forcing"]
        if forcing not in trainings:
            trainings[forcing] = ClrsTraining(hint_teacher_forcing=forcing, **sizes)
        print(json.dumps(trainings[forcing].take(question["steps"])), flush=True)


if __name__ == "__main__":
    main()
