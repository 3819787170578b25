"""Logistic regression: the claims of 001, Section 5, the loss and its quadratics, and what they cost to release."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats
from sklearn.linear_model import LinearRegression, LogisticRegression

from dpreg.attacks.audit import log_ratio, worst_pair
from dpreg.checks import IndefiniteError, InputError, SolverError
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline import repair
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import BLOCK, Ball, Box
from dpreg.pipeline.laws import Scales, certify, functional, unit_scales
from dpreg.pipeline.logistic import fit, loss_at, misclassified, newton, predicted
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, merge
from dpreg.pipeline.objective import logistic as quadratic
from dpreg.pipeline.release import perturb, release
from dpreg.pipeline.sensitivity import closed_form, printed_logistic, worst_case
from dpreg.pipeline.solve import minimise
from dpreg.pipeline.surrogates import chebyshev, derivative, even, least_squares, remainder
from lib.pages.claims import load

CONVENTIONS = ("monomial", "ordered", "copied", "triangle")
KINDS = ("box", "corner", "ball")
LINE = Box([-1.0], [1.0], response=(0.0, 1.0))
X3, Y3 = np.array([[-0.5], [0.0], [1.0]]), np.array([1.0, 0.0, 1.0])  # 001's Figure 3


def space(kind, d, intercept=False):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, (0.0, 1.0), intercept=intercept)
    return Box(-np.ones(d), np.ones(d), (0.0, 1.0), intercept=intercept, corner=kind == "corner")


def unit(convention, domain, neighbours="replace", constant=False, loss=TAYLOR):
    public = domain.intercept and neighbours == "replace"
    return unit_scales(convention, domain.p, constant=constant, public_count=public, loss=loss)


def values(claim):
    return load()[claim].values


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def exact_loss(z, y):
    return math.log1p(math.exp(z)) - y * z


def records(seed, n=200, d=3, scale=1.5):
    """Rows with a constant column, and labels that are hard to separate."""
    rng = np.random.default_rng(seed)
    Z = np.c_[np.ones(n), rng.uniform(-1, 1, (n, d))]
    return Z, (rng.uniform(size=n) < 1 / (1 + np.exp(-Z @ (scale * rng.normal(size=d + 1))))).astype(float)


def bernoulli(last):
    """Bernoulli's numbers from their recursion, as fractions."""
    B = [Fraction(1)]
    for m in range(1, last + 1):
        B.append(-sum(math.comb(m + 1, k) * B[k] for k in range(m)) / (m + 1))
    return B


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


def test_derivatives_at_zero():
    B = bernoulli(40)
    v = values("FM-F012")
    assert v["value"] == pytest.approx(math.log(2), abs=1e-6)
    assert (v["first"], v["second"]) == (sigmoid(0), sigmoid(0) ** 2)
    for k in range(2, 41):
        assert derivative(k) == pytest.approx(float((2**k - 1) * B[k] / k), rel=1e-12)
    # and those are the derivatives: s' = s - s^2 as a polynomial in s, evaluated at s = 1/2
    poly = np.polynomial.Polynomial([0, Fraction(1)])
    step = np.polynomial.Polynomial([0, Fraction(1), Fraction(-1)])
    names = {4: "fourth", 5: "fifth", 6: "sixth", 8: "eighth"}
    for k in range(2, 13):
        poly = poly.deriv() * step
        assert float(poly(Fraction(1, 2))) == pytest.approx(derivative(k), rel=1e-12, abs=1e-15)
        if k in names:
            assert float(poly(Fraction(1, 2))) == pytest.approx(values("FM-CLOSED")[names[k]], abs=1e-12)


def test_radius_of_convergence():
    B = bernoulli(40)
    terms = [math.log(2), 0.5] + [float((2**k - 1) * B[k] / k / math.factorial(k)) for k in range(2, 41)]
    for z, name in ((3, "error_3"), (4, "error_4")):
        error = math.fsum(c * z**k for k, c in enumerate(terms)) - math.log1p(math.exp(z))
        assert error == pytest.approx(values("FM-EQ6")[name], abs=1e-5)
    size = [abs(derivative(k)) / math.factorial(k) for k in range(2, 101, 2)]
    assert size[-1] ** (-1 / 100) == pytest.approx(math.pi * 50 ** (1 / 100), rel=1e-6)  # root test with the factor 2/k
    assert all(a > b for a, b in itertools.pairwise(s * math.pi ** (2 * k) for k, s in enumerate(size, 1)))


def test_taylor_objective_by_hand():
    v, f = values("FM-EQ10"), quadratic(X3, Y3, LINE)
    assert v["eight_M"] == 0.25 + 0 + 1 == 8 * f.M[0, 0]
    assert v["v"] == pytest.approx(-0.5 * -0.5 + 0.5 * 0 - 0.5 * 1) == f.v[0]
    assert v["c"] == pytest.approx(3 * math.log(2), abs=1e-6)
    assert f.c == pytest.approx(3 * math.log(2))


def test_lemma_three_is_empty():
    for z, name in ((1, "at_1"), (10, "at_10"), (100, "at_100")):
        difference = math.log1p(math.exp(z)) - math.log(2) - z / 2 - z**2 / 8
        assert difference == pytest.approx(values("FM-L3")[name], abs=1e-6)
        assert remainder(z) == pytest.approx(difference)


def third_derivative(z):
    return (math.exp(z) - math.exp(z) ** 2) / (1 + math.exp(z)) ** 3  # as 001 prints it


def test_remainder_on_the_unit_interval():
    v = values("FM-L4")
    assert third_derivative(1) / 6 == pytest.approx(v["low"], abs=1e-6)
    assert (v["high"], v["exact_high"]) == (0, 0)
    assert v["exact_low"] == pytest.approx(-(5 / 8 + math.log(2) - math.log(1 + math.e)), abs=1e-6)
    for z in np.linspace(-1, 1, 101):
        assert v["low"] <= v["exact_low"] - 1e-6 <= remainder(z) <= 1e-15


def test_third_derivative():
    v = values("FM-F3")
    assert v["on_unit"] == pytest.approx((math.e**2 - math.e) / (1 + math.e) ** 3, abs=1e-6)
    found = optimize.minimize_scalar(third_derivative, bounds=(0, 5), method="bounded", options={"xatol": 1e-10})
    assert -found.fun == pytest.approx(1 / (6 * math.sqrt(3))) == pytest.approx(v["everywhere"], abs=1e-6)
    assert found.x == pytest.approx(math.log(2 + math.sqrt(3)), abs=1e-5) == pytest.approx(v["where"], abs=1e-5)
    h, z = 1e-3, 0.8
    numeric = (sigmoid(z + h) - 2 * sigmoid(z) + sigmoid(z - h)) / h**2
    assert numeric == pytest.approx(third_derivative(z), rel=1e-4)


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
    assert 4 * abs(slope) * deviation < load()["FM-CONVERGE"].tolerance


def test_figure_three():
    v, w = values("FM-FIG3"), root_of_figure_three()
    assert w == pytest.approx(v["logistic"], abs=1e-6)
    assert v["quadratic"] == pytest.approx(4 * (X3[:, 0] @ (Y3 - 0.5)) / (X3[:, 0] @ X3[:, 0]))
    total = [sum(exact_loss(x * u, y) for x, y in zip(X3[:, 0], Y3, strict=True)) for u in (v["quadratic"], w)]
    assert (total[0] - total[1]) / 3 == pytest.approx(v["gap"], abs=1e-8)


def change(record, other, convention, q=1 / 8):
    """L1 distance of the released logistic coefficients of two records (t, x), written out."""
    (t, x), (s, u) = record, other
    E = np.abs(np.outer(x, x) - np.outer(u, u)) * q
    line = np.abs(t * np.asarray(x) - s * np.asarray(u)).sum() / 2
    return (E.sum() if convention in ("monomial", "ordered") else np.triu(E).sum()) + line


def test_printed_sensitivity():
    v, d, s = values("FM-D2"), 13, math.sqrt(13)
    assert v["printed"] == d**2 / 4 + 3 * d == printed_logistic(d)
    assert v["box"] == (d + 2) ** 2 / 8
    assert v["corner"] == pytest.approx((s + 2) ** 2 / 8, abs=1e-6)
    arc = optimize.minimize_scalar(
        lambda a: -(s * math.sin(a) + math.sqrt(2) * d / 8 * math.sin(2 * a)), bounds=(0, math.pi / 2), method="bounded"
    )
    assert v["ball"] == pytest.approx(-arc.fun, abs=1e-5)
    assert v["spent_corner"] == pytest.approx((s + 2) ** 2 / 8 / v["printed"], abs=1e-6)
    # attained on the box and on the corner box: the second record has its predictors at 2u - r = dg/T = 2/d
    for r, name in ((1.0, "box"), (1 / s, "corner")):
        pair = (1, np.full(d, r)), (-1, np.full(d, 2 / d))
        assert change(*pair, "monomial") == pytest.approx(v[name], abs=1e-6)


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


@given(st.floats(-700, 700))
def test_remainder_of_taylor_is_between_zero_and_the_fourth_power(z):
    assert -(z**4) / 192 - 1e-12 <= remainder(z) <= 1e-12 * (1 + z**2)
    assert even(z) == pytest.approx(np.logaddexp(z / 2, -z / 2), abs=1e-12)


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


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([TAYLOR, chebyshev(3.0), least_squares(6.0)]), st.booleans())
def test_truncated_is_least_squares(seed, q, intercept):
    Z, y = records(seed, n=50, d=3)
    domain = space("box", 3, intercept)
    X = Z[:, 1:]
    theta = minimise(quadratic(X, y, domain, q))
    ols = LinearRegression(fit_intercept=intercept).fit(X, 2 * y - 1)
    wanted = np.r_[ols.intercept_, ols.coef_] if intercept else ols.coef_
    np.testing.assert_allclose(theta, wanted / (4 * q.square), rtol=1e-8, atol=1e-10)
    rows = Z if intercept else X
    np.testing.assert_array_equal(rows @ theta > 0, ols.predict(X) > 0)
    if q is TAYLOR:
        np.testing.assert_allclose(theta, 4 * np.linalg.lstsq(rows, y - 0.5, rcond=None)[0], rtol=1e-8, atol=1e-10)


# ---- better quadratics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("R", [0.5, 1.0, 3.0, 5.0, 8.0, 20.0])
def test_chebyshev_equioscillates_and_beats_a_linear_program(R):
    q = chebyshev(R)
    z = np.linspace(-R, R, 2001)
    error = remainder(z, q)
    height = float(-remainder(R, q))
    top = z[1000 + error[1000:].argmax()]
    np.testing.assert_allclose(remainder([-R, -top, 0, top, R], q) / height, [-1, 1, -1, 1, -1], atol=1e-5)
    assert np.abs(error).max() <= height * (1 + 1e-12)
    # minimise h over all cubics with |E - cubic| <= h on the grid
    V = np.vander(z / R, 4, increasing=True)
    A = np.block([[V, -np.ones((2001, 1))], [-V, -np.ones((2001, 1))]])
    E = np.logaddexp(z / 2, -z / 2)
    bounds = [(None, None)] * 4 + [(0, None)]
    found = optimize.linprog(np.r_[np.zeros(4), 1], A, np.r_[E, -E], bounds=bounds)
    assert found.fun == pytest.approx(height, rel=2e-3, abs=1e-7)
    assert found.fun <= height + 1e-7
    assert found.x[2] / R**2 == pytest.approx(q.square, rel=2e-3)
    assert q.cross == TAYLOR.cross
    assert q.labels


@pytest.mark.parametrize("R", [0.5, 2.0, 5.0, 20.0, 100.0])
def test_least_squares_is_stationary_and_smallest(R):
    q = least_squares(R)

    def squared(square, constant):
        def integrand(z):
            return (np.logaddexp(z / 2, -z / 2) - square * z**2 - constant) ** 2

        return integrate.quad(integrand, 0, R, epsabs=0, epsrel=1e-11, limit=200)[0] / R

    # normal equations, moments by another quadrature
    m0, m2 = (integrate.quad(lambda z, k=k: np.logaddexp(z / 2, -z / 2) * z**k, 0, R)[0] / R for k in (0, 2))
    solved = np.linalg.solve([[R**4 / 5, R**2 / 3], [R**2 / 3, 1]], [m2, m0])
    np.testing.assert_allclose([q.square, q.constant], solved, rtol=1e-6)
    least = squared(q.square, q.constant)
    for nudge in (0.98, 1.02):
        assert squared(q.square * nudge, q.constant) > least
        assert squared(q.square, q.constant * nudge) > least
    assert squared(chebyshev(R).square, chebyshev(R).constant) > least


def test_small_intervals_give_taylor():
    for quadratic_on in (chebyshev, least_squares):
        assert quadratic_on(0.01).square == pytest.approx(1 / 8, abs=1e-6)
        squares = [quadratic_on(R).square for R in (0.5, 1, 2, 4, 8, 16)]
        assert sorted(squares, reverse=True) == squares
        assert all(0 < s < 1 / 8 for s in squares)


# ---- sensitivity --------------------------------------------------------------------------------------------------

LOSSES = (TAYLOR, chebyshev(5.0), least_squares(30.0), Loss(2.0, -0.5, 1.0, labels=True))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 13, 14, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_closed_forms_of_labels(kind, d):
    for intercept, convention, neighbours, constant, q in itertools.product(
        (False, True), CONVENTIONS, ("replace", "add_remove"), (False, True), LOSSES
    ):
        domain = space(kind, d, intercept)
        if kind == "ball" and intercept and neighbours == "replace":
            continue
        found = certify(unit(convention, domain, neighbours, constant, q), domain, neighbours, q)
        wanted = closed_form(domain, convention, neighbours, constant=constant, loss=q)
        assert found == pytest.approx(wanted, rel=1e-10), (intercept, convention, neighbours, constant, q)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 8, 10, 11, 13, 14, 20])
def test_printed_table_of_special_cases(d):
    """The formulas as the chapter prints them, typed again here."""
    s = math.sqrt(d)
    for kind, r in (("box", 1.0), ("corner", 1 / s)):
        R = d * r
        both = closed_form(space(kind, d), "monomial", loss=TAYLOR)
        assert both == pytest.approx((R + 2) ** 2 / 8 if R >= 2 else R)
        assert closed_form(space(kind, d, True), "ordered", loss=TAYLOR) == pytest.approx((R + 3) ** 2 / 8)
        triangle = closed_form(space(kind, d), "triangle", loss=TAYLOR)
        assert triangle == closed_form(space(kind, d), "copied", loss=TAYLOR)
        if kind == "box":
            assert triangle == pytest.approx(d * (d + 5) ** 2 / (16 * (d + 1)) if d > 2 else d)
        else:
            assert triangle == pytest.approx((d + 1 + 4 * s) ** 2 / (16 * (d + 1)) if d > 13 else s)
        if (d + 1) * r >= 3:
            wanted = d * (d + 1) * r**2 / 16 + 5 * R / 8 + 1 + 9 * d / (16 * (d + 1))
            assert closed_form(space(kind, d, True), "triangle", loss=TAYLOR) == pytest.approx(wanted)
        assert closed_form(space(kind, d), "monomial", "add_remove", loss=TAYLOR) == pytest.approx(R**2 / 8 + R / 2)
        with_one = closed_form(space(kind, d, True), "monomial", "add_remove", constant=True, loss=TAYLOR)
        assert with_one == pytest.approx((R + 1) ** 2 / 8 + (R + 1) / 2 + math.log(2))


@pytest.mark.parametrize("d", [1, 2, 5, 13])
@pytest.mark.parametrize("kind", ["box", "corner"])
@pytest.mark.parametrize("intercept", [False, True])
def test_pairs_of_the_proof_attain_the_closed_forms(kind, d, intercept):
    """Counted on the coefficients of real objectives: no `Scales`, no `certify`."""
    domain = space(kind, d, intercept)
    r, g, q = domain.reach, 0.25, TAYLOR.square
    for convention in CONVENTIONS:
        h = q if convention in ("monomial", "ordered") else q / 2
        T = d * q + d * (d - 1) * h
        low = min(r, d * (g - h * intercept) / T)  # 2u - r
        rows = [np.full(d, x) * domain.unit + domain.shift for x in (r, low)]
        f, k = (quadratic([row, domain.shift], [y, 1.0], domain) for row, y in zip(rows, (1.0, 0.0), strict=True))
        M, line = np.abs(f.M - k.M), np.abs(f.v - k.v).sum()
        total = M.sum() if h == q else np.triu(M).sum()
        assert total + line == pytest.approx(closed_form(domain, convention, loss=TAYLOR), rel=1e-9)


def test_search_never_beats_the_certificate_and_meets_it_on_boxes():
    for d, kind, intercept, neighbours, q in itertools.product(
        (1, 2, 3), KINDS, (False, True), ("replace", "add_remove"), (TAYLOR, chebyshev(5.0))
    ):
        domain = space(kind, d, intercept)
        for convention in ("monomial", "triangle"):
            s = unit(convention, domain, neighbours, False, q)
            ratio = worst_pair(s, domain, neighbours, loss=q, restarts=40, steps=120, random_state=d).loss / certify(
                s, domain, neighbours, q
            )
            assert ratio <= 1 + 1e-9, (d, kind, intercept, neighbours, convention)
            exact = kind != "ball" or neighbours == "add_remove" or d == 1
            assert ratio >= (1 - 1e-5 if exact else 0.93), (d, kind, intercept, neighbours, convention)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.integers(0, 2**32), st.sampled_from(KINDS), st.booleans())
def test_random_labelled_pairs_obey_any_certificate(d, seed, kind, intercept):
    """Pairs of records drawn here, their coefficients written out, against `certify` of random scales."""
    rng, domain = np.random.default_rng(seed), space(kind, d, intercept)
    q = LOSSES[seed % 3]
    s = Scales(np.exp(rng.normal(size=(domain.p, domain.p))), np.exp(rng.normal(size=domain.p)))
    proved = certify(s, domain, loss=q)
    Z = rng.choice([-1.0, 0.0, 0.5, 1.0], size=(200, d)) * rng.uniform(0.5, 1, (200, 1))
    domain.clip(Z)
    Z = np.c_[np.ones((200, int(intercept))), Z]
    t = rng.choice([-1.0, 1.0], size=200)
    M = q.square * np.abs(Z[::2, :, None] * Z[::2, None] - Z[1::2, :, None] * Z[1::2, None])
    v = abs(q.cross) * np.abs(t[::2, None] * Z[::2] - t[1::2, None] * Z[1::2])
    loss = (np.triu(M / s.M)).sum((1, 2)) + (v / s.v).sum(1)
    assert loss.max() <= proved * (1 + 1e-9)


def test_labels_at_the_ends_only_would_not_matter():
    """The certificate lets responses be anything in [-1, 1] at price zero for t^2: the ends are worst anyway."""
    for d in (1, 3):
        A = unit("triangle", space("box", d)).cost(TAYLOR)
        A[0, 0] = 0.0
        assert worst_case(A, space("box", d)) == pytest.approx(closed_form(space("box", d), "triangle", loss=TAYLOR))


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.1, 0.7), (1 / 3, 7 / 9), (1e10, 1e10 + 0.1)])
def test_the_constant_does_not_know_the_labels(ends):
    """It is certified free when a record is replaced, at any scale: not a bit of it may depend on the labels."""
    domain, y = Box([-1.0], [1.0], response=ends), np.repeat(ends, 50)
    exact = Scales(np.ones((1, 1)), np.ones(1), 0.0)
    assert certify(exact, domain, loss=TAYLOR) < math.inf
    for k in range(0, 101, 10):
        assert quadratic(np.zeros((100, 1)), np.sort(np.where(np.arange(100) < k, *ends)), domain).c == 100 * math.log(
            2
        )
    assert release(quadratic(np.zeros((100, 1)), y, domain), exact, 1).objective.c == 100 * math.log(2)


def test_losses_without_closed_form_are_refused():
    with pytest.raises(InputError, match="use worst_case"):
        closed_form(LINE, "monomial", loss=Loss(2.0, -4.0, 2.0))
    assert closed_form(LINE, "monomial", loss=SQUARED) == closed_form(LINE, "monomial") == 4.0


# ---- the mechanism ------------------------------------------------------------------------------------------------


def mechanism(X, y, domain, epsilon, seed, q=TAYLOR):
    scales = functional(domain, epsilon, loss=q)
    return minimise(repair.bound(release(quadratic(X, y, domain, q), scales, seed).objective, scales))


@pytest.mark.parametrize("q", [TAYLOR, chebyshev(4.0)])
def test_no_noise_gives_the_truncated_minimiser(q):
    Z, y = records(3, n=500)
    domain = space("box", 3, intercept=True)
    quiet = mechanism(Z[:, 1:], y, domain, 1e9, 1, q)
    np.testing.assert_allclose(quiet, minimise(quadratic(Z[:, 1:], y, domain, q)), rtol=1e-5, atol=1e-6)


def test_flipping_and_permuting_predictors():
    Z, y = records(4, n=300)
    X, order, sign = Z[:, 1:], np.array([2, 0, 1]), np.array([1.0, -1.0, -1.0])
    domain = space("box", 3)
    for solve in (fit, lambda X, y: minimise(quadratic(X, y, domain))):
        base = solve(X, y)
        np.testing.assert_allclose(solve(X[:, order], y), base[order], rtol=1e-6)
        np.testing.assert_allclose(solve(X * sign, y), base * sign, rtol=1e-6)
        np.testing.assert_allclose(solve(X, 1 - y), -base, rtol=1e-6)


def test_clipping_seed_and_shards():
    Z, y = records(5, n=400)
    X, domain = Z[:, 1:].copy(), space("corner", 3)
    X[0] = 7.0
    clipped = X.copy()
    clipped[0] = 1.0
    one, twin, again = (mechanism(rows, y, domain, 1.0, 9) for rows in (X, clipped, X))
    np.testing.assert_array_equal(one, twin)
    np.testing.assert_array_equal(one, again)
    assert (mechanism(X, y, domain, 1.0, 10) != one).all()
    whole, parts = quadratic(X, y, domain), [quadratic(X[a:b], y[a:b], domain) for a, b in ((0, 150), (150, 400))]
    np.testing.assert_allclose(merge(parts).M, whole.M)
    np.testing.assert_allclose(merge(parts).v, whole.v)
    with pytest.raises(InputError, match="different losses"):
        parts[0] + quadratic(X, y, domain, chebyshev(3.0))


@pytest.mark.parametrize("q", [TAYLOR, chebyshev(5.0)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_ledger_total_is_the_declared_budget(q, kind, intercept):
    Z, y = records(6, n=50)
    domain, budget = space(kind, 3, intercept), Budget(0.7)
    out = release(quadratic(Z[:, 1:], y, domain, q), functional(domain, 0.7, loss=q), 1, budget=budget)
    assert out.ledger.epsilon == pytest.approx(0.7, rel=1e-12)
    assert budget.remaining == pytest.approx(0.0, abs=1e-12)


def test_noise_has_the_declared_scale():
    """Mean |noise| of 40,000 Laplace draws over its scale has standard deviation 1/200, and five per cent is ten."""
    domain, f = space("corner", 2), quadratic([[1.0, 0.2], [0.3, 0.4]], [1, 0], space("corner", 2))
    scales = functional(domain, 0.5, loss=TAYLOR)
    Delta = closed_form(domain, "triangle", loss=TAYLOR)
    noisy = perturb(f, scales, 3, draws=(40_000,))
    for drawn in (noisy.M[:, 0, 0] - f.M[0, 0], noisy.M[:, 0, 1] - f.M[0, 1], noisy.v[:, 1] - f.v[1]):
        ratio = np.abs(drawn).mean() / (Delta / 0.5)
        assert abs(ratio - 1) < 4 / 200  # wrong once in 15,000 times
        assert stats.kstest(drawn, "laplace", args=(0, Delta / 0.5)).pvalue > 1e-4
        for off in (0.95, 1.05):
            assert abs(ratio / off - 1) > 4 / 200


def test_quadratic_chosen_after_the_release():
    """(8q M, v) with repairs that scale along has the minimiser theta / (8q)."""
    Z, y = records(8, n=2000)
    domain, q = space("box", 3, True), chebyshev(5.0)
    scales = functional(domain, 0.5, loss=TAYLOR)
    noisy = perturb(quadratic(Z[:, 1:], y, domain), scales, 2, draws=(50,))
    factor = q.square / TAYLOR.square
    after = perturb(quadratic(Z[:, 1:], y, domain), scales, 2, draws=(50,))
    after = type(after)(factor * after.M, after.v, after.c)
    scaled = Scales(factor * scales.M, scales.v)
    np.testing.assert_allclose(
        minimise(repair.bound(after, scaled)), minimise(repair.bound(noisy, scales)) / factor, rtol=1e-8, atol=1e-10
    )
    exact = quadratic(Z[:, 1:], y, domain, q)
    np.testing.assert_allclose(factor * quadratic(Z[:, 1:], y, domain).M, exact.M)
    assert certify(scaled, domain, loss=q) == pytest.approx(0.5)


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


def test_flat_start_is_refused():
    with pytest.raises(SolverError, match="flat"):
        newton(lambda: iter([(np.ones((2, 1)), np.array([0.0, 1.0]), np.ones(2))]), 1, start=[1e4])


# ---- objective perturbation ---------------------------------------------------------------------------------------


def log_density(theta, X, y, s, lift):
    """Log density of the released minimiser up to a constant, from the theorem's formula."""
    z = X @ theta
    p = 1 / (1 + np.exp(-z))
    slope = X.T @ (p - y) + lift * theta
    hessian = (X.T * (p * (1 - p))) @ X + lift * np.eye(len(theta))
    return -np.linalg.norm(slope) / s + np.linalg.slogdet(hessian)[1]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 3), st.sampled_from([0.1, 1.0, 4.0]), st.sampled_from([0.2, 0.5, 0.8]))
def test_density_ratio_of_objective_perturbation(seed, d, eps, share):
    """Random neighbours at the edge of the ball, few records so that the determinants matter, and random outputs."""
    rng = np.random.default_rng(seed)
    B = 1.3
    X = rng.normal(size=(3, d))
    X *= B / np.linalg.norm(X, axis=1)[:, None]
    y = rng.integers(0, 2, 3).astype(float)
    lift = B**2 / 4 / math.expm1((1 - share) * eps)
    for theta in rng.normal(size=(20, d)) * rng.choice([0.1, 1, 10], size=(20, 1)):
        replaced = log_density(theta, X[:2], y[:2], 2 * B / (share * eps), lift)
        assert abs(replaced - log_density(theta, X[1:], y[1:], 2 * B / (share * eps), lift)) <= eps + 1e-9
        added = log_density(theta, X, y, B / (share * eps), lift)
        assert abs(added - log_density(theta, X[:2], y[:2], B / (share * eps), lift)) <= eps + 1e-9


def left_over(X, y, domain, eps, share, seed, B):
    """Largest entry of the gradient at a release over the scale of the noise, which is drawn again here."""
    theta, _ = objective_perturbation(X, y, domain, eps, share=share, random_state=seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    u = rng.standard_normal(domain.p)
    s = 2 * B / (share * eps)
    u *= rng.gamma(domain.p, s) / np.linalg.norm(u)
    lift = B**2 / 4 * max(1 / math.expm1(min((1 - share) * eps, 700)), 1e-4)
    Z, _ = domain.scale(X, y)
    return np.abs(Z.T @ (special.expit(Z @ theta) - (y == 1)) + lift * theta + u).max() / s


@pytest.mark.parametrize("eps", [0.01, 1.0, 10.0, 20.0, 43.0, 100.0])
@pytest.mark.parametrize("rows", ["any", "on a line", "zero", "tiny", "corners"])
def test_the_solver_finds_the_minimiser_of_hard_objectives(eps, rows):
    """Separated or not, collinear or not: a solver that stops elsewhere, or gives up, gives the data away."""
    for d, n, separated, share in itertools.product((1, 3), (2, 3, 500), (False, True), (0.02, 0.5)):
        rng = np.random.default_rng((d, n, separated))
        X = {
            "any": rng.uniform(-1, 1, (n, d)),
            "on a line": np.linspace(-1, 1, n)[:, None] * np.ones(d),
            "zero": np.zeros((n, d)),
            "tiny": rng.uniform(-1e-4, 1e-4, (n, d)),
            "corners": rng.choice([-1.0, 1.0], (n, d)),
        }[rows]
        y = (X[:, 0] > 0 if separated else rng.uniform(size=n) < 0.5).astype(float)
        domain = space("box", d, intercept=True)
        for seed in range(3):
            assert left_over(X, y, domain, eps, share, seed, math.sqrt(d + 1)) < 1e-6, (d, n, separated, share)


def test_a_ridge_however_small_holds_a_direction_without_data():
    """Two equal columns: along (1, -1) the minimiser is that of the ridge and the tilt alone."""
    Z, y = np.ones((4, 2)), np.array([1.0, 1.0, 1.0, 0.0])
    theta = newton(lambda: iter([(Z, y, 1e6 * np.ones(4))]), 2, ridge=1e-7, tilt=[1.0, -1.0])
    assert theta[0] - theta[1] == pytest.approx(-1 / 1e-7, rel=1e-3)
    assert theta.sum() == pytest.approx(math.log(3), rel=1e-3)


def recovered(domain, eps, share, neighbours, seeds, B):
    """The random linear terms behind releases, from the condition that the gradient vanishes."""
    X, y = np.linspace(-1, 1, 6 * domain.d).reshape(6, -1), np.array([0, 1, 0, 1, 1, 0.0])
    Z, _ = domain.scale(X, y)
    lift = B**2 / 4 / math.expm1((1 - share) * eps)
    out = []
    for seed in seeds:
        theta, ledger = objective_perturbation(X, y, domain, eps, share=share, neighbours=neighbours, random_state=seed)
        out.append(-(Z.T @ (1 / (1 + np.exp(-Z @ theta)) - y) + lift * theta))
    return np.array(out), ledger


def test_linear_term_has_the_declared_law():
    """|u| is Gamma(9) times s: its mean over 2,000 draws varies by 1/134, and five per cent is almost seven of that."""
    domain = space("corner", 8, intercept=True)
    B, eps = math.sqrt(2), 2.0
    u, ledger = recovered(domain, eps, 0.5, "replace", range(2000), B)
    s, size = 2 * B / (0.5 * eps), np.linalg.norm(u, axis=1)
    ratio, spread = size.mean() / (9 * s), 1 / 3 / math.sqrt(2000)
    assert abs(ratio - 1) < 3.3 * spread  # wrong once in 1,000 times; the seeds are fixed
    for off in (0.95, 1.05):
        assert abs(ratio / off - 1) > 3.3 * spread
    assert stats.kstest(size / s, "gamma", args=(9,)).pvalue > 1e-3
    assert stats.kstest((u[:, 0] / size) ** 2, "beta", args=(0.5, 4)).pvalue > 1e-3  # uniform direction
    assert ledger.epsilon == pytest.approx(eps, rel=1e-12)


@pytest.mark.parametrize(("kind", "intercept", "B"), [("box", False, 2), ("box", True, 5**0.5), ("ball", True, 2**0.5)])
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_longest_record_sets_the_scale(kind, intercept, B, neighbours):
    domain = space(kind, 4, intercept)
    u, ledger = recovered(domain, 1.5, 0.3, neighbours, [5], float(B))
    twice = 2 if neighbours == "replace" else 1
    (spend,) = ledger
    assert spend.scale == pytest.approx(twice * B / (0.3 * 1.5))
    direction = np.random.default_rng(np.random.SeedSequence(5))
    normal = direction.standard_normal(domain.p)
    np.testing.assert_allclose(u[0] / np.linalg.norm(u[0]), normal / np.linalg.norm(normal), atol=1e-6)
    assert np.linalg.norm(u[0]) == pytest.approx(direction.gamma(domain.p, spend.scale), rel=1e-6)


def test_objective_perturbation_has_the_exact_fit_as_its_limit():
    Z, y = records(15, n=300)
    domain = space("box", 3, intercept=True)
    X = Z[:, 1:]
    theta, _ = objective_perturbation(X, y, domain, 1e7, random_state=1)
    np.testing.assert_allclose(theta, fit(Z, y), rtol=1e-4, atol=1e-5)
    far = X.copy()
    far[0] = 9.0
    near = X.copy()
    near[0] = 1.0
    np.testing.assert_array_equal(
        *(objective_perturbation(rows, y, domain, 1.0, random_state=2)[0] for rows in (far, near))
    )
