"""The engine installs anywhere: the wheel holds it alone, and works beside whatever else is there."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

DOCTESTS = """
import doctest, importlib, pkgutil, dpreg
print(dpreg.__file__)
names = ["dpreg", *(info.name for info in pkgutil.walk_packages(dpreg.__path__, "dpreg."))]
found = [doctest.testmod(importlib.import_module(name)) for name in names]
print(sum(one.failed for one in found), sum(one.attempted for one in found))
"""


def run(*command, **more):
    """Run a command without this checkout on its path, and return what it printed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy: building leaves files behind."""
    place = tmp_path_factory.mktemp("source")
    for name in ("dpreg", "lib"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    run(sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", place / "made", place)
    (made,) = (place / "made").glob("*.whl")
    return made


@pytest.mark.slow
def test_the_wheel_holds_the_engine_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"dpreg"}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpreg").rglob("*.py")}
    assert modules <= set(names)


@pytest.mark.slow
def test_the_wheel_works_from_any_folder(wheel, tmp_path):
    """An empty environment, a folder with modules of our names in it, and every example of the engine."""
    python = tmp_path / "environment" / "bin" / "python"
    uv = (sys.executable, "-m", "uv", "--quiet")
    run(*uv, "venv", "--python", sys.executable, tmp_path / "environment")
    run(
        *uv,
        "pip",
        "install",
        "--python",
        python,
        "--constraint",
        ROOT / "tests" / "versions" / "newest.txt",
        f"{wheel}[scale,publish]",
    )
    place = tmp_path / "elsewhere"
    (place / "lib").mkdir(parents=True)
    (place / "lib" / "__init__.py").write_text("raise ImportError('this is not the library')\n")
    for name in ("noise", "checks", "release"):
        (place / f"{name}.py").write_text("raise ImportError('this is not the library')\n")
    (place / "script.py").write_text(DOCTESTS)
    where, *failures, counts = run(python, "script.py", cwd=place).splitlines()
    assert Path(where).is_relative_to(tmp_path / "environment")
    failed, attempted = map(int, counts.split())
    assert failed == 0, "\n".join(failures)
    assert attempted > 300
