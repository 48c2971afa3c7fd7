"""The wheel: built, installed into a new environment, and used there."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command, cwd):
    """The command's output; its errors become the test's message."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    [wheel] = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """An interpreter that has the wheel, and its dependencies borrowed from this environment."""
    folder = tmp_path_factory.mktemp("empty")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index")
    run(*pip, wheel, cwd=folder)
    # Python does not read the .pth files of a folder named in a .pth file, so the editable
    # algotransfer of this environment stays out of sight.
    site = run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=folder).strip()
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    folders = {name.split("/")[0] for name in names}
    assert folders == {"algotransfer", f"{wheel.name.split('-py3')[0]}.dist-info"}
    assert {"algotransfer/py.typed", "algotransfer/paper/paper_tables.csv"} <= set(names)
    static = [path for path in (ROOT / "src" / "algotransfer").glob("*/static/*") if path.is_file()]
    assert {str(path.relative_to(ROOT / "src")) for path in static} <= set(names)
    assert {path.parts[-3] for path in static} == {"explorer", "report"}
    assert not [name for name in names if "__pycache__" in name]
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    assert [name for name in names if name.endswith("cytoscape.LICENSE") and "licenses/" in name]


def test_every_source_file_is_in_the_wheel(wheel):
    package = ROOT / "src"
    sources = {str(path.relative_to(package)) for path in package.rglob("*.py")}
    assert sources <= set(zipfile.ZipFile(wheel).namelist())


def test_installed_wheel_works(python, tmp_path):
    code = """
import algotransfer
print(algotransfer.__file__)
print(*[getattr(algotransfer, name) is not None for name in algotransfer.__all__])
print(len(algotransfer.paper_tables()))
graphs = algotransfer.sample_graphs("grid", num_graphs=3, num_nodes=12)
print(*algotransfer.run("prim", graphs).length)
"""
    file, names, rows, lengths = run(python, "-c", code, cwd=tmp_path).splitlines()
    assert Path(file).is_relative_to(python.parent.parent)
    assert set(names.split()) == {"True"}
    assert rows == "1434"
    assert lengths == "12 12 12"
