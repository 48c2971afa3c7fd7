"""What the README and the documentation show works, and what they point at exists."""

import importlib.util
import itertools
import json
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas
import pytest
from tyro.extras import subcommand_cli_from_dict

import algotransfer
from algotransfer.algorithms import ALGORITHMS
from algotransfer.cli.main import COMMANDS, main
from algotransfer.networks import MODELS, PROCESSORS
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.transfer import METHODS


@pytest.fixture(scope="module", autouse=True)
def registries_are_left_as_they_were():
    """Pages register what they add; other tests of this process must not see it."""
    registries = (ALGORITHMS, METHODS, MODELS, PROCESSORS, SUPERVISIONS)
    before = [dict(registry) for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)


ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
# A fenced block, its language, and whether the line before it says why it is not run.
BLOCK = re.compile(r"(<!-- not run: .*? -->\n)?```(python|sh|csv)\n(.*?)```", re.DOTALL)
QUICK = {"list", "data", "execute", "explore"}  # commands that are run; the others must parse


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read_command(words: list[str]):
    """What the command line makes of some words; it exits if it does not know them."""
    return subcommand_cli_from_dict(COMMANDS, args=words)


def check_shell(line: str) -> None:
    """Runs a quick command of ours; of others, checks that what they name is there."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["algotransfer"]:
        read_command(words[1:])
        if words[1] in QUICK:
            assert main(words[1:]) == 0, line
    elif words[:2] == ["python", "-m"]:
        assert find_spec(words[2]) is not None, line
    elif words and words[0].endswith("python"):
        assert (ROOT / words[1]).is_file(), line
    elif words and words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
    else:
        assert words[:2] in ([], ["pip", "install"]), f"nobody checks {line!r}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_reader_can_follow_the_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for skipped, language, block in BLOCK.findall(page.read_text()):
        if language == "csv":
            Path("huts.csv").write_text(block)
        elif language == "sh":
            for line in block.splitlines():
                check_shell(line)
        else:
            code = compile(block, name_of(page), "exec")
            if not skipped:
                exec(code, names)


def test_most_code_is_run():
    blocks = [block for page in PAGES for block in BLOCK.findall(page.read_text())]
    run = [language for skipped, language, _ in blocks if not skipped]
    assert run.count("python") >= 6
    assert run.count("sh") >= 10


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_the_text_are_understood(page):
    for command in re.findall(r"`algotransfer ([a-z][^`\n]*)`", page.read_text()):
        words = shlex.split(command)
        assert words[0] in COMMANDS
        if words[1:]:  # a command alone is spoken of, not shown
            read_command(words)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    files = [link for link in links if not link.startswith("https://")]
    assert [link for link in files if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_named_in_the_text_exist(page):
    named = re.findall(r"`((?:examples|results|benchmarks|docs)/[\w./-]*\w)`", page.read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_targets_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert {"demo", "test", "help", "docs"} <= set(targets)
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert [page for page in pages if f": {page}\n" not in navigation] == []


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference.md").read_text()
    documented = set(re.findall(r"^::: [\w.]+\.(\w+)$", text, re.MULTILINE))
    assert set(algotransfer.__all__) - documented == {"ALGORITHMS"}  # a dict, described there
    assert "`ALGORITHMS`" in text


def test_pictures_are_small_and_used():
    text = "".join(page.read_text() for page in PAGES)
    pictures = sorted((DOCS / "images").glob("*"))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < (1_500_000 if picture.suffix == ".webp" else 200_000)
        assert f"images/{picture.name})" in text


@pytest.fixture
def hooks():
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module, before = importlib.util.module_from_spec(spec), [*sys.path]
    spec.loader.exec_module(module)
    sys.path[:] = before  # as MkDocs does
    return module


def test_hooks_import_their_neighbours_while_they_are_loaded(hooks):
    assert len(hooks.live_page().scene["models"]) == 5


def test_measurements_on_the_page_about_speed_come_from_files(hooks):
    text = hooks.on_page_markdown((DOCS / "speed.md").read_text(), page=None)
    assert "(../results)" not in text  # the link that GitHub shows
    files = list((ROOT / "results").glob("bench-*.json"))
    assert files
    for path in files:
        for row in json.loads(path.read_text())["rows"]:
            values = row.get("graphs_per_second", row.get("seconds"))
            for value in values.values() if isinstance(values, dict) else [values]:
                assert f"| {hooks.number(value)} |" in text


def test_a_comparison_becomes_a_table(hooks):
    rows = [{"nodes": 20, "algorithm": "bfs", "graphs_per_second": {"ours": 3000.0, "other": 20.0}}]
    text = hooks.bench_table({"machine": {"cores": 2, "jax": "1.0"}, "rows": rows}, "bench-x.json")
    assert "| nodes 20, algorithm bfs | other | 20 | 150.0× |" in text
    assert "results/bench-x.json" in text
    rows = [{"pass": "forward", "seconds": {"ours": 0.5, "other": 3.0}}]
    text = hooks.bench_table({"machine": {"cores": 2, "jax": "1.0"}, "rows": rows}, "bench-x.json")
    assert "| pass forward | other | 3 | 6.0× |" in text


def test_shares_of_what_the_device_can_do_become_columns(hooks):
    row = {
        "part": "train",
        "what": "ne, 8 seeds",
        "graphs_per_second": 1234.0,
        "milliseconds_per_step": 500.0,
        "compile_seconds": 3.0,
        "memory_bytes": 2**30,
        "peak_bytes": 2**31,
        "operations": 1e9,
        "bytes": 1e6,
    }
    bench = {
        "rows": [row, row | {"operations": None, "bytes": None}],
        "ceilings": {"operations_per_second": 4e9, "bytes_per_second": 1e9},
        "command": ["algotransfer", "bench"],
        "device": {"kind": "cpu"},
        "packages": {"jax": "1.0"},
    }
    text = hooks.bench_table(bench, "bench-x.json")
    assert "| train: ne, 8 seeds | 1,234 | 500.00 | 3 | 1.00 GiB |" in text
    assert "| 1e+03 Mop, 1 MB | 50.0% | 0.2% |" in text


def test_formulas_become_pictures(hooks):
    text = hooks.on_page_markdown((DOCS / "concepts.md").read_text(), page=None)
    assert "```math" not in text
    assert text.count('<svg role="img" aria-label="') == 2
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_formulas_are_understood(page, hooks):
    for latex in hooks.formulas.BLOCK.findall(page.read_text()):
        assert hooks.formulas.formula(latex.strip()).endswith("</svg>")


def test_the_script_for_slurm_is_that_of_the_examples():
    script = (ROOT / "examples" / "cluster" / "slurm.sh").read_text()
    assert f"```bash\n{script}```" in (DOCS / "how-to" / "cluster.md").read_text()


def test_other_pages_pass_through(hooks):
    assert hooks.on_page_markdown("# A page", page=None) == "# A page"


def test_the_live_page_replaces_its_picture_in_the_site(hooks):
    text = hooks.on_page_markdown((DOCS / "index.md").read_text(), page=None)
    assert '<iframe src="live.html#step=49"' in text
    assert "explore.webp" not in text
    text = hooks.on_page_markdown((DOCS / "results.md").read_text(), page=None)
    assert "](report.html#claims)" in text
    assert "../results/report.html" not in text


def test_the_front_page_has_the_measured_speeds():
    """Each row: graphs per second or seconds, of two libraries in a file, and their quotient."""
    text = (DOCS / "index.md").read_text()
    shown = re.findall(r"\| ([\d,.]+) \| .*? ([\d,.]+) \| (\d+) \|", text)
    data, training, step = (
        json.loads((ROOT / "results" / f"bench-{name}-cpu.json").read_text())["rows"]
        for name in ("data", "training", "step")
    )
    traces = {
        row["nodes"]: row["graphs_per_second"] for row in data if row["algorithm"] == "dijkstra"
    }
    pairs = [(traces[n]["algotransfer"], traces[n]["dm-clrs"]) for n in (20, 64)]
    rates = training[0]["graphs_per_second"]
    pairs += [(rates[name], rates["dm-clrs, true hints"]) for name in ("NE", "NE++")]
    seconds = step[0]["seconds"]
    rows = [(f"{ours:,.0f}", f"{other:,.0f}", f"{ours / other:.0f}") for ours, other in pairs]
    ours, other = seconds["algotransfer"], seconds["PyTorch Geometric"]
    assert shown == [*rows, (f"{ours:.3f}", f"{other:.3f}", f"{other / ours:.0f}")]


def test_the_page_of_results_has_the_numbers_of_the_tables():
    text = (DOCS / "results.md").read_text()
    cells = pandas.read_csv(ROOT / "results" / "tables.csv", keep_default_na=False)
    cells = cells[(cells["num_nodes"] == 100) & (cells["graph"] == "mean")]
    cells = cells[(cells["metric"] == "pred") & (cells["supervision"] == "na")]
    targets = {
        "Dijkstra (Prim)": ("dijkstra", "prim"),
        "most reliable path (widest path)": ("reliable_seq", "widest_seq"),
        "Bellman–Ford (BFS)": ("bellman_ford", "bfs"),
        "parallel most reliable path (widest path)": ("reliable_par", "widest_par"),
    }
    methods = ("none", "freeze", "fine_tune", "two_processor", "multitask")
    for (label, (target, base)), model in itertools.product(targets.items(), ("NE", "NE++")):
        (line,) = re.findall(
            rf"^\| {re.escape(f'{label}, {model}')} \| (.*) \|$", text, re.MULTILINE
        )
        rows = cells[(cells["target"] == target) & (cells["model"] == model)]
        for method, shown in zip(methods, line.split(" | "), strict=True):
            row = rows[(rows["method"] == method) & rows["source"].isin(["", base])].iloc[0]
            median, low, high = (float(row[name]) for name in ("median", "low", "high"))
            paper = float(row["paper"])
            seeds = f"{float(row['seeds']):g} seeds"
            assert shown == f"{median:.3f} ({seeds}, {low:.3f}–{high:.3f}), {paper:g}"
    claims = (ROOT / "results" / "results.md").read_text()
    verdict = r"(?:undecided|holds|contradicted)\W*: (?:factor )?"
    found = re.findall(rf"{verdict}([\d.]+), (?:95 % interval )?([\d.]+)–([\d.]+)", text)
    assert len(found) == 10
    for factor, low, high in found:
        assert f"| {factor} [{low}, {high}], " in claims
