"""Logistic regression: the claims of 001, Section 5, and the loss itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from dpreg.audit.search import log_ratio
from dpreg.checks import IndefiniteError, SolverError
from dpreg.pipeline.domain import BLOCK
from dpreg.pipeline.laws import certify, functional
from dpreg.pipeline.logistic import fit, loss_at, misclassified, newton, predicted
from dpreg.pipeline.objective import TAYLOR
from dpreg.pipeline.objective import logistic as quadratic
from dpreg.pipeline.release import perturb
from dpreg.pipeline.solve import minimise
from dpreg.pipeline.surrogates import chebyshev, even, remainder
from tests.engine.labelled import LINE, exact_loss, records, sigmoid, space, unit
from tests.ledger import tolerance, values

X3, Y3 = np.array([[-0.5], [0.0], [1.0]]), np.array([1.0, 0.0, 1.0])  # 001's Figure 3


# ---- claims -------------------------------------------------------------------------------------------------------


def test_separated_labels_have_no_minimiser():
    v = values("FM-DEF2")
    for theta, name in ((1, "at_1"), (10, "at_10")):
        both = (exact_loss(theta, 1) + exact_loss(-theta, 0)) / 2
        assert both == pytest.approx(v[name], abs=1e-6)
    for rows, labels in (([[1.0], [-1.0]], [1, 0]), ([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0, 0, 1])):
        with pytest.raises(SolverError, match="separates"):
            fit(rows, labels)
    assert fit([[1.0], [1.0], [-1.0]], [1, 0, 0]) == pytest.approx(math.log(2))  # one on the wrong side is enough


def test_the_loss_is_convex():
    v, h = values("FM-CHAUD"), 1e-4
    for z, name in ((0, "curvature_0"), (10, "curvature_10")):
        numeric = (exact_loss(z + h, 1) - 2 * exact_loss(z, 1) + exact_loss(z - h, 1)) / h**2
        assert numeric == pytest.approx(v[name], abs=1e-6)
        assert numeric > 0


def test_two_ways_to_write_the_loss():
    for z, y in itertools.product((-30.0, -1.0, 0.3, 5.0), (0, 1)):
        other = math.log1p(math.exp(-(2 * y - 1) * z))
        assert abs(exact_loss(z, y) - other) <= values("FM-PROB")["difference"] + 1e-12
        assert even(z) - (2 * y - 1) * z / 2 == pytest.approx(other, abs=1e-12)


def root_of_figure_three():

    def slope(w):
        return sum(x * (sigmoid(x * w) - y) for x, y in zip(X3[:, 0], Y3, strict=True))

    return optimize.brentq(slope, 0, 3, xtol=1e-14)


def test_a_bounded_parameter():
    v = values("FM-SMITH")
    assert root_of_figure_three() == pytest.approx(v["free"], abs=1e-6) == v["bounded"]
    assert abs(root_of_figure_three()) < 1


def test_sign_of_the_linear_part():
    x, y = X3[:, 0], Y3
    curvature = (x @ x) / 8
    for sign, name in ((-1, "minimiser"), (1, "as_printed")):
        assert -(x.sum() / 2 + sign * x @ y) / (2 * curvature) == pytest.approx(values("FM-DECOMP")[name])
    w, h = 0.7, 1e-5  # the slope of the cost has -yx in it
    numeric = (exact_loss(w + h, 1) - exact_loss(w - h, 1)) / (2 * h)
    assert numeric == pytest.approx(sigmoid(w) - 1)


def test_taylor_objective_by_hand():
    v, f = values("FM-EQ10"), quadratic(X3, Y3, LINE)
    assert v["eight_M"] == 0.25 + 0 + 1 == 8 * f.M[0, 0]
    assert v["v"] == pytest.approx(-0.5 * -0.5 + 0.5 * 0 - 0.5 * 1) == f.v[0]
    assert v["c"] == pytest.approx(3 * math.log(2), abs=1e-6)
    assert f.c == pytest.approx(3 * math.log(2))


def test_subtraction():
    v, end = values("FM-015"), (math.e**2 - math.e) / (6 * (1 + math.e) ** 3)
    assert v["subtracted"] == pytest.approx(2 * end, abs=1e-6)
    assert v["printed"] == pytest.approx(end, abs=1e-6)
    assert v["sharp"] == pytest.approx(-(math.log1p(math.e) - math.log(2) - 1 / 2 - 1 / 8), abs=1e-6)


def average(p, theta):
    return p * exact_loss(theta, 1) + (1 - p) * exact_loss(theta, 0)


def test_counterexample():
    v = values("FM-GAP")
    for p, name in ((0.9, "p_90"), (0.99, "p_99")):
        gap = average(p, 4 * p - 2) - average(p, math.log(p / (1 - p)))
        assert gap == pytest.approx(v[name], abs=1e-6)
        assert gap > 0.015143
    assert v["limit"] == pytest.approx(math.log1p(math.exp(-2)), abs=1e-6)
    near = 1 - 1e-9
    assert average(near, 4 * near - 2) - average(near, math.log(near / (1 - near))) == pytest.approx(
        v["limit"], abs=1e-6
    )


def test_log_two_is_the_only_bound_for_all_data():
    v, n, tiny = values("FM-INDEP"), 10_000, 1e-8
    theta = 2 * (1 + (n - 3) * tiny) / (1 + (n - 1) * tiny**2)
    poor = exact_loss(theta, 1) + (n - 2) * exact_loss(tiny * theta, 1) + exact_loss(tiny * theta, 0)
    u = math.log(n - 2)
    good = (n - 2) * exact_loss(u, 1) + exact_loss(u, 0)  # the far record is right for certain
    assert (poor - good) / n == pytest.approx(v["gap"], abs=1e-6)
    assert v["gap"] < v["bound"] == pytest.approx(math.log(2), abs=1e-6)


def test_more_records_do_not_close_the_gap():
    limit = average(0.9, 1.6) - average(0.9, math.log(9))
    assert limit == pytest.approx(values("FM-CONVERGE")["gap"], abs=1e-6)
    # theta = -v/(2M), M = n/8, v = -0.4 n; noise of scale 1 on both, n = 10^6
    n, slope = 1e6, 0.9 * (sigmoid(1.6) - 1) + 0.1 * sigmoid(1.6)
    deviation = math.sqrt(2) * math.hypot(4 / n, 0.4 * 32 / n)
    assert 4 * abs(slope) * deviation < tolerance("FM-CONVERGE", "gap")


def test_figure_three():
    v, w = values("FM-FIG3"), root_of_figure_three()
    assert w == pytest.approx(v["logistic"], abs=1e-6)
    assert v["quadratic"] == pytest.approx(4 * (X3[:, 0] @ (Y3 - 0.5)) / (X3[:, 0] @ X3[:, 0]))
    total = [sum(exact_loss(x * u, y) for x, y in zip(X3[:, 0], Y3, strict=True)) for u in (v["quadratic"], w)]
    assert (total[0] - total[1]) / 3 == pytest.approx(v["gap"], abs=1e-8)


def test_one_coefficient_per_monomial():
    v, d = values("FM-D2-TERM"), 13
    for y in (0, 1):
        assert 2 * (d * abs(0.5 - y) + d**2 / 8) == v["merged"]
    assert 2 * (d * (0.5 + 1) + d**2 / 8) == v["printed"]


def test_algorithm_two():
    v = values("FM-A2")
    assert v["minimiser"] == pytest.approx(4 * 0.25 / 1.25)
    assert v["constant_replace"] == 0  # every record has the same log 2
    assert v["constant_add"] == pytest.approx(math.log(2), abs=1e-6)
    for relation in ("replace", "add_remove"):
        costs = [certify(unit("monomial", LINE, relation, c), LINE, relation, TAYLOR) for c in (False, True)]
        assert costs[1] - costs[0] == pytest.approx(v[f"constant_{relation.split('_')[0]}"], abs=1e-6)


def test_algorithm_two_is_private():
    v = values("FM-A2-DP")
    # one predictor: flipping the label at x = 1 changes v by 1 and nothing else; the printed scale is 13/4
    assert v["largest_loss"] == pytest.approx(4 / 13, abs=1e-6) == v["certified"]
    scales = functional(LINE, 1.0, sensitivity="printed", convention="monomial", loss=TAYLOR)
    draws = perturb(quadratic([[1.0], [1.0]], [1, 1], LINE), scales, 7, draws=(5000,))
    pairs = [quadratic([[x], [1.0]], [y, 1], LINE) for x in (-1.0, -0.3, 0.0, 0.6, 1.0) for y in (0, 1)]
    for one, other in itertools.permutations(pairs, 2):
        assert log_ratio(draws, one, other, scales).max() <= v["certified"] + 1e-6


# ---- the loss, its remainder and the gap --------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.floats(0.1, 8.0), st.sampled_from([None, 0.5, 2.0, 6.0]))
def test_gap_is_within_its_bounds(seed, scale, R):
    Z, y = records(seed, n=60, d=2, scale=scale)
    try:
        best = fit(Z, y)
    except SolverError:
        return  # separated
    q = TAYLOR if R is None else chebyshev(R)
    theta = np.linalg.lstsq(Z, 2 * y - 1, rcond=None)[0] / (4 * q.square)
    gap = loss_at(theta, Z, y) - loss_at(best, Z, y)
    assert -1e-12 <= gap <= (remainder(Z @ theta, q) - remainder(Z @ best, q)).mean() + 1e-12
    if R is None:
        assert gap <= -remainder(Z @ best).mean() + 1e-12
        assert gap < math.log(2)
    reach = R or 1.0
    if np.abs(Z @ best).max() <= reach:
        width = -remainder(1.0) if R is None else -2 * remainder(R, q)
        assert gap <= width + 1e-12


def test_flipping_and_permuting_predictors():
    Z, y = records(4, n=300)
    X, order, sign = Z[:, 1:], np.array([2, 0, 1]), np.array([1.0, -1.0, -1.0])
    domain = space("box", 3)
    for solve in (fit, lambda X, y: minimise(quadratic(X, y, domain))):
        base = solve(X, y)
        np.testing.assert_allclose(solve(X[:, order], y), base[order], rtol=1e-6)
        np.testing.assert_allclose(solve(X * sign, y), base * sign, rtol=1e-6)
        np.testing.assert_allclose(solve(X, 1 - y), -base, rtol=1e-6)


# --- dpreg/pipeline/logistic.py


@pytest.mark.parametrize("seed", range(5))
def test_fit_against_scikit_learn(seed):
    Z, y = records(seed, n=400)
    plain = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(fit(Z, y), plain.coef_[0], rtol=1e-4, atol=1e-5)
    weights = np.random.default_rng(seed).uniform(0, 3, len(y))
    ridge = LogisticRegression(C=1 / (2 * 1.7), fit_intercept=False, tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(fit(Z, y, weights, ridge=1.7), ridge.fit(Z, y, weights).coef_[0], rtol=1e-4, atol=1e-5)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.0, 5.0), st.floats(-20, 20))
def test_gradient_vanishes_from_any_start(seed, ridge, start):
    Z, y = records(seed, n=80, d=2)
    w = np.random.default_rng(seed).uniform(0.1, 2, 80)
    try:
        theta = fit(Z, y, w, ridge=ridge, start=np.full(3, start))
    except SolverError:
        assert ridge < 1e-3  # separated, or nearly
        return
    slope = Z.T @ (w * (1 / (1 + np.exp(-Z @ theta)) - y)) + 2 * ridge * theta
    assert np.abs(slope).max() < 1e-6 * 80


def test_blocks_are_read_in_any_cut():
    Z, y = records(11, n=2 * BLOCK + 17)
    w = np.linspace(0.5, 1.5, len(y))
    cuts = np.cumsum([5, 1000, 3000])
    parts = list(zip(np.split(Z, cuts), np.split(y, cuts), np.split(w, cuts), strict=True))
    np.testing.assert_allclose(newton(lambda: iter(parts), 4), fit(Z, y, w), rtol=1e-9)
    np.testing.assert_allclose(loss_at(fit(Z, y), Z, y), np.mean(np.logaddexp(0, Z @ fit(Z, y)) - y * (Z @ fit(Z, y))))


def test_equal_columns_and_extreme_units():
    Z, y = records(12)
    twins = fit(np.c_[Z, Z[:, 1]], y)
    assert twins[1] == pytest.approx(twins[4])
    np.testing.assert_allclose(np.c_[Z, Z[:, 1]] @ twins, Z @ fit(Z, y), rtol=1e-6)
    unit_of = np.array([1.0, 1e6, 1e-6, 1.0])
    np.testing.assert_allclose(fit(Z * unit_of, y) * unit_of, fit(Z, y), rtol=1e-6)


def test_negative_weights_while_the_loss_stays_convex():
    Z, y = records(13)
    extra = np.r_[Z, Z[:5], Z[:5]], np.r_[y, y[:5], y[:5]], np.r_[np.ones(len(y)), np.ones(5), -np.ones(5)]
    np.testing.assert_allclose(fit(*extra), fit(Z, y), rtol=1e-9)
    with pytest.raises(IndefiniteError, match="negative weights"):
        fit(Z, y, -np.ones(len(y)))


def test_ridge_is_of_the_sum():
    # one record at x = 1 with label one: minimise log(1 + e^-w) + w^2 / 2, so w = s(-w)
    w = fit([[1.0]], [1], ridge=0.5)[0]
    assert w == pytest.approx(sigmoid(-w), rel=1e-8)


def test_average_losses_and_wrong_labels_of_a_stack():
    rng = np.random.default_rng(0)
    Z, y, theta = rng.normal(size=(BLOCK + 10, 2)), rng.integers(0, 2, BLOCK + 10), rng.normal(size=(3, 4, 2))
    losses, wrong = loss_at(theta, Z, y), misclassified(theta, Z, y)
    assert losses.shape == wrong.shape == (3, 4)
    for k in itertools.product(range(3), range(4)):
        z = Z @ theta[k]
        assert losses[k] == pytest.approx(-np.log(1 / (1 + np.exp(-(2 * y - 1) * z))).mean())
        assert wrong[k] == pytest.approx(np.mean((1 / (1 + np.exp(-z)) > 0.5) != y))
    assert misclassified([0.0], [[1.0], [1.0], [2.0]], [0, 0, 1]) == 1 / 3  # a probability of one half is no "one"


@given(st.lists(st.floats(-10, 10), min_size=5, max_size=5).map(np.array))
def test_a_record_that_is_zero_on_its_own_scale_has_label_zero_on_every_scale(theta):
    """x = (w + 1) / 2 is zero at w = -1; in terms of w its score is a sum that rounding may leave above zero."""
    constant, slopes = theta.sum() / 2, theta / 2
    assert not predicted(np.r_[constant, slopes][None], np.r_[1.0, -np.ones(5)][None]).any()
    assert predicted(np.array([[1e-9, 1.0]]), np.array([[1.0, 0.0]])).all()  # small is not rounding
