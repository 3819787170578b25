"""The fits of a sweep, measured otherwise than by a test error; ROC curves, for one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from dpreg import checks, limits, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.noise import RandomState
from dpreg.pipeline import logistic
from dpreg.pipeline.domain import Domain
from dpreg.sweeps import splits
from dpreg.sweeps.methods import Columns, Method, RowMethod, check_methods, fitted, frame
from dpreg.sweeps.shared import Shared
from dpreg.sweeps.splits import CrossValidation, Holdout, Partition, Protocol

Measure = Callable[[Partition, FloatArray, np.random.Generator], Mapping[Hashable, FloatArray]]


@checked
def measured(
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    methods: Sequence[Method | RowMethod],
    epsilons: Sequence[float],
    protocol: Protocol,
    measure: Measure,
    *,
    random_state: RandomState = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """Return a measure of the fits that `experiment.sweep` would score: same seed, same partitions, same noise.

    Parameters
    ----------
    X, y, domain, methods, epsilons, protocol, random_state, jobs
        As in `experiment.sweep`.
    measure : function of (partition, theta, rng)
        Called once per partition: `theta` has shape (s, e, p), with all budgets of all methods. So all meet
        the same random numbers, and what does not depend on theta is found once. Returns a dict from metric to values
        of shape (s, e).

    Returns
    -------
    DataFrame with columns method, epsilon, repeat, fold, metric, value, for `experiment.summarise`

    Examples
    --------
    >>> from dpreg import Box
    >>> from dpreg.sweeps.experiment import no_privacy
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> box = Box([-0.2] * 10, [0.2] * 10, response=(0.0, 400.0))
    >>> size = lambda partition, theta, rng: {"size": abs(theta).max(axis=-1)}
    >>> measured(X, y, box, [no_privacy("plain")], [1.0], Holdout(2), size).shape
    (2, 6)
    """
    budgets = np.atleast_1d(checks.epsilons(epsilons))
    checks.instance(protocol, (CrossValidation, Holdout), "protocol")
    check_methods(methods)
    rows, target = checks.rows(X, y, domain.d, least=2)
    root, table = noise.seed_sequence(random_state), domain.table(rows, target)
    records, total = (rows, target, table, domain), splits.totals(table, protocol)
    shared = Shared((list(methods), measure))
    tasks = (
        delayed(_partition)(records, total, shared, budgets, protocol, root, repeat)
        for repeat in range(protocol.repeats)
        if any(method.takes_part(repeat) for method in methods)
    )
    return frame([part for parts in Parallel(n_jobs=jobs)(tasks) for part in parts])


def _partition(
    records: tuple[FloatArray, FloatArray, FloatArray, Domain],
    total: FloatArray | None,
    shared: Shared[tuple[list[Method | RowMethod], Measure]],
    budgets: FloatArray,
    protocol: Protocol,
    root: np.random.SeedSequence,
    repeat: int,
) -> list[Columns]:
    methods, measure = shared.value
    partition = splits.draw(*records, protocol, noise.spawn(root, repeat, 0), total)
    fits = list(fitted(partition, methods, budgets, root, repeat))
    theta = np.concatenate([part for _, part in fits], axis=1)
    found = measure(partition, theta, noise.spawn(root, repeat, 2))
    parts, start = [], 0
    for keys, part in fits:
        own = slice(start, start := start + part.shape[1])
        parts += [keys | {"metric": name, "value": value[:, own].ravel()} for name, value in found.items()]
    return parts


@checked
def roc(rates: ArrayLike) -> Measure:
    """Return the measure whose metrics are the heights of the ROC curve on the test set, by false-alarm rate.

    Parameters
    ----------
    rates : array of shape (k,), between 0 and 1

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dpreg import Box
    >>> from dpreg.pipeline.objective import TAYLOR
    >>> from dpreg.sweeps.experiment import no_privacy
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> box, plain = Box([0.0] * 4, [30, 40, 200, 3000], response=(0, 1)), no_privacy("plain", loss=TAYLOR)
    >>> frame = measured(X[:, :4], y, box, [plain], [1.0], Holdout(1), roc([0.5, 1.0]))
    >>> frame.metric.tolist(), bool(0.8 < frame.value[0] <= 1), float(frame.value[1])
    ([0.5, 1.0], True, 1.0)
    """
    at = _rates(rates)

    def measure(partition: Partition, theta: FloatArray, rng: np.random.Generator) -> dict[Hashable, FloatArray]:
        pairs = zip(theta, partition.test_rows, strict=True)
        heights = np.array([roc_curve(one, Z, t > 0, at) for one, (Z, t) in pairs])
        return {float(rate): heights[..., k] for k, rate in enumerate(at)}

    return measure


@checked
def roc_curve(theta: ArrayLike, Z: ArrayLike, y: ArrayLike, rates: ArrayLike) -> FloatArray:
    """Return the height of the ROC curve of x' theta at each false-alarm rate, of shape (..., k).

    The height is the share of records with label one that score above the threshold. Records with equal scores enter
    together, in a straight line, as if a coin broke the tie; so the area beneath the curve is `scores.auc`.

    Parameters
    ----------
    theta : array of shape (..., p)
    Z : array of shape (n, p), scaled rows
    y : array of shape (n,), of 0 and 1
    rates : array of shape (k,), between 0 and 1

    Examples
    --------
    >>> roc_curve([[1.0], [0.0]], [[1.0], [2.0], [-1.0]], [1, 1, 0], [0.0, 0.5, 1.0]).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.5, 1.0]]
    """
    rows, labels = logistic.records(Z, y)
    t, at = limits.reals(theta, "theta"), _rates(rates)
    if t.ndim == 0 or t.shape[-1] != rows.shape[1]:
        raise InputError(f"theta has shape {t.shape}: give {rows.shape[1]} entries on its last axis")
    if labels.all() or not labels.any():
        raise InputError("all labels are the same, and the curve needs both: use records of both kinds")
    scores = t.reshape(-1, rows.shape[1]) @ rows.T
    return np.reshape([_height(score, labels, at) for score in scores], (*t.shape[:-1], len(at)))


def _height(score: FloatArray, labels: FloatArray, at: FloatArray) -> FloatArray:
    order = np.argsort(-score)
    last = np.r_[np.flatnonzero(np.diff(score[order])), len(order) - 1]  # of each group of equal scores
    hits = np.cumsum(labels[order])[last]
    alarms = last + 1 - hits
    x, y = np.r_[0.0, alarms / alarms[-1]], np.r_[0.0, hits / hits[-1]]
    top = np.r_[np.diff(x) > 0, True]  # the upper end of every vertical step
    return np.asarray(np.interp(at, x[top], y[top]))


def _rates(rates: ArrayLike) -> FloatArray:
    at = checks.vector(rates, "rates")
    if not ((at >= 0) & (at <= 1)).all():
        raise InputError(f"rates are {at.tolist()[:5]}: give numbers from 0 to 1")
    return at
