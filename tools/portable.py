"""Run the chapters under other arithmetic, and say which cells then print something else than expected.

The kernels of OpenBLAS add up in another order and round otherwise, as other processors do. `rounding` does worse:
it moves moments, eigenvalues and solutions by a few units in the last place. What moves with it, rounding decides.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import chapters

FEATURES = "import numpy._core._multiarray_umath as m; print(*(f for f in m.__cpu_dispatch__ if m.__cpu_features__[f]))"


def otherwise(how):
    path = os.pathsep.join([str(Path(__file__).parent / "otherwise"), str(chapters.ROOT)])
    return {"OTHERWISE": how, "PYTHONPATH": path}


def vector_units():
    """Return the processor's features that numpy has code for, and can do without."""
    done = subprocess.run([sys.executable, "-c", FEATURES], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def ways():
    """Return the settings to run under, by name."""
    kernels = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
    return {kernel: {"OPENBLAS_CORETYPE": kernel} for kernel in kernels} | {
        "no vector units": {"NPY_DISABLE_CPU_FEATURES": vector_units()},
        "two BLAS threads": {"OPENBLAS_NUM_THREADS": "2"},
        "one worker": otherwise("one worker"),
        "rounding": otherwise("rounding"),
    }


def runs(env):
    """Return whether this processor can run numpy and scipy so: not every one has the instructions of a kernel."""
    code = "import numpy as np, scipy.linalg as s; a = np.ones((64, 64)); a @ a; s.eigh(a)"
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True).returncode == 0


def printed(cell):
    """Return what a cell prints: its streams joined, and its results as text and HTML, without pictures."""
    shown = {"stream": "".join(output.text for output in cell.outputs if output.output_type == "stream")}
    for kind in ("text/plain", "text/html"):
        shown[kind] = [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]
    return shown


def lines(shown):
    return [
        line
        for part in shown.values()
        for text in ([part] if isinstance(part, str) else part)
        for line in text.split("\n")
    ]


def differences(notebook, page):
    """Return a line for each cell that prints something else than its reference: which, and the first such line."""
    reference = nbformat.read((chapters.REFERENCE / chapters.name(page)).with_suffix(".ipynb"), as_version=4)
    found = []
    for number, (cell, expected) in enumerate(zip(notebook.cells, reference.cells, strict=True)):
        new, old = printed(cell), printed(expected)
        if new != old:
            pairs = [(a, b) for a, b in zip(lines(old), lines(new), strict=False) if a != b] or [
                ("", "another number of lines")
            ]
            found.append(f"{chapters.name(page)}, cell {number}: {pairs[0][0].strip()} -> {pairs[0][1].strip()}")
    return found


def compare(pages, extra):
    """Run these chapters with more variables in their environment, and return what differs, line by line."""
    with tempfile.TemporaryDirectory() as place:
        env = chapters.settings(Path(place)) | extra
        chapters.warm(env)
        found = {}

        def act(page):
            found[page] = differences(chapters.attempt(page, env), page)

        messages = chapters.run_all(pages, act)
    return messages + [line for page in pages for line in found.get(page, [])]


def main():
    known = ways()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="*", type=Path, help="chapters; by default all")
    parser.add_argument("--way", action="append", choices=known, help="by default all; may be given more than once")
    asked = parser.parse_args()
    pages = [page.resolve() for page in asked.page] or chapters.chapters()
    bad = False
    for way in asked.way or known:
        if not runs(chapters.settings() | known[way]):
            print(f"{way}: not run, this processor cannot", flush=True)
            continue
        found = compare(pages, known[way])
        print(f"{way}: {'the same' if not found else ''}", *found, sep="\n  " if found else "", flush=True)
        bad = bad or bool(found)
    sys.exit(bad)


if __name__ == "__main__":
    main()
