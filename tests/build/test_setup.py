"""tools/setup.py in every mood, with a made-up repository and made-up commands; and the Makefile that calls it."""

import ast
import builtins
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "setup.py"
ODD = """it's (a) "folder" of `{}`, $HOME #1 & 5%; """.format(os.fsdecode("œuvres".encode())) + 100 * "x"
HANGS = 600  # seconds; nothing here waits as long unless it hangs


class Machine:
    """A machine on which set-up runs: its repository, and the commands it was asked for."""

    def __init__(self, setup, root):
        self.setup, self.root, self.commands, self.broken = setup, root, [], None

    def call(self, command, cwd, env):
        kind = "pip" if "pip" in command else "venv"
        self.commands.append(kind)
        self.env = env
        if kind == "venv" and "--clear" in command:
            shutil.rmtree(self.root / ".venv", ignore_errors=True)
            (self.root / ".venv" / "bin").mkdir(parents=True)
            (self.root / ".venv" / "bin" / "python").touch()
        return int(kind == self.broken)

    def run(self):
        self.commands.clear()
        self.setup.main(".venv", "requirements.txt")
        return self.commands


@pytest.fixture
def machine(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("setup_script", SCRIPT)
    setup = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(setup)
    for name in ("requirements.txt", "pyproject.toml"):
        (tmp_path / name).write_text("numpy==1\n")
    made = Machine(setup, tmp_path)
    monkeypatch.setattr(setup, "ROOT", str(tmp_path))
    monkeypatch.setattr(setup.subprocess, "call", made.call)
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda path: SimpleNamespace(free=50e9))
    return made


def test_sets_up_once(machine):
    assert machine.run() == ["venv", "pip"]
    assert machine.run() == []


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_sets_up_again_when_the_lock_changes(machine, name):
    machine.run()
    (machine.root / name).write_text("numpy==2\n")
    assert machine.run() == ["venv", "pip"]


def test_sets_up_again_with_another_python(machine, monkeypatch):
    machine.run()
    monkeypatch.setattr(machine.setup.sys, "version", "3.99 (another build)")
    assert machine.run() == ["venv", "pip"]


def test_sets_up_again_after_the_repository_moved(machine, monkeypatch):
    machine.run()
    moved = machine.root.rename(machine.root.with_name("moved"))
    monkeypatch.setattr(machine.setup, "ROOT", str(moved))
    machine.root = moved
    assert machine.run() == ["venv", "pip"]


def test_recovers_from_an_interruption(machine):
    machine.broken = "pip"
    with pytest.raises(SystemExit):
        machine.run()
    machine.broken = None
    assert machine.run() == ["venv", "pip"]
    (machine.root / ".venv" / "ready").write_bytes(b"half a fing\xff")
    assert machine.run() == ["venv", "pip"]


def test_sets_up_once_in_an_odd_folder(machine, monkeypatch):
    for name in (ODD, "of \udcff bytes"):
        machine.root = machine.root.rename(machine.root.with_name(name))
        monkeypatch.setattr(machine.setup, "ROOT", str(machine.root))
        assert machine.run() == ["venv", "pip"]
        assert machine.run() == []


def test_each_lock_has_its_environment(machine):
    machine.run()
    (machine.root / "other.txt").write_text("scipy==1\n")
    assert not machine.setup.is_ready(str(machine.root / ".venv"), "other.txt")


def test_old_python(machine, monkeypatch):
    monkeypatch.setattr(machine.setup.sys, "version_info", (3, 9, 2))
    with pytest.raises(SystemExit, match=r"this is Python 3\.9\.2, and 3\.11 or newer is needed"):
        machine.run()
    assert machine.commands == []


def test_old_pythons_can_read_the_script():
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    newer = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.Match, ast.AsyncFunctionDef, ast.Starred)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    stars = [star for call in calls for star in call.args if isinstance(star, ast.Starred)]  # f(*x) is as old as Python
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, newer) and node not in stars] == []


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_no_venv_module(machine, monkeypatch, module):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == module:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit, match="no venv module; on Debian and Ubuntu: apt-get install python3-venv"):
        machine.run()


def test_no_disk(machine, monkeypatch):
    monkeypatch.setattr(machine.setup.shutil, "disk_usage", lambda path: SimpleNamespace(free=0.5e9))
    with pytest.raises(SystemExit, match=r"0\.5 GB of disk are free, and 2 GB are needed"):
        machine.run()
    assert machine.commands == []


def test_disk_fills_up_on_the_way(machine, monkeypatch):
    machine.broken = "pip"
    left = iter([50e9, 0.0])
    monkeypatch.setattr(machine.setup.shutil, "disk_usage", lambda path: SimpleNamespace(free=next(left)))
    with pytest.raises(SystemExit, match="the disk is full"):
        machine.run()


def test_no_network(machine):
    machine.broken = "pip"
    with pytest.raises(SystemExit, match="needs a network or a package index"):
        machine.run()
    assert not (machine.root / ".venv" / "ready").exists()


def test_venv_fails(machine):
    machine.broken = "venv"
    with pytest.raises(SystemExit, match="venv did not work"):
        machine.run()
    assert machine.commands == ["venv"]


def test_read_only_repository(machine, monkeypatch):
    monkeypatch.setattr(machine.setup.os, "access", lambda path, mode: False)
    with pytest.raises(SystemExit, match="cannot be written to"):
        machine.run()


@pytest.mark.parametrize("name", ["why?", "a%20name"])
def test_a_folder_in_which_the_cache_cannot_be_opened(machine, monkeypatch, name):
    moved = machine.root.rename(machine.root.with_name(name))
    monkeypatch.setattr(machine.setup, "ROOT", str(moved))
    with pytest.raises(SystemExit, match="cannot hold the book"):
        machine.run()


def test_settings_of_the_caller_stay_outside(machine, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "an index")
    machine.run()
    assert "elsewhere" not in machine.env.values()
    assert machine.env["PIP_INDEX_URL"] == "an index"


def make(*arguments, folder=ROOT, **env):
    """Run make from another folder; nothing is set up, for the environment is asked for only by name."""
    command = ["make", "-C", str(folder), *arguments]
    env = {k: v for k, v in os.environ.items() if "MAKE" not in k and k not in ("MFLAGS", "CHAPTERS")} | env
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"}
    try:
        return subprocess.run(command, cwd="/", env=env, timeout=HANGS, **said)
    except subprocess.TimeoutExpired as hang:
        return pytest.fail(f"make {arguments} hangs; it said {hang.stdout} {hang.stderr}")


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@needs_make
def test_make_from_another_folder():
    assert "make book" in make("help").stdout
    missing = make("env", "PYTHON=python-that-is-not-there")
    assert missing.returncode != 0
    assert "python-that-is-not-there was not found" in missing.stderr + missing.stdout


@needs_make
def test_make_runs_set_up_with_the_python_outside_the_environment(tmp_path):
    write_program(tmp_path / "python9", 'echo "asked for $1 with $PATH"')
    path = f"{tmp_path}:{os.environ['PATH']}"
    said = make("env", "PYTHON=python9", PATH=path).stdout
    assert f"asked for tools/setup.py with {path}\n" in said


TARGETS = {
    "book": ["-c from jupyter_book.cli.main import main; main() build . --all -W -n --keep-going"],
    "lint": ["-m ruff format --check .", "-m ruff check .", "tools/cells.py --check", "-m mypy"],
    "audit": ["-m pytest -m audit tests"],
    "fast": ["-m pytest -m not thorough and not slow and not browser"],
    "reference": ["tools/reference.py"],
    "lab": ["tools/lab.py"],
}


@needs_make
@pytest.mark.parametrize("target", TARGETS)
def test_make_in_an_odd_folder(tmp_path, target):
    """With programs that only say what they were asked: the one for set-up, and the environment's own."""
    folder = tmp_path / ODD
    write_program(folder / ".venv" / "bin" / "python", 'echo "inside: $*"')
    write_program(tmp_path / "python9", 'echo "outside: $*"')
    shutil.copy(ROOT / "Makefile", folder)
    path = f"{tmp_path / ODD}:{tmp_path}:{os.environ['PATH']}"
    done = make(target, "PYTHON=python9", folder=folder, PATH=path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "outside: tools/setup.py .venv requirements.txt" in lines
    assert [line for line in lines if line.startswith("inside: ")] == [f"inside: {call}" for call in TARGETS[target]]
    if target == "book":
        assert f"The book is at {os.fsencode(folder).decode()}/_build/html/index.html" in lines
    if target == "lab":
        assert "outside: tools/setup.py .venv/lab tools/jupyter/requirements.txt" in lines


def test_the_fit_in_the_readme_runs(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-1].endswith("0.5")
