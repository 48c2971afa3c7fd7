"""Controls of the study on learned steps: gradient descent on terms, and a perceptron."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from algotransfer.networks.relax import SIMPLICITY, SIMPLICITY_CAP, sparse_weight
from algotransfer.symbolic.answers import Answers, Equations, fixed_point_equations
from algotransfer.symbolic.expressions import Expression, evaluate, linear_combination

ROWS = 2_000
STEPS = 10_000
PERCEPTRON_STEPS = 3_000
LEARNING_RATE = 0.005
WIDTH = 32
PERCEPTRON_ROWS = 1_000
MARGIN = 1e-3


def fit_by_gradient(equations: list[Equations], terms: list[list[Expression]]) -> list[Expression]:
    """Return one step per seed: capped L1 and a dead zone, random coefficients at the start."""
    columns, scales, targets = [], [], []
    width = max(map(len, terms))
    for rows, library in zip(equations, terms, strict=True):
        order = np.random.default_rng(0).permutation(len(rows.own))[:ROWS]
        few = rows[order]
        with np.errstate(all="ignore"):
            values = [np.broadcast_to(evaluate(t, few.values()), len(order)) for t in library]
        values = np.stack([v if np.isfinite(v).all() else np.zeros_like(v) for v in values], 1)
        scale = np.sqrt(np.mean(values**2, axis=0))
        scale = np.where(scale > 0, scale, 1)
        padding = [(0, 0), (0, width - values.shape[1])]
        columns.append(np.pad(values / scale, padding))
        scales.append(scale)
        targets.append(few.own)
    features = jnp.asarray(np.stack(columns), jnp.float32)
    wanted = jnp.asarray(np.stack(targets), jnp.float32)
    keys = jax.random.split(jax.random.key(0), len(terms))
    start = jax.vmap(lambda key: jax.random.normal(key, (width,)))(keys)

    def loss(theta, features, wanted):
        error = features @ sparse_weight(theta) - wanted
        penalty = SIMPLICITY * jnp.sum(jnp.minimum(jnp.abs(theta), SIMPLICITY_CAP))
        return jnp.mean(optax.huber_loss(error, delta=0.001) / 0.001) + penalty

    theta = _descend(jax.vmap(loss), STEPS, start, features, wanted)
    steps = []
    for numbers, scale, library in zip(np.asarray(theta), scales, terms, strict=True):
        weights = np.asarray(sparse_weight(numbers[: len(scale)])) / scale
        steps.append(linear_combination([float(w) for w in weights], library))
    return steps


def fit_perceptrons(answers: list[Answers], smaller_is_better: bool) -> list:
    """Return one step per seed, a function of the neighbour's key and the weight."""
    sign = 1.0 if smaller_is_better else -1.0
    parts = [_rows(each) for each in answers]
    pairs = jnp.asarray(np.stack([p[0] for p in parts]), jnp.float32)
    own = jnp.asarray(np.stack([p[1] for p in parts]), jnp.float32)
    others = jnp.asarray(np.stack([p[2] for p in parts]), jnp.float32)
    theirs = jnp.asarray(np.stack([p[3] for p in parts]), jnp.float32)

    def create(key):
        shapes = ((2, WIDTH), (WIDTH, WIDTH), (WIDTH, 1))
        keys = jax.random.split(key, len(shapes))
        return [
            (jax.random.normal(k, shape) * np.sqrt(2 / shape[0]), jnp.zeros(shape[1]))
            for k, shape in zip(keys, shapes, strict=True)
        ]

    def loss(layers, pairs, own, others, theirs):
        equation = jnp.mean(jnp.abs(_perceptron(layers, pairs) - own))
        worse = sign * (_perceptron(layers, others) - theirs)
        return equation + jnp.mean(jax.nn.relu(MARGIN - worse))

    start = jax.vmap(create)(jax.random.split(jax.random.key(0), len(answers)))
    layers = _descend(jax.vmap(loss), PERCEPTRON_STEPS, start, pairs, own, others, theirs)
    return [
        _numpy_step(jax.tree.map(lambda leaf, seed=seed: np.asarray(leaf[seed]), layers))
        for seed in range(len(answers))
    ]


def _rows(answers: Answers):
    """Return inputs (key, weight) and answers, on edges of predecessors and on other edges."""
    generator = np.random.default_rng(0)
    equations = fixed_point_equations(answers)
    order = generator.permutation(len(equations.own))[:PERCEPTRON_ROWS]
    few = equations[order]
    graph, tail, head = np.nonzero(~np.isnan(answers.weights))
    reached = (answers.pred[graph, tail] >= 0) & (answers.pred[graph, head] != tail)
    graph, tail, head = (part[reached] for part in (graph, tail, head))
    order = generator.permutation(len(graph))[:PERCEPTRON_ROWS]
    graph, tail, head = (part[order] for part in (graph, tail, head))
    others = np.stack([answers.key[graph, tail], answers.weights[graph, tail, head]], axis=1)
    return np.stack([few.key, few.weight], axis=1), few.own, others, answers.key[graph, head]


def _perceptron(layers, inputs):
    for weights, bias in layers[:-1]:
        inputs = jax.nn.relu(inputs @ weights + bias)
    weights, bias = layers[-1]
    return (inputs @ weights + bias)[..., 0]


def _numpy_step(layers):
    def step(key, own, weight):
        key, weight = np.broadcast_arrays(key, weight)
        real = ~np.isnan(weight) & np.isfinite(key)
        inputs = np.stack([key[real], weight[real]], axis=-1)
        out = np.full(key.shape, np.nan, np.float32)
        for matrix, bias in layers[:-1]:
            inputs = np.maximum(inputs @ matrix + bias, 0)
        out[real] = (inputs @ layers[-1][0] + layers[-1][1])[..., 0]
        return out

    return step


def _descend(losses, num_steps: int, parameters, *data):
    """Run Adam with a learning rate that falls to 0, for all seeds at once."""
    optimiser = optax.adam(optax.cosine_decay_schedule(LEARNING_RATE, num_steps))

    @jax.jit
    def run(parameters):
        def body(carry, _):
            parameters, state = carry
            gradient = jax.grad(lambda p: jnp.sum(losses(p, *data)))(parameters)
            updates, state = optimiser.update(gradient, state, parameters)
            return (optax.apply_updates(parameters, updates), state), None

        carry = (parameters, optimiser.init(parameters))
        return jax.lax.scan(body, carry, length=num_steps)[0][0]

    return run(parameters)
