"""Numbers by which two data sets may be told apart: columns of a release, mixtures of them, and what is learnt."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from dpreg.audit.outcomes import WORDS, Table, keys
from dpreg.checks import FloatArray

MIXED = 6  # columns of which differences, sums and products are looked at: the first ones
LEARNT = 5000  # releases per data set that a classifier learns from
MINIMUM = 20  # without so many, nothing is learnt


@dataclass(frozen=True)
class Statistic:
    """One number per release.

    Parameters
    ----------
    name : str
    value : callable
        From a table of n releases to an array of shape (n,).
    """

    name: str
    value: Callable[[Table], FloatArray]

    def __call__(self, table: Table) -> FloatArray:
        """Return its values; what is not a number counts as lowest, so that a threshold parts all releases."""
        values = np.asarray(self.value(table), dtype=np.float64)
        return np.where(np.isnan(values), -np.inf, values)


def candidates(one: Table, other: Table, learn: bool = True) -> list[Statistic]:
    """Return the statistics to try, learnt from releases that are used for nothing else.

    Parameters
    ----------
    one, other : Table
        Releases of two neighbours.
    learn : bool
        Train a classifier too.

    Returns
    -------
    list of Statistic

    Examples
    --------
    >>> from dpreg.audit.outcomes import of_array
    >>> found = candidates(of_array(np.arange(4.0)), of_array(np.ones(4)), learn=False)
    >>> [statistic.name for statistic in found][:2]
    ['the number', 'the distance of the number from 1']
    """
    return [*_columns(one, other), *_mixtures(one), *_frequencies(one, other), *_learnt(one, other, learn)]


def _number(j: int, table: Table) -> FloatArray:
    return table.numbers[:, j]


def _distance(j: int, centre: float, table: Table) -> FloatArray:
    return np.asarray(np.abs(table.numbers[:, j] - centre))


def _mixture(i: int, j: int, operation: Any, table: Table) -> FloatArray:
    with np.errstate(all="ignore"):
        return np.asarray(operation(table.numbers[:, i], table.numbers[:, j]))


def _word(k: int, table: Table) -> NDArray[Any]:
    return np.asarray(table.words[:, k])


def _columns(one: Table, other: Table) -> list[Statistic]:
    found = []
    for j, name in enumerate(one.names):
        found.append(Statistic(name, partial(_number, j)))
        pooled = np.concatenate([one.numbers[:, j], other.numbers[:, j]])
        pooled = pooled[np.isfinite(pooled)]
        if len(pooled):
            centre = float(np.median(pooled))
            found.append(Statistic(f"the distance of {name} from {centre:.4g}", partial(_distance, j, centre)))
    return found


OPERATIONS: dict[str, Any] = {"-": np.subtract, "+": np.add, "*": np.multiply}


def _mixtures(table: Table) -> list[Statistic]:
    """Return differences, sums and products of two columns."""
    found = []
    for (i, a), (j, b) in itertools.combinations(list(enumerate(table.names))[:MIXED], 2):
        for sign, operation in OPERATIONS.items():
            found.append(Statistic(f"{a} {sign} {b}", partial(_mixture, i, j, operation)))
    return found


def _frequencies(one: Table, other: Table) -> list[Statistic]:
    """Return how much more often a value was seen with one data set than with the other, where values repeat at all.

    Of columns, of what words say, of differences of columns, and of all columns together.
    """
    looks: list[tuple[str, Callable[[Table], NDArray[Any]]]] = []
    for j, name in enumerate(one.names):
        looks.append((name, partial(_number, j)))
    for k, name in enumerate(WORDS):
        looks.append((f"the {name}", partial(_word, k)))
    if len(one.names) > 1:
        looks += [(mixture.name, mixture.value) for mixture in _mixtures(one) if " - " in mixture.name]
        looks.append(("all numbers together", lambda table: table.numbers))
    found = (_frequency(name, look, one, other) for name, look in looks)
    return [statistic for statistic in found if statistic is not None]


def _frequency(name: str, look: Callable[[Table], NDArray[Any]], one: Table, other: Table) -> Statistic | None:
    seen, unseen = keys(look(one)), keys(look(other))
    values, counts = np.unique(np.concatenate([seen, unseen]), return_counts=True)
    if len(values) == 1 or counts.max() < 2:
        return None  # the same in all releases, or never the same
    mine, theirs = (np.bincount(np.searchsorted(values, side), minlength=len(values)) for side in (seen, unseen))
    scores = np.log(mine + 0.5) - np.log(theirs + 0.5)
    scores[counts < 2] = 0.0

    def frequency(table: Table) -> FloatArray:
        codes = keys(look(table))
        place = np.minimum(np.searchsorted(values, codes), len(values) - 1)
        return np.where(values[place] == codes, scores[place], 0.0)

    top = values[np.lexsort((-np.abs(scores), -counts))[0]]
    both = np.concatenate([look(one), look(other)])
    example = both[np.flatnonzero(np.concatenate([seen, unseen]) == top)[0]]
    return Statistic(f"the log of how much likelier {name} is to repeat a value (such as {_shown(example)})", frequency)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value if len(value) <= 80 else f"{value[:77]}..."
    return ", ".join(f"{number:.6g}" for number in np.atleast_1d(value)[:4])


def _learnt(one: Table, other: Table, learn: bool) -> list[Statistic]:
    """Return the best linear direction, and the score of a classifier."""
    if min(len(one), len(other)) < MINIMUM or not one.names:
        return []
    found = []
    if len(one.names) > 1:
        found.append(Statistic("the linear direction that separates best", _direction(one, other)))
    X = np.concatenate([one.numbers[:LEARNT], other.numbers[:LEARNT]])
    if learn and (np.nanmax(X, axis=0, initial=-np.inf) > np.nanmin(X, axis=0, initial=np.inf)).any():
        y = np.repeat([1, 0], [len(one.numbers[:LEARNT]), len(other.numbers[:LEARNT])])
        forest = RandomForestClassifier(10, max_depth=6, min_samples_leaf=10, random_state=0).fit(_finite(X), y)
        name = "a random forest's guess that it is the first data set"
        found.append(Statistic(name, lambda table: forest.predict_proba(_finite(table.numbers))[:, 1]))
    return found


def _finite(X: FloatArray) -> FloatArray:
    """Keep NaN, which trees split on, and pull in what their sums in single precision cannot hold."""
    return np.clip(X, -1e30, 1e30)


def _direction(one: Table, other: Table) -> Callable[[Table], FloatArray]:
    """Fisher's discriminant on ranks' scale: columns by their median and quartiles, far values pulled in."""
    pooled = np.concatenate([one.numbers, other.numbers])
    pooled = np.where(np.isfinite(pooled), pooled, 0.0)
    low, middle, high = np.quantile(pooled, [0.25, 0.5, 0.75], axis=0)
    width = np.where(high > low, high - low, 1.0)

    def scaled(table: Table) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.clip(np.nan_to_num((table.numbers - middle) / width), -10, 10))

    a, b = scaled(one), scaled(other)
    spread = np.atleast_2d(np.cov(a.T)) + np.atleast_2d(np.cov(b.T)) + 1e-6 * np.eye(len(width))
    weights = np.linalg.solve(spread, a.mean(axis=0) - b.mean(axis=0))
    return lambda table: np.asarray(scaled(table) @ weights)
