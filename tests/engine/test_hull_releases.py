"""What is stated of the hull is of the bodies that can be drawn, and a change outside them is seen."""

import numpy as np
import pytest

from dpreg.audit.hull_releases import ALL
from dpreg.audit.sensitivity_search import worst

(HULL,) = ALL


def test_few_predictors_and_no_constant():
    found = {(s.domain.d, s.domain.intercept) for s in HULL.settings((1, 2, 3, 5, 13))}
    assert found == {(1, False), (2, False), (3, False)}


def test_the_search_finds_all_of_the_price():
    setting = next(HULL.settings((1,)))
    (step,) = HULL.steps(setting)
    assert worst(HULL, setting, step, np.random.default_rng(1))[0] == pytest.approx(setting.epsilon, rel=1e-5)


def test_a_change_outside_costs_more_than_is_said():
    setting = next(HULL.settings((2,)))
    (step,) = HULL.steps(setting)
    change = np.zeros((3, 3))
    change[0, 1] = change[1, 0] = 2.0
    losses = step.loss(np.array([0.2, 1.0, 1.01])[:, None] * change.ravel())
    assert losses[0] == 0 < losses[1] < step.price < losses[2]


def test_samples_are_of_the_law_that_is_stated():
    (sample,) = HULL.samples(next(HULL.settings((1,))), 4000, np.random.default_rng(1))
    assert sample.values.shape == (200, 1)
    assert sample.absolute == sample.law.mean() == 2
    assert abs(sample.values.mean() - 2) < 5 * np.sqrt(2 / 200)
