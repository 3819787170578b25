"""Standard errors and intervals of private least squares: against theory without noise, and by how often they hold."""

import math
from functools import partial

import numpy as np
import pytest

from dpreg.checks import InputError
from dpreg.estimators.private import PrivateLinearRegression, PrivateLogisticRegression
from dpreg.mechanisms.gaussian import for_rho
from dpreg.mechanisms.mean_first import mean_first
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box, Model
from dpreg.pipeline.laws import Scales, functional
from dpreg.pipeline.objective import Quadratic, from_gram, linear
from dpreg.pipeline.release import Release, perturb, release
from dpreg.pipeline.repair import lift
from dpreg.pipeline.solve import Penalty, minimise
from dpreg.pipeline.uncertainty import Uncertainty, strength, uncertainty

RNG = np.random.default_rng(0)
N = 3000
FIRST = RNG.uniform(0, 10, N)
X = np.c_[FIRST, np.clip(0.7 * (FIRST - 5) + RNG.normal(0, 1.5, N), -5, 5)]
TRUE = Model(3.0, np.array([0.5, -1.0]))
Y = TRUE.predict(X) + RNG.normal(0, 2, N)
BOX = Box([0, -5], [10, 5], (-20.0, 30.0), intercept=True)
PLAIN = Box([0, -5], [10, 5], (-20.0, 30.0))
F = linear(X, Y, BOX)


def sent(f, epsilon, seed=1, neighbours="replace"):
    return release(f, difference(f.domain, epsilon, neighbours=neighbours), seed, neighbours=neighbours)


def classical(rows, y):
    """Least squares by the textbook: coefficients, their standard errors, and the residual standard deviation."""
    theta, rss, *_ = np.linalg.lstsq(rows, y, rcond=None)
    variance = rss[0] / (len(y) - rows.shape[1])
    return theta, np.sqrt(variance * np.diag(np.linalg.inv(rows.T @ rows))), math.sqrt(variance)


@pytest.mark.parametrize("where", [BOX, Ball([5.0, 0.0], 8.0, (-20.0, 30.0), intercept=True)])
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_without_noise_it_is_classical(where, neighbours):
    """The residual as it is; a standard error from 40,000 normal draws is off by .35 per cent, or five times that."""
    draws = 40_000
    sure = uncertainty(sent(linear(X, Y, where), 1e12, 1, neighbours), repeats=draws, random_state=2)
    theta, errors, residual = classical(np.c_[np.ones(N), X], Y)
    np.testing.assert_allclose(np.r_[sure.model.intercept, sure.model.slopes], theta, rtol=1e-5)
    assert sure.residual == pytest.approx(residual, rel=1e-5)
    np.testing.assert_allclose(sure.standard_errors / errors, 1, atol=5 / math.sqrt(2 * draws))
    # The density at the tail makes the error of a quantile sqrt(.05 * .95 / draws) / .103.
    halves = np.diff(sure.intervals(), axis=1)[:, 0] / 2 / errors
    np.testing.assert_allclose(halves, 1.6449, atol=5 * math.sqrt(0.0475 / draws) / 0.103)
    assert np.all(sure.intervals(0.5)[:, 1] < sure.intervals(0.9)[:, 1])


def test_without_an_intercept_n_is_told():
    where = sent(linear(X, Y, PLAIN), 1e12)
    sure = uncertainty(where, n=N, repeats=40_000, random_state=2)
    Z, t = PLAIN.scale(X, Y)
    theta, errors, residual = classical(Z, t)
    assert sure.residual == pytest.approx(residual * PLAIN.half_width, rel=1e-5)
    slopes = PLAIN.half_width * errors / PLAIN.unit
    np.testing.assert_allclose(sure.standard_errors[1:] / slopes, 1, atol=5 / math.sqrt(80_000))
    np.testing.assert_allclose(sure.model.slopes, PLAIN.unscale(theta).slopes, rtol=1e-5)


def test_the_error_of_the_noise_is_that_of_the_law():
    """The covariance of the Wishart difference in closed form: accepted, and rejected with noise five per cent off.

    The kurtosis of a draw is at most nine, so a standard error is off by at most sqrt(2 / draws): .45 per cent.
    """
    draws, where = 100_000, sent(F, 0.5, neighbours="add_remove")
    sure, law, p = uncertainty(where, repeats=draws, random_state=3), where.law, 3
    lifted = lift(where.objective, law)
    theta, inverse, w = minimise(lifted), np.linalg.inv(lifted.symmetric), law.weights
    r, spread = np.r_[-1.0, theta] / w, float(law.spread)

    def errors(spread):
        C = 2 * (p + 2) * spread**2 * ((r @ r) * np.eye(p) + np.outer(r[1:], r[1:])) / np.outer(w[1:], w[1:])
        sampled = (sure.residual / BOX.half_width) ** 2 * lifted.symmetric
        slopes = np.sqrt(np.diag(inverse @ (C + sampled) @ inverse))[1:]
        return BOX.half_width * slopes / BOX.unit

    off = [np.abs(sure.standard_errors[1:] / errors(spread * k) - 1).max() for k in (0.95, 1.0, 1.05)]
    assert off[1] < 5 * math.sqrt(2 / draws) < min(off[0], off[2])


def covered(n, d, epsilon, repeats, *, law=difference, neighbours="replace", slopes=None):
    """How often 90 per cent intervals hold the truth, for each coefficient and three predictions, and how strong."""
    rng, box = np.random.default_rng(0), Box([-1] * d, [1] * d, (-1.5, 1.5), intercept=True)
    truth = Model(0.1, 0.5 * np.cos(3.0 * np.arange(d)) / math.sqrt(d) if slopes is None else np.array(slopes))
    noise, hits, strength = law(box, epsilon, neighbours=neighbours), [], []
    at = np.random.default_rng(9).uniform(-1, 1, (3, d))
    for _ in range(repeats):
        rows = rng.uniform(-1, 1, (n, d))
        out = release(linear(rows, truth.predict(rows) + rng.normal(0, 0.2, n), box), noise, rng, neighbours=neighbours)
        sure = uncertainty(out, repeats=400, random_state=rng)
        ends, right = np.r_[sure.intervals(), sure.predictions(at)], np.r_[truth.intercept, truth.slopes]
        right = np.r_[right, truth.predict(at)]
        hits.append((ends[:, 0] <= right) & (right <= ends[:, 1]))
        strength.append(sure.strength)
    return np.mean(hits, axis=0), np.median(strength)


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "epsilon"), [(500, 1.0), (2000, 100.0)])
def test_coverage(n, epsilon):
    """Four standard errors of 300 repeats are .07: of ten coefficients and predictions one in 1500 runs is beyond."""
    shares, strength = covered(n, 1, epsilon, 300)
    assert strength > 2
    assert np.abs(shares - 0.9).max() < 4 * math.sqrt(0.09 / 300)


CONSTANT = partial(functional, constant=True)
CASES = {
    "privacy noise rules": (1000, 1, 0.5, difference, "replace"),
    "both count": (10_000, 3, 3.0, difference, "replace"),
    "sampling rules": (1000, 3, 100.0, difference, "replace"),
    "the mean first": (5000, 3, 1.0, partial(mean_first, n=5000), "replace"),
    "a secret count": (2000, 2, 3.0, difference, "add_remove"),
    "Laplace": (10_000, 2, 3.0, CONSTANT, "replace"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_coverage_of_many(case):
    """Within two points where the moments are four times the noise: 2500 repeats have a standard error of .6 points.

    The largest of at most seven is beyond three of them in one of fifty sound cases, and the seeds are fixed.
    """
    n, d, epsilon, law, neighbours = CASES[case]
    shares, strength = covered(n, d, epsilon, 2500, law=law, neighbours=neighbours)
    assert strength > 4
    assert np.abs(shares - 0.9).max() < 0.02, shares


@pytest.mark.thorough
def test_where_the_noise_is_larger_than_the_moments_single_coefficients_are_missed():
    """And the strength says so: the lift has shrunk what is not zero."""
    shares, strength = covered(1000, 4, 0.1, 200, slopes=[0.9, 0.0, 0.0, 0.0])
    assert strength < 0
    assert shares[1] < 0.9 - 4 * math.sqrt(0.09 / 200) < 0.9 < shares[2:5].min()


def test_a_noisy_count_below_the_coefficients_is_no_count():
    """It leaves one degree of freedom: the residual is then large, and not zero."""
    f, residuals = linear(X[:5], Y[:5], BOX), {True: [], False: []}
    for seed in range(40):
        out = sent(f, 0.1, seed, "add_remove")
        sure = uncertainty(out, repeats=100, random_state=1)
        assert np.isfinite(sure.errors).all()
        assert 0 <= sure.residual <= BOX.half_width  # as far as a response can be from the middle
        if out.objective(minimise(lift(out.objective, out.law))) > 0:
            residuals[float(out.objective.M[0, 0]) < 3].append(sure.residual)
    assert len(residuals[True]) > 5 < len(residuals[False])
    assert min(residuals[True]) > 0


@pytest.mark.parametrize(
    ("make", "n", "said"),
    [
        (lambda: release(F, functional(BOX, 1.0), 1), None, "withholds the sum of squared responses"),
        (lambda: sent(F, 1.0), N, "n is 3000, and the release holds the number"),
        (lambda: sent(linear(X, Y, PLAIN), 1.0), None, "does not hold the number of records: give n"),
        (lambda: sent(linear(X, Y, PLAIN), 1.0, 1, "add_remove"), N, "under add_remove it is a secret"),
        (lambda: sent(linear(X[:3], Y[:3], BOX), 1.0), None, "n is 3, and there are 3 coefficients"),
        (lambda: sent(linear(X[:2], Y[:2], PLAIN), 1.0), 2, "n is 2, and there are 2 coefficients"),
    ],
)
def test_what_is_not_known_is_refused(make, n, said):
    with pytest.raises(InputError, match=said):
        uncertainty(make(), n=n)


def test_labels_have_no_such_intervals():
    label = (Y.mean() < Y).astype(float)
    box, settings = Box([0, -5], [10, 5], (0, 1), intercept=True), {"mechanism": "wishart", "random_state": 1}
    model = PrivateLogisticRegression(box, 1.0, **settings).fit(X, label)
    with pytest.raises(InputError, match="one of labels"):
        uncertainty(model.release_)


@pytest.mark.thorough
def test_it_is_free_and_repeats():
    """Nothing is charged, the release stays as it is, and the same seed gives the same draws."""
    with Budget(1.0) as budget:
        model = PrivateLinearRegression(BOX, 1.0, random_state=1).fit(X, Y)
        first, again = (uncertainty(model.release_, random_state=1) for _ in range(2))
    assert budget.ledger.epsilon == pytest.approx(1.0)
    assert (first.errors == again.errors).all()
    assert first.errors.shape == (4000, 3)
    np.testing.assert_allclose(first.model.slopes, model.coef_, rtol=1e-12)


def test_a_penalty_is_left_out():
    model = PrivateLinearRegression(BOX, 1.0, penalty=Penalty(1e5), random_state=1).fit(X, Y)
    plain = PrivateLinearRegression(BOX, 1.0, random_state=1).fit(X, Y)
    assert np.abs(model.coef_).max() < np.abs(plain.coef_).max() / 10
    np.testing.assert_allclose(uncertainty(model.release_).model.slopes, plain.coef_, rtol=1e-12)


def test_a_law_of_another_kind():
    """Gaussian noise, priced in rho: a law like any other."""
    sure = uncertainty(release(F, for_rho(BOX, 0.5), 1), random_state=1)
    low, high = sure.intervals(0.999).T
    right = np.r_[TRUE.intercept, TRUE.slopes]
    assert ((low < right) & (right < high)).all()


def test_intervals_of_predictions_are_those_of_their_coefficients():
    sure = uncertainty(sent(F, 1.0), random_state=1)
    np.testing.assert_allclose(sure.predictions([[0.0, 0.0]])[0], sure.intervals()[0])
    far = sure.predictions([[1e9, 0.0]])[0] / 1e9  # there the first slope is all that counts
    np.testing.assert_allclose(far, sure.intervals()[1], atol=1e-6)
    assert sure.predictions(X[:7]).shape == (7, 2)


def test_lopsided_errors_change_sides():
    """An estimate that is often too high by three says that the truth is below it."""
    errors = np.array([[0.0, 3.0]] * 90 + [[0.0, -1.0]] * 10)
    low, high = Uncertainty(Model(0.0, np.array([10.0])), errors, 1.0, 9.0).intervals(0.9)[1]
    assert (low, high) == (7.0, 11.0)


def test_strength_is_what_the_lift_compares():
    """Below one it lifts a direction by more than its own eigenvalue."""
    law = difference(BOX, 1.0)
    w, level = law.columns, float(law.level)
    M = np.diag([7.0, 2.0, 5.0]) * level / np.outer(w, w)
    assert strength(Quadratic(M, np.zeros(3), np.array(0.0)), law) == pytest.approx(2.0)
    out = sent(F, 1.0)
    assert uncertainty(out, random_state=1).strength == strength(out.objective, law)
    for bad, said in ((law.times([1.0, 2.0]), "or one is a stack"), (difference(PLAIN, 1.0), "the law 2")):
        with pytest.raises(InputError, match=said):
            strength(out.objective, bad)
    silent = Scales(np.zeros((3, 3)), np.ones(3))
    with pytest.raises(InputError, match="no noise on M"):
        strength(out.objective, silent)


def test_names_and_units_follow_the_bounds():
    lower, upper = {"age": 0, "hours": -5}, {"age": 10, "hours": 5}
    named = linear(X, Y, Box(lower, upper, (-20.0, 30.0), intercept=True))
    table = uncertainty(sent(named, 1.0), random_state=1).to_frame(0.8)
    assert table.index.tolist() == ["intercept", "age", "hours"]
    assert table.columns.tolist() == ["estimate", "standard error", "low", "high"]
    assert ((table["low"] < table["estimate"]) & (table["estimate"] < table["high"])).all()
    other = uncertainty(sent(F, 1.0), random_state=1).to_frame(0.8)
    assert other.index.tolist() == ["intercept", "0", "1"]
    thousand = linear(X * 1000, Y, Box([0, -5e3], [1e4, 5e3], (-20.0, 30.0), intercept=True))
    scaled = uncertainty(sent(thousand, 1.0), random_state=1).to_frame(0.8)
    np.testing.assert_allclose(scaled.iloc[1:] * 1000, other.iloc[1:], rtol=1e-9)


def test_a_residual_that_noise_made_negative_is_zero():
    exact = from_gram(np.array([[1.0, 1.0], [1.0, 1.0]]) * 50, Box([-1], [1], (-1, 1)))
    seen = set()
    for seed in range(10):
        noisy = perturb(exact, difference(exact.domain, 50.0), seed)
        c = Quadratic(noisy.M, noisy.v, noisy.c - 60)
        out = sent(exact, 50.0, seed)
        seen.add(uncertainty(Release(c, out.law, out.domain, out.ledger), n=50, random_state=1).residual)
    assert seen == {0.0}


def test_errors_have_a_column_for_each_coefficient():
    for errors in (np.zeros((4, 3)), np.zeros(2), np.zeros((0, 2))):
        with pytest.raises(InputError, match="give draws in rows, and 2 columns"):
            Uncertainty(TRUE.__class__(0.0, np.array([1.0])), errors, 1.0, 1.0)
