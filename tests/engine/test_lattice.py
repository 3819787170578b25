"""Moments on a lattice are exact, stay within their sensitivity, and get OpenDP's noise of the declared law.

OpenDP takes no seed. Every statistical test here wrongly rejects with probability ALPHA; sizes are such that the faults
it is for are missed as rarely.
"""

import itertools
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from scipy import stats

import dpreg
from dpreg import noise
from dpreg.checks import BudgetError, DataError, InputError
from dpreg.mechanisms import gaussian
from dpreg.mechanisms.best_scales import optimal
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline import lattice
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Law, Scales, certify, functional
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, from_gram, linear, logistic, merge, moments, on_lattice
from dpreg.pipeline.release import release
from dpreg.pipeline.repair import lift, ridge, trim
from dpreg.pipeline.surrogates import chebyshev

pytest.importorskip("opendp", reason="opendp is an optional extra: pip install -e '.[publish]'")

ROOT = Path(__file__).resolve().parents[2]
ALPHA = 1e-9
KINDS = ("box", "corner", "ball")
BITS = (1, 3, 10, 16)
every_domain = pytest.mark.parametrize(
    ("kind", "intercept", "d"), [*itertools.product(KINDS, (False, True), (1, 2, 5))], ids=str
)


def domain_of(kind, d, intercept=False):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, (-1, 1), intercept=intercept)
    return Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept, corner=kind == "corner")


def records(d, n=60, seed=0, size=1.5):
    """Many outside of the domain, so that many are clipped to its surface."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-size, size, (n, d)), rng.uniform(-size, size, n)


def exactly(array):
    return np.vectorize(Fraction, otypes=[object])(array)


def inside(kind, table, intercept, d):
    """Which rows are in the domain, in exact arithmetic: 1 / sqrt(d) itself is no floating-point number."""
    z = exactly(table)
    x = z[:, 1 + intercept :]
    rows = (np.abs(x) <= 1).all(axis=1) & (np.abs(z[:, 0]) <= 1)
    if kind == "ball":
        return rows & ((x**2).sum(axis=1) <= 1)
    return rows & ((x >= 0) & (d * x**2 <= 1)).all(axis=1) if kind == "corner" else rows


# Records


@pytest.mark.thorough
@every_domain
@pytest.mark.parametrize("bits", BITS)
def test_rounded_records_are_in_the_domain_exactly(kind, intercept, d, bits):
    where = domain_of(kind, d, intercept)
    table = where.table(*records(d, 400))
    before = table.copy()
    lattice.snap(table, where, bits)
    assert (table * 2**bits % 1 == 0).all()
    assert (table[:, 1 : 1 + intercept] == 1).all()
    assert inside(kind, table, intercept, d).all()
    away = np.abs(table - before).max(axis=1) * 2**bits
    assert away.max() <= {"box": 0.5, "corner": 1.0, "ball": 2.0}[kind]
    nearest = np.rint(before * 2**bits) / 2**bits
    possible = inside(kind, nearest, intercept, d)
    assert possible.any()
    np.testing.assert_array_equal(table[possible], nearest[possible])


def test_a_length_just_above_one_comes_back_in():
    """Clipping to the ball divides by a rounded norm; at many bits the last digit would stay."""
    where, rng = domain_of("ball", 3), np.random.default_rng(0)
    table = where.table(rng.normal(size=(20_000, 3)) * 10, np.zeros(20_000))
    assert ((exactly(table[:2000, 1:]) ** 2).sum(axis=1) > 1).any()
    lattice.snap(table, where, 24)
    assert ((exactly(table[:2000, 1:]) ** 2).sum(axis=1) <= 1).all()
    axis = np.array([[0.0, math.nextafter(1.0, 2.0), 0.0, 0.0]])
    lattice.snap(axis, where, 24)
    assert axis.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    above = np.array([[0.0, 1.0, math.ldexp(1.0, -24), 0.0]])
    lattice.snap(above, where, 24)
    assert (exactly(above) ** 2).sum() <= 1


@every_domain
def test_a_record_is_rounded_by_itself(kind, intercept, d):
    where = domain_of(kind, d, intercept)
    table = where.table(*records(d))
    whole = table.copy()
    lattice.snap(whole, where, 6)
    for k in range(len(table)):
        lattice.snap(table[k : k + 1], where, 6)
    np.testing.assert_array_equal(table, whole)
    lattice.snap(table, where, 6)
    np.testing.assert_array_equal(table, whole)


# Moments


@every_domain
@pytest.mark.parametrize("bits", [3, 16])
def test_moments_are_exact(kind, intercept, d, bits):
    where = domain_of(kind, d, intercept)
    X, y = records(d)
    table = where.table(X, y)
    lattice.snap(table, where, bits)
    z = exactly(table)
    f = linear(X, y, where, bits=bits)
    assert (exactly(f.exact.gram) == z.T @ z).all()
    assert (exactly(f.exact.steps) == z.T @ z * 4**bits).all()
    np.testing.assert_array_equal(f.M, f.exact.gram[1:, 1:])
    np.testing.assert_array_equal(f.v, -2 * f.exact.gram[0, 1:])


def test_moments_are_the_same_in_any_order_and_in_any_parts():
    where = domain_of("box", 3, True)
    X, y = records(3, 10_000)
    f, order = linear(X, y, where, bits=16), np.random.default_rng(1).permutation(10_000)
    others = [
        linear(X[order], y[order], where, bits=16),
        linear(da.from_array(X, (777, 3)), da.from_array(y, 777), where, bits=16),
        merge(linear(X[k::7], y[k::7], where, bits=16) for k in range(7)),
        linear(np.r_[X, X[:5]], np.r_[y, y[:5]], where, bits=16) - linear(X[:5], y[:5], where, bits=16),
    ]
    for other in others:
        np.testing.assert_array_equal(other.exact.gram, f.exact.gram)


def test_rounding_is_small():
    where = domain_of("box", 3, True)
    X, y = records(3, 5000)
    for bits in (4, 8, 16):
        away = np.abs(moments(X, y, where, bits=bits) - moments(X, y, where)).max()
        assert 0 < away <= 5000 * 2.0**-bits


def test_sums_that_would_not_be_exact_are_refused():
    where = domain_of("box", 1)
    assert linear(np.ones((31, 1)), np.ones(31), where, bits=24).exact.steps[0, 0] == 31 * 4**24
    with pytest.raises(InputError, match="for up to 31 records: give fewer bits"):
        linear(np.ones((32, 1)), np.ones(32), where, bits=24)
    part = linear(np.ones((20, 1)), np.ones(20), where, bits=24)
    with pytest.raises(InputError, match="give fewer bits"):
        _ = part + part


def test_moments_of_other_records_are_refused():
    where = domain_of("box", 2)
    X, y = records(2)
    gram = moments(X, y, where)
    with pytest.raises(InputError, match="not on the lattice of 16 bits: build"):
        from_gram(gram, where, bits=16)
    f = linear(X, y, where, bits=16)
    with pytest.raises(InputError, match="M is not that of the exact moments: leave"):
        Quadratic(f.M + 1, f.v, f.c, where, exact=f.exact)
    assert ridge(f, 1.0).exact is None
    assert trim(f, 1.0).exact is None
    assert (f + linear(X, y, where)).exact is None
    assert (f + linear(X, y, where, bits=15)).exact is None
    for other in (f[None], f[None].sum()):
        assert other.exact is None


# What a record can change


@pytest.mark.thorough
@every_domain
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_no_pair_of_rounded_records_costs_more_than_is_charged(kind, intercept, d, neighbours):
    """In exact arithmetic, with the scales that are drawn; and at a box's corners it costs that, but for the slack."""
    where, bits, rng = domain_of(kind, d, intercept), 4, np.random.default_rng(d)
    laws = [functional(where, 1.0, convention=c, neighbours=neighbours) for c in ("triangle", "ordered", "monomial")]
    X, y = records(d, 300)
    X[:100], y[:100] = rng.choice([-1, 1], (100, d)) / (math.sqrt(d) if kind == "ball" else 1), rng.choice([-1, 1], 100)
    table = where.table(X, y)
    lattice.snap(table, where, bits)
    z = exactly(table)
    for law in laws:
        widths = np.zeros((where.p + 1, where.p + 1))
        widths[1:, 1:], widths[0, 1:] = law.M, law.v / 2
        drawn = np.ones_like(widths, dtype=bool) if law.ordered else np.triu(np.ones_like(widths, dtype=bool))
        drawn[:, 0] = False
        price = [[Fraction(0) if w == 0 else 1 / Fraction(w * lattice.SLACK) for w in row] for row in widths]
        price = np.array(price, dtype=object)
        costs = []
        for one, other in rng.integers(0, 300, (200, 2)):
            change = np.outer(z[one], z[one])
            if neighbours == "replace":
                change = change - np.outer(z[other], z[other])
            assert not (change * (widths == 0) * drawn).any()
            costs.append((np.abs(change) * price)[drawn].sum())
        assert max(costs) < Fraction(certify(law, where, neighbours, SQUARED))
        if kind == "box" and neighbours == "add_remove":
            assert max(costs) > 1 - Fraction(1, 2**29)


# Noise


def laplace_pmf(k, s):
    return np.tanh(0.5 / s) * np.exp(-np.abs(k) / s)


def gaussian_pmf(k, s):
    every = np.arange(-int(40 * s) - 40, int(40 * s) + 41)
    return np.exp(-(k**2) / (2 * s**2)) / np.exp(-(every**2) / (2 * s**2)).sum()


PMFS = {"laplace": laplace_pmf, "gaussian": gaussian_pmf}


def draws_of(kind, scale, n, bits=2):
    """Independent draws in steps, on a sum of its own each."""
    size = math.isqrt(2 * n) + 2
    gram = np.full((size, size), 3.0)
    noisy = lattice.adder(kind, lattice.Lattice(gram, bits), np.full((size, size), scale / 4**bits))()
    return ((noisy - gram) * 4**bits)[np.triu_indices(size)][1 : n + 1]


def accepts(kind, draws, scale):
    """Pearson's test against the exact chances, in bins that expect at least ten."""
    k = np.arange(-int(30 * scale) - 30, int(30 * scale) + 31)
    chances = PMFS[kind](k, scale)
    assert chances.sum() == pytest.approx(1.0)
    bins, edges = [0.0], []
    for value, chance in zip(k, chances, strict=True):
        bins[-1] += chance
        if bins[-1] * len(draws) >= 10 and (1 - sum(bins)) * len(draws) >= 10:
            edges.append(value + 0.5)
            bins.append(0.0)
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(bins))
    return stats.chisquare(counts, np.array(bins) / sum(bins) * len(draws)).pvalue > ALPHA


@pytest.mark.thorough
@pytest.mark.parametrize("kind", PMFS)
@pytest.mark.parametrize("scale", [0.7, 2.0, 6.3])
def test_the_noise_has_the_exact_law(kind, scale):
    """And at this number of draws a scale a quarter off is refused, and missed less than once in 10^9 times."""
    draws = draws_of(kind, scale, 10_000)
    assert (draws % 1 == 0).all()
    assert accepts(kind, draws, scale)
    for off in (3 / 4, 4 / 3):
        assert not accepts(kind, draws, off * scale)
    other = {"laplace": "gaussian", "gaussian": "laplace"}[kind]
    assert not accepts(other, draws, scale)


def scale_is(draws, scale):
    """Sum of |k| of wide discrete Laplace draws over the scale: the Gamma law, at the level ALPHA."""
    total, n = np.abs(draws).sum() / scale, len(draws)
    return stats.gamma.ppf(ALPHA / 2, n) <= total <= stats.gamma.isf(ALPHA / 2, n)


@pytest.mark.thorough
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("loss", [SQUARED, TAYLOR, chebyshev(4.0)])
def test_every_coefficient_gets_its_own_scale(ordered, loss):
    """Scales a factor of two apart: six hundred draws tell them apart at the level ALPHA."""
    where, n = Box([-1, -1], [1, 1], (-1, 1)), 600
    X, y = records(2)
    f = linear(X, y, where, bits=16) if loss == SQUARED else logistic(X, np.sign(y), where, loss, bits=16)
    law = Scales(np.array([[1.0, 2.0], [4.0, 8.0]]), np.array([16.0, 32.0]), ordered=ordered)
    draw = law.discrete(f)
    noisy = [draw() for _ in range(n)]
    M = np.array([one.M for one in noisy]) - f.M
    v = np.array([one.v for one in noisy]) - f.v
    found = {1.0: M[:, 0, 0], 2.0: M[:, 0, 1], 8.0: M[:, 1, 1], 16.0: v[:, 0], 32.0: v[:, 1]}
    if ordered:
        found[4.0] = M[:, 1, 0]
        assert abs(np.corrcoef(found[2.0], found[4.0])[0, 1]) < 0.3  # seven standard errors
    else:
        np.testing.assert_array_equal(M[:, 0, 1], M[:, 1, 0])
    for scale, draws in found.items():
        assert scale_is(draws, scale)
        assert not scale_is(draws, 2 * scale)
        assert not scale_is(draws, scale / 2)
    assert all(one.c == 0 and one.domain is None and one.exact is None for one in noisy)


def test_drawn_scales_have_slack_for_the_rounding_of_the_price(monkeypatch):
    scales = []
    monkeypatch.setattr(lattice, "_maker", lambda kind: lambda scale: scales.append(scale) or (lambda step: step))
    where = Box([-1, -1], [1, 1], (-1, 1))
    functional(where, 1.0, convention="copied").discrete(linear(*records(2), where, bits=10))
    exact = functional(where, 1.0, convention="copied").M[0, 0]
    assert sorted(set(scales)) == [exact / 2 * 4**10 * lattice.SLACK, exact * 4**10 * lattice.SLACK]
    assert 1e-10 < lattice.SLACK - 1 < 1e-8  # below what anybody sees, above what rounding does


def test_opendp_prices_its_noise_as_we_do():
    """Its own proof, of one moment that moves by seven steps: epsilon is 7 / s, and rho 7^2 / (2 s^2)."""
    for scale in (0.5, 3.0, 2.0**40):
        assert lattice._maker("laplace")(scale).map(7) == pytest.approx(7 / scale, rel=1e-12)
        assert lattice._maker("gaussian")(scale).map(7) == pytest.approx(49 / (2 * scale**2), rel=1e-12)


@pytest.mark.thorough
def test_gaussian_coefficients_get_their_own_scale():
    where = Box([-1, -1], [1, 1], (-1, 1))
    f, law = linear(*records(2), where, bits=16), gaussian.Gaussian([0.5, 1.0, 2.0], 3.0)
    draw = law.discrete(f)
    noisy = [draw() for _ in range(1000)]
    M, v = np.array([one.M for one in noisy]) - f.M, np.array([one.v for one in noisy]) - f.v
    half = math.sqrt(0.5)
    found = {(3.0, 0): M[:, 0, 0], (0.75, 1): M[:, 1, 1], (1.5 * half, 2): M[:, 0, 1]}
    found |= {(12 * half, 3): v[:, 0], (6 * half, 4): v[:, 1]}
    low, high = stats.chi2.ppf(ALPHA / 2, 1000), stats.chi2.isf(ALPHA / 2, 1000)
    for (deviation, _), draws in found.items():
        assert low < (draws**2).sum() / deviation**2 < high
        for off in (0.7, 1.4):
            assert not low < (draws**2).sum() / (off * deviation) ** 2 < high


def test_what_is_released_lies_on_the_lattice_around_the_exact_moments():
    where = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
    X, y = records(2)
    f = linear(X, y, where, bits=10)
    out = release(f, functional(where, 1.0), sampler="opendp").objective
    assert out.M[0, 0] == 60  # a public count
    assert lattice.adder("laplace", f.exact, np.ones((4, 4)))()[0, 0] == 0  # the square of the response is withheld
    steps = (out.M - f.M) * 4**10
    assert (steps % 1 == 0).all()
    assert (steps[~np.eye(3, dtype=bool)] != 0).all() or np.abs(steps).max() > 1000
    assert ((out.v - f.v) * 4**10 % 2 == 0).all()  # -2 sum x t
    hidden = release(f, functional(where, 1.0, neighbours="add_remove"), neighbours="add_remove", sampler="opendp")
    assert hidden.objective.M[0, 0] != 60  # wrong once in a hundred million


# Budgets


def ready(bits=16):
    where = Box([-1, -1], [1, 1], (-1, 1))
    return linear(*records(2), where, bits=bits), functional(where, 0.5)


def test_the_ledger_says_which_sampler_was_used():
    f, law = ready()
    budget = Budget(1.0)
    for _ in range(2):  # no seed, so nothing is refused as one
        out = release(f, law, budget=budget, sampler="opendp")
    (spend,) = out.ledger
    assert spend.noise == lattice.origin(16)
    assert spend.noise.startswith("OpenDP 0.")
    assert spend.noise.endswith("OpenSSL randomness, lattice 2^-32")
    assert (spend.epsilon, spend.rho) == (certify(law, f.domain), release(f, law, 0).ledger.rho)
    assert out.ledger.seeds == set()
    assert budget.remaining == pytest.approx(0.0, abs=1e-12)
    assert release(f, law).ledger.spends[0].noise == noise.SYSTEM
    with pytest.raises(BudgetError):
        release(f, law, budget=budget, sampler="opendp")


def test_the_budget_is_charged_before_anything_is_drawn(monkeypatch):
    f, law = ready()
    monkeypatch.setattr(lattice, "adder", lambda *_: pytest.fail)
    with pytest.raises(BudgetError):
        release(f, law, budget=Budget(0.4), sampler="opendp")


def refusals():
    f, law = ready()
    where = f.domain
    yield "seed", f, law, {"random_state": 1}, "random_state is 1, and OpenDP .* takes no seed: leave it out"
    rng = np.random.default_rng(1)
    yield "generator", f, law, {"random_state": rng}, "takes no seed"
    yield "no lattice", linear(*records(2), where), law, {}, "on no lattice: build it with bits"
    yield "Wishart", f, difference(where, 0.5), {}, "there is no sampler of Wishart difference noise .*: use"
    yield "constant", f, functional(where, 0.5, constant=True), {}, "constant is not released .*: withhold it, leave"
    yield "wide", f, functional(where, 1e-9), {}, "steps, too large to add: give fewer bits"
    yield "sampler", f, law, {"sampler": "secrets"}, "sampler is 'secrets': choose"


@pytest.mark.parametrize(
    ("f", "law", "more", "message"), [case[1:] for case in refusals()], ids=[case[0] for case in refusals()]
)
def test_a_refused_release_costs_nothing(f, law, more, message):
    budget = Budget(10.0)
    with pytest.raises(InputError, match=message):
        release(f, law, **{"budget": budget, "sampler": "opendp"} | more)
    assert budget.remaining == 10.0


def test_without_opendp_the_extra_is_named_and_nothing_is_charged(monkeypatch):
    for name in ("opendp", *(f"opendp.{part}" for part in ("domains", "metrics", "measurements", "mod"))):
        monkeypatch.setitem(sys.modules, name, None)
    f, law = ready()
    budget = Budget(1.0)
    message = r"needs opendp, which is not here: add the extra dpreg\[publish\], pip install -e '\.\[publish\]'"
    with pytest.raises(DataError, match=message):
        release(f, law, budget=budget, sampler="opendp")
    assert budget.remaining == 1.0
    release(f, law, budget=budget)


@pytest.mark.thorough
def test_only_a_release_on_a_lattice_loads_opendp():
    code = (
        "import sys, dpreg, dpreg.estimators.private\n"
        "f = dpreg.linear([[0.5], [1.0]], [0.0, 1.0], dpreg.Box([0], [1], (0, 1)), bits=8)\n"
        "law = dpreg.functional(f.domain, 1.0)\n"
        "dpreg.release(f, law)\n"
        "print('opendp' in sys.modules)\n"
        "dpreg.release(f, law, sampler='opendp')\n"
        "print('opendp' in sys.modules, 'opendp.prelude' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["False", "True False"]


# All the way


class Bare(Law):
    """A reader's law without a discrete twin."""

    name, norm = "bare", "L1"
    batch, p, scale, deviation, level = (), 2, 1.0, np.ones(()), np.ones(())

    def times(self, factor):
        return self

    def certify(self, domain, neighbours="replace", loss=SQUARED):
        return 0.5

    def perturb(self, objective, draws, rng):
        return objective


def test_a_readers_own_law_needs_a_discrete_twin_of_its_own():
    f, _ = ready()
    with pytest.raises(InputError, match="there is no sampler of bare noise"):
        release(f, Bare(), sampler="opendp")

    class Twin(Bare):
        def discrete(self, objective):
            return on_lattice("laplace", objective, np.full((3, 3), 20.0))

    out = release(f, Twin(), sampler="opendp")
    assert out.ledger.epsilon == 0.5
    assert (out.objective.M != f.M).any()


def test_without_noise_to_speak_of_the_answer_is_that_of_the_rounded_records():
    where = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
    f = linear(*records(2, 500), where, bits=16)
    law = functional(where, 1e12)
    out = release(f, law, sampler="opendp")
    np.testing.assert_array_equal(out.objective.M, f.M)
    np.testing.assert_array_equal(out.objective.v, f.v)


@pytest.mark.parametrize("estimator", [dpreg.PrivateLinearRegression, dpreg.PrivateLogisticRegression])
def test_estimators_publish_the_same_way(estimator):
    where, (X, y) = Box([-1, -1], [1, 1], (-1, 1), intercept=True), records(2, 500)
    y = np.sign(y) if estimator is dpreg.PrivateLogisticRegression else y
    budget = Budget(1.0)
    model = estimator(where, 1.0, mechanism=optimal, sampler="opendp", bits=14).fit(X, y, budget=budget)
    assert model.ledger_.spends[0].noise == lattice.origin(14)
    assert budget.remaining == pytest.approx(0.0, abs=1e-9)
    noisy, law = model.release_.objective, model.release_.law
    unscaled = where.unscale(dpreg.minimise(lift(noisy, law)))
    np.testing.assert_array_equal(np.ravel(model.coef_), unscaled.slopes)
    for wrong, message in (
        ({"mechanism": "wishart"}, "there is no sampler of Wishart"),
        ({"random_state": 1}, "takes no seed"),
        ({"sampler": "other"}, "sampler is 'other': choose"),
        ({"bits": 99}, "bits is 99: give at most 24"),
    ):
        with pytest.raises(InputError, match=message):
            estimator(where, 1.0, **{"mechanism": "laplace", "sampler": "opendp"} | wrong).fit(X, y)
