"""Repairs of a noisy objective: what they keep, and that the solution stays within bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dpreg.checks import BudgetError, InputError, SolverError
from dpreg.mechanisms.wishart import WishartDifference
from dpreg.pipeline import repair
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.laws import Scales, functional, unit_scales
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb
from dpreg.pipeline.solve import minimise
from tests.engine.quadratics import LINE, ROWS, quadratic

entries = st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3))


@st.composite
def noisy(draw, least=1, most=5):
    p = draw(st.integers(least, most))
    M = draw(arrays(float, (p, p), elements=entries))
    return quadratic(M, draw(arrays(float, (p,), elements=entries)))


@pytest.mark.thorough
@given(noisy(), st.floats(0, 50))
@settings(max_examples=150, deadline=None)
def test_trim_projects_both_parts(f, floor):
    g = repair.trim(f, floor)
    values, Q = np.linalg.eigh(f.symmetric)
    if np.abs(values - floor).min() < 1e-6:
        return
    kept = Q[:, values > floor]
    P = kept @ kept.T
    np.testing.assert_allclose(g.M, P @ f.symmetric @ P, atol=1e-9)
    np.testing.assert_allclose(g.v, P @ f.v, atol=1e-9)
    assert (g.M == g.M.T).all()
    theta = minimise(g)
    np.testing.assert_allclose(theta, P @ theta, atol=1e-6 * (1 + np.abs(theta).max()))
    if kept.size:
        V = -0.5 * (kept.T @ f.v) / values[values > floor]
        np.testing.assert_allclose(theta, kept @ V, rtol=1e-6, atol=1e-6 * (1 + np.abs(V).max()))
    if floor > 0:
        assert 2 * floor * np.linalg.norm(theta) <= np.linalg.norm(f.v) * (1 + 1e-9)


@pytest.mark.thorough
@given(noisy(), st.floats(0, 500))
@settings(max_examples=100, deadline=None)
def test_ridge_lifts_every_eigenvalue(f, amount):
    lifted = np.linalg.eigvalsh(repair.ridge(f, amount).symmetric)
    np.testing.assert_allclose(lifted, np.linalg.eigvalsh(f.symmetric) + amount, atol=1e-9 * (1000 + amount))


@pytest.mark.thorough
@given(noisy(least=2))
@settings(max_examples=100, deadline=None)
def test_projecting_m_alone_is_refused(f):
    g = repair.trim(f)
    values, Q = np.linalg.eigh(f.symmetric)
    dropped = Q[:, values <= 0]
    along = np.abs(dropped.T @ f.v)
    if dropped.size and along.max() > 1e-3 and np.abs(values).min() > 1e-3:
        with pytest.raises(SolverError):
            minimise(quadratic(g.M, f.v))


def test_trim_works_on_stacks_and_extremes():
    f = quadratic(np.stack([np.diag([1.0, -1.0]), -np.eye(2), np.eye(2)]), [[-2.0, 4.0]] * 3)
    np.testing.assert_allclose(minimise(repair.trim(f)), [[1, 0], [0, 0], [1, -2]])
    np.testing.assert_allclose(minimise(repair.trim(f, [0.0, 0.0, 2.0]))[2], 0)
    single = repair.trim(quadratic([[0.0]], [3.0]))
    assert single.M.tolist() == [[0.0]]
    assert single.v.tolist() == [0.0]


def test_repairs_reject_bad_amounts():
    f = quadratic(np.eye(1), [0])
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError):
            repair.ridge(f, bad)
        with pytest.raises(InputError):
            repair.trim(f, bad)
    with pytest.raises(InputError):
        repair.deviations(Scales(np.ones((1, 1)), np.ones(1)), 0)


@pytest.mark.thorough
def test_retry_keeps_only_bounded_draws_and_has_their_law():
    f = linear([[0.0], [0.0]], [0.0, 0.0], LINE)
    scales = functional(LINE, 1.0)
    found = [float(repair.retry(f, scales, seed).objective.M[0, 0]) for seed in range(400)]
    # with M = 0 the law of a Laplace variable given that it is positive is exponential
    assert stats.kstest(found, "expon", args=(0, float(scales.M[0, 0]))).pvalue > 1e-3
    assert repair.retry(f, scales, 0).ledger.epsilon == pytest.approx(2.0)


def test_retry_respects_budget_and_limit():
    f = linear(*ROWS, LINE)
    budget = Budget(1.0)
    with pytest.raises(BudgetError):
        repair.retry(f, functional(LINE, 0.6), 0, budget=budget)
    assert budget.remaining == 1.0
    hopeless = Quadratic(np.array([[-1e9]]), np.zeros(1), np.array(0.0), LINE)
    with pytest.raises(InputError, match="do not publish"):
        repair.retry(hopeless, functional(LINE, 1.0), 0, limit=300)


@given(eigenvalues=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), k=st.floats(0.1, 10.0))
def test_bound_keeps_positive_directions_and_bounds_the_solution(eigenvalues, k):
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    noisy = Quadratic(Q @ np.diag(eigenvalues) @ Q.T, rng.normal(size=3), np.array(0.0))
    scales = unit_scales("triangle", 3)
    s = math.sqrt(2)
    bounded = repair.bound(noisy, scales, k)
    left = np.linalg.eigvalsh(bounded.M)
    assert all(value == pytest.approx(0, abs=1e-9) or value >= k * s * (1 - 1e-9) for value in left)
    theta = minimise(bounded)
    assert np.linalg.norm(theta) <= np.linalg.norm(noisy.v) / (2 * k * s) * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_rounding_does_not_decide_what_is_trimmed(scale):
    """Zero eigenvalues of a singular M come out a little above or below zero, and go either way."""
    rng = np.random.default_rng(8)
    vectors = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    v = rng.normal(size=5)
    expected = None
    for last in (-3e-15, -1e-16, 0.0, 1e-16, 3e-15):
        M = scale * (vectors * [3.0, 2.0, 1.0, 0.5, last]) @ vectors.T
        trimmed = repair.trim(Quadratic((M + M.T) / 2, v, np.array(0.0)))
        theta = minimise(trimmed)
        expected = theta if expected is None else expected
        np.testing.assert_allclose(theta, expected, rtol=1e-9, atol=1e-12 / scale)
    assert np.linalg.matrix_rank(trimmed.M, tol=1e-9 * scale) == 4


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), st.floats(1e-2, 1e3))
@settings(max_examples=100, deadline=None)
def test_lift(eigenvalues, level):
    rng = np.random.default_rng(3)
    Q, v = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    noisy = Quadratic(Q @ np.diag(eigenvalues) @ Q.T, v, np.array(0.0))
    law = WishartDifference(np.ones(4), 1.0)
    lifted = repair.lift(noisy, law.times(level / law.level))
    np.testing.assert_allclose(repair.lift(noisy, law, level / float(law.level)).M, lifted.M)
    assert np.linalg.eigvalsh(lifted.M)[0] >= 2 * level * (1 - 1e-9)
    values = np.maximum(eigenvalues, 0)
    expected = Q @ (values / (values**2 + level**2) * (Q.T @ v)) / -2
    np.testing.assert_allclose(minimise(lifted), expected, atol=1e-7 * (1 + np.abs(expected).max()))
    assert np.linalg.norm(minimise(lifted)) <= np.linalg.norm(v) / (4 * level) * (1 + 1e-9)


@pytest.mark.thorough
def test_lift_minimises_the_expected_squared_gradient():
    """At a positive definite M: the mean of |2 (M - E) theta + v - e|^2 over the noise is smallest at the solution."""
    rng, p = np.random.default_rng(1), 3
    M, v = np.diag([5.0, 3.0, 2.0]), np.array([-4.0, 1.0, 3.0])
    law = WishartDifference(np.ones(p + 1), 0.2)
    zero = Quadratic(np.zeros((p, p)), np.zeros(p), np.array(0.0))
    E = perturb(zero, law, 1, draws=(100_000,))

    def mean(theta):
        return (np.linalg.norm(2 * (M - E.M) @ theta + v - E.v, axis=1) ** 2).mean()

    best = minimise(repair.lift(Quadratic(M, v, np.array(0.0)), law))
    step = 0.1 * rng.normal(size=(20, p))
    assert all(mean(best + s) > mean(best) for s in step)


def test_lift_uses_weights():
    f = Quadratic(np.array([[2.0, 1.0], [1.0, 9.0]]), np.array([1.0, 3.0]), np.array(0.0))
    D = np.diag([2.0, 0.5])
    inner = repair.lift(Quadratic(D @ f.M @ D, D @ f.v, f.c), WishartDifference(np.ones(3), 3.0))
    outer = repair.lift(f, WishartDifference([7.0, 2.0, 0.5], 3.0))
    np.testing.assert_allclose(minimise(outer), D @ minimise(inner))
    assert outer.domain is None


@pytest.mark.thorough
@pytest.mark.parametrize("convention", ["copied", "triangle", "monomial"])
def test_lift_knows_the_level_of_laplace_noise(convention):
    """The root mean square eigenvalue of the noise, measured, is where the coefficient is half of v / level."""
    law = unit_scales(convention, 3, public_count=True)
    zero = Quadratic(np.zeros((3, 3)), np.zeros(3), np.array(0.0))
    values = np.linalg.eigvalsh(perturb(zero, law, 1, draws=(200_000,)).M)
    level = math.sqrt((values**2).mean())
    lifted = repair.lift(Quadratic(-np.eye(3), np.zeros(3), np.array(0.0)), law)
    np.testing.assert_allclose(lifted.M, 2 * level * np.eye(3), rtol=0.01)


@given(eigenvalues=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), amount=st.floats(0.1, 1e3))
def test_positive_lifts_some_directions_and_drops_the_others(eigenvalues, amount):
    rng = np.random.default_rng(4)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    values = np.array([value if abs(value) > 1e-3 else 1.0 for value in eigenvalues])  # zero is for the next test
    f = repair.positive(Quadratic(Q @ np.diag(values) @ Q.T, Q @ np.ones(3), np.array(0.0)), amount)
    np.testing.assert_allclose(Q.T @ f.M @ Q, np.diag(np.where(values > 0, values + amount, 0)), atol=1e-9)
    np.testing.assert_allclose(Q.T @ f.v, np.where(values > 0, 1.0, 0.0), atol=1e-9)
