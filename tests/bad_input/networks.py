"""Networks, their methods and the functions around them: what to call, and what not to pass."""

import jax
import jax.numpy as jnp

from algotransfer import sample_graphs
from algotransfer.algorithms import ALGORITHMS
from algotransfer.networks import (
    MODELS,
    Driver,
    State,
    edge_kinds,
    make_layouts,
    num_features,
    rollout,
)


def of_networks(batch):
    """By name, a public function or method and arguments that it takes."""
    tasks = tuple(ALGORITHMS[name] for name in ("dijkstra", "bfs"))
    fresh = {"algorithms": tasks, "hidden": 3, "key": jax.random.key(0)}
    found = {
        "edge_kinds": (edge_kinds, {"algorithms": tasks}),
        "num_features": (num_features, {"algorithm": tasks[0]}),
        "make_layouts": (
            make_layouts,
            {"graphs": batch, "kinds": ("weight", "one"), "layout": "sparse"},
        ),
    }
    layout = jax.tree.map(lambda leaf: leaf[0], make_layouts(batch, ("weight", "one")))
    state = State(jnp.ones(batch.num_nodes), jnp.zeros(batch.num_nodes))
    driver = Driver(state, jnp.int32(2))
    for kind in MODELS.values():
        network, name = kind.create(**fresh), kind.__name__
        features, memory = (jnp.ones((5, 2)), jnp.ones((5, 1))), network.start(layout)
        latent = network.process(features, memory, layout)[1][0]
        read = {"task": 0, "latent": latent}
        found |= {
            f"{name}.create": (kind.create, fresh),
            f"{name}.start": (network.start, {"layout": layout}),
            f"{name}.process": (
                network.process,
                {"features": features, "memory": memory, "layout": layout},
            ),
            f"{name}.decode": (network.decode, read),
            f"{name}.scores": (network.scores, {**read, "layout": layout}),
            f"{name}.terminate": (network.terminate, {**read, "layout": layout}),
            f"{name}.priors": (network.priors, {"task": 0}),
            f"{name}.for_task": (network.for_task, {"task": 0}),
        }
        of_rollout = {"network": network, "layout": layout, "drivers": (driver, driver)}
        emit = lambda before, latents, after: None  # noqa: E731
        found[f"rollout of {name}"] = (
            rollout,
            {**of_rollout, "num_steps": 2, "emit": emit},
        )
    return found | {"State": (State, vars(state)), "Driver": (Driver, vars(driver))}


def strange_networks(calls):
    """Networks, layouts and states that fit, but not here."""
    arguments = calls["rollout of NE"][1]
    network, layout, driver = (arguments[name] for name in ("network", "layout", "drivers"))
    several = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), (network, layout, driver))
    larger = make_layouts(sample_graphs("grid", 1, 9), ("one",))
    latent = calls["NEPlusPlus.decode"][1]["latent"]
    state = driver[0].start
    return [
        *(network, layout, driver, driver[0], *several, larger, latent, state, several[2][0].start),
        jax.tree.map(lambda leaf: leaf[0], larger),
        *(driver * 2, driver[:1], jax.random.key(3), jax.random.split(jax.random.key(3))),
        *((ALGORITHMS["bfs"],), {"a": (1, 2)}, {"a": (calls["Experiment"][1], 2)}),
        *((jnp.ones((5, 1)),) * 2, (jnp.ones((5, 2)), jnp.ones((4, 1))), jnp.float32(jnp.nan)),
    ]
