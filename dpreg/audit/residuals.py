"""Noise read back from what is released, in units of the scale that is stated, and laws it may have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import integrate, special

from dpreg.arguments import checked
from dpreg.checks import FloatArray
from dpreg.pipeline.laws import Law, Scales
from dpreg.pipeline.objective import Quadratic

ROUNDING = 1e-9  # of numbers that go out without noise


def numbers(f: Quadratic, law: Law) -> FloatArray:
    """Return what a law publishes of an objective, as one row of numbers; shape (..., k).

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> f = Quadratic([[1.0, 2.0], [2.0, 3.0]], [4.0, 5.0], 6.0)
    >>> numbers(f, unit_scales("monomial", 2)).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    shown = law.published
    return np.concatenate([f.M[..., shown[1:, 1:]], f.v[..., shown[0, 1:]], f.c[..., None][..., shown[0, :1]]], axis=-1)


@checked
def scales_of(law: Scales) -> FloatArray:
    """Return the scales of what a law publishes, in the order of `numbers`; shape (k,).

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> scales_of(unit_scales("monomial", 2)).tolist()
    [1.0, 0.5, 1.0, 1.0, 1.0]
    """
    return numbers(Quadratic(law.M, law.v, np.array(0.0 if math.isinf(law.c) else law.c)), law)


def laplace_loss(change: FloatArray, scale: FloatArray) -> FloatArray:
    """Return sum |change| / scale over the last axis: infinite where a number without noise changes.

    Examples
    --------
    >>> laplace_loss(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    0.5
    """
    moved = np.abs(change)
    moved = np.where(moved > ROUNDING, moved, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(moved > 0, moved / scale, 0.0).sum(axis=-1))


@dataclass(frozen=True)
class ChiSquareDifference:
    """The law of A - B for independent chi-squares with so many degrees of freedom: its density is a Bessel function.

    Parameters
    ----------
    freedom : int

    Examples
    --------
    >>> law = ChiSquareDifference(2)  # Laplace noise of scale two
    >>> round(float(law.cdf(2.0)), 6), round(1 - math.exp(-1) / 2, 6)
    (0.81606, 0.81606)
    """

    freedom: int

    def _upper(self) -> tuple[FloatArray, FloatArray]:
        """Return points from zero on, and the probability between zero and each."""
        a = (self.freedom - 1) / 2
        x = np.linspace(1e-9, 60.0 * math.sqrt(self.freedom), 40_001)
        log = a * np.log(x / 2) + np.log(special.kve(a, x / 2)) - x / 2
        log -= math.log(2 * math.sqrt(math.pi)) + float(special.gammaln(self.freedom / 2)) + a * math.log(2)
        return x, np.asarray(integrate.cumulative_simpson(np.exp(log), x=x, initial=0.0))

    def cdf(self, value: Any) -> FloatArray:
        """Return the probability of at most this value."""
        x, mass = self._upper()
        inside = np.interp(np.abs(value), x, mass / (2 * mass[-1]))
        return np.asarray(0.5 + np.sign(value) * inside)

    def mean(self) -> float:
        """Return zero, the mean."""
        return 0.0

    def var(self) -> float:
        """Return the variance: that of both chi-squares."""
        return 4.0 * self.freedom

    @property
    def absolute(self) -> float:
        """Mean absolute value."""
        x, mass = self._upper()
        return float(integrate.simpson(1 - mass / mass[-1], x=x))


def rotated(noise: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the diagonals of stacked matrices in a random basis each; shape (..., p).

    For noise whose law no rotation changes they are independent if the law is the one that is stated: all of the matrix
    is looked at, not the diagonal alone.

    Examples
    --------
    >>> rotated(np.eye(2)[None], np.random.default_rng(1)).round(9).tolist()
    [[1.0, 1.0]]
    """
    basis, _ = np.linalg.qr(rng.standard_normal(noise.shape))
    return np.asarray(np.einsum("...ji,...jk,...ki->...i", basis, noise, basis))
