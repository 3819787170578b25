"""Histograms, and DPME: a noisy count for every cell of a public grid, and regression on the weighted cells.

The grid is joint: the response is an axis like the predictors. A noisy histogram then gives every M-estimator, as
the weighted cells are a data set of their own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms.grid import Codes, Grid
from dpreg.noise import RandomState
from dpreg.pipeline import newton
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.newton import Sums
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic, from_gram

Mode = Literal["clip", "signed", "threshold"]

SLAB = 2**18  # noisy counts held at a time, or one row of the last axis if that is longer
CHANGED: dict[Neighbours, int] = {"replace": 2, "add_remove": 1}  # L1 sensitivity of the counts


@checked
@dataclass(frozen=True, eq=False)
class Histogram:
    """The exact counts of a data set, of its non-empty cells only. Private: nothing here has noise.

    Those of disjoint shards merge with `+`. The arrays are copied and cannot be written to: a noisy grid draws its
    noise again whenever it is read, and the same noise on other counts would give both away.

    Parameters
    ----------
    grid : Grid
    codes : array of shape (k,), increasing
    counts : array of shape (k,), at least one each

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.mechanisms.grid import partition
    >>> grid = partition(Box([0.0], [1.0], response=(0.0, 1.0)), 2)
    >>> one, other = count([[0.1], [0.2]], [0.9, 0.8], grid), count([[0.3], [0.9]], [0.9, 0.9], grid)
    >>> (one + other).codes.tolist(), (one + other).counts.tolist()
    ([2, 3], [3, 1])
    """

    grid: Grid
    codes: Codes
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        codes, counts = checks.numeric(self.codes, "codes"), checks.numeric(self.counts, "counts")
        whole = {codes.dtype.kind, counts.dtype.kind} <= {*"iu"}
        if codes.ndim != 1 or codes.shape != counts.shape or not whole:
            raise InputError("codes and counts do not match: give whole numbers, one count per code")
        inside = not codes.size or (codes[0] >= 0 and codes[-1] < self.grid.size)
        if not inside or (codes[1:] <= codes[:-1]).any() or (counts < 1).any():
            raise InputError("codes do not increase within the grid, or a count is below one: build it with count")
        for name, array in (("codes", codes), ("counts", counts)):
            kept = array.astype(np.int64)
            kept.setflags(write=False)
            object.__setattr__(self, name, kept)

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    def __add__(self, other: Histogram) -> Histogram:
        if not isinstance(other, Histogram):
            return NotImplemented
        if self.grid != other.grid:
            raise InputError("the two histograms have different grids: count both on the same one")
        codes, place = np.unique(np.concatenate([self.codes, other.codes]), return_inverse=True)
        counts = np.zeros(len(codes), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Histogram(self.grid, codes, counts)


@checked
def count(X: ArrayLike, y: ArrayLike, grid: Grid) -> Histogram:
    """Return the histogram of the records, clipped to the grid's domain.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.mechanisms.grid import partition
    >>> grid = partition(Box([0.0], [1.0], response=(0.0, 1.0)), 2)
    >>> count([[0.1], [0.2], [7.0]], [0.9, 0.8, 0.1], grid).counts.tolist()
    [1, 2]
    """
    return tally(grid.codes(X, y), grid)


@checked
def tally(codes: Codes, grid: Grid) -> Histogram:
    """Return the histogram of records with these codes of the grid's cells, of shape (n,), as `grid.codes` gives them.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.mechanisms.grid import partition
    >>> tally(np.array([3, 1, 3]), partition(Box([0.0], [1.0], response=(0.0, 1.0)), 2)).counts.tolist()
    [1, 2]
    """
    return Histogram(grid, *np.unique(codes, return_counts=True))


class Cells(ABC):
    """Published cells with weights, a data set for any estimator. What is computed from them is free."""

    grid: Grid
    ledger: Ledger

    @abstractmethod
    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Return an iterator over blocks of scaled records (t, Z), of shape (k, p + 1), and their weights (k,)."""

    def moments(self) -> FloatArray:
        """Return the weighted sum of (t, x)(t, x)', of shape (p + 1, p + 1), the response first."""
        gram = np.zeros((self.grid.domain.p + 1,) * 2)
        for records, weights in self.blocks():
            gram += (records.T * weights) @ records
        return gram

    @checked
    def objective(self, loss: Loss = SQUARED) -> Quadratic:
        """Return the weighted quadratic objective. It has no domain: it is released already."""
        if loss.labels:
            self._check_labels()
        return replace(from_gram(self.moments(), self.grid.domain, loss), domain=None)

    @checked
    def logistic(self, *, ridge: float = 0.0, start: ArrayLike | None = None) -> FloatArray:
        """Return the weighted logistic regression of a response with two cells; see `newton.newton`.

        From zero the first step leads to the minimiser of the Taylor expansion, which is so no better start.
        """
        self._check_labels()
        return newton.descend(self._logistic_sums(), self.grid.domain.p, ridge=ridge, start=start)

    @abstractmethod
    def _logistic_sums(self) -> Sums:
        """Return loss, gradient and Hessian as a function of theta. The weights are drawn or read once."""

    def _check_labels(self) -> None:
        if (self.grid.cells[0], self.grid.exact[0]) != (2, True):  # midpoints of two cells are half the labels
            raise InputError("the response has no cell for each of two labels: give a grid with response=2")


@checked
@dataclass(frozen=True, eq=False)
class Part:
    """Some cells of a grid, (a, b): their records are the sums rows[a] + inside[b], so no product runs over all cells.

    Parameters
    ----------
    rows : array of shape (k, p + 1)
        Values on the outer axes, the response's and the constant among them.
    inside : array of shape (m, p + 1)
        Values on the inner axes.
    weights : array of shape (k, m)

    Examples
    --------
    >>> part = Part(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 2.0]]), np.ones((2, 1)))
    >>> part.gram(part.weights).tolist(), part.total(part.weights).tolist()
    ([[2.0, 0.0], [0.0, 8.0]], [0.0, 4.0])
    """

    rows: FloatArray
    inside: FloatArray
    weights: FloatArray

    def gram(self, weights: FloatArray) -> FloatArray:
        """Return the sum of weight (t, x)(t, x)' over the cells, for any weights of shape (k, m)."""
        rows, inside = self.rows, self.inside
        cross = rows.T @ (weights @ inside)
        square = (rows.T * weights.sum(axis=1)) @ rows + (inside.T * weights.sum(axis=0)) @ inside
        return np.asarray(square + cross + cross.T)

    def total(self, weights: FloatArray) -> FloatArray:
        """Return the sum of weight (t, x) over the cells."""
        return np.asarray(self.rows.T @ weights.sum(axis=1) + self.inside.T @ weights.sum(axis=0))


@checked
@dataclass(frozen=True, eq=False)
class NoisyGrid(Cells):
    """A noisy count for every cell of a grid, drawn slab by slab and anew, the same, whenever it is read.

    So no more than a slab is ever in memory. The price is that the object still refers to the exact counts: publish
    what you compute from it, never the object. It cannot be copied or pickled.

    Parameters
    ----------
    grid : Grid
    slabs : function without arguments
        Returns an iterator over the noisy counts in the order of their codes, in arrays of shape (rows, inner).
    ledger : Ledger
    """

    grid: Grid
    slabs: Callable[[], Iterator[FloatArray]]
    ledger: Ledger

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InputError("a noisy grid refers to the exact counts: keep its moments(), objective() or blocks() instead")

    def _parts(self) -> Iterator[Part]:
        outer, first = _outer(self.grid), 0
        axes = len(self.grid.cells)
        inner = self.grid.values(np.arange(math.prod(self.grid.cells[outer:])), slice(outer, None))
        inside = self.grid.records([*np.zeros(outer), *inner])
        inside[:, 1] *= not self.grid.domain.intercept  # the constant is in the outer part
        for slab in self.slabs():
            values = self.grid.values(np.arange(first, first + len(slab)), slice(outer))
            yield Part(self.grid.records([*values, *np.zeros(axes - outer)]), inside, slab)
            first += len(slab)

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Return an iterator, as in `Cells`; cells without weight are left out."""
        for part in self._parts():
            kept = np.flatnonzero(part.weights)
            yield (part.rows[:, None] + part.inside).reshape(-1, part.rows.shape[1])[kept], part.weights.ravel()[kept]

    def moments(self) -> FloatArray:
        """Return the moments, as in `Cells`."""
        return np.asarray(sum(part.gram(part.weights) for part in self._parts()))

    def _logistic_sums(self) -> Sums:
        parts = list(self._parts())  # the noisy counts of all cells: up to `grid.CAP` numbers
        ones = np.sum([part.total(part.weights * (part.rows[:, :1] > 0))[1:] for part in parts], axis=0)  # label one

        def sums(theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            value, slope, curvature = -float(ones @ theta), -ones, np.zeros((len(theta), len(theta)))
            for part in parts:
                z = (part.rows[:, 1:] @ theta)[:, None] + part.inside[:, 1:] @ theta
                losses, chance, bend = newton.pointwise(z)
                value += float(np.vdot(part.weights, losses))
                slope += part.total(part.weights * chance)[1:]
                curvature += part.gram(part.weights * bend)[1:, 1:]
            return value, slope, curvature

        return sums

    @property
    def deviation(self) -> float:
        """Largest standard deviation of the noise on a diagonal entry of M, signed counts, scaled units."""
        powers = [float((axis**4).mean()) for axis in self.grid.axes[1:]]
        largest = max(powers + [1.0] * self.grid.domain.intercept)
        return math.sqrt(2 * self.grid.size * largest) * self.ledger.spends[-1].scale


@checked
def dpme(
    histogram: Histogram,
    epsilon: float,
    random_state: RandomState = None,
    *,
    mode: Mode = "clip",
    level: float | None = None,
    neighbours: Neighbours = "replace",
    budget: Budget | None = None,
) -> NoisyGrid:
    """Release a noisy count for every cell, empty ones included: Laplace noise of scale 2 / epsilon, or 1 / epsilon.

    Parameters
    ----------
    histogram : Histogram
    epsilon : float
    random_state : None, int, SeedSequence or Generator
        `None` for a real release, as in `release.release`.
    mode : {"clip", "signed", "threshold"}
        What becomes of the noisy counts: negative ones to zero; left as they are; those below `level` to zero.
    level : float, optional
        Public. By default b log m, for noise of scale b on m cells: the largest of m draws is about as large.
    neighbours : {"replace", "add_remove"}
        Under replace the counts change by 2 in all, otherwise by 1.
    budget : Budget, optional
        Charged before the noise is drawn.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.mechanisms.grid import partition
    >>> grid = partition(Box([0.0], [1.0], response=(0.0, 1.0)), 2)
    >>> out = dpme(count([[0.1], [0.2], [0.9]], [0.9, 0.8, 0.1], grid), 1.0, random_state=1, mode="signed")
    >>> out.ledger.epsilon, [weights.shape for _, weights in out.blocks()]
    (1.0, [(4,)])
    """
    grid, relation = histogram.grid, checks.neighbours(neighbours)
    scale = CHANGED[relation] / checks.budget(epsilon)
    lowest = {"clip": 0.0, "signed": -math.inf, "threshold": scale * math.log(grid.size)}
    floor = lowest[checks.choice(mode, get_args(Mode), "mode")]
    if level is not None:
        if mode != "threshold" or checks.finite(level, "level") < 0:
            raise InputError(f"level is {level:g} and mode {mode!r}: give a level of at least zero, and 'threshold'")
        floor = level
    spend = spent(histogram, f"noisy counts of all {grid.size} cells", "Laplace", relation, scale)
    seed, ledger = pay(spend, noise.repeatable, random_state, budget)
    return NoisyGrid(grid, _Slabs(histogram, seed, scale, floor), ledger)


@dataclass(frozen=True, eq=False)
class _Slabs:
    """The noisy counts, drawn anew from one seed. It holds all that must stay secret, so it goes nowhere."""

    histogram: Histogram
    seed: np.random.SeedSequence
    scale: float
    floor: float

    def __call__(self) -> Iterator[FloatArray]:
        codes, counts, size = self.histogram.codes, self.histogram.counts, self.histogram.grid.size
        rng, inner = noise.generator(self.seed), math.prod(self.histogram.grid.cells[_outer(self.histogram.grid) :])
        step = max(1, SLAB // inner)
        for first in range(0, size // inner, step):
            slab = noise.laplace(self.scale, (min(step, size // inner - first), inner), rng)
            start, stop = np.searchsorted(codes, [first * inner, first * inner + slab.size])
            slab.ravel()[codes[start:stop] - first * inner] += counts[start:stop]
            yield np.where(slab >= self.floor, slab, 0.0)

    __reduce_ex__ = NoisyGrid.__reduce_ex__


@checked
def spent(histogram: Histogram, released: str, mechanism: str, neighbours: Neighbours, scale: float) -> Spend:
    """Return the ledger entry of noise with this scale on every cell's count.

    Parameters
    ----------
    histogram : Histogram
    released, mechanism : str
    neighbours : {"replace", "add_remove"}
    scale : float
    """
    checks.within_reach(checks.positive(scale, "scale"), "scale")
    cost = float(CHANGED[neighbours]), scale, CHANGED[neighbours] / scale
    return Spend(released, mechanism, neighbours, "L1", *cost, caveat=histogram.grid.domain.caveat)


def _outer(grid: Grid) -> int:
    """How many leading axes index the rows of a slab, the response's first: the others have no more cells than that."""
    fits = (k for k in range(1, len(grid.cells)) if math.prod(grid.cells[k:]) <= math.isqrt(SLAB))
    return next(fits, len(grid.cells) - 1)
