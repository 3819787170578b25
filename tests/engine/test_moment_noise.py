"""Laws on all moments share what they ask of their arguments, and what they take for public."""

import math

import numpy as np
import pytest

from dpreg.checks import InputError
from dpreg.mechanisms.gaussian import Gaussian
from dpreg.mechanisms.wishart import WishartDifference
from dpreg.pipeline.domain import Box

every_law = pytest.mark.parametrize("law", [Gaussian, WishartDifference])
CONSTANT = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
FLAT = Box([-1, -1, -1], [1, 1, 1], (-1, 1))


def price(law, *place):
    rho = law.concentrated(*place)
    return law.certify(*place) if rho is None else rho


@every_law
def test_extreme_weights_are_refused(law):
    """Their fourth powers would leave the range of floats, and the price with them."""
    for weights in ([1.0, 1e-60], [1.0, 1e60]):
        with pytest.raises(InputError, match="is extreme"):
            law(weights, 1.0)


@every_law
def test_a_count_is_public_where_one_record_replaces_another_only(law):
    public, secret = (law(np.ones(4), 1.0, flag) for flag in (True, False))
    assert math.isfinite(price(public, CONSTANT, "replace"))
    assert price(public, CONSTANT, "add_remove") == math.inf
    assert price(public, FLAT, "replace") == math.inf  # the first column is no constant
    assert math.isfinite(price(secret, CONSTANT, "add_remove"))


@every_law
def test_a_multiple_keeps_all_but_the_spread(law):
    one = law([1.0, 2.0, 3.0], 2.0, True)
    other = one.times(3.0)
    assert type(other) is law
    assert (other.weights.tolist(), float(other.spread), other.public_count) == ([1.0, 2.0, 3.0], 6.0, True)
