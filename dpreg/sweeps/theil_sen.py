"""Theil-Sen regression on one predictor as OpenDP has it, for study, with a seed and for neighbours that replace.

Lines through random pairs of records predict the response at the quartiles of the box, and two private medians of what
they predict give the line that is released. The appendix to the comparison proves what it costs.
"""

from __future__ import annotations

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import Box
from dpreg.sweeps.methods import RowMethod
from dpreg.sweeps.moment_methods import centred
from dpreg.sweeps.splits import Partition

CANDIDATES = 100  # for a median, evenly spaced between the bounds of the response
CUTS = np.array([-0.5, 0.5])  # quartiles of the scaled box


@checked
def theil_sen(name: str, domain: Box) -> RowMethod:
    """Return the method, which has pure privacy; one random pairing of a split's records serves all its budgets.

    Parameters
    ----------
    name : str
    domain : Box
        Of one predictor, with an intercept and not scaled from its corner.

    References
    ----------
    * Sarathy and Vadhan, Analyzing the differentially private Theil-Sen estimator, 2022.

    Examples
    --------
    >>> theil_sen("Theil-Sen", Box([0.0], [1.0], (0.0, 1.0), intercept=True)).private
    True
    """
    centred(domain)
    if domain.d > 1:
        raise InputError(f"domain has {domain.d} predictors: give one, for a line goes through two records")

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        found = []
        for X, y in partition.training_rows():
            Z, t = domain.scale(X, y)
            both = [scores(values) for values in predicted(Z[:, 1], t, rng)]
            ends = [[private_median(one, e / 2, rng) for one in both] for e in epsilons.tolist()]
            found.append([((low + high) / 2, high - low) for low, high in ends])
        return np.array(found)

    return RowMethod(name, fit)


@checked
def predicted(x: FloatArray, t: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return what the lines through random disjoint pairs predict at the two cuts; pairs of one x have no line.

    Parameters
    ----------
    x, t : arrays of shape (n,)
    rng : Generator

    Returns
    -------
    array of shape (2, pairs)

    Examples
    --------
    >>> predicted(np.array([-1.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0]), np.random.default_rng(1)).tolist()
    [[0.25], [0.75]]
    """
    one, other = rng.permutation(len(x))[: len(x) // 2 * 2].reshape(2, -1)
    one, other = (side[x[one] != x[other]] for side in (one, other))
    slopes = (t[other] - t[one]) / (x[other] - x[one])
    return np.asarray((t[one] + t[other]) / 2 + slopes * (CUTS[:, None] - (x[one] + x[other]) / 2))


@checked
def scores(values: FloatArray) -> FloatArray:
    """Return of each candidate in [-1, 1] minus the difference of the numbers of values below and above it.

    Parameters
    ----------
    values : array of shape (k,)

    Returns
    -------
    array of shape (100,)

    Examples
    --------
    >>> scores(np.array([-0.5, 0.0, 0.3]))[[0, 40, 99]].tolist()
    [-3.0, -1.0, -3.0]
    """
    places, ordered = np.linspace(-1.0, 1.0, CANDIDATES), np.sort(values)
    below, above = np.searchsorted(ordered, places), len(values) - np.searchsorted(ordered, places, side="right")
    return np.asarray(-np.abs(below - above), np.float64)


@checked
def private_median(scored: FloatArray, epsilon: float, rng: np.random.Generator) -> float:
    """Return the candidate with the largest score after exponential noise, of scale 4 / epsilon.

    Parameters
    ----------
    scored : array of shape (100,), from `scores`
    epsilon : float
    rng : Generator

    Examples
    --------
    >>> round(private_median(scores(np.linspace(0.2, 0.4, 999)), 100.0, np.random.default_rng(0)), 2)
    0.29
    """
    noisy = scored + rng.exponential(4 / checks.budget(epsilon), len(scored))
    return float(np.linspace(-1.0, 1.0, len(scored))[np.argmax(noisy)])
