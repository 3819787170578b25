"""IBM's diffprivlib in an environment of its own: what the chapter on audits fits, and benchmarks compare with."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import venv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dpreg import checks
from dpreg.checks import DataError, FloatArray

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / "benchmarks" / "peer"
HOME = ROOT / "_build" / "peer"
LOCK = threading.Lock()  # one fits at a time


def environment() -> Path:
    """Return the peer's Python, making its environment first if needed.

    Raises
    ------
    DataError
        If it cannot be made; that takes a package index.
    """
    python, ready, wanted = HOME / "bin" / "python", HOME / "ready", PEER / "requirements.txt"
    if not (ready.exists() and ready.read_text() == wanted.read_text()):
        venv.create(HOME, with_pip=True, clear=True)
        install: list[str | Path] = [
            python,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "--quiet",
            "-r",
            wanted,
        ]
        done = subprocess.run(install, check=False, capture_output=True, text=True)
        if done.returncode:
            raise DataError(
                f"diffprivlib could not be installed; give a package index and build again: {done.stderr[-2000:]}"
            )
        ready.write_text(wanted.read_text())
    return python


def version() -> str:
    """Return the version of diffprivlib that is pinned."""
    (line,) = [line for line in (PEER / "requirements.txt").read_text().splitlines() if line.startswith("diffprivlib")]
    return line.partition("==")[2]


@cache
def _worker() -> subprocess.Popen[str]:
    """Return the process that fits: it takes seconds to start, and ends with this one."""
    command: list[str | Path] = [environment(), PEER / "draw.py"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)


@dataclass(frozen=True)
class Peer:
    """A model of diffprivlib with its settings, fitted in its own environment.

    Parameters
    ----------
    model : str
        `LinearRegression` or `LogisticRegression`.
    settings : dict
        Its keywords but the seed, as JSON has them: a pair of bounds is a list.
    """

    model: str
    settings: dict[str, Any]

    def __call__(self, X: FloatArray, y: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
        """Return the coefficients and the intercept of independent fits to the same records.

        Parameters
        ----------
        X, y : arrays of shape (n, d) and (n,)
        rng : Generator
            Gives each fit its seed.
        draws : int
            How many fits.

        Returns
        -------
        array of shape (draws, d + 1)
            NaN where a fit failed.
        """
        seeds = rng.integers(2**32, size=checks.count(draws, "draws")).tolist()
        what = {"model": self.model, "settings": self.settings, "seeds": seeds}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "what.json").write_text(json.dumps(what))
            np.savez(folder / "records.npz", X=X, y=y)
            worker = _worker()
            with LOCK:
                print(folder, file=worker.stdin, flush=True)
                answer = worker.stdout.readline() if worker.stdout else ""
            if answer.rstrip("\n") != name:
                raise DataError("diffprivlib stopped: its message stands above; build again")
            return np.asarray(np.load(folder / "draws.npy"))
