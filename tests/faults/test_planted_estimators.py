"""Faulty estimators are caught with the stated number of draws, and their sound twins are not refuted.

The audits have confidence 99.9 %, so a sound twin is refuted with a chance of at most one in a thousand, by one of the
fixed seeds; a fault that is caught stays caught with its seed.
"""

import pytest
from planted_estimators import FAULTS

from dpreg.audit.black_box import estimator
from dpreg.audit.pairs import standard

PAIRS = {
    False: standard((0.0, 1.0), (0.0, 1.0), d=2),
    True: standard((0.0, 1.0), labels=(0, 1), d=2),
}


def audit(name, make, left_out=(), **options):
    fault = FAULTS[name]
    given = {"draws": fault.draws, "confidence": 0.999, "random_state": 1, "many": fault.many} | options
    pairs = [pair for pair in PAIRS[fault.labels] if not any(words in pair.name for words in left_out)]
    return estimator(make, pairs, 1.0, **given)


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name):
    report = audit(name, FAULTS[name].faulty, stop_early=True, classifier=False)
    assert report.refuted, report
    assert str(report).startswith("REFUTED at epsilon = 1")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.audit] * (not fault.many)) for name, fault in FAULTS.items() if fault.needs],
)
def test_without_its_pairs_a_fault_is_missed(name):
    report = audit(name, FAULTS[name].faulty, FAULTS[name].needs, stop_early=True, classifier=False)
    assert not report.refuted, report


@pytest.mark.audit
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught_with_other_seeds_and_all_at_once(name, seed):
    assert audit(name, FAULTS[name].faulty, random_state=seed).refuted


@pytest.mark.audit
@pytest.mark.parametrize("name", FAULTS)
def test_the_sound_twin_is_not_refuted(name):
    """With more draws than catch the fault, and the classifier."""
    report = audit(name, FAULTS[name].sound, draws=max(2000, FAULTS[name].draws))
    assert not report.refuted, report
    assert str(report).startswith("Not refuted at epsilon = 1")
