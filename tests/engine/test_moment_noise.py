"""Laws on all moments share what they ask of their arguments, and what they take for public."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from dpreg.checks import InputError
from dpreg.mechanisms.gaussian import Gaussian
from dpreg.mechanisms.wishart import WishartDifference
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic

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


@every_law
def test_all_moments_go_out_with_noise_and_those_of_labels_without_the_last(law):
    """The constant of an objective is a moment like the others; a sum of squared labels is their number."""
    for loss in (SQUARED, TAYLOR):
        f = Quadratic(np.eye(2), np.ones(2), np.array(7.0))
        first, again, other = (law([1.0, 1.0, 1.0], 1.0, loss=loss).perturb(f, (), default_rng(k)).c for k in (1, 1, 2))
        assert first == again
        assert (first != other and first != 7.0) if loss is SQUARED else first == other == 0.0
