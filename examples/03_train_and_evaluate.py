"""Train a network on every step of an algorithm, then test it on larger graphs.

    python examples/03_train_and_evaluate.py

The graphs and the network are small, so that it ends in seconds; `algotransfer train` trains at the
paper's size. The second time it trains nothing: a run is found by the hash of its settings.
"""

from rich import print

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.evaluation import summary_table

# Training graphs of 8 nodes, test graphs of 8 and 16 nodes.
toy = Preset(train=100, validation=20, test=20, num_nodes=8, test_sizes=(8, 16))
splits = make_splits(toy, seed=0)

# With `tf`, teacher forcing, the network is trained on every step.
experiment = Experiment(
    model="ne",
    target="bellman_ford",
    supervision="tf",
    hidden=16,
    batch_size=32,
    learning_rate=3e-3,
    max_epochs=20,
)

# Both seeds train at once, in one compiled program.
folder, model = train(experiment, seeds=2, data=splits, folder="runs/examples")
assert model is not None  # only a run with a deadline can end without one
for seed, loss in zip(model.seeds, model.card["validation_loss"], strict=True):
    print(f"seed {seed}: validation loss {loss:.3f}")
print(f"weights and log are in {folder}\n")

# The network gets the graph and the source, and then runs on its own outputs.
table = evaluate(model, splits.test)
print(summary_table(table[table["metric"].isin(["key", "pred", "term"])]))

# The table is tidy: one row per seed, family of graphs, number of nodes and metric.
errors = table[table["hop"].isna()].query("row == 'network' and metric == 'pred'")
print(errors.pivot_table("value", "family", "num_nodes").round(3).to_string())
