"""What the comparison of methods says, again: row by row with the estimators, and by search where it proves."""

import math

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LinearRegression, LogisticRegression

from dpreg import Box, PrivateLinearRegression, PrivateLogisticRegression
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


@pytest.mark.thorough
def test_the_logistic_default_on_malignant_tumours():
    """Far fewer wrong labels than a quadratic, at a budget of one; records split and fitted one by one."""
    X, y = load_breast_cancer(return_X_y=True)
    box, found = Box(X.min(axis=0), X.max(axis=0), (0, 1), intercept=True), []
    for seed in range(30):
        test, fit = np.split(np.random.default_rng(seed).permutation(len(y)), [114])
        models = [PrivateLogisticRegression(box, 1.0, random_state=seed, mechanism=m) for m in ("objective", "wishart")]
        found.append([(m.fit(X[fit], y[fit]).predict(X[test]) != y[test]).mean() for m in models])
    default, quadratic = np.median(found, axis=0)
    assert default < 0.2
    assert quadratic > 1.5 * default


@pytest.mark.thorough
def test_a_bounded_set_finds_the_tumours_that_the_default_gives_up(tasks):
    """Objective perturbation of squares at a budget of one, with the constants of the theorem written out anew."""
    X, y, box = tasks["tumours"]
    found, p = [], box.p
    share = 2 * np.cbrt(p) / (1 + 2 * np.cbrt(p))
    for seed in range(30):
        rng = np.random.default_rng(seed)
        test, fit = np.split(rng.permutation(len(y)), [114])
        Z, t = box.scale(X[fit], y[fit])
        tilt = rng.uniform(-1, 1, p) * rng.gamma(p + 1, 8 / share)
        H = 2 * Z.T @ Z + 2 * p / math.expm1(1 - share) * np.eye(p)
        theta = lasso_ball(H, tilt - 2 * Z.T @ t)
        off = 20 * (box.scale(X[test], y[test])[0] @ theta + 1) - y[test]
        found.append(math.sqrt(np.mean(off**2) / np.mean((y[test] - y[fit].mean()) ** 2)))
    assert np.median(found) < 0.8 * ratio(tasks["tumours"], 1.0, mechanism="mean first")


def lasso_ball(H, g):
    """The minimiser of theta' H theta / 2 + g' theta over sum |theta_j| <= 1, by a solver of its own."""
    theta = cp.Variable(len(g))
    L = np.linalg.cholesky(H).T
    cp.Problem(cp.Minimize(cp.sum_squares(L @ theta) / 2 + g @ theta), [cp.norm1(theta) <= 1]).solve(solver="CLARABEL")
    return theta.value


@pytest.mark.thorough
def test_a_hundred_steps_of_descent_on_labels_do_not_arrive():
    """Without noise: far more wrong labels among the records than of the minimum, on tumours and digits."""
    tumours, digits = load_breast_cancer(), load_digits()
    for X, y in ((tumours.data, tumours.target), (digits.data, digits.target % 2)):
        Z = np.c_[np.ones(len(y)), 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0).clip(1e-9) - 1]
        theta = np.zeros(Z.shape[1])
        for _ in range(100):
            theta -= 4 / (len(Z) * Z.shape[1]) * Z.T @ (1 / (1 + np.exp(-Z @ theta)) - y)
        exact = LogisticRegression(max_iter=10_000, fit_intercept=False).fit(Z, y).coef_[0]
        wrong = [((Z @ one > 0) != (y == 1)).mean() for one in (theta, exact)]
        assert wrong[0] > 1.3 * wrong[1]


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
