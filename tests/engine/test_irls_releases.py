"""What is particular to reweighting: the delta of chi-square noise."""

import numpy as np
import pytest

from dpreg.audit.declared import QUICK
from dpreg.audit.irls_releases import ALL, CENTRED, _stick
from dpreg.mechanisms import chi_square


@pytest.mark.parametrize(("epsilon", "freedom", "shift"), [(0.2, 20, 0.5), (1.0, 43, 1.0), (0.1, 6, 0.3)])
def test_the_hockey_stick_on_a_grid_is_that_of_the_engine(epsilon, freedom, shift):
    assert _stick(epsilon, shift, freedom) == pytest.approx(chi_square.delta(epsilon, freedom, shift), rel=1e-5)


@pytest.mark.parametrize("declared", ALL, ids=lambda declared: declared.name)
def test_both_moments_are_searched_where_their_price_is_that_of_one_record(declared):
    for setting in declared.settings((2,)):
        whole = declared.name != "IRLS, many degrees" or setting.neighbours == "add_remove"
        assert len(declared.steps(setting)) == 1 + whole


@pytest.mark.thorough
@pytest.mark.parametrize("layer", ["budget algebra", "noise law"])
@pytest.mark.parametrize("declared", ALL, ids=lambda declared: declared.name)
def test_ledgers_and_draws_are_what_their_kinds_state(declared, layer):
    found = QUICK[layer](declared, np.random.default_rng(1))
    assert found
    assert not any(finding.refuted for finding in found)


def test_only_the_trace_counts_for_centred_noise():
    assert CENTRED.length(np.array([[1.0, 9.0], [9.0, 3.0]])) == 4.0
