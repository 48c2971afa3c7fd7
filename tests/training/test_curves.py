"""Learning curves: read from the log of a run, drawn into its folder."""

import json

import numpy as np
import pytest

from algotransfer.errors import UserError
from algotransfer.training.curves import read_losses, write_curves


def write_log(folder, rows):
    lines = [
        {"seed": seed, "epoch": epoch, "train_loss": loss, "validation_loss": 2.0}
        for seed, epoch, loss in rows
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_losses(tmp_path):
    write_log(tmp_path, [(0, 1, 3.0), (1, 1, None), (0, 2, 1.5)])
    losses = read_losses(tmp_path)
    assert losses["epoch"].tolist() == [1, 1, 2]
    assert np.isnan(losses["train_loss"][1])


def test_figure(tmp_path):
    assert write_curves(tmp_path, "no log") is None
    write_log(tmp_path, [(0, 1, 3.0), (1, 1, None), (0, 2, 1.5)])
    path = write_curves(tmp_path, "a run")
    assert path == tmp_path / "curves.png"
    assert path.read_bytes()[1:4] == b"PNG"
    assert len([*tmp_path.iterdir()]) == 2


def test_axes_have_labels(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig", lambda self, *_, **__: drawn.append(self)
    )
    write_log(tmp_path, [(0, 1, 3.0)])
    write_curves(tmp_path, "a run")
    (axes,) = drawn[0].axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epoch", "loss")


@pytest.mark.parametrize("log", ["[1]", "{}", "\xff", '{"seed": "a", "epoch": 1}'])
def test_another_log_is_a_mistake_of_the_user(tmp_path, log):
    (tmp_path / "metrics.jsonl").write_bytes(log.encode("latin1") + b"\n")
    with pytest.raises(UserError, match=r"metrics.jsonl is not the log of a training"):
        read_losses(tmp_path)
