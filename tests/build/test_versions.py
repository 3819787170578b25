"""Every version that pyproject.toml allows works: the lowest and the newest, each in an environment of its own.

The lists in tests/versions pin both, so that what others release turns nothing red here; `make lock` renews them.
"""

import ast
import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "tests" / "versions"
HOME = ROOT / "_build" / "versions"
# Minor versions of Python 3 to try, best first. Of the lowest versions some have wheels for one only.
PYTHONS = {"lowest": (11,), "newest": (13, 12, 11)}
# About pages, sources and the build, whose tools have one version each, and not about what the library computes; and
# what tries the words of errors, at length.
LEFT_OUT = ("tests/build", "tests/faults/test_mutants.py", "tests/faults/test_fuzz.py")
TESTS = ("dpreg", "lib", "tests", "-o", "python_files=test_*.py inside.py")  # a file in a named folder cannot be named
ONE_PROCESS = "-q --tb=short -n 0 -p no:cacheprovider"  # the tests around this one keep the other cores busy
FEWEST = 4700  # of about 4,790 that are left
SKIPPED = 0.01  # share of them

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHON = SpecifierSet(PROJECT["requires-python"])
DECLARED = [Requirement(line) for line in chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())]
LINES = (LISTS / "tools.in").read_text(encoding="utf-8").splitlines()
TOOLS = [Requirement(line) for line in LINES if not line.startswith("#")]


def pinned(name):
    """The lines of a list, by project; one project may have several, for several Pythons."""
    pins = {}
    lines = (LISTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for pin in [Requirement(line) for line in lines if not line.startswith("-e ")]:
        pins.setdefault(canonicalize_name(pin.name), []).append(pin)
    return pins


def versions(pins):
    """The versions of a project's pins."""
    return [Version(part.version) for pin in pins for part in pin.specifier]


def test_the_lowest_versions_are_tried_with_the_lowest_python():
    (least,) = PYTHON
    assert least.operator == ">="
    assert [f"3.{minor}" for minor in PYTHONS["lowest"]] == [least.version]
    assert all(PYTHON.contains(f"3.{minor}") for minor in PYTHONS["newest"])


@pytest.mark.parametrize("name", PYTHONS)
def test_a_list_pins_what_is_declared(name):
    pins = pinned(name)
    for pin in chain(*pins.values()):
        assert [part.operator for part in pin.specifier] == ["=="], f"{pin} is not pinned"
    for wanted in DECLARED + TOOLS:
        for version in versions(pins[canonicalize_name(wanted.name)]):
            assert wanted.specifier.contains(version), f"{wanted}, but {version}: run `make lock`"


def test_the_lowest_list_holds_the_declared_minima():
    """A minimum that no solution reaches, because another dependency asks for more, is one that nobody tries."""
    pins = pinned("lowest")
    for wanted in DECLARED + TOOLS:
        (least,), (pin,) = wanted.specifier, pins[canonicalize_name(wanted.name)]
        assert least.operator == ">="
        assert pin.specifier.contains(least.version), f"{wanted} is declared, but {pin} is the lowest"


def test_the_newest_list_is_nowhere_behind_the_others():
    """`make lock` writes all three at once; what the book's tools hold back is not held back here."""
    newest = pinned("newest")
    for pins in (pinned("lowest"), pinned(ROOT / "requirements")):
        for name in newest.keys() & pins.keys():
            assert max(versions(newest[name])) >= max(versions(pins[name])), f"{name}: run `make lock`"


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_exists(name):
    assert (ROOT / name).exists()


@pytest.mark.thorough
def test_what_the_library_imports_is_declared():
    names = {canonicalize_name(wanted.name) for wanted in DECLARED}
    owners = packages_distributions()
    for file in [*(ROOT / "dpreg").rglob("*.py"), *(ROOT / "lib").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) else []
            for top in {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"dpreg", "lib"}:
                assert names & {canonicalize_name(owner) for owner in owners.get(top, [])}, f"{file.name}: {top}"


def uv(*arguments):
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))  # puts only its active versions on the path
    path = os.pathsep.join([os.environ["PATH"], *map(str, pyenv.glob("versions/*/bin"))])
    command = [sys.executable, "-m", "uv", "--quiet", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True)


def unavailable(why):
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)


def environment(name):
    """The Python of the environment with these versions, which is made first if needed."""
    for minor in PYTHONS[name]:
        folder = HOME / f"{name}-3.{minor}"
        made = uv("venv", "--no-python-downloads", "--allow-existing", "--python", f"3.{minor}", folder)
        if not made.returncode:
            break
    else:
        unavailable(f"no environment with Python 3.{minor} could be made: {made.stderr}")
    python, ready, wanted = folder / "bin" / "python", folder / "ready", LISTS / f"{name}.txt"
    if not ready.exists() or ready.read_text() != wanted.read_text():
        done = uv("pip", "sync", "--no-build", "--python", python, wanted)  # a build from source may take an hour
        if done.returncode:
            unavailable(f"the {name} versions could not be installed; that needs a package registry: {done.stderr}")
        ready.write_text(wanted.read_text())
    return python


@pytest.mark.slow
@pytest.mark.parametrize("name", PYTHONS)
def test_fast_tests_pass(name, capfd):
    python, results = environment(name), HOME / f"{name}.xml"
    quiet = {k: v for k, v in os.environ.items() if not k.startswith(("COV", "PYTEST", "PYTHON"))}
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    imports = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    left_out = [f"--ignore={name}" for name in LEFT_OUT]
    fast = ["-m", "not thorough and not slow and not browser"]  # as `make fast`
    asked = [*ONE_PROCESS.split(), *fast, f"--junitxml={results}", *left_out, *TESTS]
    done = subprocess.run(
        [python, "-m", "pytest", *asked],
        cwd=ROOT,
        env=quiet | {"PATH": path, "PYTHONPATH": imports, "PYTHONUTF8": "1", "VERSIONS": name},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    skipped = [case.find("skipped").get("message") for case in cases if case.find("skipped") is not None]
    ran = len(cases) - len(skipped)
    with capfd.disabled():
        print(
            f"\n{name} versions, {python.parent.parent.name}: {ran} tests ran, {len(skipped)} skipped", file=sys.stderr
        )
    assert any(case.get("name") == "test_this_is_the_listed_environment" for case in cases)
    assert ran >= FEWEST, f"only {ran} tests ran"
    assert len(skipped) <= SKIPPED * len(cases), skipped
    assert all(skipped), "a skipped test gives no reason"
