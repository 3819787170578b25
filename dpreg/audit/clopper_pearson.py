"""What counts of one event prove: lower bounds on epsilon at a stated confidence, and how many draws they take.

Let an event have chance p with one data set and q with its neighbour. Who is (epsilon, delta)-private has p <=
exp(epsilon) q + delta, so epsilon >= log((p - delta) / q). Of n releases per data set the event was seen in k and in
k'. Clopper and Pearson's lower limit of p is the p at which k hits or more have chance a; whatever the true p is, it
lies below its limit with chance at most a. The upper limit of q is the q at which k' hits or fewer have chance a. So
log((p_low - delta) / q_high) exceeds the true epsilon with chance at most 2a: nothing is approximated, and the
releases of the two data sets may even depend on each other.

References
----------
C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial,
1934. M. Jagielski, J. Ullman and A. Oprea, Auditing differentially private machine learning: how private is private
SGD?, 2020.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats

from dpreg import accounting, checks
from dpreg.checks import FloatArray, InputError

MOST = 10**7  # draws: who needs more will not get them


def limits(draws: int, risk: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper limits of a chance for 0, 1, ..., `draws` hits, each wrong with chance at most `risk`.

    Parameters
    ----------
    draws : int
    risk : float

    Returns
    -------
    lower, upper : arrays of shape (draws + 1,)

    Examples
    --------
    >>> lower, upper = limits(20, 0.025)
    >>> float(lower[0]), float(upper[20]), round(float(upper[0]), 4)  # 1 - 0.025^(1 / 20)
    (0.0, 1.0, 0.1684)
    """
    return _limits(checks.count(draws, "draws"), checks.chance(risk, "risk"))


@lru_cache(maxsize=64)
def _limits(n: int, risk: float) -> tuple[FloatArray, FloatArray]:
    k = np.arange(n + 1.0)
    lower, upper = np.zeros(n + 1), np.ones(n + 1)
    lower[1:] = special.betaincinv(k[1:], n - k[1:] + 1, risk)
    upper[:-1] = special.betainccinv(k[:-1] + 1, n - k[:-1], risk)
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def lower_bound(
    hits: ArrayLike,
    hits_other: ArrayLike,
    draws: int,
    confidence: float = 0.95,
    *,
    delta: float = 0.0,
    gaussian: bool = False,
) -> FloatArray:
    """Return the epsilon that these counts prove to be spent at least; zero if they prove nothing.

    It looks in one direction. For the other one exchange the counts, and halve the risk of each.

    Parameters
    ----------
    hits, hits_other : arrays of int
        How often the event was seen with each data set.
    draws : int
        Releases per data set.
    confidence : float
    delta : float
        The claimed one.
    gaussian : bool
        Assume that the release is as hard to see through as one number with Gaussian noise: then p_low and q_high prove
        a shift of quantile(p_low) - quantile(q_high) deviations, and that an epsilon at this delta. It finds more, and
        is wrong for any other release.

    Returns
    -------
    array like hits

    Examples
    --------
    >>> round(float(lower_bound(900, 100, 1000)), 2)
    1.99
    >>> float(lower_bound(500, 500, 1000))
    0.0

    References
    ----------
    M. Nasr and others, Tight auditing of differentially private machine learning, 2023, Section 4 (`gaussian`).
    """
    n = checks.count(draws, "draws")
    k, other = (_counts(value, n, name) for value, name in ((hits, "hits"), (hits_other, "hits_other")))
    lower, upper = _limits(n, (1 - checks.chance(confidence, "confidence")) / 2)
    return proved(lower[k], upper[other], checks.chance(delta, "delta", zero=True), gaussian)


def proved(p: FloatArray, q: FloatArray, delta: float = 0.0, gaussian: bool = False) -> FloatArray:
    """Return the least epsilon of who has an event of chance at least p here and at most q there.

    Parameters
    ----------
    p, q : arrays
        Limits of the chances.
    delta, gaussian
        As in `lower_bound`.

    Examples
    --------
    >>> proved(np.array([0.5, 0.1]), np.array([0.25, 0.2])).round(4).tolist()
    [0.6931, 0.0]
    """
    if not gaussian:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(np.maximum(p - delta, 0.0)) - np.log(q)
        return np.asarray(np.maximum(np.nan_to_num(found, nan=0.0, neginf=0.0), 0.0))
    if delta <= 0:
        raise InputError(f"delta is {delta:g}, and Gaussian noise has no epsilon without one: give a number above zero")
    mu = np.asarray(special.ndtri(p) - special.ndtri(q))
    flat = [accounting.gdp_epsilon(shift, delta) if shift > 0 else 0.0 for shift in mu.ravel().tolist()]
    return np.asarray(flat).reshape(mu.shape)


def largest_provable(draws: int, confidence: float = 0.95, *, delta: float = 0.0, gaussian: bool = False) -> float:
    """Return the largest epsilon that so many draws can prove: the event is seen in all of one and none of the other.

    Parameters
    ----------
    draws, confidence, delta, gaussian
        As in `lower_bound`.

    Examples
    --------
    >>> round(largest_provable(1000), 2)  # close to log(1000 / log(2 / 0.05))
    5.6
    """
    log = math.log((1 - checks.chance(confidence, "confidence")) / 2) / checks.count(
        draws, "draws"
    )  # the limits are powers
    return float(
        proved(np.array(math.exp(log)), np.array(-math.expm1(log)), checks.chance(delta, "delta", zero=True), gaussian)
    )


def power(
    p: float, q: float, epsilon: float, draws: int, confidence: float = 0.95, *, delta: float = 0.0, tests: int = 1
) -> float:
    """Return the chance that an event with these chances refutes a claim: the sum over all counts that do.

    Parameters
    ----------
    p, q : float
        Chances of the event with one data set and the other.
    epsilon : float
        The claimed one.
    draws : int
        Releases per data set that are counted; `black_box.estimator` counts half of its draws.
    confidence : float
        Of all tests together.
    delta : float
    tests : int
        How many the risk is shared by.

    Returns
    -------
    float

    Examples
    --------
    >>> round(power(0.5, 0.1, 1.0, draws=200), 2)  # log(0.5 / 0.1) = 1.61 is spent
    0.61
    """
    n = checks.count(draws, "draws")
    risk = (1 - checks.chance(confidence, "confidence")) / 2 / checks.count(tests, "tests")
    p, q = (checks.chance(value, name, zero=True, one=True) for value, name in ((p, "p"), (q, "q")))
    k = np.arange(int(stats.binom.ppf(1e-12, n, q)), int(stats.binom.isf(1e-12, n, q)) + 1)
    upper = np.ones(len(k))
    inner = k < n
    upper[inner] = special.betainccinv(k[inner] + 1.0, n - k[inner], risk)
    least = math.exp(checks.budget(epsilon)) * upper + checks.chance(delta, "delta", zero=True)
    # p_low(k) exceeds c where k hits or more have a chance below the risk at c.
    needed = stats.binom.isf(risk, n, np.minimum(least, 1.0)) + 1
    chances = np.where(least < 1, stats.binom.sf(needed - 1, n, p), 0.0)
    return float(stats.binom.pmf(k, n, q) @ chances)


def draws_needed(
    p: float,
    q: float,
    epsilon: float,
    wanted: float = 0.9,
    confidence: float = 0.95,
    *,
    delta: float = 0.0,
    tests: int = 1,
) -> int:
    """Return a number of draws with which an event refutes a claim with a wanted chance.

    It is the smallest but for the teeth of a saw: counts are whole, so the chance does not grow with every single draw.

    Parameters
    ----------
    p, q, epsilon, confidence, delta, tests
        As in `power`.
    wanted : float
        The chance.

    Returns
    -------
    int
        Releases per data set that are counted.

    Raises
    ------
    InputError
        If the event does not violate the claim, or by so little that 10^7 draws would not do.

    Examples
    --------
    >>> n = draws_needed(0.5, 0.1, 1.0)
    >>> power(0.5, 0.1, 1.0, n) >= 0.9 > power(0.5, 0.1, 1.0, n // 2)
    True
    """
    level = checks.chance(wanted, "wanted")
    p, q = (checks.chance(value, name, zero=True, one=True) for value, name in ((p, "p"), (q, "q")))

    def enough(n: int) -> bool:
        return power(p, q, epsilon, n, confidence, delta=delta, tests=tests) >= level

    bad, good = 0, 1
    if not p > math.exp(checks.budget(epsilon)) * q + delta:
        raise InputError(
            f"p is {p:g} and q is {q:g}, which epsilon = {epsilon:g} allows: give an event that it does not"
        )
    while not enough(good):
        bad, good = good, 2 * good
        if good > MOST:
            raise InputError(
                f"p is {p:g} and q is {q:g}: 10^7 draws would not refute {epsilon:g}: give a clearer event"
            )
    while good - bad > 1:
        middle = (bad + good) // 2
        bad, good = (bad, middle) if enough(middle) else (middle, good)
    return good


def power_table(
    epsilon: float = 1.0,
    factors: Sequence[float] = (1.1, 1.25, 1.5, 2.0, 4.0),
    *,
    wanted: float = 0.9,
    confidence: float = 0.95,
    tests: int = 1,
) -> pd.DataFrame:
    """Return how many draws find a count with Laplace noise that spends `factor` times the claimed epsilon.

    The event is that the release lies beyond a threshold from one count to the next, the best of 21: beyond the larger
    count the ratio of the chances is largest, but where much more is spent than claimed a more frequent event needs
    fewer draws.

    Parameters
    ----------
    epsilon : float
        The claimed one.
    factors : sequence of float
        Above one.
    wanted, confidence, tests
        As in `draws_needed`.

    Returns
    -------
    DataFrame
        Columns factor, spent, p and q, the chances of the best event, and draws, the draws per data set that
        are counted.

    Examples
    --------
    >>> power_table(1.0, [2.0])[["factor", "spent"]].values.tolist()
    [[2.0, 2.0]]
    """
    rows = []
    for factor in checks.vector(factors, "factors").tolist():
        spent = factor * checks.budget(epsilon)
        p, q = 0.5, math.exp(-spent) / 2
        n = draws_needed(p, q, epsilon, wanted, confidence, tests=tests)
        for threshold in np.linspace(0.0, spent, 21)[:-1].tolist():
            event = 1 - math.exp(threshold - spent) / 2, math.exp(-threshold) / 2
            if n > 1 and power(*event, epsilon, n - 1, confidence, tests=tests) >= wanted:
                (p, q), n = event, draws_needed(*event, epsilon, wanted, confidence, tests=tests)
        rows.append({"factor": factor, "spent": spent, "p": p, "q": q, "draws": n})
    return pd.DataFrame(rows)


def _counts(value: ArrayLike, n: int, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    array = checks.numeric(value, name)
    if array.dtype.kind not in "iu" or (array.size and not (array.min() >= 0 and array.max() <= n)):
        raise InputError(f"{name} are not all between 0 and {n}: give whole numbers of hits, at most one per draw")
    return array.astype(np.int64)
