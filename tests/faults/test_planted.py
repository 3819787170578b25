"""The auditor audited: every planted fault is found by the layer that is to find it, and without it there is nothing.

Randomness is seeded. The layer of noise draws about 40 000 numbers, a fortieth of that where a draw needs a fit.
"""

import warnings

import planted
import pytest

from dpreg.audit.declared import MECHANISMS, audit

CHEAP = [
    name
    for name, (*_, mechanism, layer) in planted.PLANTED.items()
    if layer == "budget algebra" or mechanism == "functional"
]
COSTLY = [name for name in planted.PLANTED if name not in CHEAP]


@pytest.fixture(autouse=True)
def clean():
    planted.forget()
    yield
    planted.forget()


def found(name, monkeypatch):
    place, old, new, mechanism, layer = planted.PLANTED[name]
    planted.plant(place, old, new, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fault makes numpy say is no matter
        return audit(mechanism, layer, quick=True).refuted


@pytest.mark.thorough
@pytest.mark.parametrize("name", CHEAP)
def test_a_planted_fault_is_found(name, monkeypatch):
    assert found(name, monkeypatch)


@pytest.mark.audit
@pytest.mark.parametrize("name", COSTLY)
def test_a_planted_fault_of_another_mechanism_is_found(name, monkeypatch):
    assert found(name, monkeypatch)


@pytest.mark.audit
@pytest.mark.parametrize("name", planted.REACH)
def test_a_fault_was_out_of_reach(name, monkeypatch):
    """Another mechanism misses it, or all other relations."""
    place, old, new, mechanism, layer = planted.PLANTED[name]
    reach = planted.REACH[name]
    planted.plant(place, old, new, monkeypatch)
    if reach in MECHANISMS:
        assert not audit(reach, layer, quick=True).refuted
    else:
        assert {one.event for one in audit(mechanism, layer, quick=True).refuted} == {reach}


@pytest.mark.audit
def test_a_fault_in_later_columns_takes_more_columns(monkeypatch):
    *fault, mechanism, layer = planted.MORE_COLUMNS
    planted.plant(*fault, monkeypatch)
    assert not audit(mechanism, layer, quick=True).refuted
    assert audit(mechanism, layer).refuted


@pytest.mark.parametrize(
    ("mechanism", "layer"),
    [
        pytest.param(*pair, marks=[pytest.mark.audit] * (pair[0] != "functional"))
        for pair in sorted({(mechanism, layer) for *_, mechanism, layer in planted.PLANTED.values()})
    ],
)
def test_without_a_fault_nothing_is_found(mechanism, layer):
    assert not audit(mechanism, layer, quick=True).refuted


def test_all_layers_have_faults_to_find():
    assert len(planted.PLANTED) >= 25
    assert {layer for *_, layer in planted.PLANTED.values()} == {
        "budget algebra",
        "metamorphic",
        "sensitivity",
        "privacy loss",
        "noise law",
    }


def test_a_fault_is_gone_after_the_test():
    with pytest.MonkeyPatch.context() as patch:
        planted.plant(*planted.PLANTED["noise halved"][:3], patch)
        assert audit("functional", "noise law", quick=True).refuted
    assert not audit("functional", "noise law", quick=True).refuted


def test_a_place_that_has_changed_is_an_error(monkeypatch):
    with pytest.raises(AssertionError, match="write the fault anew"):
        planted.plant("dpreg.noise.laplace", "no such code", "", monkeypatch)
