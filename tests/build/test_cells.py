"""Every chapter: cells of a step each. tools/cells.py on a made-up book: the cells decide, not the computer."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools import chapters

MEDIAN, MOST, LONGEST = 4, 10, 20  # lines of half the cells of a chapter, of nine in ten, and of all

ROOT = Path(__file__).resolve().parents[2]
GOOD = "# A chapter of Émile\n\n```{code-cell} ipython3\n:tags: [timing]\nletters = ['ε', 'σ']\n```\n".replace("'", '"')
BAD = GOOD.replace('"', "'")
LONG = GOOD.replace("letters", "long = " + " + ".join(9 * ["letters"]) + "\nletters")  # 88 would break it, 94 does not


def lines(source):
    """How many lines a reader has to follow: not those that import, are blank or comment."""
    told = ast.parse(source).body
    imports = [range(n.lineno, n.end_lineno + 1) for n in told if isinstance(n, ast.Import | ast.ImportFrom)]
    skipped = {line for block in imports for line in block}
    kept = [line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in skipped]
    return sum(bool(line) and not line.startswith("#") for line in kept)


def too_long(sources):
    """What is wrong with the lengths of these cells; cells that only import do not count."""
    counts = [count for count in map(lines, sources) if count]
    limits = {"median": (50, MEDIAN), "90th percentile": (90, MOST), "longest": (100, LONGEST)}
    found = {name: (np.percentile(counts, share), limit) for name, (share, limit) in limits.items()}
    return [f"{name}: {value:g} lines, limit {limit}" for name, (value, limit) in found.items() if value > limit]


@pytest.mark.parametrize("page", chapters.chapters(), ids=chapters.name)
def test_cells_are_a_step_each(page):
    sources = [cell.source for cell in chapters.read(page).cells]
    assert not too_long(sources), "split the cells, with a sentence before each part"


def test_lines_that_count():
    source = "import os\nfrom sys import (\n    path,\n)\n\n# why\nx = [  # how\n    1,\n]\nprint(x)"
    assert lines(source) == 4
    assert lines("import os\n") == 0


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        ([*[4] * 9, 10, 20], []),
        ([*[1] * 4, *[5] * 6], ["median: 5 lines, limit 4"]),
        ([*[4] * 8, *[11] * 2], ["90th percentile: 11 lines, limit 10"]),
        ([*[0] * 8, *[1] * 20, 21], ["longest: 21 lines, limit 20"]),
        ([*[0] * 8, *[1] * 2, *[5] * 3], ["median: 5 lines, limit 4"]),
    ],
)
def test_long_cells_are_noticed(cells, wrong):
    assert too_long(["import os\n" + "x = 1\n" * count for count in cells]) == wrong


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
