"""Filter-Priority: a noisy histogram of a domain too large to write down, at a cost that follows its output.

Noise on every cell, a filter that keeps the large counts, and a weighted sample of those. Only the non-empty cells are
touched; what the empty ones would have contributed is drawn from its exact law.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms.grid import Codes, Grid
from dpreg.mechanisms.histogram import CHANGED, Cells, Histogram, spent
from dpreg.noise import RandomState
from dpreg.pipeline import newton
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.domain import BLOCK
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.newton import Sums


@checked
@dataclass(frozen=True, eq=False)
class Summary(Cells):
    """Published cells, each with a weight, and what they cost.

    Parameters
    ----------
    grid : Grid
    codes : array of shape (k,), increasing
    weights : array of shape (k,)
    ledger : Ledger
    """

    grid: Grid
    codes: Codes
    weights: FloatArray
    ledger: Ledger

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Return an iterator, as in `Cells`."""
        for start in range(0, len(self.codes), BLOCK):
            part = slice(start, start + BLOCK)
            yield self.grid.points(self.codes[part]), self.weights[part]

    def _logistic_sums(self) -> Sums:
        parts = [(records[:, 1:], (records[:, 0] > 0).astype(float), weights) for records, weights in self.blocks()]
        return newton.over(lambda: iter(parts))


@checked
def passing(alpha: float, level: int) -> float:
    """Return the probability alpha^level / (1 + alpha) that an empty cell passes the filter.

    Examples
    --------
    >>> passing(0.5, 2)
    0.16666666666666666
    """
    checks.count(level, "level")
    return checks.chance(alpha, "alpha") ** level / (1 + alpha)


@checked
def filter_level(cells: int, size: int, alpha: float) -> int:
    """Return the smallest level from one on at which at most `size` empty cells are expected to pass.

    Examples
    --------
    >>> filter_level(10**12, 1000, 0.5)
    30
    """
    ratio = checks.count(cells, "cells") / (checks.count(size, "size") * (1 + checks.chance(alpha, "alpha")))
    return max(1, math.ceil(math.log(ratio) / -math.log(alpha)))


@checked
def priority(values: ArrayLike, size: int, random_state: RandomState = None) -> tuple[NDArray[np.intp], FloatArray]:
    """Return a priority sample: the indices of at most `size` of the values, increasing, and their weights.

    Each value v gets the priority v / u with uniform u. The largest are kept, with weight max(v, tau), where tau is
    the largest priority that is not. The weights then estimate the sum of any subset of the values without bias.

    Parameters
    ----------
    values : array of shape (k,), above zero
    size : int
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> kept, weights = priority([5.0, 1.0, 1.0, 1.0], 2, random_state=1)
    >>> len(kept), bool((weights >= 1).all())
    (2, True)
    """
    v = np.asarray(checks.numeric(values, "values"), dtype=np.float64)
    if v.ndim != 1 or not np.isfinite(v).all() or (v <= 0).any():
        raise InputError("values are not all above zero and finite, in one dimension: give such an array")
    rng = noise.generator(random_state)
    if len(v) <= checks.count(size, "size"):
        return np.arange(len(v)), v
    rank = v / (1 - rng.random(len(v)))
    order = np.argpartition(-rank, size)
    kept = np.sort(order[:size])
    return kept, np.maximum(v[kept], rank[order[size]])


@checked
def filter_priority(
    histogram: Histogram,
    epsilon: float,
    size: int,
    random_state: RandomState = None,
    *,
    level: int | None = None,
    neighbours: Neighbours = "replace",
    budget: Budget | None = None,
) -> Summary:
    """Release at most `size` cells with weights: two-sided geometric noise, a one-sided filter, a priority sample.

    Parameters
    ----------
    histogram : Histogram
    epsilon : float
    size : int
        Public, such as the public number of records. Never derive it from the number of non-empty cells.
    random_state : None, int, SeedSequence or Generator
        `None` for a real release, as in `release.release`.
    level : int, optional
        Noisy counts below it are dropped. By default `filter_level` of the public numbers.
    neighbours : {"replace", "add_remove"}
    budget : Budget, optional
        Charged before the noise is drawn.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.mechanisms.grid import Grid
    >>> from dpreg.mechanisms.histogram import count
    >>> grid = Grid(Box([0.0], [1.0], response=(0.0, 1.0)), (10**6, 10**6), (False, False))
    >>> out = filter_priority(count([[0.1], [0.1], [0.9]], [0.9, 0.9, 0.1], grid), 1.0, 100, random_state=1)
    >>> out.ledger.epsilon, len(out.codes) <= 100, grid.size
    (1.0, True, 1000000000000)
    """
    relation = checks.neighbours(neighbours)
    scale = CHANGED[relation] / checks.budget(epsilon)
    alpha = max(math.exp(-1 / scale), sys.float_info.min)  # the noise is zero for both
    if alpha == 1:
        raise InputError(f"epsilon is {epsilon:g}, and its noise has no decay that a float can tell: give a larger one")
    most = checks.count(size, "size")
    at = filter_level(histogram.grid.size, most, alpha) if level is None else checks.count(level, "level")
    if at > np.iinfo(np.int64).max // 2:
        raise InputError(f"level is {at}, which no count reaches: give a smaller one")
    spend = spent(histogram, f"at most {most} of {histogram.grid.size} cells", "two-sided geometric", relation, scale)

    def sample(state: RandomState) -> tuple[Codes, FloatArray]:
        rng = noise.generator(state)
        codes, values = survivors(histogram, alpha, at, rng)
        kept, weights = priority(values, most, rng)
        return codes[kept], weights

    drawn, ledger = pay(spend, sample, random_state, budget)
    return Summary(histogram.grid, *drawn, ledger)


@checked
def survivors(
    histogram: Histogram, alpha: float, level: int, random_state: RandomState = None
) -> tuple[Codes, NDArray[np.int64]]:
    """Return the cells that pass the filter, as if all had been given noise: increasing codes, and noisy counts.

    Parameters
    ----------
    histogram : Histogram
    alpha : float
        Of the two-sided geometric noise.
    level : int
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.mechanisms.grid import Grid
    >>> from dpreg.mechanisms.histogram import count
    >>> grid = Grid(Box([0.0], [1.0], response=(0.0, 1.0)), (10**6, 10**6), (False, False))
    >>> codes, counts = survivors(count([[0.1], [0.9]], [0.9, 0.1], grid), 0.5, 30, random_state=1)
    >>> len(codes) < 2000, bool((counts >= 30).all())
    (True, True)
    """
    rng = noise.generator(random_state)
    noisy = histogram.counts + noise.geometric(alpha, histogram.counts.shape, rng)
    kept = noisy >= checks.count(level, "level")
    vacant = histogram.grid.size - len(histogram.codes)
    # Of a Poisson number of uniform draws each empty cell gets its own Poisson number, independently: at least one
    # with the probability of passing. The binomial of numpy is off for 10^15 cells and more.
    drawn = np.sort(rng.integers(vacant, size=rng.poisson(-vacant * math.log1p(-passing(alpha, level)))))
    ranks = drawn[np.diff(drawn, prepend=-1) > 0]  # np.unique hashes, and is slower
    # The empty cell of rank r comes after as many non-empty ones as have at most r empty ones before them.
    empty = ranks + np.searchsorted(histogram.codes - np.arange(len(histogram.codes)), ranks, side="right")
    excess = level - 1 + rng.geometric(1 - alpha, ranks.shape)
    codes, values = np.concatenate([histogram.codes[kept], empty]), np.concatenate([noisy[kept], excess])
    order = np.argsort(codes)  # any other would tell which cells were empty
    return codes[order], values[order]
