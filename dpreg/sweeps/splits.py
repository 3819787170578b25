"""Protocols: which records train and which test, and the moments of every fold."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import BLOCK, Domain
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic, from_gram

Labels = NDArray[np.int16]  # numpy sorts integers of this size by counting
UNUSED = -1  # label of a record that a protocol leaves out


@checked
@dataclass(frozen=True)
class CrossValidation:
    """`repeats` random partitions into `folds` parts, each part tested once (001: 50 x 5).

    With a `rate` below one each partition is of a fresh random subset, of that share of the records.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.
    """

    repeats: int = 50
    folds: int = 5
    rate: float = 1.0

    def __post_init__(self) -> None:
        checks.count(self.repeats, "repeats")
        if checks.count(self.folds, "folds", 2) > np.iinfo(np.int16).max:
            raise InputError(f"folds is {self.folds}: give at most {np.iinfo(np.int16).max}")
        if not 0 < checks.finite(self.rate, "rate") <= 1:
            raise InputError(f"rate is {self.rate:g}: give the share of the records to use, above 0 and at most 1")

    def labels(self, n: int, rng: np.random.Generator) -> Labels:
        """Return the fold of each record, or `UNUSED`; folds differ in size by one record at most."""
        order = np.arange(n)
        labels = np.where(order < round(self.rate * n), order % self.folds, UNUSED).astype(np.int16)
        rng.shuffle(labels)
        return labels

    @property
    def tested(self) -> tuple[int, ...]:
        """Folds that serve as test sets."""
        return tuple(range(self.folds))


@checked
@dataclass(frozen=True)
class Holdout:
    """`repeats` random splits with a share of the records held out for testing (000: 50 splits of 80/20).

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.
    """

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


Protocol = CrossValidation | Holdout


@checked
@dataclass(frozen=True, eq=False)
class Partition:
    """One partition of the records: what each of its splits trains on and tests on.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
    table : array of shape (n, p + 1)
        The same records clipped and scaled, (t, Z).
    domain : Domain
    labels : array of shape (n,)
        The fold of each record, or `UNUSED`.
    tested : tuple of s folds
        Each is the test set of one split; the split trains on all other folds.
    total : array of shape (p + 1, p + 1), optional
        Moments of the table, where they are known and all records are used: then only test sets are added up.
    """

    X: FloatArray
    y: FloatArray
    table: FloatArray
    domain: Domain
    labels: Labels
    tested: tuple[int, ...]
    total: FloatArray | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        used = np.count_nonzero(self.used)
        if self.sizes.min() == 0 or self.sizes.max() == used:
            raise InputError(
                f"the protocol leaves nothing to train on or to test on of {used} records: use more records"
            )

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which records take part, as training or as test records."""
        return np.asarray(self.labels != UNUSED)

    @cached_property
    def grams(self) -> tuple[FloatArray, FloatArray]:
        """Moments of each test set, stacked, and of all records used: one pass over the table, whatever is fitted."""
        if self.total is not None and len(self.tested) == 1:  # the test set is small, and scores need it as well
            (rows,) = self.tests
            return (rows.T @ rows)[None], self.total
        found = fold_grams(self.table, self.labels, int(self.labels.max()) + 1)
        return found[list(self.tested)], found.sum(axis=0) if self.total is None else self.total

    @cached_property
    def sums(self) -> tuple[Quadratic, Quadratic]:
        """The same as least-squares objectives."""
        test, total = self.grams
        return from_gram(test, self.domain), from_gram(total, self.domain)

    def train(self, loss: Loss = SQUARED) -> Quadratic:
        """Return the training objective of each split, of shape (s, 1): the total minus the tested fold."""
        test, total = self.sums
        M, v, c = total.M - test.M, total.v - test.v, total.c - test.c
        return Quadratic(loss.square * M, loss.cross / SQUARED.cross * v, loss.constant * c, self.domain, loss)[:, None]

    @property
    def test(self) -> Quadratic:
        """The least-squares objective of each test set, of shape (s,)."""
        return self.sums[0]

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many records each test set has."""
        return np.array([np.count_nonzero(self.labels == fold) for fold in self.tested])

    @cached_property
    def memo(self) -> dict[Hashable, Any]:
        """What a method has found on this partition and may need again."""
        return {}

    def training(self) -> Iterator[NDArray[np.bool_]]:
        """Yield which records each split trains on."""
        for fold in self.tested:
            yield self.used & (self.labels != fold)

    def training_rows(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield X and y of each split's training records, in the user's units."""
        for rows in self.training():
            yield self.X[rows], self.y[rows]

    def on_test_rows(self, theta: FloatArray) -> FloatArray:
        """Return theta of shape (..., p) as coefficients of the columns that `test_rows` has: the same, here."""
        return theta

    @cached_property
    def tests(self) -> list[FloatArray]:
        """The scaled records of each test set, gathered once for all methods."""
        places = (np.flatnonzero(self.labels == fold) for fold in self.tested)
        return [self.table.take(place, axis=0, mode="clip") for place in places]  # a mask takes three times as long

    @cached_property
    def test_rows(self) -> list[tuple[FloatArray, FloatArray]]:
        """The scaled rows Z of each test set, and its scaled responses t."""
        return [(rows[:, 1:], rows[:, 0]) for rows in self.tests]


@checked
def draw(
    X: FloatArray,
    y: FloatArray,
    table: FloatArray,
    domain: Domain,
    protocol: Protocol,
    rng: np.random.Generator,
    total: FloatArray | None = None,
) -> Partition:
    """Return a random partition of the records, `table` being their scaled twins, and `total` what `totals` found."""
    return Partition(X, y, table, domain, protocol.labels(len(table), rng), protocol.tested, total=total)


@checked
def totals(table: FloatArray, protocol: Protocol) -> FloatArray | None:
    """Return the moments of all records once for all partitions, unless a protocol uses only some of the records.

    Examples
    --------
    >>> totals(np.array([[1.0], [2.0]]), Holdout(1)), totals(np.array([[1.0], [2.0]]), CrossValidation(1, rate=0.5))
    (array([[5.]]), None)
    """
    if isinstance(protocol, CrossValidation) and protocol.rate < 1:
        return None
    return np.asarray(fold_grams(table, np.zeros(len(table), dtype=np.int16), 1)[0])


@checked
def fold_moments(table: FloatArray, labels: Labels, folds: int, domain: Domain) -> Quadratic:
    """Return the objective of each fold, stacked, from records (t, Z) of shape (n, p + 1) and their labels."""
    return from_gram(fold_grams(table, labels, folds), domain)


@checked
def fold_grams(table: FloatArray, labels: Labels, folds: int) -> FloatArray:
    """Return the moments of each fold, of shape (folds, q, q), from rows of shape (n, q) and their labels.

    Records are grouped block by block into one buffer, so the gathering stays in the processor's cache. Those that are
    `UNUSED` are not read.

    Examples
    --------
    >>> fold_grams(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0], dtype=np.int16), 2).ravel().tolist()
    [10.0, 4.0]
    """
    if len(labels) != len(table) or labels.min() < UNUSED or labels.max() >= folds:
        raise InputError(f"labels do not fit: give one of {folds} folds, from 0, for each of {len(table)} records")
    gram = np.zeros((folds, table.shape[1], table.shape[1]))
    buffer = np.empty((min(BLOCK, len(table)), table.shape[1]))
    for start in range(0, len(table), BLOCK):
        part = labels[start : start + BLOCK]
        order = np.argsort(part, kind="stable")[np.count_nonzero(part == UNUSED) :]
        edges = np.searchsorted(part[order], np.arange(folds + 1))
        block = buffer[: len(order)]
        np.take(table[start : start + BLOCK], order, axis=0, out=block, mode="clip")  # "raise" would copy
        for fold in range(folds):
            rows = block[edges[fold] : edges[fold + 1]]
            gram[fold] += rows.T @ rows
    return gram
