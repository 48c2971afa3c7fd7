"""The relaxation executor in training: every algorithm, both supervisions, every method."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import quick_jit
from training.small import examples_of, graphs, tasks_of

from algotransfer import execute
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.datasets import Splits, make_dataset
from algotransfer.evaluation.evaluate import evaluate
from algotransfer.experiment import Experiment
from algotransfer.networks import RelaxationExecutor
from algotransfer.networks.relax import Selection
from algotransfer.training import load_model
from algotransfer.training.objective import draw_noise, objective
from algotransfer.training.program import start_seeds
from algotransfer.training.train import train
from algotransfer.training.transfer import METHODS

# The target is the last: here one that samples trajectories without its steps.
NAMES = (*(name for name in PAPER_ALGORITHMS if name != "prim"), "prim")


def decided(network: RelaxationExecutor) -> RelaxationExecutor:
    """The network with directions, as if some steps had been made."""
    return eqx.tree_at(
        lambda n: [s.relaxation.direction for s in n.specialists],
        network,
        [
            jnp.full((1, 1), -0.3 if algorithm.smaller_is_better else 0.3)
            for algorithm in network.algorithms
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("supervision", ["tf", "na"])
def test_every_algorithm_has_finite_losses_and_gradients(supervision):
    """All nine together; each moves its own relaxation, and all of them the selection."""
    tasks = tasks_of(NAMES, (supervision,) * len(NAMES))
    network = RelaxationExecutor.create(
        tuple(task.algorithm for task in tasks), 4, jax.random.key(0)
    )
    examples = examples_of(tasks, graphs())
    noise = draw_noise(tasks, examples, 2, jax.random.key(1))

    @quick_jit
    def gradient(network):
        def loss(network):
            total, parts = objective(network, tasks, examples, noise, "best")
            return jnp.mean(total), parts

        return jax.grad(loss, has_aux=True)(network)

    for start in (network, decided(network)):
        slopes, parts = gradient(start)
        assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves((slopes, parts)))
        assert all("simplicity" in losses for losses in parts)
        moved = [np.any(leaf != 0) for leaf in jax.tree.leaves(slopes.processors)]
        assert any(moved)
        for specialist in slopes.specialists:
            assert np.any(np.asarray(specialist.relaxation.theta) != 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_decides_which_selections_learn(method):
    base = () if METHODS[method].needs_base is False else ("prim",)
    experiment = Experiment(model="relax", method=method, base=base, hidden=4)
    bases = None
    if METHODS[method].pretrained:
        _, trained = start_seeds(Experiment(model="relax", target="prim", hidden=4), (7,))
        (bases,) = trained.network.processors
    program, state = start_seeds(experiment, (0,), bases)
    for processor, learns, frozen in zip(
        state.network.processors, program.mask.processors, METHODS[method].frozen, strict=True
    ):
        assert isinstance(processor, Selection)
        assert jax.tree.leaves(learns) == [not frozen] * 4
    if bases is not None:
        first = jax.tree.leaves(state.network.processors[0])
        assert all(map(np.array_equal, first, jax.tree.leaves(bases)))


@pytest.mark.slow
def test_from_training_with_a_base_to_an_answer(tmp_path):
    splits = Splits(
        train=make_dataset(("er", "grid"), 8, 6, 0),
        validation=make_dataset(("er", "grid"), 4, 6, 0, split="validation"),
        test={},
    )
    experiment = Experiment(
        model="relax",
        target="reliable_par",
        method="two_processor",
        base=("widest_par",),
        hidden=4,
        batch_size=8,
        max_epochs=1,
    )
    path, model = train(experiment, 2, data=splits, folder=tmp_path, show=False)
    assert model is not None
    assert not any(model.diverged)
    loaded = load_model(path)
    assert len(loaded.networks.processors) == 2
    for ours, theirs in zip(
        jax.tree.leaves(model.networks), jax.tree.leaves(loaded.networks), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    frame = evaluate(loaded, [make_dataset(("er",), 3, 9, 0, split="test")])
    assert {"key", "pred", "tree", "no_path", "cost"} <= set(frame.metric)
    answer = execute(loaded, make_dataset(("er",), 1, 9, 0, split="test").graphs[0])
    assert np.all(np.isfinite(answer.key))
