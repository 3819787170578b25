"""The logistic loss: its minimiser by Newton's method, and the quadratics that stand in for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from lib import checks, noise
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import BLOCK, Ball, Box
from lib.newton import Blocks, newton
from lib.noise import RandomState
from lib.objective import FLAT, TAYLOR, Loss, check_labels
from lib.release import Budget, Ledger, Spend

RIDGE = 1e-4  # least ridge of objective perturbation, over the largest curvature that one record adds


def fit(
    Z: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    ridge: float = 0.0,
    start: ArrayLike | None = None,
) -> FloatArray:
    """Return the logistic regression of labels on rows, without privacy.

    Parameters
    ----------
    Z : array of shape (n, p)
    y : array of shape (n,), of 0 and 1
    weights : array of shape (n,), optional
    ridge, start
        As in `newton`.

    Examples
    --------
    >>> fit([[1.0], [1.0], [1.0], [1.0]], [1, 1, 1, 0]).round(6).tolist()
    [1.098612]
    >>> fit([[1.0], [1.0]], [1, 0], weights=[3.0, 1.0]).round(6).tolist()
    [1.098612]
    """
    rows, labels = records(Z, y)
    w = np.ones(len(rows)) if weights is None else checks.vector(weights, "weights")
    if len(w) != len(rows):
        raise InputError(f"there are {len(w)} weights and {len(rows)} rows: give one weight per row")

    return newton(_blocks(rows, labels, w), rows.shape[1], ridge=ridge, start=start)


def _blocks(rows: FloatArray, labels: FloatArray, w: FloatArray) -> Blocks:
    def blocks() -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        for first in range(0, len(rows), BLOCK):
            part = slice(first, first + BLOCK)
            yield rows[part], labels[part], w[part]

    return blocks


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
    >>> from lib.domain import Box
    >>> box = Box([-1.0], [1.0], response=(0.0, 1.0))
    >>> theta, ledger = objective_perturbation([[1.0]] * 4, [1, 1, 1, 0], box, 1e6, random_state=1)
    >>> theta.round(3).tolist(), ledger.epsilon
    ([1.099], 1000000.0)
    """
    epsilon = checks.budget(epsilon)
    if not 0 < checks.finite(share, "share") < 1:
        raise InputError(f"share is {share:g}: give a number between 0 and 1")
    checks.instance(domain, (Box, Ball), "domain")
    target = np.asarray(checks.numeric(y, "y"))
    check_labels(target, domain)
    square = domain.intercept + (domain.reach**2 * domain.d if isinstance(domain, Box) else 1.0)  # largest |x|^2
    change = math.sqrt(square) * (2.0 if checks.neighbours(neighbours) == "replace" else 1.0)  # of the gradient
    scale, rest = change / (share * epsilon), (1 - share) * epsilon
    lift = square / 4 * max(math.exp(-rest) / -math.expm1(-rest), RIDGE)  # over e^rest - 1, which may overflow
    caveat = "the domain's bounds were read off the data" if domain.leaky else ""
    name = "objective perturbation"
    spend = Spend("logistic coefficients", name, neighbours, "L2", change, scale, epsilon, caveat=caveat)
    rows, _ = domain.scale(X, target)
    if budget is not None:
        checks.instance(budget, Budget, "budget")
        budget.charge(spend, random_state)
    rng = noise.generator(random_state)
    direction = noise.gaussian(1.0, (domain.p,), rng)
    # Its density falls as exp(-|tilt| / scale).
    tilt = direction / np.linalg.norm(direction) * rng.gamma(domain.p, scale)
    blocks = _blocks(rows, (target == domain.response[1]).astype(np.float64), np.ones(len(rows)))
    theta = newton(blocks, domain.p, ridge=lift / 2, tilt=tilt, limit=10_000, tolerance=1e-10)
    return theta, Ledger((spend,))


def loss_at(theta: ArrayLike, Z: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the average logistic loss per record of coefficients of shape (..., p); shape (...).

    Examples
    --------
    >>> round(float(loss_at([0.0], [[1.0], [2.0]], [0, 1])), 6)
    0.693147
    """
    return _average(theta, Z, y, _losses)


def misclassified(theta: ArrayLike, Z: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the share of records on the wrong side of x' theta = 0, for theta of shape (..., p); shape (...).

    As in 001, Section 7, the predicted label is one where its probability exceeds one half; see `predicted`.

    Examples
    --------
    >>> misclassified([[1.0], [-1.0]], [[1.0], [2.0], [-1.0]], [1, 1, 1]).round(3).tolist()
    [0.333, 0.667]
    """
    return _average(theta, Z, y, lambda flat, rows, label: predicted(flat, rows) != (label == 1))


def predicted(theta: FloatArray, Z: FloatArray) -> NDArray[np.bool_]:
    """Return where label one is the likelier one, for theta of shape (k, p) and scaled records (m, p); shape (k, m).

    Where x' theta exceeds zero by rounding only, the labels are equally likely, and the answer is zero. A record on the
    lower bound of every predictor is such a case where [-1, 1] stands for a scale from zero.

    Examples
    --------
    >>> predicted(np.array([[1.0, 1e-16]]), np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[True, False]]
    """
    return np.asarray(theta @ Z.T > FLAT * np.abs(theta).sum(axis=-1, keepdims=True))


def _losses(theta: FloatArray, Z: FloatArray, y: FloatArray) -> FloatArray:
    z = theta @ Z.T
    return np.asarray(np.logaddexp(0.0, z) - y * z)


def _average(
    theta: ArrayLike, Z: ArrayLike, y: ArrayLike, of: Callable[[FloatArray, FloatArray, FloatArray], NDArray[Any]]
) -> FloatArray:
    rows, labels = records(Z, y)
    t = np.asarray(checks.numeric(theta, "theta"), dtype=np.float64)
    if t.ndim == 0 or t.shape[-1] != rows.shape[1]:
        raise InputError(f"theta has shape {t.shape}: give {rows.shape[1]} entries on its last axis")
    flat = t.reshape(-1, rows.shape[1])
    total = np.zeros(len(flat))
    for first in range(0, len(rows), BLOCK):
        part = slice(first, first + BLOCK)
        total += of(flat, rows[part], labels[part]).sum(axis=-1)
    return np.asarray(total.reshape(t.shape[:-1]) / len(rows))


def records(Z: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return rows and labels as arrays, and raise `InputError` unless they fit and labels are 0 and 1."""
    rows = np.asarray(checks.numeric(Z, "Z"), dtype=np.float64)
    labels = checks.vector(y, "y")
    if rows.ndim != 2 or rows.shape[1] == 0 or len(rows) != len(labels):
        raise InputError(f"Z has shape {rows.shape} and y {labels.shape}: give one row and one label per record")
    checks.all_finite(rows, "Z")
    if (other := labels[(labels != 0) & (labels != 1)]).size:
        raise InputError(f"y holds {other[0]:g}: give labels 0 and 1")
    return rows, labels


def even(z: ArrayLike) -> FloatArray:
    """Return E(z) = log(e^(z/2) + e^(-z/2)), the part of the logistic loss that a quadratic has to stand in for.

    With the label t in {-1, 1} the loss is log(1 + e^(-t z)) = E(z) - t z / 2, and E is even.

    Examples
    --------
    >>> even([0.0, -2.0, 2.0]).round(4).tolist()
    [0.6931, 1.1269, 1.1269]
    """
    size = np.abs(np.asarray(checks.numeric(z, "z"), dtype=np.float64))
    return np.asarray(size / 2 + np.log1p(np.exp(-size)))


def remainder(z: ArrayLike, loss: Loss = TAYLOR) -> FloatArray:
    """Return E(z) - square z^2 - constant, what a quadratic for the logistic loss leaves out.

    Examples
    --------
    The Taylor quadratic is nowhere below the loss.

    >>> remainder([0.0, 1.0, -4.0]).round(6).tolist()
    [0.0, -0.004885, -0.674997]
    """
    checks.instance(loss, Loss, "loss")
    values = even(z)
    return np.asarray(values - loss.square * np.asarray(z, dtype=np.float64) ** 2 - loss.constant)


def derivative(k: int) -> float:
    """Return the k-th derivative of log(1 + e^z) at zero: (2^k - 1) B_k / k with Bernoulli's numbers, for k >= 2.

    Computed from B_k = -(-1)^(k / 2) 2 k! zeta(k) / (2 pi)^k for even k; for odd k > 1 it is zero.

    Examples
    --------
    >>> [round(derivative(k), 12) for k in (1, 2, 3, 4)]
    [0.5, 0.25, 0.0, -0.125]
    """
    if checks.count(k, "k", 0) < 2:
        return 0.5 if k else math.log(2)
    if k % 2:
        return 0.0
    return -((-1.0) ** (k // 2)) * 2 * (2.0**k - 1) * math.gamma(k) * float(special.zeta(k)) / (2 * math.pi) ** k


def chebyshev(R: float) -> Loss:
    """Return the quadratic whose largest distance from the logistic loss over |z| <= R is smallest.

    E is a concave function of z^2, so the best line has the slope of the chord, and half its largest distance.

    Parameters
    ----------
    R : float
        Public bound of |x' theta|. Nothing breaks beyond it, but the quadratic is not made for that.

    Examples
    --------
    >>> remainder([0.0, 4.0], chebyshev(4.0)).round(4).tolist(), remainder(4.0).round(4).tolist()
    ([-0.0593, -0.0593], -0.675)
    """
    reach = _reach(R)
    square = float(even(reach) - math.log(2)) / reach**2
    # The remainder is zero at 0 and R and largest where tanh(z / 2) = 4 square z.
    top = optimize.brentq(lambda z: math.tanh(z / 2) - 4 * square * z, reach / 100, reach, xtol=1e-14)
    height = float(even(top) - math.log(2) - square * top**2)
    return Loss(square, TAYLOR.cross, math.log(2) + height / 2, labels=True)


def least_squares(R: float) -> Loss:
    """Return the quadratic with the smallest mean squared distance from the logistic loss over |z| <= R.

    Parameters
    ----------
    R : float
        See `chebyshev`.

    Examples
    --------
    >>> round(least_squares(4.0).square, 4), round(chebyshev(4.0).square, 4)
    (0.0857, 0.0828)
    """
    reach = _reach(R)
    x, w = np.polynomial.legendre.leggauss(200)
    # Projection on the Legendre polynomials of degree 0 and 2; odd ones do not enter, E being even.
    level, bend = (float(w @ (even(reach * x) * special.eval_legendre(k, x))) * (2 * k + 1) / 2 for k in (0, 2))
    return Loss(1.5 * bend / reach**2, TAYLOR.cross, level - bend / 2, labels=True)


def _reach(R: float) -> float:
    if not 0.01 <= checks.finite(R, "R") <= 100:
        raise InputError(f"R is {R:g}: give a bound of |x' theta| from 0.01 to 100")
    return float(R)
