"""The scale design problem: the least weighted variance of the noise that `certify` allows for epsilon.

Predictors look alike from outside, so the best scales differ only between kinds of coefficients: two to six numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.laws import Scales, certify
from dpreg.pipeline.objective import SQUARED, Loss

minimize: Any = optimize.minimize  # its overloads know no array of unknown length

Weights = tuple[float, float, float]
TOTAL: Weights = (1.0, 1.0, 1.0)  # every released number counts alike
SQUARE, PRODUCT, LINEAR, ROW, MEAN, COUNT = range(6)
KIND = {SQUARE: 0, PRODUCT: 1, LINEAR: 2, ROW: 1, MEAN: 2, COUNT: 0}  # which weight an orbit has


@checked
def at_random_theta(spread: float = 1.0) -> Weights:
    """Return the weights for which `criterion` is the variance of the noisy objective at a random theta.

    The entries of theta are independent and normal with standard deviation `spread`, a public guess of their size.

    Examples
    --------
    >>> at_random_theta()
    (3.0, 4.0, 1.0)
    """
    s = checks.within_reach(checks.positive(spread, "spread"), "spread")
    return 3 * s**4, 4 * s**4, s**2


@checked
def criterion(scales: Scales, weights: Weights = TOTAL) -> FloatArray:
    """Return the weighted variance 2 sum w_k b_k^2 of the noise on the upper triangle of M and on v; shape (...).

    `weights` are those of the diagonal of M, of each entry above it, and of each entry of v.

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> float(criterion(unit_scales("copied", 2)))
    10.0
    """
    if scales.ordered:
        raise InputError("the scales are ordered, with two draws for each product: give one of the other conventions")
    squares, products, linear = _weights(weights)
    each = np.triu(np.full((scales.p, scales.p), products), 1) + squares * np.eye(scales.p)
    return np.asarray(2 * ((each * scales.M**2).sum(axis=(-1, -2)) + linear * (scales.v**2).sum(axis=-1)))


@checked
def optimal(
    domain: Domain,
    epsilon: ArrayLike,
    *,
    weights: Weights = TOTAL,
    neighbours: Neighbours = "replace",
    loss: Loss = SQUARED,
) -> Scales:
    """Return the scales with the least weighted variance among those that `certify` prices at epsilon.

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float or array
        An array gives one choice of scales per entry, stacked.
    weights : (float, float, float)
        Public weights of squares, products and linear coefficients; see `criterion` and `at_random_theta`.
    neighbours : {"replace", "add_remove"}
    loss : Loss

    Returns
    -------
    Scales
        Whatever the optimiser did, they are scaled to cost exactly epsilon. `least` says how far from the best.

    Examples
    --------
    >>> from dpreg.pipeline.laws import functional
    >>> box = Box(-np.ones(13), np.ones(13), response=(-1.0, 1.0))
    >>> best = optimal(box, 1.0)
    >>> round(certify(best, box), 9), round(float(criterion(best) / criterion(functional(box, 1.0))), 3)
    (1.0, 0.91)
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    public = domain.intercept and neighbours == "replace"
    quadratic, linear = _orbits(domain)
    free = [k for k in np.unique(np.r_[quadratic.ravel(), linear]) if not (public and k == COUNT)]

    def build(logs: FloatArray) -> Scales:
        sizes = np.zeros(6)  # a public count goes out as it is
        sizes[free] = np.exp(np.r_[0.0, logs])  # the price is homogeneous: one scale is free
        return Scales(sizes[quadratic], sizes[linear])

    def goal(logs: FloatArray) -> float:
        scales = build(logs)
        return float(np.log(criterion(scales, weights)) + 2 * np.log(certify(scales, domain, neighbours, loss)))

    found = np.zeros(len(free) - 1)
    for _ in range(2):  # a second, fresh simplex where the first one stopped
        options = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000}
        found = minimize(goal, found, method="Nelder-Mead", options=options).x
    best = build(found)
    return best.times(certify(best, domain, neighbours, loss) / budgets)


@checked
def least(
    domain: Domain,
    epsilon: float,
    *,
    weights: Weights = TOTAL,
    neighbours: Neighbours = "replace",
    loss: Loss = SQUARED,
) -> float:
    """Return a number that the criterion of no scales within epsilon can be below, whatever their pattern.

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float
    weights : (float, float, float)
    neighbours : {"replace", "add_remove"}
    loss : Loss

    Notes
    -----
    A pair of neighbours that changes number k by c_k allows no less than 2 (sum w_k^(1/3) c_k^(2/3))^3 / epsilon^2, by
    Hoelder's inequality, and so does a mixture of pairs with mean changes c_k. This is the best such bound found over
    mixtures of two pairs whose predictors are all equal. On a ball other pairs are worse, so the bound is low there.

    Examples
    --------
    >>> box = Box(-np.ones(13), np.ones(13), response=(-1.0, 1.0))
    >>> round(float(criterion(optimal(box, 1.0))) / least(box, 1.0), 9)
    1.0
    """
    checks.budget(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    for part in (loss.square, loss.cross):
        limits.sized(part, "a coefficient of the loss")
    quadratic, linear = _orbits(domain)
    count = np.bincount(np.r_[quadratic[np.triu_indices(domain.p)], linear], minlength=6)
    weight = np.array(_weights(weights))[[KIND[k] for k in range(6)]]
    corner = not isinstance(domain, Box) or domain.corner  # a ball holds the corner box
    r = 1 / np.sqrt(domain.d) if corner else 1.0

    def bound(changes: FloatArray) -> float:
        return float((count * weight ** (1 / 3) * changes ** (2 / 3)).sum() ** 3 * 2 / epsilon**2)

    square, cross = loss.square, abs(loss.cross)
    if checks.neighbours(neighbours) == "add_remove":
        return bound(np.array([r**2 * square, r**2 * square, r * cross, r * square, cross, square]))

    def mixed(z: FloatArray) -> float:
        """Mean changes of two pairs, (t, r, ..., r) and (t', 2 u - r, ...) with t' = -t, and one with t' = t."""
        share, u, other = z
        one = [4 * u * (r - u) * square] * 2 + [2 * u * cross, 2 * (r - u) * square, 2 * cross, 0.0]
        two = [4 * other * (r - other) * square] * 2 + [2 * (r - other) * cross, 2 * (r - other) * square, 0.0, 0.0]
        return -float(np.log(bound(share * np.array(one) + (1 - share) * np.array(two))))

    low = r / 2 if corner else 0.0  # both records must be in the domain
    box, options = optimize.Bounds([0.0, low, low], [1.0, r, r]), {"xatol": 1e-10, "fatol": 1e-14, "maxfev": 4000}
    # Any point found is a bound. Where the linear part rules, the best u is close to r, and a far simplex sticks at r.
    starts = [np.array([share, near * r, 0.5 * r]) for share in (1.0, 0.7, 0.4) for near in (0.55, 0.99)]
    found = [minimize(mixed, start, bounds=box, method="Nelder-Mead", options=options).fun for start in starts]
    return float(np.exp(-min(found)))


def _orbits(domain: Domain) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the kind of every entry of M and of v: the predictors may trade places, the constant may not."""
    M = np.full((domain.p, domain.p), PRODUCT)
    np.fill_diagonal(M, SQUARE)
    v = np.full(domain.p, LINEAR)
    if domain.intercept:
        M[0], M[:, 0], M[0, 0], v[0] = ROW, ROW, COUNT, MEAN
    return M, v


def _weights(weights: Weights) -> Weights:
    values = checks.vector(weights, "weights")
    if len(values) != 3 or (values <= 0).any():
        raise InputError(f"weights are {tuple(values.tolist())}: give three numbers above zero")
    return float(values[0]), float(values[1]), float(values[2])
