"""Sweeps over views of the same records, against one sweep for each view."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import TAYLOR
from dpreg.sweeps import row_methods
from dpreg.sweeps.experiment import CrossValidation, Holdout, functional_mechanism, no_privacy, sweep
from dpreg.sweeps.splits import draw
from dpreg.sweeps.views import View, survey

rng = np.random.default_rng(5)
N, D = 400, 4
LOWER, UPPER = np.array([0.0, -2.0, 1.0, 0.0]), np.array([5.0, 3.0, 9.0, 1.0])
X = LOWER + (UPPER - LOWER) * rng.beta(2, 1, (N, D))
Y = np.column_stack([3 * X[:, 0] - X[:, 1] + rng.normal(0, 1, N), rng.integers(0, 2, N)])
BOUNDS = [(-10.0, 20.0), (0.0, 1.0)]
EPSILONS = [0.5, 4.0]
CHOICES = [([0, 1, 2, 3], 0), ([2, 0], 0), ([3], 1), ([1, 0, 3], 1)]


def box(columns, response, corner, intercept):
    return Box(LOWER[columns], UPPER[columns], BOUNDS[response], corner=corner, intercept=intercept)


def methods(domain, response):
    if response:
        more = [
            functional_mechanism("FM", domain, loss=TAYLOR),
            row_methods.dpme(labels=True, values=[None] * domain.d),
        ]
        return [no_privacy("plain", loss=TAYLOR), *more, row_methods.logistic_regression("Newton", repeats=1)]
    histograms = [
        row_methods.dpme(values=[None] * domain.d),
        row_methods.filter_priority(values=[None] * domain.d, repeats=2),
    ]
    return [no_privacy("plain"), functional_mechanism("FM", domain), *histograms]


def every():
    for columns, response in CHOICES:
        for corner in (False, True):
            for intercept in (False, True):
                yield columns, response, box(columns, response, corner, intercept)


def all_views():
    for number, (columns, response, domain) in enumerate(every()):
        metrics = ("misclassified", "logistic") if response else ("mse", "rmse")
        yield View(domain, methods(domain, response), EPSILONS, columns, response, metrics, {"view": number})


@cache
def one_by_one(protocol):
    """A sweep for each view."""
    return pd.concat(
        sweep(
            X[:, view.columns],
            Y[:, view.response],
            view.domain,
            view.methods,
            view.epsilons,
            protocol,
            random_state=3,
            metrics=view.metrics,
        ).assign(**view.tags)
        for view in all_views()
    )


WORKERS = pytest.mark.slow  # of one protocol is enough for the fast tests


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "jobs"),
    [
        (CrossValidation(3, 4), 1),
        pytest.param(CrossValidation(3, 4), 2, marks=WORKERS),
        (CrossValidation(2, 3, rate=0.6), 1),
        (CrossValidation(2, 3, rate=0.6), 2),
        (Holdout(3), 1),
        pytest.param(Holdout(3), 2, marks=WORKERS),
    ],
    ids=str,
)
def test_a_survey_is_one_sweep_for_each_view(protocol, jobs):
    found = survey(X, Y, list(all_views()), protocol, random_state=3, jobs=jobs)
    keys = ["view", "method", "epsilon", "repeat", "fold", "metric"]
    one, other = (frame.set_index(keys)["value"].sort_index() for frame in (found, one_by_one(protocol)))
    pd.testing.assert_series_equal(one, other, rtol=1e-9)


@pytest.mark.parametrize(
    "method", [row_methods.dpme(values=[None] * D), row_methods.filter_priority(values=[None] * D)]
)
def test_every_split_and_budget_has_its_own_noise(method):
    domain, rng = box([0, 1, 2, 3], 0, False, True), np.random.default_rng(1)
    partition = draw(X, Y[:, 0], domain.table(X, Y[:, 0]), domain, CrossValidation(1, 3), rng)
    theta = method.coefficients(partition, np.array([0.5, 0.5]), rng)
    assert len(np.unique(theta.reshape(6, -1).round(9), axis=0)) == 6


@pytest.mark.parametrize("corner", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_basis_makes_the_scaled_records(corner, intercept):
    domain = box([0, 1, 2, 3], 0, corner, intercept)
    np.testing.assert_allclose(
        domain.centred.table(X, Y[:, 0]) @ domain.basis.T, domain.table(X, Y[:, 0]), rtol=1e-12, atol=1e-12
    )
