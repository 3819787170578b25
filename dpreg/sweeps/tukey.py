"""TukeyEM, for study: fit many models to disjoint parts of the records, and release a point that is deep among them.

The depth of a point is the smallest number of models to either side of it, over all coordinates. A noisy test asks
first whether the deep points are many enough; if not, nothing is released. The appendix to the comparison proves what
it costs. Neighbours replace a record. No bounds are needed, but a delta and many records for each column.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from scipy.special import softmax

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.sweeps.methods import RowMethod
from dpreg.sweeps.splits import Partition

SHARE = 0.5  # of epsilon that the test gets
RIDGE = 1e-6  # of a model, for each of its records: rows are scaled, so this only keeps a part from being singular


@checked
def tukey_em(name: str, delta: float, *, size: int = 2, repeats: int | None = None) -> RowMethod:
    """Return the method, for rows as the domain scales them; where nothing is released the coefficients are NaN.

    That is where its test fails, and so wherever there are fewer than four models. One random grouping of a split's
    records serves all its budgets.

    Parameters
    ----------
    name : str
    delta : float
    size : int
        Records of a model, for each column.
    repeats : int, optional
        As in `RowMethod`.

    References
    ----------
    * Amin, Joseph, Ribero and Vassilvitskii, Easy differentially private linear regression, 2023.

    Examples
    --------
    >>> tukey_em("TukeyEM", 1e-6).private
    True
    """
    checks.chance(delta, "delta")
    checks.count(size, "size")

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        found = []
        for kept in partition.training():
            rows = partition.table[kept]
            fits = models(rows[:, 1:], rows[:, 0], size * partition.domain.p, rng)
            found.append(deep_points(fits, epsilons, delta, rng))
        return np.array(found)

    return RowMethod(name, fit, repeats=repeats)


@checked
def models(Z: FloatArray, t: FloatArray, records: int, rng: np.random.Generator) -> FloatArray:
    """Return the least-squares fits to disjoint random parts of so many records; the few that are left are not used.

    Parameters
    ----------
    Z, t : arrays of shape (n, p) and (n,)
    records : int
        Of each part.
    rng : Generator

    Returns
    -------
    array of shape (m, p)

    Examples
    --------
    >>> Z = np.array([[1.0, x / 8] for x in range(8)])
    >>> models(Z, Z @ [0.5, -0.25], 2, np.random.default_rng(0)).round(2).tolist()
    [[0.5, -0.25], [0.5, -0.25], [0.5, -0.25], [0.5, -0.25]]
    """
    m = len(Z) // checks.count(records, "records")
    order = rng.permutation(len(Z))[: m * records]
    parts, targets = Z[order].reshape(m, records, -1), t[order].reshape(m, records, 1)
    across = parts.swapaxes(1, 2)
    gram = across @ parts + RIDGE * records * np.eye(Z.shape[1])
    return np.asarray(np.linalg.solve(gram, across @ targets)[..., 0])


@checked
def log_volumes(fits: FloatArray) -> FloatArray:
    """Return the logarithms of the volumes V(1), V(2), ... of the boxes of points of at least that depth.

    Parameters
    ----------
    fits : array of shape (m, p)

    Returns
    -------
    array of shape (m // 2,)

    Examples
    --------
    >>> np.exp(log_volumes(np.array([[0.0], [1.0], [3.0], [7.0]]))).round(9).tolist()
    [7.0, 2.0]
    """
    ordered, half = np.sort(fits, axis=0), len(fits) // 2
    with np.errstate(divide="ignore"):  # a box without width has no volume
        return np.asarray(np.log(ordered[::-1][:half] - ordered[:half]).sum(axis=1))


@checked
def log_weights(logs: FloatArray, rate: float, moved: int = 0) -> FloatArray:
    """Return the logarithms of the weights of the boxes from half the largest depth on, whose mixture is released.

    Parameters
    ----------
    logs : array of shape (m // 2,), from `log_volumes`
    rate : float
        The density rises as exp(rate * depth).
    moved : int
        So many models may be others: the largest volume that the first box can then have, and the least of the others.

    Examples
    --------
    >>> np.exp(log_weights(np.log([7.0, 2.0]), np.log(3.0))).round(9).tolist()
    [7.0, 4.0]
    """
    depth = len(logs) // 2
    inner = logs[depth + moved :]
    rise = rate * np.arange(1, len(inner) + 1) + math.log(-math.expm1(-rate))
    return np.concatenate([logs[depth - moved - 1 : depth - moved], rise + inner])


@checked
def distance(logs: FloatArray, rate: float, delta: float) -> int:
    """Return how many models may be others, at the least, before the first box has more than a share of delta.

    Zero where it has more already. One model moves this number by one at most.

    Parameters
    ----------
    logs, rate
        As in `log_weights`.
    delta : float

    Examples
    --------
    >>> [distance(np.log([9.0, 8.0, 7.0, 6.0]), 3.0, delta) for delta in (0.1, 0.01, 0.001)]
    [2, 1, 0]
    """

    def unsafe(moved: int) -> bool:
        weights = log_weights(logs, rate, moved)
        return bool(weights[0] == -np.inf or weights[0] - np.logaddexp.reduce(weights) > math.log(delta))

    return bisect_left(range(len(logs) // 2), True, key=unsafe)


@checked
def budgets(epsilon: float, delta: float) -> tuple[float, float, float]:
    """Return what epsilon and delta allow: the scale of the test's noise, its threshold, and the rate of the density.

    Examples
    --------
    >>> [round(number, 3) for number in budgets(1.0, 1e-6)]
    [2.0, 27.245, 0.25]
    """
    chance = checks.chance(delta, "delta")
    test, rate = SHARE * checks.budget(epsilon), ((1 - SHARE) * epsilon + math.log1p(-chance)) / 2
    if rate <= 0 or chance > 0.5:
        most = -math.expm1(-(1 - SHARE) * epsilon)
        raise InputError(f"delta is {delta:g}: give at most .5, and less than {most:g} at an epsilon of {epsilon:g}")
    return 1 / test, 1 + math.log(1 / (2 * chance)) / test, rate


@checked
def failure(logs: FloatArray, epsilon: float, delta: float) -> float:
    """Return the chance that the test fails for models with these volumes, so that nothing is released.

    Parameters
    ----------
    logs : array of shape (m // 2,), from `log_volumes`
    epsilon, delta : float

    Examples
    --------
    >>> failure(log_volumes(np.random.default_rng(0).normal(size=(40, 2))), 1.0, 1e-6) > 0.999
    True
    """
    scale, threshold, rate = budgets(epsilon, delta)
    depth = len(logs) // 2
    if not depth or logs[depth - 1] == -np.inf:  # there is nothing to draw from
        return 1.0
    return float(noise.laplace_cdf(threshold - distance(logs, rate, delta), scale))


@checked
def deep_points(fits: FloatArray, epsilons: FloatArray, delta: float, rng: np.random.Generator) -> FloatArray:
    """Return a point that is deep among the models, for each budget, or NaN where the test fails.

    Parameters
    ----------
    fits : array of shape (m, p)
    epsilons : array of shape (e,)
    delta : float
    rng : Generator

    Returns
    -------
    array of shape (e, p)

    Examples
    --------
    >>> fits = np.random.default_rng(0).normal(size=(2000, 1))
    >>> bool(abs(deep_points(fits, np.array([10.0]), 1e-6, np.random.default_rng(0))[0, 0]) < 0.1)
    True
    """
    ordered, logs, found = np.sort(fits, axis=0), log_volumes(fits), np.full((len(epsilons), fits.shape[1]), np.nan)
    chances = {epsilon: failure(logs, epsilon, delta) for epsilon in set(epsilons.tolist())}
    for k, epsilon in enumerate(epsilons.tolist()):
        if rng.uniform() >= chances[epsilon]:
            weights = log_weights(logs, budgets(epsilon, delta)[2])
            level = len(fits) // 4 + rng.choice(len(weights), p=softmax(weights))
            found[k] = rng.uniform(ordered[level - 1], ordered[-level])
    return found
