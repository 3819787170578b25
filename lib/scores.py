"""How well coefficients predict labels: errors of a classifier, and the area under its ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from lib import checks, logistic
from lib.checks import FloatArray, InputError

OF_LABELS = ("misclassified", "logistic", "auc")


def of_labels(
    theta: ArrayLike, Z: ArrayLike, y: ArrayLike, metrics: Sequence[str] = OF_LABELS
) -> dict[str, FloatArray]:
    """Return metrics of coefficients of shape (..., p) on labelled rows, each of shape (...).

    Parameters
    ----------
    theta : array of shape (..., p)
    Z : array of shape (n, p), scaled rows
    y : array of shape (n,), of 0 and 1
    metrics : sequence of {"misclassified", "logistic", "auc"}
        Share of wrong labels, average logistic loss, and area under the ROC curve.

    Examples
    --------
    >>> found = of_labels([1.0], [[1.0], [2.0], [-1.0]], [0, 1, 0])
    >>> round(float(found["misclassified"]), 4), float(found["auc"])
    (0.3333, 1.0)
    """
    for metric in metrics:
        checks.choice(metric, OF_LABELS, "metric")
    functions = {"misclassified": logistic.misclassified, "logistic": logistic.loss_at, "auc": auc}
    return {metric: functions[metric](theta, Z, y) for metric in metrics}


def auc(theta: ArrayLike, Z: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the area under the ROC curve of x' theta, for theta of shape (..., p); shape (...).

    It is the chance that a record with label one scores above one with label zero, ties counting half (Mann and
    Whitney): a function of ranks alone, so neither scale nor constant of theta matters.

    Examples
    --------
    >>> auc([[1.0], [-1.0], [0.0]], [[1.0], [2.0], [-1.0]], [1, 1, 0]).tolist()
    [1.0, 0.0, 0.5]
    """
    rows, labels = logistic.records(Z, y)
    t = np.asarray(checks.numeric(theta, "theta"), dtype=np.float64)
    if t.ndim == 0 or t.shape[-1] != rows.shape[1]:
        raise InputError(f"theta has shape {t.shape}: give {rows.shape[1]} entries on its last axis")
    ones = int((labels == 1).sum())
    zeros = len(labels) - ones
    if not ones or not zeros:
        raise InputError("all labels are the same: give records of both")
    scores = t.reshape(-1, rows.shape[1]) @ rows.T
    ranks = np.array([rankdata(score)[labels == 1].sum() for score in scores])
    return np.asarray((ranks - ones * (ones + 1) / 2) / (ones * zeros)).reshape(t.shape[:-1])
