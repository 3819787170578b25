"""How well fits predict on their test sets: squares from moments, labels and the area under the ROC curve from rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline import logistic
from dpreg.sweeps.methods import Columns, Method, RowMethod
from dpreg.sweeps.splits import Partition

Metric = Literal["mse", "rmse", "misclassified", "logistic", "auc"]
OF_LABELS = ("misclassified", "logistic", "auc")
METRICS = ("mse", "rmse", *OF_LABELS)


@checked
def check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise `InputError` unless these are metrics, at least one.

    Examples
    --------
    >>> check_metrics(["mse", "auc"])
    """
    if not metrics:
        raise InputError("there are no metrics: give 'mse', 'rmse' or both")
    for metric in metrics:
        checks.choice(metric, METRICS, "metric")


@checked
def needs_labels(methods: Sequence[Method | RowMethod], metrics: Sequence[Metric]) -> bool:
    """Return whether the response must be one of two labels.

    Examples
    --------
    >>> needs_labels([], ["mse"]), needs_labels([], ["auc"])
    (False, True)
    """
    return bool(set(metrics) & set(OF_LABELS)) or any(isinstance(m, Method) and m.loss.labels for m in methods)


@checked
@dataclass(frozen=True, eq=False)
class Fit:
    """The coefficients of one method on one partition.

    Parameters
    ----------
    partition : Partition
    keys : dict
        Columns of the result that name the coefficients, from `methods.fitted`.
    theta : array of shape (s, e, p)
    group : hashable
        Fits of one group have the same test rows and metrics: labels are then predicted for all of them at once.
    metrics : sequence of str
    """

    partition: Partition
    keys: dict[str, Any]
    theta: FloatArray
    group: Hashable
    metrics: Sequence[Metric]


@checked
def scored(fits: Sequence[Fit]) -> list[list[Columns]]:
    """Return the test errors of fits: of each, one part per metric, as `methods.frame` takes them.

    Parameters
    ----------
    fits : sequence of Fit
    """
    errors: list[dict[Metric, FloatArray]] = [_squares(fit) for fit in fits]
    for group in dict.fromkeys(fit.group for fit in fits):
        chosen = [k for k, fit in enumerate(fits) if fit.group == group]
        for k, found in zip(chosen, _labels([fits[k] for k in chosen]), strict=True):
            errors[k] |= found
    return [
        [fit.keys | {"metric": name, "value": found[name].ravel()} for name in fit.metrics]
        for fit, found in zip(fits, errors, strict=True)
    ]


def _squares(fit: Fit) -> dict[Metric, FloatArray]:
    """Return the metrics of least squares on the test sets, each of shape (s, e), from the test moments."""
    if not {"mse", "rmse"} & set(fit.metrics):
        return {}
    part = fit.partition
    mse = np.maximum(part.test[:, None](fit.theta), 0.0) / part.sizes[:, None] * part.domain.half_width**2
    return {"mse": mse, "rmse": np.sqrt(mse)}


def _labels(fits: Sequence[Fit]) -> list[dict[Metric, FloatArray]]:
    """Return the metrics of labels for fits of one group, each of shape (s, e), from the test rows."""
    wanted = tuple(metric for metric in fits[0].metrics if metric in OF_LABELS)
    if not wanted:
        return [{} for _ in fits]
    theta = np.concatenate([fit.partition.on_test_rows(fit.theta) for fit in fits], axis=1)
    rows = fits[0].partition.test_rows
    each = [of_labels(one, Z, t > 0, wanted) for one, (Z, t) in zip(theta, rows, strict=True)]
    ends = np.cumsum([fit.theta.shape[1] for fit in fits])[:-1]
    parts = {metric: np.split(np.array([values[metric] for values in each]), ends, axis=1) for metric in wanted}
    return [{metric: parts[metric][k] for metric in wanted} for k in range(len(fits))]


@checked
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


@checked
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
    t = limits.reals(theta, "theta")
    if t.ndim == 0 or t.shape[-1] != rows.shape[1]:
        raise InputError(f"theta has shape {t.shape}: give {rows.shape[1]} entries on its last axis")
    hits = labels == 1
    if hits.all() or not hits.any():
        raise InputError("all labels are the same: give records of both")
    scores = t.reshape(-1, rows.shape[1]) @ rows.T
    return np.reshape([_above(np.sort(one[hits]), np.sort(one[~hits])) for one in scores], t.shape[:-1])


def _above(ones: FloatArray, zeros: FloatArray) -> float:
    """Return the share of pairs in which the first is the larger, ties counting half; both are sorted."""
    below, up_to = (np.searchsorted(zeros, ones, side) for side in ("left", "right"))
    return float((below + up_to).sum() / 2 / (len(ones) * len(zeros)))
