"""What one fit takes, from the user's rows to coefficients: seconds of the processor, and counts.

Seconds are for figures: which of two methods is faster may differ between processors. Counts are
the same anywhere, so what is judged are counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args
from unittest import mock

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lstsq
from sklearn.linear_model import LogisticRegression

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray
from dpreg.noise import RandomState
from dpreg.pipeline import logistic
from dpreg.pipeline import newton as solver
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.objective import check_labels, from_gram, moments
from dpreg.sweeps.methods import Method, RowMethod, check_methods
from dpreg.sweeps.splits import Partition

Solver = Literal["newton-cholesky", "lbfgs"]
RUNS = 10_000


@checked
def fit_times(
    methods: Sequence[Method | RowMethod],
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    epsilons: Sequence[float] = (0.8,),
    *,
    runs: int = 3,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Return the shortest time of one fit of all records, by method and budget, in seconds of the processor.

    Clipping, scaling, and noise count; the test does not, and neither does what else the machine does meanwhile. The
    runs of the methods alternate, because other work slows a processor, too.

    Parameters
    ----------
    methods : sequence of Method or RowMethod
    X, y : arrays of shape (n, d) and (n,), in the user's units
    domain : Domain
    epsilons : sequence of float
        Methods without privacy are timed once.
    runs : int
    random_state : None, int or SeedSequence

    Returns
    -------
    DataFrame with columns method, epsilon, seconds
        Without privacy epsilon is infinite.

    Examples
    --------
    >>> from lib.data.census import census
    >>> from dpreg.sweeps.experiment import no_privacy
    >>> data = census("US", 1000)
    >>> frame = fit_times([no_privacy("least squares")], data.X, data.y, data.box())
    >>> frame.columns.tolist(), bool(frame["seconds"][0] > 0)
    (['method', 'epsilon', 'seconds'], True)
    """
    pairs, rows, target, root = _tasks(methods, X, y, domain, epsilons, random_state)
    times = np.full((checks.count(runs, "runs", most=RUNS), len(pairs)), np.inf)
    for run in range(runs):
        for k, (method, epsilon) in enumerate(pairs):
            rng = noise.spawn(root, run, k)
            start = time.process_time()
            _fit(method, rows, target, domain, epsilon, rng)
            times[run, k] = time.process_time() - start
    return _frame(pairs, seconds=times.min(axis=0))


@dataclass
class Count:
    """How often something was done.

    Parameters
    ----------
    rows : int
        Records that were clipped and scaled.
    exponentials : int
        Records or cells whose logistic loss was taken: one exponential serves the loss and its two derivatives.

    Examples
    --------
    >>> Count().rows
    0
    """

    rows: int = 0
    exponentials: int = 0


@contextmanager
def counted() -> Iterator[Count]:
    """Return a context that counts what this process does within it.

    Examples
    --------
    >>> from lib.data.census import census
    >>> data = census("US", 1000)
    >>> with counted() as count:
    ...     table = data.box().table(data.X, data.y)
    >>> count
    Count(rows=1000, exponentials=0)
    """
    count = Count()
    scale_block, pointwise = Domain.scale_block, solver.pointwise

    def scaled(self: Domain, X: NDArray[Any], y: NDArray[Any], *more: Any) -> None:
        count.rows += len(y)
        scale_block(self, X, y, *more)

    def taken(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        count.exponentials += z.size
        return pointwise(z)

    with ExitStack() as both:
        both.enter_context(mock.patch.object(Domain, "scale_block", scaled))
        both.enter_context(mock.patch.object(solver, "pointwise", taken))
        yield count


@checked
def counts(
    methods: Sequence[Method | RowMethod],
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    epsilons: Sequence[float] = (0.8,),
    *,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Return what one fit of all records counts, by method and budget: the first of those that `fit_times` times.

    Solvers of other libraries are not counted.

    Parameters
    ----------
    methods, X, y, domain, epsilons, random_state
        As in `fit_times`.

    Returns
    -------
    DataFrame with columns method, epsilon, rows, exponentials
        As in `Count`.

    Examples
    --------
    >>> from lib.data.census import above, census
    >>> data = above(census("US", 1000), 50_000)
    >>> counts([newton()], data.X, data.y, data.box(intercept=True))[["rows", "exponentials"]].values.tolist()
    [[1000, 7000]]
    """
    pairs, rows, target, root = _tasks(methods, X, y, domain, epsilons, random_state)
    found = []
    for k, (method, epsilon) in enumerate(pairs):
        with counted() as count:
            _fit(method, rows, target, domain, epsilon, noise.spawn(root, 0, k))
        found.append(count)
    rows_read, exponentials = ([getattr(count, name) for count in found] for name in ("rows", "exponentials"))
    return _frame(pairs, rows=rows_read, exponentials=exponentials)


Task = tuple[Method | RowMethod, float]


def _tasks(
    methods: Sequence[Method | RowMethod],
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    epsilons: Sequence[float],
    random_state: RandomState,
) -> tuple[list[Task], FloatArray, FloatArray, np.random.SeedSequence]:
    """Return each method with each budget, the checked rows and the seed."""
    budgets = np.atleast_1d(checks.epsilons(epsilons))
    check_methods(methods)
    rows, target = checks.rows(X, y, domain.d, least=2)
    pairs = [(method, float(epsilon)) for method in methods for epsilon in (budgets if method.private else [np.inf])]
    return pairs, rows, target, noise.seed_sequence(random_state)


def _frame(pairs: list[Task], **columns: Any) -> pd.DataFrame:
    keys = {"method": [method.name for method, _ in pairs], "epsilon": [epsilon for _, epsilon in pairs]}
    return pd.DataFrame(keys | columns)


def _fit(
    method: Method | RowMethod,
    X: FloatArray,
    y: FloatArray,
    domain: Domain,
    epsilon: float,
    rng: np.random.Generator,
) -> FloatArray:
    budget = np.array([epsilon if method.private else 1.0])
    if isinstance(method, Method):
        return method.fit(from_gram(moments(X, y, domain), domain, method.loss)[None, None], budget, rng)
    return method.fit(_All(X, y, np.empty((len(y), 0)), domain, np.zeros(len(y), np.int16), ()), budget, rng)


class _All(Partition):
    """All records as the training set of one split, with no test set."""

    def __post_init__(self) -> None:
        pass

    def training(self) -> Iterator[NDArray[np.bool_]]:
        """Yield that all records are used."""
        yield np.ones(len(self.y), dtype=bool)

    def training_rows(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield all records, without a copy."""
        yield self.X, self.y


@checked
def scikit_learn(solver: Solver) -> RowMethod:
    """Return logistic regression without privacy by one of scikit-learn's solvers, at its default tolerance.

    Examples
    --------
    >>> scikit_learn("lbfgs").name
    'scikit-learn, lbfgs'
    """
    checks.choice(solver, get_args(Solver), "solver")

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        found = []
        for X, y in partition.training_rows():
            Z, _ = partition.domain.scale(X, y)
            model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver, max_iter=1000)
            found.append(model.fit(Z, y == partition.domain.response[1]).coef_)
        return np.array(found)

    return RowMethod(f"scikit-learn, {solver}", fit, private=False)


@checked
def newton(name: str = "no privacy") -> RowMethod:
    """Return logistic regression without privacy by `logistic.fit`, started at zero, as a single fit is.

    Examples
    --------
    >>> newton().private
    False
    """

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        pairs = partition.training_rows()
        labels = partition.domain.response[1]
        return np.array([[logistic.fit(partition.domain.scale(X, y)[0], y == labels)] for X, y in pairs])

    return RowMethod(name, fit, private=False)


@checked
def orthogonal(name: str = "least squares by QR") -> RowMethod:
    """Return least squares from the rows, by an orthogonal decomposition with pivoting, as Matlab's backslash does it.

    Examples
    --------
    >>> orthogonal().private
    False
    """

    def fit(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        scaled = (partition.domain.scale(X, y) for X, y in partition.training_rows())
        return np.array([[lstsq(Z, t, lapack_driver="gelsy")[0]] for Z, t in scaled])

    return RowMethod(name, fit, private=False)


@checked
def passes(X: ArrayLike, y: ArrayLike, domain: Domain, *, start: ArrayLike | None = None) -> int:
    """Return how often Newton's method reads the records; a quadratic objective reads them once.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
    domain : Domain
    start : array of shape (p,), optional
        Zero by default.

    Examples
    --------
    >>> from lib.data.census import above, census
    >>> data = above(census("US", 1000), 50_000)
    >>> passes(data.X, data.y, data.box(intercept=True))
    7
    """
    check_labels(y, domain)
    Z, t = domain.scale(X, y)
    with counted() as count:
        logistic.fit(Z, t > 0, start=start)
    return count.exponentials // len(Z)
