"""Newton's method for the logistic loss, from rows or from any other way to its sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, IndefiniteError, InputError, SolverError
from dpreg.pipeline.domain import BLOCK

Blocks = Callable[[], Iterator[tuple[FloatArray, FloatArray, FloatArray]]]
Sums = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]

HIGHEST = 700.0  # its exponential is a float still; above it log(1 + e^z) is z, but for rounding


@checked
def blocked(Z: FloatArray, y: FloatArray, w: FloatArray) -> Blocks:
    """Return what `newton` asks for: a way to read rows, labels and weights from end to end, block by block.

    The rows are copied column by column: sums over records are faster so.

    Examples
    --------
    >>> [len(labels) for _, labels, _ in blocked(np.ones((5, 1)), np.ones(5), np.ones(5))()]
    [5]
    """
    kept: list[tuple[FloatArray, FloatArray, FloatArray]] = []

    def blocks() -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        if not kept:
            parts = [slice(first, first + BLOCK) for first in range(0, len(Z), BLOCK)]
            kept.extend((np.asfortranarray(Z[part]), y[part], w[part]) for part in parts)
        return iter(kept)

    return blocks


@checked
def newton(
    blocks: Blocks,
    p: int,
    *,
    ridge: float = 0.0,
    tilt: ArrayLike | None = None,
    start: ArrayLike | None = None,
    limit: int = 50,
    tolerance: float = 1e-8,
) -> FloatArray:
    """Return the minimiser of sum w (log(1 + e^z) - y z) + ridge |theta|^2 + tilt' theta, with z = x' theta.

    Rows are read block by block.

    Parameters
    ----------
    blocks : function without arguments
        Returns an iterator over blocks (Z, y, w): rows (m, p), labels 0 or 1 (m,), weights (m,). Called once per
        evaluation. Weights may be negative, as noisy counts are, while the Hessian stays positive semidefinite.
    p : int
        Number of columns.
    ridge : float, at least zero
    tilt : array of shape (p,), optional
        A linear term, as objective perturbation adds one.
    start : array of shape (p,), optional
    limit : int
        Largest number of evaluations.
    tolerance : float
        On the last step, relative to one plus the largest coefficient. Where rounding keeps steps above it, they
        end when they no longer shrink.

    Returns
    -------
    array of shape (p,)
        Where the Hessian is singular, as with equal columns, steps of minimum norm are taken.

    Raises
    ------
    IndefiniteError
        If negative weights make the Hessian indefinite.
    SolverError
        If it does not converge: most often a plane separates the labels, and the minimiser is at infinity.

    Examples
    --------
    Four records at x = 1, three of them with label one: the minimiser is log 3.

    >>> rows, labels = np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0])
    >>> newton(lambda: iter([(rows, labels, np.ones(4))]), 1).round(6).tolist()
    [1.098612]
    """
    return descend(over(blocks), p, ridge=ridge, tilt=tilt, start=start, limit=limit, tolerance=tolerance)


@checked
def descend(
    sums: Sums,
    p: int,
    *,
    ridge: float = 0.0,
    tilt: ArrayLike | None = None,
    start: ArrayLike | None = None,
    limit: int = 50,
    tolerance: float = 1e-8,
) -> FloatArray:
    """Return what `newton` does, for a loss whose sums over the records are found in another way than row by row.

    Parameters
    ----------
    sums : function of theta
        Returns the loss, its gradient (p,) and its Hessian (p, p), without ridge and tilt.
    p, ridge, tilt, start, limit, tolerance
        As in `newton`.

    Examples
    --------
    >>> def sums(theta):
    ...     losses, chance, bend = pointwise(theta)
    ...     return float(4 * losses[0] - 3 * theta[0]), 4 * chance - 3, 4 * bend[:, None]
    >>> descend(sums, 1).round(6).tolist()
    [1.098612]
    """
    checks.count(limit, "limit")
    checks.positive(tolerance, "tolerance")
    if limits.sized(ridge, "ridge") < 0:
        raise InputError(f"ridge is {ridge:g}: give a number of at least zero")
    zero = np.zeros(checks.count(p, "p", most=limits.WIDE))
    theta = zero if start is None else checks.vector(start, "start")
    linear = zero if tilt is None else checks.vector(tilt, "tilt")
    for name, given in (("start", theta), ("tilt", linear)):
        if len(given) != p:
            raise InputError(f"{name} has {len(given)} entries: give {p}, one per column")
        limits.reals(given, name)
    value, step, size = math.inf, np.zeros(p), math.inf
    for _ in range(limit):
        trial, slope, curvature = _held(sums, theta + step, ridge, linear)
        if not trial <= value + 1e-12 * abs(value):  # rounding may lift the loss a little at the minimum
            step = step / 2
            if np.abs(step).max() <= tolerance * (1 + np.abs(theta).max()):
                return theta  # what is left to gain is below rounding
            continue
        theta, value, last = theta + step, trial, size
        step = _newton_step(slope, curvature, 2 * ridge)
        size = np.abs(step).max() / (1 + np.abs(theta).max())
        if size <= tolerance or last / 2 <= size <= 1e-8:  # so close, steps shrink fast until they are rounding
            return theta + step
    raise SolverError(
        f"Newton's method has not converged after {limit} evaluations: if a plane separates the labels there is no "
        "minimiser, so add a ridge"
    )


def _held(sums: Sums, theta: FloatArray, ridge: float, linear: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return value, gradient and Hessian with ridge and tilt."""
    value, slope, curvature = sums(theta)
    value += ridge * float(theta @ theta) + float(linear @ theta)
    return value, slope + 2 * ridge * theta + linear, curvature + 2 * ridge * np.eye(len(theta))


@checked
def over(blocks: Blocks) -> Sums:
    """Return loss, gradient and Hessian as a function of theta, for the blocks that `newton` takes.

    Examples
    --------
    >>> value, slope, curvature = over(lambda: iter([(np.ones((2, 1)), np.array([0.0, 1.0]), np.ones(2))]))(np.zeros(1))
    >>> round(value, 4), slope.tolist(), curvature.tolist()
    (1.3863, [0.0], [[0.5]])
    """

    def sums(theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value, slope, curvature = 0.0, np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        for Z, y, w in blocks():
            if Z.shape[1:] != theta.shape:
                raise InputError(f"p is {len(theta)}, and a block of rows has shape {Z.shape}: match them")
            z = Z @ theta
            losses, chance, bend = pointwise(z)
            value += float(w @ (losses - y * z))
            slope += Z.T @ (w * (chance - y))
            curvature += (Z.T * (w * bend)) @ Z
        return value, slope, curvature

    return sums


@checked
def pointwise(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log(1 + e^z), its derivative, the probability of a label one, and its second derivative.

    One exponential serves all three, and nothing overflows or cancels.

    Examples
    --------
    >>> [value.round(4).tolist() for value in pointwise(np.array([0.0, 800.0]))]
    [[0.6931, 800.0], [0.5, 1.0], [0.25, 0.0]]
    """
    grown = np.exp(np.minimum(z, HIGHEST))
    losses, rest = np.log1p(grown), 1 / (1 + grown)
    chance = grown * rest
    bend = rest * chance
    if (far := z > HIGHEST).any():
        losses[far], bend[far] = z[far], 0.0
    return losses, chance, bend


def _newton_step(slope: FloatArray, curvature: FloatArray, least: float) -> FloatArray:
    """Return the step, for a Hessian with no eigenvalue below `least`, if that is above zero."""
    unit = np.sqrt(np.abs(np.diag(curvature)))  # columns in units of their own curvature, so scaling them is harmless
    unit = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh(curvature / np.outer(unit, unit))
    if values[0] < -1e-9:
        raise IndefiniteError(
            f"the Hessian has eigenvalue {values[0]:.6g}: negative weights made the loss non-convex, so drop them or "
            "add a larger ridge"
        )
    values = np.maximum(values, least / unit.max() ** 2)  # rounding must not hide a direction that a ridge holds
    flat = values <= (0.0 if least else 1e-12)
    if flat.all():
        raise SolverError("every probability is zero or one, so the loss is flat: start closer to zero or add a ridge")
    along = vectors.T @ (slope / unit)
    return np.asarray(-(vectors @ np.divide(along, values, out=np.zeros_like(along), where=~flat)) / unit)
