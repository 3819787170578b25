"""A release costs what it declares, a budget refuses before anything is drawn, and a seed repeats it."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from dpreg.accounting import zcdp_from_pure
from dpreg.checks import BudgetError, InputError
from dpreg.mechanisms import irls
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Scales, certify, functional, unit_scales
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb, price, release
from dpreg.pipeline.repair import retry
from dpreg.pipeline.solve import minimise

CONVENTIONS = ("monomial", "ordered", "copied", "triangle")
EPSILONS = (0.01, 0.1, 0.8, 1.0, 3.2, 100.0)
KINDS = ("box", "corner", "ball")


def domain_of(kind, d, intercept=False, leaky=False):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, (-1, 1), intercept=intercept, leaky=leaky)
    return Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept, corner=kind == "corner", leaky=leaky)


def objective_of(domain, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return linear(rng.uniform(-1, 1, (n, domain.d)), rng.uniform(-1, 1, n), domain)


@pytest.mark.thorough
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 5, 13])
def test_ledger_total_is_the_declared_budget(d, kind, intercept, neighbours):
    domain = domain_of(kind, d, intercept)
    f = objective_of(domain)
    for convention, epsilon, constant in itertools.product(CONVENTIONS, EPSILONS, (False, True)):
        scales = functional(domain, epsilon, convention=convention, neighbours=neighbours, constant=constant)
        budget = Budget(epsilon)
        out = release(f, scales, 0, neighbours=neighbours, budget=budget)
        assert out.ledger.epsilon == pytest.approx(epsilon, rel=1e-12, abs=0)
        assert budget.ledger == out.ledger
        assert budget.remaining <= 1e-12 * epsilon
        (spend,) = out.ledger
        assert spend.neighbours == neighbours
        assert spend.sensitivity / spend.scale == pytest.approx(spend.epsilon, rel=1e-12)
        assert ("constant" in spend.released) == constant


@pytest.mark.parametrize("size", [1e102, 1e300, math.inf])
@pytest.mark.parametrize("publish", [release, retry])
def test_noise_beyond_floats_is_refused_before_it_is_charged(size, publish):
    domain = domain_of("box", 2, False)
    budget, scales = Budget(1.0), Scales(np.full((2, 2), size), np.full(2, 1e3 if size == math.inf else size))
    with pytest.raises(InputError, match=r"epsilon is .* its noise: give|noise is inf, .*: give a larger epsilon"):
        publish(objective_of(domain), scales, 0, budget=budget)
    assert budget.ledger.epsilon == 0
    publish(objective_of(domain), functional(domain, 0.2), 0, budget=budget)  # and the seed may still be used


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_printed_noise_never_costs_more_than_promised(kind, convention):
    for d, intercept, neighbours in itertools.product((1, 2, 5), (False, True), ("replace", "add_remove")):
        domain = domain_of(kind, d, intercept)
        scales = functional(domain, 0.8, sensitivity="printed", convention=convention, neighbours=neighbours)
        spend = price(objective_of(domain), scales, neighbours)
        assert 0 < spend.epsilon <= 0.8
        assert spend.epsilon == certify(scales, domain, neighbours)  # certified, not as asked for


@pytest.mark.parametrize("spender", [release, retry])
@pytest.mark.parametrize(
    "wrong",
    [
        {"random_state": "seed"},
        {"law": unit_scales("copied", 3)},
        {"neighbours": "swap"},
        {"objective": Quadratic(np.eye(2), np.ones(2), np.array(0.0))},
        {"law": Scales(np.zeros((2, 2)), np.ones(2))},
    ],
    ids=["seed", "size", "neighbours", "no domain", "no noise"],
)
def test_a_refused_release_costs_nothing(spender, wrong):
    domain = domain_of("box", 2)
    budget = Budget(5.0)
    arguments = {"objective": objective_of(domain), "law": functional(domain, 1.0), "random_state": 0} | wrong
    with pytest.raises(InputError):
        spender(**arguments, budget=budget)
    assert budget.remaining == 5.0


def test_repeating_until_bounded_costs_twice():
    """001, Lemma 5; functional(..., epsilon / 2) then spends epsilon."""
    domain = domain_of("box", 1)
    f = objective_of(domain, n=400)
    budget = Budget(1.0)
    out = retry(f, functional(domain, 0.5), 0, budget=budget)
    assert out.ledger.rho == zcdp_from_pure(out.ledger.epsilon)
    assert out.ledger.spends[0].mechanism == "Laplace, repeated until bounded"
    assert out.ledger.epsilon == pytest.approx(1.0, rel=1e-12)
    assert budget.remaining == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.eigvalsh(out.objective.M)[0] > 0
    with pytest.raises(BudgetError):
        retry(f, functional(domain, 0.5), 0, budget=Budget(0.9))


@pytest.mark.parametrize("again", [7, np.int64(7), np.random.SeedSequence(7)], ids=["int", "numpy", "sequence"])
@pytest.mark.parametrize("spender", [release, retry])
def test_a_budget_refuses_a_seed_the_second_time(spender, again):
    """Twice the same draws at two scales: without the refusal, the data are twice one release less the other."""
    f = objective_of(Box([-1.0], [1.0], (-1, 1)))
    one, two = (perturb(f, functional(f.domain, epsilon), 7) for epsilon in (1.0, 2.0))
    np.testing.assert_allclose(2 * two.M - one.M, f.M, rtol=1e-12)
    budget = Budget(100.0)
    release(f, functional(f.domain, 1.0), 7, budget=budget)
    with pytest.raises(InputError, match="from one seed"):
        spender(f, functional(f.domain, 2.0), again, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(1.0)
    for source in (8, None, None, np.random.SeedSequence(7, spawn_key=(1,))):
        spender(f, functional(f.domain, 2.0), source, budget=budget)


def test_a_leaky_domain_marks_the_ledger():
    for kind in KINDS:
        out, clean = (
            release(objective_of(domain), functional(domain, 1.0), 0)
            for domain in (domain_of(kind, 2, leaky=True), domain_of(kind, 2))
        )
        assert "read off the data" in next(iter(out.ledger)).caveat
        assert next(iter(clean.ledger)).caveat == ""


def test_infinite_cost_is_refused():
    domain = domain_of("box", 2, intercept=True)
    f = objective_of(domain)
    scales = functional(domain, 1.0)
    release(f, scales, 0)
    for bad in (
        replace(scales, v=np.r_[0.0, scales.v[1:]]),
        replace(scales, M=scales.M * np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1]])),
        replace(scales, c=0.0),
    ):
        with pytest.raises(InputError, match="scale zero"):
            release(f, bad, 0)
    with pytest.raises(InputError, match="scale zero"):
        release(f, scales, 0, neighbours="add_remove")


def test_the_same_seed_is_the_same_release_bit_for_bit():
    for convention, kind in itertools.product(CONVENTIONS, KINDS):
        domain = domain_of(kind, 3, intercept=True)
        f, scales = objective_of(domain), functional(domain, 0.7, convention=convention)
        one, again, other = (release(f, scales, seed).objective for seed in (4, 4, 5))
        np.testing.assert_array_equal(one.M, again.M)
        np.testing.assert_array_equal(one.v, again.v)
        assert (one.v != other.v).all()
        same = perturb(f, scales, 4)
        np.testing.assert_array_equal(one.M, same.M)


def test_what_goes_out_carries_no_private_objective():
    domain = domain_of("box", 2)
    out = release(objective_of(domain), functional(domain, 1.0), 0)
    assert out.objective.domain is None
    assert out.objective.c == 0
    assert out.domain == domain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_without_noise_to_speak_of_the_answer_is_the_non_private_one(kind, intercept):
    domain = domain_of(kind, 3, intercept)
    f = objective_of(domain, n=300)
    exact = minimise(f)
    errors = []
    for epsilon in (1e4, 1e6, 1e8):
        out = release(f, functional(domain, epsilon), 3)
        errors.append(np.abs(minimise(out.objective) - exact).max())
        assert errors[-1] < 1e3 / epsilon
    assert errors == sorted(errors, reverse=True)
    exactly = perturb(f, functional(domain, 1.0).times(0.0), 1)
    np.testing.assert_array_equal(minimise(exactly), exact)


def test_every_release_outside_the_chain_charges_a_budget_too():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-0.5, 0.5, (50, 2)), rng.integers(0, 2, 50)
    ball, labels = Ball([0.0, 0.0], 1.0, (-1.0, 1.0)), Box([-1.0, -1.0], [1.0, 1.0], (0, 1))
    budget = Budget(1.0)
    irls.irls(X, y, irls.pure(ball, 0.5), 1, budget=budget)
    objective_perturbation(X, y, labels, 0.25, random_state=2, budget=budget)
    assert budget.remaining == pytest.approx(0.25, rel=1e-12)
    spent = budget.ledger
    for refused in (
        lambda: irls.irls(X, y, irls.pure(ball, 0.5), 3, budget=budget),
        lambda: irls.irls(X, y, irls.gaussian(ball, 1e-9), 4, budget=budget),  # zCDP only: no epsilon covers it
        lambda: objective_perturbation(X, y, labels, 0.5, random_state=5, budget=budget),
    ):
        with pytest.raises(BudgetError):
            refused()
    with pytest.raises(InputError, match="from one seed"):
        objective_perturbation(X, y, labels, 0.1, random_state=1, budget=budget)
    assert budget.ledger == spent
