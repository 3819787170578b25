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
from dpreg.sweeps import experiment
from dpreg.sweeps.methods import Method
from dpreg.sweeps.moment_methods import adassp, gradient_descent
from dpreg.sweeps.splits import Holdout
from lib.data.census import census
from lib.data.datasets import Dataset, kdd_heads, wine

STEPS = 100  # of gradient descent
LARGE = 10_000  # records: from there on few splits, and many draws of the noise
SPLITS, DRAWS = 100, 25
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
    return [*drawn, theirs, experiment.constant("private mean")]


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
    """Return the methods with a delta: ours, equal weights as Analyze Gauss has them, AdaSSP and gradient descent.

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
    ['Gaussian', 'Analyze Gauss', 'AdaSSP', 'descent']
    """
    ours = partial(mean_first, box, n=n, delta=checks.chance(delta, "delta"))
    equal = partial(for_delta, box, delta=delta, weights=np.ones(box.p + 1))
    return [
        experiment.mechanism("Gaussian", box, ours),
        experiment.mechanism("Analyze Gauss", box, equal),
        adassp("AdaSSP", box, delta),
        gradient_descent("descent", box, delta, STEPS),
    ]


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
    box, n = data.box(intercept=True), data.n - round(HELD_OUT * data.n)
    methods = [experiment.constant("mean", private=False), experiment.no_privacy("no privacy")]
    methods += [*pure(box, n), *with_delta(box, n, delta)]
    splits, draws = (SPLITS // DRAWS, DRAWS) if data.n > LARGE else (SPLITS, 1)
    budgets = np.repeat(np.asarray(epsilons, float), draws).tolist()
    frame = experiment.sweep(data.X, data.y, box, methods, budgets, Holdout(splits, HELD_OUT))
    means = frame[frame["method"] == "mean"].set_index("repeat")["value"]
    frame["value"] /= frame["repeat"].map(means)
    return experiment.summarise(frame[frame["method"] != "mean"], by=("method", "epsilon"))
