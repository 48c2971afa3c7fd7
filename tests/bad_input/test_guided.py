"""The fuzzer that sees coverage: it begins with good files, and finds what is planted."""

from importlib.util import find_spec

import pytest
from bad_input import guided


@pytest.mark.parametrize("kind", guided.READERS)
def test_it_begins_with_good_files(kind, tmp_path):
    read, good = guided.READERS[kind]
    for content in good():
        read(content, tmp_path)


@pytest.mark.parametrize("kind", guided.READERS)
def test_bad_files_are_refused(kind, tmp_path):
    read, good = guided.READERS[kind]
    for content in good():
        if kind != "JSON files":  # logs and records are cut or ignored
            with pytest.raises(ValueError):  # noqa: PT011
                read(content[: len(content) // 2], tmp_path)


@pytest.mark.skipif(find_spec("atheris") is None, reason="pip install '.[fuzz]'")
def test_it_runs():
    tried, said = guided.campaign("CSV files", 3)
    assert tried > 100
    assert not said
