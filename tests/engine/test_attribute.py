"""Attributes an attacker does not know: their codes, and how common each value is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpreg.attacks.attribute import Attribute, distribution, rows_of
from dpreg.checks import InputError

MARITAL = [[1, 0], [0, 1], [0, 0]]  # single, married, other


def test_codes_and_marginals():
    X = np.array([[1, 0, 5.0], [0, 1, 5.0], [0, 0, 5.0], [0, 1, 5.0]])
    attribute = Attribute((0, 1), MARITAL)
    assert attribute.codes(X).tolist() == [0, 1, 2, 1]
    known = attribute.with_marginal(X)
    assert known.prior.tolist() == [0.25, 0.5, 0.25]
    assert known.mode == 1
    assert known.without_prior().prior.tolist() == [1 / 3] * 3
    assert replace(known, prior=[1, 1, 2]).prior.tolist() == [0.25, 0.25, 0.5]


@pytest.mark.thorough
@given(st.lists(st.integers(0, 2), min_size=1, max_size=20), st.permutations(range(5)))
def test_codes_are_read_wherever_the_columns_stand(codes, order):
    where = [order.index(column) for column in (0, 1)]
    X = np.random.default_rng(0).normal(size=(len(codes), 5))
    X[:, where] = np.array(MARITAL)[codes]
    assert Attribute(tuple(where), MARITAL).codes(X).tolist() == codes
    counts = np.bincount(codes, minlength=3)
    np.testing.assert_allclose(Attribute(tuple(where), MARITAL).with_marginal(X).prior, counts / len(codes))


@pytest.mark.parametrize(
    ("prior", "order"),
    [([0.2, 0.5, 0.3], [1, 2, 0]), ([0.2, 0.4, 0.4], [1, 2, 0]), ([0.4, 0.2, 0.4], [0, 2, 1]), (None, [0, 1, 2])],
)
def test_the_larger_share_comes_first_then_the_smaller_code(prior, order):
    attribute = Attribute((0, 1), MARITAL, prior)
    assert attribute.order.tolist() == order
    assert attribute.mode == order[0]


def test_a_value_that_is_not_listed_is_named():
    with pytest.raises(InputError, match=r"a record has the value \[1\.0, 1\.0\]: add it"):
        Attribute((0, 1), MARITAL).codes([[1, 0], [1, 1]])


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=6).filter(any))
def test_shares_sum_to_one_and_keep_their_ratios(shares):
    found = distribution(shares, len(shares))
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found * np.sum(shares), shares, rtol=1e-12)


def test_records_have_the_columns_of_every_attribute():
    X = [[1, 2, 3]]
    assert rows_of(X, Attribute((2,), [[0], [1]])).tolist() == [[1.0, 2.0, 3.0]]
    with pytest.raises(InputError, match="X has 3 columns and the attribute uses column 3"):
        rows_of(X, Attribute((0,), [[0], [1]]), Attribute((3,), [[0], [1]]))
