"""Many data sets, many plans of private IRLS: the protocol of 003's Fig. 1, and how many records a plan needs.

A test error is kept as a mean squared and a mean absolute residual. 003's log-likelihood follows from the first.
"""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from tqdm import tqdm

from dpreg import checks, limits, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, PrivacyLeakWarning
from dpreg.mechanisms.irls import Plan, follow, irls, simulated
from dpreg.noise import RandomState
from dpreg.pipeline.domain import Ball
from dpreg.sweeps.experiment import PATIENCE
from dpreg.sweeps.methods import RowMethod
from dpreg.sweeps.splits import Partition

ZERO = "always 0"
TEST = 10  # one test record for so many training records (003, Fig. 1)
RESAMPLES = 200  # of the data sets, for a standard error


@checked
def replicate(
    plans: Mapping[str, Plan],
    sizes: Sequence[int],
    repeats: int,
    *,
    random_state: RandomState = 0,
    noise_deviation: float = 0.1,
    maxima: bool = False,
    jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Return test errors of every plan on data sets from `irls.simulated`, and of the answer zero.

    The result depends on the seed alone: not on the number of workers, nor, but for
    rounding, on which other plans take part.

    Parameters
    ----------
    plans : dict from name to Plan
        All for the domain that `irls.simulated` returns.
    sizes : sequence of int
        Training records; a tenth as many more are tested on.
    repeats : int
        Data sets of each size.
    random_state : None, int or SeedSequence
    noise_deviation : float
        Of the responses, as in `irls.simulated`.
    maxima : bool
        Read the bounds off all records, as 003 does. This leaks: it warns.
    jobs : int
        joblib workers.
    progress : bool
        Show a bar if it takes more than two seconds and TQDM_DISABLE is not set.

    Returns
    -------
    DataFrame with columns method, n, repeat, mse, mae, in the units of the response

    Examples
    --------
    >>> from dpreg.mechanisms.irls import exact
    >>> ball = simulated(10, 2)[2]
    >>> frame = replicate({"no privacy": exact(ball)}, [1000], 2)
    >>> frame["method"].tolist(), bool(frame["mse"][0] < 0.02)
    (['no privacy', 'always 0', 'no privacy', 'always 0'], True)
    """
    if not isinstance(plans, Mapping) or not plans:
        raise InputError(f"plans is {plans!r}: give a dict from names to plans")
    for name, plan in plans.items():
        checks.instance(plan, Plan, f"the plan {name!r}")
    if ZERO in plans:
        raise InputError(f"{ZERO!r} is the name of the answer zero: give the plan another one")
    domain = next(iter(plans.values())).domain
    if any(plan.domain != simulated(2, domain.d, 0)[2] for plan in plans.values()):
        raise InputError("a plan is for another domain than the records': use the one that irls.simulated returns")
    counts = [checks.count(n, "a size", TEST) for n in sizes]
    if not counts:
        raise InputError("there are no sizes: give at least one number of training records")
    checks.count(repeats, "repeats")
    checks.positive(noise_deviation, "noise_deviation")
    if checks.flag(maxima, "maxima"):
        text = "bounds are read off every data set: one record can move them, and with them everyone's scaling"
        warnings.warn(text, PrivacyLeakWarning, stacklevel=3)
    root = noise.seed_sequence(random_state)
    todo = [(n, repeat) for n in counts for repeat in range(repeats)]
    tasks = (delayed(_one)(dict(plans), domain.d, n, repeat, root, noise_deviation, maxima) for n, repeat in todo)
    results = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    bar = tqdm(results, total=len(todo), delay=PATIENCE) if progress else results
    return pd.DataFrame([row for rows in bar for row in rows], columns=["method", "n", "repeat", "mse", "mae"])


def _one(
    plans: dict[str, Plan],
    d: int,
    n: int,
    repeat: int,
    root: np.random.SeedSequence,
    noise_deviation: float,
    maxima: bool,
) -> list[tuple[str, int, int, float, float]]:
    data = noise.spawn(root, n, repeat, 0)
    X, y, domain = simulated(n + n // TEST, d, data, noise_deviation=noise_deviation)
    if maxima:
        largest = float(np.abs(y).max())
        domain = Ball(np.zeros(d), float(np.linalg.norm(X, axis=1).max()), (-largest, largest), leaky=True)
    table = domain.table(X[:n], y[:n])  # the same for all plans
    rngs = [noise.spawn(root, n, repeat, 1, zlib.crc32(name.encode())) for name in plans]
    paths = follow([replace(plan, domain=domain) for plan in plans.values()], table, rngs)
    misses = {name: y[n:] - domain.unscale(path[-1]).predict(X[n:]) for name, path in zip(plans, paths, strict=True)}
    misses[ZERO] = y[n:]
    return [(name, n, repeat, float((m**2).mean()), float(np.abs(m).mean())) for name, m in misses.items()]


@checked
def log_likelihood(mse: ArrayLike, variance: float = 0.01) -> FloatArray:
    """Return the log-likelihood per test record of a normal law with this variance.

    It is -log(2 pi variance) / 2 - mse / (2 variance): a rising line in -mse, whatever the variance.

    Examples
    --------
    >>> log_likelihood([0.01, 0.03]).round(4).tolist()
    [0.8836, -0.1164]
    """
    square, v = limits.reals(mse, "mse"), checks.within_reach(checks.positive(variance, "variance"), "variance")
    return np.asarray(-math.log(2 * math.pi * v) / 2 - square / (2 * v))


@checked
def scored(frame: pd.DataFrame, plain: str = "no privacy", variance: float = 0.01) -> pd.DataFrame:
    """Add the log-likelihood per test record, and what is lost of it against the plain fit of the same data set.

    Parameters
    ----------
    frame : from `replicate`
    plain : str
        The method without privacy.
    variance : float
        Of `log_likelihood`.

    Examples
    --------
    >>> frame = pd.DataFrame({"method": ["no privacy", "a"], "n": 10, "repeat": 0, "mse": [0.01, 0.03]})
    >>> scored(frame)["lost"].round(9).tolist()
    [0.0, 1.0]
    """
    limits.has(frame, ["method", "n", "repeat", "mse"], "frame")
    base = frame[frame["method"] == plain].set_index(["n", "repeat"])["mse"]
    if base.empty:
        raise InputError(f"plain is {plain!r}: choose a method of the frame")
    own = frame.set_index(["n", "repeat"])["mse"]
    lost = (own - base.reindex(own.index)).to_numpy() / (2 * checks.budget(variance, "variance"))
    return frame.assign(likelihood=log_likelihood(frame["mse"], variance), lost=lost)


@checked
def needed(frame: pd.DataFrame, level: float, beside: str, random_state: RandomState = 0) -> pd.DataFrame:
    """Return how many records each method needs until its median loss falls to a level, and beside another method.

    Between two sizes the logarithm of the median loss is a line in log n. A method that does not cross the level
    within the sizes gets nan. Standard errors are relative, from resampling the data sets.

    Parameters
    ----------
    frame : from `scored`
    level : float
        Log-likelihood lost per test record.
    beside : str
        Every method's records are divided by those of this one.
    random_state : None, int, SeedSequence or Generator

    Returns
    -------
    DataFrame with columns method, records, error, ratio, ratio_error

    Examples
    --------
    >>> more = {"repeat": 0, "lost": [4.0, 1.0, 8.0, 0.5]}
    >>> frame = pd.DataFrame({"method": ["a", "a", "b", "b"], "n": [1000, 2000, 1000, 4000], **more})
    >>> needed(frame, 2.0, "b")[["records", "ratio"]].round(3).to_numpy().tolist()
    [[1414.214, 0.707], [2000.0, 1.0]]
    """
    checks.positive(level, "level")
    limits.has(frame, ["method", "n", "repeat", "lost"], "frame")
    names, rng = list(dict.fromkeys(frame["method"])), noise.generator(random_state)
    if beside not in names:
        raise InputError(f"beside is {beside!r}: choose a method of the frame, {', '.join(map(repr, names))}")
    wide = {name: frame[frame["method"] == name].pivot(index="repeat", columns="n", values="lost") for name in names}
    drawn = rng.integers(len(wide[beside]), size=(RESAMPLES, len(wide[beside])))  # the same data sets for all
    log_n, spread = {}, {}
    for name, table in wide.items():
        sizes, losses = np.log(table.columns.to_numpy(dtype=float)), table.to_numpy()
        log_n[name] = _crossing(sizes, np.median(losses, axis=0), level)
        spread[name] = np.array([_crossing(sizes, np.median(losses[pick], axis=0), level) for pick in drawn])
    rows = [
        (
            name,
            math.exp(log_n[name]),
            float(np.std(spread[name])),
            math.exp(log_n[name] - log_n[beside]),
            float(np.std(spread[name] - spread[beside])),
        )
        for name in names
    ]
    return pd.DataFrame(rows, columns=["method", "records", "error", "ratio", "ratio_error"])


def _crossing(sizes: FloatArray, losses: FloatArray, level: float) -> float:
    below = np.flatnonzero(losses <= level)
    if not len(below) or below[0] == 0:
        return math.nan
    k = below[0]
    if losses[k] <= 0:  # noise of the test set: the line's logarithm would not exist
        return float(sizes[k])
    high, low = math.log(losses[k - 1]), math.log(losses[k])
    return float(sizes[k - 1] + (high - math.log(level)) / (high - low) * (sizes[k] - sizes[k - 1]))


@checked
def disturbance(plan: Plan, square: float) -> float:
    """Return the mean squared length of Y - W theta: what the noise on both moments does to one normal equation.

    Parameters
    ----------
    plan : Plan
    square : float
        Squared length of the scaled theta.

    Examples
    --------
    >>> from dpreg.mechanisms.irls import gaussian
    >>> plan = gaussian(Ball([0.0, 0.0], 1.0, (-1.0, 1.0)), 1.0, cap=1.0, iterations=1)
    >>> round(disturbance(plan, 0.5), 9)  # two entries of variance 4, and the variance 2 times 3 / 2
    9.5
    """
    p = plan.domain.p
    return p * plan.first.variance + plan.second.mean_square(p) * checks.finite(square, "square")


@checked
def predicted(plan: Plan, level: float, deviation: float = 0.1, variance: float = 0.01) -> float:
    """Return the records that a plan needs for 003's simulation until the mean loss is `level`, to first order.

    Parameters
    ----------
    plan : Plan
    level : float
        Log-likelihood lost per test record.
    deviation : float
        Of the responses, as in `irls.simulated`.
    variance : float
        Of `log_likelihood`.

    Examples
    --------
    >>> from dpreg.mechanisms.irls import gaussian
    >>> ball = simulated(2)[2]
    >>> ratio = predicted(gaussian(ball, 0.1), 0.5) / predicted(gaussian(ball, 0.9), 0.5)
    >>> round(ratio, 9)  # the root of nine
    3.0
    """
    for value, name in ((level, "level"), (deviation, "deviation"), (variance, "variance")):
        checks.within_reach(checks.positive(value, name), name)
    d, half = plan.domain.d, plan.domain.half_width
    spread = 1 / (math.sqrt(d) + 3)  # standard deviation of one scaled predictor
    grid = (np.arange(4000) + 0.5) / 500 - 4  # residuals within four standard deviations
    law = np.exp(-(grid**2) / 2)
    weights = 1 / np.maximum(1 / plan.cap, np.abs(grid) * deviation / half)
    weight = float((weights * law).sum() / law.sum())
    length = math.sqrt(disturbance(plan, d / half**2))  # theta is standard normal in the user's units
    return half * length / (weight * spread * math.sqrt(2 * variance * level))


@checked
def row_method(name: str, plan: Plan | Callable[[float], Plan]) -> RowMethod:
    """Return private IRLS as a method of a sweep.

    Parameters
    ----------
    name : str
    plan : Plan, or function from a budget to a Plan
        Such as `functools.partial(irls.gaussian, ball)`. A plan itself is fitted once, as a method without privacy.

    Examples
    --------
    >>> from functools import partial
    >>> from dpreg.mechanisms.irls import gaussian
    >>> row_method("Gaussian", partial(gaussian, Ball([0.0], 1.0, (-1.0, 1.0)))).private
    True
    """
    fixed = isinstance(plan, Plan)

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        plans = [plan] if isinstance(plan, Plan) else [plan(float(budget)) for budget in epsilons]
        return np.array([[irls(X, y, one, rng).theta for one in plans] for X, y in partition.training_rows()])

    return RowMethod(name, fit, private=not fixed)


@checked
def absolute(partition: Partition, theta: FloatArray, rng: np.random.Generator) -> dict[Hashable, FloatArray]:
    """Return the mean absolute error on the test sets, in units of the response: a measure for `measures.measured`."""
    found = []
    for fits, (Z, t) in zip(theta, partition.test_rows, strict=True):
        found.append(np.abs(t - fits @ Z.T).mean(axis=-1) * partition.domain.half_width)
    return {"mae": np.array(found)}
