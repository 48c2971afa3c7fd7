"""A report of the paper's own numbers, shared by the tests."""

import pytest
from report.cases import as_printed, by_name

from algotransfer.report.report_data import make_report


@pytest.fixture(scope="session")
def results():
    return as_printed()


@pytest.fixture(scope="session")
def report(results):
    return make_report(results)


@pytest.fixture(scope="session")
def tables(report):
    return by_name(report)
