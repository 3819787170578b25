"""What is stated of a plan of IRLS by the kinds of its noise, and what a reader states of a plan of one's own."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from dpreg import accounting, noise
from dpreg.audit.declared import QUICK
from dpreg.audit.reweighted import (
    DIFFERENCE,
    GAUSSIAN_FIRST,
    GAUSSIAN_SECOND,
    LAPLACE_FIRST,
    LAPLACE_SECOND,
    entries,
    reweighted,
)
from dpreg.audit.statement import RELATIONS
from dpreg.mechanisms import irls, irls_moments
from dpreg.mechanisms.irls_laws import Laplace, VectorLaw

ITERATIONS, CAP = 2, 4.0


@dataclass(frozen=True)
class Mine(VectorLaw):
    """A reader's own noise on a moment: two exponential draws, one less the other, with names of its own."""

    name: ClassVar[str] = "mine"

    @property
    def variance(self):
        return 2 * self.scale**2

    def change(self, size, moment):
        return ("my length", size.first_l1) if moment == "first" else ("my triangle", size.triangle)

    def promise(self, loss, p, neighbours):
        return loss, 0.0, accounting.zcdp_from_pure(loss)

    def vector(self, p, rng, shape=()):
        one, other = noise.generator(rng).exponential(self.scale, (2, *shape, p))
        return one - other


class Quiet(Mine):
    """It draws less noise than it says."""

    def vector(self, p, rng, shape=()):
        return 0.9 * super().vector(p, rng, shape)


class QuietMatrix(Mine):
    """It draws less noise than it says on a second moment."""

    def matrix(self, p, rng, shape=()):
        return 0.9 * super().matrix(p, rng, shape)


class Cheap(Mine):
    """It charges less than it costs."""

    def promise(self, loss, p, neighbours):
        return super().promise(0.9 * loss, p, neighbours)


class Blind(Mine):
    """It says that a record moves the moments less than it can."""

    def change(self, size, moment):
        norm, change = super().change(size, moment)
        return norm, 0.9 * change


FIRST, SECOND = replace(LAPLACE_FIRST, norm="my length"), replace(LAPLACE_SECOND, norm="my triangle")


def plan(first, second=None):
    """A plan with these classes of noise, at the sizes that cost the same share of epsilon each."""

    def make(s):
        size = irls_moments.sensitivities(s.domain, CAP, s.neighbours)
        share = s.epsilon / (2 * ITERATIONS)
        laws = first(size.first_l1 / share), (second or first)(size.triangle / share)
        return irls.Plan(s.domain, CAP, ITERATIONS, *laws, s.neighbours)

    return make


def refuted(stated, layer):
    return any(finding.refuted for finding in QUICK[layer](stated, np.random.default_rng(1)))


@pytest.mark.thorough
@pytest.mark.parametrize("layer", QUICK)
def test_a_plan_of_ones_own_is_audited_by_what_is_stated_of_it(layer):
    assert not refuted(reweighted("mine", plan(Mine), FIRST, SECOND), layer)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("first", "second", "layer"),
    [
        (Quiet, Mine, "noise law"),
        (Mine, QuietMatrix, "noise law"),
        (Cheap, Mine, "budget algebra"),
        (Mine, Cheap, "budget algebra"),
        (Blind, Mine, "sensitivity"),
        (Mine, Blind, "sensitivity"),
    ],
)
def test_what_a_plan_of_ones_own_gets_wrong_is_found(first, second, layer):
    assert refuted(reweighted("mine", plan(first, second), FIRST, SECOND), layer)


def test_a_norm_that_is_not_stated_is_found():
    assert refuted(reweighted("mine", plan(Mine), LAPLACE_FIRST, SECOND), "budget algebra")


def test_a_step_takes_the_cap_of_its_plan():
    """One record at the corner of the ball, and with a response of zero, so its weight at zero is the cap."""
    stated = reweighted("mine", plan(Laplace), LAPLACE_FIRST, LAPLACE_SECOND)
    for setting in stated.settings((1,)):
        first, second = stated.steps(setting)
        X, y = np.array([[1.0]]), np.array([0.0])
        moved = second.exact(X, y)
        p = setting.domain.p
        assert moved.reshape(-1, p + 1, p + 1)[0, 1:, 1:].tolist() == np.full((p, p), CAP).tolist()
        assert (first.price, second.price) == pytest.approx((setting.epsilon / (2 * ITERATIONS),) * 2)
        largest = CAP * p * (p + 1) / 2 / plan(Laplace)(setting).second.scale
        assert second.loss(moved) == pytest.approx(largest)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_no_step_is_stated_for_a_price_that_is_made_of_two(neighbours):
    stated = reweighted("mine", plan(Mine), FIRST, replace(SECOND, together=False))
    for setting in stated.settings((2,)):
        if setting.neighbours == neighbours:
            names = [step.name for step in stated.steps(setting)]
            assert names == ["weighted first moment", "weighted second moment"][: 1 + (neighbours == "add_remove")]


def test_entries_of_stacks():
    stack = np.arange(18.0).reshape(2, 3, 3)
    stack = stack + np.swapaxes(stack, 1, 2)
    assert entries(stack).shape == (2, 6)
    assert entries(stack)[1].sum() == pytest.approx((stack[1].sum() + np.trace(stack[1])) / 2)
    assert math.isclose(entries(stack)[0, 0], stack[0, 0, 0])


@pytest.mark.parametrize(
    ("kind", "change", "length"),
    [
        (LAPLACE_FIRST, [3.0, -4.0], 7.0),
        (GAUSSIAN_FIRST, [3.0, -4.0], 5.0),
        (LAPLACE_SECOND, [[1.0, 2.0], [2.0, -3.0]], 6.0),
        (GAUSSIAN_SECOND, [[1.0, 2.0], [2.0, -4.0]], 5.0),
        (DIFFERENCE, [[0.0, 2.0], [2.0, -3.0]], 5.0),  # eigenvalues 1 and -4
    ],
)
def test_lengths_by_hand(kind, change, length):
    assert kind.length(np.array([change, change])) == pytest.approx([length, length])
