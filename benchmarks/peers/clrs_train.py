"""dm-clrs' MPNN in training on Dijkstra: seconds for a number of steps. Runs inside `.venv-clrs`.

Reads questions on stdin, one JSON object a line: {"steps": 10, "hint_teacher_forcing": 1.0}.
CLRS's own default is 0 (the network's own hints are fed back, 'soft'); 1 feeds the true ones.
Everything else is as in CLRS's example training script, with the sizes of the comparison. Batches
are sampled beforehand; compiling and the first steps are not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import clrs
import jax

BATCHES = 8  # as many different batches go round
WARM_UP = 3  # steps


class Training:
    """A model and its data, ready to take steps."""

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
        """Trains for some steps and returns how long they took and where the loss stands."""
        start = time.perf_counter()
        for step in range(steps):
            self._rng, rng = jax.random.split(self._rng)
            loss = self._model.feedback(rng, self._batches[step % BATCHES], 0)
        return {"loss": float(loss), "seconds": time.perf_counter() - start}  # waits for the loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-nodes", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=32)
    sizes = vars(parser.parse_args())
    trainings: dict[float, Training] = {}
    for line in sys.stdin:
        question = json.loads(line)
        forcing = question["hint_teacher_forcing"]
        if forcing not in trainings:
            trainings[forcing] = Training(hint_teacher_forcing=forcing, **sizes)
        print(json.dumps(trainings[forcing].take(question["steps"])), flush=True)


if __name__ == "__main__":
    main()
