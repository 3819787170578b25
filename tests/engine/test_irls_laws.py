"""The laws of the noise on 003's moments: what is drawn, and what it costs."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpreg.mechanisms import irls, irls_laws
from tests.engine.reweighted import LAWS, unit
from tests.ledger import value


def test_no_pair_fails_more_often():
    """The theorem's bound for general neighbours: P(impossible) = 1 - exp(-tr E+ / 2 s^2) or less."""
    rng, eps = np.random.default_rng(7), 0.9
    z = rng.normal(size=(20_000, 4, 3)) / math.sqrt(2 * eps)
    W = np.swapaxes(z, -1, -2) @ z
    for _ in range(10):
        rows = rng.normal(size=(2, 3))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        s = rng.uniform(0, 1, 2)
        E = s[0] * np.outer(rows[0], rows[0]) - s[1] * np.outer(rows[1], rows[1])
        bound = -math.expm1(-np.maximum(np.linalg.eigvalsh(E), 0).sum() * eps)
        share = (np.linalg.eigvalsh(W - E)[:, 0] < 0).mean()
        assert share <= bound + 4 * math.sqrt(bound * (1 - bound) / 20_000)


def test_density_ratio_on_the_common_support():
    law = stats.wishart(4, 10 / 0.6 * np.eye(3))  # 003's, at cap 10 and epsilon' = 0.3
    rng, losses = np.random.default_rng(8), []
    for _ in range(50):
        rows = rng.normal(size=(2, 3))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        B, B2 = (10 * np.outer(x, x) for x in rows)
        out = 60 * np.eye(3)
        losses.append(abs(law.logpdf(out - B) - law.logpdf(out - B2)))
        losses.append(law.logpdf(out - B) - law.logpdf(out))
    assert max(losses) == pytest.approx(value("IR-RATIO", "loss"), abs=1e-9)


def variances(kind, d, scale, degrees):
    """Of an entry on the diagonal, and off it, by hand."""
    s4 = scale**4
    return {
        "Laplace": (2 * scale**2, 2 * scale**2),
        "Gaussian": (scale**2, scale**2 / 2),
        "Wishart": (2 * degrees * s4, degrees * s4),
        "centred Wishart": (2 * degrees * s4, degrees * s4),
        "Wishart difference": (4 * degrees * s4, 2 * degrees * s4),
    }[kind]


@pytest.mark.parametrize("kind", LAWS)
def test_law_of_the_matrix_noise(kind):
    d, scale, draws = 4, 1.7, 60_000
    degrees = 0 if kind in ("Laplace", "Gaussian") else 40 if kind == "centred Wishart" else d + 1
    law = LAWS[kind](scale, degrees)
    G = law.matrix(d, 14, (draws,))
    np.testing.assert_array_equal(G, np.swapaxes(G, -1, -2))
    on, off = variances(kind, d, scale, degrees)
    mean = degrees * scale**2 * np.eye(d) if kind == "Wishart" else np.zeros((d, d))
    sd = np.where(np.eye(d), math.sqrt(on), math.sqrt(off))
    assert (np.abs(G.mean(axis=0) - mean) < 5 * sd / math.sqrt(draws)).all()
    # A variance is known to about 1.2 % (kurtosis at most nine: sqrt(8 / draws)); a scale 5 % off moves it by 10 %.
    ratio = G.var(axis=0) / sd**2
    assert (np.abs(ratio - 1) < 0.06).all()
    assert not (np.abs(ratio / 1.05**2 - 1) < 0.06).all()
    if kind != "Wishart":
        level = math.sqrt((d * on + d * (d - 1) * off) / d)
        assert law.level(d) == pytest.approx(level)
    else:
        assert law.level(d) == 0
        assert np.linalg.eigvalsh(G)[:, 0].min() > 0


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["Laplace", "Gaussian", "Wishart difference"])
def test_law_in_one_dimension(kind):
    """Kolmogorov and Smirnov accept the declared law at the 1e-4 level, and reject it at a scale 5 % off."""
    law = LAWS[kind](1.3, 2)
    drawn = law.matrix(1, 15, (200_000,)).ravel()
    cdf = {
        "Laplace": stats.laplace(scale=1.3),
        "Gaussian": stats.norm(scale=1.3),
        "Wishart difference": stats.laplace(scale=2 * 1.3**2),
    }[kind].cdf
    assert stats.kstest(drawn, cdf).pvalue > 1e-4
    assert stats.kstest(drawn / 1.05, cdf).pvalue < 1e-4
    assert stats.kstest(drawn * 1.05, cdf).pvalue < 1e-4


def density(a, b, nodes=400):
    """Density of W1 - W2 (m = 2, s = 1) at a matrix with eigenvalues a >= b, up to a constant, by quadrature."""
    up, down = max(a, 0.0), max(-b, 0.0)
    if b >= 0 or a <= 0:  # semidefinite: the integral is that of a Wishart density
        return math.exp(-(abs(a) + abs(b)) / 2) * density_constant()
    # U + diag(0, down) and U + diag(up, 0) positive semidefinite, U = (u, w; w, v)
    return math.exp(-(up + down) / 2) * quadrant(lambda u, v: np.minimum(u * (v + down), (u + up) * v), nodes)


@cache
def mesh(nodes):
    """Nodes u, v >= 0 and weights of an integral over 2 e^(-u - v); u = q^2 smooths a root at zero."""
    q, w = np.polynomial.legendre.leggauss(nodes)
    q, w = 3.5 * (q + 1), 3.5 * w  # up to q = 7, where e^-49 is left
    u, v = np.meshgrid(q**2, q**2)
    return u, v, 2 * np.exp(-u - v) * 4 * np.outer(q, q) * np.outer(w, w)


def quadrant(square, nodes=400):
    """Integral over u, v >= 0 of 2 sqrt(square) e^(-u - v)."""
    u, v, measure = mesh(nodes)
    return float((np.sqrt(square(u, v)) * measure).sum())


@cache
def density_constant():
    return quadrant(lambda u, v: u * v)


def at(V):
    low, high = np.linalg.eigvalsh(V)
    return density(high, low)


def test_wishart_difference_costs_half_the_nuclear_norm():
    """The theorem in two dimensions, by numerical integration of the density: never more, and almost as much."""
    rng = np.random.default_rng(16)
    assert density_constant() == pytest.approx(math.pi / 2, rel=1e-4)  # 2 Gamma(3/2)^2
    for _ in range(60):
        V, E = (M + M.T for M in rng.normal(size=(2, 2, 2)) * rng.choice([0.3, 1, 3], 2)[:, None, None])
        loss = abs(math.log(at(V + E) / at(V)))
        assert loss <= np.abs(np.linalg.eigvalsh(E)).sum() / 2 * (1 + 1e-3)
    E = np.diag([1.0, -1.0])
    losses = [math.log(at(N * E) / at((N + 1) * E)) for N in (0, 5, 50, 500)]
    assert losses == sorted(losses)
    assert 0.995 < losses[-1] <= 1 + 1e-6


def test_wishart_difference_density_is_that_of_the_sampler():
    """The share of draws that are positive definite, from the density that the test above integrates."""
    G = irls_laws.WishartDifference(1.0, 3).matrix(2, 17, (200_000,))
    share = (np.linalg.eigvalsh(G)[:, 0] > 0).mean()
    # a > b, the eigenvalues, have a joint density proportional to g(a, b) (a - b)
    x, w = np.polynomial.legendre.leggauss(32)
    x, w = 20 * (x + 1), 20 * w
    same = (
        sum(
            wi * wj * math.exp(-(xi + xj) / 2) * abs(xi - xj) / 2
            for xi, wi in zip(x, w, strict=True)
            for xj, wj in zip(x, w, strict=True)
        )
        * density_constant()
    )
    mixed = sum(
        wi * wj * density(xi, -xj, 60) * (xi + xj)
        for xi, wi in zip(x, w, strict=True)
        for xj, wj in zip(x, w, strict=True)
    )
    exact = same / (2 * same + mixed)
    assert abs(share - exact) < 4 * math.sqrt(exact * (1 - exact) / 200_000) + 2e-3


def test_gaussian_loss_is_the_frobenius_norm():
    """At the worst pair the log-ratio of the joint density of the released entries is normal with variance 2 rho."""
    plan = irls.gaussian(unit(3), 1.2, cap=2.0, iterations=3)
    E, sigma = np.diag([2.0, -2.0, 0.0]), plan.second.scale
    G = plan.second.matrix(3, 18, (100_000,))
    upper = np.triu_indices(3)
    sd = np.where(upper[0] == upper[1], sigma, sigma / math.sqrt(2))
    entries, shift = G[:, upper[0], upper[1]], E[upper]
    loss = ((entries - shift) ** 2 / (2 * sd**2) - entries**2 / (2 * sd**2)).sum(axis=1)
    rho = plan.ledger.spends[1].rho
    assert rho == pytest.approx(1.2 / 6)
    assert loss.mean() == pytest.approx(rho, abs=5 * math.sqrt(2 * rho / 100_000))
    assert loss.var() == pytest.approx(2 * rho, rel=0.03)
