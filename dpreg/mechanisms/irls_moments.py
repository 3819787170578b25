"""Weighted moments of iteratively reweighted least squares, and how far one record moves them (003, Section 2).

Moments are sums over records, not means as in 003: the number of records is public, and cancels in the solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.pipeline.domain import BLOCK, Ball, Domain

SHORT = 1024  # rows at a time where all products of their columns are formed, which then stay in the cache
NARROW = 32  # predictors up to which they do


@checked
def loss(residuals: ArrayLike, cap: float) -> FloatArray:
    """Return Huber's function: |r| where |r| exceeds 1 / cap, and cap r^2 / 2 + 1 / (2 cap) below.

    Examples
    --------
    >>> loss([-2.0, 0.0], 10.0).tolist()
    [2.0, 0.05]
    """
    size, floor = (
        np.abs(limits.reals(residuals, "residuals")),
        1 / checks.within_reach(checks.positive(cap, "cap"), "cap"),
    )
    return np.asarray(np.where(size > floor, size, (size**2 / floor + floor) / 2))


@checked
def moments(table: FloatArray, theta: ArrayLike, cap: float) -> FloatArray:
    """Return sum s (t, x)(t, x)' with s = 1 / max(1 / cap, |t - x' theta|) (003, Eqs. 1 and 2).

    Entry [0, 1:] is N times 003's A, block [1:, 1:] N times its B. The moments of shards add up, for one theta.

    Parameters
    ----------
    table : array of shape (n, p + 1)
        Scaled records, the response first, as `domain.table` returns them.
    theta : array of shape (p,)
    cap : float
        Largest weight. 003 calls it delta.

    References
    ----------
    * 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016.

    Examples
    --------
    >>> moments(np.array([[1.0, 0.5], [0.0, 1.0]]), [0.0], 10.0).round(9).tolist()
    [[1.0, 0.5], [0.5, 10.25]]
    """
    point = checks.vector(theta, "theta")
    rows = _rows(table, 1 + len(point))
    direction, floor = np.r_[1.0, -point], 1 / checks.positive(cap, "cap")
    scaled = np.empty((min(BLOCK, len(rows)), len(direction)))
    gram = np.zeros((len(direction), len(direction)))
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        size = np.abs(block @ direction)
        np.sqrt(np.maximum(size, floor, out=size), out=size)
        part = np.divide(block, size[:, None], out=scaled[: len(block)])
        with np.errstate(over="ignore", invalid="ignore"):  # said by _finite
            gram += part.T @ part
    return _finite(gram, rows)


@checked
def stacked(table: FloatArray, thetas: ArrayLike, caps: ArrayLike) -> FloatArray:
    """Return `moments(table, theta, cap)` for each theta and cap, but for rounding; shape (m, p + 1, p + 1).

    The products of the columns are formed once for all of them, and weighted in one matrix product.

    Parameters
    ----------
    table : array of shape (n, p + 1)
        As for `moments`.
    thetas : array of shape (m, p)
    caps : array of shape (m,)

    Examples
    --------
    >>> stacked(np.array([[1.0, 0.5], [0.0, 1.0]]), [[0.0], [2.0]], [10.0, 1.0]).round(9).tolist()
    [[[1.0, 0.5], [0.5, 10.25]], [[1.0, 0.5], [0.5, 0.75]]]
    """
    largest, points = checks.vector(caps, "caps"), limits.reals(thetas, "thetas")
    if points.ndim != 2 or len(points) != len(largest):
        raise InputError(f"thetas has shape {points.shape}, caps {largest.shape}: give a row for each of the caps")
    if len(points) == 1 or points.shape[1] >= NARROW:
        return np.array([moments(table, *one) for one in zip(points, largest, strict=True)])
    floors = 1 / np.array([checks.positive(float(cap), "a cap") for cap in largest])[:, None]
    rows, directions = _rows(table, 1 + points.shape[1]), np.c_[np.ones(len(points)), -points]
    upper = np.triu_indices(rows.shape[1])
    ends = np.cumsum(np.arange(rows.shape[1], 0, -1))
    products, sums = np.empty((len(upper[0]), SHORT)), np.zeros((len(points), len(upper[0])))
    with np.errstate(over="ignore", invalid="ignore"):  # said by _finite
        for start in range(0, len(rows), SHORT):
            columns = np.ascontiguousarray(rows[start : start + SHORT].T)
            part = products[:, : columns.shape[1]]
            for i, end in enumerate(ends):
                np.multiply(columns[i:], columns[i], out=part[end - len(columns) + i : end])
            size = np.abs(directions @ columns)
            sums += np.divide(1.0, np.maximum(size, floors, out=size), out=size) @ part.T
    grams = np.empty((len(points), *rows.shape[1:] * 2))
    grams[:, *upper] = grams[:, *upper[::-1]] = sums
    return _finite(grams, rows)


def _rows(table: FloatArray, columns: int) -> FloatArray:
    rows = np.asarray(checks.numeric(table, "table"), dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise InputError(f"table has shape {rows.shape}: give {columns} columns, the response first")
    return rows


def _finite(sums: FloatArray, rows: FloatArray) -> FloatArray:
    if not np.isfinite(sums).all():
        checks.all_finite(rows, "table")
        raise InputError("table holds numbers whose squares exceed every float: scale it first")
    return sums


@checked
@dataclass(frozen=True)
class Sensitivities:
    """How far one record can move the weighted moments, whatever theta is.

    Parameters
    ----------
    first_l1, first_l2 : float
        Of sum s t x.
    triangle : float
        L1, of the upper triangle of sum s xx'.
    frobenius, nuclear : float
        Of the matrix sum s xx'.
    row : float
        Largest s |x|^2.
    """

    first_l1: float
    first_l2: float
    triangle: float
    frobenius: float
    nuclear: float
    row: float


@checked
def sensitivities(domain: Domain, cap: float, neighbours: Neighbours = "replace") -> Sensitivities:
    """Return the sensitivities proved in the chapter on IRLS; all but `triangle` cannot be improved for d above one.

    Examples
    --------
    >>> found = sensitivities(Ball(np.zeros(4), 1.0, (-1.0, 1.0)), 10.0)
    >>> found.first_l1, found.first_l2, found.nuclear
    (40.0, 20.0, 20.0)
    """
    checks.instance(domain, Ball, "domain")
    p, square, reach = domain.p, 1.0 + domain.intercept, math.sqrt(domain.d) + domain.intercept
    row = checks.within_reach(checks.positive(cap, "cap"), "cap") * square
    triangle = cap * (reach**2 + square) / 2
    if checks.neighbours(neighbours) == "add_remove":
        return Sensitivities(cap * reach, cap * math.sqrt(square), triangle, row, row, row)
    first = 2 * cap * reach, 2 * cap * math.sqrt(square)
    if p == 1:  # two rows cannot be orthogonal
        return Sensitivities(*first, row, row, row, row)
    triangle = min(2 * triangle, row * math.sqrt(p * (p + 3) / 2))  # the first for many columns and a constant
    return Sensitivities(*first, triangle, math.sqrt(2) * row, 2 * row, row)
