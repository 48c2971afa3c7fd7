"""Virtual environments of the compared libraries, dm-clrs and PyTorch Geometric.

Each has its own environment `.venv-<peer>`, because of TensorFlow and torch, and runs in its own
process. `python benchmarks/peers/environments.py clrs pyg` creates both (3 GB and 1 GB).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Exact versions make ratios repeatable. All have the same jax, so that ratios do not compare two
# compilers. Our bridges need equinox, optax and beartype. The CPU is measured, even if `torch`
# includes CUDA.
REQUIREMENTS = {
    "clrs": [
        "dm-clrs==2.0.3",
        "dm-haiku==0.0.17",
        "jax==0.10.2",
        "tensorflow==2.21.0",
        "equinox==0.13.8",
        "beartype==0.23.1",
    ],
    "pyg": [
        "torch==2.13.0",
        "torch_geometric==2.8.1",
        "jax==0.10.2",
        "equinox==0.13.8",
        "optax==0.2.8",
        "beartype==0.23.1",
    ],
}


def how_to_make(peer: str) -> str:
    """Return the message for a missing environment."""
    return f"no .venv-{peer}: make it with `python benchmarks/peers/environments.py {peer}`"


def python_of(peer: str) -> Path | None:
    """Return the interpreter of a peer's environment, or None if it is not ready."""
    folder = ROOT / f".venv-{peer}"
    return folder / "bin" / "python" if _is_ready(folder, peer) else None


def make(peer: str) -> None:
    """Create the environment of a peer, unless it exists with the same requirements."""
    folder = ROOT / f".venv-{peer}"
    if _is_ready(folder, peer):
        print(f".venv-{peer} is ready: {', '.join(REQUIREMENTS[peer])}")
        return
    venv.create(folder, with_pip=True, clear=True)
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    print(f"installing {' '.join(REQUIREMENTS[peer])} into .venv-{peer} …", flush=True)
    subprocess.run([*install, "--disable-pip-version-check", *REQUIREMENTS[peer]], check=True)
    (folder / "ready.json").write_text(json.dumps(REQUIREMENTS[peer]))


def _is_ready(folder: Path, peer: str) -> bool:
    stamp = folder / "ready.json"  # written last: an interrupted installation leaves none
    return stamp.exists() and json.loads(stamp.read_text()) == REQUIREMENTS[peer]


class Peer:
    """A script that runs in a peer's environment and answers JSON lines with JSON lines.

    The process stays alive between questions, so that its repeats can alternate with ours.
    """

    def __init__(self, peer: str, script: str, *arguments: str):
        python = python_of(peer)
        if python is None:
            raise FileNotFoundError(how_to_make(peer))
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by __exit__)
        self._process = subprocess.Popen(
            [python, Path(__file__).with_name(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"},
        )

    def ask(self, **question) -> dict:
        """Send a question and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has died, so no answer will come
            print(json.dumps(question), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            self._errors.seek(0)
            raise RuntimeError(f"{self._process.args} ended early:\n{self._errors.read()[-2000:]}")
        return json.loads(answer)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_) -> None:
        self._process.communicate()  # closes its input, which ends it
        self._errors.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="+", choices=REQUIREMENTS, help="environments to create")
    for peer in parser.parse_args().peers:
        make(peer)


if __name__ == "__main__":
    main()
