"""Compile the GPU kernels of training for an H200, without a GPU, and show what they use.

    pip install triton
    python benchmarks/kernel_resources.py

Registers, spilled bytes and shared memory decide how many programs run on a multiprocessor at a
time. JAX lowers the kernels to the language of Triton, which the package `triton` compiles. XLA
has another version of Triton, so the numbers on a GPU can differ.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import jax
from choosing_pass import setting_of, training_step_of
from jax.sharding import AbstractDevice, AbstractMesh, use_abstract_mesh
from jaxlib.mlir import ir
from jaxlib.triton import dialect
from rich.console import Console
from rich.table import Table

H200 = SimpleNamespace(platform="gpu", compute_capability="9.0")
ABSTRACT_H200 = AbstractDevice(device_kind="NVIDIA H200", num_cores=None, platform="gpu")
WARP = 32  # threads


def lowered_kernels(model: str) -> Iterator[tuple[str, int, str]]:
    """Yield name, number of warps and Triton code of every kernel of a training step."""
    experiment, tasks, arguments = setting_of(model, seeds=2, graphs=6, trajectories=10)
    with (
        patch("algotransfer.devices.default_device", lambda: H200),
        jax.default_matmul_precision(experiment.precision),
        use_abstract_mesh(AbstractMesh((1,), ("one",), abstract_device=ABSTRACT_H200)),
    ):
        traced = jax.jit(training_step_of(tasks)).trace(*arguments)
        module = traced.lower(lowering_platforms=("cuda",)).compiler_ir()
    dialect.register_dialect(module.context)
    found = {}

    def visit(operation):
        if "mhlo.backend_config" in operation.attributes:
            settings = operation.attributes["mhlo.backend_config"]
            if isinstance(settings, ir.DictAttr) and "ir" in settings:
                name = ir.StringAttr(settings["name"]).value
                warps = ir.IntegerAttr(settings["num_warps"]).value
                code = ir.StringAttr(settings["ir"]).value_bytes
                found[name] = warps, str(ir.Module.parse(code, module.context))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for name, (warps, code) in found.items():
        yield name, warps, code


def resources(code: str, warps: int) -> dict[str, int]:
    """Compile a kernel; return registers per thread, spilled bytes and shared memory."""
    import triton
    from triton.backends.compiler import GPUTarget

    with tempfile.TemporaryDirectory() as folder:
        source, assembly = Path(folder, "kernel.ttir"), Path(folder, "kernel.ptx")
        source.write_text(code)
        target = GPUTarget("cuda", int(10 * float(H200.compute_capability)), WARP)
        options = {"num_warps": warps, "num_stages": 1}
        kernel = triton.compile(str(source), target=target, options=options)
        assembly.write_text(kernel.asm["ptx"])
        (assembler,) = Path(triton.__file__).parent.glob("backends/nvidia/bin/ptxas-blackwell")
        command = [assembler, "-v", "-arch=sm_90a", assembly, "-o", Path(folder, "kernel.cubin")]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    registers, spilled = (
        int(re.findall(pattern, printed)[-1])
        for pattern in (r"Used (\d+) registers", r"(\d+) bytes spill stores")
    )
    shared = kernel.metadata.shared
    return {"registers": registers, "spilled": spilled, "shared memory": shared}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["ne++", "ne"])
    options = parser.parse_args()
    heads = ("network", "kernel", "warps", "registers", "spilled bytes", "shared bytes")
    table = Table(*heads, title="Registers and spills per thread, shared memory per program")
    for model in options.model:
        for name, warps, code in lowered_kernels(model):
            used = resources(code, warps)
            table.add_row(model, name, str(warps), *(f"{number:,}" for number in used.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
