"""What is particular to reweighting: the delta of chi-square noise."""

import pytest

from dpreg.audit.irls_releases import ALL, _stick
from dpreg.mechanisms import chi_square


@pytest.mark.parametrize(("epsilon", "freedom", "shift"), [(0.2, 20, 0.5), (1.0, 43, 1.0), (0.1, 6, 0.3)])
def test_the_hockey_stick_on_a_grid_is_that_of_the_engine(epsilon, freedom, shift):
    assert _stick(epsilon, shift, freedom) == pytest.approx(chi_square.delta(epsilon, freedom, shift), rel=1e-5)


@pytest.mark.parametrize("declared", ALL, ids=lambda declared: declared.name)
def test_both_moments_are_searched_where_their_price_is_that_of_one_record(declared):
    for setting in declared.settings((2,)):
        whole = declared.name != "IRLS, many degrees" or setting.neighbours == "add_remove"
        assert len(declared.steps(setting)) == 1 + whole
