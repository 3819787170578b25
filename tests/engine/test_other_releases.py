"""What is particular to releases that are no quadratic: chi-square noise, relevances, tilts."""

import numpy as np
import pytest

from dpreg.audit.declared import MECHANISMS
from dpreg.audit.other_releases import ALL, _stick, labelled
from dpreg.mechanisms import chi_square


@pytest.mark.parametrize(("epsilon", "freedom", "shift"), [(0.2, 20, 0.5), (1.0, 43, 1.0), (0.1, 6, 0.3)])
def test_the_hockey_stick_on_a_grid_is_that_of_the_engine(epsilon, freedom, shift):
    assert _stick(epsilon, shift, freedom) == pytest.approx(chi_square.delta(epsilon, freedom, shift), rel=1e-5)


@pytest.mark.parametrize("declared", ALL, ids=lambda declared: declared.name)
def test_numbers_without_noise_are_those_of_a_huge_epsilon(declared):
    if declared.exact is None:
        pytest.skip("noise is not all that is added")
    for setting in declared.settings((2,), epsilon=1e9):
        records = declared.records(2, 30, np.random.default_rng(1))
        out, _ = declared.release(*records, setting, 1)
        assert out == pytest.approx(declared.exact(*records, setting), abs=1e-6)


def test_the_share_of_the_first_step_is_on_the_ledger():
    declared = MECHANISMS["PrivR"]
    setting = next(declared.settings((2,)))
    _, ledger = declared.release(*declared.records(2, 30, np.random.default_rng(1)), setting, 1)
    steps = declared.steps(setting)
    assert [step.price for step in steps] == pytest.approx([spend.epsilon for spend in ledger])


def test_labels_are_zero_and_one():
    assert labelled(2, False).response == (0.0, 1.0)
