"""Sweeps over splits, methods and budgets, computed from fold moments and never from rows twice.

The records are scaled once. Each partition costs one pass that adds up the moments of every fold; training
moments are the total minus a fold. Noise, repair, solution and test error then work on stacks of p x p matrices.
Only labels are counted row by row, in one matrix product for all coefficients, and only a `RowMethod` reads rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from tqdm import tqdm  # not tqdm.auto: in a notebook without widgets it warns

from lib import allocation, checks, noise, repair, scores, solve, splits
from lib.allocation import Convention, Scales
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import Domain
from lib.noise import RandomState
from lib.objective import SQUARED, Loss, Quadratic, check_labels
from lib.release import perturb
from lib.solve import NONE, Penalty
from lib.splits import CrossValidation, Holdout, Partition, Protocol
from lib.wishart import WishartDifference

Metric = Literal["mse", "rmse", "misclassified", "logistic", "auc"]
METRICS = ("mse", "rmse", *scores.OF_LABELS)
PATIENCE = 2.0  # seconds before a progress bar appears


@dataclass(frozen=True)
class _Way:
    name: str
    fit: Callable[[Any, FloatArray, np.random.Generator], FloatArray]
    private: bool = True
    repeats: int | None = None

    def __post_init__(self) -> None:
        checks.count(1 if self.repeats is None else self.repeats, "repeats")

    def takes_part(self, repeat: int) -> bool:
        """Return whether it is run on this partition."""
        return self.repeats is None or repeat < self.repeats


@dataclass(frozen=True)
class Method(_Way):
    """A way to turn training moments into coefficients.

    Parameters
    ----------
    name : str
        As it appears in tables and figures. It also names the method's random numbers, so they do not change when
        other methods join the sweep.
    fit : function of (train, epsilons, rng)
        `train` is a stack of shape (s, 1), `epsilons` has shape (e,); returns theta of shape (s, e, p), or
        (s, 1, p) if not private.
    private : bool
    repeats : int, optional
        Take part in so many partitions only, for a method whose error hardly varies. A figure must say so.
    loss : Loss
        Of the objective that `fit` is given: a quadratic for the logistic loss, with labels.
    """

    loss: Loss = SQUARED

    def coefficients(self, partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return theta of every split and budget, of shape (s, e, p), or (s, 1, p)."""
        return self.fit(partition.train(self.loss), epsilons, rng)


@dataclass(frozen=True)
class RowMethod(_Way):
    """A way to turn training records into coefficients, for what moments cannot do.

    Parameters
    ----------
    name : str
        As in `Method`.
    fit : function of (partition, epsilons, rng)
        Returns theta of shape (s, e, p), or (s, 1, p) if not private.
    private : bool
    repeats : int, optional
        As in `Method`.
    """

    def coefficients(self, partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return theta of every split and budget, of shape (s, e, p), or (s, 1, p)."""
        return self.fit(partition, epsilons, rng)


def no_privacy(name: str, penalty: Penalty = NONE, *, loss: Loss = SQUARED) -> Method:
    """Return the method that minimises its objective: with a quadratic for the logistic loss, 001's Truncated."""
    return Method(name, lambda train, epsilons, rng: solve.minimise(train, penalty), private=False, loss=loss)


def mechanism(
    name: str,
    domain: Domain,
    law: Scales | WishartDifference,
    *,
    mend: Callable[[Quadratic, Scales | WishartDifference], Quadratic] = repair.lift,
    penalty: Penalty = NONE,
    solver: Callable[[Quadratic, Penalty], FloatArray] = solve.minimise,
    loss: Loss = SQUARED,
) -> Method:
    """Return the method that adds noise, makes the objective convex and minimises it.

    Parameters
    ----------
    name : str
    domain : Domain
    law : Scales or WishartDifference
        The noise at epsilon one; at other budgets it is `law.times(1 / epsilon)`.
    mend : function of (noisy objective, law)
        Such as `repair.lift` or `repair.bound`.
    penalty : Penalty
    solver : function of (objective, penalty)
    loss : Loss
        For which the noise was made.

    Examples
    --------
    >>> from lib.datasets import wine
    >>> from lib.wishart import difference
    >>> box = wine().box()
    >>> mechanism("Wishart difference", box, difference(box, 1.0)).private
    True
    """
    checks.instance(domain, Domain, "domain")
    checks.instance(law, (Scales, WishartDifference), "law")

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        if train.domain not in (None, domain):
            raise InputError(f"{name!r} has the noise for another domain than the records': use one for both")
        scaled = law.times(1 / epsilons)
        return solver(mend(perturb(train, scaled, rng), scaled), penalty)

    return Method(name, fit, loss=loss)


def functional_mechanism(
    name: str,
    domain: Domain,
    *,
    sensitivity: Literal["tight", "printed"] = "tight",
    convention: Convention = "triangle",
    neighbours: Neighbours = "replace",
    ridge: float | None = 4.0,
    floor: float | None = 0.0,
    penalty: Penalty = NONE,
    solver: Callable[[Quadratic, Penalty], FloatArray] = solve.minimise,
    loss: Loss = SQUARED,
) -> Method:
    """Return the functional mechanism followed by 001's repairs.

    Parameters
    ----------
    name : str
    domain : Domain
    sensitivity, convention, neighbours, loss
        As in `allocation.functional`.
    ridge : float or None
        Ridge in standard deviations of the noise on the diagonal; None for none.
    floor : float or None
        Eigenvalues to trim, in the same unit; None not to trim, and then an indefinite draw is refused.
    penalty : Penalty
    solver : function of (objective, penalty)

    Examples
    --------
    >>> from lib.datasets import wine
    >>> functional_mechanism("tight noise", wine().box(), ridge=4.0).private
    True
    """
    unit = allocation.functional(
        domain, 1.0, sensitivity=sensitivity, convention=convention, neighbours=neighbours, loss=loss
    )

    def mend(noisy: Quadratic, scales: Scales | WishartDifference) -> Quadratic:
        if ridge is not None:
            noisy = repair.ridge(noisy, ridge * scales.deviation)
        if floor is not None:
            noisy = repair.trim(noisy, floor * scales.deviation)
        return noisy

    return mechanism(name, domain, unit, mend=mend, penalty=penalty, solver=solver, loss=loss)


def sweep(
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    methods: Sequence[Method | RowMethod],
    epsilons: Sequence[float],
    protocol: Protocol,
    *,
    random_state: RandomState = 0,
    metrics: Sequence[Metric] = ("rmse",),
    jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Return test errors of every method, budget and split, in the units of the response.

    The result depends on the seed alone, not on the number of workers or on which other methods take part.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
    domain : Domain
    methods : sequence of Method or RowMethod
    epsilons : sequence of float
    protocol : CrossValidation or Holdout
    random_state : None, int or SeedSequence
    metrics : sequence of {"mse", "rmse", "misclassified", "logistic", "auc"}
        The last three are of a response with two labels, the ends of `domain.response`; see `lib.scores`.
    jobs : int
        joblib workers; -1 for one per processor. They run on the backend that `joblib.parallel_config` chose.
    progress : bool
        Show a bar, one step per task, if the sweep takes more than two seconds. The environment variable
        TQDM_DISABLE=1, which tqdm reads, hides every bar: the book and its tests run with it.

    Returns
    -------
    DataFrame with columns method, epsilon, repeat, fold, metric, value
        One row per number. Methods without privacy appear once, with epsilon infinite.

    Examples
    --------
    >>> from lib.datasets import wine
    >>> data = wine()
    >>> frame = sweep(data.X, data.y, data.box(), [no_privacy("least squares")], [1.0], Holdout(repeats=2))
    >>> frame.shape, bool(0.7 < frame.value.mean() < 0.9)
    ((2, 6), True)
    """
    budgets = np.atleast_1d(checks.epsilons(epsilons))
    checks.instance(domain, Domain, "domain")
    checks.instance(protocol, (CrossValidation, Holdout), "protocol")
    check_methods(methods)
    check_metrics(metrics)
    rows, target = checks.rows(X, y, domain.d)
    if needs_labels(methods, metrics):
        check_labels(target, domain)
    root = noise.seed_sequence(random_state)
    table = domain.table(rows, target)
    tasks = plan(methods, protocol.repeats, jobs)
    calls = (
        delayed(_partition)(
            rows, target, table, domain, [methods[k] for k in some], budgets, protocol, root, repeat, tuple(metrics)
        )
        for repeat, some in tasks
    )
    results = Parallel(n_jobs=jobs, return_as="generator")(calls)
    bar = tqdm(results, total=len(tasks), delay=PATIENCE) if progress else results
    return gathered(tasks, bar)


def plan(
    methods: Sequence[Method | RowMethod], repeats: int, jobs: int = 1, alike: Sequence[Hashable] | None = None
) -> list[tuple[int, list[int]]]:
    """Return the tasks of a sweep: numbers of a partition, and of the methods to fit there, the longest tasks first.

    With several workers each method that reads rows is a task of its own. The slow ones take part in few partitions,
    so these come first: no worker is left with one of them at the end.

    Parameters
    ----------
    methods : sequence of Method or RowMethod
    repeats : int
        Number of partitions.
    jobs : int
        As in `sweep`.
    alike : sequence of keys, optional
        One per method; those that read rows and have the same key, and so can use each other's work, share a task.

    Examples
    --------
    >>> plain, slow = no_privacy("plain"), RowMethod("slow", print, repeats=1)
    >>> plan([plain, slow], 2, jobs=2), plan([plain, slow], 2)
    ([(0, [1]), (0, [0]), (1, [0])], [(0, [0, 1]), (1, [0])])
    """
    alone: dict[Hashable, list[int]] = {}
    for k, method in enumerate(methods):
        if jobs != 1 and isinstance(method, RowMethod):
            alone.setdefault(k if alike is None else alike[k], []).append(k)
    rest = set(range(len(methods))) - {k for some in alone.values() for k in some}
    groups = [*sorted(alone.values(), key=lambda some: methods[some[0]].repeats or repeats), sorted(rest)]
    every = [
        (repeat, [k for k in some if methods[k].takes_part(repeat)]) for some in groups for repeat in range(repeats)
    ]
    return [task for task in every if task[1]]


def gathered(tasks: Sequence[tuple[int, list[int]]], results: Iterable[Sequence[pd.DataFrame]]) -> pd.DataFrame:
    """Return what the tasks of `plan` found, a frame per method, in the order of the partitions and the methods.

    Parameters
    ----------
    tasks : from `plan`
    results : for each task, one frame per method

    Examples
    --------
    >>> one, two = (pd.DataFrame({"value": [k]}) for k in (1, 2))
    >>> gathered([(0, [1]), (0, [0])], [[two], [one]])["value"].tolist()
    [1, 2]
    """
    found = {
        (repeat, k): frame
        for (repeat, some), part in zip(tasks, results, strict=True)
        for k, frame in zip(some, part, strict=True)
    }
    return pd.concat([found[key] for key in sorted(found)], ignore_index=True)


def check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise `InputError` unless these are metrics, at least one."""
    if not metrics:
        raise InputError("there are no metrics: give 'mse', 'rmse' or both")
    for metric in metrics:
        checks.choice(metric, METRICS, "metric")


def needs_labels(methods: Sequence[Method | RowMethod], metrics: Sequence[Metric]) -> bool:
    """Return whether the response must be one of two labels."""
    return bool(set(metrics) & set(scores.OF_LABELS)) or any(isinstance(m, Method) and m.loss.labels for m in methods)


def check_methods(methods: Sequence[Method | RowMethod]) -> None:
    """Raise `InputError` unless these are methods, at least one, each with a name of its own."""
    checks.instance(methods, (list, tuple), "methods")
    for method in methods:
        checks.instance(method, (Method, RowMethod), "a method")
    names = [method.name for method in methods]
    if len(set(names)) != len(names) or not names:
        raise InputError(f"method names are {names}: give at least one method, and each a name of its own")


def _partition(
    X: FloatArray,
    y: FloatArray,
    table: FloatArray,
    domain: Domain,
    methods: Sequence[Method | RowMethod],
    epsilons: FloatArray,
    protocol: Protocol,
    root: np.random.SeedSequence,
    repeat: int,
    metrics: tuple[Metric, ...],
) -> list[pd.DataFrame]:
    partition = splits.draw(X, y, table, domain, protocol, noise.spawn(root, repeat, 0))
    fits = fitted(partition, methods, epsilons, root, repeat)
    return scored([Fit(partition, keys, theta, None, metrics) for keys, theta in fits])


@dataclass(frozen=True, eq=False)
class Fit:
    """The coefficients of one method on one partition.

    Parameters
    ----------
    partition : Partition
    keys : dict
        Columns of the result that name the coefficients.
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


def scored(fits: Sequence[Fit]) -> list[pd.DataFrame]:
    """Return the test errors of fits, a frame for each.

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
        pd.concat(
            [pd.DataFrame(fit.keys | {"metric": name, "value": found[name].ravel()}) for name in fit.metrics],
            ignore_index=True,
        )
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
    wanted = tuple(metric for metric in fits[0].metrics if metric in scores.OF_LABELS)
    if not wanted:
        return [{} for _ in fits]
    theta = np.concatenate([fit.partition.on_test_rows(fit.theta) for fit in fits], axis=1)
    rows = fits[0].partition.test_rows
    each = [scores.of_labels(one, Z, t > 0, wanted) for one, (Z, t) in zip(theta, rows, strict=True)]
    ends = np.cumsum([fit.theta.shape[1] for fit in fits])[:-1]
    parts = {metric: np.split(np.array([values[metric] for values in each]), ends, axis=1) for metric in wanted}
    return [{metric: parts[metric][k] for metric in wanted} for k in range(len(fits))]


def fitted(
    partition: Partition,
    methods: Sequence[Method | RowMethod],
    epsilons: FloatArray,
    root: np.random.SeedSequence,
    repeat: int,
) -> Iterator[tuple[dict[str, Any], FloatArray]]:
    """Yield the fits of each method that takes part, theta of shape (s, e, p), and the columns that name them.

    Parameters
    ----------
    partition : Partition
    methods : sequence of Method or RowMethod
    epsilons : array of shape (e,)
    root : SeedSequence
    repeat : int
        Number of the partition.
    """
    for method in methods:
        if not method.takes_part(repeat):
            continue
        theta = method.coefficients(partition, epsilons, method_generator(root, repeat, method))
        expected = (len(partition.tested), len(epsilons) if method.private else 1, partition.domain.p)
        if theta.ndim != 3 or theta.shape[1:] != expected[1:] or theta.shape[0] not in (1, expected[0]):
            raise InputError(f"{method.name!r} returned coefficients of shape {theta.shape}: give {expected}")
        fold, column = np.indices(expected[:2])
        epsilon = epsilons[column.ravel()] if method.private else np.inf
        keys = {"method": method.name, "epsilon": epsilon, "repeat": repeat, "fold": fold.ravel()}
        yield keys, np.broadcast_to(theta, expected)


def method_generator(root: np.random.SeedSequence, repeat: int, method: Method | RowMethod) -> np.random.Generator:
    """Return the random numbers of one method on one partition, which no other method or partition shares.

    Examples
    --------
    >>> float(method_generator(noise.seed_sequence(1), 0, no_privacy("a")).random()) < 1
    True
    """
    return noise.spawn(root, repeat, 1, zlib.crc32(method.name.encode()))


def summarise(
    frame: pd.DataFrame, low: float = 0.2, high: float = 0.8, *, by: Sequence[str] = ("metric", "method", "epsilon")
) -> pd.DataFrame:
    """Return median, band, mean and variance over splits for each method and budget, or whatever columns `by` names.

    `error` is the standard error of the median, from the order statistics half a root of n to either side of the
    middle, which needs no law of the values. Values within one partition are treated as independent.

    Parameters
    ----------
    frame : DataFrame, as `sweep` returns it
    low, high : float
        Quantiles of the band.
    by : sequence of str
        Columns that tell the groups apart.

    Examples
    --------
    >>> frame = pd.DataFrame({"method": "a", "epsilon": 1.0, "metric": "mse", "value": [1.0, 2.0, 3.0]})
    >>> summarise(frame)["median"].tolist()
    [2.0]
    """
    if not 0 <= low < high <= 1:
        raise InputError(f"the band is ({low:g}, {high:g}): give two quantiles, the lower one first")

    def error(values: pd.Series) -> float:
        if len(values) == 1:
            return float("nan")  # one value says nothing about its spread
        half = 0.5 / np.sqrt(len(values))
        return float(np.ptp(values.quantile([max(0.0, 0.5 - half), min(1.0, 0.5 + half)])) / 2)

    if missing := [name for name in by if name not in frame]:
        raise InputError(f"by is {list(by)}, but the frame has no column {missing[0]!r}: give some of its columns")
    groups = frame.groupby(list(by), sort=False)["value"]
    return groups.agg(
        median="median",
        low=lambda values: values.quantile(low),
        high=lambda values: values.quantile(high),
        error=error,
        mean="mean",
        variance="var",
        count="count",
    ).reset_index()
