"""Relations that every mechanism keeps, and some that break them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpreg.audit.declared import MECHANISMS
from dpreg.audit.metamorphic import RELATIONS, SEEDED, audit_relations

RNG = np.random.default_rng(0)
FAST = ["functional", "DPME", "Filter-Priority", "objective perturbation"]
SOUND = MECHANISMS["functional"]


@pytest.mark.parametrize("name", [pytest.param(k, marks=() if k in FAST else pytest.mark.audit) for k in MECHANISMS])
def test_the_relations_hold(name):
    found = audit_relations(MECHANISMS[name], RNG)
    left_out = () if MECHANISMS[name].seeded else SEEDED
    assert {finding.event for finding in found} == {key for key, one in RELATIONS.items() if one not in left_out}
    assert not [finding for finding in found if finding.refuted]


def released(change):
    """The functional mechanism with its records changed before they are used."""
    return replace(SOUND, release=lambda X, y, s, seed: SOUND.release(*change(X, y), s, seed))


def few(run):
    """What a mechanism returns that cannot do with fewer than three records."""
    return (np.full(9, math.nan), None) if len(run[1]) < 3 else None


BROKEN = {
    "a record out of bounds is its clipped twin": released(lambda X, y: (X, np.where(np.abs(y) > 1, 0.0, y))),
    "the order of records": released(lambda X, y: (np.vstack([X, X[:1]]), np.r_[y, y[:1]])),
    "the noise does not depend on the records": replace(SOUND, exact=lambda X, y, s: 0.9 * SOUND.exact(X, y, s)),
    "what is studied is what is released": replace(
        SOUND, study=lambda X, y, s, seed: np.nextafter(SOUND.study(X, y, s, seed), 9.0)
    ),
    "every draw is new": replace(SOUND, release=lambda X, y, s, seed: SOUND.release(X, y, s, 5)),
    "a huge epsilon gives the non-private fit": replace(SOUND, goal=lambda X, y, s: SOUND.goal(X, y, s) + 0.01),
    "names and signs of columns": replace(SOUND, fit=lambda X, y, s, seed: SOUND.fit(np.abs(X), y, s, seed)),
    "copies of all records": replace(SOUND, fit=lambda X, y, s, seed: SOUND.fit(X, y, s, seed) * len(X)),
    "what is no number is refused": released(lambda X, y: (np.nan_to_num(X), y)),
    "any records will do": replace(SOUND, release=lambda *run: few(run) or SOUND.release(*run)),
    "all records of many": replace(SOUND, exact=lambda X, y, s: SOUND.exact(X[:5000], y[:5000], s)),
    "a model is what its release gives": replace(SOUND, answer=lambda X, y, s, seed: (np.zeros(2), np.ones(2))),
}


@pytest.mark.parametrize("name", RELATIONS)
def test_a_broken_relation_is_found(name):
    setting = next(SOUND.settings((2,)))
    assert RELATIONS[name](SOUND, setting, np.random.default_rng(1))
    assert not RELATIONS[name](BROKEN[name], setting, np.random.default_rng(1))


def test_a_mechanism_that_says_so_need_not_answer_for_any_records():
    name, setting = "any records will do", next(SOUND.settings((2,)))
    assert RELATIONS[name](replace(BROKEN[name], any_records=False), setting, RNG)


def test_an_error_of_another_kind_is_no_refusal():
    def fails(X, y, s, seed):
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise ValueError("something broke")
        return SOUND.release(X, y, s, seed)

    name = "what is no number is refused"
    assert not RELATIONS[name](replace(SOUND, release=fails), next(SOUND.settings((2,))), RNG)
