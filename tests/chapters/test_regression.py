"""The claims and theorems of the chapter on regression, derived without the chapter."""

import csv
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge

from dpreg.checks import IndefiniteError, SolverError
from dpreg.estimators.nonprivate import twin
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.solve import Penalty, Program, minimise
from lib.data.datasets import DATA, WINE_BOUNDS, WINE_FILE
from tests.ledger import values


@pytest.fixture(scope="module")
def wine():
    """Scaled wines with a constant column, read and scaled by hand."""
    with (DATA / WINE_FILE).open(encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter=";")
    table = np.array(lines, dtype=float)
    low, high = np.array([WINE_BOUNDS[name] for name in header]).T
    scaled = 2 * (table - low) / (high - low) - 1
    return np.column_stack([np.ones(len(table)), scaled[:, :-1]]), scaled[:, -1]


def quadratic(X, y):
    return Quadratic(X.T @ X, -2 * X.T @ y, np.array(y @ y))


def penalised(f, penalty, theta):
    return float(f(theta)) + penalty.l2 * theta @ theta + penalty.l1 * np.abs(theta).sum()


def test_independence_is_neither_needed_nor_enough():
    claim = values("RR-INDEP")
    x = [Fraction(k) for k in range(-2, 3)]
    # x and x^2 are orthogonal here, so X'X is diagonal and its eigenvalues are two sums of powers.
    assert sum(k**3 for k in x) == 0
    assert min(sum(k**2 for k in x), sum(k**4 for k in x)) == claim["dependent"]
    # Three rows cannot span five dimensions, whatever they hold.
    X = np.random.default_rng(7).normal(size=(3, 5))
    assert np.linalg.matrix_rank(X.T @ X) == 3
    assert abs(np.linalg.eigvalsh(X.T @ X)[0] - claim["independent"]) < 1e-12


def test_two_equal_columns_have_many_minimisers():
    claim = values("FM-DEF1")
    x, y = [Fraction(k) for k in (1, -2, 3)], [Fraction(k) for k in (2, 1, 4)]
    loss = [sum((r - (a + b) * k) ** 2 for k, r in zip(x, y, strict=True)) for a, b in ((1, 0), (0, 1), (5, -4))]
    assert loss[1] - loss[0] == loss[2] - loss[0] == claim["gap"]
    assert np.linalg.matrix_rank(np.array([x, x], dtype=float)) == claim["rank"]


def test_rank_deficiency_costs_uniqueness_only():
    claim = values("RR-CONVEX")
    x = [Fraction(k) for k in range(1, 6)]
    y = [Fraction(k) for k in (2, 1, 4, 3, 5)]

    def loss(a, b):
        return sum((r - (a + 2 * b) * k) ** 2 for k, r in zip(x, y, strict=True))

    slope = sum(k * r for k, r in zip(x, y, strict=True)) / sum(k * k for k in x)
    ends = [(slope - 2 * s, s) for s in (Fraction(-3), Fraction(5))]
    middle = tuple((a + b) / 2 for a, b in zip(*ends, strict=True))
    assert (loss(*ends[0]) + loss(*ends[1])) / 2 - loss(*middle) == claim["gap"]
    assert all(loss(a + da, b + db) >= loss(*ends[0]) for a, b in ends for da in (-1, 0, 1) for db in (-1, 0, 1))
    # X'X = s [[1, 2], [2, 4]]: determinant zero, trace positive.
    s = sum(k * k for k in x)
    assert s * 4 * s - (2 * s) ** 2 == claim["lowest"]
    assert claim["rank"] == 1


def test_every_gram_matrix_is_semidefinite():
    rng = np.random.default_rng(0)
    for n, p in [(2, 6), (6, 2), (30, 5)]:
        X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) * 10.0 ** rng.integers(-3, 4, p)
        lowest, *_, highest = np.linalg.eigvalsh(X.T @ X)
        assert lowest >= -1e-12 * highest


def test_sum_and_mean_have_one_minimiser(wine):
    claim = values("RR-EQ2")
    X, y = wine
    assert len(y) == claim["records"]
    by_mean = LinearRegression(fit_intercept=False).fit(X / len(y) ** 0.5, y / len(y) ** 0.5).coef_
    by_sum = LinearRegression(fit_intercept=False).fit(X, y).coef_
    assert np.abs(by_mean - by_sum).max() == pytest.approx(claim["difference"], abs=1e-6)


def test_normal_equations(wine):
    claim = values("RR-EQ3")
    X, y = wine
    assert np.linalg.matrix_rank(X) == claim["rank"]
    Q, R = np.linalg.qr(X)
    by_qr = np.linalg.solve(R, Q.T @ y)
    assert np.abs(by_qr - np.linalg.solve(X.T @ X, X.T @ y)).max() == pytest.approx(claim["difference"], abs=1e-6)
    assert minimise(quadratic(X, y)) == pytest.approx(by_qr, abs=1e-6)
    # Without full rank: the solution of minimum norm.
    double = np.column_stack([X, X[:, 3]])
    assert minimise(quadratic(double, y)) == pytest.approx(np.linalg.pinv(double) @ y, abs=1e-6)


def test_ridge_closed_form(wine):
    """Ridge is least squares on p more records, sqrt(lambda) times the unit vectors with response zero."""
    claim = values("RR-EQ5")
    X, y = wine
    p = X.shape[1]
    augmented = np.vstack([X, 10**0.5 * np.eye(p)])
    by_rows = np.linalg.lstsq(augmented, np.r_[y, np.zeros(p)], rcond=None)[0]
    formula = np.linalg.solve(X.T @ X + 10 * np.eye(p), X.T @ y)
    assert np.abs(by_rows - formula).max() == pytest.approx(claim["difference"], abs=1e-6)
    assert minimise(quadratic(X, y), Penalty(10.0)) == pytest.approx(by_rows, abs=1e-6)


def test_soft_thresholding():
    """One-dimensional problems in exact fractions: candidates are zero and the stationary point of each sign."""
    claim = values("RR-LASSO")
    for name, m, v in (("first", 1, -6), ("second", 2, 1), ("third", 4, 5)):
        candidates = {Fraction(0)}
        for sign in (1, -1):
            point = Fraction(-(v + 2 * sign), 2 * m)
            if point * sign > 0:
                candidates.add(point)
        best = min(candidates, key=lambda u: m * u * u + v * u + 2 * abs(u))
        assert best == claim[name]
    searched = minimise(Quadratic(np.diag([1.0, 2.0, 4.0]), np.array([-6.0, 1.0, 5.0]), 0.0), Penalty(2.0, alpha=0.0))
    exact = [float(claim[name]) for name in ("first", "second", "third")]
    assert np.abs(searched - exact).max() == pytest.approx(claim["difference"], abs=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8])
def test_soft_thresholding_formula_on_random_diagonals(alpha):
    rng = np.random.default_rng(1)
    for _ in range(20):
        m, v, penalty = rng.uniform(0.1, 3, 4), rng.normal(scale=4, size=4), Penalty(3.0, alpha)
        formula = -np.sign(v) * np.maximum(np.abs(v) - penalty.l1, 0) / (2 * (m + penalty.l2))
        assert minimise(Quadratic(np.diag(m), v, np.array(0.0)), penalty) == pytest.approx(formula, abs=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 0.75, 0.5, 0.25, 0.0])
def test_mixing_against_scikit_learn(wine, alpha):
    """The conversion of the chapter, written out, for scikit-learn's own estimators on the rows."""
    claim = values("RR-EQ9")
    X, y = wine
    n, lam = len(y), 100.0
    ratio = Fraction(1 - Fraction(alpha)) / (1 + Fraction(alpha))
    if alpha == 0.5:
        assert float(ratio) == pytest.approx(claim["l1_ratio_at_half"], abs=1e-6)
        assert twin(Penalty(lam, alpha), n).l1_ratio == pytest.approx(float(ratio))
    settings = {"fit_intercept": False, "tol": 1e-11, "max_iter": 200_000}
    if alpha == 1.0:
        theirs = Ridge(alpha=lam, fit_intercept=False)
    elif alpha == 0.0:
        theirs = Lasso(alpha=lam / (2 * n), **settings)
    else:
        theirs = ElasticNet(alpha=lam * (1 + alpha) / (2 * n), l1_ratio=float(ratio), **settings)
    ours = minimise(quadratic(X, y), Penalty(lam, alpha))
    assert np.abs(theirs.fit(X, y).coef_ - ours).max() == pytest.approx(claim["ridge"], abs=1e-6)
    assert claim["ridge"] == claim["lasso"] == 0


def test_one_minus_alpha_is_not_the_l1_ratio(wine):
    """What the folklore l1_ratio = 1 - alpha would give differs visibly, so the test above can tell."""
    X, y = wine
    wrong = ElasticNet(alpha=100 * 1.5 / (2 * len(y)), l1_ratio=0.5, fit_intercept=False, tol=1e-10, max_iter=100_000)
    assert np.abs(wrong.fit(X, y).coef_ - minimise(quadratic(X, y), Penalty(100, 0.5))).max() > 1e-3


@pytest.mark.parametrize("penalty", [Penalty(), Penalty(10, 1), Penalty(100, 0), Penalty(100, 0.5)])
def test_three_routes_agree(wine, penalty):
    X, y = wine
    f = quadratic(X, y)
    ours = minimise(f, penalty)
    assert twin(penalty, len(y)).fit(X, y).coef_ == pytest.approx(ours, abs=1e-6)
    scs = Program(X.shape[1]).solve(f, penalty)
    assert scs == pytest.approx(ours, abs=1e-5)
    assert penalised(f, penalty, ours) <= penalised(f, penalty, scs) + 1e-9


def test_library_objective_is_the_formula(wine):
    """`objective.linear` against X'X, -2X'y and y'y of the rows scaled by hand."""
    from lib.data.datasets import wine as load

    X, y = wine
    data = load()
    f, g = linear(data.X, data.y, data.box(intercept=True)), quadratic(X, y)
    assert pytest.approx(g.M) == f.M
    assert f.v == pytest.approx(g.v)
    assert float(f.c) == pytest.approx(float(g.c))


def test_lambda_of_the_mean_is_n_lambda_of_the_sum(wine):
    claim = values("SL-MEAN")
    X, y = wine
    n, p, lam = len(y), X.shape[1], 0.01
    assert n == claim["factor"]
    of_mean = np.linalg.solve(X.T @ X / n + lam * np.eye(p), X.T @ y / n)
    of_sum = Ridge(alpha=n * lam, fit_intercept=False).fit(X, y).coef_
    assert np.abs(of_mean - of_sum).max() == pytest.approx(claim["difference"], abs=1e-6)
    not_the_same = Ridge(alpha=lam, fit_intercept=False).fit(X, y).coef_
    assert np.abs(of_mean - not_the_same).max() > 1e-2


def test_a_weight_of_one_over_n_on_the_mean_is_one_on_the_sum(wine):
    claim = values("RR-YU")
    X, y = wine
    n, p = X.shape
    of_mean = np.linalg.solve(X.T @ X / n + np.eye(p) / n, X.T @ y / n)
    of_sum = Ridge(alpha=1.0, fit_intercept=False).fit(X, y).coef_
    assert np.abs(of_mean - of_sum).max() == pytest.approx(claim["difference"], abs=1e-6)


def test_least_squares_is_not_robust():
    before, after = [1, 2, 3, 4, 5], [1, 2, 3, 4, 1005]
    assert Fraction(sum(after) - sum(before), 5) == 200
    assert sorted(after)[2] - sorted(before)[2] == 0


def test_convexity_gap():
    """f at two points and their midpoint, for a matrix that is not symmetric."""
    rng = np.random.default_rng(3)
    f = Quadratic(rng.normal(size=(4, 4)), rng.normal(size=4), np.array(2.0))
    for a, b in rng.normal(size=(20, 2, 4)):
        gap = (f(a) + f(b)) / 2 - f((a + b) / 2)
        assert gap == pytest.approx((a - b) @ f.symmetric @ (a - b) / 4)


def test_existence_without_l1():
    flat = Quadratic(np.diag([1.0, 0.0]), np.array([-2.0, 0.0]), np.array(0.0))
    assert minimise(flat).tolist() == [1.0, 0.0]  # v in the range
    with pytest.raises(SolverError):
        minimise(Quadratic(flat.M, np.array([-2.0, 0.1]), flat.c))  # v outside it
    with pytest.raises(IndefiniteError):
        minimise(Quadratic(np.diag([1.0, -0.1]), flat.v, flat.c))


def test_no_l1_weight_rescues_an_indefinite_quadratic():
    rng = np.random.default_rng(4)
    for weight in (1.0, 1e3, 1e6):
        A = rng.normal(size=(3, 3))
        M = (A + A.T) / 2 - 2 * np.eye(3)
        f = Quadratic(M, rng.normal(size=3), np.array(0.0))
        u = np.linalg.eigh(M)[1][:, 0]
        far = [penalised(f, Penalty(weight, 0.0), s * u) for s in (1e7, 1e8, 1e9)]
        assert far[2] < far[1] < far[0] < 0
        for route in (minimise, Program(3).solve):
            with pytest.raises(IndefiniteError):
                route(f, Penalty(weight, 0.0))


@pytest.mark.parametrize("seed", range(5))
def test_l1_rescues_a_flat_direction_exactly_where_the_theorem_says(seed):
    """The smallest weight is the largest |v'u| / |u|_1 over the kernel, here a line; on either side of it."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=3)
    P = np.eye(3) - np.outer(u, u) / (u @ u)
    v = rng.normal(size=3)
    threshold = abs(v @ u) / np.abs(u).sum()
    f = Quadratic(P, v, np.array(0.0))
    with pytest.raises(SolverError):
        minimise(f, Penalty(0.9 * threshold, 0.0))
    enough = Penalty(1.1 * threshold, 0.0)
    ours = minimise(f, enough)
    search = optimize.minimize(
        lambda w: penalised(f, enough, w[:3] - w[3:]), np.full(6, 0.1), bounds=[(0, None)] * 6, tol=1e-14
    )
    assert penalised(f, enough, ours) <= search.fun + 1e-7
    below = Penalty(0.9 * threshold, 0.0)
    down = -np.sign(v @ u) * u
    assert penalised(f, below, 1e6 * down) < penalised(f, below, 1e3 * down) < 0
