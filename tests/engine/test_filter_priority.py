"""Filter-Priority: its filter and its sample against the slow way through all cells."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from dpreg import noise
from dpreg.mechanisms.filter_priority import filter_level, filter_priority, passing, priority, survivors
from dpreg.mechanisms.grid import Grid, partition
from dpreg.mechanisms.histogram import Histogram, count
from dpreg.pipeline.domain import Box
from dpreg.pipeline.solve import minimise
from tests.engine.cells import PLANE, by_hand, data, weights_of
from tests.ledger import value


def test_filter_priority_gives_data_to_regress_on():
    X, y = data(500, 1)
    expected, _ = by_hand(X, y, 5)
    out = filter_priority(count(X, y, partition(PLANE, 5)), 200.0, 500, 1)
    difference = np.abs(minimise(out.objective()) - expected).max()
    assert difference == pytest.approx(value("FM-FP-DATA", "difference"), abs=1e-9)
    spent = filter_priority(count(X, y, partition(PLANE, 5)), 0.8, 500, 1).ledger.epsilon
    assert spent == pytest.approx(value("FM-FP-DATA", "epsilon"), abs=1e-12)


@pytest.mark.parametrize("level", [1, 3])
def test_exact_loss_of_the_filter(level):
    """Two cells, replace one record: the law of what passes, enumerated; the loss is at most epsilon."""
    eps = 0.9
    alpha, shown = math.exp(-eps / 2), range(level, 60)

    def law(n):
        p = {v: (1 - alpha) / (1 + alpha) * alpha ** abs(v - n) for v in shown}
        below = alpha ** (n - level + 1) / (1 + alpha) if n >= level else 1 - alpha ** (level - n) / (1 + alpha)
        return p | {None: below}

    worst = 0.0
    for a, b in itertools.product(range(1, 6), range(5)):
        laws = [(law(a), law(b)), (law(a - 1), law(b + 1))]
        for u, v in itertools.product(laws[0][0], laws[0][1]):
            first, second = (one[u] * two[v] for one, two in laws)
            worst = max(worst, abs(math.log(first / second)))
    assert worst <= eps + 1e-9
    assert worst == pytest.approx(eps, abs=1e-6)
    assert law(0)[None] == pytest.approx(1 - passing(alpha, level))
    assert sum(law(2).values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("eps", [0.1, 0.8, 3.0])
@pytest.mark.parametrize("level", [1, 2, 5])
def test_passing_probability(eps, level):
    alpha = math.exp(-eps / 2)
    k = np.arange(level, 20_000)
    tail = ((1 - alpha) / (1 + alpha) * alpha ** k.astype(float)).sum()
    assert passing(alpha, level) == pytest.approx(tail, rel=1e-9)
    draws = noise.geometric(alpha, (100_000,), 3) >= level
    assert abs(draws.mean() - tail) < 4.5 * math.sqrt(tail * (1 - tail) / 100_000)


def test_filter_level_is_the_smallest_that_fits():
    for cells, size, eps in itertools.product((10, 10**6, 10**15), (1, 1000, 10**6), (0.1, 0.8, 10.0)):
        alpha = math.exp(-eps / 2)
        level = filter_level(cells, size, alpha)
        assert cells * passing(alpha, level) <= size * (1 + 1e-9)
        assert level == 1 or cells * passing(alpha, level - 1) > size * (1 - 1e-9)


SMALL = partition(PLANE, 5)  # 125 cells
FEW = Histogram(SMALL, np.array([3, 50, 51, 124]), np.array([1, 2, 6, 9]))
ALPHA = math.exp(-0.4)


def materialised(rng, level):
    """The slow way: noise on all cells, then the filter."""
    counts = np.zeros(SMALL.size, dtype=int)
    counts[FEW.codes] = FEW.counts
    # by inverting the distribution function of the geometric law, not by lib's sampler
    noisy = counts + np.floor(np.log(rng.random(SMALL.size)) / math.log(ALPHA)).astype(int)
    noisy -= np.floor(np.log(rng.random(SMALL.size)) / math.log(ALPHA)).astype(int)
    codes = np.flatnonzero(noisy >= level)
    return codes, noisy[codes]


@pytest.mark.thorough
@pytest.mark.parametrize("level", [1, 3])
def test_simulated_filter_has_the_law_of_the_slow_one(level):
    """Two-sample tests of number, places and values, each with error rate 1e-4."""
    runs = 3000
    rng = np.random.default_rng(21)
    slow = [materialised(rng, level) for _ in range(runs)]
    fast = [survivors(FEW, ALPHA, level, rng) for _ in range(runs)]
    places = np.array([np.bincount(np.concatenate([c for c, _ in side]), minlength=125) for side in (slow, fast)])
    assert stats.chi2_contingency(np.column_stack([places, 125 * runs - places.sum(axis=1)]))[1] > 1e-4
    numbers = [np.array([len(c) for c, _ in side]) for side in (slow, fast)]
    for values in (numbers, [np.concatenate([v for _, v in side]) for side in (slow, fast)]):
        top = int(max(v.max() for v in values))
        table = np.array([np.bincount(v, minlength=top + 1) for v in values])
        common = table.sum(axis=0) >= 40
        pooled = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
        pooled = pooled[:, pooled.sum(axis=0) > 0]
        assert stats.chi2_contingency(pooled)[1] > 1e-4
    # pairs of cells, one empty and one not, two empty ones: independent in both
    for first, second in ((3, 4), (10, 11)):
        joint = [sum({first, second} <= set(c.tolist()) for c, _ in side) for side in (slow, fast)]
        assert stats.fisher_exact([joint, [runs - j for j in joint]])[1] > 1e-4
    assert all(len(set(c.tolist())) == len(c) for c, _ in fast)


@pytest.mark.thorough
def test_survivors_among_the_empty_are_binomial():
    level, runs = 2, 4000
    rng = np.random.default_rng(22)
    found = [np.setdiff1d(survivors(FEW, ALPHA, level, rng)[0], FEW.codes).size for _ in range(runs)]
    law = stats.binom(121, passing(ALPHA, level))
    edges = np.arange(law.ppf(0.01), law.ppf(0.99) + 1).astype(int)
    observed = [np.sum(np.array(found) <= edges[0]), *(np.sum(np.array(found) == k) for k in edges[1:-1])]
    expected = [law.cdf(edges[0]), *law.pmf(edges[1:-1])]
    observed.append(runs - sum(observed))
    expected.append(1 - sum(expected))
    assert stats.chisquare(observed, np.array(expected) * runs).pvalue > 1e-4
    off = stats.binom(121, 1.05 * passing(ALPHA, level))  # five per cent more is noticed
    assert abs(np.mean(found) - off.mean()) > 4 * off.std() / math.sqrt(runs)
    assert abs(np.mean(found) - law.mean()) < 4 * law.std() / math.sqrt(runs)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 2, 3])
def test_priority_sampling_is_unbiased(size):
    """The mean weight of each value, by integrating over the uniform variables on a grid: exact up to its width."""
    v = np.array([5.0, 2.0, 1.0, 0.5])
    runs, rng = 40_000, np.random.default_rng(23)
    drawn = [priority(v, size, rng) for _ in range(runs)]
    table = np.zeros((runs, 4))
    np.put_along_axis(table, np.array([kept for kept, _ in drawn]), np.array([w for _, w in drawn]), axis=1)
    assert ((table > 0).sum(axis=1) == size).all()
    if size > 1:
        error = np.sqrt((np.minimum(table, 1e6) ** 2).mean(axis=0) / runs)
        assert (np.abs(table.mean(axis=0) - v) < 5 * error + 0.02).all()
    else:  # the weight has no second moment: compare the truncated mean with its exact value
        cut = 50.0
        first = np.minimum(table[:, 0], cut)

        # E min(max(v, tau), cut) min(1, v / tau) over the law of tau, the largest of the other priorities
        grid = np.linspace(2.0, 5000.0, 400_000)
        mass = np.diff(np.prod([1 - np.minimum(1.0, x / grid) for x in v[1:]], axis=0))
        tau = (grid[1:] + grid[:-1]) / 2
        exact = np.sum(np.minimum(np.maximum(v[0], tau), cut) * np.minimum(1, v[0] / tau) * mass)
        assert abs(first.mean() - exact) < 5 * first.std() / math.sqrt(runs) + 0.02


def test_priority_by_hand():
    kept, weights = priority([4.0, 3.0], 5, 1)
    assert kept.tolist() == [0, 1]
    assert weights.tolist() == [4.0, 3.0]
    v = np.array([1.0, 1.0, 8.0, 1.0, 1.0])
    rank = v / (1 - noise.generator(9).random(5))
    order = np.argsort(-rank)
    kept, weights = priority(v, 2, 9)
    assert sorted(order[:2].tolist()) == kept.tolist()
    np.testing.assert_allclose(weights, np.maximum(v[kept], rank[order[2]]))


def test_summary_is_sorted_within_size_and_above_the_level():
    h = count(*data(500, 3), partition(PLANE, 12))
    out = filter_priority(h, 0.5, 80, 4, level=2)
    assert len(out.codes) == 80
    assert (np.diff(out.codes) > 0).all()
    assert (out.weights >= 2).all()
    again = filter_priority(h, 0.5, 80, 4, level=2)
    np.testing.assert_array_equal(out.weights, again.weights)
    np.testing.assert_allclose(weights_of(out)[out.codes], out.weights)


def test_all_empty_cells_can_pass():
    """A level so low that most of the domain passes: codes stay distinct and within it."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        codes, counts = survivors(FEW, 0.999, 1, rng)
        assert len(set(codes.tolist())) == len(codes) <= 125
        assert codes.min() >= 0
        assert codes.max() < 125
        assert (counts >= 1).all()


@pytest.mark.parametrize("cells", [(10**6, 10**6), (2**31, 2**31)])
def test_nothing_as_large_as_the_domain_is_allocated(cells):
    box = Box([-1.0], [1.0], (-1.0, 1.0))
    X, y = data(2000, 1, d=1)
    tracemalloc.start()
    grid = Grid(box, cells, (False, False))
    out = filter_priority(count(X, y, grid), 0.8, 2000, 1)
    out.objective()
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert grid.size >= 10**12
    assert used < 5e6
    assert 0 < len(out.codes) <= 2000


@pytest.mark.thorough
@pytest.mark.parametrize(("alpha", "level"), [(0.9, 1), (0.5, 2), (0.1, 1)])
@pytest.mark.parametrize("occupied", [[5], [0, 1, 2, 4, 5], [0, 1, 2, 3, 4]])
def test_joint_law_of_the_empty_cells_that_pass(alpha, level, occupied):
    """Every set of empty cells with its exact probability: independent coins. Dense and nearly full grids too."""
    grid = Grid(Box([-1.0], [1.0], (-1.0, 1.0)), (2, 3), (False, False))
    h = Histogram(grid, np.array(occupied), np.full(len(occupied), 9))
    vacant = sorted(set(range(6)) - set(occupied))
    sets = [c for k in range(len(vacant) + 1) for c in itertools.combinations(vacant, k)]
    k = np.arange(level, 3000)
    p = ((1 - alpha) / (1 + alpha) * alpha ** k.astype(float)).sum()
    expected = np.array([p ** len(c) * (1 - p) ** (len(vacant) - len(c)) for c in sets])
    rng, runs, found = np.random.default_rng(25), 4000, dict.fromkeys(sets, 0)
    for _ in range(runs):
        found[tuple(c for c in survivors(h, alpha, level, rng)[0].tolist() if c in vacant)] += 1
    observed, often = np.array(list(found.values())), expected * runs >= 8
    table = np.array([[*x[often], x[~often].sum()] for x in (observed, expected * runs)])
    table = table[:, table[1] > 0]
    assert stats.chisquare(*table).pvalue > 1e-4


def test_no_empty_cell_at_all():
    full = Histogram(SMALL, np.arange(125), np.full(125, 4))
    codes, counts = survivors(full, 0.5, 1, 1)
    assert set(codes.tolist()) <= set(range(125))
    out = filter_priority(full, 50.0, 125, 1)
    assert out.codes.tolist() == list(range(125))
    assert out.weights.tolist() == [4.0] * 125
    assert filter_priority(full, 50.0, 125, 1, level=60).codes.size == 0
    assert not filter_priority(full, 50.0, 125, 1, level=60).moments().any()
    assert (counts >= 1).all()


@pytest.mark.thorough
def test_law_of_the_empty_cells_in_the_largest_domain():
    """numpy's binomial is wrong here by far: of 6000 draws the mean is seven standard errors off."""
    grid = Grid(Box([-1.0], [1.0], (-1.0, 1.0)), (2**31, 2**31), (False, False))
    h, level, runs, rng = Histogram(grid, np.array([7]), np.array([1])), 55, 6000, np.random.default_rng(31)
    drawn = [survivors(h, 0.5, level, rng)[0] for _ in range(runs)]
    number = np.array([len(c) for c in drawn])
    mean = 2.0**62 * 0.5**level / 1.5  # of a binomial so near to the Poisson law that the difference is below 2^-50
    assert abs(number.mean() - mean) < 4 * math.sqrt(mean / runs)
    assert abs(number.var() / mean - 1) < 4 * math.sqrt(2 / runs)
    edges = stats.poisson(mean).ppf([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    expected = np.diff(np.r_[0, stats.poisson(mean).cdf(edges), 1]) * runs
    assert stats.chisquare(np.bincount(np.searchsorted(edges, number), minlength=8), expected).pvalue > 1e-4
    codes = np.concatenate(drawn)
    assert stats.kstest(codes / 2.0**62, "uniform").pvalue > 1e-4
    assert abs((codes & 1).mean() - 0.5) < 4 / math.sqrt(4 * len(codes))


def test_survivors_are_sorted_so_that_the_order_does_not_tell_the_empty_cells():
    h = Histogram(SMALL, np.array([60, 61]), np.array([50, 50]))
    codes, counts = survivors(h, 0.9, 1, 3)
    assert (np.diff(codes) > 0).all()
    assert codes.min() < 60
    assert counts[codes == 60] > 20  # the counts moved with their codes
    assert (counts[codes < 60] < 100).all()


@pytest.mark.thorough
def test_noise_mass_of_a_summary():
    """(m - n0) p (level + alpha / (1 - alpha)) by simulation."""
    level, runs, rng = 2, 3000, np.random.default_rng(24)
    mass = []
    for _ in range(runs):
        codes, counts = survivors(FEW, ALPHA, level, rng)
        mass.append(counts[~np.isin(codes, FEW.codes)].sum())
    exact = 121 * passing(ALPHA, level) * (level + ALPHA / (1 - ALPHA))
    assert abs(np.mean(mass) - exact) < 4.5 * np.std(mass) / math.sqrt(runs)


def test_very_small_and_very_large_epsilon():
    h = count(*data(50, 1), partition(PLANE, 4))
    out = filter_priority(h, 1e6, 50, 1)
    np.testing.assert_array_equal(out.codes, h.codes)
    np.testing.assert_array_equal(out.weights, h.counts)
    assert filter_level(10, 10, 0.5) == 1
    assert filter_priority(h, 1e-3, 10, 1).weights.min() >= 1
