"""Rivals from moments: what they add is what the chapter prices, and without noise they are least squares."""

import math

import numpy as np
import pytest

from dpreg.accounting import gdp_delta, gdp_mu
from dpreg.checks import InputError
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.solve import minimise
from dpreg.sweeps import moment_methods
from dpreg.sweeps.experiment import sweep
from dpreg.sweeps.moment_methods import adassp, gradient_descent, inside, ridge_for
from dpreg.sweeps.splits import Holdout

BOX = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
PLAIN = Box([-1, -1], [1, 1], (-1, 1))
BALL = Ball([0, 0], 1.0, (-1, 1))
DELTA = 1e-6


def records(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, (0.2 + 0.3 * X[:, 0] - 0.2 * X[:, 1] + 0.2 * rng.uniform(-1, 1, n)).clip(-1, 1)


def stacked(f, copies):
    return Quadratic(
        np.repeat(f.M[None, None], copies, 0), np.repeat(f.v[None, None], copies, 0), np.zeros((copies, 1))
    )


@pytest.mark.parametrize("domain", [BOX, PLAIN, BALL])
def test_no_pair_moves_what_adassp_releases_further_than_stated(domain):
    """The smallest eigenvalue by R^2, the moments by sqrt(2) R^2, the products by 2 R: random pairs and corners."""
    rng, square = np.random.default_rng(1), domain.longest
    X = rng.choice([-1.0, 1.0], (400, 2)) * np.where(rng.random((400, 1)) < 0.3, rng.random((400, 2)), 1.0)
    z = domain.table(X, rng.choice([-1.0, 1.0, 0.3], 400))
    base = z[:5, 1:].T @ z[:5, 1:]
    moved = []
    for one, other in rng.integers(0, 400, (3000, 2)):
        x, t, w, u = z[one, 1:], z[one, 0], z[other, 1:], z[other, 0]
        M, N = base + np.outer(x, x), base + np.outer(w, w)
        least = abs(np.linalg.eigvalsh(M)[0] - np.linalg.eigvalsh(N)[0])
        moved.append((least / square, np.linalg.norm(M - N) / (math.sqrt(2) * square), np.linalg.norm(x * t - w * u)))
    largest = np.max(moved, axis=0) / [1, 1, 2 * math.sqrt(square)]
    assert (largest <= 1 + 1e-12).all()
    assert largest[2] > 0.99


def test_the_noise_of_adassp_is_for_a_third_of_mu_squared_each(monkeypatch):
    """Read back from many draws, with the ridge that is asked for; five standard errors."""
    seen, n = [], 40_000
    monkeypatch.setattr(moment_methods, "ridge_for", lambda least, *rest: seen.append((least, *rest)) or 0 * least)
    monkeypatch.setattr(moment_methods.solve, "minimise", lambda f: seen.append(f) or f.v)
    monkeypatch.setattr(moment_methods.repair, "trim", lambda f: f)
    f = linear(*records(), BOX)
    adassp("a", BOX, DELTA).fit(stacked(f, n), np.array([0.8]), np.random.default_rng(3))
    (least, deviation, spread, p), noisy = seen
    mu = gdp_mu(0.8, DELTA)
    change = (noisy.M - f.M)[:, 0]
    products = (noisy.v - f.v)[:, 0] / 2
    exact = np.linalg.eigvalsh(f.M)[0]
    free = [change[:, 1, 1], change[:, 0, 1] * math.sqrt(2), change[:, 1, 2] * math.sqrt(2)]
    paid = {
        3.0: (least - exact)[:, 0],
        math.sqrt(2) * 3.0: np.array(free),
        2 * math.sqrt(3.0): products.T,
    }
    for sensitivity, drawn in paid.items():
        found = drawn.var(axis=-1) / (3 * (sensitivity / mu) ** 2)
        assert found == pytest.approx(1, abs=5 * math.sqrt(2 / n))
    assert not change[:, 0, 0].any()
    assert (deviation, spread, p) == (pytest.approx(3 * math.sqrt(3) / mu), pytest.approx(3 * math.sqrt(6) / mu), 3)
    assert gdp_delta(mu, 0.8) <= DELTA


def test_the_ridge_holds_as_often_as_it_says():
    """The norm of the noise, and the smallest eigenvalue from below: each fails in at most a twentieth of draws."""
    rng, p, draws = np.random.default_rng(1), 6, 20_000
    N = rng.standard_normal((draws, p, p))
    E = (N + np.swapaxes(N, 1, 2)) / 2  # variance one on the diagonal, one half off it
    norm = np.abs(np.linalg.eigvalsh(E)).max(axis=1)
    nothing = np.zeros(1)
    bound = ridge_for(nothing, nothing + 1e-9, nothing + 1, p)
    assert (norm > bound).mean() < 0.05
    least = 100 + 5 * rng.standard_normal(draws)
    surely = 200.0 - ridge_for(least, np.full(draws, 5.0), np.full(draws, (200.0 / bound).item()), p)
    assert (surely > 100).mean() < 0.05
    assert ridge_for(1e9 + nothing, nothing, nothing + 1, p) == 0


def test_inside_is_the_nearest_point():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(200, 4)) * rng.choice([0.1, 1.0, 10.0], (200, 1))
    near = inside(theta)
    assert np.abs(near).sum(axis=1).max() <= 1 + 1e-12
    kept = np.abs(theta).sum(axis=1) <= 1
    assert (near[kept] == theta[kept]).all()
    others = rng.dirichlet(np.ones(4), 500) * rng.choice([-1, 1], (500, 4))
    distance = np.linalg.norm(theta - near, axis=1)
    assert (np.linalg.norm(theta[:, None] - others, axis=2).min(axis=1) >= distance - 1e-12).all()


def test_a_gradient_is_no_longer_than_stated():
    rng, square = np.random.default_rng(2), BOX.longest
    theta = inside(rng.normal(size=(2000, 3)) * 5)
    z = BOX.table(rng.choice([-1.0, 1.0], (2000, 2)), rng.choice([-1.0, 1.0], 2000))
    gradient = 2 * z[:, 1:] * ((z[:, 1:] * theta).sum(axis=1) - z[:, 0])[:, None]
    length = np.linalg.norm(gradient, axis=1)
    assert 0.9 * 4 * math.sqrt(square) < length.max() <= 4 * math.sqrt(square) * (1 + 1e-12)


def test_without_noise_both_are_least_squares():
    f = linear(*records(), BOX)
    exact, rng = minimise(f), np.random.default_rng(0)
    near = adassp("a", BOX, DELTA).fit(stacked(f, 1), np.array([1e9]), rng)
    np.testing.assert_allclose(near[0, 0], exact, atol=1e-4)
    down = gradient_descent("g", BOX, DELTA, 400).fit(stacked(f, 1), np.array([1e9]), rng)
    np.testing.assert_allclose(down[0, 0], exact, atol=1e-4)


def test_each_step_gets_its_share(monkeypatch):
    """Where the gradient is zero the first step is noise alone: 8 R sqrt(steps) / mu, times the rate."""
    draws, steps = 40_000, 4
    zero = Quadratic(np.tile(np.diag([100.0, 1, 1]), (draws, 1, 1, 1)), np.zeros((draws, 1, 3)), np.zeros((draws, 1)))
    seen = []
    monkeypatch.setattr(moment_methods, "inside", lambda theta: seen.append(theta) or 0 * theta)
    gradient_descent("g", BOX, DELTA, steps).fit(zero, np.array([1.0]), np.random.default_rng(1))
    assert len(seen) == steps
    deviation = 8 * math.sqrt(3) * math.sqrt(steps) / gdp_mu(1.0, DELTA) / (2 * 3 * 100)
    for theta in seen:
        assert theta.var(axis=(0, 1)) == pytest.approx(deviation**2, rel=5 * math.sqrt(2 / draws))


def test_in_a_sweep():
    X, y = records(200)
    methods = [adassp("AdaSSP", BOX, DELTA), gradient_descent("descent", BOX, DELTA, 5)]
    frame = sweep(X, y, BOX, methods, [0.5, 50.0], Holdout(3))
    assert np.isfinite(frame["value"]).all()
    plain = sweep(X, y, PLAIN, [adassp("AdaSSP", PLAIN, DELTA)], [0.5], Holdout(3))
    assert np.isfinite(plain["value"]).all()


@pytest.mark.parametrize("domain", [PLAIN, Box([0, 0], [1, 1], (-1, 1), intercept=True, corner=True)])
def test_descent_is_for_centred_boxes_with_an_intercept(domain):
    with pytest.raises(InputError, match="give Box"):
        gradient_descent("g", domain, DELTA, 5)
