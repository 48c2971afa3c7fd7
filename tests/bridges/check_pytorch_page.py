"""Runs where PyTorch is installed (see test_pyg.py): the code that the page marks as needing it."""

import re
from pathlib import Path

import numpy as np

page = Path(__file__).parents[2] / "docs" / "how-to" / "pytorch.md"
names = {}
blocks = re.findall(r"<!-- not run: .*? -->\n```python\n(.*?)```", page.read_text(), re.DOTALL)
for block in blocks:
    exec(compile(block, page.name, "exec"), names)
assert names["key"].shape == (200, 21, 20)
assert next(iter(names["loader"])).num_graphs == 64
assert 0.3 < names["wrong"].mean() < 0.9  # many nodes do not take their lightest edge
assert names["steps"].key.shape == (50, 50)
assert names["stacked"]["weights"].shape == (32, 20, 20)
assert names["stacked"]["key"].shape == (32, 21, 20)
assert np.mean(names["losses"][-10:]) < 0.8 * np.mean(names["losses"][:5])  # it learns
assert 0.3 < names["micro_f1"] < 1
print(len(blocks))
