"""Methods that read rows, for sweeps: Newton, objective perturbation, and regression on histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms import filter_priority as fp
from dpreg.mechanisms import grid, histogram
from dpreg.mechanisms import objective_perturbation as op
from dpreg.mechanisms.gaussian import mu_for
from dpreg.mechanisms.grid import Grid
from dpreg.mechanisms.histogram import Cells, Histogram, Mode, NoisyGrid
from dpreg.pipeline import logistic, repair, solve
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import TAYLOR, from_gram
from dpreg.sweeps.methods import RowMethod
from dpreg.sweeps.splits import Partition

FINEST = 16  # cells per axis at most for Filter-Priority: on native domains it returns noise only

Publish = Callable[[Histogram, float, np.random.Generator], Cells]


@checked
def logistic_regression(name: str = "no privacy", *, ridge: float = 0.0, repeats: int | None = None) -> RowMethod:
    """Return the method that minimises the logistic loss itself, by Newton's method; with a ridge, as in `newton`.

    Where a plane separates the labels there is no minimum without a ridge.

    Examples
    --------
    >>> logistic_regression().private
    False
    """

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        start = solve.minimise(partition.train(TAYLOR))[0, 0]
        found = []
        for X, y in partition.training_rows():
            Z, _ = partition.domain.scale(X, y)
            labels = y == partition.domain.response[1]
            start = logistic.fit(Z, labels, ridge=ridge, start=start)  # splits share most records
            found.append(start)
        return np.array(found)[:, None]

    return RowMethod(name, fit, private=False, repeats=repeats)


@checked
def objective_perturbation(
    name: str = "objective perturbation",
    *,
    norm: op.Norm = "L2",
    neighbours: Neighbours = "replace",
    repeats: int | None = None,
) -> RowMethod:
    """Return the method of Chaudhuri and others, which 001 excludes: see `mechanisms.objective_perturbation`.

    In the L2 norm with even shares, as 001 could have known it; in the K-norm as `PrivateLogisticRegression` uses it.

    Parameters
    ----------
    name : str
    norm : {"L2", "K"}
    neighbours : {"replace", "add_remove"}
    repeats : int, optional
        As in `RowMethod`.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> objective_perturbation(repeats=4).repeats
    4
    """

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        domain = partition.domain
        assert isinstance(domain, Box | Ball)
        share = 0.5 if norm == "L2" else op.share_for(domain.p)
        one = partial(op.objective_perturbation, share=share, norm=norm, neighbours=neighbours, random_state=rng)
        return np.array([[one(X, y, domain, e)[0] for e in epsilons] for X, y in partition.training_rows()])

    return RowMethod(name, fit, repeats=repeats)


@checked
def logistic_descent(name: str, domain: Box | Ball, delta: float, steps: int) -> RowMethod:
    """Return gradient descent on the logistic loss, each of whose gradients gets Gaussian noise.

    Under replace, with the number of records public. The gradient of a record x is no longer than x, at any theta, so a
    replacement moves the sum by twice the longest x. Each step gets mu / sqrt(steps), and is one over the largest
    curvature that n records can have. The answer is the mean of the second half of the steps.

    Parameters
    ----------
    name : str
    domain : Box or Ball
    delta : float
    steps : int

    Examples
    --------
    >>> logistic_descent("descent", Box([0.0], [1.0], (0.0, 1.0), intercept=True), 1e-6, 10).private
    True
    """
    checks.instance(domain, (Box, Ball), "domain")
    square, count = domain.longest, checks.count(steps, "steps")
    chance = checks.chance(delta, "delta")

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        deviation = 2 * np.sqrt(square * count) / mu_for(epsilons, chance)[:, None]
        found = []
        for X, y in partition.training_rows():
            Z, t = domain.scale(X, y)
            Z = np.asfortranarray(Z)  # sums over records are faster so
            (theta, mean), rate = np.zeros((2, len(epsilons), domain.p)), 4 / (square * len(Z))
            drawn, signed = noise.gaussian(deviation, (count, *theta.shape), rng), np.where(t > 0, 0.5, -0.5) @ Z
            for step in range(count):
                gradient = np.tanh(theta / 2 @ Z.T) / 2 @ Z - signed  # a chance is half of one and of this tangent
                theta = theta - rate * (gradient + drawn[step])
                if step >= count // 2:
                    mean = mean + theta
            found.append(mean / (count - count // 2))
        return np.array(found)

    return RowMethod(name, fit)


@checked
def dpme(
    name: str = "DPME",
    *,
    mode: Mode = "clip",
    labels: bool = False,
    values: Sequence[int | None] | None = None,
    c_h: float = 1.0,
    n: int | None = None,
    neighbours: Neighbours = "replace",
    repeats: int | None = None,
) -> RowMethod:
    """Return regression on a noisy histogram of all cells, as many per axis as `grid.bandwidth` says.

    Parameters
    ----------
    name : str
    mode : {"clip", "signed", "threshold"}
        As in `histogram.dpme`. Signed counts may make the moments indefinite: they are then trimmed at one standard
        deviation of the noise.
    labels : bool
        Logistic regression on two labels instead of least squares.
    values : d numbers or None, optional
        How many evenly spaced values each predictor can take, as in `grid.partition`. By default `grid.whole` of the
        domain, as if all counted or coded something.
    c_h : float
    n : int, optional
        Public number of records, for `grid.bandwidth`. By default that of the training records, which is public under
        replace only.
    neighbours : {"replace", "add_remove"}
    repeats : int, optional
        As in `RowMethod`.

    Examples
    --------
    >>> dpme(labels=True).name
    'DPME'
    """
    if checks.choice(mode, get_args(Mode), "mode") == "signed" and labels:
        raise InputError("mode is 'signed': negative weights can make the logistic loss unbounded, so choose 'clip'")
    publish = partial(_dpme, mode=mode, neighbours=_public(n, "n", neighbours))
    return RowMethod(name, _on_cells(name, publish, labels, values, c_h, n, signed=mode == "signed"), repeats=repeats)


@checked
def filter_priority(
    name: str = "FP",
    *,
    size: int | None = None,
    labels: bool = False,
    values: Sequence[int | None] | None = None,
    neighbours: Neighbours = "replace",
    repeats: int | None = None,
) -> RowMethod:
    """Return regression on what Filter-Priority publishes, with at most `FINEST` cells per axis.

    Parameters
    ----------
    name : str
    size : int, optional
        Published cells at most; by default the number of training records, which is public under replace only.
    labels, values, neighbours, repeats
        As in `dpme`.

    Examples
    --------
    >>> filter_priority(size=1000).private
    True
    """
    publish = partial(_filter_priority, size=size, neighbours=_public(size, "size", neighbours))
    return RowMethod(name, _on_cells(name, publish, labels, values, None, None), repeats=repeats)


def _public(number: int | None, name: str, neighbours: Neighbours) -> Neighbours:
    """Return the relation; where a record may be added or removed, a number of records must be given."""
    relation = checks.neighbours(neighbours)
    if number is not None:
        checks.count(number, name, 2)
    elif relation == "add_remove":
        raise InputError(f"{name} is None, and under add_remove the number of records is a secret: give a public guess")
    return relation


def _dpme(counts: Histogram, epsilon: float, rng: np.random.Generator, mode: Mode, neighbours: Neighbours) -> Cells:
    return histogram.dpme(counts, epsilon, rng, mode=mode, neighbours=neighbours)


def _filter_priority(
    counts: Histogram, epsilon: float, rng: np.random.Generator, size: int | None, neighbours: Neighbours
) -> Cells:
    return fp.filter_priority(counts, epsilon, size or counts.n, rng, neighbours=neighbours)


def _on_cells(
    name: str,
    publish: Publish,
    labels: bool,
    values: Sequence[int | None] | None,
    c_h: float | None,
    n: int | None,
    *,
    signed: bool = False,
) -> Callable[[Partition, FloatArray, np.random.Generator], FloatArray]:
    """Return the fit: count the training records on a public grid, publish, and regress on the weighted cells.

    On another scale of the same box the cells and their noise are the same, and the moments are a linear image. So
    views of a partition share codes and moments; where eigenvalues are trimmed, or labels fitted, the scale matters.
    """

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        box, memo = partition.domain, partition.memo
        checks.instance(box, Box, "domain")
        assert isinstance(box, Box)

        def counted(split: int, kept: NDArray[np.bool_], cells: Grid, on: Box) -> Histogram:
            if cells not in memo:
                memo[cells] = cells.codes(partition.X, partition.y)
            if (cells, split, on) not in memo:  # once for all budgets
                memo[cells, split, on] = histogram.tally(memo[cells][kept], replace(cells, domain=on))
            return cast(Histogram, memo[cells, split, on])

        found = []
        for split, kept in enumerate(partition.training()):
            cells, row = _grid(box.centred, n or int(kept.sum()), labels, values, c_h), []
            for place, epsilon in enumerate(map(float, epsilons)):
                if labels or signed:
                    row.append(_solved(publish(counted(split, kept, cells, box), epsilon, rng), labels))
                    continue
                key = (name, repr(publish), cells, split, place, *epsilons)
                if key not in memo:
                    memo[key] = publish(counted(split, kept, cells, box.centred), epsilon, rng).moments()
                f = from_gram(box.basis @ memo[key] @ box.basis.T, box)
                row.append(solve.minimise(replace(f, domain=None)))
            found.append(row)
        return np.array(found)

    return fit


def _grid(box: Box, n: int, labels: bool, values: Sequence[int | None] | None, c_h: float | None) -> Grid:
    known, response = grid.whole(box) if values is None else values, 2 if labels else None
    if c_h is None:
        return grid.partition(box, FINEST, values=known, response=response, cap=int(np.iinfo(np.int64).max))
    return grid.partition(box, grid.bandwidth(n, box.d + 1, c_h), values=known, response=response)


def _solved(cells: Cells, labels: bool) -> FloatArray:
    """Return the fit where the scale matters: on signed counts, which may make M indefinite, or of labels."""
    if labels:
        return cells.logistic()
    f = cells.objective()
    if isinstance(cells, NoisyGrid) and np.linalg.eigvalsh(f.M)[0] <= 0:
        f = repair.trim(f, cells.deviation)
    return solve.minimise(f)
