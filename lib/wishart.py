"""Noise for all moments of the records (t, x) at once: the difference of two Wishart matrices.

Its cost is a nuclear norm, which charges for the two directions in which replacing a record moves the moments, and
not for each of their entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from lib import checks, noise
from lib.allocation import Law
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import Ball, Box, Domain
from lib.objective import SQUARED, Loss, Quadratic

minimize: Any = optimize.minimize  # its overloads know no array of unknown length


@dataclass(frozen=True, eq=False)
class WishartDifference(Law):
    """Noise s^2 D^-1 (W1 - W2) D^-1 on the moments sum (t, x)(t, x)', where D = diag(weights).

    W1 and W2 are independent Wishart matrices with p + 2 degrees of freedom; the moment of t^2 is withheld.

    Parameters
    ----------
    weights : array of shape (p + 1,)
        Public and above zero: of the response, of the constant if there is one, and of the predictors. A larger
        weight is less noise for this column and more for all others.
    spread : array of shape (...)
        s^2.
    public_count : bool
        The first column is the constant and n is public, so the noise on n is taken off again.
    loss : Loss
        Of the objectives it is for.

    Examples
    --------
    >>> WishartDifference([1.0, 1.0, 1.0], 2.0).p
    2
    """

    weights: FloatArray
    spread: FloatArray
    public_count: bool = False
    loss: Loss = SQUARED
    name: ClassVar[str] = "Wishart difference"
    norm: ClassVar[str] = "weighted nuclear"

    def __init__(self, weights: ArrayLike, spread: ArrayLike, public_count: bool = False, loss: Loss = SQUARED) -> None:
        own = {"weights": checks.vector(weights, "weights").copy()}
        own["spread"] = np.array(checks.numeric(spread, "spread"), dtype=np.float64)
        for name, array in own.items():
            if not np.isfinite(array).all() or (array <= 0).any():
                raise InputError(f"{name} holds a number that is not above zero and finite: give positive numbers")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if len(own["weights"]) < 2:
            raise InputError("weights has one entry: give one for the response and one for each column")
        object.__setattr__(self, "public_count", checks.flag(public_count, "public_count"))
        checks.instance(loss, Loss, "loss")
        object.__setattr__(self, "loss", loss)

    @property
    def batch(self) -> tuple[int, ...]:
        """See `Law`."""
        return self.spread.shape

    @property
    def p(self) -> int:
        """See `Law`."""
        return len(self.weights) - 1

    @property
    def scale(self) -> float:
        """See `Law`: s^2 over the squared weight of the last column, times the loss's factor."""
        return float(self.loss.square * self.spread / self.weights[-1] ** 2)

    @property
    def deviation(self) -> FloatArray:
        """See `Law`: a diagonal entry of W1 - W2 is a difference of two chi-squares with p + 2 degrees of freedom."""
        noisy = self.weights[1 + self.public_count :]
        return np.asarray(self.loss.square * 2 * math.sqrt(self.p + 2) * self.spread / noisy.min() ** 2)

    @property
    def level(self) -> FloatArray:
        """Root mean square eigenvalue of the noise on D M D, for `repair.lift`; shape (...)."""
        return np.asarray(self.loss.square * self.spread * math.sqrt(2 * (self.p + 2) * (self.p + 1)))

    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return the exact privacy loss (on a corner box, a proved upper bound): largest change over 2 s^2."""
        if self.batch:
            raise InputError(f"the noise is stacked with shape {self.batch}: certify one choice at a time")
        if loss != self.loss:
            raise InputError("the noise is for another loss than the objective's: give both the same")
        change = largest_change(self.weights, domain, neighbours, loss)
        if self.public_count and not (domain.intercept and neighbours == "replace"):
            return math.inf
        return float(change / (2 * self.spread))

    def perturb(self, objective: Quadratic, draws: tuple[int, ...], rng: np.random.Generator) -> Quadratic:
        """Add the noise to M and v."""
        if objective.domain is not None and objective.loss != self.loss:
            raise InputError("the noise is for another loss than the objective's: give both the same")
        batch, m = (*draws, *np.broadcast_shapes(objective.batch, self.batch)), self.p + 1
        change = noise.wishart(m, m + 1, batch, rng) - noise.wishart(m, m + 1, batch, rng)
        change *= self.spread[..., None, None] / np.outer(self.weights, self.weights)
        if self.public_count:
            change[..., 1, 1] = 0.0
        M = objective.symmetric + self.loss.square * change[..., 1:, 1:]
        return Quadratic(M, objective.v + self.loss.cross * change[..., 0, 1:], np.zeros(batch))


def difference(
    domain: Domain,
    epsilon: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    neighbours: Neighbours = "replace",
    loss: Loss = SQUARED,
) -> WishartDifference:
    """Return the Wishart difference that costs epsilon: s^2 = `largest_change` / (2 epsilon).

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float or array
        An array gives one choice of noise per entry, stacked, for studying them side by side.
    weights : array of shape (p + 1,), optional
        Public; by default those of `balanced`. Any choice is private.
    neighbours : {"replace", "add_remove"}
    loss : Loss

    Examples
    --------
    >>> from lib.allocation import certify
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
    >>> round(certify(difference(box, 0.8), box), 12)
    0.8
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    chosen = balanced(domain) if weights is None else weights
    change = largest_change(chosen, domain, neighbours, loss)
    with np.errstate(over="ignore"):
        spread = change / (2 * budgets)
    if not np.isfinite(spread).all():
        raise InputError(f"epsilon is {budgets.min():g}, and its noise exceeds every float: give a larger one")
    return WishartDifference(chosen, spread, domain.intercept and neighbours == "replace", loss)


@cache
def balanced(domain: Domain) -> FloatArray:
    """Return the weights (response, constant, predictors) with the smallest `reference_risk`: functions of the domain.

    Only their ratios count. The predictors' norm, each times its weight, is at most one.

    Raises
    ------
    InputError
        For a corner box, whose moments are twice as large as they need be.

    Examples
    --------
    >>> balanced(Box([0.0, 0.0], [1.0, 5.0], response=(0.0, 10.0))).round(2).tolist()
    [0.64, 0.71, 0.71]
    """
    _centred(domain)
    predictors = np.full(domain.d, 1 / math.sqrt(_corners(domain)))

    def risk(logs: FloatArray) -> float:
        return math.log(reference_risk(np.r_[np.exp(logs), predictors], domain))

    # No gradients: the risk is a maximum of smooth functions.
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 10_000, "maxfev": 10_000}
    found = minimize(risk, np.full(1 + domain.intercept, -1.0), method="Nelder-Mead", options=options)
    weights = np.r_[np.exp(found.x), predictors]
    weights.flags.writeable = False  # the cache hands out this very array
    return np.asarray(weights)


def reference_risk(weights: ArrayLike, domain: Domain) -> float:
    """Return (n epsilon)^2 times the excess squared error that the noise causes, to first order, on public terms.

    The reference: predictors uniform on the domain, and the worst coefficients that keep every prediction in [-1, 1].

    Parameters
    ----------
    weights : array of shape (p + 1,)
    domain : Ball, or Box without a corner

    Examples
    --------
    >>> round(reference_risk([1.0, 1.0], Box([0.0], [1.0], response=(0.0, 1.0))), 9)
    216.0
    """
    _centred(domain)
    w = checks.vector(weights, "weights")
    s2 = largest_change(w, domain) / 2  # at epsilon = 1
    second = 1 / 3 if isinstance(domain, Box) else 1 / (domain.d + 2)  # E x_j^2; E x_j x_k = 0
    spread = 1 / (w[1:] ** 2 * np.where(np.arange(domain.p) < domain.intercept, 1.0, second))
    worst = (1 / w[1:] ** 2 + 1 / w[0] ** 2) * spread.sum() + spread / w[1:] ** 2
    return float(2 * (domain.p + 2) * s2**2 * worst.max())


def largest_change(
    weights: ArrayLike, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED
) -> float:
    """Return the largest nuclear norm of D (zz' - z'z'') D, where z = (t, x) and z' run over the domain.

    Exact, except on a corner box with `replace`, where it is an upper bound.

    Parameters
    ----------
    weights : array of shape (p + 1,)
        All predictors have the same.
    domain : Box or Ball
    neighbours : {"replace", "add_remove"}
    loss : Loss
        With `labels`, the response is -1 or 1.

    Examples
    --------
    Two predictors and the response, all of size one: the best split of three ones is one against two.

    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    >>> round(largest_change([1.0, 1.0, 1.0], box) ** 2, 9)
    32.0
    """
    checks.instance(domain, (Box, Ball), "domain")
    checks.instance(loss, Loss, "loss")
    w = checks.vector(weights, "weights")
    if len(w) != domain.p + 1:
        raise InputError(f"weights has {len(w)} entries: give {domain.p + 1}, for the response and each column")
    if (w <= 0).any() or np.ptp(w[1 + domain.intercept :]) > 0:
        raise InputError("weights holds a number of at most zero, or two for the predictors: give those one weight")
    a, b, c = float(w[0] ** 2), float(w[-1] ** 2), float(w[1] ** 2) * domain.intercept
    k = _corners(domain)
    if checks.neighbours(neighbours) == "add_remove":
        return a + b * k + c
    # |aa' - bb'|_* = |a + b| |a - b|: with u = (z + z') / 2 and h = (z - z') / 2 this is 4 |Du| |Dh|.
    if isinstance(domain, Box) and domain.corner:
        products = [_chord(a + b + c, 0.0, a, a), _chord(b + c, a, 0.75 * b, 0.25 * b)]
    elif isinstance(domain, Box) or domain.d == 1:
        products = [_slide(c + a * s + b * j, a * (1 - s) + b * (k - 1 - j), b) for s in (0, 1) for j in range(k)]
        products += [_slide(c + b * j, b * (k - j), a) for j in range(k + 1) if not loss.labels]
    else:
        products = [_chord(c + a * s + b, a * (1 - s), b, b) for s in (0, 1)]
        products += [_slide(c + b * s, b * (1 - s), a) for s in (0, 1) if not loss.labels]
    return 4 * math.sqrt(max(products))


def _chord(U: float, H: float, down: float, up: float) -> float:
    """Return the largest (U - down q) (H + up q) for q in [0, 1]."""
    q = min(max((U * up - H * down) / (2 * down * up), 0.0), 1.0)
    return (U - down * q) * (H + up * q)


def _slide(U: float, H: float, w: float) -> float:
    """Return the largest (U + w u^2) (H + w (1 - u)^2) for u in [0, 1]."""
    roots = np.roots([2 * w, -3 * w, U + H + w, -U])  # of the derivative over 2 w
    u = np.r_[0.0, 1.0, np.clip(roots.real, 0.0, 1.0)]  # a point that is no root does no harm
    return float(((U + w * u**2) * (H + w * (1 - u) ** 2)).max())


def _corners(domain: Domain) -> int:
    """Return the largest sum of squares of the scaled predictors."""
    return domain.d if isinstance(domain, Box) and not domain.corner else 1


def _centred(domain: Domain) -> None:
    checks.instance(domain, (Box, Ball), "domain")
    if isinstance(domain, Box) and domain.corner:
        raise InputError("the box is scaled from its corner: give corner=False, which centres it, or weights of yours")
