"""Sweeps over many views of the same records: some of their columns, on several scales, with a number or a label.

Whatever a view's fits need are linear images of the moments of all columns. So each partition is added up once, for all
views: fewer columns are a submatrix, and another public scale is a change of basis.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.noise import RandomState
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import check_labels
from dpreg.sweeps import methods, scores, splits
from dpreg.sweeps.methods import Columns, Method, RowMethod
from dpreg.sweeps.scores import Fit, Metric
from dpreg.sweeps.shared import Shared
from dpreg.sweeps.splits import CrossValidation, Holdout, Partition, Protocol


@checked
@dataclass(frozen=True, eq=False)
class View:
    """Methods that read the records in one way.

    Parameters
    ----------
    domain : Box
        Of this view. On every column all views have the same bounds; scales and constant may differ.
    methods : sequence of Method or RowMethod
    epsilons : sequence of float
    columns : sequence of int
        Which predictors, in the order of the domain.
    response : int
        Which response.
    metrics : sequence of str
        As in `experiment.sweep`.
    tags : dict, optional
        Columns that the view's rows get in the result, to tell them apart.

    Examples
    --------
    >>> from dpreg.sweeps.experiment import no_privacy
    >>> View(Box([0.0], [1.0], (0.0, 10.0)), [no_privacy("plain")], [1.0], [4]).domain.d
    1
    """

    domain: Box
    methods: Sequence[Method | RowMethod]
    epsilons: Sequence[float]
    columns: Sequence[int]
    response: int = 0
    metrics: Sequence[Metric] = ("mse",)
    tags: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        methods.check_methods(self.methods)
        checks.epsilons(self.epsilons)
        scores.check_metrics(self.metrics)
        if len(self.columns) != self.domain.d:
            raise InputError(f"columns are {list(self.columns)}: give {self.domain.d}, one per predictor of the domain")


@checked
def survey(
    X: ArrayLike,
    Y: ArrayLike,
    views: Sequence[View],
    protocol: Protocol,
    *,
    random_state: RandomState = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """Return the test errors of all views, as `experiment.sweep` would of each: same partitions, same noise.

    Parameters
    ----------
    X : array of shape (n, d), in the user's units
    Y : array of shape (n, r)
        The responses, one per column, such as a number and a label made of it.
    views : sequence of View
    protocol : CrossValidation or Holdout
    random_state : None, int or SeedSequence
    jobs : int
        joblib workers. The result does not depend on it.

    Returns
    -------
    DataFrame with the columns of `sweep` and those of the views' tags

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dpreg.sweeps.experiment import Holdout, no_privacy
    >>> X, y = load_diabetes(return_X_y=True)
    >>> two = View(Box([-0.2] * 2, [0.2] * 2, (0, 400)), [no_privacy("plain")], [1.0], [0, 1], tags={"columns": 2})
    >>> survey(X, y[:, None], [two], Holdout(1))["columns"].tolist()
    [2]
    """
    if not views:
        raise InputError("views is empty: give at least one")
    for view in views:
        checks.instance(view, View, "a view")
    checks.instance(protocol, (CrossValidation, Holdout), "protocol")
    responses = np.asarray(checks.numeric(Y, "Y"), dtype=np.float64)
    if responses.ndim != 2 or responses.shape[1] == 0:
        raise InputError(f"Y has shape {responses.shape}: give one column per response")
    rows, _ = checks.rows(X, responses[:, 0], least=2)
    whole = _whole(views, rows.shape[1], responses.shape[1])
    for view in views:
        if scores.needs_labels(view.methods, view.metrics):
            check_labels(responses[:, view.response], view.domain)
    table = _table(rows, responses, whole)
    total = splits.totals(table, protocol)
    pairs = [(view, method) for view in views for method in view.methods]
    alike = [(method.name, view.response, *view.columns, *np.atleast_1d(view.epsilons)) for view, method in pairs]
    tasks = methods.plan([method for _, method in pairs], protocol.repeats, jobs, alike)
    root = noise.seed_sequence(random_state)
    shared = Shared(pairs)
    calls = (
        delayed(_partition)(rows, responses, table, total, whole, shared, some, protocol, root, repeat)
        for repeat, some in tasks
    )
    return methods.gathered(tasks, Parallel(n_jobs=jobs, return_as="generator")(calls))


def _whole(views: Sequence[View], d: int, responses: int) -> tuple[Box, ...]:
    """Return one box per response, over all columns, scaled to [-1, 1], with a constant: the basis of every view."""
    bounds: dict[tuple[str, int], tuple[float, float]] = {}
    for view in views:
        box = view.domain
        own = {
            ("column", int(j)): ends
            for j, ends in zip(view.columns, zip(box.lower, box.upper, strict=True), strict=True)
        }
        for key, ends in (own | {("response", view.response): box.response}).items():
            if bounds.setdefault(key, ends) != ends:
                raise InputError(f"{key[0]} {key[1]} has bounds {bounds[key]} and {ends}: give all views the same")
    for kind, most in (("column", d), ("response", responses)):
        if missing := {j for name, j in bounds if name == kind} - set(range(most)):
            raise InputError(
                f"a view asks for {kind} {min(missing)}, and there are {most}: they count from 0, give another"
            )
    lower, upper = zip(*(bounds.get(("column", j), (0.0, 1.0)) for j in range(d)), strict=True)  # unused ones have any
    known = [bounds.get(("response", k), (0.0, 1.0)) for k in range(responses)]
    return tuple(Box(lower, upper, response, intercept=True) for response in known)


def _table(X: NDArray[Any], Y: FloatArray, whole: Sequence[Box]) -> FloatArray:
    """Return the scaled records of all columns, the responses first: (t_1, ..., t_r, 1, Z)."""
    first = whole[0].table(X, Y[:, 0])
    if len(whole) == 1:
        return first
    one = [Box(box.lower[:1], box.upper[:1], box.response) for box in whole[1:]]
    more = [box.table(X[:, :1], target)[:, 0] for box, target in zip(one, Y.T[1:], strict=True)]
    return np.column_stack([first[:, 0], *more, first[:, 1:]])


def _basis(view: View, d: int, responses: int) -> FloatArray:
    """Return the matrix that makes the view's scaled record (t, x) of all that is scaled: see `Box.basis`."""
    columns = np.r_[view.response, responses, responses + 1 + np.asarray(view.columns)]
    A = np.zeros((view.domain.p + 1, responses + 1 + d))
    A[:, columns] = view.domain.basis
    return A


@dataclass(frozen=True, eq=False)
class _Seen(Partition):
    """A partition as a view has it. Its table, and so its test rows, are those of all columns.

    Parameters
    ----------
    whole : Partition
        Of all columns; its table holds all responses, (t_1, ..., t_r, 1, Z).
    view : View
    A : from `_basis`
    """

    whole: Partition
    view: View
    A: FloatArray

    def __post_init__(self) -> None:
        pass  # `whole` was checked

    @cached_property
    def grams(self) -> tuple[FloatArray, FloatArray]:
        """As in `Partition`, of the view's own columns on its own scales."""
        test, total = (self.A @ gram @ self.A.T for gram in self.whole.grams)
        return test, total

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many records each test set has."""
        return self.whole.sizes

    @property
    def memo(self) -> dict[Hashable, Any]:
        """What methods have found that other views can use."""
        return self.whole.memo

    @cached_property
    def test_rows(self) -> list[tuple[FloatArray, FloatArray]]:
        """All columns of each test set, those of the responses too, and the view's response."""
        return [(rows, rows[:, self.view.response]) for rows in self.whole.tests]

    def on_test_rows(self, theta: FloatArray) -> FloatArray:
        """Return the coefficients on the columns that `test_rows` has: zero for the responses."""
        return np.asarray(theta @ self.A[1:])


def _partition(
    X: FloatArray,
    Y: FloatArray,
    table: FloatArray,
    total: FloatArray | None,
    whole: Sequence[Box],
    pairs: Shared[list[tuple[View, Method | RowMethod]]],
    some: Sequence[int],
    protocol: Protocol,
    root: np.random.SeedSequence,
    repeat: int,
) -> list[list[Columns]]:
    """Return the test errors of these methods on one partition, in their order."""
    all_of = splits.draw(X, Y, table, whole[0], protocol, noise.spawn(root, repeat, 0), total)
    fits: list[Fit] = []
    for view, group in groupby([pairs.value[k] for k in some], key=lambda pair: pair[0]):
        own = [method for _, method in group]
        columns = list(view.columns) if any(isinstance(method, RowMethod) for method in own) else []
        records = all_of.X[:, columns], all_of.y[:, view.response], all_of.table
        A = _basis(view, X.shape[1], len(whole))
        seen = _Seen(*records, view.domain, all_of.labels, all_of.tested, all_of, view, A)
        fits += [
            Fit(seen, keys | view.tags, theta, (view.response, *view.metrics), view.metrics)
            for keys, theta in methods.fitted(seen, own, np.atleast_1d(view.epsilons), root, repeat)
        ]
    return scores.scored(fits)
