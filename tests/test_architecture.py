"""The architecture page is true: imports go down, no cycles, and the named files exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import algotransfer

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
PACKAGE = SRC / "algotransfer"
PAGE = ROOT / "docs" / "architecture.md"

# (importing module, imported module) that may point up, each with its reason. Keep it short.
UPWARD: dict[tuple[str, str], str] = {}
MOST_SEQUENTIAL = 4  # places outside the frameworks that ask whether an algorithm is sequential


def _name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one, those under `if TYPE_CHECKING:` excepted."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _is_type_checking(child):
            for other in child.orelse:
                yield from (other, *_statements(other))
        else:
            yield from (child, *_statements(child))


@cache
def _lazy_names(package: str) -> dict[str, str]:
    """The module of each public name of a package that ends with `make_lazy`."""
    tree = _tree(MODULES[package])
    if "make_lazy" not in ast.unparse(tree):
        return {}
    return {
        alias.name: str(line.module)
        for block in tree.body
        if isinstance(block, ast.If) and _is_type_checking(block)
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }


def _resolve(module: str, name: str) -> str | None:
    """The module of the package that `from module import name` loads."""
    if f"{module}.{name}" in MODULES and name not in _lazy_names(module):
        return f"{module}.{name}"
    if module not in MODULES:
        return None
    further = _lazy_names(module).get(name)
    return module if further is None else _resolve(further, name)


def _imports(module: str) -> Iterator[str]:
    for node in _statements(_tree(MODULES[module])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import; write the full name"
            found = (_resolve(str(node.module), alias.name) for alias in node.names)
            yield from (target for target in found if target is not None)


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """An edge from each module to each module that it imports, inside functions too."""
    graph = nx.DiGraph()
    graph.add_nodes_from(MODULES)
    graph.add_edges_from((m, other) for m in MODULES for other in _imports(m) if other != m)
    return graph


def _section(title: str) -> str:
    """The text of a section of the architecture page."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no section {title!r}"
    return found[1]


def _cells(title: str) -> list[list[str]]:
    """The rows of the table of a section, without its head."""
    lines = [line for line in _section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _layers() -> dict[str, int]:
    """The row of each package and top-level module in the table of packages."""
    return {
        name: row
        for row, cells in enumerate(_cells("Packages"))
        for name in re.findall(r"`(\w+)`", cells[0])
    }


def _unit(module: str) -> str:
    """The package or top-level module that a module belongs to."""
    return (*module.split("."), "__init__")[1]


def test_the_page_lists_every_package_and_top_level_module():
    assert _layers().keys() == {_unit(module) for module in MODULES}


def test_imports_go_from_later_rows_to_earlier_ones(imports):
    layers = _layers()
    upward = {
        edge
        for edge in imports.edges
        if layers[_unit(edge[1])] > layers[_unit(edge[0])]
        # The package's public names are lazy, so importing the package itself loads nothing.
        and _unit(edge[1]) != "__init__"
    }
    assert upward == UPWARD.keys()


def test_no_module_imports_itself_through_others(imports):
    cycles = [sorted(part) for part in nx.strongly_connected_components(imports) if len(part) > 1]
    assert not cycles


def test_few_places_ask_whether_an_algorithm_is_sequential():
    places = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in MODULES.values()
        if "frameworks" not in path.parts
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "sequential"
    ]
    assert len(places) <= MOST_SEQUENTIAL, "\n".join(places)


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    missing = [
        name for name in algotransfer.__all__ if not re.search(rf"[.`]{name}(`|$)", text, re.M)
    ]
    assert not missing


def _named_files(text: str) -> list[str]:
    return re.findall(r"`([\w/.]+\.(?:py|md|svg))`", text)


def _find(name: str) -> Path | None:
    """A file that the page names, from the package or from the root of the repository."""
    return next((base / name for base in (PACKAGE, ROOT) if (base / name).is_file()), None)


def test_every_file_named_on_the_page_exists():
    names = _named_files(PAGE.read_text(encoding="utf-8"))
    assert names
    assert not [name for name in names if _find(name) is None]


def _path_of_a_step() -> list[str]:
    """The modules of the path of one training step, in the order of the page."""
    items = re.findall(r"^\d+\. `([\w/]+\.py)`", _section("One training step"), re.MULTILINE)
    return [_name(PACKAGE / item) for item in items]


def _loads(module: str, imports: nx.DiGraph) -> set[str]:
    """What a module imports, through packages that re-export too, and what its registries name."""
    direct = set(imports.successors(module))
    packages = [other for other in direct if MODULES[other].name == "__init__.py"]
    strings = re.findall(r'"(algotransfer[\w.]*):\w+"', MODULES[module].read_text(encoding="utf-8"))
    return direct.union(strings, *map(imports.successors, packages))


def test_the_path_of_a_step_enters_each_file_once_and_follows_imports(imports):
    path = _path_of_a_step()
    assert len(path) > 5
    assert len(set(path)) == len(path)
    for position, module in enumerate(path[1:], start=1):
        before = set().union(*(_loads(earlier, imports) for earlier in path[:position]))
        assert module in before, f"no file before {module} imports it"


def test_every_seam_names_a_file_and_what_is_in_it():
    rows = _cells("Where to add things")
    assert len(rows) >= 9
    for row in rows:
        files = [_find(name) for name in _named_files(row[1])]
        assert files, row
        text = "".join(path.read_text(encoding="utf-8") for path in files if path)
        for name in re.findall(r"`([A-Z]\w+)(?:\.\w+)?`", row[1]):
            assert name in text, f"{name} is in none of the files of {row[0]!r}"


def test_the_picture_shows_every_package():
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    packages = {_unit(m) for m in MODULES if (PACKAGE / _unit(m)).is_dir()}
    assert not [name for name in sorted(packages) if f">{name}<" not in picture]
