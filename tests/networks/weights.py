"""Weights on their way between the package's networks and the plain ones."""

import jax.numpy as jnp
import numpy as np
from networks.plain import PLAIN

from algotransfer.algorithms import ALGORITHMS
from algotransfer.networks import MODELS, MaxMPNN
from algotransfer.networks.heads import Heads, Termination
from algotransfer.networks.ne_plus_plus import EdgeEncoder, EncoderAndHeads


def kinds_of(model: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Edge features as a plain network wants them: of each algorithm for NE++, all for NE."""
    each = tuple("one" if name == "bfs" else "weight" for name in names)
    return tuple(dict.fromkeys(each)) if model == "ne" else each


def draw_weights(
    rng: np.random.Generator, model: str, names: tuple[str, ...], hidden: int, processors: int = 1
) -> dict:
    """Random weights for a plain network, in steps of 1/64: exact in float32."""

    def matrix(rows, columns):
        return rng.integers(-48, 49, (rows, columns)) / 64

    def processor():
        return {"message": matrix(3 * hidden, hidden), "update": matrix(2 * hidden, hidden)}

    def termination():
        return {**processor(), "linear": matrix(hidden, 1)}

    def heads(inputs, name):
        outputs = 2 if ALGORITHMS[name].sequential else 1
        return {
            "decoder": matrix(inputs + hidden, outputs),
            "predecessor": matrix(2 * hidden, 1),
        }

    widths = [2 if ALGORITHMS[name].sequential else 1 for name in names]
    shared = {"processors": [processor() for _ in range(processors)]}
    if model == "ne":
        return shared | {
            "encoder": matrix(sum(widths) + hidden, hidden),
            "edge": matrix(len(kinds_of(model, names)), hidden),
            "heads": [heads(hidden, name) for name in names],
            "termination": termination(),
        }
    return shared | {
        "specialists": [
            {
                "edge": matrix(1, hidden),
                "linear": matrix(2 * (width + hidden) + hidden, 3 * hidden),
                "first": matrix(2 * (width + hidden) + hidden, 3 * hidden),
                "second": matrix(3 * hidden, 3 * hidden),
                "heads": heads(width + hidden, name),
                "termination": termination(),
            }
            for name, width in zip(names, widths, strict=True)
        ]
    }


def plain_network(model: str, names: tuple[str, ...], weights: dict):
    """The plain network with these weights."""
    return PLAIN[model](weights, kinds_of(model, names))


def to_network(model: str, names: tuple[str, ...], weights: dict):
    """The package's network with these weights."""
    algorithms = tuple(ALGORITHMS[name] for name in names)
    kinds = tuple(dict.fromkeys(kinds_of(model, names)))

    def array(values):
        return jnp.asarray(np.asarray(values), jnp.float32)

    def processor(w):
        return MaxMPNN(array(w["message"]), array(w["update"]))

    def termination(w):
        return Termination(processor(w), array(w["linear"]))

    def heads(w):
        return Heads(array(w["decoder"]), array(w["predecessor"]))

    shared = {
        "processors": tuple(map(processor, weights["processors"])),
        "algorithms": algorithms,
        "kinds": kinds,
    }
    if model == "ne":
        return MODELS[model](
            encoder=array(weights["encoder"]),
            edge=array(weights["edge"]),
            heads=tuple(map(heads, weights["heads"])),
            termination=termination(weights["termination"]),
            **shared,
        )
    return MODELS[model](
        specialists=tuple(
            EncoderAndHeads(
                edge=array(own["edge"]),
                encoder=EdgeEncoder(*(array(own[k]) for k in ("linear", "first", "second"))),
                heads=heads(own["heads"]),
                termination=termination(own["termination"]),
            )
            for own in weights["specialists"]
        ),
        **shared,
    )
