"""Writes how much was tried where `make faults` wants it."""

import os
from pathlib import Path

import pytest
from bad_input.tried import TRIED

from algotransfer.training.runs import environment, write_json


@pytest.fixture(scope="package", autouse=True)
def count(request):
    failed = request.session.testsfailed
    yield
    if "FUZZ_OUT" in os.environ:
        crashes = request.session.testsfailed - failed
        record = environment()
        record["command"] = ["python", "-m", "pytest", *record["command"][1:]]
        record["profile"] = os.environ.get("HYPOTHESIS_PROFILE")
        content = {"inputs": dict(TRIED), "crashes": crashes}
        write_json(Path(os.environ["FUZZ_OUT"]), {**record, **content})
