"""The quadratics that stand in for the logistic loss, and what each leaves out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.objective import TAYLOR, Loss

ORDERS = 170  # of derivatives: the next factorial is no float


@checked
def even(z: ArrayLike) -> FloatArray:
    """Return E(z) = log(e^(z/2) + e^(-z/2)), the part of the logistic loss that a quadratic has to stand in for.

    With the label t in {-1, 1} the loss is log(1 + e^(-t z)) = E(z) - t z / 2, and E is even.

    Examples
    --------
    >>> even([0.0, -2.0, 2.0]).round(4).tolist()
    [0.6931, 1.1269, 1.1269]
    """
    size = np.abs(limits.reals(z, "z"))
    return np.asarray(size / 2 + np.log1p(np.exp(-size)))


@checked
def remainder(z: ArrayLike, loss: Loss = TAYLOR) -> FloatArray:
    """Return E(z) - square z^2 - constant, what a quadratic for the logistic loss leaves out.

    Examples
    --------
    The Taylor quadratic is nowhere below the loss.

    >>> remainder([0.0, 1.0, -4.0]).round(6).tolist()
    [0.0, -0.004885, -0.674997]
    """
    values = even(z)
    return np.asarray(values - loss.square * np.asarray(z, dtype=np.float64) ** 2 - loss.constant)


@checked
def derivative(k: int) -> float:
    """Return the k-th derivative of log(1 + e^z) at zero: (2^k - 1) B_k / k with Bernoulli's numbers, for k >= 2.

    Computed from B_k = -(-1)^(k / 2) 2 k! zeta(k) / (2 pi)^k for even k; for odd k > 1 it is zero.

    Examples
    --------
    >>> [round(derivative(k), 12) for k in (1, 2, 3, 4)]
    [0.5, 0.25, 0.0, -0.125]
    """
    if checks.count(k, "k", 0, ORDERS) < 2:
        return 0.5 if k else math.log(2)
    if k % 2:
        return 0.0
    return -((-1.0) ** (k // 2)) * 2 * (2.0**k - 1) * math.gamma(k) * float(special.zeta(k)) / (2 * math.pi) ** k


@checked
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


@checked
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
