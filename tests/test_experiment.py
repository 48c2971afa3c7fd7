"""`Experiment`: names from the registries, ranges of numbers, types of fields."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from algotransfer.cli import main
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment
from algotransfer.methods import METHODS, TransferMethod
from algotransfer.supervisions import SUPERVISIONS


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "nee"}, "unknown network 'nee' .*'ne'"),
        ({"model": "NE"}, r"unknown network 'NE' \(did you mean 'ne'\?\)"),
        ({"target": "dijkstr"}, r"unknown algorithm 'dijkstr' \(did you mean 'dijkstra'\?\)"),
        ({"base": ("prm",), "method": "freeze"}, "unknown algorithm 'prm' .*'prim'"),
        ({"supervision": "ta"}, "unknown supervision 'ta'.*; choose one of tf, na"),
        ({"method": "freez", "base": ("prim",)}, "unknown transfer method 'freez' .*'freeze'"),
        ({"select": "bets"}, "Experiment: select is .bets. .* expected .best. or .mean."),
        ({"hidden": "32"}, r"hidden is '32' \(of type str\); expected int or None"),
        ({"hidden": True}, "hidden is True .of type bool.; expected int or None"),
        ({"base": "prim", "method": "freeze"}, "base is 'prim'.* expected tuple"),
    ],
)
def test_wrong_names_and_types_are_user_errors(fields, message):
    with pytest.raises(UserError, match=message):
        Experiment(**fields)


def test_every_registered_supervision_is_accepted(monkeypatch):
    monkeypatch.setitem(SUPERVISIONS, "hints", SUPERVISIONS["tf"])
    assert Experiment(supervision="hints").tasks == (("dijkstra", "hints"),)


def test_numbers_of_numpy_become_python_numbers():
    experiment = Experiment(hidden=np.int64(16), learning_rate=np.array(0.5), patience=np.int32(3))
    assert experiment == Experiment(hidden=16, learning_rate=0.5, patience=3)
    assert Experiment.from_json(json.loads(json.dumps(experiment.to_json()))) == experiment


@pytest.mark.parametrize("wrong", [None, [], {}, {"base": None}, {"base": [[]]}, {"x": 1}])
def test_json_is_validated(wrong):
    with pytest.raises(UserError):
        Experiment.from_json(wrong)


@pytest.mark.parametrize(
    ("method", "base"), [("none", ("prim",)), ("freeze", ()), ("multitask", ())]
)
def test_methods_and_bases_go_together(method, base):
    with pytest.raises(ValueError, match="every method but 'none' needs a base algorithm"):
        Experiment(method=method, base=base)


def test_bases_are_different():
    with pytest.raises(UserError, match=r"base \['prim', 'prim'\]; name each base algorithm once"):
        Experiment(method="multitask", base=("prim", "prim"))
    assert Experiment(method="multitask", base=("dijkstra",)).target == "dijkstra"


def test_a_new_method_is_one_line(monkeypatch, capsys):
    """Its entry decides tasks, width and base; the command line accepts it."""
    monkeypatch.setitem(METHODS, "beside", TransferMethod(("base", "fresh"), (True, False), True))
    experiment = Experiment(model="ne++", method="beside", base=("prim",))
    assert experiment.tasks == (("prim", "tf"), ("dijkstra", "na"))
    assert experiment.width == 16
    assert experiment.pretraining() == Experiment(
        model="ne++", target="prim", supervision="tf", hidden=16
    )
    assert experiment.name == "ne++-prim-dijkstra-na-beside"
    words = ["train", "--method", "beside", "--preset", "papr", "--base", "prim"]
    assert main(words) == 2  # because of the preset, not the method
    assert "unknown preset 'papr'" in capsys.readouterr().err
    assert main(["train", "--method", "besid", "--base", "prim"]) == 2
    assert "unknown transfer method 'besid' (did you mean 'beside'?)" in capsys.readouterr().err


@pytest.mark.parametrize("field", ["learning_rate", "clip_norm", "tolerance", "infinity"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, 1e39])
def test_numbers_are_finite(field, value):
    with pytest.raises(ValueError, match=rf"{field}=.+; expected .*finite as float32"):
        Experiment(**{field: value})


def test_methods_are_known_without_jax():
    code = "import sys, algotransfer.cli.main; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_infinity_beyond_float32_is_refused_before_training(tmp_path, capsys):
    assert main(["train", "--infinity", "1e39", "--folder", str(tmp_path / "runs")]) == 2
    assert "infinity=1e+39; expected 'instance'" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("field", ["learning_rate", "clip_norm", "infinity"])
def test_numbers_that_float32_rounds_to_zero_are_refused(field):
    with pytest.raises(ValueError, match=f"{field}=1e-46; expected .*a number above 0"):
        Experiment(**{field: 1e-46})
