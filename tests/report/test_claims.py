"""Verdicts on claims: the rule in made-up worlds, halting rules, and the paper's own numbers."""

import math

import numpy as np
import pandas
import pytest
from report.cases import as_printed, made_up
from scipy.stats import ttest_ind

from algotransfer.report.cells import paper_cells, seed_values
from algotransfer.report.claims import (
    OWN_CLAIMS,
    PAPER_BASES,
    PAPER_CLAIMS,
    Claim,
    cell_key,
)
from algotransfer.report.sections import make_claims_section
from algotransfer.report.statistics import holm
from algotransfer.report.verdicts import (
    LARGEST_ERROR,
    MISSING,
    UNPRINTED,
    judge_claims,
    measure,
    seed_errors,
)

PAPER = paper_cells()
ALONE = cell_key("NE", "dijkstra")
MULTITASK = cell_key("NE", "dijkstra", method="multitask")


def judge(results, **other):
    judged = judge_claims({"told": seed_values(results)}, PAPER, **other)
    return {claim.claim.name: claim for claim in judged}


def words(results):
    return {name: claim.verdicts["told"].word for name, claim in judge(results).items()}


@pytest.fixture(scope="module")
def printed():
    return as_printed()


def test_the_papers_own_numbers_are_judged_without_intervals(printed):
    judged = judge(printed)
    assert {name: claim.paper for name, claim in judged.items()} == {
        "multi-task, predecessors": "mostly (3 of 4)",
        "multi-task, keys": "holds (4 of 4)",
        "multi-task and transfer, predecessors": "holds (12 of 12)",
        "multi-task and transfer, keys": "holds (12 of 12)",
        "multi-task networks": "mostly (10 of 12)",
        "transfer harms": "mostly (9 of 12)",
        "transfer does not help": "mostly (11 of 12)",
        "transfer, keys": "mixed (1 of 12)",  # keys that explode on both sides are equal
        "pre-training": "holds (2 of 2)",
        "pre-training and multi-task": "holds (2 of 2)",
        "expressivity": "holds (6 of 6)",
        "expressivity, most reliable path": "mostly (5 of 6)",
        "no algorithm": "holds (4 of 4)",
        "parallel": "mostly (3 of 4)",
        "parallel multi-task, keys": "holds (4 of 4)",
        "parallel multi-task, predecessors": "mixed (2 of 4)",
        "trajectories": "does not hold (7 of 24)",
        "trajectories, no difference": "does not hold (10 of 24)",
        "relax": UNPRINTED,
        "relax, level": UNPRINTED,
        "extra steps": UNPRINTED,
    }
    # Seeds that repeat the paper's numbers with little noise decide every claim.
    found = words(printed)
    assert {name for name, word in found.items() if word == MISSING} == {
        "relax",
        "relax, level",
        "extra steps",
    }
    for name, claim in judged.items():
        if claim.paper.startswith(("holds", "mostly")):
            assert found[name] == "holds", name
        if claim.paper.startswith("does not hold"):
            assert found[name] == "contradicted", name
    score = make_claims_section(list(judged.values())).paragraphs[0]
    assert score.startswith("17 claims of the paper, chosen by us, in our runs, ")


def test_the_main_claim_comes_first():
    assert [claim.name for claim in PAPER_CLAIMS[:5]] == [
        "multi-task, predecessors",
        "multi-task, keys",
        "multi-task and transfer, predecessors",
        "multi-task and transfer, keys",
        "multi-task networks",
    ]
    assert len({claim.name for claim in (*PAPER_CLAIMS, *OWN_CLAIMS)}) == 21


def test_one_comparison_is_welchs_test_on_log_errors():
    noise = np.random.default_rng(1).normal(0, 0.2, (2, 8))

    def value(key, seed, nodes, metric):
        return 0.1 * 10 ** noise[int(key["method"] == "multitask"), seed]

    effect = measure(((MULTITASK, ALONE),), seed_errors(seed_values(made_up(value, seeds=8))))
    test = ttest_ind(noise[1], noise[0], equal_var=False)
    low, high = test.confidence_interval(0.95)
    assert effect.factor == pytest.approx(10 ** (noise[1].mean() - noise[0].mean()))
    assert effect.interval == pytest.approx((10**low, 10**high))
    assert effect.contrast.p_differs(0) == pytest.approx(test.pvalue)
    assert effect.seeds == (8, 8)


def test_sizes_of_one_network_are_not_independent():
    """The same seeds at two sizes leave as much uncertainty as at one."""

    def value(key, seed, nodes, metric):
        return 0.1 * 2**seed

    errors = seed_errors(seed_values(made_up(value)))
    pairs = [(cell_key("NE++", "dijkstra", n), cell_key("NE", "dijkstra", n)) for n in (50, 100)]
    one, two = measure(pairs[:1], errors), measure(pairs, errors)
    assert two.contrast.error == pytest.approx(one.contrast.error)
    # Growth within a network cancels the seed altogether.
    growth = measure(((ALONE, cell_key("NE", "dijkstra", 20)),), errors)
    assert (growth.factor, growth.contrast.error) == pytest.approx((1, 0))


def test_comparisons_weigh_the_same_whatever_their_number_of_seeds():
    """NE has a factor of 0.5 with 8 seeds, NE++ one of 2 with 2 seeds."""

    def value(key, seed, nodes, metric):
        factor = {"NE": 0.5, "NE++": 2.0}[key["model"]]
        return 0.1 * 1.1**seed * (factor if key["method"] == "multitask" else 1)

    results = made_up(value, seeds=8)
    few = seed_errors(seed_values(results[~((results["model"] == "NE++") & (results["seed"] > 1))]))
    nepp = cell_key("NE++", "dijkstra", method="multitask"), cell_key("NE++", "dijkstra")
    effect = measure(((MULTITASK, ALONE), nepp), few)
    assert effect.factor == pytest.approx(1)
    assert effect.seeds == (2, 8)


def test_experiments_may_have_different_seeds(printed):
    errors = {ALONE: {0: 0.1, 1: 0.2}, MULTITASK: {5: 0.1, 6: 0.1, 7: 0.1, 8: math.inf}}
    assert measure(((MULTITASK, ALONE),), errors).seeds == (2, 4)
    assert measure(((MULTITASK, ALONE),), {**errors, ALONE: {0: 0.1}}) is None
    assert measure(((MULTITASK, ALONE),), {MULTITASK: errors[MULTITASK]}) is None


def test_p_values_are_corrected_for_all_claims_and_halting_rules():
    noise = np.random.default_rng(2)

    def value(key, seed, nodes, metric):
        return 0.1 * 10 ** (noise.normal(0, 0.05) - (key["method"] == "multitask") * 0.1)

    claims = [
        Claim(f"{metric} {nodes}", "", "", ((
            cell_key("NE", "dijkstra", nodes, metric, "multitask"),
            cell_key("NE", "dijkstra", nodes, metric),
        ),))
        for nodes in (20, 50)
        for metric in ("pred", "key")
    ]  # fmt: skip
    values = {"told": seed_values(made_up(value)), "horizon": seed_values(made_up(value))}
    judged = judge_claims(values, PAPER, claims)
    verdicts = [claim.verdicts[halt] for halt in values for claim in judged]
    raw = [verdict.effect.contrast.p_differs(0) for verdict in verdicts]
    assert [verdict.p_value for verdict in verdicts] == pytest.approx(holm(raw))
    for verdict in verdicts:
        assert (verdict.word == "undecided") == (verdict.p_value >= 0.05)


def test_halting_rules_are_judged_where_there_are_runs(printed):
    lost = printed["supervision"].eq("na") & printed["method"].eq("multitask")
    told = printed.assign(value=printed["value"].where(~lost, 0.9 + printed["seed"] / 1e3))
    # Teacher forcing has no halting rule; `collect` may leave its column empty.
    told = told.assign(halt=told["supervision"].map({"tf": ""}).fillna("told"))
    horizon = printed[printed["supervision"].str.startswith("na")].assign(halt="horizon")
    both = pandas.concat([horizon, told], ignore_index=True)
    values = {halt: seed_values(both, halt) for halt in ("told", "horizon")}
    judged = {claim.claim.name: claim for claim in judge_claims(values, PAPER)}
    verdicts = judged["multi-task, predecessors"].verdicts
    assert {halt: verdict.word for halt, verdict in verdicts.items()} == {
        "told": "contradicted",
        "horizon": "holds",
    }
    assert set(judged["expressivity"].verdicts) == {"told"}  # has no rows at the horizon
    table = make_claims_section(list(judged.values())).tables[0]
    assert "our runs, training horizon" in table.heads
    assert {len(row.texts) for row in table.rows} == {len(table.heads)}
    assert {len(row.details.rows[0].texts) for row in table.rows} == {
        len(table.rows[0].details.heads)
    }
    assert len(seed_values(printed, "horizon")) == 0
    assert len(seed_values(printed, "told")) == len(seed_values(both, "told"))


def test_noise_leaves_a_claim_undecided():
    def value(key, seed, nodes, metric):
        return 0.05 * 10 ** ((-1) ** seed if key["method"] == "multitask" else 0)

    verdict = judge(made_up(value))["multi-task, predecessors"].verdicts["told"]
    assert verdict.word == "undecided"
    low, high = verdict.effect.interval
    assert low < 1 < high


def test_no_difference_needs_evidence():
    def world(factor, noise):
        def value(key, seed, nodes, metric):
            mean = key["supervision"] == "na_mean"
            return 0.1 * (1 if mean else factor) * (1 + noise * ((7 * seed + mean) % 5))

        return words(made_up(value, seeds=5))["trajectories, no difference"]

    assert world(1.05, 0.01) == "holds"
    assert world(1.05, 2.0) == "undecided"
    assert world(2.0, 0.01) == "contradicted"
    assert world(0.5, 0.01) == "contradicted"


def test_without_all_comparisons_there_is_no_verdict(printed):
    some = printed[~((printed["method"] == "multitask") & (printed["target"] == "dijkstra"))]
    verdict = judge(some)["multi-task, keys"].verdicts["told"]
    assert verdict.word == MISSING
    assert sum(effect is not None for effect in verdict.comparisons) == 2
    one_seed = printed[printed["seed"].isna() | (printed["seed"] == 0)]
    assert set(words(one_seed).values()) == {MISSING}


def test_a_level_is_compared_like_an_error(printed):
    def word(errors):
        alone = printed["model"].eq("NE") & printed["method"].eq("none")
        alone &= printed["target"].isin(list(errors)) & printed["supervision"].eq("na")
        relax = printed[alone].assign(model="relax", value=printed["target"].map(errors))
        return words(pandas.concat([printed, relax]))["relax, level"]

    assert word({"dijkstra": 1e-3}) == MISSING  # three targets have no runs
    assert word(dict.fromkeys(PAPER_BASES, 1e-3)) == "holds"
    assert word(dict.fromkeys(PAPER_BASES, 0.0)) == "holds"
    assert word(dict.fromkeys(PAPER_BASES, 0.02)) == "contradicted"


def test_extra_steps_are_compared_with_the_same_networks(printed):
    def judged(factor, models=("NE", "NE++")):
        extra = printed[printed["supervision"].eq("na") & printed["model"].isin(models)]
        extra = extra.assign(supervision="na_extra10", value=factor * extra["value"])
        return judge(pandas.concat([printed, extra]))["extra steps"].verdicts["told"]

    assert judged(0.5).word == "holds"
    assert judged(0.5).effect.factor == pytest.approx(0.5)
    assert judged(2.0).word == "contradicted"
    assert judged(0.5, models=("NE++",)).word == MISSING


def test_keys_that_explode_are_bounded():
    def world(huge):
        def value(key, seed, nodes, metric):
            return huge if key["method"] == "none" and metric == "key" else 1.0 + seed / 100

        return judge(made_up(value))["multi-task, keys"].verdicts["told"]

    infinite, large = world(math.inf), world(1e29)
    assert infinite.word == "holds"
    assert infinite.effect == large.effect
    assert infinite.effect.factor == pytest.approx(1 / LARGEST_ERROR, rel=0.02)


def test_every_cell_of_a_claim_is_in_the_paper():
    names = ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]
    known = {tuple(map(str, key)) for key in PAPER[names].itertuples(index=False)}
    assert {cell for claim in PAPER_CLAIMS for cell in claim.cells} <= known
