"""How often intervals hold the true coefficients: ours, and others to compare them with, over many data sets and draws.

All is in scaled units, where records lie in a cube and the first column is the constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.noise import RandomState, generator
from dpreg.pipeline import repair, solve
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Law
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.objective import Quadratic, from_gram, zero
from dpreg.pipeline.release import Release, perturb
from dpreg.pipeline.uncertainty import strength, uncertainty

TAILS = (0.05, 0.95)  # of level 0.9
NORMAL = float(stats.norm.ppf(TAILS[1]))
REPEATS = 400  # draws for one interval: a study needs fewer than a report

Draw = Callable[[np.random.Generator], FloatArray]
Way = Callable[[Release, FloatArray, np.random.Generator], FloatArray]


@checked
def cube(d: int) -> Box:
    """Return the domain whose units are the scaled ones, with a constant column.

    Examples
    --------
    >>> cube(2).p
    3
    """
    ends = np.ones(checks.count(d, "d", most=limits.WIDE))
    return Box(-ends, ends, (-1.0, 1.0), intercept=True)


@checked
def made(theta: ArrayLike, n: int, noise: float) -> Draw:
    """Return a function that draws n records (t, 1, Z): Z uniform, t normal around the model with this deviation.

    Examples
    --------
    >>> made([0.0, 0.5], 3, 0.1)(np.random.default_rng(0)).shape
    (3, 3)
    """
    truth, size, deviation = checks.vector(theta, "theta"), checks.count(n, "n"), checks.positive(noise, "noise")

    def draw(rng: np.random.Generator) -> FloatArray:
        Z = np.c_[np.ones(size), rng.uniform(-1, 1, (size, len(truth) - 1))]
        return np.asarray(np.c_[Z @ truth + deviation * rng.standard_normal(size), Z])

    return draw


@checked
def resampled(records: FloatArray, n: int) -> Draw:
    """Return a function that draws n of these records (t, 1, Z) with replacement, such as `Domain.table` returns.

    Examples
    --------
    >>> resampled(np.eye(3), 5)(np.random.default_rng(0)).shape
    (5, 3)
    """
    if records.ndim != 2 or not len(records):
        raise InputError(f"records has shape {records.shape}: give a table of at least one row")
    size = checks.count(n, "n")
    return lambda rng: np.asarray(records[rng.integers(0, len(records), size)])


@checked
def covered(
    draw: Draw,
    theta: ArrayLike,
    law: Law,
    ways: Sequence[str] = ("ours",),
    *,
    repeats: int = 200,
    random_state: RandomState = None,
) -> pd.DataFrame:
    """Return how often intervals of level 90 % hold each true coefficient, over draws of records and of noise.

    Parameters
    ----------
    draw : function of a generator
        Returns scaled records, of shape (n, p + 1): `made` and `resampled` make such functions.
    theta : array of shape (p,)
        The truth.
    law : Law
        For `cube(p - 1)`.
    ways : sequence of {"ours", "textbook", "sandwich", "quantiles", "minus error"}
        `ours` is `uncertainty`. `textbook` takes the noisy moments for exact ones. `sandwich` looks at the records,
        allows unequal variances, and is not private. The last two are of a parametric bootstrap, which releases the
        estimated model, repairs and solves: quantiles of the estimates, and the estimate minus those of their errors.
    repeats : int
    random_state : None, int, SeedSequence or Generator

    Returns
    -------
    DataFrame with columns way, coefficient, strength, share; strength is the mean of `Uncertainty.strength`.

    Examples
    --------
    >>> from dpreg.mechanisms.wishart import difference
    >>> truth, law = [0.0, 0.5], difference(cube(1), 1.0)
    >>> found = covered(made(truth, 500, 0.1), truth, law, repeats=50, random_state=1)
    >>> bool((found["share"] > 0.7).all())
    True
    """
    checks.instance(draw, FunctionType, "draw")
    truth, rng = checks.vector(theta, "theta"), generator(random_state)
    if law.p != len(truth) or len(truth) < 2:
        raise InputError(f"law is for {law.p} columns, and theta has {len(truth)} entries: match them, at least two")
    names = [checks.choice(way, tuple(WAYS), "ways") for way in ways]
    if not names:
        raise InputError("ways is empty: give at least one")
    domain, hits, strengths = cube(len(truth) - 1), [], []
    for _ in range(checks.count(repeats, "repeats")):
        records = limits.reals(draw(rng), "draw")
        if records.ndim != 2 or records.shape[1] != len(truth) + 1:
            raise InputError(f"draw returned an array of shape {records.shape}: give {len(truth) + 1} columns")
        noisy = perturb(from_gram(records.T @ records, domain), law, rng)
        out = Release(noisy, law, domain, Ledger())  # a study, which pays for nothing
        strengths.append(strength(noisy, law))
        ends = np.array([WAYS[name](out, records, rng) for name in names])
        hits.append((ends[..., 0] <= truth) & (truth <= ends[..., 1]))
    shares: Any = np.mean(hits, axis=0)
    frame = pd.DataFrame(shares, index=pd.Index(names, name="way")).melt(
        var_name="coefficient", value_name="share", ignore_index=False
    )
    return frame.reset_index().assign(strength=np.mean(strengths))[["way", "coefficient", "strength", "share"]]


def _normal(theta: FloatArray, covariance: FloatArray) -> FloatArray:
    half = NORMAL * np.sqrt(np.diag(covariance))
    return np.stack([theta - half, theta + half], axis=-1)


def _bootstrap(out: Release, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the estimate, and those from releases of the model that was estimated."""
    f, law = out.objective, out.law
    lifted = repair.lift(f, law)
    theta = solve.minimise(lifted)
    variance = np.clip(float(f(theta)) / (float(f.M[0, 0]) - f.p), 0.0, 1.0)
    noise = perturb(zero(f.p), law, rng, draws=(REPEATS,))
    error = np.sqrt(variance) * rng.standard_normal((REPEATS, f.p)) @ np.linalg.cholesky(lifted.symmetric).T
    again = Quadratic(lifted.symmetric + noise.M, lifted.v + noise.v - 2 * error, noise.c)
    return theta, solve.minimise(repair.lift(again, law))


def _ours(out: Release, records: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the intervals of `uncertainty`, of shape (p, 2), as those of all ways."""
    return uncertainty(out, repeats=REPEATS, random_state=rng).intervals()


def _textbook(out: Release, records: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return classical intervals from the noisy moments, as if they had no noise."""
    noisy = repair.lift(out.objective, out.law)
    theta = solve.minimise(noisy)
    variance = max(float(out.objective(theta)), 0.0) / (len(records) - noisy.p)
    return _normal(theta, np.asarray(variance * np.linalg.inv(noisy.symmetric)))


def _sandwich(out: Release, records: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return intervals from the records alone that allow unequal variances: not private."""
    t, Z = records[:, 0], records[:, 1:]
    inverse = np.linalg.inv(Z.T @ Z)
    theta = inverse @ (Z.T @ t)
    pull = (t - Z @ theta)[:, None] * Z
    return _normal(theta, np.asarray(inverse @ (pull.T @ pull) @ inverse))


def _quantiles(out: Release, records: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return quantiles of a parametric bootstrap: releases of the estimated model, each repaired and solved."""
    return np.asarray(np.quantile(_bootstrap(out, rng)[1], TAILS, axis=0).T)


def _minus_error(out: Release, records: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the estimate minus quantiles of the error in such a bootstrap."""
    theta, again = _bootstrap(out, rng)
    low, high = np.quantile(again, TAILS, axis=0)
    return np.stack([2 * theta - high, 2 * theta - low], axis=-1)


WAYS: dict[str, Way] = {
    "ours": _ours,
    "textbook": _textbook,
    "sandwich": _sandwich,
    "quantiles": _quantiles,
    "minus error": _minus_error,
}
