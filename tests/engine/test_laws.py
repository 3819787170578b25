"""Noise scales: what a convention publishes, and that a price follows the scales."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.spatial import distance

from dpreg.checks import InputError
from dpreg.pipeline import repair
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Scales, certify, functional, unit_scales
from dpreg.pipeline.objective import TAYLOR, merge
from dpreg.pipeline.objective import logistic as quadratic
from dpreg.pipeline.release import perturb, release
from dpreg.pipeline.sensitivity import closed_form, printed_linear
from dpreg.pipeline.solve import minimise
from dpreg.pipeline.surrogates import chebyshev
from tests.engine import labelled
from tests.engine.spaces import CONVENTIONS, KINDS, domains

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)


@st.composite
def scales(draw, p):
    positive = st.floats(0.05, 50)
    M, v = draw(arrays(float, (p, p), elements=positive)), draw(arrays(float, p, elements=positive))
    return Scales(M, v, draw(st.one_of(st.just(math.inf), positive)), ordered=draw(st.booleans()))


def coefficients(scales, records):
    """The numbers a release adds up for each record (t, x), each over its own scale."""
    t, *x = np.array(records).T
    p = len(x)
    pairs = [(j, k) for j in range(p) for k in range(p) if scales.ordered or j <= k]
    entries = [x[j] * x[k] / scales.M[j, k] for j, k in pairs]
    return np.array([*entries, *(-2 * t * x[j] / scales.v[j] for j in range(p)), t * t / scales.c]).T


def records(domain, grid):
    """A grid of the domain, scaled, the constant included."""
    axis = np.linspace(-1, 1, grid)
    for t, *x in itertools.product(axis, repeat=domain.d + 1):
        z = np.array([x])
        if isinstance(domain, Box) and domain.corner:
            z = (z + 1) / 2 / math.sqrt(domain.d)
        if isinstance(domain, Ball) and np.linalg.norm(z) > 1 + 1e-12:
            continue
        yield np.r_[t, np.ones(int(domain.intercept)), z[0]]


@PROPERTY
@given(st.data())
def test_no_pair_of_records_on_a_grid_costs_more_than_certified(data):
    domain = data.draw(st.sampled_from([*domains(1), *domains(2)]))
    choice = data.draw(scales(domain.p))
    table = coefficients(choice, list(records(domain, 5 if domain.d == 2 else 9)))
    replaced = distance.pdist(table, "cityblock").max()
    removed = np.abs(table).sum(axis=-1).max()
    assert replaced <= certify(choice, domain, "replace") * (1 + 1e-12)
    assert removed <= certify(choice, domain, "add_remove") * (1 + 1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("domain", list(domains(1)), ids=str)
def test_one_predictor_is_certified_exactly(convention, domain):
    """On a fine grid of one predictor the worst pair comes within a grid step of the certificate."""
    for constant in (False, True):
        unit = functional(domain, 1.0, convention=convention, constant=constant)
        unit = Scales(np.where(unit.M == 0, math.inf, unit.M), unit.v, unit.c, unit.ordered)  # n does not change
        table = coefficients(unit, list(records(domain, 41)))
        found = distance.pdist(table, "cityblock").max()
        assert found <= 1 + 1e-12
        exact = not (constant and (isinstance(domain, Ball) or domain.corner))  # as `worst_case` says
        assert found > (0.99 if exact else 0.95)


@pytest.mark.thorough
@PROPERTY
@given(st.data())
def test_price_is_inverse_to_the_scales_and_falls_when_one_of_them_grows(data):
    domain = data.draw(st.sampled_from([*domains(2)]))
    neighbours = data.draw(st.sampled_from(["replace", "add_remove"]))
    choice = data.draw(scales(domain.p))
    factor = data.draw(st.floats(0.01, 100))
    cost = certify(choice, domain, neighbours)
    assert certify(choice.times(factor), domain, neighbours) == pytest.approx(cost / factor, rel=1e-9)
    j, k = sorted(data.draw(st.tuples(*[st.integers(0, domain.p - 1)] * 2)))
    M = choice.M.copy()
    M[j, k] *= 3
    higher = certify(Scales(M, choice.v, choice.c, choice.ordered), domain, neighbours)
    slack = 1e-9 if isinstance(domain, Box) and neighbours == "add_remove" else 0.05  # an upper bound may wobble
    assert higher <= cost * (1 + slack)


def test_conventions_by_hand():
    monomial, ordered, copied, triangle = (unit_scales(name, 2) for name in CONVENTIONS)
    # 2 M_01 is the coefficient of the monomial: noise of scale one on it is half of that on M_01.
    np.testing.assert_array_equal(monomial.M, [[1, 0.5], [0.5, 1]])
    for unit in (ordered, copied, triangle):
        np.testing.assert_array_equal(unit.M, np.ones((2, 2)))
    np.testing.assert_array_equal(triangle.v, [2, 2])  # v = -2 sum x t, and the draw of scale one goes on sum x t
    for unit in (monomial, ordered, copied):
        np.testing.assert_array_equal(unit.v, [1, 1])
    assert [unit.ordered for unit in (monomial, ordered, copied, triangle)] == [False, True, False, False]
    assert math.isinf(copied.c)
    assert unit_scales("copied", 2, constant=True).c == 1
    assert unit_scales("copied", 3, public_count=True).M[0, 0] == 0
    assert (unit_scales("copied", 3, public_count=True).M == 0).sum() == 1


def test_costs_by_hand():
    """Entry (j, k) of zz' and its mirror image share the price of one released number."""
    scales = Scales(np.array([[2.0, 4.0], [99.0, 5.0]]), np.array([10.0, 20.0]), 8.0)
    expected = [[1 / 8, 1 / 10, 1 / 20], [1 / 10, 1 / 2, 1 / 8], [1 / 20, 1 / 8, 1 / 5]]
    np.testing.assert_allclose(scales.cost(), expected, rtol=1e-15)
    ordered = Scales(np.array([[2.0, 4.0], [8.0, 5.0]]), np.array([10.0, 20.0]), ordered=True)
    expected = [[0, 1 / 10, 1 / 20], [1 / 10, 1 / 2, 3 / 16], [1 / 20, 3 / 16, 1 / 5]]
    np.testing.assert_allclose(ordered.cost(), expected, rtol=1e-15)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("d", [1, 3])
def test_printed_scales_are_the_papers(convention, d):
    for domain in domains(d):
        scales = functional(domain, 0.5, sensitivity="printed", convention=convention)
        unit = unit_scales(convention, domain.p)
        np.testing.assert_array_equal(scales.M, unit.M * printed_linear(domain.p) / 0.5)
        np.testing.assert_array_equal(scales.v, unit.v * printed_linear(domain.p) / 0.5)
        assert scales.M.min() > 0  # the papers know no public count


def test_only_replacing_makes_the_count_public():
    for kind, neighbours, zero in itertools.product((True, False), ("replace", "add_remove"), (0,)):
        domain = Box([-1], [1], (-1, 1), intercept=kind)
        public = kind and neighbours == "replace"
        assert (functional(domain, 1.0, neighbours=neighbours).M[0, 0] == zero) == public
    domain = Box([-1], [1], (-1, 1), intercept=True)
    free = functional(domain, 1.0)
    assert certify(free, domain, "replace") == pytest.approx(1, rel=1e-12)
    assert math.isinf(certify(free, domain, "add_remove"))


def test_adding_and_removing_costs_less_than_replacing_but_not_nothing():
    for domain in domains(3):
        for convention in CONVENTIONS:
            unit = unit_scales(convention, domain.p)
            replace, remove = certify(unit, domain, "replace"), certify(unit, domain, "add_remove")
            assert remove < replace + 1  # the count itself is one number that only add/remove changes
            assert replace <= 2 * remove


def test_budgets_stack():
    domain = Box([-1, -1], [1, 1], (-1, 1))
    stack = functional(domain, [[0.1, 1.0], [2.0, 4.0]])
    assert stack.M.shape == (2, 2, 2, 2)
    for index in np.ndindex(2, 2):
        one = functional(domain, [[0.1, 1.0], [2.0, 4.0]][index[0]][index[1]])
        np.testing.assert_array_equal(stack.M[index], one.M)
        np.testing.assert_array_equal(stack.v[index], one.v)
        assert stack.deviation[index] == one.deviation == math.sqrt(2) * one.M[0, 0]


def test_factors_reach_every_scale():
    scales = Scales(np.array([[1.0, 2.0], [2.0, 3.0]]), np.array([4.0, 5.0]), 6.0, ordered=True).times(2)
    assert scales.M.tolist() == [[2, 4], [4, 6]]
    assert scales.v.tolist() == [8, 10]
    assert scales.c == 12
    assert scales.ordered
    assert scales.deviation == math.sqrt(2) * 6  # the largest on the diagonal


def test_scales_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        unit_scales("copied", 2).M[0, 0] = 0.0
    mine = np.ones((2, 2))
    scales = Scales(mine, np.ones(2))
    mine[:] = 0.0  # after the price has been asked, say
    assert (scales.M == 1).all()


# --- the functional mechanism for labels


def mechanism(X, y, domain, epsilon, seed, q=TAYLOR):
    scales = functional(domain, epsilon, loss=q)
    return minimise(repair.bound(release(quadratic(X, y, domain, q), scales, seed).objective, scales))


@pytest.mark.parametrize("q", [TAYLOR, chebyshev(4.0)])
def test_no_noise_gives_the_truncated_minimiser(q):
    Z, y = labelled.records(3, n=500)
    domain = labelled.space("box", 3, intercept=True)
    quiet = mechanism(Z[:, 1:], y, domain, 1e9, 1, q)
    np.testing.assert_allclose(quiet, minimise(quadratic(Z[:, 1:], y, domain, q)), rtol=1e-5, atol=1e-6)


def test_clipping_seed_and_shards():
    Z, y = labelled.records(5, n=400)
    X, domain = Z[:, 1:].copy(), labelled.space("corner", 3)
    X[0] = 7.0
    clipped = X.copy()
    clipped[0] = 1.0
    one, twin, again = (mechanism(rows, y, domain, 1.0, 9) for rows in (X, clipped, X))
    np.testing.assert_array_equal(one, twin)
    np.testing.assert_array_equal(one, again)
    assert (mechanism(X, y, domain, 1.0, 10) != one).all()
    whole, parts = quadratic(X, y, domain), [quadratic(X[a:b], y[a:b], domain) for a, b in ((0, 150), (150, 400))]
    np.testing.assert_allclose(merge(parts).M, whole.M)
    np.testing.assert_allclose(merge(parts).v, whole.v)
    with pytest.raises(InputError, match="different losses"):
        parts[0] + quadratic(X, y, domain, chebyshev(3.0))


@pytest.mark.parametrize("q", [TAYLOR, chebyshev(5.0)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_ledger_total_is_the_declared_budget(q, kind, intercept):
    Z, y = labelled.records(6, n=50)
    domain, budget = labelled.space(kind, 3, intercept), Budget(0.7)
    out = release(quadratic(Z[:, 1:], y, domain, q), functional(domain, 0.7, loss=q), 1, budget=budget)
    assert out.ledger.epsilon == pytest.approx(0.7, rel=1e-12)
    assert budget.remaining == pytest.approx(0.0, abs=1e-12)


def test_noise_has_the_declared_scale():
    """Mean |noise| of 40,000 Laplace draws over its scale has standard deviation 1/200, and five per cent is ten."""
    domain, f = labelled.space("corner", 2), quadratic([[1.0, 0.2], [0.3, 0.4]], [1, 0], labelled.space("corner", 2))
    scales = functional(domain, 0.5, loss=TAYLOR)
    Delta = closed_form(domain, "triangle", loss=TAYLOR)
    noisy = perturb(f, scales, 3, draws=(40_000,))
    for drawn in (noisy.M[:, 0, 0] - f.M[0, 0], noisy.M[:, 0, 1] - f.M[0, 1], noisy.v[:, 1] - f.v[1]):
        ratio = np.abs(drawn).mean() / (Delta / 0.5)
        assert abs(ratio - 1) < 4 / 200  # wrong once in 15,000 times
        assert stats.kstest(drawn, "laplace", args=(0, Delta / 0.5)).pvalue > 1e-4
        for off in (0.95, 1.05):
            assert abs(ratio / off - 1) > 4 / 200


def test_quadratic_chosen_after_the_release():
    """(8q M, v) with repairs that scale along has the minimiser theta / (8q)."""
    Z, y = labelled.records(8, n=2000)
    domain, q = labelled.space("box", 3, True), chebyshev(5.0)
    scales = functional(domain, 0.5, loss=TAYLOR)
    noisy = perturb(quadratic(Z[:, 1:], y, domain), scales, 2, draws=(50,))
    factor = q.square / TAYLOR.square
    after = perturb(quadratic(Z[:, 1:], y, domain), scales, 2, draws=(50,))
    after = type(after)(factor * after.M, after.v, after.c)
    scaled = Scales(factor * scales.M, scales.v)
    np.testing.assert_allclose(
        minimise(repair.bound(after, scaled)), minimise(repair.bound(noisy, scales)) / factor, rtol=1e-8, atol=1e-10
    )
    exact = quadratic(Z[:, 1:], y, domain, q)
    np.testing.assert_allclose(factor * quadratic(Z[:, 1:], y, domain).M, exact.M)
    assert certify(scaled, domain, loss=q) == pytest.approx(0.5)
