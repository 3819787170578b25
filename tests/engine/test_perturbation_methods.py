"""Rivals that perturb an objective: their noise is what the chapter proves, and their minimisers are minima."""

import math

import numpy as np
import pytest
from scipy import stats

from dpreg.accounting import gdp_mu
from dpreg.checks import InputError, SolverError
from dpreg.mechanisms.objective_perturbation import share_for
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.sweeps import perturbation_methods as pm
from dpreg.sweeps.experiment import sweep
from dpreg.sweeps.splits import Holdout

BOX = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
LINE = Box([-1], [1], (-1, 1), intercept=True)
CORNER = Box([0], [1], (-1, 1), intercept=True, corner=True)
DELTA = 1e-6


def records(n=300, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, (0.1 + 0.3 * X[:, 0] + 0.2 * rng.uniform(-1, 1, n)).clip(-1, 1)


def stack(f, copies=1):
    M, v = (np.repeat(part[None, None], copies, 0) for part in (f.M, f.v))
    return Quadratic(M, v, np.zeros((copies, 1)))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-6), (30.0, 0.05)])
def test_the_tilt_solves_its_equation(epsilon, delta):
    deviation, q = pm.gaussian_tilt(1.7, 4.0, epsilon, delta), stats.norm.isf(delta / 2)
    mu = 2 * 4.0 * 1.7 / deviation
    assert q * mu + mu**2 / 2 == pytest.approx(epsilon, rel=1e-9)
    assert math.isfinite(pm.gaussian_tilt(1.0, 1.0, 1.0, 5e-324))
    assert mu <= gdp_mu(epsilon, delta)  # no better than Gaussian noise on a sum that moves as far


@pytest.mark.parametrize("delta", [0.05, 0.001])
def test_no_pair_of_records_has_a_heavier_tail_than_the_lemma_says(delta):
    """The chance that the largest |u'(r x - r' x')| over |r|, |r'| <= 1 is above 2 q B: exact, over the angle."""
    q = stats.norm.isf(delta / 2)
    largest = []
    for angle in np.linspace(0, math.pi, 61):
        plus, minus = 2 * math.cos(angle / 2), 2 * math.sin(angle / 2)  # lengths of x + x' and x - x', independent
        inner = np.prod([1 - 2 * stats.norm.sf(2 * q / size) if size > 1e-9 else 1.0 for size in (plus, minus)])
        largest.append(1 - inner)
    assert max(largest) <= delta * (1 + 1e-9)
    assert max(largest) > 0.999 * delta


def losses(kind):
    """First and second derivative by z of the loss of one record, and the bounds that the theorem uses."""
    if kind == "logistic":
        return (lambda z, t: 1 / (1 + np.exp(-z)) - (t > 0)), (lambda z, t: 1 / (2 + 2 * np.cosh(z))), 1.0, 0.25
    return (lambda z, t: np.clip(2 * (z - t), -4, 4)), (lambda z, t: 2.0 * (np.abs(z - t) < 2)), pm.SLOPE, pm.BEND


@pytest.mark.parametrize("kind", ["logistic", "squares"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.05), (3.0, 0.01)])
def test_the_exact_delta_of_one_column_is_within_the_claim(kind, epsilon, delta):
    """Both densities by the change of variables of the theorem; opposed records, few of them."""
    slope, bend, L, b = losses(kind)
    share = pm.share_with(delta)
    deviation, lift = pm.gaussian_tilt(1.0, L, share * epsilon, delta), b / math.expm1((1 - share) * epsilon)
    grid = np.linspace(-9 * deviation / lift - 60, 9 * deviation / lift + 60, 400_001)

    def density(x, t):
        u = -lift * grid - sum(one * slope(one * grid, r) for one, r in zip(x, t, strict=True))
        curve = lift + sum(one**2 * bend(one * grid, r) for one, r in zip(x, t, strict=True))
        return stats.norm.pdf(u / deviation) / deviation * curve

    for pair in [((1.0, 1.0), (1.0, -1.0)), ((1.0, 1.0), (-1.0, 1.0)), ((1.0, 1.0), (0.0, 1.0))]:
        (x, t), (w, s) = pair
        p, o = density([x, 0.7], [t, 1.0]), density([w, 0.7], [s, 1.0])
        step = grid[1] - grid[0]
        assert p.sum() * step == pytest.approx(1, abs=1e-4)
        assert np.maximum(p - math.exp(epsilon) * o, 0).sum() * step <= delta


def test_the_density_ratio_of_pure_squares():
    """Random neighbours at the corners, few of them, and random theta in the set: at most epsilon, and near it."""
    rng, seen = np.random.default_rng(0), []
    for epsilon in (0.5, 3.0):
        share = share_for(3)
        scale, lift = 2 * pm.SLOPE / (share * epsilon), pm.BEND * 3 / math.expm1((1 - share) * epsilon)

        def log_density(z, theta, scale=scale, lift=lift):
            H = 2 * z[:, 1:].T @ z[:, 1:] + lift * np.eye(3)
            slope = H @ theta - 2 * z[:, 1:].T @ z[:, 0]
            return -np.abs(slope).max() / scale + np.linalg.slogdet(H)[1]

        for _ in range(2000):
            z = BOX.table(rng.choice([-1.0, 0.3, 1.0], (3, 2)), rng.choice([-1.0, 1.0], 3))
            theta = pm.inside(rng.normal(size=3) * rng.choice([0.2, 5.0]))
            seen.append(abs(log_density(z[:2], theta) - log_density(z[1:], theta)) / epsilon)
    assert 0.4 < max(seen) <= 1 + 1e-9


def test_the_bounded_minimiser_is_no_higher_than_any_other_point():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 1, 4, 6))
    H = A.swapaxes(-1, -2) @ A + 0.01 * np.eye(6)
    g = rng.normal(size=(40, 3, 6)) * np.array([0.01, 1.0, 100.0])[:, None]
    theta = pm.bounded_minimiser(H, g)
    assert np.abs(theta).sum(axis=-1).max() <= 1 + 1e-12
    slope = (H @ theta[..., None])[..., 0] + g
    gap = (slope * theta).sum(axis=-1) + np.abs(slope).max(axis=-1)
    assert (gap <= pm.GAP * np.abs(g).max(axis=-1) + 1e-12).all()
    assert gap.max() < 1e-9
    free = np.linalg.solve(np.broadcast_to(H, (40, 3, 6, 6)), -g[..., None])[..., 0]
    own = np.abs(free).sum(axis=-1) <= 1
    assert own.any()
    assert not own.all()
    np.testing.assert_allclose(theta[own], free[own])


def test_the_face_of_a_minimiser_is_told_from_others():
    """The minimum is at (1, 0): signs of another corner, or with an entry that turns negative, do not give it."""
    H, g = np.repeat(np.eye(2)[None], 3, 0), np.tile([-3.0, -1.0], (3, 1))
    theta, found = pm._on_the_edge(H, g, np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    assert found.tolist() == [True, False, False]
    assert theta.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.5, -0.5]]


def test_a_search_that_does_not_end_says_so(monkeypatch):
    monkeypatch.setattr(pm, "LIMIT", 1)
    with pytest.raises(SolverError, match="give a larger ridge"):
        pm.bounded_minimiser(np.diag([1.0, 1e4]), np.array([-300.0, -1e4]))
    f = linear([[0.5], [0.5001]], [1.0, 1.0], LINE)
    with pytest.raises(SolverError, match="give a larger epsilon"):
        pm.k_norm_gradient("k", LINE).fit(stack(f), np.array([1e-6]), np.random.default_rng(0))


@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_tilt_and_ridge_of_squares(monkeypatch, delta):
    seen, copies, eps = [], 20_000, 0.8
    monkeypatch.setattr(pm, "bounded_minimiser", lambda H, g: seen.append((H, g)) or g)
    f = linear(*records(), BOX)
    pm.squares("s", BOX, delta).fit(stack(f, copies), np.array([eps]), np.random.default_rng(1))
    ((H, g),) = seen
    tilt, share = (g - f.v)[:, 0], pm.share_with(delta) if delta else share_for(3)
    np.testing.assert_allclose(H[0, 0] - 2 * f.M, 2 * 3 / math.expm1((1 - share) * eps) * np.eye(3), atol=1e-9)
    if delta:
        deviation = pm.gaussian_tilt(math.sqrt(3), 4.0, share * eps, delta)
        assert tilt.var() == pytest.approx(deviation**2, rel=5 * math.sqrt(2 / tilt.size))
        return
    size = np.abs(tilt).max(axis=1)  # of density r^(p - 1) exp(-r / scale)
    assert stats.kstest(size, stats.gamma(3, scale=8 / (share * eps)).cdf).pvalue > 1e-4
    assert stats.kstest(size, stats.gamma(3, scale=8.4 / (share * eps)).cdf).pvalue < 1e-4
    assert np.bincount(np.abs(tilt).argmax(axis=1)) / copies == pytest.approx(1 / 3, abs=0.02)


def test_tilt_and_ridge_of_labels(monkeypatch):
    seen, eps = [], 0.8
    monkeypatch.setattr(pm, "newton", lambda blocks, p, **more: seen.append(more) or np.zeros(p))
    X, t = records(20)
    ball = Ball([0, 0], 1.5, (0, 1))
    sweep(X, (t > 0.1) * 1.0, ball, [pm.labels("l", ball, DELTA)], [eps] * 2000, Holdout(2))
    share = pm.share_with(DELTA)
    tilt = np.array([one["tilt"] for one in seen])
    assert tilt.shape == (4000, 2)
    expected = pm.gaussian_tilt(1.0, 1.0, share * eps, DELTA) ** 2
    assert tilt.var() == pytest.approx(expected, rel=5 * math.sqrt(2 / tilt.size))
    assert [one["ridge"] for one in seen[:1]] == [pytest.approx(1 / 8 / math.expm1((1 - share) * eps))]


def test_the_shares_balance_what_they_say():
    """The mean square of the tilt against that of the ridge, to first order, has its least there."""
    q, share = stats.norm.isf(DELTA / 2), np.linspace(0.01, 0.99, 9801)
    error = 4 * q**2 / share**2 + (8 / 3) / 16 / (1 - share) ** 2
    assert share[error.argmin()] == pytest.approx(pm.share_with(DELTA), abs=2e-4)


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_the_k_norm_gradient_mechanism_has_its_density(epsilon):
    """Against the density on a fine grid of the set, in a chi-squared test of 16 cells; and that of a neighbour."""
    X, y = records(30, 1)
    f, other = linear(X, y, LINE), linear(np.r_[X[:-1], [[1.0]]], np.r_[y[:-1], -1.0], LINE)
    axis = (np.arange(800) + 0.5) / 400 - 1
    u, w = np.meshgrid(axis, axis)  # sum |theta_j| <= 1 is a square in u and w
    theta = np.stack([(u + w) / 2, (u - w) / 2], axis=-1)

    def mass(g):
        sizes = np.abs(2 * theta @ g.symmetric + g.v).max(axis=-1)
        out = np.exp(-epsilon * (sizes - sizes.min()) / 16)
        return out / out.sum()

    assert np.abs(np.log(mass(f) / mass(other))).max() <= epsilon
    draws = 4000
    drawn = pm.k_norm_gradient("k", LINE).fit(stack(f, draws), np.array([epsilon]), np.random.default_rng(2))[:, 0]
    assert np.abs(drawn).sum(axis=1).max() <= 1
    cells = np.floor(np.stack([drawn.sum(axis=1), drawn[:, 0] - drawn[:, 1]], axis=1) * 2 + 2).astype(int).clip(0, 3)
    seen = np.bincount(4 * cells[:, 1] + cells[:, 0], minlength=16)
    expected = draws * mass(f).reshape(4, 200, 4, 200).sum(axis=(1, 3)).ravel()
    some = expected > 5
    assert ((seen - expected) ** 2 / expected)[some].sum() < stats.chi2.isf(1e-5, some.sum() - 1)
    assert seen[~some].sum() < 40


def test_without_noise_all_are_least_squares():
    f = linear(*records(300, 1), LINE)
    exact = np.linalg.solve(2 * f.symmetric, -f.v)
    for method in (pm.squares("s", LINE), pm.squares("d", LINE, DELTA), pm.k_norm_gradient("k", LINE)):
        near = method.fit(stack(f), np.array([1e9]), np.random.default_rng(0))
        np.testing.assert_allclose(near[0, 0], exact, atol=1e-4)


@pytest.mark.parametrize("domain", [CORNER, Box([-1], [1], (-1, 1))])
@pytest.mark.parametrize("method", [pm.squares, pm.k_norm_gradient])
def test_squares_are_for_centred_boxes_with_an_intercept(method, domain):
    with pytest.raises(InputError, match="give Box"):
        method("s", domain)


def test_what_is_refused():
    with pytest.raises(InputError, match="2 predictors: give one"):
        pm.k_norm_gradient("k", BOX)
    with pytest.raises(InputError, match=r"delta is 0\.1: give at most \.08"):
        pm.gaussian_tilt(1.0, 1.0, 1.0, 0.1)
