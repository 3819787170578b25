"""Chapters print the same numbers under other arithmetic; `make portable` tries all chapters and more ways."""

import gc
import platform
import subprocess
import sys

import nbformat
import pytest

from tools import chapters, portable

EVER_DIFFERED = (
    "experiments/dandekar_census",  # an exactly singular design: a sign of rounding decided on a trim
    "mechanisms/logistic_loss",  # a number half-way between two, when it was one with the next
    "mechanisms/logistic",
)


@pytest.fixture
def page():
    return chapters.BOOK / "mechanisms" / "linear.md"


@pytest.mark.slow
@pytest.mark.parametrize("name", EVER_DIFFERED)
def test_chapters_that_ever_differed_print_the_same(name):
    way = "Nehalem" if platform.machine() in ("x86_64", "AMD64") else "rounding"
    found = portable.compare([chapters.BOOK / f"{name}.md"], portable.ways()[way])
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_a_chapter_leaves_nothing_open(page):
    """What it leaves, such as an event loop, would blow up in whatever test follows, since warnings are errors."""
    assert not portable.compare([page], {})
    gc.collect()


def test_a_moved_digit_is_said(page):
    path = (chapters.REFERENCE / chapters.name(page)).with_suffix(".ipynb")
    notebook = nbformat.read(path, as_version=4)
    assert portable.differences(notebook, page) == []
    cell = next(cell for cell in notebook.cells if any("text" in output for output in cell.outputs))
    cell.outputs[0].text = cell.outputs[0].text + "1.234\n"
    (line,) = portable.differences(notebook, page)
    assert line.startswith(f"mechanisms/linear, cell {notebook.cells.index(cell)}: ")
    assert "1.234" in line


def otherwise(how, code):
    env = chapters.settings() | portable.otherwise(how)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.thorough
def test_rounding_moves_moments_by_the_last_places_only():
    code = """
import numpy as np
from dpreg.pipeline.objective import from_gram
from dpreg.pipeline.domain import Box
gram = np.full((3, 3), 0.1)
f = from_gram(gram, Box([0, 0], [1, 1], (0, 1)))
moved = np.abs(f.M - 0.1).max()
values = np.linalg.eigh(np.diag([1.0, 1e9]))[0]
print(0 < moved < 1e-15, np.array_equal(f.M, f.M.T), np.abs(values - [1, 1e9]).max() < 1e-6)
"""
    assert otherwise("rounding", code) == ["True"] * 3


@pytest.mark.thorough
def test_one_worker_is_one():
    code = """
import os
from joblib import Parallel, delayed
from sklearn.utils import parallel
print(set(Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(4))) == {os.getpid()})
print(os.getpid() in parallel.Parallel(n_jobs=2)(parallel.delayed(os.getpid)() for _ in range(4)))
"""
    assert otherwise("one worker", code) == ["True", "False"]


@pytest.mark.thorough
def test_a_kernel_that_this_processor_lacks_is_noticed(monkeypatch):
    assert portable.runs(chapters.settings())
    assert not portable.runs(chapters.settings() | {"PYTHONPATH": "", "PYTHONHOME": "/no/such/folder"})
