"""The search reaches what the ledger charges where that is tight, and never more."""

from dataclasses import replace

import numpy as np
import pytest

from dpreg.audit.declared import MECHANISMS
from dpreg.audit.sensitivity_search import audit_sensitivity, worst
from dpreg.audit.statement import Setting, cube

RNG = np.random.default_rng(0)
FAST = ["functional, monomial", "DPME", "objective perturbation"]


@pytest.mark.parametrize("name", FAST)
def test_no_pair_beats_the_ledger(name):
    found = audit_sensitivity(MECHANISMS[name], RNG, (2,), polish=0)
    assert found
    assert not [finding for finding in found if finding.refuted]


@pytest.mark.audit
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_pair_beats_the_ledger_after_a_longer_search(name):
    found = audit_sensitivity(MECHANISMS[name], RNG)
    assert not [finding for finding in found if finding.refuted]
    assert all(finding.found > 0.4 * finding.claimed for finding in found), "the search is blind"


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_search_reaches_what_is_proved(intercept, relation):
    """The sensitivity is tight, so the worst pair costs all of epsilon: found at corners, or by climbing."""
    declared = MECHANISMS["functional, monomial"]
    setting = Setting(cube(2, intercept), 0.7, relation)
    (step,) = declared.steps(setting)
    assert worst(declared, setting, step, RNG)[0] == pytest.approx(0.7, rel=1e-9)
    assert step.climb(RNG) == pytest.approx(0.7, rel=1e-4)


def test_climbing_counts():
    declared = MECHANISMS["functional"]

    def steps(setting):
        return tuple(replace(step, climb=lambda rng: 2 * setting.epsilon) for step in declared.steps(setting))

    found = audit_sensitivity(replace(declared, steps=steps), RNG, (1,), polish=1)
    assert all(finding.refuted and finding.pair.endswith("climbing") for finding in found)


def test_the_pair_is_told_in_words():
    declared = MECHANISMS["functional"]
    setting = Setting(cube(1, False), 0.7, "replace")
    _, words = worst(declared, setting, declared.steps(setting)[0], RNG)
    assert words.count("[") == 2
    setting = replace(setting, neighbours="add_remove")
    _, words = worst(declared, setting, declared.steps(setting)[0], RNG)
    assert words.count("[") == 1
