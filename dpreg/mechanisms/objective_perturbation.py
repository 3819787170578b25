"""Objective perturbation: a random linear term and a ridge on the logistic loss itself, which is then minimised."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.noise import RandomState
from dpreg.pipeline import stream
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.newton import Sums, blocked, descend, over
from dpreg.pipeline.objective import add_up, check_labels

Norm = Literal["L2", "K"]
RIDGE = 1e-4  # least ridge of objective perturbation, over the largest curvature that one record adds


@checked
def objective_perturbation(
    X: Any,
    y: Any,
    domain: Box | Ball,
    epsilon: float,
    *,
    share: float = 0.5,
    norm: Norm = "L2",
    neighbours: Neighbours = "replace",
    random_state: RandomState = None,
    budget: Budget | None = None,
) -> tuple[FloatArray, Ledger]:
    """Return a private minimiser of the logistic loss itself, and what it cost.

    A random linear term and a ridge are added to the exact loss, and the sum is minimised. The proof, for convex
    losses of x' theta, is in the chapter on objective perturbation; the method is that of Chaudhuri and others.

    Parameters
    ----------
    X : array of shape (n, d), in the user's units
        May be sparse, or a Dask array as `y` then is: every step of the solver reads them once.
    y : array of shape (n,)
        One of the two labels at the ends of `domain.response`.
    domain : Box or Ball
    epsilon : float
    share : float between 0 and 1
        Of epsilon for the linear term; the ridge takes the rest. See `share_for`.
    norm : {"L2", "K"}
        In which the density of the linear term falls. K is the hull of the gradients that a record can have, or for a
        corner box what `uniform` says: of one record's length in every direction, and so with less noise.
    neighbours : {"replace", "add_remove"}
    random_state : None, int, SeedSequence or Generator
    budget : Budget, optional
        Charged before any noise is drawn.

    Returns
    -------
    theta : array of shape (p,)
    ledger : Ledger

    Notes
    -----
    The proof is about the exact minimiser. What gradient the solver leaves (the tests allow 1e-6 of the scale of the
    linear term) is as little covered as the rounding of the noise. A larger ridge than the proof asks for is as
    private, so the ridge never goes below 10^-4 of the largest curvature of a record: without one a plane that
    separates the labels, or a predictor that never varies, would show in whether and where the solver stops.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([-1.0], [1.0], response=(0.0, 1.0))
    >>> theta, ledger = objective_perturbation([[1.0]] * 4, [1, 1, 1, 0], box, 1e6, random_state=1)
    >>> theta.round(3).tolist(), ledger.epsilon
    ([1.099], 1000000.0)
    """
    epsilon = checks.budget(epsilon)
    if not 0 < checks.finite(share, "share") < 1:
        raise InputError(f"share is {share:g}: give a number between 0 and 1")
    checks.within_reach(share * epsilon, "share times epsilon")
    checks.instance(domain, (Box, Ball), "domain")
    longest = math.sqrt(domain.longest) if checks.choice(norm, ("L2", "K"), "norm") == "L2" else 1.0
    change = longest * (2.0 if checks.neighbours(neighbours) == "replace" else 1.0)  # of the gradient
    scale, rest = change / (share * epsilon), (1 - share) * epsilon
    lift = ridge(domain.longest / 4, rest)
    name, cost = "objective perturbation", (change, scale, epsilon)
    spend = Spend("logistic coefficients", name, neighbours, norm, *cost, caveat=domain.caveat)
    sums = _sums(X, y, domain)

    def sloping(state: RandomState) -> FloatArray:
        rng = noise.generator(state)
        if norm == "K":
            return uniform(domain, rng) * rng.gamma(domain.p + 1, scale)
        direction = noise.gaussian(1.0, (domain.p,), rng)
        # Its density falls as exp(-|tilt| / scale).
        return np.asarray(direction / np.linalg.norm(direction) * rng.gamma(domain.p, scale))

    tilt, ledger = pay(spend, sloping, random_state, budget)
    theta = descend(sums, domain.p, ridge=lift / 2, tilt=tilt, limit=10_000, tolerance=1e-10)
    return theta, ledger


@checked
def ridge(curvature: float, epsilon: float) -> float:
    """Return the ridge that costs epsilon, where one record adds a curvature of at most so much.

    Examples
    --------
    >>> round(ridge(2.0, math.log(2)), 12)
    2.0
    """
    budget = checks.budget(epsilon)
    over = math.exp(-budget) / -math.expm1(-budget)  # one over e^budget - 1, which may overflow
    return checks.positive(curvature, "curvature") * max(over, RIDGE)


@checked
def share_for(p: int) -> float:
    """Return the share of epsilon that balances the linear term and the ridge for p columns; see the chapter.

    Examples
    --------
    >>> [round(share_for(p), 3) for p in (1, 8, 27)]
    [0.667, 0.8, 0.857]
    """
    ratio = 2 * math.cbrt(checks.count(p, "p"))
    return ratio / (1 + ratio)


@checked
def uniform(domain: Box | Ball, random_state: RandomState = None) -> FloatArray:
    """Draw a point uniformly from K, which holds t x for every scaled record x of the domain and every |t| <= 1.

    On a box K is a box, [-1, 1] for the constant times [-reach, reach] for each predictor; on a ball it is the ball,
    times [-1, 1] for the constant. But for the corner box, it is the smallest such body.

    Parameters
    ----------
    domain : Box or Ball
    random_state : None, int, SeedSequence or Generator

    Returns
    -------
    array of shape (p,)

    Examples
    --------
    >>> point = uniform(Ball([0.0, 0.0], 5.0, (0, 1), intercept=True), 1)
    >>> bool(abs(point[0]) <= 1 and np.linalg.norm(point[1:]) <= 1)
    True
    """
    checks.instance(domain, (Box, Ball), "domain")
    rng = noise.generator(random_state)
    constant = rng.uniform(-1.0, 1.0, int(domain.intercept))
    if isinstance(domain, Box):
        return np.concatenate([constant, rng.uniform(-domain.reach, domain.reach, domain.d)])
    direction = noise.gaussian(1.0, (domain.d,), rng)
    return np.concatenate([constant, direction / np.linalg.norm(direction) * rng.uniform() ** (1 / domain.d)])


def _sums(X: Any, y: Any, domain: Domain) -> Sums:
    """Return loss, gradient and Hessian as a function of theta, after one look at all records."""
    if hasattr(X, "tocsr") or stream.lazy(X) or stream.lazy(y):

        def sums(theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            total = add_up(partial(_packed, domain=domain, theta=theta), X, y, domain)
            return float(total[0, 0]), total[0, 1:], total[1:, 1:]

        sums(np.zeros(domain.p))  # what is wrong with a record is said before anything is paid
        return sums
    target = np.asarray(checks.numeric(y, "y"))
    check_labels(target, domain)
    rows, t = domain.scale(X, target)
    return over(blocked(rows, (t > 0).astype(np.float64), np.ones(len(rows))))


def _packed(rows: NDArray[Any], target: NDArray[Any], first: int, *, domain: Domain, theta: FloatArray) -> FloatArray:
    """Return loss, gradient and Hessian of some records as one square matrix."""
    check_labels(target, domain)
    table, out = np.empty((len(rows), domain.p + 1)), np.empty((domain.p + 1, domain.p + 1))
    domain.scale_block(rows, target, table, first)
    labels = (table[:, 0] > 0).astype(np.float64)
    out[0, 0], out[0, 1:], out[1:, 1:] = over(blocked(table[:, 1:], labels, np.ones(len(table))))(theta)
    out[1:, 0] = out[0, 1:]
    return out
