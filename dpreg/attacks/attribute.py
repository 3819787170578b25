"""A sensitive attribute as an attacker has it: its columns, the values they take together, how common each is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError

Codes = NDArray[np.intp]


@checked
@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute the attacker does not know: its columns, the values they take together, and how common each is.

    Parameters
    ----------
    columns : tuple of int
        Of the records; several for an attribute coded by dummies.
    values : array of shape (k, number of columns)
        All valid values, k of them at least two. A value's code is its row.
    prior : array of shape (k,), optional
        Public share of each value. Without one, all are equally likely.

    Examples
    --------
    >>> marital = Attribute((0, 1), [[1, 0], [0, 1], [0, 0]])  # single, married, other
    >>> marital.codes([[0, 0, 7.0], [1, 0, 9.0]]).tolist()
    [2, 0]
    """

    columns: tuple[int, ...]
    values: FloatArray
    prior: FloatArray | None = None

    def __post_init__(self) -> None:
        columns = tuple(checks.count(column, "an entry of columns", 0) for column in self.columns)
        values = np.array(checks.numeric(self.values, "values"), dtype=np.float64)
        if values.ndim != 2 or len(values) < 2 or values.shape[1] != len(columns) or not columns:
            raise InputError(
                f"values has shape {values.shape}: give at least two rows, and {len(columns)} columns (at least one)"
            )
        if len(set(columns)) < len(columns):
            raise InputError(f"columns are {columns}: give each column once")
        checks.all_finite(values, "values")
        if len(np.unique(values, axis=0)) < len(values):
            raise InputError("values has equal rows: give each value once")
        prior = np.full(len(values), 1 / len(values)) if self.prior is None else distribution(self.prior, len(values))
        for name, value in (("columns", columns), ("values", values), ("prior", prior)):
            object.__setattr__(self, name, value)

    @property
    def order(self) -> Codes:
        """The codes as ties are broken: the larger prior first, then the smaller code."""
        return np.argsort(-np.asarray(self.prior), kind="stable")

    @property
    def mode(self) -> int:
        """Code of the most common value: the guess of whoever has the prior and nothing else."""
        return int(self.order[0])

    def codes(self, X: ArrayLike) -> Codes:
        """Return the code of each record, or raise `InputError` for a record with no valid value."""
        rows = rows_of(X, self)
        columns = [rows[:, column] for column in self.columns]
        match = np.array([np.logical_and.reduce([*map(np.equal, columns, value)]) for value in self.values])
        if (lost := ~match.any(axis=0)).any():
            found = rows[int(lost.argmax()), list(self.columns)].tolist()
            raise InputError(f"a record has the value {found}: add it to the values, or drop the record")
        return np.asarray(match.argmax(axis=0))

    def with_marginal(self, X: ArrayLike) -> Attribute:
        """Return the attribute with its shares in the records X as prior."""
        return replace(self, prior=np.bincount(self.codes(X), minlength=len(self.values)).astype(float))

    def without_prior(self) -> Attribute:
        """Return the attribute as an attacker without marginals has it."""
        return replace(self, prior=None)


@checked
def rows_of(X: ArrayLike, *attributes: Attribute) -> FloatArray:
    """Return records as an array that has the columns of these attributes.

    Examples
    --------
    >>> rows_of([[1, 2]], Attribute((1,), [[0.0], [1.0]])).tolist()
    [[1.0, 2.0]]
    """
    rows = np.asarray(checks.numeric(X, "X"), dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise InputError(f"X has shape {rows.shape}: give one row per record and one column per predictor")
    checks.all_finite(rows, "X")
    last = max(column for attribute in attributes for column in attribute.columns)
    if last >= rows.shape[1]:
        raise InputError(f"X has {rows.shape[1]} columns and the attribute uses column {last}: count from zero, match")
    return rows


@checked
def distribution(prior: ArrayLike, k: int) -> FloatArray:
    """Return k shares that sum to one.

    Examples
    --------
    >>> distribution([1, 3], 2).tolist()
    [0.25, 0.75]
    """
    checks.count(k, "k")
    shares = limits.reals(checks.vector(prior, "prior"), "prior")
    if len(shares) != k or (shares < 0).any() or not shares.sum() > 0:
        raise InputError(f"prior is {shares.tolist()}: give {k} shares of at least zero, not all of them zero")
    return np.asarray(shares / shares.sum())
