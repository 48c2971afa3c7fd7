"""Runs where PyTorch is installed (see test_pyg.py): the code that the page marks as needing it."""

import re
from pathlib import Path

page = Path(__file__).parents[2] / "docs" / "how-to" / "pytorch.md"
names = {}
blocks = re.findall(r"<!-- not run: .*? -->\n```python\n(.*?)```", page.read_text(), re.DOTALL)
for block in blocks:
    exec(compile(block, page.name, "exec"), names)
assert names["key"].shape == (200, 21, 20)
assert names["batch"].num_graphs == 64
assert 0.3 < names["wrong"].mean() < 0.9  # many nodes do not take their lightest edge
assert names["steps"].key.shape == (50, 50)
print(len(blocks))
