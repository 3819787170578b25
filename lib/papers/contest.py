"""Methods of linear regression at equal certified guarantees, and the tasks they are compared on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn import datasets

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import InputError
from dpreg.mechanisms.budget_split import dpba
from dpreg.mechanisms.gaussian import for_delta
from dpreg.mechanisms.k_norm import hull
from dpreg.mechanisms.mean_first import mean_first
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Law, certify, functional
from dpreg.pipeline.objective import TAYLOR
from dpreg.pipeline.surrogates import chebyshev
from dpreg.sweeps import experiment
from dpreg.sweeps.methods import Method, RowMethod
from dpreg.sweeps.moment_methods import adassp, gradient_descent
from dpreg.sweeps.perturbation_methods import k_norm_gradient, labels, squares
from dpreg.sweeps.row_methods import logistic_descent, logistic_regression, objective_perturbation
from dpreg.sweeps.splits import Holdout
from dpreg.sweeps.theil_sen import theil_sen
from dpreg.sweeps.tukey import tukey_em
from lib.data.census import above, census
from lib.data.datasets import Dataset, kdd_heads, wine

STEPS = 100  # of gradient descent
BESIDE = ("default", "hull", "objective", "Gaussian", "AdaSSP", "objective, delta")  # TukeyEM and Theil-Sen
LARGE = 10_000  # records: from there on few splits, and many draws of the noise
SPLITS, DRAWS = 100, 25
LABEL_SPLITS, FEW = 30, 6  # of few records with labels, and of many
RIDGE = 0.5  # without privacy, where a plane may separate the labels: what scikit-learn adds by default
HELD_OUT = 0.2
INNER = [k for k in range(64) if 0 < k % 8 < 7 and k != 36]  # pixels of a digit: neither the rim nor the middle
WINE = {"lower": [0, 0, 0, 50, *[0] * 8], "upper": [8, 5, 40, 200, 6, 8, 1, 5, 15, 3, 5, 2000]}
TUMOUR = [50, 250, 3000, 0.25, 0.5, 0.5, 0.3, 0.4, 0.15]


@checked
def pure(box: Box, n: int) -> list[Method]:
    """Return the methods with pure privacy, each of which spends all of epsilon as it is certified.

    The functional mechanism (001) with its ridge and trim, the scales of DPBA (004) with our lift, and ours.

    Parameters
    ----------
    box : Box
        With an intercept.
    n : int
        Number of training records.

    Examples
    --------
    >>> [method.name for method in pure(Box([0.0], [1.0], (0.0, 1.0), intercept=True), 100)][:2]
    ['default', 'Wishart']
    """
    laws: dict[str, Any] = {"default": partial(mean_first, box, n=n), "Wishart": difference(box, 1.0)}
    laws["Laplace"] = functional(box, 1.0)
    laws["DPBA (004)"] = exactly(dpba(box, 1.0), box)
    if box.d == 1:
        laws["hull"] = hull(box, 1.0)
    drawn = [experiment.mechanism(name, box, law) for name, law in laws.items()]
    theirs = experiment.functional_mechanism("FM (001)", box, convention="copied")
    gradient = [k_norm_gradient("K-norm gradient", box)] if box.d == 1 else []
    return [*drawn, theirs, squares("objective", box), *gradient, experiment.constant("private mean")]


@checked
def exactly(law: Law, domain: Box) -> Law:
    """Return the noise of a law, scaled so that it costs an epsilon of one.

    Examples
    --------
    >>> box = Box([0.0], [1.0], (0.0, 1.0), intercept=True)
    >>> round(certify(exactly(functional(box, 7.0), box), box), 12)
    1.0
    """
    return law.times(certify(law, domain))


@checked
def with_delta(box: Box, n: int, delta: float) -> list[Method]:
    """Return the methods with a delta: ours, equal weights as Analyze Gauss has them, and three rivals.

    The rivals are AdaSSP, objective perturbation and gradient descent.

    Parameters
    ----------
    box : Box
        With an intercept.
    n : int
        Number of training records.
    delta : float

    Examples
    --------
    >>> [method.name for method in with_delta(Box([0.0], [1.0], (0.0, 1.0), intercept=True), 100, 1e-6)]
    ['Gaussian', 'Analyze Gauss', 'AdaSSP', 'objective, delta', 'descent']
    """
    ours = partial(mean_first, box, n=n, delta=checks.chance(delta, "delta"))
    equal = partial(for_delta, box, delta=delta, weights=np.ones(box.p + 1))
    return [
        experiment.mechanism("Gaussian", box, ours),
        experiment.mechanism("Analyze Gauss", box, equal),
        adassp("AdaSSP", box, delta),
        squares("objective, delta", box, delta),
        gradient_descent("descent", box, delta, STEPS),
    ]


@checked
def for_labels(box: Box, delta: float) -> list[RowMethod | Method]:
    """Return the methods of logistic regression, of which two have a delta and one has no privacy.

    Ours; objective perturbation in the L2 norm with even shares; the Wishart difference on a quadratic; the functional
    mechanism (001) with its ridge and trim; the likelier label; and with a delta, objective perturbation and descent.

    Examples
    --------
    >>> [method.name for method in for_labels(Box([0.0], [1.0], (0.0, 1.0), intercept=True), 1e-6)][:3]
    ['no privacy', 'default', 'objective, L2']
    """
    wide = chebyshev(4.0)
    return [
        logistic_regression("no privacy", ridge=RIDGE),
        objective_perturbation("default", norm="K"),
        objective_perturbation("objective, L2"),
        experiment.mechanism("quadratic", box, difference(box, 1.0, loss=wide), loss=wide),
        experiment.functional_mechanism("FM (001)", box, convention="copied", loss=TAYLOR),
        experiment.constant("likelier label"),
        labels("objective, delta", box, delta),
        logistic_descent("descent", box, delta, STEPS),
    ]


@checked
def labelled() -> dict[str, Dataset]:
    """Return the tasks with two labels: tumours, digits, white wines twice, real heads, and generated ones.

    The bounds of the tumours are read off the records, as if they were public: all methods get the same.

    Examples
    --------
    >>> {name: data.X.shape for name, data in labelled().items()}["odd digits"]
    (1797, 64)
    """
    tumours, digits = datasets.load_breast_cancer(), datasets.load_digits()
    low, high = tumours.data.min(axis=0), tumours.data.max(axis=0)
    return {
        "malignant tumours": _task(tumours.data, tumours.target, low, high, (0, 1)),
        "odd digits": _task(digits.data, digits.target % 2, [0] * 64, [16] * 64, (0, 1)),
        "wines, 6 or more": above(wine(), 5.5),
        "wines, 7 or more": above(wine(), 6.5),
        "heads of 1994": kdd_heads("test"),
        "generated heads": above(census("US", 20_000), 50_000.0),
    }


@checked
def tasks() -> dict[str, Dataset]:
    """Return the tasks by name: tables of scikit-learn, white wines, real heads, and generated ones.

    The bounds of scikit-learn's tables are round numbers around the records, which we had seen.

    Examples
    --------
    >>> {name: data.X.shape for name, data in tasks().items()}["digits"]
    (1797, 47)
    """
    irises, cultivars = datasets.load_iris().data, datasets.load_wine().data
    tumours, digits = datasets.load_breast_cancer().data, datasets.load_digits().data
    patients, bottles, us = datasets.load_diabetes(), wine(), census()
    return {
        "petals": _task(irises[:, 2:3], irises[:, 3], [0], [10], (0, 5)),
        "irises": _task(irises[:, :3], irises[:, 3], [0] * 3, [10] * 3, (0, 5)),
        "cultivars": _task(cultivars[:, 1:], cultivars[:, 0], WINE["lower"], WINE["upper"], (8, 16)),
        "diabetes": _task(patients.data, patients.target, [-0.2] * 10, [0.2] * 10, (0, 400)),
        "tumours": _task(tumours[:, 1:10], tumours[:, 0], [0] * 9, TUMOUR, (0, 40)),
        "digits": _task(digits[:, INNER], digits[:, 36], [0] * 47, [16] * 47, (0, 16)),
        "white wines": picked(bottles, bottles.names[:-1], bottles.names[-1]),  # alcohol, from all but the quality
        "heads of 1994": kdd_heads(),
        "Brazil": census("BR", 190_000),
        "US": us,
        "US, schooling": picked(us, ["education"], us.response_name),
    }


def _task(X: ArrayLike, y: ArrayLike, lower: Any, upper: Any, response: tuple[float, float]) -> Dataset:
    names = tuple(f"x{j}" for j in range(len(lower)))
    bounds = dict(zip(names, zip(lower, upper, strict=True), strict=True)) | {"y": response}
    return Dataset(np.asarray(X, float), np.asarray(y, float), names, "y", bounds, "bundled with scikit-learn, BSD")


@checked
def picked(data: Dataset, names: Sequence[str], response: str) -> Dataset:
    """Return some columns of a table as predictors, and one as the response.

    Examples
    --------
    >>> picked(wine(), ["density"], "alcohol").names
    ('density',)
    """
    columns = dict(zip(data.names, data.X.T, strict=True)) | {data.response_name: data.y}
    if missing := [name for name in (*names, response) if name not in columns]:
        raise InputError(f"{missing[0]!r} is no column: choose among {', '.join(columns)}")
    X = np.stack([columns[name] for name in names], axis=1)
    bounds = {name: data.bounds[name] for name in (*names, response)}
    return Dataset(X, columns[response], tuple(names), response, bounds, data.source)


@checked
def errors(data: Dataset, epsilons: Sequence[float], delta: float) -> pd.DataFrame:
    """Return medians of test errors over that of the mean of the training records, as `experiment.summarise` does.

    A fifth is held out, 100 times, or 4 times with 25 draws of the noise where there are many records.

    Parameters
    ----------
    data : Dataset
    epsilons : sequence of float
    delta : float

    Examples
    --------
    >>> few = picked(wine(), ["density"], "alcohol")
    >>> frame = errors(few, [1.0], 1e-6)
    >>> sorted(frame["method"])[:3]
    ['AdaSSP', 'Analyze Gauss', 'DPBA (004)']
    """
    box, n = data.box(intercept=True), training(data)
    methods = [experiment.no_privacy("no privacy"), *pure(box, n), *with_delta(box, n, delta)]
    return experiment.summarise(relative(data, methods, epsilons, SPLITS, DRAWS), by=("method", "epsilon"))


@checked
def training(data: Dataset) -> int:
    """Return how many records of a task are trained on.

    Examples
    --------
    >>> training(wine())
    3918
    """
    return data.n - round(HELD_OUT * data.n)


@checked
def relative(
    data: Dataset, methods: Sequence[Method | RowMethod], epsilons: Sequence[float], splits: int, each: int
) -> pd.DataFrame:
    """Return the test errors of methods over that of the mean of the training records, a row for each split and draw.

    Parameters
    ----------
    data : Dataset
    methods : sequence of Method or RowMethod
    epsilons : sequence of float
    splits, each : int
        Splits, with one draw each; where there are many records, so many draws of each of fewer splits.

    Examples
    --------
    >>> few = picked(wine(), ["density"], "alcohol")
    >>> len(relative(few, [experiment.no_privacy("plain")], [1.0], 20, 5))
    20
    """
    splits, each = (splits // each, each) if data.n > LARGE else (splits, 1)
    budgets = np.repeat(np.asarray(epsilons, float), each).tolist()
    every = [experiment.constant("mean", private=False), *methods]
    frame = experiment.sweep(data.X, data.y, data.box(intercept=True), every, budgets, Holdout(splits, HELD_OUT))
    means = frame[frame["method"] == "mean"].set_index("repeat")["value"]
    frame["value"] /= frame["repeat"].map(means)
    return frame[frame["method"] != "mean"]


@checked
def more_rivals(
    data: Dataset,
    epsilons: Sequence[float],
    delta: float,
    *,
    sizes: Sequence[int] = (4,),
    beside: Sequence[str] = BESIDE,
) -> pd.DataFrame:
    """Return the summary of TukeyEM and, for one predictor, Theil-Sen, beside methods that `errors` has as well.

    Where TukeyEM's test fails, its error is that of the middle of the bounds. The column `failed` has the share of
    such fits.

    Parameters
    ----------
    data : Dataset
    epsilons : sequence of float
    delta : float
    sizes : sequence of int
        Records of a model of TukeyEM, for each column.
    beside : sequence of str
        Names of the other methods with privacy.

    Examples
    --------
    >>> few = picked(wine(), ["density"], "alcohol")
    >>> found = more_rivals(few, [0.1], 1e-6).set_index("method")
    >>> float(found.loc["TukeyEM, 4", "failed"])
    1.0
    """
    box, n = data.box(intercept=True), training(data)
    methods = [method for method in [*pure(box, n), *with_delta(box, n, delta)] if method.name in beside]
    tukey = [tukey_em(f"TukeyEM, {size}", delta, size=size) for size in sizes]
    lines = [theil_sen("Theil-Sen", box)] if box.d == 1 else []
    middle = Method("middle", lambda train, epsilons, rng: np.zeros((*train.batch, train.p)), private=False)
    frame = relative(
        data, [experiment.no_privacy("no privacy"), *methods, *tukey, *lines, middle], epsilons, SPLITS, DRAWS
    )
    public = frame[frame["method"] == "middle"].set_index("repeat")["value"]
    frame = frame.assign(failed=frame["value"].isna(), value=frame["value"].fillna(frame["repeat"].map(public)))
    by = ["method", "epsilon"]
    shares = frame.groupby(by)["failed"].mean().reset_index()
    return experiment.summarise(frame, by=by).merge(shares, on=by)


@checked
def wrong_labels(
    data: Dataset, epsilons: Sequence[float], delta: float, more: Sequence[RowMethod] = ()
) -> pd.DataFrame:
    """Return medians of the shares of held-out records whose label is wrong, as `experiment.summarise` does.

    A fifth is held out, 30 times, or 6 times where there are many records.

    Parameters
    ----------
    data : Dataset
    epsilons : sequence of float
    delta : float
    more : sequence of RowMethod
        Beside those of `for_labels`, such as a peer's.

    Examples
    --------
    >>> few = picked(above(wine(), 5.5), ["density"], "above")
    >>> frame = wrong_labels(few, [1.0], 1e-6)
    >>> sorted(frame["method"])[:3]
    ['FM (001)', 'default', 'descent']
    """
    box, splits = data.box(intercept=True), FEW if data.n > LARGE else LABEL_SPLITS
    methods, protocol = [*for_labels(box, delta), *more], Holdout(splits, HELD_OUT)
    frame = experiment.sweep(data.X, data.y, box, methods, epsilons, protocol, metrics=["misclassified"])
    return experiment.summarise(frame, by=("method", "epsilon"))
