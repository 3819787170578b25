"""Minimisers of quadratics with penalties: they meet the conditions, and what has no minimiser is refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import ElasticNet, Lasso, Ridge

from dpreg.checks import IndefiniteError, InputError, SolverError
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb
from dpreg.pipeline.solve import NONE, Penalty, Program, asymmetric_closed_form, minimise, violation
from lib.data.datasets import wine
from tests.engine.quadratics import quadratic, seeds, total


def test_indefinite_draw_is_refused():
    with pytest.raises(IndefiniteError, match="unbounded below"):
        minimise(quadratic([[1, 2], [2, 1]], [-6, 0]))


alphas = st.sampled_from([0.0, 0.3, 0.9, 1.0])


def subgradient_gap(f, penalty, theta):
    """The optimality conditions, coordinate by coordinate, in plain Python."""
    worst = 0.0
    for j in range(f.p):
        slope = f.v[j] + 2 * penalty.l2 * theta[j] + sum((f.M[j, k] + f.M[k, j]) * theta[k] for k in range(f.p))
        if theta[j] != 0:
            worst = max(worst, abs(slope + math.copysign(penalty.l1, theta[j])))
        else:
            worst = max(worst, abs(slope) - penalty.l1)
    return worst / max(np.abs(f.v).max(), penalty.l1, 1e-300)


@pytest.mark.thorough
@given(seeds, alphas, st.floats(-3, 3), st.floats(-8, 8))
@settings(max_examples=200, deadline=None)
def test_minimise_meets_the_conditions(seed, alpha, log_lam, log_size):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 13)), int(rng.integers(1, 30))
    X, y, size = rng.normal(size=(n, p)), rng.normal(size=n), 10.0**log_size
    f, penalty = quadratic(size * X.T @ X, -2 * size * X.T @ y), Penalty(size * 10.0**log_lam, alpha)
    theta = minimise(f, penalty)
    assert subgradient_gap(f, penalty, theta) < 1e-7
    assert violation(f, penalty, theta) == pytest.approx(max(0.0, subgradient_gap(f, penalty, theta)), abs=1e-9)
    around = theta + rng.normal(size=(50, p)) * (np.abs(theta).max() + 1) * 10.0 ** rng.uniform(-4, 0, size=(50, 1))
    here = total(f, penalty, theta)
    assert (total(f, penalty, around) >= here - 1e-9 * (abs(here) + size)).all()


@pytest.mark.thorough
@given(seeds, alphas)
@settings(max_examples=25, deadline=None)
def test_minimise_equals_scs(seed, alpha):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 8))
    X, y = rng.normal(size=(p + 20, p)), rng.normal(size=p + 20)
    f, penalty = quadratic(X.T @ X, -2 * X.T @ y), Penalty(float(rng.uniform(0.1, 20)), alpha)
    np.testing.assert_allclose(minimise(f, penalty), Program(p).solve(f, penalty), atol=1e-6)


@given(seeds, alphas)
@settings(max_examples=40, deadline=None)
def test_minimise_equals_scikit_learn(seed, alpha):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 10)), 60
    X, y, lam = rng.normal(size=(n, p)), rng.normal(size=n), float(rng.uniform(0.1, 40))
    penalty = Penalty(lam, alpha)
    options = {"fit_intercept": False, "tol": 1e-13, "max_iter": 100_000}
    if alpha == 1:
        twin = Ridge(alpha=lam, fit_intercept=False)
    elif alpha == 0:
        twin = Lasso(alpha=lam / (2 * n), **options)
    else:
        l1, l2 = penalty.l1 / (2 * n), penalty.l2 / n
        twin = ElasticNet(alpha=l1 + l2, l1_ratio=l1 / (l1 + l2), **options)
    np.testing.assert_allclose(minimise(quadratic(X.T @ X, -2 * X.T @ y), penalty), twin.fit(X, y).coef_, atol=1e-6)


@given(seeds, st.sampled_from([1.0, 0.3, 0.0]))
@settings(max_examples=40, deadline=None)
def test_a_free_first_coefficient_is_not_penalised(seed, alpha):
    """Where the slope along it is zero the others meet the conditions of the penalty; a stack is solved at once."""
    rng = np.random.default_rng(seed)
    p, penalty = int(rng.integers(1, 6)), Penalty(float(rng.uniform(0.1, 5.0)), alpha)
    A, v = rng.normal(size=(3, p + 2, p)), rng.normal(size=(3, p)) * 4
    f = Quadratic(np.swapaxes(A, 1, 2) @ A, v, np.zeros(3))
    theta = minimise(f, penalty, free=True)
    slope = 2 * (f.M @ theta[..., None])[..., 0] + v + 2 * penalty.l2 * theta * (np.arange(p) > 0)
    np.testing.assert_allclose(slope[:, 0], 0.0, atol=1e-7)
    miss = np.abs(slope + penalty.l1 * np.sign(theta)) - np.where(theta == 0, penalty.l1, 0.0)
    assert (miss[:, 1:] < 1e-6).all()


def test_a_free_coefficient_must_have_a_minimum():
    with pytest.raises(IndefiniteError, match="free: lift it first"):
        minimise(quadratic([[0.0, 0.0], [0.0, 1.0]], [1.0, 1.0]), Penalty(1.0), free=True)
    f = quadratic([[2.0, 1.0], [1.0, 2.0]], [1.0, 1.0])
    assert (minimise(f, free=True) == minimise(f)).all()


@pytest.mark.thorough
def test_minimise_equals_scikit_learn_on_wine():
    data = wine()
    Z, t = data.box().scale(data.X, data.y)
    f = linear(data.X, data.y, data.box())
    for lam in (1.0, 30.0, 1000.0):
        twin = Lasso(alpha=lam / (2 * len(t)), fit_intercept=False, tol=1e-12, max_iter=1_000_000).fit(Z, t)
        np.testing.assert_allclose(minimise(f, Penalty(lam, 0.0)), twin.coef_, atol=1e-6)


@given(seeds, st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_one_dimension_is_soft_thresholding(seed, log_lam):
    rng = np.random.default_rng(seed)
    m, v, lam = 10.0 ** rng.uniform(-4, 4), rng.normal() * 10.0 ** rng.uniform(-4, 4), 10.0**log_lam
    expected = -np.sign(v) * max(abs(v) - lam, 0) / (2 * m)
    np.testing.assert_allclose(minimise(quadratic([[m]], [v]), Penalty(lam, 0.0)), [expected], rtol=1e-6, atol=0)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_solution_does_not_depend_on_the_units_of_columns(seed):
    """theta_j -> theta_j / c_j with the L1 weight folded in: orthogonal designs of wildly different sizes."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    m, v, lam = 10.0 ** rng.uniform(-8, 8, size=p), rng.normal(size=p) * 10.0 ** rng.uniform(-8, 8, size=p), 1.0
    expected = -np.sign(v) * np.maximum(np.abs(v) - lam, 0) / (2 * m)
    np.testing.assert_allclose(minimise(quadratic(np.diag(m), v), Penalty(lam, 0.0)), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("seed", range(40))
def test_badly_scaled_columns(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 13))
    X, y = rng.normal(size=(20, p)) * 10.0 ** rng.uniform(-3, 3, size=p), rng.normal(size=20)
    f, penalty = quadratic(X.T @ X, -2 * X.T @ y), Penalty(float(10.0 ** rng.uniform(-2, 2)), 0.0)
    assert subgradient_gap(f, penalty, minimise(f, penalty)) < 1e-6


def test_a_zero_in_v_is_no_reason_to_refuse():
    """Well conditioned but for the units of its columns, a tiny L1 weight, and a zero in v that excuses nothing."""
    f = quadratic([[14680064.0**2 / 14, -25769803776.0], [-25769803776.0, 134217728.0]], [14680064.0, 0.0])
    theta = minimise(f, Penalty(5.7e-6, 0.0))
    np.testing.assert_allclose(theta, np.linalg.solve(2 * f.M, -f.v - 5.7e-6 * np.sign(theta)), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_ties_duplicates_and_thresholds(alpha):
    ones = np.full(4, -4.0)
    for M in (2 * np.eye(4), np.ones((4, 4)), np.kron(np.eye(2), np.ones((2, 2)))):
        for lam in (1.0, 3.999999, 4.0, 4.000001):
            f, penalty = quadratic(M, ones), Penalty(lam, alpha)
            assert subgradient_gap(f, penalty, minimise(f, penalty)) < 1e-8
    assert (minimise(quadratic(np.eye(4), ones), Penalty(4.0, 0.0)) == 0).all()


@given(seeds, alphas)
@settings(max_examples=100, deadline=None)
def test_exactly_singular_integers(seed, alpha):
    """Integer designs with repeated and zero columns: ties and exact singularity, but always bounded."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 8)), int(rng.integers(1, 8))
    X = np.repeat(rng.integers(-2, 3, size=(n, p)).astype(float), 2, axis=1)
    y = rng.integers(-3, 4, size=n).astype(float)
    f, penalty = quadratic(X.T @ X, -2 * X.T @ y), Penalty(float(rng.integers(1, 10)), alpha)
    assert subgradient_gap(f, penalty, minimise(f, penalty)) < 1e-7


@given(seeds, st.floats(-10, -2))
@settings(max_examples=60, deadline=None)
def test_nearly_equal_columns(seed, log_gap):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 4)), rng.normal(size=12)
    X = np.hstack([X, X + 10.0**log_gap * rng.normal(size=X.shape)])
    f, penalty = quadratic(X.T @ X, -2 * X.T @ y), Penalty(1.0, 0.0)
    assert subgradient_gap(f, penalty, minimise(f, penalty)) < 1e-6


def test_zero_v_huge_and_tiny_penalties():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 5)), rng.normal(size=9)
    M, v = X.T @ X, -2 * X.T @ y
    for penalty in (NONE, Penalty(1.0, 0.0), Penalty(1.0, 1.0), Penalty(1e12, 0.0)):
        theta = minimise(quadratic(M, np.zeros(5)), penalty)
        np.testing.assert_allclose(theta, 0, atol=1e-12)
        assert violation(quadratic(M, np.zeros(5)), penalty, np.zeros(5)) == 0
    assert (minimise(quadratic(M, v), Penalty(1e12, 0.0)) == 0).all()
    np.testing.assert_allclose(minimise(quadratic(M, v), Penalty(1e-12, 0.0)), minimise(quadratic(M, v)), atol=1e-9)
    np.testing.assert_allclose(minimise(quadratic(np.zeros((3, 3)), np.zeros(3)), Penalty(1.0, 0.0)), 0)
    assert (minimise(quadratic(np.zeros((2, 2)), np.ones(2)), Penalty(1.0, 0.0)) == 0).all()


def test_stacks_agree_with_single_problems():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3, 4, 20, 5))
    M, v = np.swapaxes(X, -1, -2) @ X, 10 * rng.normal(size=(3, 4, 5))
    f = Quadratic(M, v, np.zeros((3, 4)))
    for penalty in (NONE, Penalty(5.0, 0.0), Penalty(5.0, 0.5)):
        theta = minimise(f, penalty)
        assert theta.shape == (3, 4, 5)
        for index in np.ndindex(3, 4):
            np.testing.assert_allclose(theta[index], minimise(f[index], penalty), atol=1e-10)


def test_only_the_symmetric_part_counts():
    rng = np.random.default_rng(2)
    X, K = rng.normal(size=(20, 4)), rng.normal(size=(4, 4))
    M, v = X.T @ X, rng.normal(size=4) * 9
    for penalty in (NONE, Penalty(3.0, 0.2)):
        np.testing.assert_allclose(
            minimise(quadratic(M + K - K.T, v), penalty), minimise(quadratic(M, v), penalty), atol=1e-10
        )


def test_minimum_norm_where_m_is_singular():
    f = quadratic(np.ones((2, 2)), [-2, -2])
    np.testing.assert_allclose(minimise(f), np.linalg.lstsq(2 * f.M, -f.v, rcond=None)[0])


@given(seeds, alphas, st.floats(-6, 2))
@settings(max_examples=100, deadline=None)
def test_indefinite_is_always_refused(seed, alpha, log_depth):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 9))
    Q = stats.ortho_group.rvs(p, random_state=rng) if p > 1 else np.eye(1)
    values = rng.uniform(0, 1, size=p)
    values[0] = -(10.0**log_depth)
    penalty = Penalty(0.5 * 10.0**log_depth, alpha)  # its ridge part lifts by half of what would be needed
    f = quadratic((Q * values) @ Q.T, rng.normal(size=p))
    with pytest.raises(IndefiniteError):
        minimise(f, penalty)
    with pytest.raises(IndefiniteError):
        Program(p).solve(f, penalty)
    walk = 10.0 ** np.arange(1, 9)[:, None] / 10.0**log_depth * Q[:, 0] * -np.sign(f.v @ Q[:, 0])
    assert total(f, penalty, walk).argmin() == 7


def test_one_indefinite_problem_refuses_the_stack():
    f = quadratic(np.stack([np.eye(2), np.diag([1.0, -1.0])]), np.ones((2, 2)))
    with pytest.raises(IndefiniteError):
        minimise(f)
    with pytest.raises(IndefiniteError):
        minimise(f, Penalty(0.5, 0.0))


def stack(problems):
    return quadratic(*map(np.array, zip(*problems, strict=True)))


def falling(rng, p, excess, lam, whole, size=1.0):
    """M is singular and v falls along its kernel, faster than the L1 term rises if the excess is above one."""
    k = int(rng.integers(1, p))
    B = rng.integers(-2, 3, size=(k, p)).astype(float) if whole else rng.normal(size=(k, p))
    q = np.linalg.svd(B)[2][-1]  # a unit vector of the kernel, as k < p
    return B.T @ B, size * B.T @ rng.normal(size=k) - excess * lam * np.abs(q).sum() * q


@pytest.mark.parametrize("p", range(2, 9))
@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_unbounded_flat_directions_are_refused(p, lam):
    """Each problem of a stack; the error says how many. Without a penalty each by itself."""
    rng, kinds = np.random.default_rng(p), itertools.product([1.01, 2.0, 1e3, 1e6], [True, False])
    problems = [falling(rng, p, excess, lam, whole) for excess, whole in kinds]
    with pytest.raises(SolverError, match="8 of 8"):
        minimise(stack(problems), Penalty(lam, 0.0))
    for problem in problems:
        with pytest.raises(SolverError):
            minimise(quadratic(*problem))


@pytest.mark.parametrize("p", range(2, 7))
@pytest.mark.parametrize("lam", [10**-6.5, 1e-6, 1e-5, 1e-4])
def test_no_penalty_is_too_small_to_be_refused(p, lam):
    """The excess is far below v, but above the tolerance: an answer of a million would be a wrong one."""
    rng = np.random.default_rng(p)
    problems = [falling(rng, p, 1.5, lam, True, 4.0) for _ in range(6)]
    with pytest.raises(SolverError, match="6 of 6"):
        minimise(stack(problems), Penalty(lam, 0.0))


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_flat_directions_that_the_penalty_pays_for_are_solved(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 9))
    B = rng.normal(size=(int(rng.integers(1, p)), p))
    kernel = np.linalg.svd(B)[2][len(B) :]
    u = rng.uniform(-0.9, 0.9, size=p)  # v + u in the range: the theorem's certificate
    f, penalty = quadratic(B.T @ B, B.T @ rng.normal(size=len(B)) - u), Penalty(1.0, 0.0)
    theta = minimise(f, penalty)
    assert subgradient_gap(f, penalty, theta) < 1e-6
    assert (np.abs(kernel @ f.v) <= np.abs(kernel).sum(axis=1)).all()


def test_barely_flat_direction_is_refused_not_answered():
    f = quadratic(np.diag([1.0, 0.0]), [0.0, -2.0])
    with pytest.raises(SolverError, match="flat direction"):
        minimise(f, Penalty(1.0, 0.0))
    with pytest.raises(SolverError, match="flat"):
        minimise(f)
    with pytest.raises(SolverError):
        Program(2).solve(f, Penalty(1.0, 0.0))


def test_penalty_and_program_reject_bad_input():
    for bad in ((-1.0, 0.5), (1.0, 1.5), (math.nan, 0.5), (1.0, -0.1)):
        with pytest.raises(InputError):
            Penalty(*bad)
    with pytest.raises(InputError):
        Program(3).solve(quadratic(np.eye(2), [0, 0]))
    with pytest.raises(SolverError):
        asymmetric_closed_form(quadratic([[0.0, 1.0], [0.0, 1.0]], [1.0, 1.0]))


@pytest.mark.thorough
def test_repaired_releases_are_solved_in_bulk():
    """Every trimmed noisy wine objective has its LASSO, whatever the budget."""
    from dpreg.pipeline import repair

    data = wine()
    box = data.box()
    f = linear(data.X, data.y, box)
    for eps in (0.1, 1.0, 10.0):
        scales = functional(box, eps)
        noisy = repair.trim(repair.ridge(perturb(f, scales, 1, draws=(500,)), repair.deviations(scales)))
        for penalty in (Penalty(1.0, 0.0), Penalty(100.0, 0.5)):
            assert violation(noisy, penalty, minimise(noisy, penalty)).max() < 1e-6


def test_a_small_eigenvalue_is_not_a_flat_direction():
    f = Quadratic(np.diag([1.0, 1e-11]), np.array([-1.0, -1e-8]), np.array(0.0))
    assert minimise(f) == pytest.approx([0.5, 500.0])
