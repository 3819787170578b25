"""Neighbouring data sets that are hard to hide, made of public bounds alone.

Few records, so that one matters; a background on which it matters most; and the record changed from one end of what is
allowed to the other, or beyond. Who promises to clip must clip: a record outside the bounds may do no more than one on
their edge. The record that changes is the last one; a few of the changes are tried on the first record, on one between,
and among many records as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks
from dpreg.checks import FloatArray, InputError, Neighbours

# How many times as far out as its bound a record beyond the bounds lies.
REACHES = {"far": 10.0, "very far": 1e6, "as far as numbers go": 1e300}
LARGEST = 1e300  # what is larger may overflow in a sum of a few
MANY = 100  # records besides the one that changes, where there are to be many
SINGLE = 4  # columns that are switched on alone: the first ones, and the last


Change = tuple[str, str, tuple[Any, Any], tuple[Any, Any]]  # its name, its background, the record before and after


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets.

    Parameters
    ----------
    name : str
        What differs, and on which background, in words.
    X, y : arrays of shape (n, d) and (n,)
    X_other, y_other : arrays of shape (m, d) and (m,)
        The neighbour: m is n, or n - 1 if a record is left out.

    Examples
    --------
    >>> pair = Pair("a response turned round", [[1.0]], [1.0], [[1.0]], [-1.0])
    >>> pair.y - pair.y_other
    array([2.])
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    X_other: NDArray[Any]
    y_other: NDArray[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"name is {self.name!r}: give words")
        for X, y in (("X", "y"), ("X_other", "y_other")):
            one, two = checks.rows(getattr(self, X), getattr(self, y))
            object.__setattr__(self, X, one)
            object.__setattr__(self, y, two)
        if abs(len(self.y) - len(self.y_other)) > 1 or self.X.shape[1] != self.X_other.shape[1]:
            shapes = f"{self.X.shape} and {self.X_other.shape}"
            raise InputError(f"X and X_other have shapes {shapes}: give neighbours, which differ in one record")
        if self.changed() > 1:
            raise InputError(f"{self.changed()} records differ: give neighbours, which differ in one record")

    def changed(self) -> int:
        """Return how many records of the larger data set are not in the other one."""
        one, two = (np.column_stack(side).tolist() for side in ((self.X, self.y), (self.X_other, self.y_other)))
        one, two = sorted((one, two), key=len, reverse=True)
        for record in two:
            if record in one:
                one.remove(record)
        return len(one)

    @property
    def sides(self) -> tuple[tuple[NDArray[Any], NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]:
        """Both data sets."""
        return (self.X, self.y), (self.X_other, self.y_other)


@dataclass(frozen=True)
class _Space:
    """A public set of records: two opposite corners, how far a column goes alone, ends of the response or labels."""

    low: FloatArray
    high: FloatArray
    alone: FloatArray
    ends: tuple[Any, Any]
    labelled: bool

    @property
    def middle(self) -> FloatArray:
        """Zero if it lies inside: on it, many sums of products vanish."""
        inside = ((self.low <= 0) & (self.high >= 0)).all()
        return np.zeros_like(self.low) if inside else (self.low + self.high) / 2

    @property
    def rest(self) -> Any:
        """The response of a background that should not matter."""
        low, high = self.ends
        return low if self.labelled else (0.0 if low <= 0 <= high else (low + high) / 2)

    @property
    def turned(self) -> str:
        """What a response does that goes from one end to the other."""
        return "the label changed" if self.labelled else "the response from one end to the other"

    def out(self, reach: float) -> tuple[FloatArray, float]:
        """Return so many times the bounds, of the columns and of the response."""
        span, ends = np.maximum(np.abs(self.high), np.abs(self.low)), 0.0 if self.labelled else max(map(abs, self.ends))
        times = min(reach, LARGEST / max(span.max(), ends))
        return span * times, ends * times

    def beyond_all(self, word: str) -> Change:
        """Return a record from the middle to beyond all bounds at once; the label of a classifier stays one."""
        span, more = self.out(REACHES[word])
        one = (self.middle + span, self.ends[1] if self.labelled else self.rest + more)
        return f"a record beyond all bounds, {word}", "in the middle", one, (self.middle, self.rest)


def standard(
    bounds_X: tuple[ArrayLike, ArrayLike] | None = None,
    bounds_y: tuple[float, float] | None = None,
    *,
    labels: Sequence[Any] | None = None,
    data_norm: float | None = None,
    d: int | None = None,
    neighbours: Neighbours = "replace",
    beyond: bool = True,
    both: bool = False,
    n: int = 3,
) -> list[Pair]:
    """Return hostile pairs of neighbours for a regression or a classifier, from what is public.

    Parameters
    ----------
    bounds_X : (lower, upper)
        Each a number or an array of shape (d,), in the user's units.
    bounds_y : (float, float)
        Of the response; leave it out for a classifier.
    labels : sequence of two numbers
        Of a classifier. With `both` each stands in every background, so `n` is at least two.
    data_norm : float
        In place of `bounds_X`: the largest Euclidean norm of a row.
    d : int
        Number of columns, where the bounds do not tell it.
    neighbours : {"replace", "add_remove"}
    beyond : bool
        Add records outside the bounds, for a mechanism that promises to clip, or to refuse them whatever the rest is.
    both : bool
        With `labels`: leave out pairs where one record decides whether both are there, for a classifier that says that
        it needs both.
    n : int
        Records besides the one that changes.

    Returns
    -------
    list of Pair

    Raises
    ------
    InputError
        If bounds are reversed or missing, or both kinds of response are given.

    Examples
    --------
    >>> pairs = standard((0.0, 1.0), (0.0, 1.0), d=2)
    >>> pairs[0].name
    'the response from one end to the other, at the far corner; the others in the middle'
    >>> pairs[0].X.tolist(), pairs[0].y.tolist(), pairs[0].y_other.tolist()
    ([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    """
    space = _space(bounds_X, bounds_y, labels, data_norm, d)
    relation, beyond = checks.neighbours(neighbours), checks.flag(beyond, "beyond")
    few = checks.count(n, "n", 2 if space.labelled else 1)
    single = space.labelled and not checks.flag(both, "both")
    found: dict[str, Pair] = {}
    for where, many, place in PLACES:
        size = many or few
        backgrounds, at = _backgrounds(space, size), round(place * size)
        changes = _changes(space, beyond, single) if not where else _general(space, beyond)
        for name, ground, one, other in changes:
            (X, y), word = backgrounds[ground], f"{name}; the others {ground}{where}"
            replaced, added = [("", one, other)], [("", one, None), (" (its other end)", other, None)]
            for end, *records in replaced if relation == "replace" else added:
                _keep(found, word + end, X, y, at, *records)
    return list(found.values())


# In words, how many others (zero: as many as asked for), and where the record stands among them: from 0, first, to 1.
PLACES = (("", 0, 1.0), (", after it", 0, 0.0), (", around it", 0, 0.5), (f", {MANY} of them", MANY, 1.0))


def _keep(found: dict[str, Pair], name: str, X: FloatArray, y: NDArray[Any], at: int, one: Any, other: Any) -> None:
    """Add a pair of a background and one record more, in this place: another one, or none."""

    def put(record: Any) -> tuple[FloatArray, NDArray[Any]]:
        return (X, y) if record is None else (np.insert(X, at, record[0], axis=0), np.insert(y, at, record[1]))

    pair = Pair(name, *put(one), *put(other))
    same = any(
        all(np.array_equal(a, b) for a, b in zip(_arrays(pair), _arrays(old), strict=True)) for old in found.values()
    )
    if pair.changed() and not same:
        found[name] = pair


def _arrays(pair: Pair) -> list[NDArray[Any]]:
    return [array for side in pair.sides for array in side]


def _backgrounds(space: _Space, n: int) -> dict[str, tuple[FloatArray, NDArray[Any]]]:
    """Return the other records: all in the middle, all alike, on one line, in one column."""
    d, (low, high) = len(space.low), space.ends
    both = np.resize(np.array([low, high]), n)  # both classes
    quiet = both if space.labelled else np.full(n, space.rest)
    line = space.low + np.linspace(0.25, 0.75, n)[:, None] * (space.high - space.low)
    rising = both if space.labelled else np.linspace(low, high, n)
    return {
        "in the middle": (np.tile(space.middle, (n, 1)), quiet),
        "all at one far corner": (np.tile(space.high, (n, 1)), both if space.labelled else np.full(n, high)),
        "on one line": (line, rising),
        "along the first column": (np.where(np.arange(d) == 0, line, space.middle), quiet),
        "all of one class": (line, np.full(n, low)),
    }


def _general(space: _Space, beyond: bool) -> Iterator[Change]:
    """Yield the changes that are tried in every place and size."""
    low, high = space.ends
    yield f"{space.turned}, at the far corner", "in the middle", (space.high, high), (space.high, low)
    words = "a record from corner to opposite corner, with its response"
    yield words, "in the middle", (space.high, high), (space.low, low)
    if beyond:
        yield space.beyond_all("far")


def _changes(space: _Space, beyond: bool, single: bool) -> Iterator[Change]:
    """Yield all changes of the last record."""
    low, high = space.ends
    middle, far, near = space.middle, space.high, space.low
    zigzag = np.where(np.arange(len(far)) % 2, near, far)
    yield f"{space.turned}, at the far corner", "in the middle", (far, high), (far, low)
    yield "a record from the middle to the far corner", "in the middle", (far, high), (middle, space.rest)
    yield "a record from corner to opposite corner", "in the middle", (far, high), (near, high)
    yield "a record from corner to opposite corner, with its response", "in the middle", (far, high), (near, low)
    yield f"{space.turned}, far from the others", "all at one far corner", (near, high), (near, low)
    yield "a record to the corner opposite of the others", "all at one far corner", (near, low), (far, high)
    yield "a record off the line of the others", "on one line", (zigzag, high), (middle, space.rest)
    yield f"{space.turned}, off the line of the others", "on one line", (zigzag, high), (zigzag, low)
    yield f"{space.turned}, in the middle", "on one line", (middle, high), (middle, low)
    for j in sorted({*range(min(SINGLE, len(far))), len(far) - 1}):
        alone = np.where(np.arange(len(far)) == j, space.alone, middle)
        yield f"column {j} switched on alone", "in the middle", (alone, high), (middle, high)
        if j:
            yield f"column {j} switched on alone", "along the first column", (alone, high), (middle, high)
    if single:
        yield "the only record of its class", "all of one class", (far, high), (far, low)
    if beyond:
        yield from _outside(space)


def _outside(space: _Space) -> Iterator[Change]:
    """Yield changes to records outside the bounds."""
    (_, high), middle = space.ends, space.middle
    span, reach = space.out(REACHES["far"])
    out = middle + span
    yield "a record from the middle to far beyond the bounds", "in the middle", (out, high), (middle, space.rest)
    yield "a record from far beyond one side to far beyond the other", "on one line", (out, high), (middle - span, high)
    if not space.labelled:
        words = "a response from far beyond one end to far beyond the other"
        yield words, "in the middle", (space.high, space.rest + reach), (space.high, space.rest - reach)
        yield words, "on one line", (middle, space.rest + reach), (middle, space.rest - reach)
    yield from map(space.beyond_all, REACHES)


def _space(
    bounds_X: tuple[ArrayLike, ArrayLike] | None,
    bounds_y: tuple[float, float] | None,
    labels: Sequence[Any] | None,
    data_norm: float | None,
    d: int | None,
) -> _Space:
    if (bounds_X is None) == (data_norm is None):
        raise InputError("bounds_X and data_norm are both given, or both missing: give one of them")
    if (bounds_y is None) == (labels is None):
        raise InputError("bounds_y and labels are both given, or both missing: give bounds_y, or the two labels")
    if data_norm is not None:
        columns = checks.count(d, "d")
        high = np.full(columns, checks.positive(data_norm, "data_norm") / math.sqrt(columns))
        low, alone = -high, np.full(columns, float(data_norm))  # the corners lie on the sphere, and so do its axes
    else:
        low, high = _box(bounds_X, d)
        alone = high
    if labels is None:
        ends = tuple(checks.vector(np.asarray(bounds_y), "bounds_y").tolist())
        if len(ends) != 2 or not ends[0] < ends[1]:
            raise InputError(f"bounds_y are {ends}: give (lower, upper) with lower < upper")
    else:
        ends = tuple(checks.numeric(list(labels), "labels").tolist())
        if len(set(ends)) != 2 or len(ends) != 2:
            raise InputError(f"labels are {ends}: give two different labels")
    return _Space(low, high, alone, (ends[0], ends[1]), labels is not None)


def _box(bounds: Any, d: int | None) -> tuple[FloatArray, FloatArray]:
    if not isinstance(bounds, tuple | list | np.ndarray) or len(bounds) != 2:
        raise InputError(f"bounds_X is {bounds!r}: give (lower, upper)")
    low, high = (np.atleast_1d(checks.numeric(end, "bounds_X").astype(np.float64)) for end in bounds)
    columns = checks.count(max(len(low), len(high)) if d is None else d, "d")
    for end in (low, high):
        if end.ndim != 1 or len(end) not in (1, columns) or not np.isfinite(end).all():
            raise InputError(f"bounds_X is {bounds!r} and there are {columns} columns: give a finite number for each")
    low, high = (np.broadcast_to(end, columns).copy() for end in (low, high))
    if not (low < high).all():
        raise InputError(f"bounds_X is {bounds!r}: give lower < upper")
    return low, high
