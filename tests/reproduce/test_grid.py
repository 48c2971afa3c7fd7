"""The grid covers every row of the paper's tables; base models are shared."""

import pytest

from algotransfer.evaluation.summary import paper_key
from algotransfer.experiment import Experiment
from algotransfer.paper import paper_tables
from algotransfer.reproduce.grid import TABLES, experiments


def test_every_line_of_every_table_has_its_experiment():
    keys = {tuple(paper_key(experiment).values()) for experiment in experiments()}
    columns = ["supervision", "model", "method", "source", "target"]
    lines = paper_tables().fillna({"source": ""})[columns].drop_duplicates()
    assert {tuple(line) for line in lines.itertuples(index=False)} == keys
    assert len(experiments()) == len(keys) == 64


def test_experiments_follow_the_order_of_the_tables():
    first = experiments(("seq-na",))
    assert experiments(TABLES)[: len(first)] == first
    assert first[0] == Experiment(model="ne", target="dijkstra", supervision="na")


def test_bases_are_shared_with_the_tables_that_print_them():
    bases = {e.pretraining() for e in experiments() if e.pretraining() is not None}
    printed = set(experiments())
    dijkstra = Experiment(target="dijkstra", supervision="tf")
    assert dijkstra in bases & printed
    # prim, widest (both kinds), bfs for each network; dijkstra for each; two joint ones.
    assert len(bases) == 2 * 5 + 2
    joint = [base for base in bases if base.method == "multitask"]
    assert {base.width for base in joint} == {16}


def test_a_target_after_joint_pretraining_has_the_width_of_its_base():
    (experiment,) = [e for e in experiments() if e.base == ("prim", "dijkstra", "dfs")]
    assert experiment.width == experiment.pretraining().width == 16


def test_networks_can_be_chosen_and_others_join():
    assert {e.model for e in experiments(models=("ne++",))} == {"ne++"}
    own = experiments(("seq-na", "multi-pretrain"), models=("relax",))
    assert [(e.model, e.target) for e in own] == [
        ("relax", "dijkstra"),
        ("relax", "reliable_seq"),
        ("relax", "reliable_seq"),
        ("relax", "reliable_par"),
    ]


def test_an_unknown_table_is_refused_with_the_known_ones():
    with pytest.raises(
        ValueError, match="unknown table of the paper 'seq-nope'.*choose one of seq-tf"
    ):
        experiments(("seq-nope",))
