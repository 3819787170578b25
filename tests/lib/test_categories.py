"""Directions that no one-hot record has, and the ball that holds all of them, against enumeration of all records."""

import itertools

import numpy as np
import pytest

from dpreg.pipeline import laws
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import perturb
from lib.data import categories, census, datasets

SIZES = (3, 2, 4)


def every_record():
    """All records with one number at an end or in the middle, and one category of each of three predictors."""
    rows = []
    for number, *chosen in itertools.product((-2.0, 1.0, 4.0), *(range(k) for k in SIZES)):
        hot = [float(category == mine) for k, mine in zip(SIZES, chosen, strict=True) for category in range(k)]
        rows.append([number, *hot])
    return np.array(rows)


NAMES = ("number", *(f"c{g}={k}" for g, size in enumerate(SIZES) for k in range(size)))
COLUMNS = [[1, 2, 3], [4, 5], [6, 7, 8, 9]]
BOUNDS = {name: (0.0, 1.0) for name in NAMES} | {"number": (-2.0, 4.0), "y": (0.0, 5.0)}


@pytest.fixture
def data():
    X = every_record()
    return datasets.Dataset(X, np.linspace(0, 5, len(X)), NAMES, "y", BOUNDS, "all possible records")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", ["box", "corner", "ball"])
def test_silent_directions_are_all_there_are(data, kind, intercept):
    if kind == "ball":
        data, domain = categories.ball(data, intercept=intercept)
    else:
        domain = data.box(intercept=intercept, corner=kind == "corner")
    assert categories.groups(data.names) == COLUMNS
    U = categories.silent(domain, COLUMNS)
    Z, _ = domain.scale(data.X, data.y)
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
    np.testing.assert_allclose(Z @ U, 0.0, atol=1e-12)
    assert U.shape[1] == domain.p - np.linalg.matrix_rank(Z) == len(SIZES) - (kind != "ball" and not intercept)


def test_silent_directions_of_the_census():
    data = census.census("US", 2000, attributes=9, one_hot=True)
    f = linear(data.X, data.y, data.box())
    U = categories.silent(data.box(), categories.groups(data.names))
    np.testing.assert_allclose(f.M @ U, 0.0, atol=1e-8)
    np.testing.assert_allclose(f.v @ U, 0.0, atol=1e-8)
    assert np.linalg.matrix_rank(f.M) == f.p - U.shape[1] == 18


def test_ball_is_the_smallest_around_its_centre(data):
    coded, domain = categories.ball(data)
    assert isinstance(domain, Ball)
    assert not domain.intercept
    norms = np.linalg.norm(coded.X - domain.centre, axis=1)
    assert norms.max() == pytest.approx(domain.radius, rel=1e-12)
    assert domain.radius**2 == pytest.approx(1 + sum(1 - 1 / k for k in SIZES), rel=1e-12)
    assert set(coded.X[:, 0]) == {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(coded.X[:, 1:], data.X[:, 1:])
    np.testing.assert_array_equal(coded.box().scale(coded.X, coded.y)[0], data.box().scale(data.X, data.y)[0])


def test_ball_clips_numbers_outside_their_bounds(data):
    wild = datasets.Dataset(data.X * np.r_[100.0, np.ones(9)], data.y, NAMES, "y", BOUNDS, "")
    assert np.abs(categories.ball(wild)[0].X).max() == 1.0


def test_the_theorem_on_silent_directions():
    """The two lines of the chapter's solution, and the limit in which the records count for nothing."""
    rng = np.random.default_rng(3)
    X = every_record()[rng.integers(0, len(every_record()), 400)]
    box = Box([-2.0] + [0.0] * 9, [4.0] + [1.0] * 9, response=(0.0, 5.0))
    f = linear(X, rng.uniform(0, 5, 400), box)
    U = categories.silent(box, COLUMNS)
    V = np.linalg.svd(U.T)[2][U.shape[1] :].T
    unit = laws.functional(box, 1.0, sensitivity="printed", convention="ordered")
    theta0 = -np.linalg.solve(V.T @ f.M @ V, V.T @ f.v) / 2
    for epsilon, close in ((1.0, False), (1e7, True)):
        noisy = perturb(f, unit.times(1 / epsilon), 4)
        E, eta = noisy.symmetric - f.M, noisy.v - f.v
        theta = -np.linalg.solve(noisy.symmetric, noisy.v) / 2
        A, B = V.T @ noisy.symmetric @ V, V.T @ E @ U
        other = -np.linalg.solve(A, V.T @ noisy.v) / 2 - np.linalg.solve(A, B @ U.T @ theta)
        np.testing.assert_allclose(V.T @ theta, other, rtol=1e-6, atol=1e-9)
        limit = -np.linalg.solve(U.T @ E @ U, U.T @ eta / 2 + U.T @ E @ V @ theta0)
        assert np.allclose(U.T @ theta, limit, rtol=1e-3) == close


def test_indefinite_at_least_half_the_time_whatever_the_records():
    X = np.array([[1.0, 0.0, 1.0, 0.0]] * 500 + [[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]] * 500)
    box = Box([0.0] * 4, [1.0] * 4, response=(0.0, 1.0))
    U = categories.silent(box, [[0, 1], [2, 3]])
    assert U.shape[1] == 2  # two pairs of -1 and 1, whose sums are zero: both directions are silent
    for epsilon in (0.1, 1e6):
        scales = laws.functional(box, epsilon, sensitivity="printed", convention="ordered")
        noisy = perturb(linear(X, X[:, 0], box), scales, 1, draws=(2000,))
        assert (np.linalg.eigvalsh(noisy.symmetric)[:, 0] < 0).mean() > 0.5 + 4 * 0.0112
