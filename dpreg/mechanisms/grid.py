"""Public grids of cells over a box, with a code for every cell: how many, where they lie, what they stand for."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import BLOCK, Box

Codes = NDArray[np.int64]

LOOKED_UP = 2**12  # cells of a group of axes at most, so that its values stay in the processor's cache
CAP = 2**24  # cells of a grid whose every cell gets noise
FINEST = 2**53  # cells of an axis: scaled values are floats, which tell no more apart


@checked
def bandwidth(n: int, dimensions: int, c_h: float = 1.0) -> int:
    """Return the cells per numeric axis for n records: the width of a cell is c_h (sqrt(log n) / n)^(2 / (2 + D)).

    The exponent balances the error of the grid against that of the noise. The constant does not come out of that
    balance: one is our choice.

    Parameters
    ----------
    n : int
        Public number of records, or a public guess.
    dimensions : int
        Axes D of the grid, the response included.
    c_h : float

    Examples
    --------
    >>> [bandwidth(296_000, dimensions) for dimensions in (5, 8, 11, 14)]
    [25, 9, 5, 4]
    """
    n, D = checks.count(n, "n", 2), checks.count(dimensions, "dimensions")
    exact = float((n / math.sqrt(math.log(n))) ** (2 / (2 + D))) / checks.within_reach(
        checks.positive(c_h, "c_h"), "c_h"
    )
    return max(2, math.floor(exact))


@checked
def whole(domain: Box) -> tuple[int, ...]:
    """Return how many whole numbers the bounds of each predictor hold: its values, if it counts or codes something.

    Examples
    --------
    >>> whole(Box([0.0, 18.0], [1.0, 90.0], response=(0.0, 1e5)))
    (2, 73)
    """
    return tuple(math.floor(high) - math.ceil(low) + 1 for low, high in zip(domain.lower, domain.upper, strict=True))


@checked
@dataclass(frozen=True)
class Grid:
    """Cells of a box: the response is axis 0, the predictors follow.

    A cell has a code, its place in the order of the axes, last axis fastest. Codes are integers, so a grid may have
    far more cells than fit into memory.

    Parameters
    ----------
    domain : Box
    cells : tuple of d + 1 numbers of cells, the response's first
    exact : tuple of d + 1 booleans
        Whether the axis has evenly spaced values only, both bounds included, and so one cell per value. Such a cell
        stands for its value, another for its midpoint.

    Examples
    --------
    >>> box = Box([0.0], [1.0], response=(0.0, 8.0))
    >>> small = Grid(box, (4, 2), (False, True))
    >>> small.codes([[0.0], [1.0]], [0.5, 7.9]).tolist(), small.points([0, 7]).tolist()
    ([0, 7], [[-0.75, -1.0], [0.75, 1.0]])
    """

    domain: Box
    cells: tuple[int, ...]
    exact: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.cells) != self.domain.d + 1 or len(self.exact) != self.domain.d + 1:
            raise InputError(
                f"there are {len(self.cells)} cells and {len(self.exact)} marks: give {self.domain.d + 1} of each, "
                "one for the response and one per predictor"
            )
        object.__setattr__(self, "cells", tuple(checks.count(k, "cells") for k in self.cells))
        object.__setattr__(self, "exact", tuple(checks.flag(mark, "exact") for mark in self.exact))
        if any(exact and cells < 2 for cells, exact in zip(self.cells, self.exact, strict=True)):
            raise InputError("an exact axis has 1 cell: give at least two, its bounds")
        if (most := max(self.cells)) > FINEST:
            raise InputError(f"an axis has {most} cells: give at most 2^53, as floats tell no more apart")
        if self.size > np.iinfo(np.int64).max:
            raise InputError(f"the grid has {self.size:.3g} cells: give fewer than 2^63, by coarser axes")

    @cached_property
    def size(self) -> int:
        """Number of cells, empty ones included."""
        return math.prod(self.cells)

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """For each axis, the scaled values its cells stand for."""
        return tuple(self.values(np.arange(k), slice(j, j + 1))[0] for j, k in enumerate(self.cells))

    @property
    def _frame(self) -> tuple[FloatArray, FloatArray]:
        floor = np.r_[-1.0, np.full(self.domain.d, self.domain.floor)]
        return floor, np.r_[1.0, np.full(self.domain.d, self.domain.reach)] - floor

    @property
    def _columns(self) -> NDArray[np.intp]:
        """Where the axes stand in a scaled record (t, Z)."""
        return np.asarray(np.r_[0, 1 + self.domain.intercept + np.arange(self.domain.d)])

    def codes(self, X: ArrayLike, y: ArrayLike) -> Codes:
        """Return the code of each record's cell, of shape (n,); records outside the box are clipped to it.

        A value on the edge of two cells is in the upper one. Places are found in the user's units, where whole numbers
        are exact, and the one division comes last: rounding moves none of them across an edge.
        """
        rows, target = self.domain.records(X, y)
        ends = np.array([self.domain.response, *zip(self.domain.lower, self.domain.upper, strict=True)])
        small = np.ldexp(1.0, -np.frexp(np.abs(ends).max(axis=1))[1])  # powers of two, against overflow
        low, high = ends.T * small
        cells, exact = np.array(self.cells), np.array(self.exact)
        out = np.empty(len(rows), dtype=np.int64)
        block = np.empty((min(BLOCK, len(rows)), len(cells)))
        for start in range(0, len(rows), BLOCK):
            X_part, y_part = rows[start : start + BLOCK], target[start : start + BLOCK]
            checks.all_finite(y_part, "y", start)
            checks.all_finite(X_part, "X", start)
            part = block[: len(X_part)]
            part[:, 0], part[:, 1:] = y_part, X_part
            np.clip(part, *ends.T, out=part)
            part *= small
            place = np.floor((part - low) * (cells - exact) / (high - low) + exact / 2)
            place = np.minimum(place, cells - 1).astype(np.int64)
            out[start : start + BLOCK] = np.ravel_multi_index(tuple(place.T), self.cells)
        return out

    def points(self, codes: ArrayLike) -> FloatArray:
        """Return the scaled records (t, Z) that these cells stand for, of shape (k, p + 1)."""
        wanted = checks.numeric(codes, "codes")
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or not ((wanted >= 0) & (wanted < self.size)).all():
            raise InputError(f"codes are not all whole numbers from 0 to {self.size - 1}: give codes of this grid")
        table, rest = np.ones((self.domain.p + 1, len(wanted))), wanted
        for size, values in self._tables:
            above = rest // size
            place = rest - above * size
            for column, value in values:
                table[column] = value(place)
            rest = above
        return table.T

    @cached_property
    def _tables(self) -> list[tuple[int, list[tuple[int, Callable[..., FloatArray]]]]]:
        """Groups of neighbouring axes, the last first: their cells, and how a value follows from the place in them.

        A group has few cells, so that each value is looked up, or one axis.
        """
        found, stop = [], len(self.cells)
        while stop:
            start = next(k for k in range(stop) if k == stop - 1 or math.prod(self.cells[k:stop]) <= LOOKED_UP)
            size, columns = math.prod(self.cells[start:stop]), self._columns[start:stop].tolist()
            if size > LOOKED_UP:
                low, wide = self._frame
                values: list[Callable[..., FloatArray]] = [
                    partial(_values, low[start], wide[start], self.cells[start], self.exact[start])
                ]
            else:
                each = self.values(np.arange(size), slice(start, stop))
                values = [partial(np.take, value, mode="clip") for value in each]
            found.append((size, list(zip(columns, values, strict=True))))
            stop = start
        return found

    def values(self, codes: Codes, axes: slice = slice(None)) -> list[FloatArray]:
        """Return the scaled values on these axes, one array per axis; the codes are those of these axes alone."""
        if not self.cells[axes]:
            return []
        every = zip(*self._frame, self.cells, self.exact, strict=True)
        places = np.unravel_index(codes, self.cells[axes])
        return [_values(*axis, place) for axis, place in zip(list(every)[axes], places, strict=True)]

    def records(self, columns: Sequence[FloatArray]) -> FloatArray:
        """Return scaled records (t, Z) with these values, one array per axis, the constant column added."""
        shape = np.broadcast_shapes(*(np.shape(column) for column in columns))
        table = np.ones((*shape, self.domain.p + 1))
        for place, column in zip(self._columns, columns, strict=True):
            table[..., place] = column
        return table.reshape(-1, self.domain.p + 1)


def _values(low: float, wide: float, cells: int, exact: bool, place: NDArray[np.intp]) -> FloatArray:
    """Return the scaled values of these cells of one axis."""
    if cells < len(place):  # each value once, then look it up
        return np.take(_values(low, wide, cells, exact, np.arange(cells)), place)
    return np.asarray(low + wide * ((place + (1 - exact) / 2) / (cells - exact)))


@checked
def partition(
    domain: Box,
    cells: int,
    *,
    values: Sequence[int | None] | None = None,
    response: int | None = None,
    cap: int = CAP,
) -> Grid:
    """Return the grid with so many cells on each axis, or fewer if all of them would be more than the cap.

    An axis with at most so many values keeps one cell for each.

    Parameters
    ----------
    domain : Box
    cells : int
        At least two, such as `bandwidth` gives.
    values : d numbers or None, optional
        How many evenly spaced values a predictor can take: two for a binary one. None is for a continuous one.
    response : int, optional
        The same for the response: two for labels.
    cap : int
        Largest number of cells of the grid.

    Examples
    --------
    >>> box = Box([0.0, 18.0], [1.0, 90.0], response=(0.0, 1e5))
    >>> partition(box, 25, values=[2, 73]).cells, partition(box, 25, values=[2, 73], cap=200).cells
    ((25, 2, 25), (10, 2, 10))
    """
    known = [response, *([None] * domain.d if values is None else values)]
    if len(known) != domain.d + 1:
        raise InputError(f"values has {len(known) - 1} entries: give {domain.d}, one per predictor")
    limits = [math.inf if k is None else checks.count(k, "response" if k is response else "values", 2) for k in known]
    checks.count(cap, "cap")

    def sizes(most: int) -> tuple[int, ...]:
        return tuple(int(min(most, limit)) for limit in limits)

    fitting = range(2, checks.count(cells, "cells", 2) + 1)
    most = 1 + bisect.bisect_right(fitting, cap, key=lambda most: math.prod(sizes(most)))
    if most < 2:
        raise InputError(f"even two cells per axis are more than the cap of {cap}: drop predictors or raise the cap")
    return Grid(domain, sizes(most), tuple(limit <= most for limit in limits))
