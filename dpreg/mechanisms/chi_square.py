"""Exact calibration of one-sided Wishart noise with many degrees of freedom, an idea of Sheffet (2019).

Let W be Wishart W_p(s^2 I, k) and add W to a sum of zz'. For the row z that is present or not, everything an observer
can learn is in one number, and that number is |z|^2 / s^2 plus a chi-square variable with k - p + 1 degrees of
freedom, or the chi-square variable alone. So the matrix mechanism costs what this one-dimensional one costs. The
proofs are in the chapter on IRLS. Neighbours are add/remove throughout.
"""

from __future__ import annotations

import math

import scipy  # its part `stats` is slow to load
from scipy import optimize

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import InputError

ROUNDING = 1e-12  # relative, of each probability below; added, so that delta errs on the safe side
MOST = 2.0**40  # degrees of freedom, and size of a shift, beyond which a search gives up


@checked
def delta(epsilon: float, freedom: float, shift: float) -> float:
    """Return the smallest delta at this epsilon of adding chi-square noise to a number that moves by `shift`.

    Parameters
    ----------
    epsilon : float
        At least zero.
    freedom : float
        Degrees of freedom of the noise, at least two: below, the density is not log-concave. For a Wishart matrix
        with k degrees of freedom and p columns it is k - p + 1.
    shift : float
        Largest |z|^2 / s^2. A smaller one costs less.

    References
    ----------
    * 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016.

    Examples
    --------
    Two degrees of freedom are the exponential noise of 003: delta is 1 - exp(-shift / 2), however large epsilon is.

    >>> round(delta(5.0, 2, 1.0), 6), round(1 - math.exp(-0.5), 6)
    (0.393469, 0.393469)
    """
    if checks.finite(epsilon, "epsilon") < 0:
        raise InputError(f"epsilon is {epsilon:g}: give a number of at least zero")
    if checks.finite(freedom, "freedom") < 2:
        raise InputError(f"freedom is {freedom:g}: give at least two degrees of freedom")
    if freedom > MOST:
        raise InputError(f"freedom is {freedom:g}: give at most {MOST:g} degrees of freedom")
    a, power, law = checks.positive(shift, "shift"), (freedom - 2) / 2, scipy.stats.chi2(freedom)
    # Where the likelihood ratio ((c - a) / c)^power e^(a / 2), or its inverse, crosses e^epsilon.
    low = a / -math.expm1(-_over(epsilon + a / 2, power))
    worst = _excess(law.cdf(low), epsilon + law.logcdf(low - a))
    if epsilon < a / 2:
        high = a / -math.expm1(-_over(a / 2 - epsilon, power))
        worst = max(worst, _excess(law.sf(high - a), epsilon + law.logsf(high)))
    return min(worst, 1.0)


@checked
def largest_shift(epsilon: float, delta: float, freedom: float) -> float:
    """Return the largest shift that chi-square noise hides with this epsilon and delta.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    >>> round(largest_shift(1.0, 1e-6, 43), 3)
    1.004
    """
    _target(epsilon, delta)
    if checks.finite(freedom, "freedom") > MOST:
        raise InputError(f"freedom is {freedom:g}: give at most {MOST:g} degrees of freedom")
    return _search(lambda shift: _profile(epsilon, freedom, shift) - delta, 1e-9, rising=True)


@checked
def least_freedom(epsilon: float, delta: float, shift: float = 1.0) -> int:
    """Return the least whole number of degrees of freedom that hides a shift with this epsilon and delta.

    Examples
    --------
    >>> least_freedom(1.0, 1e-6), least_freedom(0.1, 1e-6)
    (43, 844)
    """
    _target(epsilon, delta)
    checks.positive(shift, "shift")
    if _profile(epsilon, 2, shift) <= delta:
        return 2
    return math.ceil(_search(lambda nu: _profile(epsilon, nu, shift) - delta, 2.0, rising=False))


@checked
def replaced(epsilon: float, freedom: float, shift: float) -> float:
    """Return a delta at this epsilon when a row may be replaced: removing one and adding another in turn.

    It is at least the smallest one. `halved` is its inverse.

    Examples
    --------
    >>> replaced(2.0, 43, 1.0) == (1 + math.e) * delta(1.0, 43, 1.0)
    True
    """
    half = checks.finite(epsilon, "epsilon") / 2
    apart = delta(half, freedom, shift)
    return min(1.0, (1 + math.exp(half)) * apart) if half < 700 else 1.0


@checked
def halved(epsilon: float, delta: float) -> tuple[float, float]:
    """Return what add/remove must keep to so that replace keeps to (epsilon, delta): replacing is both in turn.

    Examples
    --------
    >>> eps, d = halved(1.0, 1e-6)
    >>> eps, round((1 + math.exp(eps)) * d, 12)
    (0.5, 1e-06)
    """
    _target(epsilon, delta)
    part = delta * math.exp(-epsilon / 2) / (1 + math.exp(-epsilon / 2))
    if part == 0:
        raise InputError(f"epsilon is {epsilon:g}, for which delta would have to be zero: give a smaller one")
    return epsilon / 2, part


_profile = delta  # the searches have an argument of that name


def _search(excess: object, start: float, *, rising: bool) -> float:
    """Return a point on the allowed side of where a monotone function crosses zero."""
    assert callable(excess)
    sign = 1.0 if rising else -1.0
    low, high = start, 2 * start
    while sign * excess(low) > 0:
        low, high = low / 2, low
    while sign * excess(high) <= 0:
        low, high = high, 2 * high
        if high > MOST:
            raise InputError("no noise of this kind is so large: give a smaller delta, or a larger epsilon")
    root = float(optimize.brentq(excess, low, high, xtol=1e-300, rtol=1e-12))
    return root * (1 - sign * 1e-9)  # the side on which delta is kept


def _over(number: float, power: float) -> float:
    return number / power if power else math.inf


def _excess(first: float, log_second: float) -> float:
    second = math.exp(min(log_second, 0.0))
    return max(float(first) - second, 0.0) + ROUNDING * (float(first) + second)


def _target(epsilon: float, delta: float) -> None:
    checks.positive(epsilon, "epsilon")
    checks.chance(delta, "delta")
