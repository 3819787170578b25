"""The functional mechanism as printed and as coded: the claims first, then dpreg/mechanisms/fm_recipes.py."""

import itertools
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpreg.audit import search
from dpreg.mechanisms import fm_recipes
from dpreg.mechanisms.fm_recipes import CODE, PAPER
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import certify, functional, unit_scales
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear, logistic, merge
from dpreg.pipeline.release import perturb, release
from dpreg.pipeline.solve import minimise
from lib.data import census
from lib.pages import claims
from tests.ledger import tolerance, value

D = 3
LOW, HIGH = np.array([0.0, -2.0, 10.0]), np.array([1.0, 2.0, 30.0])
RECIPES = {"paper": PAPER, "code": CODE}
LOSSES = {"linear": (SQUARED, (-1.0, 1.0)), "logistic": (TAYLOR, (0.0, 1.0))}
both_recipes = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
both_losses = pytest.mark.parametrize("loss", LOSSES)


def records(loss, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = LOW + (HIGH - LOW) * rng.random((n, D))
    y = (X[:, 0] + rng.normal(size=n) * 0.3).clip(-1, 1)
    return X, (y > 0.5).astype(float) if loss == "logistic" else y


def objective(recipe, loss, X=None, y=None):
    if X is None:
        X, y = records(loss)
    domain = recipe.domain(LOW, HIGH, LOSSES[loss][1])
    return (logistic if loss == "logistic" else linear)(X, y, domain)


def agrees(claim, **own):
    assert claims.load()[claim].differences(own) == []


# --- claims that need data: both recipes again, in plain numpy


def repaired(M, v, printed, epsilon, delta, rng):
    """Noise, ridge, trim and solution, written down from the description and not from lib."""
    p, b = len(v), delta / epsilon
    E = rng.laplace(scale=b, size=(p, p))
    E = np.triu(E) + np.triu(E, 1).T if printed else (E + E.T) / 2
    lifted = M + E + (4 if printed else 5) * math.sqrt(2) * b * np.eye(p)
    values, Q = np.linalg.eigh(lifted)
    keep = values > (0 if printed else 1e-8)
    return -0.5 * Q[:, keep] @ (Q[:, keep].T @ (v + rng.laplace(scale=b, size=p)) / values[keep])


@pytest.fixture(scope="module")
def runs():
    """Median errors at epsilon 0.8 over draws of the noise, on another split than the chapter's."""
    data = census.census("US", 370_000)
    rng = np.random.default_rng(41)
    test = rng.random(data.n) < 0.2
    low, high = np.array([data.bounds[name] for name in data.names]).T
    unit = (data.X - low) / (high - low)
    d = unit.shape[1]
    t, label = 2 * data.y / 100_000 - 1, np.where(data.y > 50_000, 1.0, -1.0)
    tables = {"paper": unit / math.sqrt(d), "code": np.column_stack([2 * unit - 1, np.ones(data.n)])}
    theta = np.linalg.lstsq(tables["code"][~test], t[~test])[0]
    least = np.mean((t[test] - tables["code"][test] @ theta) ** 2)
    out = {"no": np.mean(label[test] > 0)}
    for name, Z in tables.items():
        p, printed = Z.shape[1], name == "paper"
        train, held, above = Z[~test], Z[test], label[test] > 0
        M, v, G, g = train.T @ train, -2 * train.T @ t[~test], held.T @ held, held.T @ t[test]
        half, square = -train.T @ label[~test] / 2, t[test] @ t[test]
        ratios, wrong = [], []
        for _ in range(120):
            delta = 2 * (p + 1) ** 2 if printed else 2 * p * p + 4 * p
            w = repaired(M, v, printed, 0.8, delta, rng)
            ratios.append(math.sqrt((w @ G @ w - 2 * w @ g + square) / test.sum() / least))
        for _ in range(240):
            w = repaired(M / 8, half, printed, 0.8, p * p / 4 + 3 * p, rng)
            wrong.append(np.mean((held @ w > 0) != above))
        out[name] = np.median(ratios), np.median(wrong)
    return out


@pytest.mark.thorough
def test_the_paper_at_its_word(runs):
    assert abs(runs["paper"][0] - value("FM-CODE-TOTAL", "paper")) < tolerance("FM-CODE-TOTAL", "paper")
    assert runs["paper"][0] > 1.2


@pytest.mark.thorough
def test_the_code_is_almost_free(runs):
    assert abs(runs["code"][0] - value("FM-CODE-TOTAL", "code")) < tolerance("FM-CODE-TOTAL", "code")
    assert 1 < runs["code"][0] < 1.01


@pytest.mark.thorough
def test_labels_of_paper_and_code(runs):
    """240 draws here: the paper's median has a standard error of about 0.0015."""
    claim = "FM-CODE-TOTAL"
    assert runs["paper"][1] > runs["no"] > runs["code"][1]
    assert abs(runs["paper"][1] - value(claim, "labels_paper")) < tolerance(claim, "labels_paper")
    assert abs(runs["code"][1] - value(claim, "labels_code")) < tolerance(claim, "labels_code")
    assert abs(runs["no"] - value(claim, "always_no")) < tolerance(claim, "always_no")


# --- claims that need none


def test_the_corner_shrinks_variances():
    rng = np.random.default_rng(3)
    X = rng.random((500, 13))
    box, corner = 2 * X - 1, X / math.sqrt(13)
    ratio = np.cov(box.T) / np.cov(corner.T)
    assert ratio == pytest.approx(np.full((13, 13), 4 * 13))
    # the corner's worst case with copied noise, (1 + sqrt d)^4 / (2 (d + 1)); the box's, d (d + 3)^2 / (2 (d + 1))
    agrees(
        "FM-CODE-BOX",
        shrink=4 * 13,
        spent_paper=(1 + math.sqrt(13)) ** 4 / 28 / 392,
        spent_box=13 * 16**2 / 28 / 392,
    )


def test_the_constant_is_shrunk():
    delta = 2 * 14**2 + 4 * 14
    ridge = 5 * math.sqrt(2) * delta / 0.1
    # minimise n (mean - w)^2 + ridge w^2 over w
    agrees("FM-CODE-INTERCEPT", ridge=ridge / 296_000, share=296_000 / (296_000 + ridge))


def largest_change(d, labels):
    """Largest change over pairs u, w with one value per column, on a fine grid of the exact absolute changes."""
    best = 0.0
    for one in np.linspace(-1, 1, 201):
        a, b = np.ones(d), np.full(d, one)
        for t, s in ((1, -1), (1, 1)):
            z, y = np.r_[1, a], np.r_[1, b]
            M, v = np.abs(np.outer(z, z) - np.outer(y, y)).sum(), np.abs(t * z - s * y).sum()
            best = max(best, M / 8 + v / 2 if labels else M + 2 * v)
    return best


def test_what_the_code_costs():
    agrees("FM-CODE-DELTA", code=2 * 14**2 + 4 * 14, tight=15**2)
    assert largest_change(13, labels=False) == pytest.approx(15**2, rel=1e-9)


def test_what_the_code_costs_for_labels():
    agrees("FM-CODE-LOGIT", code=14**2 / 4 + 3 * 14, tight=16**2 / 8)
    assert largest_change(13, labels=True) <= 32
    assert largest_change(13, labels=True) == pytest.approx(32, rel=1e-3)  # the best value is off the grid


def test_the_guarantee_of_the_code():
    agrees("FM-CODE-PRIV", linear=225 / 448, logistic=32 / 91)


def test_averaging_costs_and_gains_nothing():
    """The law of half the sum of two Laplace variables, from its characteristic function and by simulation."""
    rng = np.random.default_rng(8)
    one, other = rng.laplace(size=(2, 400_000))
    spread = ((one + other) / 2).std() / one.std()
    assert spread == pytest.approx(value("FM-CODE-NOISE", "spread"), rel=0.01)
    # 1 / (1 + u^2)^2 has the density (1 + |s|) exp(-|s|) / 4
    s = np.linspace(-40, 40, 40_001)
    density = (1 + np.abs(s)) * np.exp(-np.abs(s)) / 4
    for u in (0.3, 1.0, 2.0):
        assert np.trapezoid(np.cos(u * s) * density, s) == pytest.approx(1 / (1 + u * u) ** 2, abs=1e-6)
    loss = np.abs(np.diff(np.log(density))) / (s[1] - s[0])
    assert loss.max() < 1
    assert loss.max() > 0.97  # it approaches one like s / (1 + s)
    agrees("FM-CODE-NOISE", spread=1 / math.sqrt(2), price=1 - 5e-7)


@pytest.mark.thorough
def test_five_deviations_fail_less():
    rng = np.random.default_rng(10)
    E = rng.laplace(size=(20_000, 14, 14))
    lowest = np.linalg.eigvalsh((E + np.swapaxes(E, 1, 2)) / 2)[:, 0]
    for name, k in {"four": 4, "five": 5}.items():
        share = (lowest < -k * math.sqrt(2)).mean()
        expected = value("FM-CODE-RIDGE", name)
        assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / 20_000) + 0.002
    assert tolerance("FM-CODE-RIDGE", "five") >= 4 * math.sqrt(0.315 * 0.685 / 20_000) - 1e-4


def test_the_two_floors_differ_almost_never():
    scale = (2 * 14**2 + 4 * 14) / 3.2
    assert value("FM-CODE-TRIM", "chance") == pytest.approx(14**2 * 1e-8 / (2 * scale), rel=1e-6)
    # floors that can be hit, and objectives with eigenvalues nearby: the chance of an eigenvalue in between is below it
    for recipe, floor in itertools.product(RECIPES.values(), (0.05, 0.2)):
        unit = unit_scales(recipe.convention, 3)
        noisy = perturb(Quadratic(np.diag([-1.0, 0.0, 2.0]), np.zeros(3), np.array(0.0)), unit, 6, draws=(20_000,))
        lowest = np.linalg.eigvalsh(noisy.symmetric)
        chance = ((lowest > 0) & (lowest <= floor)).any(axis=1).mean()
        assert 0 < chance <= 3**2 * floor / 2
    # one column: the exact chance is below the bound whatever the data
    for a in (-3.0, 0.0, 200.0):
        law = stats.laplace(a, scale)
        assert law.cdf(1e-8) - law.cdf(0) <= 1e-8 / (2 * scale) * (1 + 1e-6)


def test_the_constant_coefficient_plays_no_part():
    agrees("FM-CODE-CONST", room=2 * 15**2 - (2 * 14**2 + 4 * 14), moved=0)
    f = objective(CODE, "linear")
    shifted = Quadratic(f.M, f.v, f.c + 100.0, f.domain)
    np.testing.assert_array_equal(CODE.fit(f, 1.0, 3), CODE.fit(shifted, 1.0, 3))
    for recipe in RECIPES.values():
        assert math.isinf(recipe.scales(recipe.domain(LOW, HIGH, (-1, 1)), 1.0).c)


@both_recipes
def test_nothing_left_means_zero(recipe):
    p = D + recipe.intercept
    hollow = Quadratic(-1e9 * np.eye(p), np.ones(p), np.array(0.0))
    scales = recipe.scales(recipe.domain(LOW, HIGH, (-1, 1)), 1.0)
    np.testing.assert_array_equal(minimise(recipe.repaired(hollow, scales)), np.zeros(p))
    agrees("FM-CODE-ZERO", paper=int(0.5 > 0.5), code=int(0.5 >= 0.5))  # the probability at zero is one half


# --- cases by hand


def test_sensitivities_by_hand():
    # one predictor: p is 1 in the paper and 2 in the code
    assert PAPER.sensitivity(1) == 2 * (1 + 1) ** 2 == 8
    assert CODE.sensitivity(2) == 2 * 4 + 4 * 2 == 16
    assert PAPER.sensitivity(1, TAYLOR) == 0.25 + 3
    assert CODE.sensitivity(2, TAYLOR) == 1 + 6


def test_domains_by_hand():
    X, y = [[0.5, 1.0, 15.0], [1.0, -2.0, 30.0]], [0.0, 1.0]
    Z, _ = PAPER.domain(LOW, HIGH, (-1, 1)).scale(X, y)
    np.testing.assert_allclose(Z, np.array([[0.5, 0.75, 0.25], [1, 0, 1]]) / math.sqrt(3))
    Z, _ = CODE.domain(LOW, HIGH, (-1, 1)).scale(X, y)
    np.testing.assert_allclose(Z, [[1, 0, 0.5, -0.5], [1, 1, -1, 1]])


def test_objectives_of_the_code_by_hand():
    """Least squares: X'X and -2 X'y. Labels: X'X / 8 and X' (1/2 - y)."""
    X, y = records("logistic")
    Z = np.column_stack([np.ones(len(X)), 2 * (X - LOW) / (HIGH - LOW) - 1])
    f = objective(CODE, "logistic", X, y)
    np.testing.assert_allclose(f.M, Z.T @ Z / 8)
    np.testing.assert_allclose(f.v, Z.T @ (0.5 - y))
    X, t = records("linear")
    f = objective(CODE, "linear", X, t)
    np.testing.assert_allclose(f.M, Z.T @ Z)
    np.testing.assert_allclose(f.v, -2 * Z.T @ t)


def test_repairs_by_hand():
    """Entries 1 and 3 off the diagonal average to 2; with ridge r the eigenvalues are r + 3 and r - 1."""
    M, v = np.array([[1.0, 1.0], [3.0, 1.0]]), np.array([-6.0, 0.0])
    one = Quadratic(M, v, np.array(0.0))
    scales = CODE.scales(CODE.domain([0.0], [1.0], (-1, 1)), 1e3)  # scale 16 / 1000
    lift = 5 * math.sqrt(2) * 0.016
    np.testing.assert_allclose(np.linalg.eigvalsh(CODE.repaired(one, scales).M), [0, lift + 3], atol=1e-12)
    weight = 6 / math.sqrt(2) / 2 / (lift + 3)
    np.testing.assert_allclose(minimise(CODE.repaired(one, scales)), weight / math.sqrt(2) * np.ones(2))


def test_floors_by_hand():
    """With both eigenvalues lifted to less than 1e-8 the code drops them and the paper keeps them."""
    scales = CODE.scales(CODE.domain([0.0], [1.0], (-1, 1)), 1.0)
    lift = 5 * math.sqrt(2) * 16.0
    f = Quadratic((-lift + 1.5e-9) * np.eye(2), np.ones(2), np.array(0.0))
    assert (CODE.repaired(f, scales).M == 0).all()
    assert np.linalg.eigvalsh(replace(CODE, floor=0.0).repaired(f, scales).M)[0] > 0


def test_the_recipes_differ_as_described():
    assert [f.name for f in fields(PAPER)] == list(fm_recipes.CHANGES.values())
    assert all(getattr(PAPER, name) != getattr(CODE, name) for name in fm_recipes.CHANGES.values())
    steps = list(fm_recipes.path().values())
    assert steps[0] == PAPER
    assert steps[-1] == CODE
    for before, after in itertools.pairwise(steps):
        assert sum(getattr(before, f.name) != getattr(after, f.name) for f in fields(before)) == 1
    for change in fm_recipes.CHANGES:
        assert fm_recipes.changed(fm_recipes.changed(PAPER, change), change, to=PAPER) == PAPER


@both_losses
def test_the_paper_is_the_functional_mechanism_as_printed(loss):
    kind, response = LOSSES[loss]
    domain = PAPER.domain(LOW, HIGH, response)
    own = PAPER.scales(domain, 0.7, kind)
    known = functional(domain, 0.7, sensitivity="printed", convention="copied", loss=kind)
    np.testing.assert_allclose(own.M, known.M)
    np.testing.assert_allclose(own.v, known.v)
    assert own.ordered == known.ordered


# --- privacy


@pytest.mark.parametrize("d", [1, 2, 5, 13])
def test_cost_of_the_code(d):
    """The theorem's closed forms, and no pair of records beats them, though some reach them."""
    for loss, (kind, response) in LOSSES.items():
        domain = CODE.domain(np.zeros(d), np.ones(d), response)
        scales = CODE.scales(domain, 1.0, kind)
        p = d + 1
        closed = (p + 1) ** 2 / (2 * p * p + 4 * p) if loss == "linear" else (p + 2) ** 2 / 8 / (p * p / 4 + 3 * p)
        assert certify(scales, domain, loss=kind) == pytest.approx(closed, rel=1e-9)
        found = search.worst_pair(scales, domain, loss=kind, restarts=60, steps=200).loss
        assert closed * 0.98 <= found <= closed * (1 + 1e-9)


@both_recipes
@both_losses
def test_search_never_beats_the_certificate(recipe, loss):
    kind, response = LOSSES[loss]
    domain = recipe.domain(LOW, HIGH, response)
    scales = recipe.scales(domain, 0.5, kind)
    certified = certify(scales, domain, loss=kind)
    assert certified <= 0.5
    assert search.worst_pair(scales, domain, loss=kind, restarts=60, steps=200).loss <= certified * (1 + 1e-9)


@both_losses
def test_the_ledger_has_what_is_spent(loss):
    f = objective(CODE, loss)
    closed = 25 / 48 if loss == "linear" else 36 / 8 / 16  # p = 4
    budget = Budget(closed)
    out = release(f, CODE.scales(f.domain, 1.0, f.loss), 0, budget=budget)
    assert out.ledger.epsilon == pytest.approx(closed, abs=1e-12)


# --- the law of the noise


LAPLACE = (lambda x: np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2), 1.0, 1.0)


def averaged_cdf(x):
    """Half the sum of two Laplace variables of scale one: the integral of its density."""
    tail = np.exp(-2 * np.abs(x)) * (1 + np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


AVERAGED = (averaged_cdf, 0.75, 0.4375)  # its law, and the mean and the variance of its absolute value


def has_law(sample, law, scale):
    """Accept a law and a scale unless the shape or the mean absolute value speaks against it at one in 10^6."""
    cdf, mean, variance = law
    z = (np.abs(sample).mean() / scale - mean) / math.sqrt(variance / len(sample))
    return bool(abs(z) < 4.9 and stats.kstest(sample / scale, cdf).pvalue > 1e-6)


def test_moments_of_the_averaged_law():
    x = np.linspace(0, 40, 400_001)
    rest = 1 - averaged_cdf(x)
    assert 2 * np.trapezoid(rest, x) == pytest.approx(0.75, abs=1e-6)
    assert 4 * np.trapezoid(x * rest, x) - 0.75**2 == pytest.approx(0.4375, abs=1e-6)


@both_recipes
@both_losses
def test_law_of_the_noise(recipe, loss):
    """Accepted at the declared scale, rejected at 5 % more and less."""
    f = objective(recipe, loss)
    b = recipe.sensitivity(f.p, f.loss) / 2.0
    noisy = perturb(f, recipe.scales(f.domain, 2.0, f.loss), 5, draws=(40_000,))
    samples = {
        "diagonal": (LAPLACE, (noisy.symmetric - f.M)[:, 1, 1]),
        "off": (AVERAGED if recipe == CODE else LAPLACE, (noisy.symmetric - f.M)[:, 0, 2]),
        "linear": (LAPLACE, (noisy.v - f.v)[:, 2]),
    }
    for name, (law, sample) in samples.items():
        assert has_law(sample, law, b), name
        assert not has_law(sample, law, 0.95 * b), name
        assert not has_law(sample, law, 1.05 * b), name
    assert not has_law(samples["off"][1], LAPLACE if recipe == CODE else AVERAGED, b)
    assert (recipe == PAPER) == bool((noisy.M[:, 0, 2] == noisy.M[:, 2, 0]).all())


def test_entries_of_the_averaged_noise_are_independent():
    f = objective(CODE, "linear")
    noise = (perturb(f, CODE.scales(f.domain, 1.0), 7, draws=(40_000,)).symmetric - f.M)[:, *np.triu_indices(4)]
    correlation = np.corrcoef(noise.T) - np.eye(10)
    assert np.abs(correlation).max() < 5 / math.sqrt(40_000)


# --- properties


@both_recipes
@both_losses
def test_without_noise_it_is_the_minimiser(recipe, loss):
    f = objective(recipe, loss)
    np.testing.assert_allclose(recipe.fit(f, 1e12, 0), minimise(f), rtol=1e-5, atol=1e-8)


@both_recipes
def test_same_seed_same_answer(recipe):
    f = objective(recipe, "linear")
    np.testing.assert_array_equal(recipe.fit(f, 1.0, 4), recipe.fit(f, 1.0, 4))
    assert (recipe.fit(f, 1.0, 4) != recipe.fit(f, 1.0, 5)).any()


@both_recipes
def test_a_clipped_row_and_its_twin_outside(recipe):
    X, y = records("linear")
    X[0] = HIGH
    far = X.copy()
    far[0] = HIGH + 100.0
    fits = [recipe.fit(objective(recipe, "linear", one, y), 1.0, 9) for one in (X, far)]
    np.testing.assert_array_equal(*fits)


@both_recipes
def test_shards_merge(recipe):
    X, y = records("linear")
    whole = objective(recipe, "linear", X, y)
    parts = merge([objective(recipe, "linear", X[:20], y[:20]), objective(recipe, "linear", X[20:], y[20:])])
    np.testing.assert_allclose(recipe.fit(parts, 5.0, 2), recipe.fit(whole, 5.0, 2), rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(D)), st.integers(0, 2**32 - 1))
def test_permuting_predictors_permutes_the_repair(order, seed):
    """Of the noisy objective: the repairs know no order of the columns, and the noise has one law for all."""
    f = objective(CODE, "linear")
    scales = CODE.scales(f.domain, 1.0)
    noisy = perturb(f, scales, seed)
    columns = [0, *(1 + j for j in order)]
    moved = Quadratic(noisy.M[np.ix_(columns, columns)], noisy.v[columns], noisy.c)
    answer, other = (minimise(CODE.repaired(one, scales)) for one in (noisy, moved))
    np.testing.assert_allclose(other, answer[columns], rtol=1e-6, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4), st.integers(0, 2**32 - 1))
def test_flipping_signs_flips_the_repair(signs, seed):
    f = objective(CODE, "linear")
    scales, s = CODE.scales(f.domain, 1.0), np.array(signs)
    noisy = perturb(f, scales, seed)
    moved = Quadratic(noisy.M * np.outer(s, s), noisy.v * s, noisy.c)
    answer, other = (minimise(CODE.repaired(one, scales)) for one in (noisy, moved))
    np.testing.assert_allclose(other, answer * s, rtol=1e-6, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(list(fm_recipes.path())), st.floats(0.01, 100), st.integers(0, 2**32 - 1))
def test_every_repair_is_bounded_below(name, epsilon, seed):
    recipe = fm_recipes.path()[name]
    f = objective(recipe, "linear")
    scales = recipe.scales(f.domain, epsilon)
    fixed = recipe.repaired(perturb(f, scales, seed), scales)
    assert np.linalg.eigvalsh(fixed.M)[0] >= -1e-9 * np.abs(fixed.M).max()
    assert np.isfinite(minimise(fixed)).all()


def test_a_stack_of_budgets_has_a_draw_each():
    f = objective(CODE, "linear")
    theta = CODE.fit(f, np.full((50, 2), 1.0), 0)
    assert theta.shape == (50, 2, 4)
    assert len(np.unique(theta[..., 0])) == 100


def test_a_recipe_keeps_its_box():
    assert isinstance(CODE.domain(LOW, HIGH, (-1, 1)), Box)
    assert CODE.domain(LOW, HIGH, (-1, 1)).intercept
    assert PAPER.domain(LOW, HIGH, (-1, 1)).corner
