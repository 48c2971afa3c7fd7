"""Evaluate committed networks again, on a CPU, and put the rows into a table of results.

    python studies/evaluate_committed.py 'ne-.*-na.*' --num-nodes 100 --out device-sensitivity.csv
    python studies/evaluate_committed.py '.*-na.*' --halt horizon --out results.csv --hops hops.csv

Rows that the tables already have are replaced, others are added. `results/README.md` has the
commands of the committed tables.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import jax
import pandas
from rich.progress import track

from algotransfer import load_model
from algotransfer.evaluation.evaluate import evaluate, unseen_graphs
from algotransfer.evaluation.registry import HALTING_RULES
from algotransfer.experiment import fingerprint
from algotransfer.files import write_atomically
from algotransfer.report.collect import (
    name_hops,
    name_rows,
    read_hops,
    read_results,
)
from algotransfer.trained_models import committed_weights
from algotransfer.training.runs import Model

NUMBERS = ("value", "num_graphs", "low", "high", "seeds", "diverged")
DEFAULT_HALT = "told"  # rows have it as an empty `halt`


def run_hash(model: Model) -> str:
    """Return the name of the run folder that the weights come from."""
    config = {"experiment": model.experiment.to_json(), "seeds": model.seeds}
    return fingerprint({**config, "data": model.card["data"]})


def update(path: Path, rows: pandas.DataFrame, read) -> None:
    """Write a table with new rows; those with equal keys take the place of old ones."""
    columns = list(rows.columns)
    table = read(path) if path.exists() else rows.iloc[:0]
    if "halt" in columns:
        table["halt"] = table["halt"].astype(object).fillna("") if "halt" in table else ""
    table = table[columns]
    keys = [name for name in columns if name not in NUMBERS]
    places = pandas.MultiIndex.from_frame(table[keys].astype(str))
    new = pandas.MultiIndex.from_frame(rows[keys].astype(str))
    known = new.isin(places)
    found = places.get_indexer(new[known])
    table = table.astype(object)
    table.iloc[found] = rows[known].astype(object).to_numpy()
    table = pandas.concat([table, rows[~known].astype(object)], ignore_index=True)
    table = table.astype({name: rows[name].dtype for name in columns})
    write_atomically(path, table.to_csv(index=False, float_format="%.6g").encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", help="regular expression for names of committed weights")
    parser.add_argument("--num-nodes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument(
        "--num-graphs", type=int, default=500, help="graphs of each family and size"
    )
    parser.add_argument("--halt", choices=list(HALTING_RULES), default=DEFAULT_HALT)
    parser.add_argument(
        "--metrics", nargs="+", help="metrics of the networks to keep; default: all rows"
    )
    parser.add_argument("--out", type=Path, required=True, help="table of results (.csv)")
    parser.add_argument("--hops", type=Path, help="table of errors by distance (.csv)")
    arguments = parser.parse_args()
    pattern = re.compile(arguments.weights)
    names = [name for name in committed_weights() if pattern.fullmatch(name)]
    datasets = unseen_graphs(arguments.num_nodes, arguments.num_graphs)
    halt = "" if arguments.halt == DEFAULT_HALT else arguments.halt
    with jax.default_device(jax.devices("cpu")[0]):
        for name in track(names, "evaluating on the CPU"):
            model = load_model(name)
            frame = evaluate(model, datasets, halt=arguments.halt)
            rows = name_rows(frame, model, run_hash(model)).assign(halt=halt)
            if arguments.metrics:
                rows = rows[(rows["row"] == "network") & rows["metric"].isin(arguments.metrics)]
            update(arguments.out, rows, read_results)
            if arguments.hops:
                update(arguments.hops, name_hops(frame, model), read_hops)


if __name__ == "__main__":
    main()
