"""What noise of a chi-squared law costs, and the searches for its scale and its degrees of freedom."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpreg import accounting
from dpreg.mechanisms import chi_square


def profile(eps, nu, a):
    """E(1 - e^(eps - L))_+ in both directions, by quadrature of the densities."""
    worst, constant = [], math.lgamma(nu / 2) + nu / 2 * math.log(2)
    top = stats.chi2(nu).isf(1e-15) + a

    def chi(u):
        return math.exp((nu / 2 - 1) * math.log(u) - u / 2 - constant) if u > 0 else 0.0

    for first, second in ((0.0, a), (a, 0.0)):

        def excess(u, first=first, second=second):
            return max(chi(u - first) - math.exp(eps) * chi(u - second), 0.0)

        pieces = np.linspace(0, top, 41)
        worst.append(
            sum(
                integrate.quad(excess, x, y, points=[a] if x < a < y else None, limit=400)[0]
                for x, y in itertools.pairwise(pieces)
            )
        )
    return max(worst)


@pytest.mark.parametrize(
    ("eps", "nu", "a"), [(0.5, 2, 1.0), (0.5, 4, 1.0), (1.0, 7.5, 2.0), (0.2, 20, 3.0), (2.0, 12, 5.0)]
)
def test_delta_is_the_hockey_stick(eps, nu, a):
    assert chi_square.delta(eps, nu, a) == pytest.approx(profile(eps, nu, a), rel=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 3])
def test_matrix_costs_what_the_number_costs(d):
    """The mechanism itself: Wishart draws, their loss by the densities, against the one-dimensional delta."""
    k, eps, draws = d + 5, 0.4, 200_000
    law, rng = stats.wishart(k, np.eye(d)), np.random.default_rng(26)
    z = np.zeros(d)
    z[0] = 1.2
    W = law.rvs(draws, random_state=rng).reshape(draws, d, d)
    shifted = W + np.outer(z, z)
    m = (k - d - 1) / 2
    present = m * (np.linalg.slogdet(shifted)[1] - np.linalg.slogdet(W)[1]) * -1 + z @ z / 2
    gone = W - np.outer(z, z)
    possible = np.linalg.eigvalsh(gone)[:, 0] > 0
    absent = np.full(draws, np.inf)
    absent[possible] = m * (np.linalg.slogdet(W[possible])[1] - np.linalg.slogdet(gone[possible])[1]) - z @ z / 2
    exact = chi_square.delta(eps, k - d + 1, 1.44)
    shares = [np.maximum(-np.expm1(eps - loss), 0) for loss in (present, absent)]
    worst = max(shares, key=np.mean)
    assert worst.mean() == pytest.approx(exact, abs=4 * worst.std() / math.sqrt(draws))


@pytest.mark.thorough
@given(st.floats(0, 3), st.floats(2, 200), st.floats(0.01, 10))
@settings(max_examples=150, deadline=None)
def test_delta_is_monotone(eps, nu, a):
    base = chi_square.delta(eps, nu, a)
    assert chi_square.delta(eps, nu, a * 1.1) >= base - 1e-10
    assert chi_square.delta(eps, nu + 1, a) <= base + 1e-10
    assert chi_square.delta(eps + 0.1, nu, a) <= base + 1e-10
    assert 0 <= base <= 1


@pytest.mark.parametrize(
    ("eps", "delta", "least"), [(1.0, 1e-6, 43), (0.5, 1e-6, 86), (0.1, 1e-6, 844), (1.0, 1e-4, 26)]
)
def test_searches_stop_on_the_safe_side(eps, delta, least):
    assert chi_square.least_freedom(eps, delta) == least
    assert chi_square.delta(eps, least, 1.0) <= delta < chi_square.delta(eps, least - 1, 1.0)
    shift = chi_square.largest_shift(eps, delta, least)
    assert chi_square.delta(eps, least, shift) <= delta < chi_square.delta(eps, least, shift * (1 + 1e-6))
    assert chi_square.delta(eps, chi_square.least_freedom(eps, delta, 0.3), 0.3) <= delta


def test_many_degrees_become_gaussian():
    """A chi-square with many degrees is normal: its spread over the shift tends to the exact Gaussian calibration."""
    sigma = accounting.gaussian_deviation(1.0, 1.0, 1e-6)
    excess = [math.sqrt(2 * nu) / chi_square.largest_shift(1.0, 1e-6, nu) / sigma - 1 for nu in (1e3, 1e5, 1e7)]
    assert 0 < excess[2] < excess[1] / 5 < excess[0] / 25


@pytest.mark.parametrize(
    ("eps", "delta", "freedom"), [(1.0, 1e-12, 2), (1.0, 1e-8, 2), (0.1, 1e-13, 2.5), (2.0, 1e-9, 4)]
)
def test_small_shifts_are_found_on_the_safe_side(eps, delta, freedom):
    shift = chi_square.largest_shift(eps, delta, freedom)
    assert chi_square.delta(eps, freedom, shift) <= delta < chi_square.delta(eps, freedom, shift * (1 + 1e-6))
    if freedom == 2:  # 1 - exp(-shift / 2)
        assert shift == pytest.approx(2 * delta, rel=1e-6)


@pytest.mark.parametrize(("eps", "freedom"), [(0.8, 60), (2.0, 9), (0.0, 30)])
def test_replaced_row(eps, freedom):
    """Never below the exact delta for orthogonal rows, a pair of independent numbers of which one moves each way."""
    bound = chi_square.replaced(eps, freedom, 1.0)
    assert bound == pytest.approx((1 + math.exp(eps / 2)) * profile(eps / 2, freedom, 1.0), rel=1e-4)
    assert chi_square.replaced(2000.0, freedom, 1.0) == 1.0
    # on the diagonal alone (post-processing): chi-squares, one moved up and one down
    chi, grid = stats.chi2(freedom), np.linspace(0, freedom + 25 * math.sqrt(freedom), 2001)
    present, absent = chi.pdf(grid - 1), chi.pdf(grid)
    excess = np.maximum(np.outer(present, absent) - math.exp(eps) * np.outer(absent, present), 0)
    assert excess.sum() * (grid[1] - grid[0]) ** 2 <= bound * (1 + 1e-3)


def test_replacing_costs_both():
    eps, delta = chi_square.halved(0.8, 1e-6)
    assert (2 * eps, (1 + math.exp(eps)) * delta) == pytest.approx((0.8, 1e-6), rel=1e-12)
