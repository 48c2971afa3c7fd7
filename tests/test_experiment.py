"""Experiments: what methods say about them comes from the registry, mistakes from a sentence."""

import math
import subprocess
import sys

import pytest

from algotransfer.cli import main
from algotransfer.experiment import Experiment
from algotransfer.methods import METHODS, TransferMethod
from algotransfer.names import MODEL_NAMES
from algotransfer.networks import MODELS


def test_light_names_are_those_of_the_registry():
    assert tuple(MODELS) == MODEL_NAMES


@pytest.mark.parametrize(
    ("method", "base"), [("none", ("prim",)), ("freeze", ()), ("multitask", ())]
)
def test_methods_and_bases_go_together(method, base):
    with pytest.raises(ValueError, match="every method but 'none' needs a base algorithm"):
        Experiment(method=method, base=base)


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="unknown transfer method 'freez' .*'freeze'"):
        Experiment(method="freez", base=("prim",))


def test_a_new_method_is_one_line(monkeypatch, capsys):
    """Its entry decides tasks, width and base; the command line takes it as any other."""
    monkeypatch.setitem(METHODS, "beside", TransferMethod(("base", "fresh"), (True, False), True))
    experiment = Experiment(model="ne++", method="beside", base=("prim",))
    assert experiment.tasks == (("prim", "tf"), ("dijkstra", "na"))
    assert experiment.width == 16
    assert experiment.pretraining() == Experiment(
        model="ne++", target="prim", supervision="tf", hidden=16
    )
    assert experiment.name == "ne++-prim-dijkstra-na-beside"
    words = ["train", "--method", "beside", "--data", "papr", "--base", "prim"]
    assert main(words) == 2  # the method is fine; the data is not
    assert "unknown preset 'papr'" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--method", "besid", "--base", "prim"])
    assert "unknown transfer method 'besid' (did you mean 'beside'?)" in capsys.readouterr().err
    assert main(["train", "--model", "en"]) == 2
    assert "unknown network 'en'; choose one of ne, ne++" in capsys.readouterr().err


@pytest.mark.parametrize("field", ["learning_rate", "clip_norm", "tolerance", "infinity"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, 1e39])
def test_numbers_are_finite(field, value):
    with pytest.raises(ValueError, match=rf"{field}=.+; expected .*finite as float32"):
        Experiment(**{field: value})


def test_methods_are_known_without_jax():
    code = "import sys, algotransfer.cli.main; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_infinity_beyond_float32_is_refused_before_training(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--infinity", "1e39", "--folder", str(tmp_path / "runs")])
    assert "infinity=1e+39; expected 'instance'" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("field", ["learning_rate", "clip_norm", "infinity"])
def test_numbers_that_float32_rounds_to_zero_are_refused(field):
    with pytest.raises(ValueError, match=f"{field}=1e-46; expected .*a number above 0"):
        Experiment(**{field: 1e-46})
