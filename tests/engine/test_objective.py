"""The objective is the plain sum of squares, and it adds over records."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.linear_model import LinearRegression

from dpreg.checks import InputError
from dpreg.pipeline.domain import BLOCK, Ball, Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import TAYLOR, Quadratic, from_gram, linear, merge
from dpreg.pipeline.objective import logistic as quadratic
from dpreg.pipeline.release import release
from dpreg.pipeline.repair import ridge, trim
from dpreg.pipeline.solve import minimise
from dpreg.pipeline.surrogates import chebyshev, least_squares
from tests.engine import labelled
from tests.engine.records import records, wrappings

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)
small = st.floats(-5, 5, allow_subnormal=False)


def rows(domain, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = domain.shift + domain.unit * rng.normal(0.3, 1.0, (n, domain.d))
    return X, sum(domain.response) / 2 + domain.half_width * rng.normal(0, 0.7, n)


def some_domains():
    for intercept in (False, True):
        yield Box([-1, 0, 2], [1, 4, 3], (-2, 5), intercept=intercept)
        yield Box([-1, 0, 2], [1, 4, 3], (-2, 5), intercept=intercept, corner=True)
        yield Ball([1, 2, 3], 2.0, (-2, 5), intercept=intercept)


@pytest.mark.thorough
@PROPERTY
@given(records(), st.data())
def test_objective_is_the_sum_of_squares_row_by_row(case, data):
    domain, X, y = case
    theta = data.draw(arrays(float, domain.p, elements=small))
    Z, t = domain.scale(X, y)
    squares = [(t[i] - sum(Z[i, j] * theta[j] for j in range(domain.p))) ** 2 for i in range(len(t))]
    terms = sum((abs(t[i]) + np.abs(Z[i]) @ np.abs(theta)) ** 2 for i in range(len(t)))
    assert abs(float(linear(X, y, domain)(theta)) - sum(squares)) <= 1e-13 * terms


@pytest.mark.thorough
@PROPERTY
@given(records(kinds=("box", "corner")), st.data())
def test_rows_beyond_the_bounds_by_any_amount_give_the_same_objective_bit_for_bit(case, data):
    domain, X, y = case
    low, high = np.array(domain.lower), np.array(domain.upper)
    beyond = data.draw(arrays(bool, X.shape))
    inside = np.clip(X, low, high)
    near, far = (np.where(beyond, high + k * (high - low) + 1, inside) for k in (1.0, 1e9))
    one, other = linear(near, y, domain), linear(far, y, domain)
    assert same(one, other)


def same(f, g):
    return all(np.array_equal(getattr(f, name), getattr(g, name)) for name in ("M", "v", "c"))


@pytest.mark.parametrize("domain", list(some_domains()), ids=str)
@pytest.mark.parametrize("n", [2, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 2])
def test_blocks_add_up(domain, n):
    X, y = rows(domain, n)
    f, (Z, t) = linear(X, y, domain), domain.scale(X, y)
    for found, expected in ((f.M, Z.T @ Z), (f.v, -2 * Z.T @ t), (f.c, t @ t)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * n)
    if domain.intercept:
        assert f.M[0, 0] == n


@pytest.mark.parametrize("domain", list(some_domains()), ids=str)
def test_the_matrix_is_symmetric_to_the_last_bit(domain):
    """Twins that differ by rounding, published under one draw, would give their difference away."""
    for n in (7, 60, BLOCK + 5):
        f = linear(*rows(domain, n), domain)
        np.testing.assert_array_equal(f.M, f.M.T)
        np.testing.assert_array_equal(f.M, f.symmetric)


@pytest.mark.parametrize("domain", list(some_domains()), ids=str)
def test_shards_merge_and_folds_leave(domain):
    X, y = rows(domain, 90)
    whole = linear(X, y, domain)
    shards = [linear(X[k::4], y[k::4], domain) for k in range(4)]
    merged, rest = merge(iter(shards)), whole - shards[0]
    kept = np.arange(90) % 4 != 0
    for name in ("M", "v", "c"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(getattr(rest, name), getattr(linear(X[kept], y[kept], domain), name), atol=1e-11)
    stack = Quadratic(*(np.stack([getattr(s, k) for s in shards]) for k in ("M", "v", "c")), domain)
    assert same(stack.sum(), merged)
    assert same(stack[2], shards[2])
    assert stack[None].batch == (1, 4)
    assert same(stack[..., 2], shards[2])
    assert same(stack[..., ::-1][0], shards[3])
    square = Quadratic(*(np.stack([getattr(stack, k)] * 2) for k in ("M", "v", "c")), domain)
    assert same(square[1, 2], shards[2])
    assert same(square[..., 2][1], shards[2])
    assert same(square[:, np.array([2, 0])][0, 1], shards[0])
    assert merged.domain == rest.domain == domain


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("make", [Box, Ball])
def test_permuting_and_flipping_predictors_moves_the_coefficients_along(make, intercept):
    d = 4
    domain = Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept)
    if make is Ball:
        domain = Ball(np.zeros(d), 1.0, (-1, 1), intercept=intercept)
    X, y = rows(domain, 80, seed=5)
    f = linear(X, y, domain)
    order, sign = np.array([2, 0, 3, 1]), np.array([1, -1, -1, 1])
    g = linear(X[:, order] * sign, y, domain)
    first = int(intercept)
    where = np.r_[np.arange(first), first + order]
    flip = np.r_[np.ones(first), sign]
    np.testing.assert_allclose(g.M, f.M[np.ix_(where, where)] * np.outer(flip, flip), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(g.v, f.v[where] * flip, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(minimise(g), minimise(f)[where] * flip, rtol=1e-9, atol=1e-10)


def test_reordering_records_changes_nothing_but_rounding():
    domain = Box([-1, -1], [1, 1], (-1, 1))
    X, y = rows(domain, 5000)
    order = np.random.default_rng(0).permutation(5000)
    np.testing.assert_allclose(linear(X, y, domain).M, linear(X[order], y[order], domain).M, rtol=1e-12)


@pytest.mark.parametrize("domain", list(some_domains()), ids=str)
def test_every_container_gives_the_same_objective(domain):
    X, y = rows(domain, 30)
    f = linear(X, y, domain)
    for name, data, response in wrappings(X, y):
        assert same(linear(data, response, domain), f), name
    small = linear(X.astype(np.float32), y.astype(np.float32), domain)
    wide = linear(X.astype(np.float32).astype(float), y.astype(np.float32).astype(float), domain)
    assert same(small, wide)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix, sparse.csc_array])
def test_sparse_rows_are_filled_block_by_block(kind):
    domain = Box([-1, 0.5], [1, 1], (-1, 1), intercept=True)
    X, y = rows(domain, 2 * BLOCK + 3)
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0.0
    assert same(linear(kind(X), y, domain), linear(X, y, domain))
    with pytest.raises(InputError, match=f"X has {len(X)} records and y has 3"):
        linear(kind(X), y[:3], domain)
    X[BLOCK + 1, 1] = np.nan
    with pytest.raises(InputError, match=f"X holds nan .first at row {BLOCK + 1}"):
        linear(kind(X), y, domain)


def test_integers_and_booleans_are_numbers():
    X, y = np.array([[0, 1], [1, 1], [1, 0]]), np.array([0, 1, 1])
    domain = Box([0, 0], [2, 2], (0, 2))
    f = linear(X.astype(float), y.astype(float), domain)
    for data, response in ((X, y), (X.astype(bool), y.astype(bool)), (X.astype(np.uint8), y.astype(np.int8))):
        assert same(linear(data, response, domain), f)
    assert same(linear(pd.DataFrame({"a": [False, True, True], "b": [1, 1, 0]}), pd.Series(y), domain), f)


def test_a_value_at_a_stack_of_points_is_the_value_at_each():
    rng = np.random.default_rng(1)
    f = Quadratic(rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2)), rng.normal(size=3))
    theta = rng.normal(size=(5, 1, 2))
    values = f(theta)
    assert values.shape == (5, 3)
    for i in range(5):
        for k in range(3):
            t = theta[i, 0]
            assert values[i, k] == pytest.approx(float(t @ f.M[k] @ t + f.v[k] @ t + f.c[k]), rel=1e-13)


def test_coefficients_cannot_be_written():
    f = Quadratic(np.eye(2), np.ones(2), np.array(0.0))
    with pytest.raises(ValueError, match="read-only"):
        f.M[0, 0] = 5.0
    with pytest.raises(AttributeError):
        f.v = np.zeros(2)


def test_the_symmetric_part_is_the_function():
    f = Quadratic(np.array([[1.0, 4.0], [0.0, 1.0]]), np.zeros(2), np.array(0.0))
    g = Quadratic(f.symmetric, f.v, f.c)
    assert float(f([1.0, -2.0])) == float(g([1.0, -2.0]))
    assert f.p == 2


def test_moments_and_domain_must_match():
    """Otherwise a wide objective could be released at the price of a narrow one."""
    with pytest.raises(InputError, match="match them"):
        from_gram(np.eye(5), Box([0], [1], (0, 1)))


def test_what_is_no_longer_a_sum_over_records_cannot_be_released():
    box = Box([-1, -1], [1, 1], (-1, 1))
    f = linear(*rows(box), box)
    scales = functional(box, 1.0)
    assert ridge(f, 1.0).domain == box  # a public constant changes no sensitivity
    with pytest.raises(InputError, match="no domain"):
        release(trim(f, 1.0), scales, 0)


def test_other_operands_are_not_objectives():
    f = Quadratic(np.eye(1), np.ones(1), np.array(0.0))
    with pytest.raises(TypeError):
        f + 1
    with pytest.raises(TypeError):
        f - "f"


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([TAYLOR, chebyshev(3.0), least_squares(6.0)]), st.booleans())
def test_truncated_is_least_squares(seed, q, intercept):
    Z, y = labelled.records(seed, n=50, d=3)
    domain = labelled.space("box", 3, intercept)
    X = Z[:, 1:]
    theta = minimise(quadratic(X, y, domain, q))
    ols = LinearRegression(fit_intercept=intercept).fit(X, 2 * y - 1)
    wanted = np.r_[ols.intercept_, ols.coef_] if intercept else ols.coef_
    np.testing.assert_allclose(theta, wanted / (4 * q.square), rtol=1e-8, atol=1e-10)
    rows = Z if intercept else X
    np.testing.assert_array_equal(rows @ theta > 0, ols.predict(X) > 0)
    if q is TAYLOR:
        np.testing.assert_allclose(theta, 4 * np.linalg.lstsq(rows, y - 0.5, rcond=None)[0], rtol=1e-8, atol=1e-10)
