"""Noise for all moments of the records (t, x) at once: the difference of two Wishart matrices.

Its cost is a nuclear norm, which charges for the two directions in which replacing a record moves the moments, and
not for each of their entries.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms.moment_noise import MomentNoise, in_range
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.objective import SQUARED, Loss

minimize: Any = optimize.minimize  # its overloads know no array of unknown length


@checked
class WishartDifference(MomentNoise):
    """Noise s^2 D^-1 (W1 - W2) D^-1 on the moments sum (t, x)(t, x)', where D = diag(weights).

    W1 and W2 are independent Wishart matrices with p + 2 degrees of freedom. The spread is s^2; for the rest see
    `MomentNoise`.

    Examples
    --------
    >>> WishartDifference([1.0, 1.0, 1.0], 2.0).p
    2
    """

    name: ClassVar[str] = "Wishart difference"
    norm: ClassVar[str] = "weighted nuclear"

    @property
    def deviation(self) -> FloatArray:
        """See `Law`: a diagonal entry of W1 - W2 is a difference of two chi-squares with p + 2 degrees of freedom."""
        noisy = self.weights[1 + self.public_count :]
        return np.asarray(self.loss.square * 2 * math.sqrt(self.p + 2) * self.spread / noisy.min() ** 2)

    @property
    def level(self) -> FloatArray:
        """See `Law`: W1 - W2 has p + 2 degrees of freedom.

        A public count takes the place of a draw that is counted here.
        """
        return np.asarray(self.loss.square * self.spread * math.sqrt(2 * (self.p + 2) * (self.p + 1)))

    @property
    def entry(self) -> FloatArray:
        """Variance of the noise on an entry of D moments D off the diagonal; shape (...)."""
        return np.asarray(2 * (self.p + 2) * self.spread**2)

    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return the largest change over 2 s^2: exact for all moments together, at least as much as what goes out."""
        public = self._priced(domain, neighbours, loss)
        change = largest_change(self.weights, domain, neighbours, loss)
        return float(change / (2 * self.spread)) if public else math.inf

    def _drawn(self, batch: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        m = self.p + 1
        change = noise.wishart(m, m + 1, batch, rng) - noise.wishart(m, m + 1, batch, rng)
        change *= self.spread[..., None, None] / np.outer(self.weights, self.weights)
        if self.public_count:
            change[..., 1, 1] = 0.0
        return np.asarray(change)


@checked
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
    >>> from dpreg.pipeline.laws import certify
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
    >>> round(certify(difference(box, 0.8), box), 12)
    0.8
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    chosen = balanced(domain) if weights is None else weights
    change = largest_change(chosen, domain, neighbours, loss)
    return WishartDifference(chosen, change / (2 * budgets), domain.intercept and neighbours == "replace", loss)


@checked
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
    return _balanced(isinstance(domain, Ball), domain.d, domain.intercept)


@cache
def _balanced(ball: bool, d: int, intercept: bool) -> FloatArray:
    """Return the weights of any such domain: they depend on nothing else."""
    here = (-1.0, 1.0)
    domain: Box | Ball
    if ball:
        domain = Ball([0.0] * d, 1.0, here, intercept=intercept)
    else:
        domain = Box([-1.0] * d, [1.0] * d, here, intercept=intercept)
    predictors = np.full(domain.d, 1 / math.sqrt(domain.square))

    def risk(logs: FloatArray) -> float:
        return math.log(reference_risk(np.r_[np.exp(logs), predictors], domain))

    # No gradients: the risk is a maximum of smooth functions.
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 10_000, "maxfev": 10_000}
    found = minimize(risk, np.full(1 + domain.intercept, -1.0), method="Nelder-Mead", options=options)
    weights = np.r_[np.exp(found.x), predictors]
    weights.flags.writeable = False  # the cache hands out this very array
    return np.asarray(weights)


@checked
def reference_risk(weights: ArrayLike, domain: Domain) -> float:
    """Return (n epsilon)^2 times the excess mean squared error of the noise, to first order, on public terms.

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


@checked
def largest_change(
    weights: ArrayLike, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED
) -> float:
    """Return the largest nuclear norm of D (zz' - z'z'') D, where z = (t, x) and z' run over the domain.

    It is exact. With all weights doubled the change is four times as large, and the noise that it asks for the same.

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
    w = in_range(weights)
    if len(w) != domain.p + 1:
        raise InputError(f"weights has {len(w)} entries: give {domain.p + 1}, for the response and each column")
    if np.ptp(w[1 + domain.intercept :]) > 0:
        raise InputError("weights holds different numbers for two predictors: give all predictors one weight")
    a, b, c = float(w[0] ** 2), float(w[-1] ** 2), float(w[1] ** 2) * domain.intercept
    if checks.neighbours(neighbours) == "add_remove":
        return a + b * domain.square + c
    # |aa' - bb'|_* = |a + b| |a - b|: with u = (z + z') / 2 and h = (z - z') / 2 this is 4 |Du| |Dh|.
    d = domain.d
    if isinstance(domain, Ball) and d > 1:
        products = [_chord(c + a * s + b, a * (1 - s), b) for s in (0, 1)]
        products += [_slide(c + b * s, b * (1 - s), a) for s in (0, 1) if not loss.labels]
    else:  # j predictors have h = 0, the others the least u, and one coordinate slides
        corner = isinstance(domain, Box) and domain.corner
        r, least = (1 / math.sqrt(d), 0.5 / math.sqrt(d)) if corner else (1.0, 0.0)
        j = np.arange(d + 1)
        U, H = c + b * (r**2 * j + least**2 * (d - j)), b * (r - least) ** 2 * (d - j)
        products = [] if loss.labels else [_slide(U, H, a)]
        U, H = U[1:] - b * r**2, H[1:]  # one of these j slides
        products += [_slide(U + a * s, H + a * (1 - s), b, r, least) for s in (0, 1)]
    return 4 * math.sqrt(max(products))


@checked
def nuclear_ratio(m: int) -> float:
    """Return how much smaller the variance of nuclear K-norm noise is than that of the Wishart difference.

    It is the mean squared Frobenius norm of a symmetric m x m matrix with density proportional to exp(-|N|_* / 2), over
    that of W1 - W2, which costs the same. De Bruijn's formula makes a Pfaffian of the integral over the eigenvalues.

    Parameters
    ----------
    m : int
        Up to 30, where rounding leaves six digits.

    Examples
    --------
    >>> round(27 * nuclear_ratio(2), 9)
    25.0
    """
    if checks.count(m, "m") > 30:
        raise InputError(f"m is {m}: give at most 30, for rounding spoils the rest")
    j, k = np.indices((m, m))
    pairs = _pairs(j, k)
    lifted = (j + 1) * (j + 2) * _pairs(j + 2, k) + (k + 1) * (k + 2) * _pairs(j, k + 2)
    if m % 2:  # bordered by the integrals of x^j e^-|x| / j!
        i = np.arange(m)
        ends = 2.0 * (i % 2 == 0)
        more = ends * (i + 1) * (i + 2)
        pairs = np.block([[pairs, ends[:, None]], [-ends, 0.0]])
        lifted = np.block([[lifted, more[:, None]], [-more, 0.0]])
    # Minus the derivative of log Pf in t, with the weight e^(-|x| - t x^2), is the mean of the sum of squares.
    squares = np.trace(np.linalg.solve(pairs, lifted)) / 2
    return float(squares / (m * (m + 1) ** 2 / 2))


def _pairs(j: Any, k: Any) -> FloatArray:
    """Return the integrals of sgn(y - x) x^j y^k e^(-|x| - |y|) / j! k!, each the chance of one Gamma below another."""
    even = np.where(j % 2 == 0, j, k)
    return np.asarray(4 * np.where(j % 2 == 0, 1, -1) * special.bdtrc(even, j + k + 1, 0.5) * ((j + k) % 2))


def _chord(U: float, H: float, w: float) -> float:
    """Return the largest (U - w q) (H + w q) for q in [0, 1]."""
    q = min(max((U - H) / (2 * w), 0.0), 1.0)
    return (U - w * q) * (H + w * q)


def _slide(U: Any, H: Any, w: float, reach: float = 1.0, least: float = 0.0) -> float:
    """Return the largest (U + w u^2) (H + w (reach - u)^2) for u from least to reach, and any of these U and H."""
    U, H = np.atleast_1d(U, H)
    best = max(float(((U + w * u**2) * (H + w * (reach - u) ** 2)).max()) for u in (least, reach))
    # u^2 + (reach - u)^2 is at most reach^2, so a slide stays below the best split of that: most need no solution.
    q = np.clip((H - U) / 2 + w * reach**2 / 2, 0.0, w * reach**2)
    hopeful = (U + q) * (H + w * reach**2 - q) > best
    U, H = U[hopeful, None], H[hopeful, None]
    companion = np.zeros((len(U), 3, 3))  # of the derivative, a cubic; all are solved at once
    companion[:, 0] = np.hstack([np.full_like(U, 1.5 * reach), -(U + H) / (2 * w) - reach**2 / 2, U * reach / (2 * w)])
    companion[:, [1, 2], [0, 1]] = 1.0
    roots = np.linalg.eigvals(companion)
    u = np.clip(roots.real, least, reach)  # a point that is no root does no harm
    return float(((U + w * u**2) * (H + w * (reach - u) ** 2)).max(initial=best))


def _centred(domain: Domain) -> None:
    checks.instance(domain, (Box, Ball), "domain")
    if isinstance(domain, Box) and domain.corner:
        raise InputError("the box is scaled from its corner: give corner=False, which centres it, or weights of yours")
