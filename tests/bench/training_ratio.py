"""Cost of our training over that of a plain JAX training step, in one process.

    python tests/bench/training_ratio.py

Prints a JSON object: for every setting the ratio of processor times per graph, and those of the
operations and bytes that XLA counts in the compiled programs (the body of a loop once); and how far
apart both losses of NE are at the same weights. One core and processor time make the first ratio
depend little on other programs; the counts do not depend on them.
"""

import json
import os
import statistics
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from jax.stages import Compiled

from algotransfer.bench.training_speed import prepare_epoch
from algotransfer.compilation_cache import keep_compiled_programs
from algotransfer.datasets import make_dataset
from algotransfer.experiment import Experiment
from algotransfer.networks import make_layouts
from algotransfer.training.examples import make_examples, network_of, tasks_of
from algotransfer.training.objective import objective

BATCH = 16
ROUNDS = 9
# Network, supervision, and graphs of an epoch, so that every turn takes about as long.
SETTINGS = {"ne tf": ("ne", "tf", 256), "ne++ tf": ("ne++", "tf", 64), "ne na": ("ne", "na", 64)}


def plain_loss(network, edges, weights, truth):
    """Loss of NE on one graph with teacher forcing (Dijkstra), written as in the paper."""
    message, update = network.processors[0].message, network.processors[0].update
    visited, after = truth.visited[:-1], truth.visited[1:]
    x = jnp.stack([visited, jnp.where(visited, truth.key[:-1], truth.key[0])], axis=-1)
    num_nodes, hidden = len(edges), message.shape[1]
    edge = weights[..., None] * network.edge[0]  # [i, j, h]

    def messages(nodes, matrix):
        shape = (num_nodes, num_nodes, hidden)
        receiver, sender = (jnp.broadcast_to(nodes[at], shape) for at in (jnp.s_[:, None], None))
        values = jnp.concatenate([receiver, sender, edge], axis=-1) @ matrix
        return jnp.max(jnp.where(edges[..., None], values, -jnp.inf), axis=1)

    def step(h, x):
        z = jnp.concatenate([x, h], axis=-1) @ network.encoder
        m = messages(z, message)
        h = jnp.concatenate([z, m], axis=-1) @ update + z
        return h, (z, h)

    _, (z, h) = jax.lax.scan(step, jnp.zeros((num_nodes, hidden)), x)
    (heads,), end = network.heads, network.termination

    def stop(h):
        m = messages(h, end.processor.message)
        return jnp.mean(jnp.concatenate([h, m], axis=-1) @ end.processor.update, axis=0)

    y = jnp.concatenate([z, h], axis=-1) @ heads.decoder  # [t, n, 2]
    node = jnp.argmax(after & ~visited, axis=-1)
    steps, own = jnp.arange(len(node)), jnp.eye(num_nodes, dtype=bool)

    choice = jax.nn.log_softmax(jnp.where(visited, -1e30, y[..., 0]))
    gap = jnp.abs(y[..., 1] - truth.key[1:])[steps, node]
    score = (h @ heads.predecessor[:hidden])[:, None, :, 0] + edge @ heads.predecessor[hidden:, 0]
    reached = jnp.any(edges & visited[:, None], axis=-1) | (jnp.arange(num_nodes) == truth.source)
    allowed = edges & (reached[:, None] | own)
    pointer = jax.nn.log_softmax(jnp.where(allowed, score, -1e30))
    stops, last = (jax.vmap(stop)(h) @ end.linear)[:, 0], steps + 1 == truth.length
    losses = (
        -jnp.sum(truth.next_node * choice, axis=-1)
        + jnp.where(gap < 1e-3, gap**2 / 2e-3, gap - 5e-4)
        - pointer[steps, node, truth.pred[1:][steps, node]]
        + jax.nn.softplus(stops)
        - stops * last
    )
    return jnp.sum(jnp.where(steps < truth.length, losses, 0.0)) / truth.length


def batch_loss(network, layouts, truths):
    """Mean of `plain_loss` over a batch of graphs in the dense layout."""
    losses = jax.vmap(plain_loss, (None, 0, 0, 0))(
        network, layouts.edges, layouts.features[:, 0], truths
    )
    return jnp.mean(losses)


def prepare_plain_step(
    experiment: Experiment, layouts, truths
) -> tuple[Callable[[], None], Compiled]:
    """Compile one plain training step: loss, gradient, clipping and Adam."""
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    network = network_of(experiment, jax.random.key(0))
    state = optimiser.init(network)

    @jax.jit
    def step(network, state):
        gradient = jax.grad(batch_loss)(network, layouts, truths)
        updates, state = optimiser.update(gradient, state)
        return optax.apply_updates(network, updates), state

    program = step.lower(network, state).compile()

    def run() -> None:
        nonlocal network, state
        network, state = jax.block_until_ready(program(network, state))

    return run, program


def seconds_per_graph(run: Callable[[], None], graphs: int) -> float:
    """Return the processor time of a turn."""
    began = time.process_time()
    run()
    return (time.process_time() - began) / graphs


def counted(program: Compiled) -> dict[str, float]:
    """Return the operations and bytes of a compiled program, as XLA counts them."""
    analysis = program.cost_analysis()
    return {name: analysis[name] for name in ("flops", "bytes accessed")}


def use_one_core() -> None:
    """Compile as `train` does, for one core; call it before jax starts its threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    jax.config.update("jax_platforms", "cpu")
    # `make test` compiles in less time, to slower programs.
    jax.config.update("jax_disable_most_optimizations", False)
    os.environ.pop("XLA_FLAGS", None)
    keep_compiled_programs()


def main() -> None:
    use_one_core()
    validation = make_dataset("er", 1, split="validation")
    settings = {
        name: Experiment(model=model, supervision=supervision, batch_size=BATCH)
        for name, (model, supervision, _) in SETTINGS.items()
    }
    plain = settings["ne tf"]
    tasks = tasks_of(plain)
    batch = make_dataset("er", BATCH)
    examples = make_examples(tasks, batch, plain.infinity)
    layouts, (truths,) = make_layouts(batch.graphs, ("weight",), "dense"), examples.truths
    network = network_of(plain, jax.random.key(0))

    @jax.jit
    def losses_apart(network):
        ours, _ = objective(network, tasks, examples, None, plain.select)
        return jnp.mean(ours) / batch_loss(network, layouts, truths) - 1

    apart = float(losses_apart(network))

    reference, plain_program = prepare_plain_step(plain, layouts, truths)
    prepared = {
        name: prepare_epoch(settings[name], 1, make_dataset("er", graphs), validation)
        for name, (*_, graphs) in SETTINGS.items()
    }
    of_plain = counted(plain_program)
    counts = {
        name: {what: value / of_plain[what] for what, value in counted(program).items()}
        for name, (_, program) in prepared.items()
    }
    epochs = {name: epoch for name, (epoch, _) in prepared.items()}
    for run in (reference, *epochs.values()):
        run()
    ratios: dict[str, list[float]] = {name: [] for name in SETTINGS}
    before = seconds_per_graph(reference, BATCH)
    for _ in range(ROUNDS):
        for name, epoch in epochs.items():
            taken = seconds_per_graph(epoch, SETTINGS[name][2])
            after = seconds_per_graph(reference, BATCH)
            ratios[name].append(2 * taken / (before + after))
            before = after
    medians = {name: statistics.median(each) for name, each in ratios.items()}
    print(json.dumps({"losses_apart": apart, "ratios": medians, "counts": counts}))


if __name__ == "__main__":
    main()
