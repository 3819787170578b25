"""Newton's method for the logistic loss: its sums, where it ends, and what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpreg.checks import IndefiniteError, SolverError
from dpreg.pipeline.domain import BLOCK
from dpreg.pipeline.newton import blocked, descend, newton, over, pointwise
from tests.engine.labelled import records


def total(theta, Z, y, w):
    """The loss of all records, one by one."""
    return sum(k * (math.log1p(math.exp(-abs(z))) + max(z, 0) - t * z) for z, t, k in zip(Z @ theta, y, w, strict=True))


def test_blocks_are_the_rows_in_their_order():
    n = 2 * BLOCK + 3
    parts = list(blocked(np.arange(n)[:, None], np.arange(n), np.arange(n))())
    assert [len(labels) for _, labels, _ in parts] == [BLOCK, BLOCK, 3]
    for part in range(3):
        np.testing.assert_array_equal(np.concatenate([block[part] for block in parts]).ravel(), np.arange(n))


@given(st.floats(-30, 30))
def test_value_slope_and_bend_by_their_definitions(z):
    value, chance, bend = (float(one[0]) for one in pointwise(np.array([z])))
    assert value == pytest.approx(math.log(1 + math.exp(z)), rel=1e-12, abs=1e-15)
    assert chance == pytest.approx(1 / (1 + math.exp(-z)), rel=1e-14)
    assert bend == pytest.approx(math.exp(z) / (1 + math.exp(z)) ** 2, rel=1e-12)


def test_nothing_overflows():
    value, chance, bend = pointwise(np.array([-800.0, 800.0]))
    assert (value.tolist(), chance.tolist(), bend.tolist()) == ([0.0, 800.0], [0.0, 1.0], [0.0, 0.0])


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_those_of_the_records_and_their_derivatives(seed):
    Z, y = records(seed, n=40)
    rng = np.random.default_rng(seed)
    w, theta, step = rng.uniform(0, 3, 40), rng.normal(size=4), 1e-5
    sums = over(lambda: iter([(Z[:15], y[:15], w[:15]), (Z[15:], y[15:], w[15:])]))
    value, slope, curvature = sums(theta)
    assert value == pytest.approx(total(theta, Z, y, w), rel=1e-12)
    for j, move in enumerate(step * np.eye(4)):
        up, down = sums(theta + move), sums(theta - move)
        assert slope[j] == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(curvature[j], (up[1] - down[1]) / (2 * step), rtol=1e-6, atol=1e-7)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.floats(1e-3, 10.0))
def test_it_ends_at_the_minimiser(seed, ridge):
    """Of the loss, the ridge |theta|^2 and the tilt, as another solver finds it."""
    Z, y = records(seed, n=60)
    tilt = np.random.default_rng(seed).normal(size=4)
    theta = newton(blocked(Z, y, np.ones(60)), 4, ridge=ridge, tilt=tilt)

    def slope(at):
        return Z.T @ (1 / (1 + np.exp(-Z @ at)) - y) + 2 * ridge * at + tilt

    np.testing.assert_allclose(theta, optimize.root(slope, np.zeros(4), tol=1e-12).x, rtol=1e-6, atol=1e-8)


def test_sums_may_be_found_in_another_way():
    """Of records that are alike, their number is enough."""
    ones, labels = np.ones((7, 1)), np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0])

    def counted(theta):
        losses, chance, bend = pointwise(theta)
        return float(7 * losses[0] - 5 * theta[0]), 7 * chance - 5, 7 * bend[:, None]

    assert descend(counted, 1)[0] == pytest.approx(newton(blocked(ones, labels, np.ones(7)), 1)[0], rel=1e-12)
    assert descend(counted, 1)[0] == pytest.approx(math.log(5 / 2), rel=1e-9)


def test_a_step_too_long_is_halved_until_the_loss_falls():
    """From far to one side a full step goes as far to the other, where the loss is larger."""
    tried = []

    def sums(theta):
        tried.append(theta[0])
        losses, chance, bend = pointwise(theta)
        return float(4 * losses[0] - 2 * theta[0]), 4 * chance - 2, 4 * bend[:, None]

    assert descend(sums, 1, start=[4.0])[0] == pytest.approx(0, abs=1e-8)
    assert max(abs(z) for z in tried) > 4
    assert tried[2] == pytest.approx((tried[0] + tried[1]) / 2)


def test_it_ends_where_no_step_lowers_the_loss():
    """A slope that rounding leaves: the steps it asks for are halved until they are nothing, and it stays."""
    start = np.array([0.25])
    theta = descend(lambda at: (float(np.any(at != start)), np.array([1.0]), np.array([[1.0]])), 1, start=start)
    assert theta.tolist() == start.tolist()


def test_what_has_no_minimiser_is_refused():
    Z, y = np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([0.0, 1.0])
    with pytest.raises(SolverError, match="not converged after 9 evaluations: if a plane separates the labels"):
        newton(blocked(Z, y, np.ones(2)), 2, limit=9)
    with pytest.raises(IndefiniteError, match="negative weights made the loss non-convex"):
        newton(blocked(Z, y, np.array([1.0, -2.0])), 2)


def test_flat_start_is_refused():
    with pytest.raises(SolverError, match="flat"):
        newton(lambda: iter([(np.ones((2, 1)), np.array([0.0, 1.0]), np.ones(2))]), 1, start=[1e4])


def test_a_ridge_however_small_holds_a_direction_without_data():
    """Two equal columns: along (1, -1) the minimiser is that of the ridge and the tilt alone."""
    Z, y = np.ones((4, 2)), np.array([1.0, 1.0, 1.0, 0.0])
    theta = newton(lambda: iter([(Z, y, 1e6 * np.ones(4))]), 2, ridge=1e-7, tilt=[1.0, -1.0])
    assert theta[0] - theta[1] == pytest.approx(-1 / 1e-7, rel=1e-3)
    assert theta.sum() == pytest.approx(math.log(3), rel=1e-3)
