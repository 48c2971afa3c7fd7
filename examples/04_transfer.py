"""Compare transfer methods on small graphs: do the steps of one algorithm help with another?

    python examples/04_transfer.py

Bellman-Ford is learned from inputs and outputs alone (`na`, no algorithm) in three ways: without
transfer, with a second processor trained on breadth-first search, and together with that search.
The graphs are too small to show which way is best.
"""

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.datasets import Preset

splits = make_splits(Preset(train=64, validation=16, test=32, num_nodes=8, test_sizes=(16,)))
shared = {
    "target": "bellman_ford",
    "supervision": "na",
    "hidden": 8,
    "batch_size": 32,
    "learning_rate": 3e-3,
    "max_epochs": 20,
}
experiments = [
    Experiment(**shared),
    # `train` first trains the base model, with teacher forcing.
    Experiment(**shared, method="two_processor", base=("bfs",)),
    Experiment(**shared, method="multitask", base=("bfs",)),
]

print(f"{'method':15}{'key error':>12}{'wrong predecessors':>21}")
for experiment in experiments:
    _, model = train(experiment, seeds=2, data=splits, folder="runs/examples")
    assert model is not None
    table = evaluate(model, splits.test)
    # Means over families and seeds; references and breakdowns by distance are left out.
    rows = table[(table["row"] == "network") & table["hop"].isna()]
    mean = rows.groupby("metric")["value"].mean()
    print(f"{experiment.method:15}{mean['key']:12.3f}{mean['pred']:21.3f}")
