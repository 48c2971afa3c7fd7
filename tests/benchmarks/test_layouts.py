"""The comparison of layouts: networks without committed weights, too."""

from itertools import islice

from layouts import measure_layouts


def test_gradients_and_executions_are_measured():
    gradient, execution = islice(measure_layouts("relax", (6,), repeats=1), 2)
    assert gradient.what == "gradient, relax, dense, 6 nodes"
    assert execution.what == "execution, relax, dense, 6 nodes"
