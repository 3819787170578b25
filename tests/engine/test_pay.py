"""Privacy is paid for in one place: whoever takes a budget treats it the same."""

import math

import numpy as np
import pytest

import dpreg
from dpreg import noise
from dpreg.checks import BudgetError, InputError
from dpreg.mechanisms import budget_split, filter_priority, histogram, irls
from dpreg.mechanisms.grid import partition
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline import laws, objective, release, repair
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import SQUARED
from dpreg.sweeps.experiment import mechanism, sweep
from dpreg.sweeps.splits import Holdout
from tests.engine.payers import takers

rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, 40)
LABELS = np.where(Y > 0, 1.0, -1.0)


def box(leaky):
    return Box([-1, -1], [1, 1], (-1, 1), leaky=leaky)


def counts(leaky):
    return histogram.count(X, Y, partition(box(leaky), 3))


# Each spends half: makes a release of records on a domain whose bounds are public, or not.
PAYERS = {
    "release.release": lambda leaky, **more: release.release(
        objective.linear(X, Y, box(leaky)), laws.functional(box(leaky), 0.5), **more
    ),
    "repair.retry": lambda leaky, **more: repair.retry(
        objective.linear(20 * X, Y, box(leaky)), laws.functional(box(leaky), 0.25), **more
    ),
    "histogram.dpme": lambda leaky, **more: histogram.dpme(counts(leaky), 0.5, **more),
    "filter_priority.filter_priority": lambda leaky, **more: filter_priority.filter_priority(
        counts(leaky), 0.5, 10, **more
    ),
    "objective_perturbation.objective_perturbation": lambda leaky, **more: objective_perturbation(
        X, LABELS, box(leaky), 0.5, **more
    ),
    "budget_split.privr": lambda leaky, **more: budget_split.privr(
        objective.linear(X, Y, box(leaky)), 1.0, share=0.5, **more
    ),
    "irls.irls": lambda leaky, **more: irls.irls(
        X / 2, Y, irls.pure(Ball([0, 0], 1.0, (-1, 1), leaky=leaky), 0.5, iterations=2), **more
    ),
    "private.PrivateLinearRegression.fit": lambda leaky, **more: fitted(
        dpreg.PrivateLinearRegression, Y, leaky, **more
    ),
    "private.PrivateLogisticRegression.fit": lambda leaky, **more: fitted(
        dpreg.PrivateLogisticRegression, LABELS, leaky, **more
    ),
}
every_payer = pytest.mark.parametrize("name", PAYERS)


def fitted(estimator, target, leaky, *, random_state=None, **more):
    return estimator(box(leaky), 0.5, random_state=random_state).fit(X, target, **more)


def ledger_of(released):
    if isinstance(released, tuple):
        return released[1]
    return getattr(released, "ledger_", None) or released.ledger


def test_the_table_is_complete():
    assert set(takers()) == set(PAYERS), "add it to PAYERS here, and to MECHANISMS in test_neighbours.py"


@every_payer
def test_a_release_charges_what_its_ledger_says(name):
    budget = Budget(0.75)
    spent = ledger_of(PAYERS[name](False, random_state=1, budget=budget))
    assert spent.epsilon == pytest.approx(0.5)
    assert budget.ledger == spent
    assert all(math.isfinite(spend.epsilon) and not spend.caveat for spend in spent)
    with pytest.raises(BudgetError, match=r"costs 0\.5 and 0\.25 of 0\.75 is left"):
        PAYERS[name](False, random_state=2, budget=budget)
    assert budget.ledger == spent


@every_payer
def test_nothing_is_drawn_for_what_is_refused(name, monkeypatch):
    draws, budget = [], Budget(0.4)
    monkeypatch.setattr(noise, "generator", draws.append)
    with pytest.raises(BudgetError):
        PAYERS[name](False, budget=budget)
    assert not draws
    assert budget.remaining == 0.4


@every_payer
def test_a_seed_is_refused_the_second_time(name):
    budget = Budget(10.0)
    PAYERS[name](False, random_state=1, budget=budget)
    with pytest.raises(InputError, match="drew their noise from one seed"):
        PAYERS[name](False, random_state=1, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(0.5)


@every_payer
@pytest.mark.parametrize("budget", ["ten", 10.0])
def test_a_budget_of_another_type_is_refused(name, budget):
    with pytest.raises(InputError, match=r"budget is of type .*: give Budget"):
        PAYERS[name](False, random_state=1, budget=budget)


@every_payer
def test_a_bad_seed_costs_nothing(name):
    budget = Budget(10.0)
    with pytest.raises(InputError, match="random_state is -1"):
        PAYERS[name](False, random_state=-1, budget=budget)
    assert budget.remaining == 10.0


@every_payer
def test_bounds_read_off_the_data_are_on_the_ledger(name):
    for spend in ledger_of(PAYERS[name](True, random_state=1)):
        assert spend.caveat == "the domain's bounds were read off the data"


@every_payer
def test_a_budget_changes_nothing_but_the_budget(name):
    alone = ledger_of(PAYERS[name](False, random_state=5))
    assert ledger_of(PAYERS[name](False, random_state=5, budget=Budget(1.0))) == alone


class Mine(laws.Law):
    """A reader's own law: Laplace noise on M and v, in another wrapping, that asks no class of the library."""

    name = "mine"
    norm = "my L1"

    def __init__(self, size, p):
        self.size, self.columns_ = np.asarray(size, dtype=float), p

    @property
    def batch(self):
        return self.size.shape

    @property
    def p(self):
        return self.columns_

    @property
    def scale(self):
        return float(self.size)

    @property
    def deviation(self):
        return math.sqrt(2) * self.size

    @property
    def level(self):
        return np.asarray(math.sqrt(2 * self.p) * self.size)

    def times(self, factor):
        return Mine(self.size * np.asarray(factor), self.p)

    def inner(self):
        unit = laws.Scales(np.ones((self.p, self.p)), np.ones(self.p))
        return unit.times(self.size)

    def certify(self, domain, neighbours="replace", loss=SQUARED):
        return self.inner().certify(domain, neighbours, loss)

    def perturb(self, f, draws, rng):
        return self.inner().perturb(f, draws, rng)


def own(domain, epsilon, neighbours="replace", loss=SQUARED):
    unit = Mine(1.0, domain.p)
    return unit.times(laws.certify(unit, domain, neighbours, loss) / epsilon)


def test_a_readers_own_law_passes_everywhere():
    """certify, release, lift, a sweep, and an estimator; with the numbers of the law it wraps."""
    domain = box(False)
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
    cheap = dpreg.PrivateLinearRegression(box(False), 0.5, mechanism=lambda domain, epsilon, **more: own(domain, 1.0))
    with pytest.raises(InputError, match=r"the law costs 1, and epsilon is 0\.5: scale"):
        cheap.fit(X, Y, budget=budget)
    assert budget.remaining == 10.0
