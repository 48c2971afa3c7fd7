"""Keeps the working folder; writes how much was tried where `make faults` wants it."""

import os
from pathlib import Path

import pytest
from bad_input.tried import TRIED

from algotransfer.training.runs import environment, write_json


@pytest.fixture(scope="package", autouse=True)
def count(request):
    before, failed = os.getcwd(), request.session.testsfailed
    yield
    os.chdir(before)
    if "FUZZ_OUT" in os.environ:
        crashes = request.session.testsfailed - failed
        content = {"inputs": dict(TRIED), "crashes": crashes}
        write_json(Path(os.environ["FUZZ_OUT"]), {**environment(), **content})
