"""IBM's diffprivlib in an environment of its own: what chapters fit, and benchmarks compare with."""

from __future__ import annotations

import fcntl
import math
import pickle
import subprocess
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
    ready, wanted = HOME / "ready", PEER / "requirements.txt"
    HOME.parent.mkdir(parents=True, exist_ok=True)
    with HOME.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two chapters may ask at once; it ends with the process that holds it
        if not (ready.exists() and ready.read_text() == wanted.read_text()):
            _install(wanted)
            ready.write_text(wanted.read_text())
    return HOME / "bin" / "python"


def _install(wanted: Path) -> None:
    venv.create(HOME, with_pip=True, clear=True)
    pip: list[str | Path] = [HOME / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run([*pip, "-r", wanted], check=False, capture_output=True, text=True)
    if done.returncode:
        raise DataError(
            f"diffprivlib could not be installed; give a package index and build again: {done.stderr[-2000:]}"
        )


def version() -> str:
    """Return the version of diffprivlib that is pinned."""
    (line,) = [line for line in (PEER / "requirements.txt").read_text().splitlines() if line.startswith("diffprivlib")]
    return line.partition("==")[2]


@cache
def _workers() -> list[subprocess.Popen[bytes]]:
    """Return the processes that fit: they take seconds to start, and end with this one."""
    command: list[str | Path] = [environment(), PEER / "draw.py"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return [subprocess.Popen(command, start_new_session=True, **pipes) for _ in range(WORKERS)]


@dataclass(frozen=True)
class Peer:
    """A model of diffprivlib with its settings, fitted in its own environment.

    Parameters
    ----------
    model : str
        `LinearRegression` or `LogisticRegression`.
    settings : dict
        Its keywords but the seed; a pair of bounds may be a list.
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
        return _fits(self.model, [(self.settings, seed) for seed in seeds], X, y)


def _fits(model: str, each: list[tuple[dict[str, Any], int]], X: FloatArray, y: FloatArray) -> FloatArray:
    """Return the fits of a model to the same records, one for each pair of settings and seed."""
    rows, target = np.asarray(X, np.float64), np.asarray(y, np.float64)
    found = np.empty((len(each), rows.shape[1] + 1))  # of which each worker does its share
    with LOCK:
        try:
            for k, worker in enumerate(_workers()):
                assert worker.stdin
                pickle.dump((model, each[k::WORKERS], rows.shape, rows.tobytes(), target.tobytes()), worker.stdin)
                worker.stdin.flush()
            for k, worker in enumerate(_workers()):
                assert worker.stdout
                answer = np.frombuffer(pickle.load(worker.stdout))
                found[k::WORKERS] = answer.reshape(-1, found.shape[1])
        except BaseException as error:  # such as an interrupt: what was asked must not answer the next call
            for worker in _workers():
                worker.kill()
                worker.communicate()  # which closes its pipes
            _workers.cache_clear()
            if isinstance(error, EOFError | BrokenPipeError):
                raise DataError("diffprivlib stopped: its message stands above; build again") from error
            raise
    return found


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
            seeds = rng.integers(2**32, size=len(epsilons)).tolist()
            settings = [{"epsilon": epsilon, "data_norm": math.sqrt(box.d)} for epsilon in epsilons.tolist()]
            theta = _fits(
                "LogisticRegression", list(zip(settings, seeds, strict=True)), Z[:, 1:], np.where(t > 0, 1.0, 0.0)
            )
            found.append(np.roll(theta, 1, axis=1))  # the intercept first
        return np.array(found)

    return RowMethod(name, fit, repeats=repeats)
