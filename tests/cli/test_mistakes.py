"""The most likely mistakes of a newcomer: each is answered by one sentence that leads on."""

import json
import re
from pathlib import Path

import networkx
import pytest

import algotransfer as at
from algotransfer.cli import main

ON_THE_COMMAND_LINE = {
    "trian": "unknown command 'trian' (did you mean 'train'?)",
    "": "no command; choose one of list, data, train",
    "train --epoch 5": "train has no option '--epoch' (did you mean '--max-epochs'?)",
    "train --sedes=3": "(did you mean '--seeds'?)",
    "train --target djikstra": "unknown algorithm 'djikstra' (did you mean 'dijkstra'?)",
    "train --hidden wide": "--hidden 'wide'; expected INT",
    "train --device tpu": "--device 'tpu'; choose one of cpu, gpu",
    "train --seeds": "--seeds without a value; expected INT",
    "train --supervision tf --extra-steps 3": "extra_steps=3 with supervision 'tf'",
    "train --data own.npz --preset small": "--preset and --data both say which graphs",
    "train --validation-share 0.2": "--validation-share divides your own graphs; add --data FILE",
    "train --data huts.csv": "`algotransfer data --algorithm dijkstra --graph huts.csv --out own",
    "train --data toll.json": "--graph FILE --out own.npz` from a graph file (.csv, .graphml)",
    "train --data clrs30": "--data clrs30: this is a preset, not a data file; use --preset clrs30",
    "train --seeds 0": "error: seeds=0; expected at least 1 and at most 1000",
    "train --data-seed -1": "error: --data-seed -1; expected 0 or more",
    "train --checkpoint-seconds nan": "error: --checkpoint-seconds nan; expected 0 or more",
    "train --method fine_tune": "needs a base algorithm (--base prim)",
    "evaluate": "evaluate needs MODEL: Trained model: a name (`algotransfer list models`)",
    "evaluate a --halts x": "evaluate has no option '--halts' (did you mean '--halt'?)",
    "evaluate a b": "unexpected argument 'b' of evaluate",
    "evaluate ne-dijkstra-na --data x.npz --num-nodes 20": "--num-nodes samples test graphs",
    "evaluate relax-bellman_ford --data clrs30": "use --preset clrs30",
    "evaluate ne-dijkstra-na --keep": "--keep applies to the table in a run folder",
    "compare": "compare needs MODELS: run folders, weights files or names of models",
    "compare ne-dijkstra-na --data x.npz --family er": "--family samples test graphs; leave it out",
    "discover --target prim --data x.npz --seed 3": "--seed samples training graphs; leave it out",
    "train --supervision tf --trajectories 3": "--trajectories concerns trajectories, which are",
    "train --target bfs --select mean": "--select concerns trajectories, which are sampled for",
    "bench --part data --steps 5": "--steps concerns the part large, which is not measured",
    "certify step.json --model-seed 1": "--model-seed chooses a network of a trained model",
    "report --weights copies": "--weights copies the weights of --folder; add it, or leave both",
    "explore --blind": "--blind is a setting of networks; name a trained model too",
    "sweep --model ne --dry-run --for 8m": "--dry-run runs no step, so --for has nothing to limit",
    "data --task bfs": "--task names a task of CLRS-30; add --preset clrs30",
    "data --preset clrs30 --task": "--task without a value; give one or more, or leave it out",
    "data --task bfs --task=dijkstra": "--task is given 2 times; give it once, with all values",
    "data --out graphs.csv": "datasets are written as .npz files",
    "bench --largest 1000000000000": "--largest 1000000000000; expected at least 2 and at most 1,",
    "train --infinity 1e300": "infinity=1e+300; expected 'instance' or a number above 0, finite",
    "sweep nofile.toml": "error: there is no file nofile.toml; check the path",
    "sweep .": "error: . is a folder; name a file",
    "reproduce --unpack no.tar.gz": "error: there is no file no.tar.gz; check the path",
    "bench --baseline no.json": "error: there is no file no.json; check the path",
    "certify no.json": "error: there is no file no.json; check the path",
    "explore --familly er": "explore has no option '--familly' (did you mean '--family'?)",
}


@pytest.mark.parametrize("command", ON_THE_COMMAND_LINE)
def test_the_command_line_answers_a_mistake_in_one_sentence(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert ON_THE_COMMAND_LINE[command] in said
    assert said.count("\n") == 1
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "command", ["certify toll.json", "list models --target toll", "sweep --processor toll"]
)
def test_names_that_are_not_registered(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step = {"format": "algotransfer step 1", "step": "key", "smaller_is_better": True}
    Path("toll.json").write_text(json.dumps({**step, "target": "toll", "replace_if": "better"}))
    assert main(command.split()) == 2
    assert "run `python FILE` instead of `algotransfer`" in capsys.readouterr().err


def test_a_long_argument_leaves_room_for_the_reason(capsys):
    assert main(["evaluate", "y" * 100_000]) == 2
    said = capsys.readouterr().err
    assert len(said) < 400
    assert said.endswith("File name too long\n")


IN_PYTHON = {
    "unknown algorithm 'dijkstraa' (did you mean 'dijkstra'?)": lambda: at.Experiment(
        target="dijkstraa"
    ),
    "needs a base algorithm": lambda: at.Experiment(method="multitask"),
    "learning_rate=0": lambda: at.Experiment(learning_rate=0.0),
    "unknown graph family 'erdos'": lambda: at.make_dataset("erdos"),
    "no node is named 'Mr. Hi'": lambda: at.run(
        "dijkstra", networkx.karate_club_graph(), source="Mr. Hi"
    ),
    "expected a product of two numbers": lambda: at.make_dataset("grid", 3, 7),
    "unknown preset 'papr' (did you mean 'paper'?)": lambda: at.make_splits("papr"),
    "did you mean": lambda: at.load_model("ne-dijkstra-naa"),
    "there is no file": lambda: at.load_dataset("nothing.npz"),
    "expected at least 1": lambda: at.train(at.Experiment(), seeds=0),
}


@pytest.mark.parametrize("said", IN_PYTHON)
def test_python_answers_a_mistake_in_one_sentence(said):
    with pytest.raises((ValueError, TypeError, OSError), match=re.escape(said)):
        IN_PYTHON[said]()
