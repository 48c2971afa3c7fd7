"""What the README shows works."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_links_in_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    files = [link for link in links if not link.startswith("https://")]
    assert files
    assert [link for link in files if not (ROOT / link).exists()] == []


def test_targets_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert {"demo", "test", "help", "docs"} <= set(targets)
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []
