"""Entries of a ledger, and ledgers, add up in every field and are kept to the last bit."""

import json
import math
from dataclasses import fields, replace

import pytest

from dpreg import noise
from dpreg.accounting import zcdp_from_pure
from dpreg.checks import InputError
from dpreg.pipeline.ledger import Ledger, Spend


def spend_of(epsilon, **more):
    return Spend("a number", "Laplace", "replace", "L1", 1.0, 1.0, epsilon, **more)


def test_a_spend_of_another_epsilon_has_another_rho():
    assert replace(spend_of(0.5), epsilon=1.0).rho == zcdp_from_pure(1.0)
    assert replace(spend_of(0.5), delta=1e-6).rho == math.inf
    assert spend_of(0.5, zcdp=0.01).rho == 0.01
    assert Ledger((spend_of(0.5),)).to_frame()["rho"].tolist() == [zcdp_from_pure(0.5)]


def test_ledgers_compose():
    one, other = Ledger((spend_of(0.1),)), Ledger((spend_of(0.2), spend_of(0.3)))
    total = one + other
    assert total.epsilon == math.fsum([0.1, 0.2, 0.3])
    assert [spend.epsilon for spend in total] == [0.1, 0.2, 0.3]
    assert total.to_frame()["epsilon"].tolist() == [0.1, 0.2, 0.3]
    assert (Ledger() + one) == one
    assert Ledger().epsilon == 0
    assert Ledger((spend_of(0.1),) * 10).epsilon == 1.0  # without drift


@pytest.mark.parametrize("rho", [None, 0.1, math.inf])
def test_a_ledger_is_kept_as_text_to_the_last_bit(rho):
    odd = [
        spend_of(0.1 + 0.2, zcdp=rho),
        spend_of(1e-99 / 3, delta=1 / 3, caveat='"": Infinity ∞\\\\"'),
        spend_of(math.inf, zcdp=0.7),
        spend_of(1.0, noise=noise.origin(5)),
        replace(spend_of(1.0), released="inf"),
    ]
    ledger = Ledger(tuple(odd))
    text = ledger.to_json()
    assert Ledger.from_json(text) == ledger
    assert Ledger.from_json(text).to_json() == text
    assert Ledger.from_json(text).seeds == ledger.seeds != set()
    assert json.loads(text, parse_constant=pytest.fail)  # which no JSON has
    assert Ledger.from_json(Ledger().to_json()) == Ledger()
    assert all(set(entry) == {field.name for field in fields(Spend)} for entry in json.loads(text))


@pytest.mark.parametrize("epsilon", [-1.0, -1e-300, math.nan, math.inf])
def test_no_spend_earns_budget(epsilon):
    with pytest.raises(InputError, match="epsilon is"):
        spend_of(epsilon)


def test_a_ledger_adds_up_epsilon_delta_and_rho():
    pure = Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5)
    loose = Spend("a mean", "Gaussian", "replace", "L2", 1.0, 3.0, 0.7, delta=1e-6)
    concentrated = Spend("moments", "Gaussian", "replace", "L2", 1.0, 3.0, math.inf, zcdp=0.25)
    assert pure.rho == pytest.approx(
        0.5 * (math.e**0.5 - 1) / (math.e**0.5 + 1), rel=1e-14
    )  # epsilon tanh(epsilon / 2)
    total = Ledger((pure, loose))
    assert (total.epsilon, total.delta) == (pytest.approx(1.2, rel=1e-14), 1e-6)
    assert math.isinf(total.rho), "an (epsilon, delta) release has no rho"
    assert Ledger((pure, concentrated)).rho == pytest.approx(pure.rho + 0.25, rel=1e-14)
    assert math.isinf(Ledger((pure, concentrated)).epsilon), "a zCDP release has no pure epsilon"
