"""TukeyEM: its boxes against depths counted one by one, its law exactly, and what neighbours can make of it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from dpreg.audit.black_box import estimator
from dpreg.audit.pairs import Pair
from dpreg.checks import InputError
from dpreg.noise import generator
from dpreg.pipeline.domain import Box
from dpreg.sweeps import tukey
from dpreg.sweeps.experiment import sweep
from dpreg.sweeps.splits import Holdout

BOX = Box([-1], [1], (-1, 1), intercept=True)


def cells(*sets):
    """The edges, on each axis, of cells in which no depth changes, whichever of these sets of models counts."""
    return [np.unique(np.concatenate([fits[:, j] for fits in sets])) for j in range(sets[0].shape[1])]


def depths(fits, edges):
    """Depth and volume of each cell, from its middle: a count of models to either side, without any sorting."""
    depth, volume = np.full([len(one) - 1 for one in edges], len(fits)), 1.0
    for j, one in enumerate(edges):
        middle, shape = (one[1:] + one[:-1]) / 2, np.eye(len(edges), dtype=int)[j] * (len(one) - 2) + 1
        left, right = (fits[:, j, None] <= middle).sum(0), (fits[:, j, None] >= middle).sum(0)
        depth, volume = np.minimum(depth, np.minimum(left, right).reshape(shape)), volume * np.diff(one).reshape(shape)
    return depth, volume


def density(fits, edges, epsilon, delta):
    """Chance of each cell after the test, from the definition: exp(rate * depth) where the depth is large enough."""
    depth, volume = depths(fits, edges)
    rate = ((epsilon / 2) + math.log(1 - delta)) / 2
    weight = np.where(depth >= len(fits) // 4, volume * np.exp(rate * depth), 0.0).ravel()
    return weight / weight.sum() if weight.sum() else weight


def law(fits, edges, epsilon, delta):
    """Chance of a failure, and of each cell."""
    fails = tukey.failure(tukey.log_volumes(fits), epsilon, delta)
    return np.concatenate([[fails], (1 - fails) * density(fits, edges, epsilon, delta)])


def beyond(one, other, epsilon):
    """The smallest delta for two laws at this epsilon, in both directions."""
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((one, other), (other, one)))


def first_share(fits, depth, rate):
    """The share of the first box in the mixture, from depths of cells; one where there is nothing."""
    depth_of, volume = depths(fits, cells(fits))
    first = volume[depth_of >= depth].sum()
    total = (volume * np.exp(rate * (depth_of - depth)))[depth_of >= depth].sum()
    return first / total if total else 1.0


small = st.lists(st.sampled_from([-3.0, -1.0, -0.5, -0.25, 0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 2.0]), min_size=8, max_size=8)


@given(small, small)
def test_volumes_are_those_of_points_counted_one_by_one(x, y):
    fits = np.stack([x, y], axis=1)
    depth, volume = depths(fits, cells(fits)) if len(set(x)) > 1 and len(set(y)) > 1 else (np.zeros(1), np.zeros(1))
    expected = [(volume * (depth >= i)).sum() for i in range(1, 5)]
    np.testing.assert_allclose(np.exp(tukey.log_volumes(fits)), expected, rtol=1e-9, atol=1e-12)


@given(small, st.floats(0.1, 4.0))
def test_the_mixture_of_boxes_rises_with_the_depth(x, rate):
    """A point of depth D >= t lies in the boxes t to D: their weights over their volumes add up to exp(a (D - t))."""
    logs = tukey.log_volumes(np.array(x)[:, None])
    if np.isneginf(logs).any():
        return
    heights = np.cumsum(np.exp(tukey.log_weights(logs, rate) - logs[1:]))
    np.testing.assert_allclose(heights, np.exp(rate * np.arange(3)), rtol=1e-9)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(small, st.floats(0.5, 12.0), st.sampled_from([0.4, 0.1, 0.01]))
def test_no_fewer_models_than_the_distance_make_it_unsafe(x, rate, delta):
    """All sets of one and of two models, moved to all places near, between and far: none is unsafe too early."""
    fits, depth = np.array(x)[:, None], 2

    def reached(fits):
        return tukey.distance(tukey.log_volumes(fits), rate, delta)

    own = reached(fits)
    share = first_share(fits, depth, rate)
    if abs(share / delta - 1) > 1e-9:
        assert (own == 0) == (share > delta)
    for moved, places in ((1, [-1e6, -2.0, -0.4, 0.15, 0.5, 1e6]), (2, [-1e6, 0.15, 1e6])):
        for which in itertools.combinations(range(8), moved):
            for where in itertools.product(places, repeat=moved):
                other = fits.copy()
                other[list(which), 0] = where
                assert abs(reached(other) - own) <= moved
                if first_share(other, depth, rate) > delta * (1 + 1e-9):
                    assert own <= moved


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(16, 1, 6.0), (40, 1, 3.0), (40, 2, 6.0), (17, 2, 12.0)]))
def test_exact_laws_of_neighbours_are_within_the_claim(seed, case):
    (m, p, epsilon), rng, delta = case, np.random.default_rng(seed), 0.1
    fits = rng.standard_t(rng.choice([0.5, 1.5, 30.0]), (m, p)).round(int(rng.integers(1, 6)))
    other = fits.copy()
    other[rng.integers(m)] = rng.normal(size=p) * rng.choice([0.01, 1, 100])
    edges = cells(fits, other)
    assert beyond(law(fits, edges, epsilon, delta), law(other, edges, epsilon, delta), epsilon) <= delta * (1 + 1e-9)


def test_no_neighbours_at_all_among_models_at_four_places_break_the_claim():
    """Every set of nine models there, with ties, beside each that replaces one: the law, the draw, the distance."""
    places, epsilon, delta = np.array([-3.0, 0.0, 0.1, 1e6]), 12.0, 0.2
    edges, rate, laws = [places], tukey.budgets(epsilon, delta)[2], {}
    for which in itertools.combinations_with_replacement(range(4), 9):
        fits = places[list(which), None]
        reached = tukey.distance(tukey.log_volumes(fits), rate, delta)
        laws[which] = law(fits, edges, epsilon, delta), density(fits, edges, epsilon, delta), reached
    costs, drawn = [], []
    for which, (one, draw, reached) in laws.items():
        for out, into in itertools.product(range(9), range(4)):
            other, beside, also = laws[tuple(sorted((*which[:out], *which[out + 1 :], into)))]
            assert abs(reached - also) <= 1
            costs.append(beyond(one, other, epsilon))
            if reached and also:
                drawn.append(beyond(draw, beside, epsilon / 2))
    assert 0.9 * delta < max(costs) <= delta * (1 + 1e-9)
    assert 0 < max(drawn) <= delta


def test_the_first_box_can_cost_nearly_all_of_delta():
    """One model makes the first box wide, and its neighbour does not: what only one of them draws is nearly delta."""
    epsilon, delta, m = 8.0, 0.05, 80
    rate = (epsilon / 2 + math.log(1 - delta)) / 2
    inner = np.linspace(0, 1, m - 20)
    own = {}
    for width in np.geomspace(1, 1e18, 1000):
        fits = np.concatenate([[-width], np.full(19, -2 * width), inner])[:, None]
        if tukey.distance(tukey.log_volumes(fits), rate, delta):
            own = {"fits": fits, "other": np.where(fits == -width, 0.5, fits)}
    edges = cells(*own.values())
    one, other = (density(fits, edges, epsilon, delta) for fits in own.values())
    assert 0.8 * delta < beyond(one, other, epsilon / 2) <= delta


def test_a_test_that_should_fail_passes_with_a_chance_of_delta():
    """Its neighbour has nothing to draw from: the largest chance to pass beside such a one is delta, exactly."""
    epsilon, delta = 6.0, 0.05
    chances = []
    for far in np.geomspace(1.0, 1e6, 200):
        fits = np.concatenate([[-far, -far / 2], np.zeros(5), [far]])[
            :, None
        ]  # the second smallest, the second largest
        other = np.where(fits == -far / 2, 0.0, fits)
        assert tukey.failure(tukey.log_volumes(other), epsilon, delta) == 1
        chances.append(1 - tukey.failure(tukey.log_volumes(fits), epsilon, delta))
    assert max(chances) <= delta * (1 + 1e-9)
    fits = np.concatenate([np.full(6, -0.1), [-0.01, 0, 0, 0.01], np.full(6, 0.1)])[:, None]
    scale, threshold, _ = tukey.budgets(epsilon, delta)
    assert stats.laplace.sf(threshold - 1, scale=scale) == pytest.approx(delta)
    assert 0 < tukey.failure(tukey.log_volumes(fits), epsilon, delta) < 1


def test_the_loss_of_the_draw_comes_near_its_half_of_epsilon():
    """Nearly all the volume is in one gap: its depth rises, and that on the other side falls, with one model."""
    epsilon, delta, m = 1.0, 1e-3, 400
    small = np.linspace(0, 1e-9, m // 2)
    fits = np.concatenate([-1e-9 - small, small[:50], 1 + small[50:]])[:, None]
    other = np.where(fits == fits.min(), 3.0, fits)
    edges = cells(fits, other)
    one, two = (density(part, edges, epsilon, delta) for part in (fits, other))
    both = (one > 0) & (two > 0)
    largest = np.abs(np.log(one[both] / two[both])).max()
    assert 0.99 * epsilon / 2 < largest <= epsilon / 2


@pytest.mark.parametrize("p", [1, 2])
def test_draws_have_the_law(p):
    """All cells in a chi-squared test, which a rate a fifth too large does not pass."""
    rng = np.random.default_rng(0)
    fits, epsilon, delta, draws = rng.normal(size=(24, p)), 4.0, 0.3, 6000
    edges = cells(fits)
    drawn = tukey.deep_points(fits, np.full(draws, epsilon), delta, rng)
    failed = np.isnan(drawn).all(axis=1)
    expected = tukey.failure(tukey.log_volumes(fits), epsilon, delta)
    assert 0.05 < expected < 0.95
    assert stats.binomtest(int(failed.sum()), draws, expected).pvalue > 1e-4
    seen = np.histogramdd(drawn[~failed], edges)[0].ravel()
    for wrong, passes in ((1.0, True), (1.2, False)):
        share = density(fits, edges, wrong * epsilon, delta)
        some = share * len(drawn[~failed]) > 5
        seen_some, expected_some = np.append(seen[some], seen[~some].sum()), np.append(share[some], share[~some].sum())
        kept = expected_some > 0
        found = stats.chisquare(seen_some[kept], expected_some[kept] / expected_some.sum() * seen_some[kept].sum())
        assert (found.pvalue > 1e-4) == passes


def test_the_chance_of_failure_is_that_of_laplace_noise():
    rng = np.random.default_rng(1)
    fits, epsilon, delta = rng.normal(size=(60, 1)), 4.0, 0.1
    scale, threshold, rate = tukey.budgets(epsilon, delta)
    reached = tukey.distance(tukey.log_volumes(fits), rate, delta)
    assert reached > 0
    assert scale == pytest.approx(2 / epsilon)
    assert math.exp(2 * rate) / (1 - delta) == pytest.approx(math.exp(epsilon / 2))
    fails = tukey.failure(tukey.log_volumes(fits), epsilon, delta)
    assert (
        stats.binomtest(int((reached + rng.laplace(0, scale, 20_000) < threshold).sum()), 20_000, fails).pvalue > 1e-4
    )


def test_weights_do_not_overflow():
    logs = tukey.log_volumes(np.random.default_rng(0).normal(size=(20_000, 3)))
    weights = tukey.log_weights(logs, 50.0)
    assert np.isfinite(logsumexp(weights))
    assert tukey.distance(logs, 50.0, 1e-6) == 5000


def test_models_are_least_squares_on_disjoint_parts():
    rng = np.random.default_rng(0)
    Z, t = np.c_[np.ones(103), rng.uniform(-1, 1, (103, 2))], rng.uniform(-1, 1, 103)
    fits, order = tukey.models(Z, t, 10, generator(5)), generator(5).permutation(103)
    assert fits.shape == (10, 3)
    for fit, part in zip(fits, order[:100].reshape(10, 10), strict=True):
        np.testing.assert_allclose(fit, np.linalg.lstsq(Z[part], t[part])[0], atol=1e-4)
    changed = t.copy()
    changed[order[42]] = 5.0
    moved = (tukey.models(Z, changed, 10, generator(5)) != fits).any(axis=1)
    assert np.flatnonzero(moved).tolist() == [4]


def test_a_sweep_has_nothing_where_the_test_fails():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 1))
    y = 0.1 + 0.5 * X[:, 0] + 0.1 * rng.uniform(-1, 1, 4000)
    found = sweep(X, y, BOX, [tukey.tukey_em("t", 1e-6)], [0.01, 10.0], Holdout(3))
    small = found["epsilon"] < 1
    assert found["value"].isna().tolist() == small.tolist()
    assert found.loc[~small, "value"].max() < 0.07
    few = sweep(X[:12], y[:12], BOX, [tukey.tukey_em("t", 1e-6)], [10.0], Holdout(3))
    assert few["value"].isna().all()


@pytest.mark.thorough
def test_an_audit_from_outside_does_not_refute_it():
    """A record that pulls one of forty models far away, and a budget at which half of the fits pass the test."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (160, 1))
    y = 0.5 * x[:, 0] + 0.3 * rng.normal(size=160)
    other = y.copy()
    other[7] = 1e3

    def make(X, y, rng, draws):
        fits = tukey.models(np.c_[np.ones(len(y)), X], y, 4, rng)
        return np.nan_to_num(tukey.deep_points(fits, np.full(draws, 2.0), 0.05, rng), nan=99.0)

    found = estimator(make, Pair("far", x, y, x, other), 2.0, delta=0.05, draws=8000, random_state=0, many=True)
    assert not found.refuted


def test_what_is_refused():
    with pytest.raises(InputError, match="less than 5e-07 at an epsilon of 1e-06"):
        tukey.budgets(1e-6, 1e-6)
    with pytest.raises(InputError, match=r"delta is 0\.45: .* less than 0\.393469 at an epsilon of 1"):
        tukey.budgets(1.0, 0.45)
    assert tukey.budgets(1.0, 0.3934)[2] > 0
    with pytest.raises(InputError, match=r"delta is 0\.6: give at most \.5"):
        tukey.budgets(1.0, 0.6)
