"""Rivals that perturb an objective: squares on a bounded set, labels with a delta, and the K-norm gradient mechanism.

They are for study: sweeps draw their noise, and no estimator releases with it. The chapter on the comparison proves
what they cost. Neighbours replace a record.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, SolverError
from dpreg.mechanisms.objective_perturbation import ridge, share_for
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.newton import blocked, newton
from dpreg.pipeline.objective import Quadratic
from dpreg.sweeps.methods import Method, RowMethod
from dpreg.sweeps.moment_methods import centred, inside
from dpreg.sweeps.splits import Partition

SLOPE, BEND = 4.0, 2.0  # largest derivatives of (z - t)^2 by z, where |z| <= 1 and |t| <= 1
GAP = 1e-12  # of the objective above its minimum, over the largest entry of its linear term: no more than rounding
LIMIT = 20_000  # steps of the search for it
EVERY = 10  # steps between two looks at which entries are zero
PROPOSALS = 256  # of the K-norm gradient mechanism at a time


@checked
def gaussian_tilt(reach: float, slope: float, epsilon: float, delta: float) -> float:
    """Return the deviation of a Gaussian tilt that costs epsilon and delta, for losses of x' theta.

    Parameters
    ----------
    reach : float
        Largest length of a record x.
    slope : float
        Largest derivative of the loss by x' theta, in size.
    epsilon : float
        What is left of the budget for the tilt.
    delta : float, at most .08

    Notes
    -----
    With q the normal quantile of 1 - delta / 2 and mu = 2 slope reach / deviation, it solves q mu + mu^2 / 2 = epsilon.

    Examples
    --------
    >>> round(gaussian_tilt(1.0, 1.0, 1.0, 1e-6), 3)
    9.984
    """
    if checks.chance(delta, "delta") > 0.08:
        raise InputError(f"delta is {delta:g}: give at most .08, for which the tails of two normal variables add up")
    budget, q = checks.budget(epsilon), _quantile(delta)
    mu = 2 * budget / (q + math.sqrt(q * q + 2 * budget))
    return 2 * checks.positive(slope, "slope") * checks.positive(reach, "reach") / mu


@checked
def share_with(delta: float) -> float:
    """Return the share of epsilon that balances a Gaussian tilt and the ridge, whatever the number of columns.

    Examples
    --------
    >>> round(share_with(1e-6), 3)
    0.893
    """
    q = _quantile(checks.chance(delta, "delta"))
    ratio = math.cbrt(24 * q * q)
    return ratio / (1 + ratio)


@checked
def squares(name: str, domain: Box, delta: float = 0.0) -> Method:
    """Return objective perturbation of the sum of squares over all theta with sum |theta_j| <= 1.

    On the box [-1, 1]^d. The tilt is that of the K-norm, with the scale 8 / (share epsilon), or Gaussian with a delta.

    Parameters
    ----------
    name : str
    domain : Box
        With an intercept, so that its number of records is public, and not scaled from its corner.
    delta : float
        Zero for pure privacy.

    Examples
    --------
    >>> squares("objective perturbation", Box([0.0], [1.0], (0.0, 1.0), intercept=True)).private
    True
    """
    centred(domain)
    square, chance = domain.longest, checks.chance(delta, "delta", zero=True)
    share = share_with(chance) if chance else share_for(domain.p)

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        batch = (*np.broadcast_shapes(train.batch, epsilons.shape), train.p)
        if chance:
            scales = [gaussian_tilt(math.sqrt(square), SLOPE, share * e, chance) for e in epsilons.tolist()]
            tilt = noise.gaussian(np.array(scales)[:, None], batch, rng)
        else:
            tilt = _in_sup_norm(2 * SLOPE / (share * epsilons), batch, rng)
        lift = np.array([ridge(BEND * square, (1 - share) * e) for e in epsilons.tolist()])
        H = 2 * train.symmetric + lift[:, None, None] * np.eye(train.p)
        return bounded_minimiser(H, train.v + tilt)

    return Method(name, fit)


@checked
def labels(name: str, domain: Box | Ball, delta: float) -> RowMethod:
    """Return objective perturbation of the logistic loss with a Gaussian tilt, and so with a delta.

    Parameters
    ----------
    name : str
    domain : Box or Ball
    delta : float

    Examples
    --------
    >>> labels("with a delta", Box([0.0], [1.0], (0.0, 1.0)), 1e-6).private
    True
    """
    checks.instance(domain, (Box, Ball), "domain")
    square, share = domain.longest, share_with(delta)

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        found = []
        for X, y in partition.training_rows():
            rows, t = domain.scale(X, y)
            blocks = blocked(rows, (t > 0).astype(np.float64), np.ones(len(rows)))
            for epsilon in epsilons.tolist():
                tilt = noise.gaussian(gaussian_tilt(math.sqrt(square), 1.0, share * epsilon, delta), (domain.p,), rng)
                lift = ridge(square / 4, (1 - share) * epsilon)
                found.append(newton(blocks, domain.p, ridge=lift / 2, tilt=tilt, limit=10_000, tolerance=1e-10))
        return np.reshape(found, (-1, len(epsilons), domain.p))

    return RowMethod(name, fit)


@checked
def k_norm_gradient(name: str, domain: Box) -> Method:
    """Return the K-norm gradient mechanism for squares of one predictor, over all theta with sum |theta_j| <= 1.

    The density of theta falls as exp(-epsilon max_j |slope_j| / 16), with the slope of the sum of squares at theta.
    Without the bound on theta the slope would be noise of the K-norm. So that is drawn until theta is inside: an exact
    sampler.

    Parameters
    ----------
    name : str
    domain : Box
        Of one predictor, with an intercept and not scaled from its corner. With more nearly all draws are outside.

    References
    ----------
    * Reimherr and Awan, KNG: the K-norm gradient mechanism, 2019.

    Examples
    --------
    >>> k_norm_gradient("K-norm gradient", Box([0.0], [1.0], (0.0, 1.0), intercept=True)).private
    True
    """
    centred(domain)
    if domain.d > 1:
        raise InputError(f"domain has {domain.d} predictors: give one, for nearly no draw would be inside with more")

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        stack = list(zip(train.symmetric.reshape(-1, 2, 2), train.v.reshape(-1, 2), strict=True))
        return np.array([[_first_inside(M, v, e, rng) for e in epsilons.tolist()] for M, v in stack])

    return Method(name, fit)


@checked
def proposals(M: FloatArray, v: FloatArray, epsilon: float, size: int, rng: np.random.Generator) -> FloatArray:
    """Return draws of the K-norm gradient mechanism without the bound on theta; shape (size, p).

    Parameters
    ----------
    M : array of shape (p, p), not singular
    v : array of shape (p,)
        The sum of squares is theta' M theta + v' theta, and a constant.
    epsilon : float
    size : int
    rng : Generator

    Examples
    --------
    >>> proposals(np.eye(2), np.array([-1.0, 1.0]), 1e9, 2, np.random.default_rng(0)).round(3).tolist()
    [[0.5, -0.5], [0.5, -0.5]]
    """
    slopes = _in_sup_norm(np.asarray(4 * SLOPE / epsilon), (size, len(v)), rng)
    return np.asarray(np.linalg.solve(2 * M, (slopes - v).T).T)


def _first_inside(M: FloatArray, v: FloatArray, epsilon: float, rng: np.random.Generator) -> FloatArray:
    for _ in range(LIMIT):
        theta = proposals(M, v, epsilon, PROPOSALS, rng)
        if (kept := np.abs(theta).sum(axis=-1) <= 1).any():
            return np.asarray(theta[kept][0])
    raise SolverError(f"none of {LIMIT * PROPOSALS:.0e} draws is inside: give a larger epsilon, or more records")


@checked
def bounded_minimiser(H: FloatArray, g: FloatArray) -> FloatArray:
    """Return the minimisers of theta' H theta / 2 + g' theta over sum |theta_j| <= 1, for stacks of both.

    Where the free minimiser is outside, projected gradients with momentum, started again when it points uphill, find
    which entries are zero, and the signs of the others. The minimiser itself then solves linear equations.

    Parameters
    ----------
    H : array of shape (..., p, p), positive definite
    g : array of shape (..., p)

    Raises
    ------
    SolverError
        If it is not found in `LIMIT` steps.

    Examples
    --------
    >>> bounded_minimiser(np.eye(2), np.array([[-0.5, 0.25], [-3.0, -1.0]])).round(6).tolist()
    [[0.5, -0.25], [1.0, 0.0]]
    """
    shape = np.broadcast_shapes(H.shape[:-1], g.shape)
    H, g = np.broadcast_to(H, (*shape, shape[-1])).reshape(-1, shape[-1], shape[-1]), g.reshape(-1, shape[-1])
    theta = np.asarray(np.linalg.solve(H, -g[..., None])[..., 0], np.float64)
    left = np.flatnonzero(np.abs(theta).sum(axis=-1) > 1)
    A, b, now = H[left], g[left], inside(theta[left])
    rate = 1 / np.linalg.eigvalsh(A)[:, -1:]
    ahead, t = now, np.ones((len(left), 1))
    for step in range(LIMIT):
        if step % EVERY == 0:
            theta[left], right = _on_the_edge(A, b, np.sign(now))
            left, A, b, now, rate, ahead, t = (
                part.compress(~right, axis=0) for part in (left, A, b, now, rate, ahead, t)
            )
            if not len(left):
                return np.asarray(theta.reshape(shape))
        new = inside(ahead - rate * ((A @ ahead[..., None])[..., 0] + b))
        uphill = ((ahead - new) * (new - now)).sum(axis=-1, keepdims=True) > 0
        t = np.where(uphill, 1.0, t)
        later = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, now, t = new + np.where(uphill, 0.0, (t - 1) / later) * (new - now), new, later
    raise SolverError(f"the search has not ended after {LIMIT} steps: give a larger ridge, or fewer columns")


def _on_the_edge(H: FloatArray, g: FloatArray, signs: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the minimisers among the theta with signs' theta = 1 that are zero where the signs are, and if more.

    Such a one is the minimiser over sum |theta_j| <= 1 if its signs are these, and the tangent there has its least in
    the set where the point is: the objective is convex, so it is nowhere further below.
    """
    p, on = signs.shape[-1], signs != 0
    system, side = np.zeros((len(H), p + 1, p + 1)), np.ones((len(H), p + 1))
    system[:, :p, :p] = np.where(on[:, :, None] & on[:, None, :], H, np.eye(p))
    system[:, :p, p] = system[:, p, :p] = signs
    side[:, :p] = -g * on
    theta = np.asarray(np.linalg.solve(system, side[..., None])[:, :p, 0])
    slope = (H @ theta[..., None])[..., 0] + g
    gap = (slope * theta).sum(axis=-1) + np.abs(slope).max(axis=-1)
    return theta, (theta * signs >= 0).all(axis=-1) & (gap <= GAP * np.abs(g).max(axis=-1))


def _quantile(delta: float) -> float:
    """Return the normal quantile of 1 - delta / 2; by logarithms, for half of the smallest float is zero."""
    return -float(ndtri_exp(math.log(delta) - math.log(2)))


def _in_sup_norm(scale: FloatArray, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw with a density that falls as exp(-max_j |u_j| / scale)."""
    size = rng.gamma(shape[-1] + 1, np.broadcast_to(scale, shape[:-1]))
    return np.asarray(rng.uniform(-1.0, 1.0, shape) * size[..., None])
