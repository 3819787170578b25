"""Sweeps over splits, methods and budgets, computed from fold moments and never from rows twice.

The records are scaled once. Each partition costs one pass that adds up the moments of every fold; training
moments are the total minus a fold. Noise, repair, solution and test error then work on stacks of p x p matrices.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm  # not tqdm.auto: in a notebook without widgets it warns

from lib import allocation, checks, noise, repair, solve
from lib.allocation import Convention, Scales
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import BLOCK, Domain
from lib.noise import RandomState
from lib.objective import Quadratic, from_gram
from lib.release import perturb
from lib.solve import NONE, Penalty
from lib.wishart import WishartDifference

Metric = Literal["mse", "rmse"]
Labels = NDArray[np.int16]  # numpy sorts integers of this size by counting


@dataclass(frozen=True)
class CrossValidation:
    """`repeats` random partitions into `folds` parts, each part tested once (001: 50 x 5)."""

    repeats: int = 50
    folds: int = 5

    def __post_init__(self) -> None:
        checks.count(self.repeats, "repeats")
        if checks.count(self.folds, "folds", 2) > np.iinfo(np.int16).max:
            raise InputError(f"folds is {self.folds}: give at most {np.iinfo(np.int16).max}")

    def labels(self, n: int, rng: np.random.Generator) -> Labels:
        """Return the fold of each record; folds differ in size by one record at most."""
        labels = (np.arange(n) % self.folds).astype(np.int16)
        rng.shuffle(labels)
        return labels

    @property
    def tested(self) -> tuple[int, ...]:
        """Folds that serve as test sets."""
        return tuple(range(self.folds))


@dataclass(frozen=True)
class Holdout:
    """`repeats` random splits with a share of the records held out for testing (000: 50 splits of 80/20)."""

    repeats: int = 50
    share: float = 0.2

    def __post_init__(self) -> None:
        checks.count(self.repeats, "repeats")
        if not 0 < checks.finite(self.share, "share") < 1:
            raise InputError(f"share is {self.share:g}: give the held-out share, between 0 and 1")

    def labels(self, n: int, rng: np.random.Generator) -> Labels:
        """Return 0 for records held out and 1 for the others."""
        labels = (np.arange(n) >= round(self.share * n)).astype(np.int16)
        rng.shuffle(labels)
        return labels

    @property
    def tested(self) -> tuple[int, ...]:
        """Folds that serve as test sets."""
        return (0,)


@dataclass(frozen=True)
class Method:
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
    """

    name: str
    fit: Callable[[Quadratic, FloatArray, np.random.Generator], FloatArray]
    private: bool = True


def no_privacy(name: str, penalty: Penalty = NONE) -> Method:
    """Return the method that minimises the objective itself."""
    return Method(name, lambda train, epsilons, rng: solve.minimise(train, penalty), private=False)


def mechanism(
    name: str,
    domain: Domain,
    law: Scales | WishartDifference,
    *,
    mend: Callable[[Quadratic, Scales | WishartDifference], Quadratic] = repair.lift,
    penalty: Penalty = NONE,
    solver: Callable[[Quadratic, Penalty], FloatArray] = solve.minimise,
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

    return Method(name, fit)


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
) -> Method:
    """Return the functional mechanism followed by 001's repairs.

    Parameters
    ----------
    name : str
    domain : Domain
    sensitivity, convention, neighbours
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
    unit = allocation.functional(domain, 1.0, sensitivity=sensitivity, convention=convention, neighbours=neighbours)

    def mend(noisy: Quadratic, scales: Scales | WishartDifference) -> Quadratic:
        if ridge is not None:
            noisy = repair.ridge(noisy, ridge * scales.deviation)
        if floor is not None:
            noisy = repair.trim(noisy, floor * scales.deviation)
        return noisy

    return mechanism(name, domain, unit, mend=mend, penalty=penalty, solver=solver)


def fold_moments(table: FloatArray, labels: Labels, folds: int, domain: Domain) -> Quadratic:
    """Return the objective of each fold, stacked, from records (t, Z) of shape (n, p + 1) and their labels.

    Records are grouped block by block into one buffer, so the gathering stays in the processor's cache.
    """
    if len(labels) != len(table) or labels.min() < 0 or labels.max() >= folds:
        raise InputError(f"labels do not fit: give one of {folds} folds, from 0, for each of {len(table)} records")
    gram = np.zeros((folds, table.shape[1], table.shape[1]))
    buffer = np.empty((min(BLOCK, len(table)), table.shape[1]))
    for start in range(0, len(table), BLOCK):
        part = labels[start : start + BLOCK]
        order = np.argsort(part, kind="stable")
        edges = np.searchsorted(part[order], np.arange(folds + 1))
        block = buffer[: len(order)]
        np.take(table[start : start + BLOCK], order, axis=0, out=block, mode="clip")  # "raise" would copy
        for fold in range(folds):
            rows = block[edges[fold] : edges[fold + 1]]
            gram[fold] += rows.T @ rows
    return from_gram(gram, domain)


def sweep(
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    methods: Sequence[Method],
    epsilons: Sequence[float],
    protocol: CrossValidation | Holdout,
    *,
    random_state: RandomState = 0,
    metrics: Sequence[Metric] = ("rmse",),
    jobs: int = 1,
    progress: bool = False,
) -> pd.DataFrame:
    """Return test errors of every method, budget and split, in the units of the response.

    The result depends on the seed alone, not on the number of workers or on which other methods take part.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
    domain : Domain
    methods : sequence of Method
    epsilons : sequence of float
    protocol : CrossValidation or Holdout
    random_state : None, int or SeedSequence
    metrics : sequence of {"mse", "rmse"}
    jobs : int
        joblib workers; -1 for one per processor.
    progress : bool
        Show a bar, one step per partition.

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
    checks.instance(methods, (list, tuple), "methods")
    for method in methods:
        checks.instance(method, Method, "a method")
    names = [method.name for method in methods]
    if len(set(names)) != len(names) or not names:
        raise InputError(f"method names are {names}: give at least one method, and each a name of its own")
    if not metrics:
        raise InputError("there are no metrics: give 'mse', 'rmse' or both")
    for metric in metrics:
        checks.choice(metric, ("mse", "rmse"), "metric")
    root = noise.seed_sequence(random_state)
    table = domain.table(X, y)
    tasks = (
        delayed(_partition)(table, domain, methods, budgets, protocol, root, repeat, tuple(metrics))
        for repeat in range(protocol.repeats)
    )
    results = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    return pd.concat(tqdm(results, total=protocol.repeats, disable=not progress), ignore_index=True)


def _partition(
    table: FloatArray,
    domain: Domain,
    methods: Sequence[Method],
    epsilons: FloatArray,
    protocol: CrossValidation | Holdout,
    root: np.random.SeedSequence,
    repeat: int,
    metrics: tuple[Metric, ...],
) -> pd.DataFrame:
    labels = protocol.labels(len(table), noise.spawn(root, repeat, 0))
    tested = list(protocol.tested)
    size = np.bincount(labels, minlength=len(tested))[tested]
    if size.min() == 0 or size.max() == len(table):
        raise InputError(
            f"{protocol} leaves nothing to train on or to test on of {len(table)} records: use more records"
        )
    folds = fold_moments(table, labels, int(labels.max()) + 1, domain)
    test = folds[tested]
    total = folds.sum()
    train = Quadratic(total.M - test.M, total.v - test.v, total.c - test.c, domain)[:, None]
    frames = []
    for method in methods:
        theta = method.fit(train, epsilons, method_generator(root, repeat, method))
        error = np.maximum(test[:, None](theta), 0.0) / size[:, None] * domain.half_width**2
        fold, column = np.indices(error.shape)
        keys = {
            "method": method.name,
            "epsilon": epsilons[column.ravel()] if method.private else np.inf,
            "repeat": repeat,
            "fold": fold.ravel(),
        }
        for metric in metrics:
            value = np.sqrt(error) if metric == "rmse" else error
            frames.append(pd.DataFrame(keys | {"metric": metric, "value": value.ravel()}))
    return pd.concat(frames, ignore_index=True)


def method_generator(root: np.random.SeedSequence, repeat: int, method: Method) -> np.random.Generator:
    """Return the random numbers of one method on one partition, which no other method or partition shares.

    Examples
    --------
    >>> float(method_generator(noise.seed_sequence(1), 0, no_privacy("a")).random()) < 1
    True
    """
    return noise.spawn(root, repeat, 1, zlib.crc32(method.name.encode()))


def summarise(frame: pd.DataFrame, low: float = 0.2, high: float = 0.8) -> pd.DataFrame:
    """Return median, band, mean and variance over splits for each method and budget.

    `error` is the standard error of the median, from the order statistics half a root of n to either side of the
    middle, which needs no law of the values. Values within one partition are treated as independent.

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

    groups = frame.groupby(["metric", "method", "epsilon"], sort=False)["value"]
    return groups.agg(
        median="median",
        low=lambda values: values.quantile(low),
        high=lambda values: values.quantile(high),
        error=error,
        mean="mean",
        variance="var",
        count="count",
    ).reset_index()
