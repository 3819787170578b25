"""Bounds as users give them: names are kept, and nothing is scaled by what floats cannot hold."""

import numpy as np
import pandas as pd
import pytest

from dpreg.checks import InputError, PrivacyLeakWarning
from dpreg.pipeline import bounds

LOWEST = {"age": 18.0, "hours": 0.0}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (LOWEST, ("age", "hours")),
        (pd.Series(LOWEST), ("age", "hours")),
        (pd.Series([18.0, 0.0]), ()),
        ([18.0, 0.0], ()),
        ((18.0, 0.0), ()),
        (np.array([18.0, 0.0]), ()),
    ],
    ids=["dict", "series", "series without names", "list", "tuple", "array"],
)
def test_names_come_from_what_has_them(given, names):
    values, found = bounds.named(given)
    assert found == names
    assert np.asarray(values).tolist() == [18.0, 0.0]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, True),
        (1.0, 1.0, False),
        (1.0, 0.0, False),
        (0.0, 5e-324, False),  # half of it is zero
        (-1.7e308, 1.7e308, False),  # the width is infinite
        (-8e307, 8e307, True),
        (1.6e308, 1.7e308, False),  # the middle is
        (0.0, np.inf, False),
    ],
)
def test_bounds_are_apart_where_floats_hold_their_middle_and_width(low, high, expected):
    assert bool(bounds.apart(np.float64(low), np.float64(high))) is expected


@pytest.mark.parametrize(("lower", "upper"), [(LOWEST, [90, 80]), ([18, 0], pd.Series([90, 80], index=[*LOWEST]))])
def test_pairs_keep_the_names_of_either_side(lower, upper):
    assert bounds.pairs(lower, upper) == ((18.0, 0.0), (90.0, 80.0), ("age", "hours"))


@pytest.mark.parametrize(
    ("upper", "message"),
    [
        ({"hours": 80, "age": 90}, "give both in one order"),
        ([90], "give one pair per predictor"),
        ([90, 0], r"predictor 1 has bounds \[0, 0\]"),
    ],
)
def test_pairs_belong_together(upper, message):
    with pytest.raises(InputError, match=message):
        bounds.pairs(LOWEST, upper)


def test_a_response_has_two_bounds_in_order():
    assert bounds.interval((0, 10)) == (0.0, 10.0)
    for wrong in ((1.0, 0.0), (0.0,), (0.0, 1.0, 2.0), (0.0, np.inf)):
        with pytest.raises(InputError, match=r"response (bounds are|holds)"):
            bounds.interval(wrong)


def test_the_range_of_data_warns_where_it_is_read():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(PrivacyLeakWarning, match="one record can move them"):
        low, high, response = bounds.data_range(rows, rows[:, 0])
    np.testing.assert_array_equal(low, rows.min(axis=0))
    np.testing.assert_array_equal(high, rows.max(axis=0))
    assert response == (rows[:, 0].min(), rows[:, 0].max())
