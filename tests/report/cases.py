"""Results made up for tests: every experiment of the paper with numbers that a rule gives."""

import pandas

from algotransfer.evaluation.summary import paper_key
from algotransfer.paper import paper_tables
from algotransfer.reproduce.grid import experiments

FAMILIES = ("er", "ba", "grid")


def made_up(value, seeds=3, models=("NE", "NE++"), sizes=(20, 50, 100)):
    """Tidy results in which `value(key, seed, nodes, metric)` decides every number."""
    rows = []
    for experiment in experiments():
        key = paper_key(experiment)
        for model in models if key["model"] == "NE" else (key["model"],):
            key = {**key, "model": model}
            for seed in range(seeds):
                for nodes in sizes:
                    for metric in ("next", "key", "pred", "tree", "no_path", "cost", "exact"):
                        number = value(key, seed, nodes, metric)
                        rows += [
                            {
                                **key,
                                "infinity": "instance",
                                "run": "0",
                                "marks": "",
                                "row": "network",
                                "seed": seed,
                                "family": family,
                                "num_nodes": nodes,
                                "metric": metric,
                                "value": number,
                                "num_graphs": 500,
                                "diverged": False,
                            }
                            for family in FAMILIES
                        ]
    frame = pandas.DataFrame(rows)
    chance = frame[(frame["seed"] == 0) & (frame["metric"] == "pred")]
    chance = chance.assign(row="random_neighbour", seed=float("nan"), value=0.7)
    return pandas.concat([frame, chance], ignore_index=True)


def as_printed():
    """The paper's own means, with a little noise over seeds, as if they were our results."""
    paper = paper_tables().fillna({"source": ""}).query("graph == 'mean'")
    columns = ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]
    paper = paper.drop_duplicates(columns).set_index(columns)["value"].to_dict()

    def value(key, seed, nodes, metric):
        return paper.get((*key.values(), nodes, metric), 0.5) * (1 + 0.001 * seed)

    return made_up(value)


def by_name(report):
    """The tables of numbers by name."""
    return {table.name: table for table in report.number_tables}


def section(report, name):
    """The section of a name."""
    (found,) = [section for section in report.sections if section.name == name]
    return found
