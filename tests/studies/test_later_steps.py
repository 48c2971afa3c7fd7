"""Parts of a network are held after a step, and the page quotes the committed comparison."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import later_steps
import numpy as np
import pandas
import pytest

from algotransfer import evaluate, load_model, make_dataset
from algotransfer.networks import make_layouts

ROOT = Path(__file__).parents[2]


def committed_model(name):
    paths = sorted((later_steps.RUNS / later_steps.NETWORKS[name]).glob("*/weights.npz"))
    return load_model(paths[0])


def test_a_network_without_a_rule_has_its_usual_errors():
    model = committed_model("NE++, dijkstra")
    dataset = make_dataset(("er", "ba"), 2, 26, split="validation")
    usual = evaluate(model, dataset)
    usual = usual[(usual["row"] == "network") & (usual["metric"] == "pred") & usual["hop"].isna()]
    found = {rule: later_steps.measure(model, rule, dataset) for rule in ("free", "hidden")}
    expected = usual.groupby("seed")["value"].mean()
    np.testing.assert_allclose(found["free"].set_index("seed")["end"], expected, atol=1e-6)
    np.testing.assert_array_equal(found["free"]["step_20"], found["hidden"]["step_20"])
    assert (found["free"]["growth"] != found["hidden"]["growth"]).all()


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        *((rule, "NE++, dijkstra") for rule in later_steps.RULES),
        ("base", "NE, dijkstra, mixed sizes, multitask"),
        ("target", "NE, dijkstra, mixed sizes, multitask"),
    ],
)
def test_a_rule_replaces_its_part_after_the_step(rule, name, monkeypatch):
    monkeypatch.setattr(later_steps, "STEP", 0)
    network = jax.tree.map(lambda leaf: leaf[0], committed_model(name).networks)
    graphs = make_dataset(("er",), 1, 6).graphs
    layout = jax.tree.map(lambda leaf: leaf[0], make_layouts(graphs, network.kinds, "sparse"))
    held = later_steps.Held.of(network, rule)
    random = np.random.default_rng(0)
    first, second = (
        tuple(
            jnp.asarray(random.random((6, algorithm.framework.num_features), np.float32))
            for algorithm in network.algorithms
        )
        for _ in range(2)
    )
    memory, _ = held.process(first, held.start(layout), layout)
    carried, _ = network.process(first, network.start(layout), layout)
    assert_close(memory[1], carried)

    features = second
    if rule == "keys":
        features = (second[0].at[:, -1].set(first[0][:, -1]),)
    elif rule == "features":
        features = first
    elif rule == "base":
        features = (first[0], second[1])
    elif rule == "target":
        features = (second[0], first[1])
    elif rule == "hidden":
        carried = network.start(layout)
    elif rule == "scaled":
        carried = jax.tree.map(jnp.zeros_like, carried)  # the state at the start is zero
    _, latents = held.process(second, memory, layout)
    _, expected = network.process(features, carried, layout)
    assert_close(latents, expected)


def assert_close(found, expected):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), found, expected)


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / later_steps.COMPARISON).read_text())


def test_the_comparison_follows_from_the_table(committed):
    assert later_steps.compare(pandas.read_csv(ROOT / later_steps.TABLE)) == committed


def test_the_page_quotes_the_comparison(committed):
    page = (ROOT / "docs/overthinking.md").read_text()
    for name in list(later_steps.NETWORKS)[:5]:
        network = committed["networks"][name]
        medians = (f"{network[name]['median']:.3f}" for name in ("step 20", *later_steps.RULES))
        assert " | ".join(medians) in page
    for rule in ("hidden", "keys", "features", "scaled"):
        left = committed["remaining loss"][rule]["all"]
        median, low, high = (f"{left[k]:.2f}" for k in ("median", "lowest", "highest"))
        assert f"{low} to {high}".replace("-", "−") in page, rule
        assert f"{median} " in page, rule
    assert f"{committed['rank correlation of growth and rise, NE++']['value']:.2f}" in page


def test_the_page_on_transfer_quotes_the_comparison(committed):
    page = (ROOT / "docs/transfer-study.md").read_text()
    name = "NE, dijkstra, mixed sizes, multitask"
    for rule in ("free", "base", "features"):
        cell = committed["networks"][name][rule]
        values = (f"{cell[k]:.3f}" for k in ("median", "lowest", "highest"))
        assert "{} (5 seeds, {}–{})".format(*values) in page, rule
    share = committed["share of the gain"]["base"]
    values = (f"{share[name][k]:.2f}" for k in ("median", "lowest", "highest"))
    assert "{} (5 seeds, {}–{})".format(*values) in page
    assert share["NE, reliable_seq, mixed sizes, multitask"]["seeds"] == 2


def test_the_page_quotes_what_the_execution_of_an_unrelated_base_does(committed):
    page = (ROOT / "docs" / "transfer-study.md").read_text()
    left = committed["remaining loss, unrelated base"]["base"]
    assert left["median"] > 0.75  # the protocol: does not matter
    quoted = (
        f"{left['median']:.2f}; {left['seeds']} seeds, {left['lowest']:.2f}–{left['highest']:.2f}"
    )
    assert quoted in page
