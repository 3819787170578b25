"""tools/cells.py on a made-up book: the cells alone decide, and not the computer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = "# A chapter of Émile\n\n```{code-cell} ipython3\n:tags: [timing]\nletters = ['ε', 'σ']\n```\n".replace("'", '"')
BAD = GOOD.replace('"', "'")
LONG = GOOD.replace("letters", "long = " + " + ".join(9 * ["letters"]) + "\nletters")  # 88 would break it, 94 does not


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "book" / "part").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "cells.py", tmp_path / "tools")
    return tmp_path


def cells(root, *arguments, cwd=None, **env):
    command = [sys.executable, root / "tools" / "cells.py", *arguments]
    env = os.environ | env
    return subprocess.run(command, cwd=cwd or root, env=env, capture_output=True, encoding="utf-8", errors="replace")


def write(root, text, name="part/chapter.md"):
    page = root / "book" / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return page


def test_formats_cells(root):
    page = write(root, BAD)
    done = cells(root, "--check")
    assert done.returncode == 1
    assert done.stderr == "cells to format with `python tools/cells.py`: book/part/chapter.md\n"
    assert page.read_text(encoding="utf-8") == BAD
    assert cells(root).returncode == 0
    assert page.read_text(encoding="utf-8") == GOOD
    assert cells(root, "--check").returncode == 0


def test_a_cell_that_is_no_python(root):
    write(root, BAD.replace("]", ""))
    done = cells(root, "--check")
    assert done.returncode == 1
    assert "chapter.py" in done.stderr
    assert done.stderr.endswith("cells of the pages named above cannot be read\n")


@pytest.mark.parametrize("folder", [".ipynb_checkpoints", "part/.ipynb_checkpoints", ".virtual_documents/part"])
def test_copies_that_an_editor_made_do_not_count(root, folder):
    copy = write(root, BAD, f"{folder}/chapter-checkpoint.md")
    assert cells(root, "--check").returncode == 0
    assert cells(root).returncode == 0
    assert copy.read_text(encoding="utf-8") == BAD


def test_a_hidden_folder_above_the_book_hides_nothing(tmp_path):
    root = tmp_path / ".hidden"
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    write(root, BAD)
    assert cells(root, "--check").returncode == 1


def test_nothing_of_the_caller_counts(root):
    write(root, LONG)
    foreign = root / "foreign"
    (foreign / "ruff").mkdir(parents=True)
    for place in (root, root / "book", foreign):
        (place / "ruff.toml").write_text('line-length = 40\n[format]\nquote-style = "single"\n')
    for module in ("__init__.py", "__main__.py"):
        (foreign / "ruff" / module).write_text("raise SystemExit('another ruff')\n")
    (foreign / "bin").mkdir()
    (foreign / "bin" / "ruff").write_text("#!/bin/sh\nexit 1\n")
    (foreign / "bin" / "ruff").chmod(0o755)
    env = {"PYTHONPATH": str(foreign), "PATH": f"{foreign / 'bin'}:{os.environ['PATH']}", "HOME": str(foreign)}
    env |= {"XDG_CONFIG_HOME": str(foreign), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = cells(root, "--check", cwd=foreign, **env)
    assert (done.returncode, done.stderr) == (0, "")
