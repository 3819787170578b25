"""Gaussian noise on all moments: its price in zCDP, its law, and its place in the chain."""

import itertools
import math

import numpy as np
import pytest

import dpreg
from dpreg.accounting import gdp_delta, gdp_mu, rho_for
from dpreg.checks import BudgetError, InputError
from dpreg.mechanisms.gaussian import Gaussian, for_delta, for_rho, mu_for
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import certify
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear
from dpreg.pipeline.release import perturb, price, release
from dpreg.pipeline.repair import lift
from dpreg.pipeline.solve import minimise
from dpreg.sweeps.experiment import mechanism, sweep
from dpreg.sweeps.splits import Holdout

KINDS = ("box", "corner", "ball")
every_domain = pytest.mark.parametrize(
    ("kind", "intercept", "d"), [*itertools.product(KINDS, (False, True), (1, 2, 5))], ids=str
)


def domain_of(kind, d, intercept=False):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, (-1, 1), intercept=intercept)
    return Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept, corner=kind == "corner")


def objective_of(where, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, where.d))
    return linear(X, X.sum(axis=1) / (2 * where.d) + rng.uniform(-0.5, 0.5, n), where)


def records(where, size, seed):
    """Scaled records of the domain, most of them at its surface."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], (size, where.d)) * np.where(rng.random((size, 1)) < 0.3, rng.random((size, where.d)), 1)
    return where.table(X * 1.5, rng.choice([-1.0, 1.0, 0.3], size))


@every_domain
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_no_pair_costs_more_than_rho(kind, intercept, d, neighbours):
    """The sum over what is drawn of change^2 / (2 variance): the zCDP of independent normal noise."""
    where = domain_of(kind, d, intercept)
    w = np.r_[0.7, [0.8] * intercept, np.full(d, 1.1)]
    law = for_rho(where, 0.3, weights=w, neighbours=neighbours)
    variance = (float(law.spread) * law.deviations) ** 2
    z, drawn = records(where, 400, d), np.triu(np.ones((where.p + 1, where.p + 1), dtype=bool))
    drawn[0, 0] = False
    costs = []
    for one, other in np.random.default_rng(1).integers(0, 400, (2000, 2)):
        change = np.outer(z[one], z[one]) - (neighbours == "replace") * np.outer(z[other], z[other])
        assert not change[drawn & (variance == 0)].any()
        noisy = drawn & (variance > 0)
        costs.append((change[noisy] ** 2 / (2 * variance[noisy])).sum())
    assert max(costs) <= 0.3 * (1 + 1e-12)
    assert law.concentrated(where, neighbours) == pytest.approx(0.3, rel=1e-12)


def test_the_bound_is_reached_where_corners_are_orthogonal():
    where = domain_of("box", 2, True)
    law = for_rho(where, 1.0, weights=np.ones(4))
    z, other = np.array([1.0, 1, 1, 1]), np.array([1.0, 1, -1, -1])
    change = np.outer(z, z) - np.outer(other, other)
    variance = (float(law.spread) * law.deviations) ** 2
    noisy = np.triu(variance > 0)
    assert (change[noisy] ** 2 / (2 * variance[noisy])).sum() == pytest.approx(1.0, rel=1e-12)
    assert float(law.spread) ** 2 == pytest.approx(16.0)  # R^2 = 4, rho = R^4 / s^2


def test_a_single_number_by_hand():
    """x and t in [-1, 1], one record added: R^2 = 2 and rho = 4 / (2 s^2)."""
    law = for_rho(domain_of("box", 1), 0.5, weights=[1.0, 1.0], neighbours="add_remove")
    assert float(law.spread) == pytest.approx(2.0)


@pytest.mark.thorough
@pytest.mark.parametrize("loss", [SQUARED, TAYLOR])
def test_noise_law(loss):
    """Five standard errors of a variance are sqrt(50 / n) of it: 1.1 per cent; five per cent of scale are ten."""
    n, law = 400_000, Gaussian([0.5, 2.0, 1.0, 1.0], 3.0, loss=loss)
    noisy = perturb(Quadratic(np.zeros((3, 3)), np.zeros(3), np.array(0.0)), law, 5, draws=(n,))
    w = law.weights
    expected = 9 / np.outer(w, w) ** 2 * (1 + np.eye(4)) / 2
    found = noisy.M.var(axis=0) / (loss.square**2 * expected[1:, 1:])
    found_v = noisy.v.var(axis=0) / (loss.cross**2 * expected[0, 1:])
    found_c = noisy.c.var() / (loss.constant**2 * expected[0, 0])
    for ratio in (found, found_v) if loss.labels else (found, found_v, found_c):
        assert (np.abs(ratio - 1) < 5 * math.sqrt(2 / n)).all()
        for off in (0.95, 1.05):
            assert (np.abs(ratio / off**2 - 1) > 5 * math.sqrt(2 / n)).all()
    assert (np.swapaxes(noisy.M, 1, 2) == noisy.M).all()
    assert (noisy.c == 0).all() == loss.labels
    assert law.deviation == pytest.approx(loss.square * 3.0)
    assert law.scale == pytest.approx(loss.square * 3.0)
    lifted = noisy.M * np.outer(w[1:], w[1:])
    assert law.level**2 == pytest.approx((lifted**2).sum(axis=(1, 2)).mean() / 3, rel=0.01)
    across = np.corrcoef(np.c_[noisy.M[:, *np.triu_indices(3)], noisy.v].T) - np.eye(9)
    assert np.abs(across).max() < 5 / math.sqrt(n)


def test_the_ledger_and_budgets_count_rho():
    where = domain_of("box", 2, True)
    f, rho = objective_of(where), rho_for(1.0, 1e-6)
    law, budget = for_rho(where, rho), Budget(rho=rho)
    out = release(f, law, 1, budget=budget)
    (spend,) = out.ledger
    assert (spend.mechanism, spend.norm, spend.epsilon) == ("Gaussian", "weighted Frobenius", math.inf)
    assert spend.rho == pytest.approx(rho, rel=1e-12)
    assert spend.sensitivity**2 / (2 * spend.scale**2) == pytest.approx(rho, rel=1e-12)
    assert budget.remaining <= 1e-12 * rho
    assert out.objective.M[0, 0] == 400
    with pytest.raises(BudgetError):
        release(f, law, 2, budget=budget)
    with pytest.raises(BudgetError):
        release(f, law, 2, budget=Budget(1e9))  # no epsilon covers it
    assert certify(law, where) == math.inf


def test_a_public_count_is_one_only_where_it_is():
    where = domain_of("box", 2, True)
    law = for_rho(where, 0.1)
    with pytest.raises(InputError, match="scale zero"):
        price(objective_of(where), law, "add_remove")
    hidden = for_rho(where, 0.1, neighbours="add_remove")
    assert perturb(objective_of(where), hidden, 1).M[0, 0] != 400
    assert not hidden.public_count
    with pytest.raises(InputError, match="scale zero"):
        price(objective_of(domain_of("box", 3)), Gaussian(np.ones(4), 1.0, public_count=True))


def test_it_passes_through_the_chain():
    where = domain_of("box", 3, True)
    f, exact = objective_of(where, 5000), minimise(objective_of(where, 5000))
    errors = []
    for rho in (1e2, 1e6, 1e10):
        law = for_rho(where, rho)
        errors.append(np.abs(minimise(lift(release(f, law, 3).objective, law)) - exact).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-5
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (200, 3)), rng.uniform(-1, 1, 200)
    table = sweep(X, y, where, [mechanism("g", where, for_rho(where, 1.0))], [0.5, 2.0], Holdout(2), random_state=1)
    assert np.isfinite(table["value"]).all()
    model = dpreg.PrivateLinearRegression(where, 1.0, mechanism=lambda domain, epsilon, **more: for_rho(domain, 1.0))
    with pytest.raises(InputError, match="the law costs inf"):
        model.fit(X, y)


def test_stacks_and_other_losses():
    where = domain_of("box", 2)
    stack = for_rho(where, [0.1, 0.4])
    assert stack.batch == (2,)
    assert stack.spread[0] == pytest.approx(2 * stack.spread[1])
    np.testing.assert_allclose(for_rho(where, 0.4).times([2.0, 1.0]).spread, stack.spread)
    f = Quadratic(np.zeros((2, 2)), np.zeros(2), 0.0)
    one = perturb(f, stack, 3, draws=(7,))
    assert one.batch == (7, 2)
    assert (one.M == perturb(f, stack, 3, draws=(7,)).M).all()


def test_it_takes_less_noise_than_pure_privacy_where_delta_is_allowed():
    where = domain_of("box", 13, True)
    law = for_rho(where, rho_for(1.0, 1e-6))
    assert law.level < difference(where, 1.0).level


@every_domain
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_with_a_delta_no_pair_moves_further_than_its_epsilon_allows(kind, intercept, d, neighbours):
    """The distance of two data sets in deviations is mu, and Gaussian noise at this mu has this delta, no more."""
    where, w = domain_of(kind, d, intercept), np.r_[0.7, [0.8] * intercept, np.full(d, 1.1)]
    law = for_delta(where, 0.7, 1e-6, weights=w, neighbours=neighbours)
    deviations = float(law.spread) * law.deviations
    z, drawn = records(where, 400, d), np.triu(deviations > 0)
    distances = []
    for one, other in np.random.default_rng(1).integers(0, 400, (2000, 2)):
        change = np.outer(z[one], z[one]) - (neighbours == "replace") * np.outer(z[other], z[other])
        assert not np.triu(change)[~drawn].any()
        distances.append(math.sqrt(((change[drawn] / deviations[drawn]) ** 2).sum()))
    assert gdp_delta(max(distances), 0.7) <= 1e-6 * (1 + 1e-9)
    assert law.certify(where, neighbours) == pytest.approx(0.7, rel=1e-12)
    assert gdp_delta(math.sqrt(2 * law.concentrated(where, neighbours)), 0.7) == pytest.approx(1e-6, rel=1e-6)


def test_the_ledger_and_budgets_count_a_delta():
    where = domain_of("box", 2, True)
    law, budget = for_delta(where, 1.0, 1e-6), Budget(1.0, delta=1e-6)
    (spend,) = release(objective_of(where), law, 1, budget=budget).ledger
    assert (spend.mechanism, spend.delta) == ("Gaussian", 1e-6)
    assert spend.epsilon == pytest.approx(1.0, rel=1e-12)
    assert spend.rho == pytest.approx(law.concentrated(where), rel=1e-12)
    assert budget.remaining_delta == 0
    with pytest.raises(BudgetError):
        release(objective_of(where), law, 2, budget=Budget(1.0))
    assert law.certify(where, "add_remove") == math.inf


def test_a_multiple_keeps_its_delta():
    law = for_delta(domain_of("box", 2), [0.5, 2.0], 1e-6)
    twice = law.times(2.0)
    assert (twice.delta, twice.batch) == (1e-6, (2,))
    assert (twice.spread == 2 * law.spread).all()
    for k, epsilon in enumerate((0.5, 2.0)):
        assert float(for_delta(domain_of("box", 2), epsilon, 1e-6).spread) == law.spread[k]


def test_an_entry_varies_as_it_says():
    law = Gaussian([0.5, 2.0, 1.0], 3.0)
    v = perturb(Quadratic(np.zeros((2, 2)), np.zeros(2), 0.0), law, 5, draws=(100_000,)).v
    assert v[:, 0].var() == pytest.approx(4 * float(law.entry) / (0.5 * 2.0) ** 2, rel=5 * math.sqrt(2 / 100_000))


def test_mu_has_the_shape_of_its_epsilons():
    found = mu_for([[0.5, 2.0]], 1e-6)
    assert found.tolist() == [[gdp_mu(0.5, 1e-6), gdp_mu(2.0, 1e-6)]]
