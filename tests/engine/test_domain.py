"""Domains: what comes out is inside the set, and the way back is the way there reversed."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpreg.checks import InputError, PrivacyLeakWarning
from dpreg.pipeline.domain import BLOCK, Ball, Box, Domain, Model
from dpreg.pipeline.objective import linear
from tests.engine.records import ordinary, records, wrappings

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)


@PROPERTY
@given(records())
def test_scaled_records_are_inside_whatever_comes_in(case):
    domain, X, y = case
    Z, t = domain.scale(X, y)
    assert (np.abs(t) <= 1).all()
    predictors = Z[:, int(domain.intercept) :]
    assert predictors.shape == X.shape
    assert (Z[:, : int(domain.intercept)] == 1).all()
    if isinstance(domain, Ball):
        assert (np.linalg.norm(predictors, axis=1) <= 1 + 4e-16 * domain.d).all()
    else:
        assert (predictors >= domain.floor).all()
        assert (predictors <= domain.reach).all()
        assert (np.linalg.norm(predictors, axis=1) <= 1 + 1e-15).all() or not domain.corner


@pytest.mark.parametrize("size", [1e154, 1e200, 1e308, 1.7e308])
def test_a_ball_keeps_the_direction_of_a_record_whose_square_overflows(size):
    direction = np.array([[1.0, -1.0, 0.5], [0.0, 1.0, 0.0]])
    for radius in (1.0, 1e-3):
        Z, _ = Ball(np.zeros(3), radius, (0.0, 1.0)).scale(direction * size, [0.0, size])
        expected = direction / np.linalg.norm(direction, axis=1, keepdims=True)
        # Where the division by the radius overflows, all that overflowed is taken as equally long.
        if radius == 1.0:
            np.testing.assert_allclose(Z, expected, rtol=1e-14, atol=1e-300)
        np.testing.assert_array_equal(np.sign(Z), np.sign(expected))
        np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1.0, rtol=1e-15)


@pytest.mark.thorough
@PROPERTY
@given(records(elements=ordinary), st.data())
def test_predictions_in_the_users_units_are_scaled_predictions_mapped_back(case, data):
    domain, X, _ = case
    # Inside the domain nothing is clipped: take points of the set, in the user's units.
    inside = domain.shift + domain.unit * (np.tanh(X / 1e6) / np.sqrt(domain.d))
    if isinstance(domain, Box) and domain.corner:
        inside = domain.shift + domain.unit * np.abs(np.tanh(X / 1e6)) / np.sqrt(domain.d)
    y = np.full(len(X), domain.response[0])
    theta = data.draw(arrays(float, domain.p, elements=st.floats(-10, 10)))
    Z, t = domain.scale(inside, y)
    centre = (domain.response[0] + domain.response[1]) / 2
    expected = centre + domain.half_width * (Z @ theta)
    model = domain.unscale(theta)
    found = model.predict(inside)
    terms = np.abs(inside) @ np.abs(model.slopes) + abs(model.intercept) + abs(centre) + np.abs(expected)
    amplified = np.abs(model.slopes) @ (np.abs(domain.shift) + domain.unit)
    assert (np.abs(found - expected) <= 1e-13 * (terms + amplified)).all()
    assert np.allclose(t, -1.0, atol=1e-9 * (1 + abs(centre) / domain.half_width))


@pytest.mark.thorough
@PROPERTY
@given(records(kinds=("box", "corner")), st.data())
def test_two_records_beyond_the_bounds_are_the_same_record_bit_for_bit(case, data):
    domain, X, y = case
    beyond = data.draw(arrays(bool, X.shape))
    low, high = np.array(domain.lower), np.array(domain.upper)
    factor = data.draw(arrays(float, X.shape, elements=st.floats(1, 1e6)))
    inside = np.clip(X, low, high)
    far = np.where(beyond, high + factor * (high - low), inside)
    farther = np.where(beyond, high + 3 * factor * (high - low) + 1, inside)
    one, other = domain.scale(far, y), domain.scale(farther, y)
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("corner", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("d", [1, 2, 4, 7])
def test_a_record_beyond_the_bounds_is_the_record_on_them(d, corner, intercept):
    box = Box(np.full(d, -4.0), np.full(d, 12.0), (0.0, 8.0), corner=corner, intercept=intercept)
    rng = np.random.default_rng(d)
    X = rng.uniform(-40, 120, (50, d))
    y = rng.uniform(-80, 160, 50)
    out, twin = box.scale(X, y), box.scale(np.clip(X, -4, 12), np.clip(y, 0, 8))
    np.testing.assert_array_equal(out[0], twin[0])  # these bounds are exact in binary, hence bit for bit
    np.testing.assert_array_equal(out[1], twin[1])


def test_a_record_outside_the_ball_is_the_nearest_point_of_its_surface():
    ball = Ball([1.0, 2.0], 5.0, (0.0, 1.0))
    Z, _ = ball.scale([[1.0 + 30.0, 2.0 + 40.0], [1.0 + 3.0, 2.0]], [0.0, 0.0])
    np.testing.assert_allclose(Z, [[0.6, 0.8], [0.6, 0.0]], rtol=1e-15)


@pytest.mark.parametrize("d", [1, 2, 5, 13])
def test_the_surface_of_the_ball_is_where_clipping_starts(d):
    direction = np.random.default_rng(d).normal(size=d)
    direction /= np.linalg.norm(direction)
    for length in (0.5, 1 - 1e-9, 1 - 1e-15, 1.0, 1 + 1e-15, 1 + 1e-9, 1.001, 1.04, 1.5):
        Z, _ = Ball(np.zeros(d), 2.0, (0, 1)).scale([2 * length * direction] * 2, [0, 1])
        np.testing.assert_allclose(Z[0], min(length, 1.0) * direction, rtol=4e-15)
        assert np.linalg.norm(Z[0]) <= 1 + 4e-16 * d


def test_the_corner_box_lies_in_the_unit_ball_and_touches_it():
    """001, footnote 1."""
    for d in (1, 2, 5, 13):
        box = Box(np.arange(d) - 3.0, np.arange(d) + 5.0, (0.0, 1.0), corner=True)
        Z, _ = box.scale([np.array(box.lower), np.array(box.upper)], [0.0, 1.0])
        np.testing.assert_array_equal(Z[0], 0.0)
        np.testing.assert_allclose(np.linalg.norm(Z[1]), 1.0, rtol=1e-15)


@pytest.mark.parametrize("n", [2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
@pytest.mark.parametrize("make", [lambda **k: Box([-1, 0], [2, 3], **k), lambda **k: Ball([0.5, 1.5], 0.7, **k)])
def test_blocks_do_not_show(n, make):
    domain = make(response=(0.0, 2.0), intercept=True)
    rng = np.random.default_rng(n)
    X, y = rng.normal(1, 2, (n, 2)), rng.normal(1, 2, n)
    Z, t = domain.scale(X, y)
    assert Z.shape == (n, 3)
    assert t.shape == (n,)
    cuts = sorted({2, n // 2 if n > 3 else 2, n - 2 if n > 3 else 2, n})
    starts = [0, *cuts[:-1]]
    pieces = [domain.scale(X[a:b], y[a:b]) for a, b in zip(starts, cuts, strict=True) if b - a >= 2]
    if sum(len(piece[1]) for piece in pieces) == n:
        np.testing.assert_array_equal(np.concatenate([piece[0] for piece in pieces]), Z)
        np.testing.assert_array_equal(np.concatenate([piece[1] for piece in pieces]), t)


@pytest.mark.parametrize(
    "domain",
    [Box([-2, -2], [2, 2], (-2, 2)), Box([-2, -2], [2, 2], (-2, 2), corner=True), Ball([0, 0], 1.5, (-2, 2))],
    ids=["box", "corner", "ball"],
)
def test_every_container_gives_the_same_records(domain):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    Z, t = domain.scale(X, y)
    for name, data, response in wrappings(X, y):
        found = domain.scale(data, response)
        np.testing.assert_array_equal(found[0], Z, err_msg=name)
        np.testing.assert_array_equal(found[1], t, err_msg=name)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "uint64", "bool", "float16", "float32"])
def test_small_types_are_widened_before_anything_is_subtracted(dtype):
    X = np.array([[0, 1], [1, 1], [1, 0], [0, 0]]).astype(dtype)
    domain = Box([0, -100], [300, 1], (0, 1))
    Z, t = domain.scale(X, X[:, 0])
    expected = domain.scale(X.astype(float), X[:, 0].astype(float))
    np.testing.assert_array_equal(Z, expected[0])
    np.testing.assert_array_equal(t, expected[1])


def test_scaling_leaves_the_input_alone():
    X, y = np.full((3, 2), 50.0), np.full(3, -50.0)
    Box([0, 0], [1, 1], (0, 1)).scale(X, y)
    Ball([0, 0], 1, (0, 1)).scale(X, y)
    assert (X == 50).all()
    assert (y == -50).all()


def test_bounds_from_the_data_hold_the_data_warn_and_are_marked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(3, 5, (30, 3)), rng.normal(size=30)
    for make in (Box.from_data, Ball.from_data):
        with pytest.warns(PrivacyLeakWarning, match="bounds read off the data"):
            domain = make(X, y, intercept=True)
        assert domain.leaky
        assert domain.intercept
        Z, t = domain.scale(X, y)
        back = domain.unscale(np.r_[0.0, 1.0, 0.0, 0.0]).predict(X)
        centre = sum(domain.response) / 2
        np.testing.assert_allclose(back, centre + domain.half_width * Z[:, 1], rtol=1e-12)
        assert t.min() == -1
        assert t.max() == 1
    assert not Box([0], [1], (0, 1)).leaky
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Box.from_data(X, y, corner=True)
    assert caught[0].filename == __file__  # the warning points at the caller


def test_domains_are_values():
    assert Box([0], [1], (0, 1)) == Box(np.array([0.0]), (1,), response=[0, 1])
    assert Box([0], [1], (0, 1)) != Box([0], [1], (0, 1), intercept=True)
    assert hash(Ball([0], 1, (0, 1))) == hash(Ball([0.0], 1.0, (0.0, 1.0)))
    assert Ball([0], 1, (0, 1)) != Box([-1], [1], (0, 1))
    with pytest.raises(AttributeError):
        Box([0], [1], (0, 1)).corner = True


def test_dimensions():
    for intercept in (False, True):
        box = Box([0, 1, 2], [9, 9, 9], (2, 8), intercept=intercept)
        assert (box.d, box.p, box.half_width) == (3, 3 + intercept, 3.0)


@PROPERTY
@given(records())
def test_no_record_is_longer_than_the_longest(case):
    domain, X, y = case
    Z, _ = domain.scale(X, y)
    assert ((Z**2).sum(axis=1) <= domain.longest * (1 + 1e-12)).all()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_longest_record(d, intercept):
    """A corner of a box, and any point of the ball's surface."""
    ones = np.ones(d)
    for domain in (
        Box(-ones, ones, (0, 1), intercept=intercept),
        Box(0 * ones, ones, (0, 1), intercept=intercept, corner=True),
        Ball(0 * ones, math.sqrt(d), (0, 1), intercept=intercept),
    ):
        (x,), _ = domain.scale([ones], [0])
        assert x @ x == pytest.approx(domain.longest, rel=1e-12)


@pytest.mark.parametrize("attribute", ["shift", "unit"])
def test_the_base_class_is_no_domain(attribute):
    base = Domain(response=(0.0, 1.0), intercept=False)
    with pytest.raises(NotImplementedError):
        getattr(base, attribute)
    with pytest.raises(NotImplementedError):
        base.clip(np.zeros((2, 1)))


@pytest.mark.parametrize("pair", [(0.0, 5e-324), (-1.7e308, 1.7e308), (1e308, 1.5e308)])
def test_bounds_beyond_floating_point_are_refused(pair):
    """Their middle or width is zero or infinite, and every scaled record would be NaN or zero."""
    with pytest.raises(InputError, match="lower < upper"):
        Box([pair[0]], [pair[1]], (0, 1))
    with pytest.raises(InputError, match="lower < upper"):
        Box([0], [1], pair)


@pytest.mark.parametrize("make", [Box, lambda low, high, response: Ball(low, 1.0, response)], ids=["box", "ball"])
def test_a_finite_record_is_clipped_even_where_its_distance_overflows(make):
    huge = 1.7e308
    domain = make([-1e308, 0.0], [-5e307, 1.0], (-1e308, -5e307))
    Z, t = domain.scale([[huge, 0.5], [-huge, 0.0]], [huge, -huge])
    assert t.tolist() == [1.0, -1.0]
    assert Z[0, 0] == 1.0


def test_model_predicts_one_number_per_record():
    model = Model(0.5, np.array([1.0, -2.0]))
    np.testing.assert_array_equal(model.predict(pd.DataFrame({"a": [1, 2], "b": [3, 4]})), [-4.5, -5.5])


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_the_ends_of_the_response_are_scaled_to_exactly_one(low, width):
    """Or the sum of squared labels, which counts as public, would depend on the labels."""
    box = Box([0.0], [1.0], (low, low + width))
    _, t = box.scale([[0.5], [0.5]], [low, low + width])
    assert t.tolist() == [-1.0, 1.0]


LOW, HIGH = pd.Series({"age": 18.0, "pay": 0.0}), {"age": 90.0, "pay": 1e5}
PEOPLE = pd.DataFrame({"age": [20.0, 70.0], "pay": [1e4, 5e4]})
NAMED = {
    "series": lambda **more: Box(LOW, HIGH, (0.0, 1.0), **more),
    "one of them": lambda **more: Box(LOW, [90.0, 1e5], (0.0, 1.0), **more),
    "ball": lambda **more: Ball(LOW, 1e5, (0.0, 1.0), **more),
    "centred": lambda **more: Box(LOW, HIGH, (0.0, 1.0), corner=True).centred,
}


@pytest.mark.parametrize("kind", NAMED)
def test_bounds_with_names_refuse_columns_with_others(kind):
    box = NAMED[kind]()
    assert box.names == ("age", "pay")
    f = linear(PEOPLE, [0.1, 0.9], box)
    np.testing.assert_array_equal(f.M, linear(PEOPLE.to_numpy(), [0.1, 0.9], box).M)
    for wrong in (PEOPLE[["pay", "age"]], PEOPLE.rename(columns={"age": "years"}), PEOPLE[["age"]]):
        for use in (box.table, lambda X, y: linear(X, y, box)):
            with pytest.raises(
                InputError, match=r"the bounds are those of \['age', 'pay'\]: pass X\[\['age', 'pay'\]\]"
            ):
                use(wrong, [0.1, 0.9])


def test_names_are_words_and_of_both_bounds():
    with pytest.raises(InputError, match=r"lower is of \['age', 'pay'\] and upper of \['pay', 'age'\]"):
        Box(LOW, {"pay": 1e5, "age": 90.0}, (0.0, 1.0))
    assert Box(pd.Series([0.0]), pd.Series([1.0]), (0.0, 1.0)).names == ()


def test_bounds_so_far_apart_that_scaling_overflows_are_refused():
    """Otherwise one record, on the far bound, would be infinity over infinity."""
    with pytest.raises(InputError, match=r"predictor 1 has bounds \[-8e\+307, 8e\+307\], too far apart"):
        Box([0.0, -8e307], [1.0, 8e307], (0.0, 1.0), corner=True)
    for box in (Box([-8e307] * 2, [8e307] * 2, (0, 1)), Box([-6e307] * 2, [6e307] * 2, (0, 1), corner=True)):
        assert np.isfinite(box.table([[-1.7e308, 1.7e308], [8e307, -8e307]], [0.0, 1.0])).all()
