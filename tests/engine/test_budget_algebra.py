"""Ledgers that add up, and some that do not."""

from dataclasses import replace

import numpy as np
import pytest

from dpreg.audit.budget_algebra import audit_budget
from dpreg.audit.declared import MECHANISMS
from dpreg.pipeline.ledger import Ledger

RNG = np.random.default_rng(0)


def with_ledger(declared, **fields):
    """The mechanism with these fields in every entry of its ledger."""

    def release(X, y, setting, seed):
        out, ledger = declared.release(X, y, setting, seed)
        return out, Ledger(tuple(replace(spend, **fields) for spend in ledger))

    return replace(declared, release=release)


FAST = ["functional", "functional, printed", "repetition", "PrivR", "DPME", "objective perturbation", "IRLS, Gaussian"]


@pytest.mark.parametrize("name", [pytest.param(k, marks=() if k in FAST else pytest.mark.audit) for k in MECHANISMS])
def test_the_ledgers_add_up(name):
    sizes = (1, 2) if name in FAST else (1, 2, 5, 13)
    found = audit_budget(MECHANISMS[name], RNG, sizes)
    taken = [d for d in sizes if d <= (MECHANISMS[name].largest or d)]
    assert len(found) >= 2 * len(taken) * 6
    assert not [finding for finding in found if finding.refuted]


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilon": 0.6},
        {"epsilon": 0.8},
        {"delta": 1e-9},
        {"zcdp": 0.1},
        {"neighbours": "replace"},
        {"norm": "L2"},
        {"caveat": "some"},
        {"scale": 0.0},
        {"sensitivity": 1.0},
    ],
    ids=str,
)
def test_a_field_that_is_wrong_is_found(fields):
    if fields.get("scale") == 0.0:
        fields = {"scale": 1e-3}
    assert any(finding.refuted for finding in audit_budget(with_ledger(MECHANISMS["functional"], **fields), RNG, (2,)))


def test_words_count_where_no_epsilon_is_promised():
    """Under one of the two relations the word is wrong, and the ledger's epsilon is infinite anyway."""
    found = audit_budget(with_ledger(MECHANISMS["IRLS, Gaussian"], neighbours="replace"), RNG, (2,))
    assert {finding.pair.rpartition(" ")[2] for finding in found if finding.refuted} == {"add_remove"}


def test_who_promises_less_than_all_may_spend_less_but_not_more():
    printed = MECHANISMS["functional, printed"]
    for epsilon, wrong in ((0.7, False), (0.70001, True)):
        found = [
            finding
            for finding in audit_budget(with_ledger(printed, epsilon=epsilon), RNG, (2,))
            if finding.event.startswith("total")
        ]
        assert found
        assert any(finding.refuted for finding in found) == wrong
