"""Limits against an independent implementation, against their definition, and against every possible outcome."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpreg import accounting
from dpreg.audit import clopper_pearson as cp


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("risk", [0.2, 0.025, 1e-6])
def test_limits_are_those_of_scipy_and_solve_their_equations(n, risk):
    lower, upper = cp.limits(n, risk)
    for k in range(n + 1):
        known = stats.binomtest(k, n).proportion_ci(1 - 2 * risk, method="exact")
        assert (lower[k], upper[k]) == pytest.approx((known.low, known.high), rel=1e-7)
        if k:
            assert stats.binom.sf(k - 1, n, lower[k]) == pytest.approx(risk, rel=1e-6)
        if k < n:
            assert stats.binom.cdf(k, n, upper[k]) == pytest.approx(risk, rel=1e-6)


def test_a_limit_is_wrong_no_more_often_than_promised_whatever_the_chance():
    n, risk = 30, 0.05
    lower, upper = cp.limits(n, risk)
    worst = 0.0
    for p in np.linspace(0.001, 0.999, 500):
        weights = stats.binom.pmf(np.arange(n + 1), n, p)
        wrong = weights[lower > p].sum(), weights[upper < p].sum()
        assert max(wrong) <= risk * (1 + 1e-9)
        worst = max(worst, *wrong)
    assert worst > 0.98 * risk  # nothing is given away where the chance sits on a limit


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_bound_exceeds_what_is_spent_no_more_often_than_promised(delta):
    """All outcomes of 25 draws per side, for many pairs of chances: exact, not simulated."""
    n, confidence = 25, 0.9
    k, m = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    bounds = cp.lower_bound(k, m, n, confidence, delta=delta)
    for p, q in itertools.product(np.linspace(0.02, 0.98, 25), repeat=2):
        spent = max(math.log(max(p - delta, 1e-300) / q), 0.0)
        chance = np.outer(stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(n + 1), n, q))
        assert chance[bounds > spent + 1e-12].sum() <= 1 - confidence


def test_bounds_by_hand():
    """One draw: hits 1 and 0 at risk 1/4 give limits 1/4 and 3/4; ten of ten and none of ten at 0.025."""
    assert cp.lower_bound(1, 0, 1, 0.5) == 0.0
    end = 0.025**0.1
    assert cp.lower_bound(10, 0, 10) == pytest.approx(math.log(end / (1 - end)))
    assert cp.largest_provable(10) == pytest.approx(math.log(end / (1 - end)))
    assert cp.largest_provable(10, delta=0.2) == pytest.approx(math.log((end - 0.2) / (1 - end)))
    for options in ({}, {"delta": 0.1}, {"delta": 0.1, "gaussian": True}):
        assert cp.largest_provable(50, 0.8, **options) == pytest.approx(
            float(cp.lower_bound(50, 0, 50, 0.8, **options))
        )
    assert cp.lower_bound([5, 10], [5, 0], 10).tolist() == [0.0, pytest.approx(cp.largest_provable(10))]


@pytest.mark.parametrize(("p", "q", "n", "delta", "tests"), [(0.5, 0.1, 60, 0.0, 1), (0.9, 0.2, 40, 0.1, 7)])
def test_power_is_the_sum_over_all_outcomes(p, q, n, delta, tests):
    k, m = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    refuted = cp.lower_bound(k, m, n, 1 - 0.1 / tests, delta=delta) > 0.8
    chance = np.outer(stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(n + 1), n, q))
    expected = chance[refuted].sum()
    assert 0.05 < expected < 0.95
    assert cp.power(p, q, 0.8, n, 0.9, delta=delta, tests=tests) == pytest.approx(expected, abs=1e-9)


@pytest.mark.thorough
def test_fewer_draws_than_needed_find_less():
    for row in cp.power_table(1.0, [1.5, 2.0, 4.0]).itertuples():
        assert row.p / row.q > math.e
        assert cp.power(row.p, row.q, 1.0, row.draws) >= 0.9
        assert cp.power(row.p, row.q, 1.0, int(0.8 * row.draws)) < 0.9
        law = stats.laplace(loc=row.factor)  # of the larger count, at scale one: some threshold has these chances
        assert stats.laplace.sf(law.isf(row.p)) == pytest.approx(row.q)
        assert row.draws <= cp.draws_needed(0.5, math.exp(-row.factor) / 2, 1.0)
    assert cp.power_table(1.0, [1.5]).draws[0] < cp.power_table(1.0, [1.5], tests=28).draws[0]


def test_gaussian_bounds_are_the_shift_between_the_quantiles():
    lower, upper = cp.limits(1000, 0.025)
    mu = stats.norm.ppf(lower[900]) - stats.norm.ppf(upper[100])
    found = cp.lower_bound(900, 100, 1000, delta=1e-5, gaussian=True)
    assert accounting.gdp_delta(mu, float(found)) == pytest.approx(1e-5, rel=1e-6)
    assert found > cp.lower_bound(900, 100, 1000, delta=1e-5)
    assert cp.lower_bound(500, 500, 1000, delta=1e-5, gaussian=True) == 0
