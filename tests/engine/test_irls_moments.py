"""The weighted moments of 003, and how far one record moves them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpreg.mechanisms import irls_moments
from tests.engine.reweighted import huber, slow_step, unit
from tests.ledger import value


def first_change(pair, theta, cap):
    rows = [(x, t / max(1 / cap, abs(t - x @ theta))) for t, x in pair]
    return rows[0][0] * rows[0][1] - rows[1][0] * rows[1][1]


def test_first_moment_sensitivity():
    cap, d, length = 10.0, 4, 1e4
    assert value("IR-SENS-A", "printed") == 2 * cap * math.sqrt(d)
    assert value("IR-SENS-A2", "printed") == 2 * cap
    b, w = np.full(d, 0.5), np.array([0, 0, 1, -1]) / math.sqrt(2)
    eta = 0.9 / length
    pair = [(1.0, sign * math.sqrt(1 - eta**2) * b + eta * w) for sign in (1, -1)]
    change = first_change(pair, length * w, cap)
    assert np.abs(change).sum() == pytest.approx(value("IR-SENS-A", "near"), abs=1e-6)
    assert np.linalg.norm(change) == pytest.approx(value("IR-SENS-A2", "near"), abs=1e-6)
    # at theta = 0 the weighted response is min(cap |t|, 1): opposite ends of the cube's diagonal are best
    grid = np.linspace(-1, 1, 2001)
    most = max(abs(t) / max(1 / cap, abs(t)) for t in grid)
    assert 2 * most * math.sqrt(d) == pytest.approx(value("IR-SENS-A", "at_start"))


@given(st.integers(1, 4), st.integers(2, 30), st.floats(0.1, 1e3), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_moments_row_by_row(d, n, cap, seed):
    rng = np.random.default_rng(seed)
    table, theta = rng.uniform(-1, 1, (n, d + 1)), rng.normal(size=d) * 3
    gram = irls_moments.moments(table, theta, cap)
    A, B = slow_step(table[:, 1:], table[:, 0], theta, cap)
    np.testing.assert_allclose(gram[0, 1:], A, rtol=1e-9, atol=1e-9 * cap)
    np.testing.assert_allclose(gram[1:, 1:], B, rtol=1e-9, atol=1e-9 * cap)
    assert (gram == gram.T).all()
    cut = n // 2  # shards merge
    parts = irls_moments.moments(table[:cut], theta, cap) + irls_moments.moments(table[cut:], theta, cap)
    np.testing.assert_allclose(parts, gram, rtol=1e-9, atol=1e-9 * cap)


def test_moments_over_several_blocks():
    rng = np.random.default_rng(12)
    table, theta = rng.uniform(-1, 1, (10_001, 3)), np.array([0.3, -0.2])
    A, B = slow_step(table[:, 1:], table[:, 0], theta, 5.0)
    gram = irls_moments.moments(table, theta, 5.0)
    np.testing.assert_allclose(gram[1:, 1:], B, rtol=1e-10)
    np.testing.assert_allclose(gram[0, 1:], A, rtol=1e-8)


@pytest.mark.parametrize(("m", "d"), [(1, 3), (2, 1), (7, 10), (2, 40)])  # one alone, side by side, too wide for it
def test_stacked_is_one_after_the_other(m, d):
    """Over several blocks and an incomplete one; its matrices are symmetric to the bit, as those of one are."""
    rng = np.random.default_rng(14)
    table, thetas, caps = (
        rng.uniform(-1, 1, (2 * irls_moments.SHORT + 3, d + 1)),
        rng.normal(size=(m, d)),
        np.arange(1, m + 1),
    )
    found = irls_moments.stacked(table, thetas, caps)
    assert found.shape == (m, d + 1, d + 1)
    assert (found == found.swapaxes(1, 2)).all()
    for gram, theta, cap in zip(found, thetas, caps, strict=True):
        np.testing.assert_allclose(gram, irls_moments.moments(table, theta, cap), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cap", [0.5, 1.0, 10.0])
def test_loss_is_the_integral_of_the_weighted_residual(cap):
    for r in (-2.0, -1 / cap, -0.05, 0.0, 0.01, 0.7):
        assert irls_moments.loss(r, cap) == pytest.approx(huber(abs(r), cap), rel=1e-9)
        assert 0 <= irls_moments.loss(r, cap) - abs(r) <= 1 / (2 * cap) + 1e-12


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_no_pair_exceeds_the_sensitivities(d, neighbours, intercept):
    """Adversarial search: random rows, then hill climbing on each norm, over records and theta."""
    rng, cap = np.random.default_rng(13), 4.0
    bound = irls_moments.sensitivities(unit(d, intercept=intercept), cap, neighbours)
    p = d + intercept
    upper = np.triu_indices(p)

    def norms(vectors):
        theta, rows = vectors[:, :p] * 3, []
        for part in np.split(vectors[:, p:], 2, axis=1):
            x, t = part[:, 1:] / np.maximum(np.linalg.norm(part[:, 1:], axis=1), 1)[:, None], np.clip(part[:, 0], -1, 1)
            x = np.column_stack([np.ones(len(x)), x]) if intercept else x
            s = 1 / np.maximum(1 / cap, np.abs(t - (x * theta).sum(axis=1)))
            rows.append(((s * t)[:, None] * x, s[:, None, None] * x[:, :, None] * x[:, None]))
        other = (0, 0) if neighbours == "add_remove" else rows[1]
        A, E = rows[0][0] - other[0], rows[0][1] - other[1]
        size = np.abs(A).sum(axis=1), np.linalg.norm(A, axis=1), np.abs(E[:, *upper]).sum(axis=1)
        values = np.linalg.eigvalsh(E)
        return np.array([*size, np.linalg.norm(E, axis=(1, 2)), np.abs(values).sum(axis=1), values[:, -1]])

    limits = np.array([bound.first_l1, bound.first_l2, bound.triangle, bound.frobenius, bound.nuclear, bound.row])
    tries = rng.normal(size=(900, p + 2 * (d + 1)))
    start = tries[norms(tries).argmax(axis=1)]  # the k-th climbs to the largest k-th norm
    best = norms(start)
    for width in np.geomspace(1, 1e-3, 300):
        other = start + width * rng.normal(size=start.shape)
        found = norms(other)
        better = found.diagonal() > best.diagonal()
        start, best = np.where(better[:, None], other, start), np.where(better, found, best)
    most = best.max(axis=1)
    assert (most <= limits * (1 + 1e-9)).all()
    assert (most[3:] >= 0.9 * limits[3:]).all(), "the bounds of B are attained"


def test_triangle_bound_with_a_constant_and_many_columns():
    """Two rows at most, so never more than twice one row; (1, b) without the rest attains that one."""
    for d in (2, 20, 100):
        one = irls_moments.sensitivities(unit(d, intercept=True), 1.0, "add_remove").triangle
        row = np.r_[1.0, np.full(d, 1 / math.sqrt(d))]
        assert one == pytest.approx(np.triu(np.outer(row, row)).sum())
        assert one < irls_moments.sensitivities(unit(d, intercept=True), 1.0).triangle <= 2 * one


@pytest.mark.parametrize("d", [2, 4, 10])
def test_triangle_bound_is_nearly_attained(d):
    phi = np.linspace(0, math.pi / 4, 20_001)
    a, b = math.sqrt(2 / d) * np.cos(phi), math.sqrt(2 / d) * np.sin(phi)
    most = 0.0
    for p, q in zip(a[::100], b[::100], strict=True):
        x, other = np.r_[np.full(d // 2, p), np.full(d // 2, q)], np.r_[np.full(d // 2, q), np.full(d // 2, -p)]
        assert x @ x == pytest.approx(1)
        most = max(most, np.abs(np.triu(np.outer(x, x) - np.outer(other, other))).sum())
    assert most == pytest.approx(math.sqrt(d * d / 2 + d + 1), rel=1e-3)
    assert most <= irls_moments.sensitivities(unit(d), 1.0).triangle == pytest.approx(math.sqrt(d * (d + 3) / 2))
