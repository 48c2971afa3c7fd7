"""Fuzzing of file readers guided by coverage: `python -m bad_input.guided`.

[atheris](https://github.com/google/atheris) changes good files until a reader does something new.
A reader may accept a file or refuse it with a `ValueError`; it has ten seconds and 4 GiB. Each
reader gets a process of its own, since libFuzzer ends the one it runs in.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

SECONDS, MEGABYTES = 10, 4096  # that one file may take
SAMPLES = Path(__file__).parents[1] / "bridges" / "clrs_feedback.npz"
CSV = b"source,target,weight\na,b,0.5\nb,c,1e-3\n"
GRAPHML = b"""<graphml><key id="w" for="edge" attr.name="weight"><default>1</default></key>
<graph edgedefault="undirected"><node id="a"/><node id="b"/>
<edge source="a" target="b"><data key="w">0.5</data></edge></graph></graphml>"""
RECORD = b'[{"device":{"platform":"cpu"},"epochs":[0,3]}]'


def good_data() -> bytes:
    """A data file as `algotransfer data` writes it."""
    from algotransfer.datasets import make_dataset, save_dataset

    with tempfile.TemporaryDirectory() as folder:
        save_dataset(make_dataset("er", 1, 3), Path(folder) / "a.npz", "bfs")
        return (Path(folder) / "a.npz").read_bytes()


def good_card() -> bytes:
    """What a file of weights says about itself."""
    from algotransfer.array_files import load_arrays
    from algotransfer.training import committed_weights

    card = load_arrays(next(iter(committed_weights().values())))[1]
    return json.dumps({key: value for key, value in card.items() if key != "sha256"}).encode()


def good_samples() -> bytes:
    """A graph of dm-clrs with its answer."""
    import numpy as np

    stream = io.BytesIO()
    with np.load(SAMPLES) as file:
        np.savez_compressed(stream, **{k: file[k][:1] for k in file if k.startswith("bfs.")})
    return stream.getvalue()


def graph(suffix):
    """Reads a graph."""

    def read(content: bytes, folder: Path) -> None:
        from algotransfer.graphs import read_graph

        path = folder / f"any{suffix}"
        path.write_bytes(content)
        read_graph(path)

    return read


def data(content: bytes, folder: Path) -> None:
    """Reads a data file."""
    from algotransfer.datasets import load_dataset

    path = folder / "any.npz"
    path.write_bytes(content)
    load_dataset(path)


def samples(content: bytes, folder: Path) -> None:
    """Reads samples of dm-clrs."""
    from algotransfer.bridges.clrs import import_clrs

    path = folder / "any.npz"
    path.write_bytes(content)
    import_clrs(path)


def card(content: bytes, folder: Path) -> None:
    """Reads weights whose hash is right, whatever their card says."""
    from algotransfer.array_files import load_arrays, save_arrays
    from algotransfer.training import committed_weights, load_model

    header = json.loads(content)
    if isinstance(header, dict) and "sha256" not in header:
        arrays = load_arrays(next(iter(committed_weights().values())))[0]
        save_arrays(folder / "any.npz", arrays, header)  # refuses what JSON has no word for
        load_model(folder / "any.npz")


def record(content: bytes, folder: Path) -> None:
    """Reads what a run says about its machine, as it is and with the right hash."""
    from algotransfer.experiment import fingerprint
    from algotransfer.training.provenance import read_provenance

    path = folder / "environment.json"
    path.write_bytes(content)
    assert isinstance(read_provenance(folder), list)
    slices = {"slices": json.loads(content)}
    path.write_text(json.dumps({**slices, "sha256": fingerprint(slices)}))
    assert isinstance(read_provenance(folder), list)


# By kind of file: how one is read, and good ones to begin with.
READERS = {
    "CSV files": (graph(".csv"), lambda: [CSV]),
    "GraphML files": (graph(".graphml"), lambda: [GRAPHML]),
    "data files": (data, lambda: [good_data()]),
    "cards of weights": (card, lambda: [good_card()]),
    "samples of dm-clrs": (samples, lambda: [good_samples()]),
    "JSON files": (record, lambda: [RECORD]),
}


def fuzz(kind: str, options: list[str]) -> None:
    """Fuzzes one reader and ends the process."""
    import atheris

    read, good = READERS[kind]
    with tempfile.TemporaryDirectory() as folder:

        def one(content: bytes) -> None:
            with suppress(ValueError):
                read(content, Path(folder))

        with atheris.instrument_imports(include=["algotransfer", "zipfile"]):
            for content in good():  # imports what is needed
                one(content)
        atheris.Setup([sys.argv[0], *options], one)
        atheris.Fuzz()


def campaign(kind: str, seconds: int) -> tuple[int, str]:
    """How many files were tried, and what was said of one that broke its reader."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for index, content in enumerate(READERS[kind][1]()):
            (corpus / str(index)).write_bytes(content)
        limits = [f"-max_total_time={seconds}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}"]
        words = [sys.executable, "-m", "bad_input.guided", "--kind", kind, "--", str(corpus)]
        words += [*limits, f"-artifact_prefix={folder}/"]
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        counts = re.findall(r"^Done (\d+) runs|^#(\d+)\s", done.stderr, re.MULTILINE)
        tried = max((int(a or b) for a, b in counts), default=0)
        broken = [path.read_bytes() for path in Path(folder).glob("*-*")]
        said = (
            "" if done.returncode == 0 else f"{done.stdout}{done.stderr[-1000:]}\n{broken!r:.2000}"
        )
        return tried, said


def main() -> None:
    """Fuzzes all readers, one after the other, or one of them in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=READERS, help="fuzz this kind, with options of libFuzzer")
    parser.add_argument("--seconds", type=int, default=60, help="for each kind")
    parser.add_argument("--out", type=Path, help="file for the numbers (.json)")
    parser.add_argument("options", nargs="*", help="of libFuzzer")
    arguments = parser.parse_args()
    if arguments.kind:
        fuzz(arguments.kind, arguments.options)
    if not find_spec("atheris"):
        print("atheris is not installed here, so no files are made: pip install atheris")
        return
    tried, broken = {}, []
    for kind in READERS:
        tried[kind], said = campaign(kind, arguments.seconds)
        print(f"{kind}: {tried[kind]} files{', one of which broke its reader' if said else ''}")
        broken += [said] if said else []
    if arguments.out:
        from algotransfer.training.runs import environment, write_json

        write_json(arguments.out, {**environment(), "inputs": tried, "crashes": len(broken)})
    if broken:
        raise SystemExit("\n".join(broken))


if __name__ == "__main__":
    main()
