"""Budget shares: who gets how much of epsilon inside one objective (004 and the methods it compares with).

All of them are choices of Laplace scales, so `laws.certify` says what each really costs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks, limits, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours, PrivacyLeakWarning
from dpreg.noise import RandomState
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.laws import Scales, certify, unit_scales
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, Quadratic

Split = Literal["printed", "proportional", "variance", "l1"]


@checked
def parts(p: int, loss: Loss = SQUARED) -> tuple[float, float]:
    """Return the sensitivities 004 (Lemma 1) prints for the quadratic and the linear part, with p columns.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    >>> parts(13), parts(13, TAYLOR)
    ((338.0, 52.0), (42.25, 39.0))
    """
    checks.count(p, "p")
    if loss not in (SQUARED, TAYLOR):
        raise InputError(f"no paper prints sensitivities of the two parts for {loss}: use SQUARED or TAYLOR")
    return (p**2 / 4, 3.0 * p) if loss.labels else (2.0 * p**2, 4.0 * p)


@checked
def printed_share(quadratic: float, linear: float, beta: float | None = None) -> float:
    """Return the share of the quadratic part as 004 prints it (Algorithm 1, lines 12 to 16).

    Parameters
    ----------
    quadratic, linear : float
        Sensitivities of the two parts.
    beta : float, optional
        By default the larger of the two (Section IV.B). The else branch, line 15, has none.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    Two faults: the share depends on the units of the objective, and it jumps where the parts are equal.

    >>> [round(printed_share(338 * c, 52 * c), 4) for c in (1, 1 / 370_000)]
    [0.9995, 0.0059]
    >>> round(printed_share(36, 36), 4), round(printed_share(36.001, 36), 4)
    (0.027, 0.973)
    """
    checks.positive(limits.sized(quadratic, "quadratic"), "quadratic")
    checks.positive(limits.sized(linear, "linear"), "linear")
    if quadratic <= linear:
        if beta is not None:
            raise InputError(f"beta is {beta!r}, and line 15 of Algorithm 1 knows none: leave it out")
        return quadratic / (linear**2 + quadratic)
    beta = max(quadratic, linear) if beta is None else checks.positive(beta, "beta")
    if beta >= (limit := linear / quadratic + quadratic):
        raise InputError(f"beta is {beta:g}, and all of epsilon is spent at {limit:g}: give less")
    return quadratic / (quadratic**2 + linear) * beta


@checked
def share(p: int, split: Split | float = "printed", *, loss: Loss = SQUARED, beta: float | None = None) -> float:
    """Return the share of epsilon for the quadratic part.

    Parameters
    ----------
    p : int
        Number of columns.
    split : {"printed", "proportional", "variance", "l1"} or float
        `printed` is 004's Algorithm 1. `proportional` gives each part its share of the sensitivity. `variance` is
        best for the total variance of the noise, shares as (n_i Delta_i^2)^(1/3); `l1` for its total absolute
        value, as (n_i Delta_i)^(1/2). A number is the share itself.
    loss : Loss
    beta : float, optional
        For `printed` only.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    >>> [round(share(13, split), 4) for split in ("printed", "proportional", "variance", "l1")]
    [0.9995, 0.8667, 0.8695, 0.8709]
    """
    quadratic, linear = parts(p, loss)
    if beta is not None and split != "printed":
        raise InputError(f"beta is {beta!r}, and only the printed split has one: leave it out")
    if not isinstance(split, str):
        if not 0 < checks.finite(split, "split") < 1:
            raise InputError(f"split is {split:g}: give the share of the quadratic part, between 0 and 1")
        return float(split)
    checks.choice(split, get_args(Split), "split")
    if split == "printed":
        return printed_share(quadratic, linear, beta)
    monomials = p * (p + 1) / 2
    one, two = {
        "proportional": (quadratic, linear),
        "variance": ((monomials * quadratic**2) ** (1 / 3), (p * linear**2) ** (1 / 3)),
        "l1": (math.sqrt(monomials * quadratic), math.sqrt(p * linear)),
    }[split]
    return float(one / (one + two))


@checked
def dpba(
    domain: Domain,
    epsilon: ArrayLike,
    *,
    loss: Loss = SQUARED,
    split: Split | float = "printed",
    beta: float | None = None,
) -> Scales:
    """Return the scales of 004's differentiated privacy budget allocation: Delta_i / epsilon_i on part i.

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float or array
        An array gives one choice of scales per entry, stacked.
    loss : Loss
        SQUARED or TAYLOR.
    split, beta
        As in `share`.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    >>> box = Box(-np.ones(13), np.ones(13), response=(-1.0, 1.0))
    >>> scales = dpba(box, 1.0)
    >>> round(float(scales.M[0, 0]), 2), round(float(scales.v[0])), round(certify(scales, box), 4)
    (338.15, 114296, 0.5)
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    quadratic, linear = parts(domain.p, loss)
    alpha = share(domain.p, split, loss=loss, beta=beta)
    unit = unit_scales("monomial", domain.p, loss=loss)
    return Scales(unit.M * (quadratic / alpha), unit.v * (linear / (1 - alpha))).times(1 / budgets)


@checked
def dpc(
    domain: Domain,
    epsilon: ArrayLike,
    sensitive: Sequence[int],
    *,
    ratio: float = 0.01,
    share: Literal["published", "exact"] = "published",
    loss: Loss = SQUARED,
    neighbours: Neighbours = "replace",
    as_published: bool = False,
) -> Scales:
    """Return scales that protect some predictors more: every monomial with one of them gets more noise.

    This is the method that 004 calls DPC, as far as 004 and the constants of its authors' program tell.

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float or array
    sensitive : sequence of int
        Indices of the sensitive predictors, from 0.
    ratio : float
        epsilon_s / epsilon_n, the budget of their monomials over that of the others, at most one.
    share : {"published", "exact"}
        `published`: epsilon = s epsilon_s + (1 - s) epsilon_n with s the sensitive share k / d of the predictors, and
        the printed sensitivity. `exact`: the same ratio, all scales shrunk until `certify` returns epsilon.
    loss : Loss
    neighbours : {"replace", "add_remove"}
    as_published : bool
        Allow a published share that costs more than epsilon (claim BA-DPC of the ledger); it warns.

    Raises
    ------
    InputError
        If the published share would cost more than epsilon, without `as_published`.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    >>> box = Box(-np.ones(13), np.ones(13), response=(-1.0, 1.0))
    >>> [round(certify(dpc(box, 1.0, [4], share=share), box), 4) for share in ("published", "exact")]
    [0.4698, 1.0]
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    chosen = sorted({checks.count(j, "a sensitive predictor", 0) for j in np.atleast_1d(sensitive).tolist()})
    if not chosen or chosen[-1] >= domain.d:
        raise InputError(f"the sensitive predictors are {chosen}: give at least one, from 0 to {domain.d - 1}")
    if not 0 < checks.finite(ratio, "ratio") <= 1:
        raise InputError(f"ratio is {ratio:g}: give a number above zero and at most one")
    touched = np.zeros(domain.p, dtype=bool)
    touched[np.array(chosen) + domain.intercept] = True
    unit = unit_scales("monomial", domain.p, loss=loss)
    less = np.where(touched, 1 / ratio, 1.0)
    shape = Scales(unit.M * np.maximum(less[:, None], less), unit.v * less)
    cost = certify(shape, domain, neighbours, loss)
    if share == "exact":
        return shape.times(cost / budgets)
    fraction = len(chosen) / domain.d
    factor = sum(parts(domain.p, loss)) * (1 - fraction + fraction * ratio)  # Delta epsilon / epsilon_n
    if cost > factor * (1 + 1e-12):
        broken = f"the share k / d costs {cost / factor:.3g} times the epsilon it promises here"
        checks.broken(as_published, "BA-DPC", broken)
    return shape.times(factor / budgets)


@checked
@dataclass(frozen=True)
class Relevance:
    """What the first step of the reconstructed PrivR published, and the scales it chose for the second.

    Parameters
    ----------
    relevance : array of shape (p,)
        Noisy shares of the columns, floored; they add up to one.
    scales : Scales
        For `release.release`, of the same objective.
    ledger : Ledger
        Of the first step alone: add the ledger of the release.
    """

    relevance: FloatArray
    scales: Scales
    ledger: Ledger


@checked
def privr(
    objective: Quadratic,
    epsilon: float,
    *,
    share: float = 0.1,
    floor: float = 0.25,
    sensitivity: Literal["tight", "printed"] = "tight",
    neighbours: Neighbours = "replace",
    budget: Budget | None = None,
    random_state: RandomState = None,
) -> Relevance:
    """Release the columns' relevance, and return scales with less noise for relevant columns: PrivR, reconstructed.

    All we know of PrivR is what 004 says: noise by the relevance between inputs and output. The measure of relevance,
    the floor and the shares are ours, so nothing measured with them is a verdict on its authors' method.

    Parameters
    ----------
    objective : Quadratic with its domain
    epsilon : float
        For both steps together.
    share : float
        Of epsilon, for the relevances |sum x t|, released with Laplace noise.
    floor : float
        Least share of a column, in units of 1 / p, between 0 and 1.
    sensitivity : {"tight", "printed"}
        `tight` spends all of epsilon, as certified; `printed` uses 004's sensitivities for the objective.
    neighbours : {"replace", "add_remove"}
    budget : Budget, optional
        Charged for the first step.
    random_state : None, int, SeedSequence or Generator
        Of the relevances. Never give the release of the objective the same seed.

    References
    ----------
    * 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019.

    Examples
    --------
    >>> from dpreg.pipeline.objective import linear
    >>> from dpreg.pipeline.release import release
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    >>> f = linear([[1.0, 0.1], [-1.0, 0.2], [0.9, -0.3]], [1.0, -1.0, 1.0], box)
    >>> first = privr(f, 1.0, random_state=1)
    >>> round((first.ledger + release(f, first.scales, random_state=2).ledger).epsilon, 9)
    1.0
    """
    checks.budget(epsilon)
    for value, name in ((share, "share"), (floor, "floor")):
        if not 0 < checks.finite(value, name) < 1:
            raise InputError(f"{name} is {value:g}: give a number between 0 and 1")
    domain, p, loss = objective.domain, objective.p, objective.loss
    if domain is None or objective.batch:
        raise InputError("the objective has no domain or is a stack: give what objective.linear returns")
    change = _correlations(domain, neighbours, loss)
    scale = change / checks.within_reach(share * epsilon, "share times epsilon")
    printed = None if sensitivity == "tight" else sum(parts(p, loss))  # before anything is paid for
    spend = Spend("relevances", "Laplace", neighbours, "L1", change, scale, change / scale, caveat=domain.caveat)
    drawn, ledger = pay(spend, lambda state: noise.laplace(scale, (p,), state), random_state, budget)
    noisy = np.abs(objective.v + drawn)
    relevance = np.maximum(noisy / noisy.sum(), floor / p)
    relevance = relevance / relevance.sum()
    unit = unit_scales("monomial", p, loss=loss)
    pairs = p * (relevance[:, None] + relevance) / 2
    shape = Scales(unit.M / pairs, unit.v / (p * relevance))
    total = certify(shape, domain, neighbours, loss) if printed is None else printed
    return Relevance(relevance, shape.times(total / ((1 - share) * epsilon)), ledger)


@cache
def _correlations(domain: Domain, neighbours: Neighbours, loss: Loss) -> float:
    """Return how far one record moves the linear coefficients in all, in the L1 norm: the same for every release."""
    return certify(Scales(np.full((domain.p, domain.p), math.inf), np.ones(domain.p)), domain, neighbours, loss)


@checked
def first_order(objective: Quadratic) -> tuple[float, float]:
    """Return what noise costs in training error, to the first order: B for scale one on M, A on v; as (B, A).

    It reads the exact coefficients, which is private: it warns. The error rises by about B b_M^2 + A b_v^2 if every
    monomial of degree two gets noise of scale b_M, and every one of degree one of scale b_v.

    Examples
    --------
    >>> from dpreg.pipeline.objective import linear
    >>> box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     first_order(linear([[1.0], [1.0]], [1.0, 0.0], box))
    (0.25, 0.25)
    """
    if objective.batch:
        raise InputError(f"the objective is a stack of shape {objective.batch}: give one at a time")
    values = np.linalg.eigvalsh(objective.symmetric)
    if values[0] <= 1e-12 * values[-1]:
        raise InputError(f"the objective has the eigenvalue {values[0]:.3g} of M: give one with a single minimiser")
    warnings.warn("shares read off the exact objective are not private", PrivacyLeakWarning, stacklevel=3)
    inverse = np.linalg.inv(objective.symmetric)
    theta = -inverse @ objective.v / 2
    K = (theta @ theta * np.eye(objective.p) + np.outer(theta, theta)) / 2 + np.diag(theta**2)
    return float((inverse * K).sum()), float(np.trace(inverse) / 2)
