"""Histograms: what 001 and 000 claim of DPME and Filter-Priority, and DPME itself."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpreg.checks import BudgetError, IndefiniteError, InputError, PrivacyLeakWarning
from dpreg.mechanisms import histogram
from dpreg.mechanisms.filter_priority import Summary, filter_priority
from dpreg.mechanisms.grid import bandwidth, partition
from dpreg.mechanisms.histogram import Histogram, count, dpme
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import TAYLOR, linear
from dpreg.pipeline.solve import minimise
from lib.data import census
from lib.data.datasets import wine
from tests.engine.cells import N_001, PLANE, by_hand, data
from tests.ledger import tolerance, value

FIVE = [73, 2, 16, 16]  # values of age, sex, education and family size


def scaled(dataset):
    """Records of a data set in [-1, 1] by its bounds, by hand."""
    low, high = np.array([dataset.bounds[name] for name in (*dataset.names, dataset.response_name)]).T
    table = 2 * (np.column_stack([dataset.X, dataset.y]) - low) / (high - low) - 1
    return table[:, :-1], table[:, -1]


def mse(theta, X, y):
    return float(np.mean((y - theta[0] - X @ theta[1:]) ** 2))


def plain(X, y):
    return np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]


# --- claims


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_counts_change_by_two_or_by_one(neighbours):
    """All data sets of two records on six cells, and all their neighbours."""
    grid = partition(Box([-1.0], [1.0], response=(-1.0, 1.0)), 3)
    places = [(x, y) for x in (-0.9, 0.0, 0.9) for y in (-0.9, 0.0, 0.9)]

    def dense(rows):
        h = count([[x] for x, _ in rows], [y for _, y in rows], grid)
        out = np.zeros(grid.size)
        out[h.codes] = h.counts
        return out

    changed = []
    for a, b, c in itertools.product(places, repeat=3):
        first, second = ([a, b], [a, c]) if neighbours == "replace" else ([a, b], [a, b, c])
        difference = dense(first) - dense(second)
        assert set(np.abs(difference)) <= {0, 1}
        assert np.count_nonzero(difference) == (2 * (b != c) if neighbours == "replace" else 1)
        changed.append(np.abs(difference).sum())
    assert max(changed) == value("FM-DPME-NOISE", neighbours) == histogram.CHANGED[neighbours]


def test_half_of_the_empty_cells_are_negative():
    assert value("FM-DPME-SYNTH", "negative") == stats.laplace.cdf(0)
    phantom = integrate.quad(lambda z: z * stats.laplace.pdf(z), 0, np.inf)[0]
    assert phantom == pytest.approx(value("FM-DPME-SYNTH", "phantom"))


def test_noise_on_the_occupied_cells_only_is_not_private():
    """A record moved to an empty cell gives an output that was impossible before."""
    eps = 1.0
    first, second = np.array([2, 0, 1]), np.array([1, 1, 1])  # neighbours: one record from cell 0 to cell 1
    outputs = np.array(list(itertools.product(np.linspace(-6, 6, 25), repeat=3)))
    laws = [stats.laplace.logpdf(outputs, counts, 2 / eps).sum(axis=1) for counts in (first, second)]
    loss = laws[0] - laws[1]
    assert np.abs(loss).max() == pytest.approx(value("FM-DPME-PRIV", "every_cell")) == eps
    assert ((first > 0) == (second > 0)).all() == value("FM-DPME-PRIV", "occupied_cells_alone")


@pytest.mark.thorough
def test_coarse_cells_explain_little():
    """001's reason for the errors of DPME, against the same grid without noise, at eight attributes."""
    dataset = census.census(n=120_000, attributes=8, random_state=11)
    (X, y), K = scaled(dataset), bandwidth(120_000, 8)
    values = [73, 2, 16, 16, 2, 2, 7]
    assert values == [round(high - low) + 1 for low, high in (dataset.bounds[name] for name in dataset.names)]
    rng, best = np.random.default_rng(12), mse(plain(X, y), X, y)

    def clip(c):
        return np.maximum(c + rng.laplace(scale=2.5, size=c.shape), 0)

    errors = [mse(by_hand(X, y, K, f, values)[0], X, y) - best for f in (lambda c: c, clip)]
    assert 0 <= errors[0] < 0.2 * errors[1]
    assert 0 <= value("FM-DPME-DIM", "coarse_share") < 0.2


def laplace_clip(rng, eps):
    return lambda counts: np.maximum(counts + rng.laplace(scale=2 / eps, size=counts.shape), 0)


def laplace_signed(rng, eps):
    return lambda counts: counts + rng.laplace(scale=2 / eps, size=counts.shape)


def slow_priority(rng, eps, size):
    """Filter-Priority the slow way: geometric noise on every cell, filter, priority sample, with numpy alone."""

    def weigh(counts):
        alpha = math.exp(-eps / 2)
        noisy = counts + rng.geometric(1 - alpha, counts.shape) - rng.geometric(1 - alpha, counts.shape)
        level = 1
        while len(counts) * alpha**level / (1 + alpha) > size:
            level += 1
        noisy = np.where(noisy >= level, noisy, 0.0)
        rank = noisy / (1 - rng.random(len(noisy)))
        cut = np.sort(rank)[-size - 1] if size < len(rank) else 0.0
        return np.where(rank > cut, np.maximum(noisy, cut), 0.0)

    return weigh


def noisy_coefficients(rng, eps, X, y, ridge=0.0):
    """The functional mechanism with 001's printed sensitivity, more noise than the chapter's, and no repair."""
    Z = np.column_stack([np.ones(len(X)), X])
    scale = 2 * (Z.shape[1] + 1) ** 2 / eps
    E = np.triu(rng.laplace(scale=scale, size=(Z.shape[1],) * 2))
    v = Z.T @ y + rng.laplace(scale=scale, size=Z.shape[1]) / 2
    return np.linalg.solve(Z.T @ Z + E + np.triu(E, 1).T + ridge * np.eye(Z.shape[1]), v)


@pytest.mark.thorough
def test_clipped_histogram_is_far_worse_and_signed_is_not():
    """001's Fig. 4 at five and at 14 attributes, by np.histogramdd and on other draws."""
    rng, ratio = np.random.default_rng(6), {}
    for name, D in {"five": 5, "fourteen": 14}.items():
        dataset = census.census(n=120_000, attributes=D, random_state=5)
        (X, y), K = scaled(dataset), bandwidth(120_000, D)
        values = [round(high - low) + 1 for low, high in (dataset.bounds[a] for a in dataset.names)]
        best = mse(plain(X, y), X, y)
        for mode, law in {"clip": laplace_clip(rng, 0.8), "signed": laplace_signed(rng, 0.8)}.items():
            sd = 2.5 * math.sqrt(2 * math.prod([K, *(min(K, k) for k in values)]))
            theta, _ = by_hand(X, y, K, law, values, lift=4 * sd if mode == "signed" else 0.0)
            ratio[f"{mode}_{name}"] = mse(theta, X, y) / best
    law = slow_priority(rng, 0.8, 120_000)
    X, y = scaled(census.census(n=120_000, attributes=5, random_state=5))
    ratio["fp_five"] = mse(by_hand(X, y, 16, law, FIVE)[0], X, y) / mse(plain(X, y), X, y)
    assert ratio["signed_five"] < 1.05 < ratio["fp_five"]
    assert ratio["signed_five"] < 1.1 < ratio["clip_five"]
    assert ratio["clip_five"] < 1.4 < ratio["clip_fourteen"]
    assert ratio["signed_fourteen"] < ratio["clip_fourteen"]


@pytest.mark.thorough
def test_errors_fall_with_records_and_with_epsilon():
    """001's Figs. 5 and 6 at five attributes, by np.histogramdd; the functional mechanism is below all of them."""
    X, y = scaled(census.census(n=N_001, attributes=5, random_state=7))
    rng = np.random.default_rng(8)

    def clip(n, eps):
        return mse(by_hand(X[:n], y[:n], bandwidth(n, 5), laplace_clip(rng, eps), FIVE)[0], X, y)

    def signed(n, eps):
        K = bandwidth(n, 5)
        lift = 8 / eps * math.sqrt(2 * math.prod([K, *(min(K, k) for k in FIVE)]))
        return mse(by_hand(X[:n], y[:n], K, laplace_signed(rng, eps), FIVE, lift)[0], X, y)

    def sample(n, eps):
        return mse(by_hand(X[:n], y[:n], 16, slow_priority(rng, eps, n), FIVE)[0], X, y)

    def functional(n, eps):
        return np.median([mse(noisy_coefficients(rng, eps, X[:n], y[:n]), X, y) for _ in range(5)])

    few, some, many = N_001 // 10, N_001 // 5, N_001
    clips, samples = [clip(n, 0.8) for n in (few, some, many)], [sample(n, 0.8) for n in (few, many)]
    assert clips[1] > clips[0] > clips[2]
    assert samples[0] > samples[1]
    best = [functional(few, 0.8), functional(many, 0.8)]
    assert best[0] < min(clips[0], samples[0])
    assert best[1] < min(clips[2], samples[1])
    for k, (n, most) in enumerate([(few, 0.1), (many, 0.01)]):
        assert 1 < signed(n, 0.8) / best[k] < 1 + most < clips[2 * k] / best[k]
    errors = {eps: clip(many, eps) for eps in (0.1, 0.8, 3.2)}
    assert errors[0.1] > errors[0.8] > errors[3.2]
    others = {eps: min(error, sample(many, eps), signed(many, eps)) for eps, error in errors.items()}
    assert all(functional(many, eps) < other for eps, other in others.items() if eps < 3.2)
    assert others[3.2] > mse(plain(X, y), X, y)


@pytest.mark.thorough
def test_functional_mechanism_is_below_the_histograms_with_four_predictors():
    """000's Fig. 5 with 001's printed sensitivity, without a penalty and with a ridge."""
    dataset = census.census(n=200_000, attributes=9, random_state=13)
    X, y = scaled(dataset)
    X = X[:, [dataset.names.index(name) for name in ("age", "female", "race", "education")]]
    rng, K, values = np.random.default_rng(14), bandwidth(200_000, 5), [73, 2, 4, 16]
    for eps, ridge in itertools.product((0.1, 0.5, 1.0, 5.0), (0.0, 100.0)):
        ours = mse(noisy_coefficients(rng, eps, X, y, ridge), X, y)
        for mode, law in {"clip": laplace_clip(rng, eps), "signed": laplace_signed(rng, eps)}.items():
            assert ours < mse(by_hand(X, y, K, law, values, lift=ridge)[0], X, y), mode


def test_logistic_on_cells():
    """001's Fig. 4c at five attributes: Newton on np.histogramdd, clipped and with a threshold, written out here."""
    dataset = census.above(census.census(n=100_000, attributes=5, random_state=9), 50_000)
    X, label = scaled(dataset)[0], dataset.y
    K = bandwidth(len(label), 5)
    counts, edges = np.histogramdd(np.column_stack([2 * label - 1, X]), bins=[2, K, 2, K, K], range=[(-1, 1)] * 5)
    mid = [np.array([-1.0, 1.0]) if len(e) == 3 else (e[1:] + e[:-1]) / 2 for e in edges]
    points = np.column_stack([m.ravel() for m in np.meshgrid(*mid, indexing="ij")])
    noisy = counts.ravel() + np.random.default_rng(10).laplace(scale=2.5, size=len(points))

    def fit(Z, t, w):
        theta = np.zeros(Z.shape[1])
        for _ in range(12):
            p = 1 / (1 + np.exp(-Z @ theta))
            theta += np.linalg.solve((Z.T * (w * p * (1 - p))) @ Z, Z.T @ (w * (t - p)))
        return np.mean((design @ theta > 0) != (label == 1))

    design = np.column_stack([np.ones(len(label)), X])
    rows, ones = np.column_stack([np.ones(len(points)), points[:, 1:]]), points[:, 0] > 0
    exact = fit(design, label, np.ones(len(label)))
    clip = fit(rows, ones, np.maximum(noisy, 0))
    kept = fit(rows, ones, np.where(noisy >= 2.5 * math.log(len(points)), noisy, 0))
    # the minimiser of sum z^2 / 8 - (y - 1/2) z
    truncated = np.mean((design @ np.linalg.lstsq(design, 4 * (label - 0.5), rcond=None)[0] > 0) != (label == 1))
    assert exact < kept < truncated < clip


def test_dpme_is_a_fit_to_the_perturbed_histogram():
    X, y = data(800, 2)
    expected, weights = by_hand(X, y, 7)
    out = dpme(count(X, y, partition(PLANE, 7)), 1e9, 1)
    assert np.abs(minimise(out.objective()) - expected).max() <= 1e-6 + value("RR-DPME", "difference")
    assert weights.sum() == 800


def test_wine_histogram_is_nearly_empty():
    X, y = scaled(wine())
    K = bandwidth(len(y), 12)
    assert K == 2
    places = np.minimum(np.floor((np.clip(np.column_stack([y, X]), -1, 1) + 1) / 2 * K), K - 1)
    assert len(np.unique(places, axis=0)) == value("RR-SPARSE", "occupied")


def test_negative_weights_break_convexity_and_clipping_mends_it():
    """Forty records on a thousand cells: signs of the smallest eigenvalue, drawn with numpy alone."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (500, 2))
    y = np.clip(X @ [0.5, -0.2] + 0.1 * rng.normal(size=500), -1, 1)
    X, y = X[:40], y[:40]
    rng, lowest = np.random.default_rng(4), {"clip": [], "signed": []}
    mid = np.linspace(-0.9, 0.9, 10)
    points = np.array(list(itertools.product(mid, repeat=3)))
    counts = np.histogramdd(np.column_stack([y, X]), bins=10, range=[(-1, 1)] * 3)[0].ravel()
    Z = np.column_stack([np.ones(len(points)), points[:, 1:]])
    for _ in range(2000):
        w = counts + rng.laplace(scale=2.5, size=len(counts))
        lowest["signed"].append(np.linalg.eigvalsh((Z.T * w) @ Z)[0])
        lowest["clip"].append(np.linalg.eigvalsh((Z.T * np.maximum(w, 0)) @ Z)[0])
    shares = {name: np.mean(np.array(v) < 0) for name, v in lowest.items()}
    assert shares["clip"] == 0
    expected = value("RR-DPME-CONVEX", "signed")
    own = math.sqrt(expected * (1 - expected) * (1 / 2000 + 1 / 2000))
    assert abs(shares["signed"] - expected) < 4 * own
    assert tolerance("RR-DPME-CONVEX", "signed") >= 4 * math.sqrt(expected * (1 - expected) / 2000) - 1e-3


# --- counts


def test_shards_merge():
    X, y = data(300, 5)
    grid = partition(PLANE, 6)
    whole, parts = count(X, y, grid), [count(X[k::3], y[k::3], grid) for k in range(3)]
    merged = parts[0] + parts[1] + parts[2]
    assert merged.codes.tolist() == whole.codes.tolist()
    assert merged.counts.tolist() == whole.counts.tolist()
    assert merged.n == 300
    with pytest.raises(InputError, match="different grids"):
        parts[0] + count(X, y, partition(PLANE, 5))


def test_a_histogram_cannot_be_changed_under_a_noisy_grid():
    """The noise is drawn again at every read: on other counts the same noise would give both data sets away."""
    codes, counts = np.array([0, 7], dtype=np.uint64), np.array([3, 4], dtype=np.int8)
    h = Histogram(partition(PLANE, 3), codes, counts)
    assert h.codes.dtype == h.counts.dtype == np.int64
    out = dpme(h, 1.0, mode="signed")
    before = out.moments()
    counts += 100
    codes += 1
    for array in (h.codes, h.counts):
        with pytest.raises(ValueError, match="read-only"):
            array += 1
    np.testing.assert_array_equal(out.moments(), before)
    assert h.n == 7
    assert Histogram(h.grid, [0, 7], [3, 4]).n == 7
    assert (count(*data(30, 1), h.grid) + h).counts.flags.writeable is False


def test_two_cells_that_are_not_labels_are_refused():
    """Their midpoints are half the labels, so the coefficients of a quadratic for the logistic loss would be half."""
    box = Box([-1.0] * 2, [1.0] * 2, (0.0, 1.0), intercept=True)
    X, y = data(300, 5, labels=True)
    right, wrong = (count(X, y, partition(box, 2, response=r)) for r in (2, None))
    assert np.isfinite(minimise(dpme(right, 1e6, 1).objective(TAYLOR))).all()
    for cells in (dpme(wrong, 1.0, 1), filter_priority(wrong, 1.0, 8, 1)):
        for use in (lambda out=cells: out.objective(TAYLOR), cells.logistic):
            with pytest.raises(InputError, match="response=2"):
                use()
        assert cells.objective().p == 3


# --- DPME


@pytest.mark.parametrize(("neighbours", "scale"), [("replace", 2 / 0.7), ("add_remove", 1 / 0.7)])
def test_noise_law_of_the_counts(neighbours, scale):
    """Accepted at the declared scale, rejected five per cent off; 160,000 cells, so the second errs with p < 1e-6."""
    X, y = data(400, 6)
    grid = partition(PLANE, 54)
    h = count(X, y, grid)
    out = dpme(h, 0.7, 7, mode="signed", neighbours=neighbours)
    slabs = np.concatenate([slab.ravel() for slab in out.slabs()])
    slabs[h.codes] -= h.counts
    assert stats.kstest(slabs / scale, "laplace").pvalue > 1e-4
    magnitude = np.abs(slabs)  # exponential: the sum is gamma, so five per cent are many standard errors
    for factor, accepted in ((1.0, True), (0.95, False), (1.05, False)):
        z = (magnitude.mean() / (scale * factor) - 1) * math.sqrt(len(magnitude))
        assert (abs(z) < 4) == accepted
    assert out.ledger.epsilon == pytest.approx(0.7, abs=1e-12)
    assert out.ledger.spends[0].scale == pytest.approx(scale)


def test_every_empty_cell_gets_noise():
    h = count([[0.1, 0.1]] * 2, [0.1, 0.1], partition(PLANE, 5))
    w = np.concatenate([s.ravel() for s in dpme(h, 1.0, 1, mode="signed").slabs()])
    assert len(w) == 125
    assert len(np.unique(w)) == 125


@pytest.mark.parametrize("mode", ["clip", "signed", "threshold"])
def test_blocks_and_fast_moments_agree(mode):
    X, y = data(400, 8)
    out = dpme(count(X, y, partition(PLANE, 9)), 2.0, 3, mode=mode)
    middle = (2 * np.arange(9) - 8) / 9
    t, a, b = (axis.ravel() for axis in np.meshgrid(middle, middle, middle, indexing="ij"))
    cells, table, first = np.column_stack([t, np.ones(9**3), a, b]), np.zeros((4, 4)), 0
    noisy = np.concatenate([slab.ravel() for slab in out.slabs()])
    kept = np.flatnonzero(noisy)
    for records, weights in out.blocks():
        here = kept[first : first + len(weights)]
        np.testing.assert_allclose(records, cells[here], atol=1e-12)
        np.testing.assert_array_equal(weights, noisy[here])
        table += np.einsum("i,ij,ik->jk", weights, records, records)
        first += len(weights)
    assert first == len(kept)
    np.testing.assert_allclose(out.moments(), table, atol=1e-8)
    f = out.objective()
    assert f.domain is None
    np.testing.assert_allclose(f.M, table[1:, 1:], atol=1e-8)
    np.testing.assert_allclose(f.v, -2 * table[0, 1:], atol=1e-8)


def test_modes_are_functions_of_the_same_noise():
    X, y = data(400, 8)
    h = count(X, y, partition(PLANE, 6))
    signed, clip, kept = (
        np.concatenate([s.ravel() for s in dpme(h, 1.0, 3, mode=mode).slabs()])
        for mode in ("signed", "clip", "threshold")
    )
    np.testing.assert_array_equal(clip, np.maximum(signed, 0))
    level = 2 * math.log(216)
    np.testing.assert_array_equal(kept, np.where(signed >= level, signed, 0))
    own = np.concatenate([s.ravel() for s in dpme(h, 1.0, 3, mode="threshold", level=1.5).slabs()])
    np.testing.assert_array_equal(own, np.where(signed >= 1.5, signed, 0))


@pytest.mark.parametrize("slab", [1, 7, 36, 100, 10**6])
def test_noise_does_not_depend_on_the_slab(slab, monkeypatch):
    X, y = data(200, 9)
    h = count(X, y, partition(PLANE, 6))
    before = dpme(h, 1.0, 4)
    expected, moments = np.concatenate([s.ravel() for s in before.slabs()]), before.moments()
    monkeypatch.setattr(histogram, "SLAB", slab)
    after = dpme(h, 1.0, 4)
    slabs = list(after.slabs())
    np.testing.assert_array_equal(np.concatenate([s.ravel() for s in slabs]), expected)
    np.testing.assert_allclose(after.moments(), moments, atol=1e-9)
    assert max(s.size for s in slabs) <= max(slab, 6)


def test_reading_twice_gives_the_same_noise_and_a_generator_moves_on():
    h = count(*data(50, 1), partition(PLANE, 4))
    out = dpme(h, 1.0)
    np.testing.assert_array_equal(out.moments(), out.moments())
    rng = np.random.default_rng(3)
    assert (dpme(h, 1.0, rng).moments() != dpme(h, 1.0, rng).moments()).any()
    np.testing.assert_array_equal(dpme(h, 1.0, 5).moments(), dpme(h, 1.0, 5).moments())
    with pytest.raises(InputError, match="refers to the exact counts"):
        pickle.dumps(out)


@pytest.mark.parametrize("method", ["dpme", "priority"])
def test_clipped_rows_and_their_twins_release_the_same(method):
    X, y = data(100, 2)
    X[0], y[0] = (5.0, -9.0), 3.0
    twin, t = X.copy(), y.copy()
    twin[0], t[0] = (1.0, -1.0), 1.0
    grid = partition(PLANE, 5)
    run = (lambda h: dpme(h, 1.0, 1)) if method == "dpme" else (lambda h: filter_priority(h, 1.0, 50, 1))
    np.testing.assert_array_equal(run(count(X, y, grid)).moments(), run(count(twin, t, grid)).moments())


@given(st.permutations([0, 1, 2]), st.lists(st.sampled_from([-1.0, 1.0]), min_size=3, max_size=3))
@settings(max_examples=20, deadline=None)
def test_permuted_and_flipped_predictors(order, signs):
    X, y = data(300, 4, d=3)
    box = Box([-1.0] * 3, [1.0] * 3, (-1.0, 1.0), intercept=True)
    grid, signs = partition(box, 6), np.array(signs)
    theta = minimise(dpme(count(X, y, grid), 1e9, 1).objective())
    turned = minimise(dpme(count((X * signs)[:, order], y, grid), 1e9, 1).objective())
    np.testing.assert_allclose(turned[1:], (theta[1:] * signs)[list(order)], atol=1e-6)
    assert turned[0] == pytest.approx(theta[0], abs=1e-6)


def test_limit_of_large_epsilon_for_labels():
    """Weighted Newton on np.histogramdd, written out."""
    X, y = data(600, 5, labels=True)
    box = Box([-1.0] * 2, [1.0] * 2, (0.0, 1.0), intercept=True)
    grid = partition(box, 6, response=2)
    counts, edges = np.histogramdd(np.column_stack([y, X]), bins=[2, 6, 6], range=[(0, 1), (-1, 1), (-1, 1)])
    mid = (edges[1][1:] + edges[1][:-1]) / 2
    points = np.array(list(itertools.product([0.0, 1.0], mid, mid)))
    Z, w, theta = np.column_stack([np.ones(len(points)), points[:, 1:]]), counts.ravel(), np.zeros(3)
    for _ in range(20):
        p = 1 / (1 + np.exp(-Z @ theta))
        theta += np.linalg.solve((Z.T * (w * p * (1 - p))) @ Z, Z.T @ (w * (points[:, 0] - p)))
    h = count(X, y, grid)
    np.testing.assert_allclose(dpme(h, 1e9, 1).logistic(), theta, atol=1e-5)
    np.testing.assert_allclose(filter_priority(h, 200.0, 600, 1).logistic(), theta, atol=1e-5)
    quadratic = dpme(h, 1e9, 1).objective(TAYLOR)
    np.testing.assert_allclose(quadratic.M, (Z.T * w) @ Z / 8, atol=1e-4)


def test_logistic_with_negative_weights_is_refused_where_it_is_not_convex():
    box = Box([-1.0], [1.0], (0.0, 1.0), intercept=True)
    h = count([[0.1], [0.2]], [0.0, 1.0], partition(box, 20, response=2))
    refused = 0
    for seed in range(20):
        try:
            dpme(h, 0.1, seed, mode="signed").logistic()
        except IndefiniteError:
            refused += 1
        except (ArithmeticError, RuntimeError):
            pass
    assert refused > 0


def test_phantom_records():
    """E max(n + z, 0) = n + (b / 2) e^(-n / b), by quadrature, and the total by simulation."""
    b = 2 / 0.8
    for n in (0, 1, 5):
        exact = integrate.quad(lambda z, n=n: max(n + z, 0) * stats.laplace.pdf(z, scale=b), -n, 200, limit=300)[0]
        assert exact == pytest.approx(n + b / 2 * math.exp(-n / b), rel=1e-6)
    h = count([[0.0, 0.0]] * 30, [0.0] * 30, partition(PLANE, 50))
    total = dpme(h, 0.8, 2).objective().M[0, 0]
    empty = 50**3 - 1
    sd = math.sqrt(empty * (b**2 - b**2 / 4))  # E max(z, 0)^2 = b^2
    assert abs(total - 30 - empty / 0.8) < 5 * sd


def test_clipping_is_a_ridge_in_expectation():
    """Mean of the clipped objective over draws: M gains (b / 2) times the moments of the grid, v nothing from it."""
    grid = partition(PLANE, 8)
    h = count([[0.3, -0.6]] * 5000, [0.4] * 5000, grid)
    exact = Summary(grid, h.codes, h.counts.astype(float), dpme(h, 1.0, 0).ledger).objective()
    draws = [dpme(h, 1.0, seed).objective() for seed in range(400)]
    gain = np.mean([f.M - exact.M for f in draws], axis=0)
    s2 = np.mean((2 * np.arange(8) + 1 - 8.0) ** 2) / 64
    empties = 8**3 * np.diag([1, s2, s2])
    point = grid.points(h.codes)[0, 1:]
    np.testing.assert_allclose(gain, empties - np.outer(point, point), atol=5 * math.sqrt(512 * 3 / 400))


@pytest.mark.thorough
def test_deviation_of_signed_moments():
    h = count([[0.0, 0.0]] * 2, [0.0, 0.0], partition(PLANE, 9))
    draws = np.array([dpme(h, 1.0, seed, mode="signed").objective().M for seed in range(2000)])
    sd = draws.std(axis=0)
    assert sd[0, 0] == pytest.approx(dpme(h, 1.0, 0).deviation, rel=0.06)  # almost four standard errors of a deviation
    assert sd[0, 0] == pytest.approx(2 * math.sqrt(2 * 9**3), rel=0.06)
    c = (2 * np.arange(9) + 1 - 9) / 9
    assert sd[1, 2] == pytest.approx(2 * math.sqrt(2 * 9**3) * np.mean(c**2), rel=0.06)
    plain = Box([-1.0], [1.0], (-1.0, 1.0))
    flat = dpme(count([[0.0]] * 2, [0.0, 0.0], partition(plain, 9)), 1.0, 0)
    assert flat.deviation == pytest.approx(2 * math.sqrt(2 * 81 * np.mean(c**4)))


def test_bias_of_the_grid_is_at_most_a_cell():
    """Every record moves by half a cell per axis at most, so the moments move by at most so much."""
    X, y = data(2000, 11)
    exact = linear(X, y, PLANE)
    for K in (2, 4, 8, 16, 32):
        h = count(X, y, partition(PLANE, K))
        f = Summary(h.grid, h.codes, h.counts.astype(float), dpme(h, 1.0, 0).ledger).objective()
        assert np.abs(f.M - exact.M).max() / 2000 <= 2 / K
        assert np.abs(f.v - exact.v).max() / 2000 <= 4 / K


# --- privacy


def test_no_neighbour_beats_the_certified_epsilon():
    """All count vectors of three records on four cells; the loss of the noisy counts is the weighted L1 distance."""
    vectors = [v for v in itertools.product(range(4), repeat=4) if sum(v) == 3]
    for relation, others in (
        ("replace", vectors),
        ("add_remove", [v for v in itertools.product(range(5), repeat=4) if sum(v) == 4]),
    ):
        worst = 0.0
        for a, b in itertools.product(vectors, others):
            difference = np.abs(np.subtract(a, b))
            if (difference.sum() == 2 and max(difference) == 1) if relation == "replace" else difference.sum() == 1:
                worst = max(worst, difference.sum())
        h = count([[0.0, 0.0]] * 3, [0.0] * 3, partition(PLANE, 2))
        for out in (dpme(h, 0.6, 1, neighbours=relation), filter_priority(h, 0.6, 3, 1, neighbours=relation)):
            spend = out.ledger.spends[0]
            assert worst / spend.scale == pytest.approx(spend.epsilon, abs=1e-12)
            assert spend.epsilon == pytest.approx(0.6, abs=1e-12)
            assert spend.neighbours == relation


def test_leaky_bounds_are_marked_and_budgets_are_charged_first():
    with pytest.warns(PrivacyLeakWarning):
        box = Box.from_data([[0.0], [1.0], [0.5]], [0.0, 1.0, 0.3])
    h = count([[0.0], [1.0], [0.5]], [0.0, 1.0, 0.3], partition(box, 2))
    for run in (lambda **more: dpme(h, 1.0, **more), lambda **more: filter_priority(h, 1.0, 2, **more)):
        assert "read off the data" in run().ledger.spends[0].caveat
        budget = Budget(1.0)
        run(random_state=1, budget=budget)
        assert budget.remaining == 0
        with pytest.raises(BudgetError):
            run(random_state=2, budget=budget)
