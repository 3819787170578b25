"""Privacy is paid for in one place: whoever takes a budget treats it the same."""

import math

import numpy as np
import pytest

import dpreg
from dpreg import noise
from dpreg.checks import BudgetError, InputError
from dpreg.pipeline import laws, objective, release, repair
from dpreg.pipeline.budget import Budget
from dpreg.sweeps.experiment import mechanism, sweep
from dpreg.sweeps.splits import Holdout
from tests.engine.payers import EPSILON, WAYS, box, takers
from tests.engine.readers_law import own

rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, 40)
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def cap(way, times):
    return Budget(times * EPSILON, times * way.delta)


def ledger_of(released):
    if isinstance(released, tuple):
        return released[1]
    return getattr(released, "ledger_", None) or released.ledger


def test_every_payer_has_a_way():
    entered, found = {way.payer for way in WAYS.values()}, set(takers())
    assert not found - entered, f"enter {found - entered} in WAYS of tests/engine/payers.py: they release"
    assert not entered - found, "these no longer exist, or take no budget"


@every_way
def test_a_release_charges_what_its_ledger_says(way):
    budget = cap(way, 1.5)
    spent = ledger_of(way.run(X, Y, random_state=1, budget=budget))
    assert spent.epsilon == pytest.approx(EPSILON)
    assert spent.delta == pytest.approx(way.delta)
    assert budget.ledger == spent
    assert all(math.isfinite(spend.epsilon) and not spend.caveat for spend in spent)
    with pytest.raises(BudgetError, match=r"costs 0\.5 and 0\.25 of 0\.75 is left"):
        way.run(X, Y, random_state=2, budget=budget)
    assert budget.ledger == spent


@every_way
def test_nothing_is_drawn_for_what_is_refused(way, monkeypatch):
    draws, budget = [], cap(way, 0.8)
    monkeypatch.setattr(noise, "generator", draws.append)
    with pytest.raises(BudgetError):
        way.run(X, Y, budget=budget)
    assert not draws
    assert budget.remaining == 0.8 * EPSILON


@every_way
def test_a_seed_is_refused_the_second_time(way):
    budget = cap(way, 20)
    way.run(X, Y, random_state=1, budget=budget)
    with pytest.raises(InputError, match="drew their noise from one seed"):
        way.run(X, Y, random_state=1, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(EPSILON)


@every_way
@pytest.mark.parametrize("budget", ["ten", 10.0])
def test_a_budget_of_another_type_is_refused(way, budget):
    with pytest.raises(InputError, match=r"budget is of type .*: give Budget"):
        way.run(X, Y, random_state=1, budget=budget)


@every_way
def test_a_bad_seed_costs_nothing(way):
    budget = cap(way, 20)
    with pytest.raises(InputError, match="random_state is -1"):
        way.run(X, Y, random_state=-1, budget=budget)
    assert budget.remaining == 20 * EPSILON


@every_way
def test_bounds_read_off_the_data_are_on_the_ledger(way):
    for spend in ledger_of(way.run(X, Y, leaky=True, random_state=1)):
        assert spend.caveat == "the domain's bounds were read off the data", "give its Spend caveat=domain.caveat"


@every_way
def test_a_budget_changes_nothing_but_the_budget(way):
    alone = ledger_of(way.run(X, Y, random_state=5))
    assert ledger_of(way.run(X, Y, random_state=5, budget=cap(way, 2))) == alone


@every_way
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_the_ledger_names_the_relation_that_was_asked_for(way, neighbours):
    spent = ledger_of(way.run(X, Y, neighbours=neighbours, random_state=1))
    assert {spend.neighbours for spend in spent} == {neighbours}
    assert (spent.epsilon, spent.delta) == pytest.approx((EPSILON, way.delta))


def test_a_readers_own_law_passes_everywhere():
    """certify, release, lift, a sweep, and an estimator; with the numbers of the law it wraps."""
    domain = box()
    mine = own(domain, 0.5)
    twin = mine.inner()
    assert laws.certify(mine, domain) == pytest.approx(0.5)
    f = objective.linear(X, Y, domain)
    out, same = (release.release(f, law, 1, budget=Budget(1.0)) for law in (mine, twin))
    assert out.ledger.spends[0].mechanism == "mine"
    np.testing.assert_array_equal(out.objective.M, same.objective.M)
    np.testing.assert_array_equal(repair.lift(out.objective, mine).M, repair.lift(out.objective, twin).M)
    np.testing.assert_array_equal(repair.bound(out.objective, mine).M, repair.bound(out.objective, twin).M)
    assert dpreg.minimise(repair.lift(out.objective, mine)).shape == (2,)
    frames = [
        sweep(X, Y, domain, [mechanism("m", domain, law)], [0.5, 2.0], Holdout(2), random_state=1)
        for law in (own(domain, 1.0), own(domain, 1.0).inner())
    ]
    np.testing.assert_array_equal(frames[0]["value"], frames[1]["value"])
    model = dpreg.PrivateLinearRegression(domain, 0.5, mechanism=own, random_state=1).fit(X, Y)
    assert model.ledger_ == out.ledger
    assert model.coef_.tolist() == dpreg.minimise(repair.lift(out.objective, mine)).tolist()


def test_a_law_that_costs_more_than_epsilon_is_refused():
    budget = Budget(10.0)
    cheap = dpreg.PrivateLinearRegression(box(), 0.5, mechanism=lambda domain, epsilon, **more: own(domain, 1.0))
    with pytest.raises(InputError, match=r"the law costs 1, and epsilon is 0\.5: scale"):
        cheap.fit(X, Y, budget=budget)
    assert budget.remaining == 10.0
