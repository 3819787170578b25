"""Rivals with a delta for least squares, from moments alone: an adaptive ridge, and noisy gradient descent.

They are for study: sweeps draw their noise, and no estimator releases with it. The chapter on the comparison proves
what they cost.
"""

from __future__ import annotations

import math

import numpy as np

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.mechanisms.gaussian import mu_for
from dpreg.pipeline import repair, solve
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import Quadratic
from dpreg.sweeps.methods import Method

FAILURE = 0.05  # chance of each bound that the ridge relies on; it moves accuracy, and never privacy


@checked
def adassp(name: str, domain: Box | Ball, delta: float) -> Method:
    """Return least squares with a ridge that adapts to a noisy smallest eigenvalue: AdaSSP, in our constants.

    Under replace. Three releases with Gaussian noise, each for mu / sqrt(3): the smallest eigenvalue of X'X, X'X and
    X't. A record x has |x|^2 <= R^2, so they move by at most R^2, sqrt(2) R^2 in the Frobenius norm, and 2 R.

    Parameters
    ----------
    name : str
    domain : Box or Ball
    delta : float

    References
    ----------
    * Wang, Revisiting differentially private linear regression, 2018.

    Examples
    --------
    >>> from dpreg import Box
    >>> adassp("AdaSSP", Box([0.0], [1.0], response=(0.0, 1.0)), 1e-6).private
    True
    """
    checks.instance(domain, (Box, Ball), "domain")
    square, chance = domain.longest, checks.chance(delta, "delta")

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        mu = mu_for(epsilons, chance) / math.sqrt(3)
        M, v, p = train.symmetric, train.v, train.p
        batch = np.broadcast_shapes(train.batch, mu.shape)
        own = np.linalg.eigvalsh(M)[..., 0] + noise.gaussian(square / mu, batch, rng)
        spread = math.sqrt(2) * square / mu  # of a diagonal entry; off it, the variance is half
        drawn = np.triu(noise.gaussian(spread[..., None, None] * _shape(p, domain.intercept), (*batch, p, p), rng))
        noisy = M + drawn + np.swapaxes(np.triu(drawn, 1), -1, -2)
        linear = v + 2 * noise.gaussian((2 * math.sqrt(square) / mu)[..., None], (*batch, p), rng)
        ridge = ridge_for(own, square / mu, spread, p)
        return solve.minimise(repair.trim(repair.ridge(Quadratic(noisy, linear, np.zeros(batch)), ridge)))

    return Method(name, fit)


@checked
def ridge_for(least: FloatArray, deviation: FloatArray, spread: FloatArray, p: int) -> FloatArray:
    """Return what lifts M above its noise: the norm that the noise hardly exceeds, less what M surely has.

    Parameters
    ----------
    least : array
        Noisy smallest eigenvalue of M.
    deviation : array
        Of the noise on it.
    spread : array
        Standard deviation of the noise on the diagonal of M, whose variance off it is half of that.
    p : int
        Number of columns.

    Notes
    -----
    With a chance of at least 1 - FAILURE each, the eigenvalue is at least `least` minus sqrt(2 log(1 / FAILURE))
    deviations, and the norm of the noise at most spread sqrt(2) (sqrt(p) + sqrt(log(2 / FAILURE))).

    Examples
    --------
    >>> one = np.ones(1)
    >>> float(ridge_for(1000 * one, one, one, 4)[0]), round(float(ridge_for(0 * one, one, one, 4)[0]), 3)
    (0.0, 5.545)
    """
    surely = np.maximum(least - math.sqrt(-2 * math.log(FAILURE)) * deviation, 0.0)
    hardly = spread * math.sqrt(2) * (math.sqrt(p) + math.sqrt(math.log(2 / FAILURE)))
    return np.asarray(np.maximum(hardly - surely, 0.0))


@checked
def gradient_descent(name: str, domain: Box, delta: float, steps: int) -> Method:
    """Return projected gradient descent, each of whose gradients gets Gaussian noise.

    Under replace, on the box [-1, 1]^d. Each step starts from a theta with sum |theta_j| <= 1, which keeps predictions
    between -1 and 1, so that the gradient 2 x (x' theta - t) of a record is no longer than 4 R, and moves the sum by
    8 R at most. Each step gets mu / sqrt(steps). The answer is the mean of the second half of the steps.

    Parameters
    ----------
    name : str
    domain : Box
        With an intercept, so that its number of records is public, and not scaled from its corner.
    delta : float
    steps : int

    Examples
    --------
    >>> from dpreg import Box
    >>> gradient_descent("descent", Box([0.0], [1.0], (0.0, 1.0), intercept=True), 1e-6, 10).private
    True
    """
    centred(domain)
    square, count = domain.longest, checks.count(steps, "steps")
    chance = checks.chance(delta, "delta")

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        deviation = 8 * math.sqrt(square) * math.sqrt(count) / mu_for(epsilons, chance)
        batch = (*np.broadcast_shapes(train.batch, deviation.shape), train.p)
        theta, mean = np.zeros(batch), np.zeros(batch)
        rate = 1 / (2 * square * train.M[..., 0, :1])  # one over the largest curvature that n records can have
        curvature, drawn = 2 * train.symmetric, noise.gaussian(deviation[..., None], (count, *batch), rng)
        for step in range(count):
            gradient = (curvature @ theta[..., None])[..., 0] + train.v
            theta = inside(theta - rate * (gradient + drawn[step]))
            if step >= count // 2:
                mean += theta
        return mean / (count - count // 2)

    return Method(name, fit)


@checked
def centred(domain: Box) -> None:
    """Raise `InputError` for a box that is scaled from its corner or has no intercept.

    Examples
    --------
    >>> centred(Box([0.0, 0.0], [1.0, 1.0], (0.0, 1.0), intercept=True))
    """
    if domain.corner or not domain.intercept:
        raise InputError(
            "domain is a box that is scaled from its corner or has no intercept: give Box(..., intercept=True)"
        )


@checked
def inside(theta: FloatArray) -> FloatArray:
    """Return the nearest points whose entries have absolute values that add up to at most one; shape (..., p).

    Examples
    --------
    >>> inside(np.array([[2.0, 1.0], [0.3, -0.3]])).tolist()
    [[1.0, 0.0], [0.3, -0.3]]
    """
    size = np.abs(theta)
    if (size.sum(axis=-1) <= 1).all():
        return theta
    down = -np.sort(-size, axis=-1)
    # The largest is where the sorted entries fall below what they are shrunk by.
    shift = ((np.cumsum(down, axis=-1) - 1) / np.arange(1, theta.shape[-1] + 1)).max(axis=-1, keepdims=True)
    shrink = np.maximum(shift, 0.0)
    return np.asarray(np.sign(theta) * np.maximum(size - shrink, 0.0))


def _shape(p: int, public: bool) -> FloatArray:
    """Return deviations of symmetric noise over that of the diagonal: less off it, and none on a public count."""
    out = math.sqrt(0.5) + (1 - math.sqrt(0.5)) * np.eye(p)
    out[0, 0] *= not public
    return np.asarray(out)
