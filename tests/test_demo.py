"""The demo runs and writes its files; here on fewer graphs and with fewer epochs."""

import re
from pathlib import Path

import pytest
from processes import run_python

SMALL_DEMO = f"""
import sys
from dataclasses import replace
from algotransfer.datasets import Preset

sys.path.insert(0, {str(Path(__file__).parents[1] / "examples/demo")!r})
import demo

demo.COMMITTED = "ne-dijkstra-na"
demo.TRAINED = replace(demo.TRAINED, max_epochs=1, batch_size=4)
demo.SEEDS = 2
demo.TRAINING_GRAPHS = Preset(train=4, validation=2, test=1, num_nodes=8)
demo.TEST_GRAPHS = {{8: 2, 12: 1}}
demo.PAGE_NODES = 9
demo.main()
"""


@pytest.mark.slow
def test_demo(tmp_path):
    text = run_python(SMALL_DEMO, folder=tmp_path)
    folder = tmp_path / "demo"
    for label in ("NE\\+\\+ \\(package\\)", "relax \\(trained\\)"):
        assert re.search(rf"{label} +\d\.\d\d \(\d+, \d\.\d\d–\d\.\d\d\)", text)
    assert "random neighbour" in text
    assert len(list((folder / "runs").iterdir())) == 1
    assert (folder / "error_by_size.png").stat().st_size > 10_000
    assert "NE++ (package)" in (folder / "explore.html").read_text(encoding="utf-8")
