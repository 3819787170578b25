"""Theil-Sen regression: its medians have the law that the appendix proves private, which is that of OpenDP's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpreg.audit.clopper_pearson import lower_bound
from dpreg.checks import InputError
from dpreg.noise import generator
from dpreg.pipeline.domain import Box
from dpreg.sweeps import theil_sen as ts
from dpreg.sweeps.experiment import sweep
from dpreg.sweeps.splits import Holdout

LINE = Box([0], [10], (-2, 2), intercept=True)


def counted(values, places):
    """Of every candidate: minus the difference of the numbers of values below and above it, counted one by one."""
    return np.array([-abs(int((values < one).sum()) - int((values > one).sum())) for one in places])


def chances(values, places, epsilon):
    """The chance of each candidate: its noisy score is the largest, by quadrature over its noise."""
    s, b = counted(values, places), 4 / epsilon

    def one(k):
        def inner(z):
            gaps = np.delete(z + s[k] - s, k)
            return math.exp(-z / b) / b * np.prod(-np.expm1(-np.maximum(gaps, 0) / b))

        return integrate.quad(inner, max(0, s.max() - s[k]), 60 * b, limit=500)[0]

    return np.array([one(k) for k in range(len(places))])


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 2.0, 6.0]))
def test_no_pair_that_is_replaced_or_lost_costs_more_than_epsilon(seed, epsilon):
    rng, places = np.random.default_rng(seed), np.linspace(-1, 1, 5)
    values = rng.choice([*places, -0.7, -0.2, 0.3, 0.8, 4.0], rng.integers(1, 8))
    moved, p = values.copy(), chances(values, places, epsilon)
    assert p.sum() == pytest.approx(1, abs=1e-6)
    moved[0] = rng.choice([-9.0, 0.3, 9.0])
    for other in (moved, values[1:]):
        assert np.abs(np.log(p / chances(other, places, epsilon))).max() <= epsilon + 1e-6


def test_the_loss_of_a_pair_reaches_epsilon():
    """A value moves from below both candidates to above both: one has two more too many, the other two fewer."""
    values, epsilon = np.repeat([-2.0, 0.0, 2.0], [2, 7, 6]), 0.5
    p, q = (chances(one, np.array([-1.0, 1.0]), epsilon)[0] for one in (values, np.r_[values[1:], 2.0]))
    assert math.log(p / q) == pytest.approx(epsilon)


def test_draws_have_the_law(monkeypatch):
    """Seven candidates in a chi-squared test, which noise a fifth too small does not pass."""
    monkeypatch.setattr(ts, "CANDIDATES", 7)
    places, values = np.linspace(-1, 1, 7), np.array([-3, -0.4, 0.0, 1 / 3, 0.3, 0.9, 0.95, 5])
    rng, draws = np.random.default_rng(0), 20_000
    assert ts.scores(values).tolist() == counted(values, places).tolist()
    drawn = [ts.private_median(ts.scores(values), 2.0, rng) for _ in range(draws)]
    seen = np.bincount(np.searchsorted(places, np.array(drawn) - 1e-9), minlength=7)
    right, wrong = (chances(values, places, epsilon) for epsilon in (2.0, 2.5))
    assert stats.chisquare(seen, draws * right / right.sum()).pvalue > 1e-4
    assert stats.chisquare(seen, draws * wrong / wrong.sum()).pvalue < 1e-4


def test_lines_go_through_pairs():
    rng = np.random.default_rng(0)
    x, t = rng.choice([-1.0, 0.0, 0.5, 1.0], 41), rng.uniform(-1, 1, 41)
    order, found = generator(3).permutation(41), []
    for i, j in zip(order[:20], order[20:40], strict=True):
        if x[i] != x[j]:
            line = np.polyfit([x[i], x[j]], [t[i], t[j]], 1)
            found.append(np.polyval(line, [-0.5, 0.5]))
    assert 0 < len(found) < 20
    np.testing.assert_allclose(ts.predicted(x, t, generator(3)), np.transpose(found))


def test_without_noise_it_is_the_line():
    x = np.linspace(0, 10, 500)[:, None]
    y = 1 - 0.2 * x[:, 0] + np.random.default_rng(0).uniform(-0.2, 0.2, 500)  # or all candidates would be alike
    found = sweep(x, y, LINE, [ts.theil_sen("t", LINE)], [1e9, 1e-9], Holdout(2))
    exact, noisy = (found[(found["epsilon"] > 1) == flag]["value"] for flag in (True, False))
    assert exact.max() < 0.4 / math.sqrt(12) + 4 / 99  # the grid of the medians
    assert noisy.min() > 0.2


@pytest.fixture
def dp():
    """OpenDP, which a reader may do without; it is pinned for `make test`."""
    prelude = pytest.importorskip("opendp.prelude", reason="opendp is an optional extra: pip install -e '.[publish]'")
    prelude.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    return prelude


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_opendp_has_the_same_law(dp):
    """Both medians of both, in chi-squared tests of twenty cells; half of the noise does not pass."""
    rng, draws, epsilon = np.random.default_rng(0), 4000, 1.0
    x = rng.uniform(-1, 1, 60)
    t = (0.4 * x + 0.3 * rng.normal(size=60)).clip(-1, 1)
    model = dp.sklearn.linear_model.LinearRegression(
        dp.max_divergence(), x_bounds=[(-1, 1)], y_bounds=(-1, 1), scale=4 / epsilon
    )
    assert model.measurement.map(2) == epsilon  # a record that is replaced is two that differ
    theirs = np.array([model.measurement(np.stack([x, t], axis=1)) for _ in range(draws)])
    theirs = np.stack([theirs @ [cut, 1] for cut in ts.CUTS], axis=1)

    def ours(epsilon):
        pairs = (ts.predicted(x, t, rng) for _ in range(draws))
        return np.array([[ts.private_median(ts.scores(values), epsilon / 2, rng) for values in pair] for pair in pairs])

    for side in (0, 1):
        for budget, passes in ((epsilon, True), (2 * epsilon, False)):
            cells = [np.round((one[:, side] + 1) / 2 * 99).astype(int) // 5 for one in (theirs, ours(budget))]
            found = stats.chi2_contingency([np.bincount(one, minlength=20) for one in cells])
            assert (found.pvalue > 1e-4) == passes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_opendp_spends_more_than_it_says_where_a_record_is_added(dp):
    """From an odd to an even number: old lines pass below both candidates, those of the last two records between."""
    options = {"x_bounds": [(0, 1)], "y_bounds": (-1, 1), "scale": 1.0, "candidates_count": 2}
    release = dp.sklearn.linear_model.LinearRegression(dp.max_divergence(), **options).measurement
    old = np.array([[-10 - 0.01 * i, -3.0] for i in range(40)] + [[0.5, 0.0]])
    draws, hits = 3000, []
    for records in (old, np.vstack([old, [[0.6, 0.0]]])):
        ends = np.array([release(records) for _ in range(draws)]) @ [[0.25, 0.75], [1, 1]]
        hits.append(int((ends > 0.9).all(axis=1).sum()))
    assert release.map(1) == 2
    assert lower_bound(*hits, draws, 0.9999) > 2.2


def test_what_is_refused():
    with pytest.raises(InputError, match="2 predictors: give one"):
        ts.theil_sen("t", Box([0, 0], [1, 1], (0, 1), intercept=True))
