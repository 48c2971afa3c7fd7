"""Claims are judged by rule: what a made-up world says comes out, and nothing without runs."""

import math

import pandas
import pytest
from report.cases import as_printed, made_up

from algotransfer.report.agreement import check_small_graphs
from algotransfer.report.cells import paper_cells, seed_values
from algotransfer.report.claims import CLAIMS, OWN_CLAIMS, SOURCES
from algotransfer.report.markdown import score
from algotransfer.report.verdicts import MISSING, UNPRINTED, judge, judge_all

PAPER = paper_cells()
OWN = [claim.name for claim in OWN_CLAIMS]


def verdicts(results):
    return {v.claim.name: v for v in judge_all(seed_values(results), PAPER)}


@pytest.fixture(scope="module")
def printed():
    return as_printed()


def test_the_papers_own_numbers_are_judged_by_the_same_rule(printed):
    ours = verdicts(printed)
    assert {name: verdict.paper for name, verdict in ours.items()} == {
        "capacity": "holds (6 of 6)",
        "no algorithm": "holds (4 of 4)",
        "transfer": "mostly (11 of 12)",
        "multi-task": "holds (4 of 4)",
        "best method": "mostly (2 of 3)",
        "pre-training": "holds (2 of 2)",
        "parallel": "mostly (3 of 4)",
        "trajectories": "does not hold (10 of 24)",
        **dict.fromkeys(OWN, UNPRINTED),
    }
    # Seeds that all say what the paper says leave narrow intervals around the same factors.
    assert {name for name, v in ours.items() if v.ours == "holds"} == {
        name for name, v in ours.items() if not v.paper.startswith(("does not", UNPRINTED))
    }
    assert ours["trajectories"].ours == "contradicted"
    assert ours["trajectories"].agree == 10
    assert score(list(ours.values())) == (
        "The paper's 8 claims in our runs: 7 × holds, 1 × contradicted."
    )


def test_one_extreme_number_of_the_paper_does_not_decide_alone():
    """In the geometric mean of its comparisons one exploded key outweighs all others."""
    exploded = PAPER["paper"] > 1e10
    without = PAPER.assign(paper=PAPER["paper"].where(~exploded, 1.0))
    claim = next(claim for claim in CLAIMS if claim.name == "trajectories")
    nothing = seed_values(made_up(lambda *_: 1.0)).iloc[:0]
    assert judge(claim, nothing, PAPER).paper == "does not hold (10 of 24)"
    assert judge(claim, nothing, without).paper.startswith("mixed")


def test_noise_leaves_a_claim_undecided():
    def value(key, seed, nodes, metric):
        return 0.5 * 10 ** ((-1) ** seed if key["method"] == "multitask" else 0)

    verdict = verdicts(made_up(value))["multi-task"]
    assert verdict.ours == "undecided"
    low, high = verdict.interval
    assert low < verdict.factor < high
    assert verdict.seeds == 3


def test_the_interval_is_students():
    factors = (0.01, 0.02, 0.04)

    def value(key, seed, nodes, metric):
        return factors[seed] if key["method"] == "multitask" and metric == "key" else 1.0

    verdict = verdicts(made_up(value))["multi-task"]
    logs = [math.log10(factor) for factor in factors]
    half = 4.302653 * (math.log10(2)) / math.sqrt(3)  # t with two degrees of freedom
    assert verdict.factor == pytest.approx(0.02)
    assert verdict.interval == pytest.approx([10 ** (logs[1] - half), 10 ** (logs[1] + half)])
    assert verdict.ours == "undecided"  # the interval ends above a tenth


def test_without_all_comparisons_there_is_no_verdict(printed):
    some = printed[~((printed["method"] == "multitask") & (printed["target"] == "dijkstra"))]
    verdict = verdicts(some)["multi-task"]
    assert verdict.ours == MISSING
    assert verdict.judged == 2
    assert verdict.paper == "holds (4 of 4)"  # that needs no runs
    one_seed = printed[printed["seed"].isna() | (printed["seed"] == 0)]
    assert verdicts(one_seed)["capacity"].ours == MISSING


def test_low_errors_must_be_low(printed):
    (claim,) = [claim for claim in CLAIMS if claim.name == "no algorithm"]
    high = printed["num_nodes"].eq(20) & printed["method"].eq("none")
    worse = printed.assign(value=printed["value"].where(~high, printed["value"] + 0.2))
    assert judge(claim, seed_values(worse), PAPER).ours == "contradicted"


def test_a_claim_of_ours_needs_all_its_runs_and_low_errors(printed):
    def verdict(errors):
        alone = printed["model"].eq("NE") & printed["method"].eq("none")
        alone &= printed["target"].isin(list(errors)) & printed["supervision"].eq("na")
        relax = printed[alone].assign(model="relax", value=printed["target"].map(errors))
        return verdicts(pandas.concat([printed, relax]))["own state"].ours

    low = dict.fromkeys(SOURCES, 1e-3)
    assert verdict({"dijkstra": 1e-3}) == MISSING  # three targets have no runs
    assert verdict(low) == "holds"
    assert verdict({**low, "reliable_seq": 0.011}) == "contradicted"
    assert verdict({**low, "dijkstra": 0.05}) == "contradicted"


def test_answers_that_last_are_compared_with_the_same_networks(printed):
    def verdict(factor, models=("NE", "NE++")):
        lasting = printed[printed["supervision"].eq("na") & printed["model"].isin(models)]
        lasting = lasting.assign(supervision="na_extra10", value=factor * lasting["value"])
        return verdicts(pandas.concat([printed, lasting]))["lasting"]

    assert verdict(0.5).ours == "holds"
    assert verdict(0.5).factor == pytest.approx(0.5)
    assert verdict(2.0).ours == "contradicted"
    assert verdict(0.5, models=("NE++",)).ours == MISSING


def test_infinite_errors_are_compared_too():
    def value(key, seed, nodes, metric):
        return math.inf if key["method"] == "none" and metric == "key" else 1.0 + seed

    assert verdicts(made_up(value))["multi-task"].ours == "holds"


def test_every_cell_of_a_claim_is_in_the_paper():
    known = {
        (*map(str, key),)
        for key in PAPER[
            ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]
        ].itertuples(index=False)
    }
    used = {
        cell
        for claim in CLAIMS
        for error in [error for pair in claim.pairs for error in pair] + list(claim.low)
        for cell in (*error.cells, *error.grown_from)
    }
    assert used <= known


def test_the_check_lists_the_cells_that_miss(printed):
    check = check_small_graphs(seed_values(printed))
    assert (check.run, check.misses, check.missing) == (64, (), 0)
    bad = printed["method"].eq("freeze") & printed["target"].eq("dijkstra")
    worse = printed.assign(value=printed["value"].where(~bad, 0.9))
    check = check_small_graphs(seed_values(worse))
    assert len(check.misses) == 4  # two networks, from Prim and from Dijkstra
    assert "NE na dijkstra freeze from prim: 0.9 (paper 0.081)" in check.misses
    assert check.share == pytest.approx(60 / 64)
    few = printed[printed["target"] == "dijkstra"]
    assert check_small_graphs(seed_values(few)).missing > 30
