"""The kernels of training compile for an H200."""

import pytest
from kernel_resources import lowered_kernels, resources


@pytest.mark.slow
def test_kernels_compile_within_the_registers_of_a_thread():
    pytest.importorskip("triton")
    kernels = {name: (warps, code) for name, warps, code in lowered_kernels("ne")}
    assert set(kernels) == {"trajectory_program", "forward_program", "backward_program"}
    for warps, code in kernels.values():
        used = resources(code, warps)
        assert 0 < used["registers"] <= 255
        assert used["shared memory"] <= 228 * 1024  # of a multiprocessor
