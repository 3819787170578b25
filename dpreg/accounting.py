"""What many releases cost together, and how much noise a budget needs.

What is found by a search ends on the safe side: a loss not below the exact value of its formula, a share or a `rho` not
above it. Closed formulas are rounded as floats are, to a few parts in 10^16.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its part `stats` is slow to load
from scipy import special

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import InputError

LARGEST = 1e300
LISTED = 10**7  # numbers of lies that are summed over
MANY = 10**6  # releases among which a search shares: it sums thousands of times
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


@checked
def advanced(epsilon: float, k: int, delta: float) -> float:
    """Return the total epsilon, at this delta, of k releases that are epsilon-private each: Dwork and Roth's form.

    It is sqrt(2 k log(1/delta)) epsilon + k epsilon (e^epsilon - 1), and can exceed k epsilon, which is also valid.

    Examples
    --------
    >>> round(advanced(0.1, 100, 1e-5), 4), round(optimal(0.1, 100, 1e-5), 4)
    (5.8502, 4.3068)
    """
    e, k, delta = _loss(epsilon, "epsilon"), checks.count(k, "k"), checks.chance(delta, "delta")
    grown = math.expm1(e) if e < 700 else math.inf
    return math.sqrt(-2 * k * math.log(delta)) * e + (k * e * grown if e else 0.0)


@checked
def advanced_share(total: float, k: int, delta: float) -> float:
    """Return the largest epsilon that each of k releases may have so that `advanced` gives at most this total.

    Examples
    --------
    >>> share = advanced_share(1.0, 100, 1e-5)
    >>> round(share, 5), advanced(share, 100, 1e-5) <= 1.0
    (0.02, True)
    """
    total = checks.positive(total, "total")
    # One float more, because the smallest floats round by half of themselves; so too in `laplace_for`.
    return _largest(lambda share: math.nextafter(advanced(share, k, delta) * (1 + 1e-14), math.inf) <= total)


@checked
def optimal(epsilon: float, k: int, delta: float) -> float:
    """Return the least total epsilon, at this delta, that covers any k releases that are epsilon-private each.

    Randomised response is the worst case, and its losses add up to epsilon (2 j - k) with j binomial.

    Examples
    --------
    >>> optimal(0.3, 1, 1e-9) <= 0.3, optimal(0.3, 10, 1e-5) < min(3.0, advanced(0.3, 10, 1e-5))
    (True, True)
    """
    e, k, delta = _loss(epsilon, "epsilon"), checks.count(k, "k"), checks.chance(delta, "delta")
    if e == 0:
        return 0.0
    # Lies are counted, not true answers: their probability keeps its digits when epsilon is large.
    lie = float(special.expit(-e))
    middle, spread = k * lie, math.sqrt(k * lie * float(special.expit(e)))
    reach = 40 * spread + 500  # Bernstein's inequality: what lies outside has probability below 1e-307
    first, last = max(0, math.floor(middle - reach)), min(k, math.ceil(middle + reach))
    if last - first > LISTED:
        raise InputError(f"k is {k}, and {last - first:.1g} numbers of lies are likely: give fewer releases")
    lies = np.arange(first, last + 1)
    losses = (k - 2.0 * lies) * e * (1 + 1e-15)
    # An error in `lie` counts up to k times.
    chance = scipy.stats.binom.pmf(lies, k, lie) * (1 + 1e-10 + 1e-15 * k)

    def covers(total: float) -> bool:
        return bool((chance * -np.expm1(np.minimum(total - losses, 0.0))).sum() + 1e-307 <= delta)

    return 0.0 if covers(0.0) else _edge(covers, k * e * (1 + 1e-15), 0.0)


@checked
def optimal_share(total: float, k: int, delta: float) -> float:
    """Return the largest epsilon that each of k releases may have so that `optimal` gives at most this total.

    Examples
    --------
    >>> share = optimal_share(1.0, 100, 1e-5)
    >>> round(share, 5), optimal(share, 100, 1e-5) <= 1.0
    (0.02706, True)
    """
    total, _ = _sought(total, "total"), checks.count(k, "k", most=MANY)
    return _largest(lambda share: optimal(share, k, delta) <= total)


@checked
@dataclass(frozen=True)
class MeanCDP:
    """Mean-concentrated privacy: the loss has mean at most `mu` and strays from it like a normal of deviation `tau`.

    Adding two gives the cost of both releases. If the second is chosen by the first output, what adds up is the mean
    and the upper tail, not the lower one: enough for `rho` and `epsilon`.

    Parameters
    ----------
    mu, tau : float

    Examples
    --------
    >>> both = MeanCDP(0.25, 0.3) + MeanCDP(0.5, 0.4)
    >>> both.mu, both.tau, both.rho
    (0.75, 0.5, 0.75)
    """

    mu: float
    tau: float

    def __post_init__(self) -> None:
        _loss(self.mu, "mu")
        _loss(self.tau, "tau")

    def __add__(self, other: MeanCDP) -> MeanCDP:
        if not isinstance(other, MeanCDP):
            return NotImplemented
        return MeanCDP(self.mu + other.mu, math.hypot(self.tau, other.tau))

    @classmethod
    def from_pure(cls, epsilon: float, *, quoted: bool = False) -> MeanCDP:
        """Return what an epsilon-private release costs: the least there is, or by the theorem that 003 quotes.

        The mean loss is at most epsilon tanh(epsilon / 2); 003 quotes epsilon (e^epsilon - 1) / 2.

        References
        ----------
        * 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016.
        """
        e = _loss(epsilon, "epsilon")
        if not checks.flag(quoted, "quoted"):
            return cls(zcdp_from_pure(e), e)
        if e > 700:
            raise InputError(f"epsilon is {e:g}: the quoted theorem overflows, use quoted=False")
        return cls(e * math.expm1(e) / 2, e)

    @property
    def rho(self) -> float:
        """The zCDP it implies."""
        return max(self.mu, self.tau**2 / 2)

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at this delta, from the tail of the loss alone."""
        return self.mu + self.tau * math.sqrt(-2 * math.log(checks.chance(delta, "delta")))


@checked
def zcdp_from_pure(epsilon: float) -> float:
    """Return the least rho that covers every epsilon-private mechanism: epsilon tanh(epsilon / 2).

    It is below epsilon^2 / 2, the bound in common use, and below epsilon.

    Examples
    --------
    >>> zcdp_from_pure(0.0), round(zcdp_from_pure(1.0), 4)
    (0.0, 0.4621)
    """
    e = _loss(epsilon, "epsilon")
    return e * math.tanh(e / 2)


@checked
def zcdp_from_laplace(epsilon: float) -> float:
    """Return the least rho of independent Laplace noise whose loss is at most epsilon: epsilon - 1 + e^-epsilon.

    Examples
    --------
    >>> round(zcdp_from_laplace(1.0), 4)
    0.3679
    """
    e = _loss(epsilon, "epsilon")
    if e > 1:
        return e + math.expm1(-e)
    # The difference cancels for small epsilon; its power series does not.
    return math.fsum((-e) ** n / math.factorial(n) for n in range(2, 20))


@checked
def laplace_for(rho: float) -> float:
    """Return the largest epsilon of independent Laplace noise that costs at most rho by `zcdp_from_laplace`.

    Examples
    --------
    >>> epsilon = laplace_for(0.045)
    >>> round(epsilon, 4), zcdp_from_laplace(epsilon) <= 0.045
    (0.3158, True)
    """
    rho = _sought(rho, "rho")
    return _largest(lambda epsilon: math.nextafter(zcdp_from_laplace(epsilon) * (1 + 1e-14), math.inf) <= rho)


@checked
def zcdp_to_dp(rho: float, delta: float, *, tight: bool = True) -> float:
    """Return the epsilon that rho-zCDP implies at this delta.

    Parameters
    ----------
    rho, delta : float
    tight : bool
        By the best Renyi order. The name is the usual one: a mechanism may need less. False gives the larger
        rho + 2 sqrt(rho log(1/delta)).

    Examples
    --------
    >>> round(zcdp_to_dp(0.9, 1e-4), 3), round(zcdp_to_dp(0.9, 1e-4, tight=False), 3)
    (5.92, 6.658)
    """
    rho, level = _loss(rho, "rho"), -math.log(checks.chance(delta, "delta"))
    simple = rho + 2 * math.sqrt(rho * level)
    if rho == 0 or not checks.flag(tight, "tight"):
        return simple
    # Any order 1 + s gives a valid epsilon. The best one solves rho s^2 + log(1 + s) = log(1/delta).
    s = _edge(lambda s: rho * s * s + math.log1p(s) <= level, 0.0, min(1.01 * math.sqrt(level / rho), 1e150))
    terms = rho * (1 + s), level / s, -math.log1p(s) / s, -math.log1p(1 / s)
    return min(simple, max(0.0, math.fsum(terms) + 1e-15 * math.fsum(map(abs, terms))))


@checked
def rho_for(epsilon: float, delta: float) -> float:
    """Return the largest rho that (epsilon, delta)-privacy allows by `zcdp_to_dp`.

    Examples
    --------
    >>> rho = rho_for(1.0, 1e-5)
    >>> round(rho, 5), zcdp_to_dp(rho, 1e-5) <= 1.0
    (0.03056, True)
    """
    epsilon = _sought(epsilon, "epsilon")
    return _largest(lambda rho: zcdp_to_dp(rho, delta) <= epsilon)


@checked
def gdp_delta(mu: float, epsilon: float) -> float:
    """Return the exact delta at this epsilon of Gaussian noise whose deviation is the L2 sensitivity over `mu`.

    It is Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), rounded up, so never zero for mu above zero.

    Examples
    --------
    >>> round(gdp_delta(1.0, 1.0), 6), round(gdp_delta(1.0, 0.0), 6)
    (0.126937, 0.382925)
    """
    mu, epsilon = _loss(mu, "mu"), _loss(epsilon, "epsilon")
    if mu == 0:
        return 0.0
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a > 39:  # delta is below every positive float
        return math.nextafter(0.0, math.inf)
    if a < -1:
        delta = float(special.ndtr(-a)) - math.exp(-a * a / 2) / math.sqrt(2 * math.pi) * _mills(b)
    else:  # the density at a times the difference of two Mills ratios; close ones are subtracted as an integral
        x = a + (NODES + 1) * mu / 2
        apart = _mills(a) - _mills(b) if mu > 0.5 else float(WEIGHTS @ (1 - x * _mills(x))) * mu / 2
        delta = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) * apart
    # An error in a, which is rounded like b, counts this many times in the logarithm of delta.
    slope = max(a, 0.0) + math.exp(-a * a / 2)
    rounding = 2e-15 * (8 + slope * b)
    return min(1.0, math.nextafter(delta * (1 + rounding), math.inf))


@checked
def gdp_epsilon(mu: float, delta: float) -> float:
    """Return the exact epsilon at this delta of Gaussian noise whose deviation is the L2 sensitivity over `mu`.

    Examples
    --------
    >>> round(gdp_epsilon(1.0, 1e-5), 4)
    4.3772
    """
    mu, delta = _loss(mu, "mu"), checks.chance(delta, "delta")
    if gdp_delta(mu, 0.0) <= delta:
        return 0.0
    # From delta <= Phi(mu/2 - epsilon/mu) and the normal tail; twice that leaves room for rounding.
    enough = 2 * (mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta)))
    return _edge(lambda epsilon: gdp_delta(mu, epsilon) <= delta, enough, 0.0)


@checked
def gdp_mu(epsilon: float, delta: float) -> float:
    """Return the largest `mu` for which Gaussian noise is (epsilon, delta)-private; epsilon may be zero.

    Examples
    --------
    >>> mu = gdp_mu(1.0, 1e-5)
    >>> round(mu, 4), gdp_delta(mu, 1.0) <= 1e-5
    (0.2681, True)
    """
    epsilon, delta = _loss(epsilon, "epsilon"), checks.chance(delta, "delta")
    return _largest(lambda mu: gdp_delta(mu, epsilon) <= delta)


@checked
def gaussian_deviation(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the smallest deviation of Gaussian noise that is (epsilon, delta)-private at this L2 sensitivity.

    Examples
    --------
    >>> round(gaussian_deviation(1.0, 1.0, 1e-5), 4), round(classical_deviation(1.0, 1.0, 1e-5), 4)
    (3.7306, 4.8448)
    """
    return math.nextafter(checks.positive(sensitivity, "sensitivity") / gdp_mu(epsilon, delta), math.inf)


@checked
def classical_deviation(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return sensitivity sqrt(2 log(1.25/delta)) / epsilon: enough up to epsilon = 1, too little for large epsilon.

    Examples
    --------
    >>> gdp_delta(1 / classical_deviation(1.0, 1.0, 1e-5), 1.0) < 1e-5
    True
    >>> gdp_delta(1 / classical_deviation(1.0, 20.0, 1e-5), 20.0) < 1e-5
    False
    """
    size, epsilon = checks.positive(sensitivity, "sensitivity"), checks.positive(epsilon, "epsilon")
    return size * math.sqrt(2 * math.log(1.25 / checks.chance(delta, "delta"))) / epsilon


def _mills(x: Any) -> Any:
    """Return Phi(-x) over the normal density at x."""
    return math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))


def _largest(holds: Callable[[float], bool]) -> float:
    """Return the largest positive number for which a condition that fails from some point on still holds."""
    bad = 1.0
    while holds(bad):
        bad *= 2
    return _edge(holds, 0.0, bad)


def _edge(holds: Callable[[float], bool], good: float, bad: float) -> float:
    """Return where a condition changes between a good and a bad point, on the good side, to one part in 10^14."""
    while abs(good - bad) > 1e-14 * max(good, bad):
        middle = good + (bad - good) / 2
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _loss(value: Any, name: str) -> float:
    number = checks.finite(value, name)
    if number < 0:
        raise InputError(f"{name} is {number:g}: give a number of at least zero")
    if number > LARGEST:
        raise InputError(f"{name} is {number:g}, and what many of it cost exceeds every float: give a smaller one")
    return number


def _sought(value: Any, name: str) -> float:
    """Return what a search must not exceed; it tries numbers a little beyond."""
    number = checks.positive(value, name)
    if number > LARGEST / 10:
        raise InputError(f"{name} is {number:g}, and what is beyond it exceeds every float: give a smaller one")
    return number
