"""What a mechanism states: settings, records, and what an entry of a ledger has to say."""

import math

import numpy as np
import pytest

from dpreg.accounting import zcdp_from_pure
from dpreg.audit import further_releases
from dpreg.audit.declared import MECHANISMS
from dpreg.audit.statement import Setting, cube, gaussian_price, per_scale
from dpreg.pipeline.ledger import Spend


def test_settings_are_all_of_one_size_with_both_relations():
    settings = list(MECHANISMS["functional"].settings((1, 3)))
    assert {(s.domain.d, s.domain.intercept, s.neighbours) for s in settings} == {
        (d, intercept, relation)
        for d in (1, 3)
        for intercept in (False, True)
        for relation in ("replace", "add_remove")
    }
    assert len(settings) == 8
    assert str(settings[-1]) == "d = 3 and a constant, add_remove"


def test_a_recipe_with_its_own_constant_is_asked_for_no_other():
    assert {s.domain.intercept for s in MECHANISMS["recipe of the code"].settings((2,))} == {True}


MOVED = ", other units"  # makes its records between -1 and 1, and moves them when it looks at them


@pytest.mark.parametrize("name", MECHANISMS)
def test_records_lie_inside_the_domain(name):
    made = MECHANISMS[name].records(3, 50, np.random.default_rng(1))
    for intercept in (False, True):
        domain = MECHANISMS[name].domain(3, intercept)
        X, y = further_releases._placed(*made, domain) if name.endswith(MOVED) else made
        Z, t = domain.scale(X, y)
        unscaled = Z[:, domain.intercept :] * domain.unit + domain.shift
        assert unscaled == pytest.approx(X)
        assert t == pytest.approx(2 * (y - domain.response[0]) / np.ptp(domain.response) - 1)


def test_an_entry_is_sensitivity_over_scale():
    spend = Spend("x", "Laplace", "replace", "L1", 3.0, 4.0, 0.75)
    epsilon, delta, rho = per_scale(spend, Setting(cube(1, False), 0.75, "replace"))
    assert (epsilon, delta) == (0.75, 0.0)
    assert rho == pytest.approx(zcdp_from_pure(0.75))


def test_gaussian_noise_has_a_rho_and_no_epsilon():
    spend = Spend("x", "Gauss", "replace", "L2", 3.0, 4.0, math.inf, zcdp=0.28125)
    assert gaussian_price(spend, Setting(cube(1, False), 0.75, "replace")) == (math.inf, 0.0, 0.28125)
