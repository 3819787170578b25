"""Sweeps over splits, methods and budgets, computed from fold moments and never from rows twice.

The records are scaled once. Each partition costs one pass that adds up the moments of every fold; training
moments are the total minus a fold. Noise, repair, solution and test error then work on stacks of p x p matrices.
Only labels are counted row by row, in one matrix product for all coefficients, and only a `RowMethod` reads rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from tqdm import tqdm  # not tqdm.auto: in a notebook without widgets it warns

from dpreg import checks, limits, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.noise import RandomState
from dpreg.pipeline import laws, repair, solve
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.laws import Convention, Law
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic, check_labels
from dpreg.pipeline.release import perturb
from dpreg.pipeline.solve import NONE, Penalty
from dpreg.sweeps import splits
from dpreg.sweeps.methods import Columns, Method, RowMethod, check_methods, fitted, gathered, plan
from dpreg.sweeps.scores import Fit, Metric, check_metrics, needs_labels, scored
from dpreg.sweeps.shared import Shared
from dpreg.sweeps.splits import CrossValidation, Holdout, Protocol

PATIENCE = 2.0  # seconds before a progress bar appears


@checked
def no_privacy(name: str, penalty: Penalty = NONE, *, loss: Loss = SQUARED) -> Method:
    """Return the method that minimises its objective: with a quadratic for the logistic loss, 001's Truncated.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.
    """
    return Method(name, lambda train, epsilons, rng: solve.minimise(train, penalty), private=False, loss=loss)


@checked
def mechanism(
    name: str,
    domain: Domain,
    law: Law | Callable[[FloatArray], Law],
    *,
    repair: Callable[[Quadratic, Law], Quadratic] = repair.lift,
    penalty: Penalty = NONE,
    solver: Callable[[Quadratic, Penalty], FloatArray] = solve.minimise,
    loss: Loss = SQUARED,
) -> Method:
    """Return the method that adds noise, makes the objective convex and minimises it.

    Parameters
    ----------
    name : str
    domain : Domain
    law : Law or function of an array of epsilons
        The noise at epsilon one; at other budgets it is `law.times(1 / epsilon)`. Or what makes the noise of all
        budgets, where it does not go with 1 / epsilon, as that of `mean_first.mean_first`.
    repair : function of (noisy objective, law)
        Such as `repair.lift` or `repair.bound`.
    penalty : Penalty
    solver : function of (objective, penalty)
    loss : Loss
        For which the noise was made.

    Examples
    --------
    >>> from dpreg import Box
    >>> from dpreg.mechanisms.wishart import difference
    >>> box = Box([0.0], [1.0], response=(0.0, 1.0))
    >>> mechanism("Wishart difference", box, difference(box, 1.0)).private
    True
    """

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        if train.domain not in (None, domain):
            raise InputError(f"{name!r} has the noise for another domain than the records': use one for both")
        scaled = law.times(1 / epsilons) if isinstance(law, Law) else law(epsilons)
        return solver(repair(perturb(train, scaled, rng), scaled), penalty)

    return Method(name, fit, loss=loss)


@checked
def constant(name: str, *, private: bool = True) -> Method:
    """Return the method that predicts the mean of the response, with Laplace noise on its sum if it is private.

    For a domain with an intercept, and neighbours that replace a record.

    Parameters
    ----------
    name : str
    private : bool

    Examples
    --------
    >>> constant("the mean", private=False).private
    False
    """

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        total = -train.v[..., 0] / 2
        if private:  # one record moves the sum of scaled responses by 2
            total = total + noise.laplace(2 / epsilons, np.broadcast_shapes(total.shape, epsilons.shape), rng)
        theta = np.zeros((*total.shape, train.p))
        theta[..., 0] = np.clip(total / train.M[..., 0, 0], -1.0, 1.0)
        return theta

    return Method(name, fit, private)


@checked
def functional_mechanism(
    name: str,
    domain: Domain,
    *,
    sensitivity: Literal["tight", "printed"] = "tight",
    convention: Convention = "triangle",
    neighbours: Neighbours = "replace",
    ridge: float | None = 4.0,
    floor: float | None = 0.0,
    penalty: Penalty = NONE,
    solver: Callable[[Quadratic, Penalty], FloatArray] = solve.minimise,
    loss: Loss = SQUARED,
) -> Method:
    """Return the functional mechanism followed by 001's repairs.

    Parameters
    ----------
    name : str
    domain : Domain
    sensitivity, convention, neighbours, loss
        As in `laws.functional`.
    ridge : float or None
        Ridge in standard deviations of the noise on the diagonal; None for none.
    floor : float or None
        Eigenvalues to trim, in the same unit; None not to trim, and then an indefinite draw is refused.
    penalty : Penalty
    solver : function of (objective, penalty)

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> from dpreg import Box
    >>> functional_mechanism("tight noise", Box([0.0], [1.0], response=(0.0, 1.0)), ridge=4.0).private
    True
    """
    unit = laws.functional(
        domain, 1.0, sensitivity=sensitivity, convention=convention, neighbours=neighbours, loss=loss
    )

    def repaired(noisy: Quadratic, law: Law) -> Quadratic:
        if ridge is not None:
            noisy = repair.ridge(noisy, ridge * law.deviation)
        if floor is not None:
            noisy = repair.trim(noisy, floor * law.deviation)
        return noisy

    return mechanism(name, domain, unit, repair=repaired, penalty=penalty, solver=solver, loss=loss)


@checked
def sweep(
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    methods: Sequence[Method | RowMethod],
    epsilons: Sequence[float],
    protocol: Protocol,
    *,
    random_state: RandomState = 0,
    metrics: Sequence[Metric] = ("rmse",),
    jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Return test errors of every method, budget and split, in the units of the response.

    The result depends on the seed alone, not on the number of workers or on which other methods take part.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
    domain : Domain
    methods : sequence of Method or RowMethod
    epsilons : sequence of float
    protocol : CrossValidation or Holdout
    random_state : None, int or SeedSequence
    metrics : sequence of {"mse", "rmse", "misclassified", "logistic", "auc"}
        The last three are of a response with two labels, the ends of `domain.response`; see `dpreg.sweeps.scores`.
    jobs : int
        joblib workers; -1 for one per processor. They run on the backend that `joblib.parallel_config` chose.
    progress : bool
        Show a bar, one step per task, if the sweep takes more than two seconds. The environment variable
        TQDM_DISABLE=1, which tqdm reads, hides every bar: the book and its tests run with it.

    Returns
    -------
    DataFrame with columns method, epsilon, repeat, fold, metric, value
        One row per number. Methods without privacy appear once, with epsilon infinite.

    Examples
    --------
    >>> from dpreg import Box
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> box = Box([-0.2] * 10, [0.2] * 10, response=(0.0, 400.0), intercept=True)
    >>> frame = sweep(X, y, box, [no_privacy("least squares")], [1.0], Holdout(repeats=2))
    >>> frame.shape, bool(50 < frame.value.mean() < 60)
    ((2, 6), True)
    """
    budgets = np.atleast_1d(checks.epsilons(epsilons))
    checks.instance(protocol, (CrossValidation, Holdout), "protocol")
    check_methods(methods)
    check_metrics(metrics)
    rows, target = checks.rows(X, y, domain.d, least=2)
    if needs_labels(methods, metrics):
        check_labels(target, domain)
    root = noise.seed_sequence(random_state)
    table = domain.table(rows, target)
    records = rows, target, table, domain
    total, tasks = splits.totals(table, protocol), plan(methods, protocol.repeats, jobs)
    shared = Shared(list(methods))
    calls = (
        delayed(_partition)(records, total, shared, some, budgets, protocol, root, repeat, tuple(metrics))
        for repeat, some in tasks
    )
    results = Parallel(n_jobs=jobs, return_as="generator")(calls)
    bar = tqdm(results, total=len(tasks), delay=PATIENCE) if progress else results
    return gathered(tasks, bar)


def _partition(
    records: tuple[FloatArray, FloatArray, FloatArray, Domain],
    total: FloatArray | None,
    methods: Shared[list[Method | RowMethod]],
    some: Sequence[int],
    epsilons: FloatArray,
    protocol: Protocol,
    root: np.random.SeedSequence,
    repeat: int,
    metrics: tuple[Metric, ...],
) -> list[list[Columns]]:
    partition = splits.draw(*records, protocol, noise.spawn(root, repeat, 0), total)
    fits = fitted(partition, [methods.value[k] for k in some], epsilons, root, repeat)
    return scored([Fit(partition, keys, theta, None, metrics) for keys, theta in fits])


@checked
def summarise(
    frame: pd.DataFrame, low: float = 0.2, high: float = 0.8, *, by: Sequence[str] = ("metric", "method", "epsilon")
) -> pd.DataFrame:
    """Return median, band, mean and variance over splits for each method and budget, or whatever columns `by` names.

    `error` is the standard error of the median, from the order statistics half a root of n to either side of the
    middle, which needs no law of the values. Values within one partition are treated as independent.

    Parameters
    ----------
    frame : DataFrame, as `sweep` returns it
    low, high : float
        Quantiles of the band.
    by : sequence of str
        Columns that tell the groups apart.

    Examples
    --------
    >>> frame = pd.DataFrame({"method": "a", "epsilon": 1.0, "metric": "mse", "value": [1.0, 2.0, 3.0]})
    >>> summarise(frame)["median"].tolist()
    [2.0]
    """
    if not 0 <= low < high <= 1:
        raise InputError(f"the band is ({low:g}, {high:g}): give two quantiles, the lower one first")

    def error(values: pd.Series) -> float:
        if len(values) == 1:
            return float("nan")  # one value says nothing about its spread
        half = 0.5 / np.sqrt(len(values))
        return float(np.ptp(np.nanquantile(values, [max(0.0, 0.5 - half), min(1.0, 0.5 + half)])) / 2)

    if not by:
        raise InputError("by is empty: give some of the frame's columns")
    limits.has(frame, ["value"], "frame")
    if missing := [name for name in by if name not in frame]:
        raise InputError(f"by is {list(by)}, but the frame has no column {missing[0]!r}: give some of its columns")
    groups = frame.groupby(list(by), sort=False)["value"]
    found = groups.agg(error=error, mean="mean", variance="var", count="count")
    for place, (name, share) in enumerate({"median": 0.5, "low": low, "high": high}.items()):
        found.insert(place, name, groups.quantile(share))
    return found.reset_index()
