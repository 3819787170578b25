"""Every number on a ledger, found again from the noise that is drawn and a search over neighbours.

The noise is measured: a deviation of more than five standard errors fails, which chance does less than once in a
million. The worst pair of records is searched for among those with entries in steps of a quarter.
"""

import itertools
import math

import numpy as np
import pytest

import dpreg
from dpreg import noise
from dpreg.mechanisms import budget_split, filter_priority, histogram, irls, wishart
from dpreg.mechanisms.grid import Grid
from dpreg.mechanisms.irls_moments import sensitivities
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline import laws, repair
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb, release

DRAWS = 40_000
BOX = Box([-1, -1], [1, 1], (-1, 1))
RELATIONS = ("replace", "add_remove")
EPSILON = 0.7
rng = np.random.default_rng(0)
F = linear(rng.uniform(-1, 1, (20, 2)), rng.uniform(-1, 1, 20), BOX)
RECORDS = np.array(list(itertools.product(np.linspace(-1, 1, 9), repeat=3)))


def pairs(relation):
    """Moments of one record less those of the other, which is missing under add or remove."""
    one = RECORDS[:, :, None] * RECORDS[:, None, :]
    return (one[:, None] - one[None]).reshape(-1, 3, 3) if relation == "replace" else one


def five(values):
    """The mean of a sample, and five standard errors of it."""
    return values.mean(axis=0), 5 * values.std(axis=0) / math.sqrt(len(values))


def check_pure(spend, epsilon):
    """The fields that follow from a pure epsilon."""
    assert spend.delta == 0
    assert spend.rho == pytest.approx(epsilon * (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1), rel=1e-9)
    assert spend.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert spend.sensitivity / spend.scale == pytest.approx(spend.epsilon, rel=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("convention", ["monomial", "copied", "triangle"])
def test_laplace_noise_on_coefficients(convention, relation):
    law = laws.functional(BOX, EPSILON, convention=convention, neighbours=relation)
    (spend,) = release(F, law, 1, neighbours=relation).ledger
    check_pure(spend, EPSILON)
    assert (spend.mechanism, spend.neighbours, spend.norm) == ("Laplace", relation, "weighted L1")
    drawn = perturb(F, law, 2, draws=(DRAWS,))
    upper = np.triu_indices(2)
    scale, error = five(np.abs(np.c_[(drawn.M - F.M)[:, upper[0], upper[1]], drawn.v - F.v]))
    assert abs(scale[2] - spend.scale) < error[2]
    change = pairs(relation)
    M, v = change[:, 1:, 1:], -2 * change[:, 0, 1:]
    moved = np.abs(np.c_[M[:, upper[0], upper[1]], v])
    assert (moved / (scale + error)).sum(axis=1).max() <= EPSILON <= (moved / (scale - error)).sum(axis=1).max()


@pytest.mark.thorough
@pytest.mark.parametrize("relation", RELATIONS)
def test_wishart_noise_on_moments(relation):
    """The log density of s^2 (W1 - W2) moves by at most the nuclear norm of the change over 2 s^2."""
    law = wishart.difference(BOX, EPSILON, neighbours=relation)
    (spend,) = release(F, law, 1, neighbours=relation).ledger
    check_pure(spend, EPSILON)
    assert (spend.mechanism, spend.norm) == ("Wishart difference", "weighted nuclear")
    off = perturb(F, law, 2, draws=(DRAWS,)).M[:, 0, 1] - F.M[0, 1]
    square, error = five(off**2)  # twice 4 degrees of freedom times s^4, over the weights
    w = law.weights
    low, high = (math.sqrt((square + sign * error) * w[1] ** 2 * w[2] ** 2 / 8) for sign in (-1, 1))
    change = np.abs(np.linalg.eigvalsh(w[:, None] * pairs(relation) * w)).sum(axis=1).max()
    assert change / (2 * high) <= EPSILON <= change / (2 * low)


@pytest.mark.parametrize("law", [laws.functional, wishart.difference])
def test_repetition_costs_twice_what_one_release_does(law):
    noisy = law(BOX, EPSILON / 2)
    (spend,), (once,) = (run(F, noisy, 1).ledger for run in (repair.retry, release))
    check_pure(once, EPSILON / 2)
    assert (spend.epsilon, spend.delta, spend.sensitivity, spend.scale) == (
        2 * once.epsilon,
        0,
        once.sensitivity,
        once.scale,
    )
    assert spend.rho == pytest.approx(EPSILON * math.tanh(EPSILON / 2))
    assert spend.mechanism == f"{once.mechanism}, repeated until bounded"


def counts():
    """A cell for each of many values, with a thousand records in each."""
    grid = Grid(Box([0], [1], (0, 1)), (2, DRAWS // 2), (False, False))
    return histogram.Histogram(grid, np.arange(grid.size), np.full(grid.size, 1000))


@pytest.mark.parametrize(("relation", "moved"), [("replace", 2), ("add_remove", 1)])
def test_noisy_counts(relation, moved):
    released = histogram.dpme(counts(), EPSILON, 1, mode="signed", neighbours=relation)
    check_pure(*released.ledger, EPSILON)
    noisy = np.concatenate([weights for _, weights in released.blocks()])
    scale, error = five(np.abs(noisy - 1000))
    assert abs(released.ledger.spends[0].scale - scale) < error
    assert moved / (scale + error) <= EPSILON <= moved / (scale - error)


@pytest.mark.parametrize(("relation", "moved"), [("replace", 2), ("add_remove", 1)])
def test_sampled_counts(relation, moved):
    """Neighbouring noisy counts differ in probability by the factor alpha for each unit: it is measured at zero."""
    released = filter_priority.filter_priority(counts(), EPSILON, DRAWS, 1, neighbours=relation)
    check_pure(*released.ledger, EPSILON)
    assert len(released.weights) == DRAWS
    zero, error = five((released.weights == 1000).astype(float))
    decay = [-moved * math.log((1 - share) / (1 + share)) for share in (zero - error, zero + error)]
    assert decay[0] <= EPSILON <= decay[1]


@pytest.mark.parametrize("relation", RELATIONS)
def test_relevances(relation, monkeypatch):
    scales, laplace = [], noise.laplace

    def spied(scale, shape, random_state=None):
        scales.append(scale)
        return laplace(scale, shape, random_state)

    monkeypatch.setattr(noise, "laplace", spied)
    (spend,) = budget_split.privr(F, EPSILON, share=0.3, neighbours=relation, random_state=1).ledger
    check_pure(spend, 0.3 * EPSILON)
    change = np.abs(2 * pairs(relation)[:, 0, 1:]).sum(axis=1).max()
    assert change / scales[0] == pytest.approx(0.3 * EPSILON)


@pytest.mark.thorough
@pytest.mark.parametrize(("relation", "moved"), [("replace", 2), ("add_remove", 1)])
def test_objective_perturbation(relation, moved):
    """Without records theta is minus the tilt over the ridge, and one record at theta tells the ridge."""
    box, settings = Box([-1, -1], [1, 1], (0, 1)), {"share": 0.4, "neighbours": relation}
    none, one = (np.empty((0, 2)), []), ([[1.0, 0.5]], [1.0])
    empty, single = (
        np.array([objective_perturbation(*data, box, EPSILON, random_state=k, **settings)[0] for k in range(2000)])
        for data in (none, one)
    )
    z = single @ one[0][0]
    slope = (1 / (1 + np.exp(-z)) - 1)[:, None] * np.array(one[0])
    ridge = (slope * (empty - single)).sum() / ((empty - single) ** 2).sum()
    (spend,) = objective_perturbation(*one, box, EPSILON, random_state=1, **settings)[1]
    assert (spend.epsilon, spend.delta, spend.rho) == (EPSILON, 0, pytest.approx(EPSILON * math.tanh(EPSILON / 2)))
    length, error = five(np.linalg.norm(ridge * empty, axis=1))  # of the tilt: a gamma variable of two degrees
    assert abs(length / 2 - spend.scale) < error / 2
    linear_part = moved * math.sqrt(2) / (length / 2 + np.array([error, -error]) / 2)
    curved = math.log1p(2 / 4 / ridge)  # one record bends by at most |x|^2 / 4, in one direction
    assert linear_part[0] + curved <= EPSILON * (1 + 1e-6) <= (linear_part[1] + curved) * (1 + 2e-6)


BALL = Ball([0, 0], 1.0, (-1, 1), intercept=True)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ["Laplace", "Wishart difference"])
def test_pure_reweighting(kind, relation):
    plan = irls.pure(BALL, EPSILON, kind, cap=3.0, iterations=4, neighbours=relation)
    assert plan.ledger.epsilon == pytest.approx(EPSILON, rel=1e-12)
    assert len(plan.ledger.spends) == 8
    size, total = sensitivities(BALL, 3.0, relation), np.zeros(2)
    for spend in plan.ledger:
        assert spend.rho == pytest.approx(spend.epsilon * math.tanh(spend.epsilon / 2))
    scale, error = five(np.abs(plan.first.vector(3, noise.generator(1), (DRAWS,))[:, 0]))
    total += size.first_l1 / (scale + np.array([error, -error]))
    off = plan.second.matrix(3, noise.generator(2), (DRAWS,))[:, 0, 1]
    if kind == "Laplace":
        scale, error = five(np.abs(off))
        total += size.triangle / (scale + np.array([error, -error]))
    else:
        square, error = five(off**2)  # 2 (p + 1) s^4
        total += size.nuclear / (2 * np.sqrt((square + np.array([error, -error])) / 8))
    assert 4 * total[0] <= EPSILON <= 4 * total[1]


@pytest.mark.parametrize("relation", RELATIONS)
def test_gaussian_reweighting(relation):
    plan = irls.gaussian(BALL, 0.3, cap=3.0, iterations=4, neighbours=relation)
    assert plan.ledger.rho == pytest.approx(0.3, rel=1e-12)
    assert plan.ledger.epsilon == math.inf
    size, rho = sensitivities(BALL, 3.0, relation), np.zeros(2)
    square, error = five(plan.first.vector(3, noise.generator(1), (DRAWS,))[:, 0] ** 2)
    rho += size.first_l2**2 / (2 * (square + np.array([error, -error])))
    square, error = five(plan.second.matrix(3, noise.generator(2), (DRAWS,))[:, 0, 0] ** 2)
    rho += size.frobenius**2 / (2 * (square + np.array([error, -error])))
    assert 4 * rho[0] <= 0.3 <= 4 * rho[1]
    (fit,) = (irls.irls(np.zeros((3, 2)), np.zeros(3), plan, budget=dpreg.Budget(rho=0.3)),)
    assert [spend.rho for spend in fit.ledger] == [spend.rho for spend in plan.ledger]


def test_a_released_constant_is_paid_for():
    """The sum of t^2 is the last coefficient; without noise on it nothing is charged, and it is withheld."""
    kept = laws.functional(BOX, EPSILON, constant=True)
    (spend,) = release(F, kept, 1).ledger
    assert "constant" in spend.released
    drawn = perturb(Quadratic(F.M, F.v, F.c), kept, 2, draws=(DRAWS,))
    scale, error = five(np.abs(drawn.c - F.c))
    assert abs(scale - kept.c) < error
    check_pure(spend, EPSILON)
