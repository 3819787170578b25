"""The mean first, then the Wishart difference: its price, its law, what it falls back to, and what it is for."""

import itertools
import math

import numpy as np
import pytest

import dpreg
from dpreg.accounting import gdp_delta, zcdp_from_pure
from dpreg.checks import BudgetError, InputError
from dpreg.mechanisms.gaussian import Gaussian, for_delta
from dpreg.mechanisms.mean_first import MeanFirst, blind_spot, mean_first
from dpreg.mechanisms.wishart import WishartDifference, difference
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import certify
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear
from dpreg.pipeline.release import perturb, price, release
from dpreg.pipeline.repair import lift, retry
from dpreg.pipeline.solve import minimise

BOX = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
DRAWS = 100_000
every_loss = pytest.mark.parametrize("loss", [SQUARED, TAYLOR])


def domain_of(kind, d, intercept=True):
    make = Ball if kind == "ball" else Box
    ends = (np.zeros(d), 1.0) if kind == "ball" else (-np.ones(d), np.ones(d))
    return make(*ends, (-1, 1), intercept=intercept)


def records(n, d=2, seed=0, signal=0.0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, (0.2 + signal * X[:, 0] + noise * rng.uniform(-1, 1, n)).clip(-1, 1)


@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_no_pair_costs_more_than_epsilon(kind, d):
    """|change of the sum| / b plus the weighted nuclear norm over 2 s^2, over the surface of the domain."""
    where, rng = domain_of(kind, d), np.random.default_rng(d)
    law = mean_first(where, 0.7, 100)
    X = rng.choice([-1.0, 1.0], (3000, d)) * np.where(rng.random((3000, 1)) < 0.3, rng.random((3000, d)), 1.0)
    z = where.table(X, rng.choice([-1.0, 1.0, 0.3], 3000)) * law.rest.weights
    one, two = z[::2], z[1::2]
    change = one[:, :, None] * one[:, None, :] - two[:, :, None] * two[:, None, :]
    nuclear = np.abs(np.linalg.eigvalsh(change)).sum(axis=1)
    moved = np.abs(one[:, 0] - two[:, 0]) / law.rest.weights[0]
    costs = moved / float(law.scale_of_sum) + nuclear / (2 * float(law.rest.spread))
    assert costs.max() <= 0.7 * (1 + 1e-12)
    assert costs.max() > 0.6 * 0.7
    assert certify(law, where) == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "epsilon", "first"), [(1000, 1.0, 0.08), (40, 1.0, 0.97), (1000, 0.05, 0.0485), (1, 100.0, 80.0)]
)
def test_the_mean_gets_80_of_n_epsilon_but_not_all(n, epsilon, first):
    law = mean_first(BOX, epsilon, n)
    assert 2 / float(law.scale_of_sum) == pytest.approx(first)
    assert certify(law.rest, BOX) == pytest.approx(epsilon - first)


def test_the_ledger_shows_both_and_the_budget_pays_once():
    X, y = records(50)
    law, budget = mean_first(BOX, 0.5, 50), Budget(0.5)
    out = release(linear(X, y, BOX), law, 1, budget=budget)
    first, rest = out.ledger.spends
    assert (first.released, first.mechanism, first.norm) == ("sum of the response", "Laplace", "L1")
    assert (rest.mechanism, rest.norm) == ("Wishart difference", "weighted nuclear")
    assert first.epsilon == pytest.approx(0.485)
    for spend in out.ledger:
        assert spend.sensitivity / spend.scale == pytest.approx(spend.epsilon)
    assert first.sensitivity == 2.0
    assert first.noise == rest.noise != ""
    assert out.ledger.epsilon == pytest.approx(certify(law, BOX)) == pytest.approx(0.5)
    assert budget.ledger == out.ledger
    with pytest.raises(BudgetError):
        release(linear(X, y, BOX), law, 2, budget=budget)
    with pytest.raises(BudgetError):  # all or nothing: there is enough for the mean alone
        release(linear(X, y, BOX), law, 2, budget=Budget(0.49))


def test_repetition_costs_both_twice():
    f = linear(*records(4000), BOX)
    law = mean_first(BOX, 50.0, 4000)
    twice = retry(f, law, 1).ledger
    assert [spend.epsilon for spend in twice] == [2 * spend.epsilon for spend in price(f, law)]
    assert all("repeated until bounded" in spend.mechanism for spend in twice)


@every_loss
def test_all_but_the_sum_is_the_wishart_difference_to_the_bit(loss):
    law = mean_first(BOX, 0.5, 50, loss=loss)
    f = Quadratic(np.zeros((3, 3)), np.zeros(3), 0.0)
    one, two = perturb(f, law, 5, draws=(7,)), perturb(f, law.rest, 5, draws=(7,))
    assert (one.M == two.M).all()
    assert (one.v[:, 1:] == two.v[:, 1:]).all()
    assert (one.v[:, 0] != two.v[:, 0]).all()
    assert (one.c == two.c).all()
    assert (one.c == 0).all() == loss.labels
    for name in ("deviation", "level", "scale", "columns", "batch", "p"):
        assert np.all(getattr(law, name) == getattr(law.rest, name))


@every_loss
@pytest.mark.parametrize(("b", "s"), [(4.0, 2.0), (1.0, 2.0), (40.0, 1.0)])
def test_the_sum_has_the_variance_of_the_best_weighted_mean(loss, b, s):
    """1 / (1 / 2 b^2 + 1 / v), where v is that of an entry of the Wishart difference; five standard errors."""
    law = MeanFirst(WishartDifference([0.5, 0.8, 1.0], s, True, loss), b)
    noisy = perturb(Quadratic(np.zeros((2, 2)), np.zeros(2), 0.0), law, 3, draws=(DRAWS,)).v[:, 0]
    entry = 2 * 4 * s**2 / (0.5 * 0.8) ** 2
    variance = loss.cross**2 / (1 / (2 * b**2) + 1 / entry)
    allowed = 5 * (noisy**2).std() / math.sqrt(DRAWS)
    assert abs((noisy**2).mean() - variance) < allowed
    assert abs((noisy**2).mean() / 1.1 - variance) > allowed
    assert float(law.share) == pytest.approx(entry / (entry + 2 * b**2))


@pytest.mark.thorough
@every_loss
def test_the_constant_is_the_best_one_and_its_gradient_as_noisy_as_it_says(loss):
    """Without signal: every predictor is zero, so the gradient at the constant is nothing but noise."""
    n = 500
    law = mean_first(BOX, 0.5, n, loss=loss)
    sums = n * np.array([1.0, 0.0, 0.0])
    f = Quadratic(loss.square * np.outer(sums, sums) / n, loss.cross * 0.6 * sums, 0.0)
    best, variance = law.constant(perturb(f, law, 2, draws=(DRAWS,)))
    exact = -loss.cross * 0.6 / (2 * loss.square)
    assert best.mean() == pytest.approx(exact, rel=0.01)
    noisy = perturb(f, law, 2, draws=(DRAWS,))
    gradient = (noisy.v + 2 * exact * noisy.M[:, 0])[:, 1:] * law.columns[1:]
    squares = (gradient**2).mean(axis=1)
    expected = float(law.constant(f)[1])
    allowed = 5 * squares.std() / math.sqrt(DRAWS)
    assert abs(squares.mean() - expected) < allowed
    assert abs(squares.mean() / 1.1 - expected) > allowed
    assert variance.mean() == pytest.approx(expected, rel=0.02)


def test_the_constant_stays_where_responses_are():
    law = mean_first(BOX, 0.1, 2)
    for sign in (-1, 1):
        wild = Quadratic(np.diag([2.0, 1.0, 1.0]), [sign * 1e6, 0.0, 0.0], 0.0)
        assert law.constant(wild)[0] == -sign
    nobody = Quadratic(np.zeros((3, 3)), [5.0, 0.0, 0.0], 0.0)
    assert law.constant(nobody)[0] == 0.0
    assert np.isfinite(minimise(lift(nobody, law))).all()


def test_the_lift_by_hand():
    """One predictor with mean m: M is [[n, nm], [nm, q]], and the slope is that of the centred predictor, shrunk."""
    law = MeanFirst(WishartDifference([1.0, 1.0, 1.0], 1.0, True), 1e-3)
    n, m, q, t, r = 100.0, 0.5, 500.0, 0.3, 200.0
    noisy = Quadratic([[n, n * m], [n * m, q]], [-2 * n * t, -2 * r], 0.0)
    alone, u, f = q - n * m**2, 2 * (r - n * t * m), float(law.level)
    variance = 2 * 4 * (4 + 4 * t**2)
    slope = (1 - variance / u**2) * alone / (alone**2 + f**2) * u / 2
    assert minimise(lift(noisy, law)) == pytest.approx([t - m * slope, slope], rel=1e-9)
    weak = Quadratic(noisy.M, [-2 * n * t, -2 * (n * t * m + 1.0)], 0.0)
    assert minimise(lift(weak, law)) == pytest.approx([t, 0.0], abs=1e-12)
    steep = Quadratic([[n, 9 * n], [9 * n, q + 81 * n]], [-2 * n * t, -2 * (r + 9 * n * t)], 0.0)
    theta = minimise(lift(steep, law))  # a mean of nine is noise: means lie in [-1, 1]
    assert theta[0] == pytest.approx(t - theta[1])


def test_a_stack_is_its_members():
    epsilons = np.array([0.1, 1.0, 10.0])
    stack, X = mean_first(BOX, epsilons, 100), records(100, signal=0.5)
    out = perturb(linear(*X, BOX), stack, 4, draws=(5,))
    thetas = minimise(lift(out, stack))
    assert thetas.shape == (5, 3, 3)
    for k, epsilon in enumerate(epsilons):
        one = mean_first(BOX, epsilon, 100)
        assert float(one.scale_of_sum) == stack.scale_of_sum[k]
        np.testing.assert_allclose(minimise(lift(out[:, k], one)), thetas[:, k], rtol=1e-9, atol=1e-12)


def test_without_noise_it_is_least_squares():
    X, y = records(400, signal=0.5)
    exact = minimise(linear(X, y, BOX))
    law = mean_first(BOX, 1e9, 400)
    np.testing.assert_allclose(minimise(lift(release(linear(X, y, BOX), law, 1).objective, law)), exact, atol=1e-6)


@pytest.mark.parametrize(("intercept", "n"), [(False, 50), (True, None), (False, None)])
def test_without_a_public_number_or_a_constant_it_is_the_plain_difference(intercept, n):
    where = domain_of("box", 3, intercept)
    for relation in ("replace", "add_remove") if n is None else ("replace",):
        law, plain = mean_first(where, 0.5, n, neighbours=relation), difference(where, 0.5, neighbours=relation)
        assert type(law) is WishartDifference
        assert (law.weights == plain.weights).all()
        assert (law.spread, law.public_count) == (plain.spread, plain.public_count)


def test_where_the_number_is_a_secret_it_is_refused():
    with pytest.raises(InputError, match="n is given, and under add_remove it is a secret"):
        mean_first(BOX, 0.5, 50, neighbours="add_remove")
    law, f = mean_first(BOX, 0.5, 50), linear(*records(50), BOX)
    assert certify(law, BOX, "add_remove") == math.inf
    with pytest.raises(InputError, match="scale zero"):
        release(f, law, 1, neighbours="add_remove")
    with pytest.raises(InputError, match="rest has no public count"):
        MeanFirst(difference(BOX, 0.5, neighbours="add_remove"), 1.0)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_the_estimator_takes_it_where_n_is_public(relation):
    X, y = records(60, signal=0.5)
    model = dpreg.PrivateLinearRegression(BOX, 0.5, neighbours=relation, random_state=3).fit(X, y)
    law = mean_first(BOX, 0.5, 60 if relation == "replace" else None, neighbours=relation)
    assert [spend.mechanism for spend in model.ledger_] == ["Laplace"] * (relation == "replace") + [
        "Wishart difference"
    ]
    out = release(linear(X, y, BOX), law, 3, neighbours=relation).objective
    assert [model.intercept_, *model.coef_] == minimise(lift(out, law)).tolist()


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "d", "epsilon"), [*itertools.product((100, 400), (2, 10), (0.1, 1.0))])
def test_without_signal_it_is_as_good_as_the_private_mean_and_the_plain_difference_is_not(n, d, epsilon):
    """Median error on the population, over 5000 draws; the predictors are uniform."""
    where, (X, y) = domain_of("box", d), records(n, d)
    f, law, plain = linear(X, y, where), mean_first(where, epsilon, n), difference(where, epsilon)
    noise = np.random.default_rng(1).laplace(scale=2 / epsilon, size=5000)
    mean = np.sqrt(0.03 + (y.mean() + noise / n - 0.2).clip(-1.2, 0.8) ** 2)

    def error(law):
        theta = minimise(lift(perturb(f, law, 1, draws=(5000,)), law))
        return np.sqrt(0.03 + (theta[:, 0] - 0.2) ** 2 + (theta[:, 1:] ** 2).sum(axis=1) / 3)

    assert np.median(error(law)) < (1.1 if n * epsilon < 20 else 1.04) * np.median(mean)
    if n * epsilon <= 100:
        assert np.median(error(plain)) > 1.2 * np.median(mean)


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 5, 13])
def test_the_plain_difference_errs_as_often_as_the_bound_says(d):
    """The bound is for any estimate, so for the noisy sum itself."""
    law = difference(domain_of("box", d), 0.5)
    sums = perturb(Quadratic(np.zeros((d + 1, d + 1)), np.zeros(d + 1), 0.0), law, 1, draws=(20_000,)).v[:, 0] / -2
    for chance in (0.1, 0.25, 0.4):
        error = blind_spot(law, chance)
        assert error == pytest.approx(math.log(1 / chance - 1) * law.spread / (2 * law.weights[0] * law.weights[1]))
        assert (np.abs(sums) >= error).mean() > chance
        assert error > 0.5 * math.log(1 / chance) * 2 / 0.5 * (d > 1)


def test_two_data_sets_that_differ_in_a_sum_are_as_hard_to_tell_apart_as_the_bound_needs():
    """At chance 1 / (1 + e) the sums are two errors apart, and the weighted nuclear norm of that change costs one."""
    law = difference(BOX, 0.5)
    apart, w = 2 * blind_spot(law, 1 / (1 + math.e)), law.weights
    change = np.zeros((4, 4))
    change[0, 1] = change[1, 0] = apart
    nuclear = np.abs(np.linalg.eigvalsh(np.outer(w, w) * change)).sum()
    assert nuclear / (2 * float(law.spread)) == pytest.approx(1.0)


def test_a_multiple_is_of_both_noises():
    law = mean_first(BOX, 0.5, 50)
    assert float(law.times(2.0).scale_of_sum) == 2 * float(law.scale_of_sum)
    assert float(law.times(2.0).rest.spread) == 2 * float(law.rest.spread)


def test_what_does_not_fit_is_refused():
    law = mean_first(BOX, 0.5, 50)
    for scale, words in ((0.0, "not above zero"), ([1.0, 2.0], "match them")):
        with pytest.raises(InputError, match=words):
            MeanFirst(law.rest, scale)
    with pytest.raises(InputError, match="3 columns and the objective 2: match"):
        law.perturb(Quadratic(np.eye(2), np.ones(2), 0.0), (), np.random.default_rng(1))
    with pytest.raises(InputError, match="has no public count: give"):
        blind_spot(difference(BOX, 0.5, neighbours="add_remove"), 0.1)
    with pytest.raises(InputError, match="give a number below 1/2"):
        blind_spot(law.rest, 0.7)


@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_with_a_delta_no_pair_costs_more(kind, d):
    """The Laplace loss of the sum, and the distance in deviations of the moments, each within its share."""
    where, rng = domain_of(kind, d), np.random.default_rng(d)
    law = mean_first(where, 0.7, 200, delta=1e-6)
    first, rest = 2 / float(law.scale_of_sum), law.rest
    X = rng.choice([-1.0, 1.0], (3000, d)) * np.where(rng.random((3000, 1)) < 0.3, rng.random((3000, d)), 1.0)
    z = where.table(X, rng.choice([-1.0, 1.0, 0.3], 3000))
    change = z[::2, :, None] * z[::2, None, :] - z[1::2, :, None] * z[1::2, None, :]
    assert np.abs(change[:, 0, 1]).max() / float(law.scale_of_sum) <= first * (1 + 1e-12)
    deviations = float(rest.spread) * rest.deviations
    drawn = np.triu(deviations > 0)
    distance = np.sqrt(((change[:, drawn] / deviations[drawn]) ** 2).sum(axis=1)).max()
    assert gdp_delta(distance, 0.7 - first) <= 1e-6 * (1 + 1e-9)
    assert certify(law, where) == pytest.approx(0.7, rel=1e-12)
    assert first == pytest.approx(0.4)
    assert law.concentrated(where) == pytest.approx(rest.concentrated(where) + zcdp_from_pure(first))
    assert mean_first(where, 0.7, 200).concentrated(where) is None


def test_the_estimator_pays_epsilon_and_delta():
    X, y = records(200, signal=0.5)
    budget = Budget(1.0, delta=1e-6)
    model = dpreg.PrivateLinearRegression(BOX, 1.0, mechanism="gaussian", delta=1e-6, random_state=1)
    model.fit(X, y, budget=budget)
    first, rest = model.ledger_
    assert (first.mechanism, first.delta, rest.mechanism, rest.delta) == ("Laplace", 0.0, "Gaussian", 1e-6)
    assert (first.epsilon, model.ledger_.epsilon) == (pytest.approx(0.4), pytest.approx(1.0, rel=1e-12))
    assert "epsilon = 1, delta = 1e-06 (approximate differential privacy)" in str(model)
    assert budget.remaining_delta == 0
    law = mean_first(BOX, 1.0, 200, delta=1e-6)
    out = release(linear(X, y, BOX), law, 1)
    assert [model.intercept_, *model.coef_] == minimise(lift(out.objective, law)).tolist()
    with pytest.raises(BudgetError):
        model.set_params(random_state=2).fit(X, y, budget=Budget(1.0))
    secret = model.set_params(neighbours="add_remove", random_state=3).fit(X, y).release_.law
    assert type(secret) is Gaussian
    assert secret.spread == for_delta(BOX, 1.0, 1e-6, neighbours="add_remove").spread


def test_a_delta_and_its_mechanism_come_together():
    X, y = records(20)
    with pytest.raises(InputError, match="delta is 0, and no epsilon covers Gaussian noise without one: give"):
        dpreg.PrivateLinearRegression(BOX, mechanism="gaussian").fit(X, y)
    for pure in ("wishart", difference):
        with pytest.raises(InputError, match="only mechanism='gaussian' spends one"):
            dpreg.PrivateLinearRegression(BOX, mechanism=pure, delta=1e-6).fit(X, y)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_with_a_delta_few_records_are_predicted_about_as_well_as_by_their_private_mean(epsilon):
    where, n = domain_of("box", 10), 200
    X, y = records(n, 10)
    f, law = linear(X, y, where), mean_first(where, epsilon, n, delta=1e-6)
    noise = np.random.default_rng(1).laplace(scale=2 / epsilon, size=5000)
    mean = np.median(np.sqrt(0.03 + (y.mean() + noise / n - 0.2).clip(-1.2, 0.8) ** 2))

    def error(law):
        theta = minimise(lift(perturb(f, law, 1, draws=(5000,)), law))
        return np.median(np.sqrt(0.03 + (theta[:, 0] - 0.2) ** 2 + (theta[:, 1:] ** 2).sum(axis=1) / 3))

    assert error(law) < 1.05 * mean
    assert error(for_delta(where, epsilon, 1e-6)) > 1.2 * mean


@pytest.mark.thorough
def test_the_discrete_twin_has_the_variances_of_the_simulated_noise():
    """Sample variances over draws: within five standard errors, that of a normal variable's being the least of both."""
    pytest.importorskip("opendp", reason="opendp is an optional extra: pip install -e '.[publish]'")
    box, size = Box([-1.0], [1.0], (-1.0, 1.0), intercept=True), 1500
    f = linear([[0.5], [-0.25], [1.0]], [0.5, 0.25, -1.0], box, bits=12)
    law = mean_first(box, 1.0, 200, delta=1e-5)
    draw = law.discrete(f)
    drawn = [draw() for _ in range(size)]
    twin = perturb(f, law, 1, draws=(size,))
    for name, place, kurtosis in (("v", (0,), 6), ("v", (1,), 3), ("M", (0, 1), 3), ("M", (1, 1), 3)):
        found = np.array([getattr(one, name)[place] for one in drawn])
        simulated = getattr(twin, name)[(..., *place)]
        error = math.sqrt((kurtosis - 1) / size)
        assert found.var() / simulated.var() == pytest.approx(1, abs=5 * math.sqrt(2) * error), (name, place)
        assert abs(found.mean() - getattr(f, name)[place]) < 5 * found.std() / math.sqrt(size), (name, place)
    assert {float(one.M[0, 0]) for one in drawn} == {3.0}  # the public number of records
    both = np.array([one.v[0] for one in drawn])
    assert both.var() < 0.9 * np.array([one.v[0] for one in perturb_rest(f, law, size)]).var()


def perturb_rest(f, law, size):
    """Draws of the moments' noise alone, without the first look at the sum."""
    noisy = perturb(f, law.rest, 2, draws=(size,))
    return [Quadratic(noisy.M[k], noisy.v[k], noisy.c[k]) for k in range(size)]


def test_without_a_twin_of_its_moments_there_is_none():
    box = Box([-1.0], [1.0], (-1.0, 1.0), intercept=True)
    f = linear([[0.5], [-0.25]], [0.5, 0.25], box, bits=12)
    with pytest.raises(InputError, match="no sampler of Wishart"):
        mean_first(box, 1.0, 200).discrete(f)


def test_a_stack_has_no_discrete_twin():
    box = Box([-1.0], [1.0], (-1.0, 1.0), intercept=True)
    f = linear([[0.5], [-0.25]], [0.5, 0.25], box, bits=12)
    law = mean_first(box, [1.0, 2.0], 200, delta=1e-6)
    for one in (law, law.rest):
        with pytest.raises(InputError, match=r"scales have shape \(2, 3, 3\)"):
            one.discrete(f)
