"""What the mechanisms state that release noisy counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit.residuals import laplace_loss
from dpreg.audit.statement import Declared, Sample, Setting, Step
from dpreg.checks import FloatArray
from dpreg.mechanisms import filter_priority, histogram
from dpreg.mechanisms.grid import Grid, partition
from dpreg.noise import RandomState
from dpreg.pipeline import objective, solve
from dpreg.pipeline.domain import Box
from dpreg.pipeline.ledger import Ledger


def _grid(s: Setting) -> Grid:
    assert isinstance(s.domain, Box)
    return partition(s.domain, 3 if s.domain.d < 5 else 2)


def _dense(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
    cells = histogram.count(X, y, _grid(s))
    out = np.zeros(cells.grid.size)
    out[cells.codes] = cells.counts
    return out


def _dpme(mode: histogram.Mode) -> Callable[..., tuple[FloatArray, Ledger]]:
    def run(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
        cells = histogram.count(X, y, _grid(s))
        out = histogram.dpme(cells, s.epsilon, seed, mode=mode, neighbours=s.neighbours)
        return np.concatenate([slab.ravel() for slab in out.slabs()]), out.ledger

    return run


def _filtered(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
    grid = _grid(s)
    cells = histogram.count(X, y, grid)
    out = filter_priority.filter_priority(cells, s.epsilon, grid.size, seed, level=1, neighbours=s.neighbours)
    dense = np.zeros(grid.size)
    dense[out.codes] = out.weights
    return dense, out.ledger


def _counts(run: Callable[..., Any]) -> Callable[[Setting], tuple[Step, ...]]:
    def steps(s: Setting) -> tuple[Step, ...]:
        (spend,) = run(np.empty((0, s.domain.d)), np.empty(0), s, 1)[1]
        scale = np.full(_grid(s).size, spend.scale)
        return (
            Step("counts", lambda X, y: _dense(X, y, s), lambda change: laplace_loss(change, scale), spend.epsilon),
        )

    return steps


def _full(size: int, count: int) -> histogram.Histogram:
    grid = Grid(Box([0.0], [1.0], (0.0, 1.0)), (2, size // 2), (False, False))
    codes = np.arange(grid.size if count else 0)
    return histogram.Histogram(grid, codes, np.full(len(codes), max(count, 1)))


def _dpme_samples(mode: histogram.Mode) -> Callable[[Setting, int, np.random.Generator], list[Sample]]:
    """Draw all counts of full cells; where counts are clipped, also of empty ones, of which half show their noise."""

    def samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
        def run(count: int) -> tuple[FloatArray, float]:
            out = histogram.dpme(_full(size, count), s.epsilon, rng, mode=mode, neighbours=s.neighbours)
            return np.concatenate([slab.ravel() for slab in out.slabs()]) - count, out.ledger.spends[0].scale

        drawn, scale = run(1000)
        full = Sample("Laplace", drawn.reshape(-1, 2) / scale, stats.laplace, 1.0)
        if mode == "signed":
            return [full]
        empty = np.asarray(run(0)[0] / scale)
        shown = Sample("noise of empty cells above zero", empty[empty > 0, None], stats.expon, 1.0)
        return [
            full,
            shown,
            Sample("empty cells above zero", (empty > 0)[:, None].astype(np.float64), stats.bernoulli(0.5), 0.5),
        ]

    return samples


def _filtered_samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw all counts of full cells, and what becomes of empty cells and of those just below the level."""
    level, every = 3, size // 2 * 2

    def run(count: int, level: int) -> tuple[FloatArray, float]:
        out = filter_priority.filter_priority(
            _full(size, count), s.epsilon, size + 1, rng, level=level, neighbours=s.neighbours
        )
        return out.weights, out.ledger.spends[0].scale

    def passed(values: FloatArray) -> FloatArray:
        return np.asarray(rng.permutation(np.arange(every) < len(values))[:, None] * 1.0)

    (full, scale), (vacant, _), (low, _) = run(1000, 1), run(0, level), run(level - 1, level)
    alpha = math.exp(-1 / scale)
    chances = alpha**level / (1 + alpha), alpha / (1 + alpha)
    return [
        Sample("two-sided geometric", full[:, None] - 1000, stats.dlaplace(1 / scale), 2 * alpha / (1 - alpha**2)),
        Sample("excess of empty cells", vacant[:, None] - level + 1, stats.geom(1 - alpha), 1 / (1 - alpha)),
        Sample("empty cells that pass", passed(vacant), stats.bernoulli(chances[0]), chances[0]),
        Sample("cells below the level that pass", passed(low), stats.bernoulli(chances[1]), chances[1]),
    ]


def _cells_fit(mode: str) -> Callable[[FloatArray, FloatArray, Setting, RandomState], FloatArray]:
    def fit(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        cells = histogram.count(X, y, _grid(s))
        out: histogram.Cells
        if mode == "dpme":
            out = histogram.dpme(cells, s.epsilon, seed, neighbours=s.neighbours)
        else:
            size = cells.grid.size
            out = filter_priority.filter_priority(cells, s.epsilon, size, seed, neighbours=s.neighbours)
        return solve.minimise(out.objective())

    return fit


def _cells_goal(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
    cells = histogram.count(X, y, _grid(s))
    table = cells.grid.points(cells.codes)
    return solve.minimise(objective.from_gram((table.T * cells.counts) @ table, s.domain))


ALL = (
    Declared(
        "DPME",
        _dpme("signed"),
        _counts(_dpme("signed")),
        _dpme_samples("signed"),
        norms=("L1",),
        exact=_dense,
        fit=_cells_fit("dpme"),
        goal=_cells_goal,
    ),
    Declared("DPME, clipped", _dpme("clip"), _counts(_dpme("clip")), _dpme_samples("clip"), norms=("L1",)),
    Declared(
        "Filter-Priority",
        _filtered,
        _counts(_filtered),
        _filtered_samples,
        norms=("L1",),
        fit=_cells_fit("filter"),
        goal=_cells_goal,
    ),
)
