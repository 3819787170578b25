"""IBM's diffprivlib in an environment of its own: what chapters fit, and benchmarks compare with."""

from __future__ import annotations

import json
import math
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
from dpreg.arguments import checked
from dpreg.checks import DataError, FloatArray
from dpreg.sweeps.methods import RowMethod
from dpreg.sweeps.splits import Partition

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / "benchmarks" / "peer"
HOME = ROOT / "_build" / "peer"
LOCK = threading.Lock()  # one call at a time
WORKERS = 2  # processes that share the fits of a call


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
def _workers() -> list[subprocess.Popen[str]]:
    """Return the processes that fit: they take seconds to start, and end with this one."""
    command: list[str | Path] = [environment(), PEER / "draw.py"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return [subprocess.Popen(command, start_new_session=True, **pipes) for _ in range(WORKERS)]


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
        with tempfile.TemporaryDirectory() as name, LOCK:
            folders = [Path(name) / str(k) for k in range(WORKERS)]
            for k, (folder, worker) in enumerate(zip(folders, _workers(), strict=True)):
                folder.mkdir()
                what = {"model": self.model, "settings": self.settings, "seeds": seeds[k::WORKERS]}
                (folder / "what.json").write_text(json.dumps(what))
                np.savez(folder / "records.npz", X=X, y=y)
                print(folder, file=worker.stdin, flush=True)
            answers = [worker.stdout.readline() if worker.stdout else "" for worker in _workers()]
            if [answer.rstrip("\n") for answer in answers] != [str(folder) for folder in folders]:
                raise DataError("diffprivlib stopped: its message stands above; build again")
            drawn = np.full((draws, X.shape[1] + 1), np.nan)
            for k, folder in enumerate(folders):
                drawn[k::WORKERS] = np.load(folder / "draws.npy").reshape(-1, X.shape[1] + 1)
            return drawn


@checked
def logistic_regression(name: str = "diffprivlib", *, repeats: int | None = None) -> RowMethod:
    """Return the logistic regression of diffprivlib, on rows scaled to the box [-1, 1]^d, whose norm is sqrt(d).

    It has pure privacy by its own account, in its own environment.

    Examples
    --------
    >>> logistic_regression().private
    True
    """

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        box, found = partition.domain, []
        for X, y in partition.training_rows():
            Z, t = box.scale(X, y)
            for epsilon in epsilons.tolist():
                model = Peer("LogisticRegression", {"epsilon": epsilon, "data_norm": math.sqrt(box.d)})
                found.append(np.roll(model(Z[:, 1:], (t > 0).astype(float), rng, 1)[0], 1))  # the intercept first
        return np.reshape(found, (-1, len(epsilons), box.p))

    return RowMethod(name, fit, repeats=repeats)
