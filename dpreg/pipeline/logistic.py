"""The logistic loss: its minimiser by Newton's method, its value, and the labels that a parameter predicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import BLOCK
from dpreg.pipeline.newton import blocked, newton
from dpreg.pipeline.objective import FLAT


@checked
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

    return newton(blocked(rows, labels, w), rows.shape[1], ridge=ridge, start=start)


@checked
def loss_at(theta: ArrayLike, Z: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the average logistic loss per record of coefficients of shape (..., p); shape (...).

    Examples
    --------
    >>> round(float(loss_at([0.0], [[1.0], [2.0]], [0, 1])), 6)
    0.693147
    """
    return _average(theta, Z, y, _losses)


@checked
def misclassified(theta: ArrayLike, Z: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the share of records on the wrong side of x' theta = 0, for theta of shape (..., p); shape (...).

    As in 001, Section 7, the predicted label is one where its probability exceeds one half; see `predicted`.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> misclassified([[1.0], [-1.0]], [[1.0], [2.0], [-1.0]], [1, 1, 1]).round(3).tolist()
    [0.333, 0.667]
    """
    return _average(theta, Z, y, lambda flat, rows, label: predicted(flat, rows) != (label == 1))


@checked
def predicted(theta: FloatArray, Z: FloatArray) -> NDArray[np.bool_]:
    """Return where label one is the likelier one, for theta of shape (k, p) and scaled records (m, p); shape (k, m).

    Where x' theta exceeds zero by rounding only, the labels are equally likely, and the answer is zero. A record on the
    lower bound of every predictor is such a case where [-1, 1] stands for a scale from zero.

    Examples
    --------
    >>> predicted(np.array([[1.0, 1e-16]]), np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[True, False]]
    """
    if theta.ndim != 2 or Z.ndim != 2 or theta.shape[1] != Z.shape[1]:
        raise InputError(f"theta has shape {theta.shape} and Z {Z.shape}: give (k, p) and (m, p)")
    return np.asarray(theta @ Z.T > FLAT * np.abs(theta).sum(axis=-1, keepdims=True))


def _losses(theta: FloatArray, Z: FloatArray, y: FloatArray) -> FloatArray:
    z = theta @ Z.T
    return np.asarray(np.logaddexp(0.0, z) - y * z)


def _average(
    theta: ArrayLike, Z: ArrayLike, y: ArrayLike, of: Callable[[FloatArray, FloatArray, FloatArray], NDArray[Any]]
) -> FloatArray:
    rows, labels = records(Z, y)
    t = limits.reals(theta, "theta")
    if t.ndim == 0 or t.shape[-1] != rows.shape[1]:
        raise InputError(f"theta has shape {t.shape}: give {rows.shape[1]} entries on its last axis")
    flat = t.reshape(-1, rows.shape[1])
    total = np.zeros(len(flat))
    for first in range(0, len(rows), BLOCK):
        part = slice(first, first + BLOCK)
        total += of(flat, rows[part], labels[part]).sum(axis=-1)
    return np.asarray(total.reshape(t.shape[:-1]) / len(rows))


@checked
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
