"""What the comparison of methods says, again: row by row with the estimators, and by search where it proves."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LinearRegression

from dpreg import Box, PrivateLinearRegression
from dpreg.accounting import gdp_delta
from dpreg.noise import laplace

TALL = [50, 250, 3000, 0.25, 0.5, 0.5, 0.3, 0.4, 0.15]
INNER = [k for k in range(64) if 0 < k % 8 < 7 and k != 36]


@pytest.fixture(scope="module")
def tasks():
    tumours, digits = load_breast_cancer().data, load_digits().data
    return {
        "tumours": (tumours[:, 1:10], tumours[:, 0], Box([0] * 9, TALL, (0, 40), intercept=True)),
        "digits": (digits[:, INNER], digits[:, 36], Box([0] * 47, [16] * 47, (0, 16), intercept=True)),
    }


def ratio(task, epsilon, repeats=40, **options):
    """Median error over that of the mean, of fits to four fifths."""
    X, y, box = task
    found = []
    for seed in range(repeats):
        test, fit = np.split(np.random.default_rng(seed).permutation(len(y)), [round(0.2 * len(y))])
        model = PrivateLinearRegression(box, epsilon, random_state=seed, **options).fit(X[fit], y[fit])
        errors = y[test] - model.predict(X[test]), y[test] - y[fit].mean()
        found.append(math.sqrt(np.mean(errors[0] ** 2) / np.mean(errors[1] ** 2)))
    return np.median(found)


@pytest.mark.thorough
def test_the_default_gives_up_the_tumours_and_the_wishart_difference_does_not(tasks):
    default, wishart = (ratio(tasks["tumours"], 1.0, mechanism=word) for word in ("mean first", "wishart"))
    assert default > 0.95
    assert default > 1.2 * wishart


@pytest.mark.thorough
def test_a_delta_pays_with_many_predictors(tasks):
    pure = ratio(tasks["digits"], 1.0, mechanism="mean first")
    assert ratio(tasks["digits"], 1.0, mechanism="gaussian", delta=1e-6) < 0.95 * pure


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, {"mechanism": "gaussian", "delta": 1e-6}])
def test_few_records_are_predicted_hardly_worse_than_by_their_private_mean(tasks, options):
    y = tasks["tumours"][1]
    noise = laplace(40 / 0.1, (2000,), 1) / 455
    private = np.median(np.sqrt(np.mean((y - np.clip(y.mean() + noise, 0, 40)[:, None]) ** 2, axis=1)) / y.std())
    assert ratio(tasks["tumours"], 0.1, 100, **options) < 1.1 * private
    assert ratio(tasks["tumours"], 0.1, mechanism="wishart") > 1.2 * private


def test_without_privacy_there_is_a_signal_in_both(tasks):
    for X, y, _ in tasks.values():
        assert LinearRegression().fit(X, y).score(X, y) > 0.7


def test_a_pure_release_and_one_with_a_delta():
    """Randomised response, then Gaussian noise, with the worst event of the pair: at most e^(a + b), and delta."""
    a, mu = 0.5, 0.8
    for b in (0.3, 1.0):
        x = np.linspace(-12, 12, 200_001)
        p, q = (np.exp(-((x - shift) ** 2) / 2) / math.sqrt(2 * math.pi) for shift in (mu, 0.0))
        yes, no = math.exp(a) / (1 + math.exp(a)), 1 / (1 + math.exp(a))
        over = sum(
            np.maximum(one * p - math.exp(a + b) * other * q, 0).sum() * (x[1] - x[0])
            for one, other in ((yes, no), (no, yes))
        )
        assert over <= gdp_delta(mu, b) * (1 + 1e-6)


def test_the_largest_change_of_one_predictor_and_a_constant():
    """All weights one: four, and not the root of 18 that the bound allows; random and extreme pairs."""
    rng = np.random.default_rng(0)
    z = np.stack([rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0, *rng.uniform(-1, 1, 5)], (20_000, 2)) for _ in range(2)])
    a, b = (np.c_[one[:, 0], np.ones(len(one)), one[:, 1]] for one in z)
    squares = (a**2).sum(1) ** 2 + (b**2).sum(1) ** 2 - 2 * (a * b).sum(1) ** 2
    assert math.sqrt(squares.max()) == pytest.approx(4.0)
