"""Objective perturbation: a random linear term and a ridge on the logistic loss itself, which is then minimised."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.noise import RandomState
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.newton import blocked, newton
from dpreg.pipeline.objective import check_labels

RIDGE = 1e-4  # least ridge of objective perturbation, over the largest curvature that one record adds


@checked
def objective_perturbation(
    X: ArrayLike,
    y: ArrayLike,
    domain: Box | Ball,
    epsilon: float,
    *,
    share: float = 0.5,
    neighbours: Neighbours = "replace",
    random_state: RandomState = None,
    budget: Budget | None = None,
) -> tuple[FloatArray, Ledger]:
    """Return a private minimiser of the logistic loss itself, and what it cost.

    A random linear term and a ridge are added to the exact loss, and the sum is minimised. The proof, for convex
    losses of x' theta, is in the chapter on logistic regression; the method is that of Chaudhuri and others.

    Parameters
    ----------
    X : array of shape (n, d), in the user's units
    y : array of shape (n,)
        One of the two labels at the ends of `domain.response`.
    domain : Box or Ball
    epsilon : float
    share : float between 0 and 1
        Of epsilon for the linear term; the ridge takes the rest.
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
    target = np.asarray(checks.numeric(y, "y"))
    check_labels(target, domain)
    square = domain.intercept + (domain.reach**2 * domain.d if isinstance(domain, Box) else 1.0)  # largest |x|^2
    change = math.sqrt(square) * (2.0 if checks.neighbours(neighbours) == "replace" else 1.0)  # of the gradient
    scale, rest = change / (share * epsilon), (1 - share) * epsilon
    lift = square / 4 * max(math.exp(-rest) / -math.expm1(-rest), RIDGE)  # over e^rest - 1, which may overflow
    name, cost = "objective perturbation", (change, scale, epsilon)
    spend = Spend("logistic coefficients", name, neighbours, "L2", *cost, caveat=domain.caveat)
    rows, _ = domain.scale(X, target)

    def sloping(state: RandomState) -> FloatArray:
        rng = noise.generator(state)
        direction = noise.gaussian(1.0, (domain.p,), rng)
        # Its density falls as exp(-|tilt| / scale).
        return np.asarray(direction / np.linalg.norm(direction) * rng.gamma(domain.p, scale))

    tilt, ledger = pay(spend, sloping, random_state, budget)
    blocks = blocked(rows, (target == domain.response[1]).astype(np.float64), np.ones(len(rows)))
    theta = newton(blocks, domain.p, ridge=lift / 2, tilt=tilt, limit=10_000, tolerance=1e-10)
    return theta, ledger
