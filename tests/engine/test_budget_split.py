"""Budget shares: the claims of 004, Sections 1 to 4, and the mathematics of dpreg/mechanisms/budget_split.py."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from dpreg.audit.search import worst_pair
from dpreg.checks import BrokenGuaranteeWarning, BudgetError, InputError, PrivacyLeakWarning
from dpreg.mechanisms.budget_split import dpba, dpc, first_order, parts, printed_share, privr, share
from dpreg.pipeline import repair
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Scales, certify, functional, unit_scales
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, Quadratic, linear, logistic
from dpreg.pipeline.release import perturb, release
from dpreg.pipeline.solve import minimise
from tests.engine.quadratics import LINE, ROWS
from tests.engine.spaces import cube
from tests.ledger import tolerance, value

LOSSES = {"linear": SQUARED, "logistic": TAYLOR}
SPLITS = ("printed", "proportional", "variance", "l1", 0.3)
PROPERTY = settings(deadline=None, derandomize=True, max_examples=30)


def close(claim, name, found):
    assert found == pytest.approx(value(claim, name), abs=tolerance(claim, name) + 1e-12)


def objective(loss, domain, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, domain.d))
    y = X @ np.linspace(-1, 1, domain.d) / domain.d + rng.normal(size=n) / 5
    return logistic(X, np.where(y > 0, 1.0, -1.0), domain) if loss.labels else linear(X, y, domain)


def loss_of(u, a, b, d, quadratic, linear_):
    """Loss at eps = 1 of the pair (1, 1...1), (-1, 2u-1...): parts with shares a and b, from the entries of zz'."""
    z, other = np.ones(d + 1), np.r_[-1.0, np.full(d, 2 * u - 1)]
    E = np.abs(np.outer(z, z) - np.outer(other, other))
    return a * quadratic[0] * E[1:, 1:].sum() / quadratic[1] + b * linear_[0] * E[0, 1:].sum() / linear_[1]


# --- claims


def test_the_logistic_loss_is_smooth():
    # s = 1/(1 + e^-z) lies in (0, 1), and s (1 - s) is largest where s = 1/2
    assert value("BA-CHAUDHURI", "slope") == 1
    assert value("BA-CHAUDHURI", "curvature") == 0.5 * (1 - 0.5)
    found = optimize.minimize_scalar(lambda z: -1 / (2 + math.exp(z) + math.exp(-z)), bounds=(-9, 9), method="bounded")
    close("BA-CHAUDHURI", "curvature", -found.fun)


def test_definitions():
    x, y = np.array([1, 0.9, -0.5]), np.array([0.4, 0.3, -1])
    close("BA-D1", "minimiser", (x @ y) / (x @ x))
    close("BA-D2", "probability", 1 / (1 + math.exp(0)))
    close("BA-D2", "cost", math.log(2))
    close("BA-D3", "point", 0)
    close("BA-D3", "interval", integrate.quad(lambda z: math.exp(-abs(z)) / 2, -0.5, 0.5, points=[0])[0])
    close("BA-T2", "loss", max(abs(abs(z - 1) - abs(z)) for z in np.linspace(-9, 9, 101)))
    close("BA-EQ9", "objective", y @ y)
    close("BA-EQ9", "printed", 0)


def test_composition_of_the_two_parts():
    grid = [loss_of(u, 0.3, 0.7, 13, (1, 169), (2, 52)) for u in np.linspace(0, 1, 10_001)]
    close("BA-T1", "certified", max(grid))
    close("BA-T1", "sum", 1)


def test_deleting_and_replacing():
    one = np.ones(14)
    E = np.outer(one, one)
    close("BA-D4", "removed", E[1:, 1:].sum() + 2 * E[0, 1:].sum())
    close("BA-D4", "replaced", max(loss_of(u, 1, 1, 13, (1, 1), (2, 1)) for u in np.linspace(0, 1, 27)))
    close("BA-D4", "printed", 2 * 13**2 + 4 * 13)


def test_proportional_split_is_near_the_best():
    for name, (one, two) in {"linear": (338, 52), "logistic": (42.25, 39)}.items():
        best = optimize.minimize_scalar(
            lambda a, one=one, two=two: 91 * (one / a) ** 2 + 13 * (two / (1 - a)) ** 2,
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-12},
        ).fun
        close("BA-FM", name, (91 + 13) * (one + two) ** 2 / best - 1)


def test_the_printed_split_adds_more_noise():
    for name, d, (one, two) in (("linear", 13, (338, 52)), ("logistic", 13, (42.25, 39))):
        a = one**2 / (one**2 + two)
        printed = 91 * (one / a) ** 2 + d * (two / (1 - a)) ** 2
        close("BA-LESS", name, math.sqrt(printed / ((91 + d) * (one + two) ** 2)))


def test_an_exact_constant_tells_neighbours_apart():
    close("BA-CONST", "one", 0.4**2 + 0.3**2 + 1)
    close("BA-CONST", "other", 0.4**2 + 0.3**2)
    scales = dpba(LINE, 1.0)
    assert scales.c == math.inf  # withheld
    assert certify(Scales(scales.M, scales.v, 0.0), LINE) == math.inf


def test_printed_sign():
    close("BA-SIGN", "right", 117 / 206)
    close("BA-SIGN", "printed", -117 / 206)
    x, y = np.array([1, 0.9, -0.5]), np.array([0.4, 0.3, -1])
    grid = np.linspace(-1, 1, 200_001)
    printed = (x @ x) * grid**2 + 2 * (x @ y) * grid  # g + h as printed
    assert grid[printed.argmin()] == pytest.approx(-117 / 206, abs=1e-5)


def test_the_printed_algorithm_returns_minus_the_answer_in_law():
    f = linear(*ROWS, LINE)
    wrong = Quadratic(f.M, -f.v, f.c, LINE, Loss(1.0, 2.0, 1.0))
    scales = dpba(LINE, 50.0)
    draws = [
        minimise(repair.bound(perturb(g, scales, k, draws=(4000,)), scales))[:, 0] for k, g in enumerate((f, wrong))
    ]
    assert stats.ks_2samp(draws[0], -draws[1]).pvalue > 1e-3
    assert stats.ks_2samp(draws[0], draws[1]).pvalue < 1e-9


def test_printed_logistic_objective():
    X, y = np.array([1.0, -1.0, 0.5]), np.array([1.0, 0.0, 0.0])
    close("BA-LOG", "theta", 4 * (X @ (y - 0.5)) / (X @ X))
    f = logistic(X[:, None], y, Box([-1.0], [1.0], response=(0.0, 1.0)))
    w = np.linspace(-2, 2, 9)[:, None]
    g, h = (X @ X) / 8 * w[:, 0] ** 2, (X.sum() / 2 - y @ X) * w[:, 0]
    np.testing.assert_allclose(f(w), g + h + 3 * math.log(2))
    close("BA-TAYLOR", "expansion", math.log(1 + math.exp(0)))
    close("BA-TAYLOR", "printed", 0.5 * 1 * 1)


@pytest.mark.thorough
def test_joint_sensitivity_is_less_than_the_sum():
    d, grid = 13, np.linspace(0, 1, 5201)
    for name, (square, cross) in {"linear": (1, 2), "logistic": (1 / 8, 1 / 2)}.items():
        one, two, both = (
            max(loss_of(u, a, b, d, (square, 1), (cross, 1)) for u in grid) for a, b in ((1, 0), (0, 1), (1, 1))
        )
        record = "BA-L1-LIN" if name == "linear" else "BA-L1-LOG"
        close(record, "quadratic", one)
        close(record, "linear", two)
        assert value("BA-L1", name) == pytest.approx(both, abs=1e-6)
        close("BA-L1", f"{name}_sum", one + two)
    assert (value("BA-L1-LIN", "quadratic_printed"), value("BA-L1-LIN", "linear_printed")) == (2 * d**2, 4 * d)
    # unit ball: |E| in L1 <= d |E| in L2 <= d sqrt(2); 2 |t x - t' x'| in L1 <= 4 sqrt(d), at t = 1, t' = -1, x = x'
    close("BA-L1-LIN", "quadratic_ball", math.sqrt(2) * d)
    close("BA-L1-LIN", "linear_ball", 2 * 2 * d * (1 / math.sqrt(d)))
    assert (value("BA-L1-LOG", "quadratic_printed"), value("BA-L1-LOG", "linear_printed")) == (d**2 / 4, 3 * d)


def test_range_of_beta():
    close("BA-RANGE", "limit", 52 / 338 + 338)
    close("BA-RANGE", "share", 338 / (338**2 + 52) * (52 / 338 + 338))


def test_printed_share_depends_on_units():
    for name, s in {"total": 1, "half": 1 / 2, "mean": 1 / 370_000}.items():
        close("BA-SHARE", name, s * 13**3 / (s * 13**3 + 1))


def test_else_branch():
    for d in (1, 12):
        close("BA-ELSE", f"d_{d}", 1 / 37)
    close("BA-ELSE", "d_13", 13**3 / (13**3 + 48))


def test_printed_scales():
    close("BA-NOISE", "quadratic", 338 + 52 / 338)
    close("BA-NOISE", "linear", 4 * 13**4 + 4 * 13)
    close("BA-NOISE", "functional", 2 * 13**2 + 4 * 13)


@pytest.mark.thorough
def test_what_a_split_spends():
    for name, loss in LOSSES.items():
        a = share(13, loss=loss)
        one, two = ((1, 338), (2, 52)) if name == "linear" else ((1 / 8, 42.25), (1 / 2, 39))
        top = max(loss_of(u, a, 1 - a, 13, one, two) for u in np.linspace(0, 1, 10_001))
        close("BA-T3", name, top)


def test_a_tuned_share_leaks():
    for name, last in (("one", -1.0), ("other", 1.0)):
        x, y = np.array([1, 0.9, -0.5]), np.array([0.4, 0.3, last])
        theta = (x @ y) / (x @ x)
        # the error is 1/4 (delta v)^2 / M + theta^2 (delta M)^2 / M: A = 1 / 2M, B = 2 theta^2 / M
        cost = [2 * theta**2 * 2**2, 0.5 * 4**2]
        found = optimize.minimize_scalar(
            lambda a, cost=cost: cost[0] / a**2 + cost[1] / (1 - a) ** 2, bounds=(0, 1), method="bounded"
        ).x
        assert value("BA-BETA", name) == pytest.approx(found, abs=1e-5)
    assert value("BA-BETA", "one") != value("BA-BETA", "other")


def test_the_noisy_objective_may_have_no_minimum():
    # d = 1: the else branch, 2 / (16 + 2) = 1/9, so the scale is 2 / (1/9)
    close("BA-ARGMIN", "scale", 18)
    close("BA-ARGMIN", "chance", integrate.quad(lambda z: math.exp(-abs(z - 2.06) / 18) / 36, -900, 0)[0])


def test_dpc_by_hand():
    normal = 1 / (12 / 13 + 0.01 / 13)
    close("BA-DPC", "others", normal)
    close("BA-DPC", "sensitive", normal / 100)
    d, budgets = 13, np.full(13, normal)
    budgets[4] /= 100
    entry = np.minimum(budgets[:, None], budgets) / 81.25  # epsilon over Delta of each ordered product
    rng, best = np.random.default_rng(0), 0.0
    for common in np.linspace(0.4, 1, 241):
        for own in (0.0, 0.5, 1.0, common):
            u = np.full(d, common)
            u[4] = own
            E = np.outer(u, 1 - u)
            best = max(best, (entry * 2 * (E + E.T)).sum() / 8 + (budgets / 81.25 * 2 * u).sum() / 2)
    assert best == pytest.approx(value("BA-DPC", "spent"), abs=1e-5)
    for _ in range(3000):
        u = rng.uniform(size=d)
        E = np.outer(u, 1 - u)
        assert (entry * 2 * (E + E.T)).sum() / 8 + (budgets / 81.25 * 2 * u).sum() / 2 <= value(
            "BA-DPC", "spent"
        ) + 1e-6
    # all sensitive beside a constant: v_0 changes by 1 at epsilon_n = 100; all else at epsilon_s = 1; Delta = 91
    p, delta = 14, 14**2 / 4 + 3 * 14
    z, grid = np.ones(p + 1), np.linspace(-1, 1, 4001)
    loss = []
    for x in grid:
        other = np.r_[-1.0, 1.0, np.full(13, x)]
        E = np.abs(np.outer(z, z) - np.outer(other, other))
        loss.append((E[1:, 1:].sum() / 8 + E[0, 2:].sum() / 2 + 100 * E[0, 1] / 2) / delta)
    assert max(loss) == pytest.approx(value("BA-DPC", "broken"), abs=1e-6)


def test_privr_ledger():
    f = objective(SQUARED, cube(4))
    for epsilon in (1.0, 0.37):
        step = privr(f, epsilon, random_state=1)
        spends = [spend.epsilon for spend in step.ledger + release(f, step.scales, random_state=2).ledger]
        assert spends[0] / epsilon == pytest.approx(value("BA-PRIVR", "relevance"), rel=1e-12)
        assert spends[1] / epsilon == pytest.approx(value("BA-PRIVR", "objective"), rel=1e-12)
        assert sum(spends) / epsilon == pytest.approx(value("BA-PRIVR", "total"), rel=1e-12)


# --- shares


def test_the_closed_form_of_what_a_split_spends():
    for d, a in itertools.product((1, 3, 13), np.linspace(0.02, 0.98, 13)):
        line = (1 + a) ** 2 / (8 * a) if a >= 1 / 3 else 1 - a
        label = (1 + 5 * a) ** 2 / (72 * a) if a >= 1 / 7 else (1 - a) / 3
        assert certify(dpba(cube(d), 2.0, split=a), cube(d)) == pytest.approx(2 * line, rel=1e-12)
        found = certify(dpba(cube(d), 2.0, split=a, loss=TAYLOR), cube(d), loss=TAYLOR)
        assert found == pytest.approx(2 * label, rel=1e-12)
        assert line < 1
        assert label <= 0.5


@pytest.mark.parametrize("d", range(1, 21))
def test_printed_shares_in_closed_form(d):
    assert share(d) == pytest.approx(d**3 / (d**3 + 1) if d >= 3 else 1 / 9, rel=1e-14)
    assert share(d, loss=TAYLOR) == pytest.approx(d**3 / (d**3 + 48) if d >= 13 else 1 / 37, rel=1e-14)


def test_printed_share_follows_the_lines_of_the_algorithm():
    assert printed_share(4, 2, 1) == pytest.approx(4 / 18)  # line 13
    assert printed_share(4, 2) == pytest.approx(16 / 18)
    assert printed_share(2, 4) == pytest.approx(2 / 18)  # line 15
    assert printed_share(3, 3) == pytest.approx(1 / 4)
    # the mirror image of line 13 with beta = Delta_2
    assert 1 - printed_share(4, 2) == pytest.approx(printed_share(2, 4) * 2 / 2)
    assert dpba(cube(13), 1.0, beta=100.0).M[0, 0] == pytest.approx((338**2 + 52) / 100)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("d", [1, 2, 5, 13, 30])
@pytest.mark.parametrize(("split", "power"), [("variance", 2), ("l1", 1)])
def test_best_splits_by_search(split, power, d, loss):
    count, delta = np.array([d * (d + 1) / 2, d]), np.array(parts(d, loss))

    def total(a):
        return (count * (delta / [a, 1 - a]) ** power).sum()

    found = optimize.minimize_scalar(total, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    ours = share(d, split, loss=loss)
    assert ours == pytest.approx(found.x, abs=1e-6)
    assert total(ours) <= found.fun * (1 + 1e-12)
    root = count * delta**power
    assert total(ours) == pytest.approx((root ** (1 / (power + 1))).sum() ** (power + 1), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_the_proportional_split_is_the_functional_mechanism_draw_for_draw(loss):
    for domain in (cube(3), cube(3, intercept=True), Ball(np.zeros(3), 1.0, (-1, 1))):
        f = objective(loss, domain)
        ours = perturb(f, dpba(domain, 0.7, split="proportional", loss=loss), 5, draws=(3,))
        theirs = functional(domain, 0.7, sensitivity="printed", convention="monomial", loss=loss)
        if not loss.labels:  # 001 counts the constant, which is withheld here: 2 (p + 1)^2 = 2 p^2 + 4 p + 2
            theirs = theirs.times(1 - 2 / (2 * (domain.p + 1) ** 2))
        other = perturb(f, theirs, 5, draws=(3,))
        np.testing.assert_allclose(ours.M, other.M, rtol=1e-12)
        np.testing.assert_allclose(ours.v, other.v, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("split", SPLITS)
def test_no_split_costs_more_than_epsilon_and_the_search_never_beats_the_certificate(split, loss):
    for domain in (cube(1), cube(4), cube(4, corner=True), cube(3, intercept=True), Ball(np.zeros(3), 1, (-1, 1))):
        scales = dpba(domain, 0.8, split=split, loss=loss)
        for neighbours in ("replace", "add_remove"):
            cost = certify(scales, domain, neighbours, loss)
            # printed bounds are doubled single records, and with an intercept they count one predictor more
            assert cost <= 0.8 * (1 + 1e-12)
            pair = worst_pair(scales, domain, neighbours, loss=loss, restarts=40, steps=100)
            assert pair.loss <= cost * (1 + 1e-12)


def test_budgets_stack():
    stack = dpba(cube(3), [0.1, 1.0])
    np.testing.assert_array_equal(stack.M[1], dpba(cube(3), 1.0).M)
    np.testing.assert_allclose(stack.v[0], 10 * dpba(cube(3), 1.0).v)
    assert dpc(cube(3), [0.1, 1.0], [0]).batch == (2,)


@pytest.mark.parametrize(
    "make", [dpba, lambda box, eps: dpc(box, eps, [1]), lambda box, eps: dpc(box, eps, [1], share="exact")]
)
def test_without_noise_it_is_least_squares(make):
    f = objective(SQUARED, cube(3))
    scales = make(cube(3), 1e12)
    np.testing.assert_allclose(minimise(perturb(f, scales, 1)), minimise(f), rtol=1e-5)


def accepts(draws, scale):
    """The mean of |z| is the scale, with a relative standard error of 1 / sqrt(n): five of them, error rate 6e-7."""
    return abs(np.abs(draws).mean() / scale - 1) < 5 / math.sqrt(len(draws))


def test_noise_has_the_declared_scales_and_not_others():
    """With 100,000 draws a scale 5 % off is 15 standard errors away: the power is one but for rounding."""
    zero = Quadratic(np.zeros((2, 2)), np.zeros(2), np.array(0.0))
    for scales, declared in (
        (dpba(cube(2), 1.0, split=0.4), (8 / 0.4, 8 / 0.4, 8 / 0.6)),  # Delta_1 = 2 * 4 and Delta_2 = 4 * 2
        (dpc(cube(2), 1.0, [1], ratio=0.1), (8.8, 88, 88)),  # Delta = 16, k / d = 1/2: epsilon_n = 1 / 0.55
    ):
        noisy = perturb(zero, scales, 11, draws=(100_000,))
        for draws, b in zip((noisy.M[:, 0, 0], 2 * noisy.M[:, 0, 1], noisy.v[:, 1]), declared, strict=True):
            assert accepts(draws, b)
            assert not accepts(draws, 0.95 * b)
            assert not accepts(draws, 1.05 * b)
            assert stats.kstest(draws[:5000], stats.laplace(scale=b).cdf).pvalue > 1e-5


def test_releases_are_reproducible_and_do_not_see_what_was_clipped():
    X, y = np.array([[0.5, 3.0], [-0.2, 0.4]]), np.array([0.3, -9.0])
    inside = linear(np.clip(X, -1, 1), np.clip(y, -1, 1), cube(2))
    outside = linear(X, y, cube(2))
    one, two = (release(f, dpba(cube(2), 1.0), random_state=4).objective for f in (inside, outside))
    np.testing.assert_array_equal(one.M, two.M)
    np.testing.assert_array_equal(one.v, two.v)
    first, second = (privr(f, 1.0, random_state=4) for f in (inside, outside))
    np.testing.assert_array_equal(first.relevance, second.relevance)


@pytest.mark.thorough
@PROPERTY
@given(st.permutations(range(3)), st.tuples(*[st.sampled_from([-1, 1])] * 3))
def test_permuting_and_flipping_predictors_changes_the_scales_with_them(order, signs):
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (30, 3)), rng.uniform(-1, 1, 30)
    order, signs = np.array(order), np.array(signs)
    sensitive = [0, 2]
    moved = [int(np.flatnonzero(order == j)[0]) for j in sensitive]
    one, two = dpc(cube(3), 1.0, sensitive), dpc(cube(3), 1.0, moved)
    np.testing.assert_allclose(two.M, one.M[np.ix_(order, order)])
    np.testing.assert_allclose(two.v, one.v[order])
    # with next to no noise on the relevances they move with the columns, and signs do not matter
    f, g = linear(X, y, cube(3)), linear(X[:, order] * signs, y, cube(3))
    np.testing.assert_allclose(
        privr(g, 1e9, random_state=1).relevance, privr(f, 1e9, random_state=1).relevance[order], rtol=1e-5
    )


# --- DPC


def test_dpc_gives_every_monomial_of_a_sensitive_predictor_the_smaller_budget():
    scales = dpc(cube(4, intercept=True), 1.0, [1], ratio=0.1)
    unit = unit_scales("monomial", 5)
    base = (2 * 25 + 20) * (3 / 4 + 0.1 / 4)  # the printed sensitivity over epsilon_n
    less = np.ones((5, 5))
    less[2] = less[:, 2] = 10
    np.testing.assert_allclose(scales.M, unit.M * base * less)
    np.testing.assert_allclose(scales.v, base * np.array([1, 1, 10, 1, 1]))


@pytest.mark.filterwarnings("ignore::dpreg.checks.BrokenGuaranteeWarning")
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_the_exact_share_spends_everything_and_keeps_the_ratio(neighbours, loss):
    for domain, k in itertools.product((cube(4), cube(4, intercept=True), cube(4, corner=True)), (1, 2, 4)):
        scales = dpc(domain, 0.7, range(k), share="exact", loss=loss, neighbours=neighbours)
        assert certify(scales, domain, neighbours, loss) == pytest.approx(0.7, rel=1e-12)
        published = dpc(domain, 0.7, range(k), loss=loss, neighbours=neighbours, as_published=k == 4)
        np.testing.assert_allclose(scales.M / published.M, scales.v[0] / published.v[0])
        pair = worst_pair(scales, domain, neighbours, loss=loss, restarts=40, steps=100)
        assert pair.loss <= 0.7 * (1 + 1e-12)


def test_the_published_share_is_safe_without_an_intercept():
    for d, loss in itertools.product((1, 2, 5, 13), LOSSES.values()):
        for k in range(1, d + 1):
            assert certify(dpc(cube(d), 1.0, range(k), loss=loss), cube(d), loss=loss) <= 1
            touched = d**2 - (d - k) ** 2
            assert k / d <= (4 * k + 2 * touched) / (2 * d**2 + 4 * d) + 1e-12


def test_a_published_share_that_breaks_its_promise_needs_the_opt_in():
    wide = cube(13, intercept=True)
    with pytest.raises(InputError, match=r"BA-DPC.*as_published"):
        dpc(wide, 1.0, range(13))
    with pytest.warns(BrokenGuaranteeWarning, match="BA-DPC"):
        scales = dpc(wide, 1.0, range(13), as_published=True)
    assert certify(scales, wide) > 1
    assert worst_pair(scales, wide, restarts=40).loss > 1


# --- PrivR, reconstructed


def test_privr_needs_no_more_than_it_says_with_printed_sensitivities():
    for loss, domain in itertools.product(LOSSES.values(), (cube(4), cube(3, corner=True), cube(3, intercept=True))):
        f = objective(loss, domain)
        for seed in range(5):
            step = privr(f, 1.0, sensitivity="printed", random_state=seed)
            assert certify(step.scales, domain, loss=loss) <= 0.9
            p, r = domain.p, step.relevance
            weights = p * (r[:, None] + r) / 2
            assert weights.sum() == pytest.approx(p**2)
            delta = sum(parts(p, loss))
            np.testing.assert_allclose(step.scales.v, delta / (0.9 * p * r))
            np.testing.assert_allclose(np.diag(step.scales.M), delta / (0.9 * np.diag(weights)))


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_privr_spends_its_budget_exactly_on_any_domain(neighbours):
    for loss, domain in itertools.product(
        LOSSES.values(), (cube(5), cube(5, intercept=True), Ball(np.zeros(3), 1, (-1, 1)))
    ):
        f = objective(loss, domain)
        step = privr(f, 0.6, share=0.25, neighbours=neighbours, random_state=3)
        total = step.ledger + release(f, step.scales, random_state=4, neighbours=neighbours).ledger
        assert total.epsilon == pytest.approx(0.6, rel=1e-12)
        assert step.ledger.epsilon == pytest.approx(0.15, rel=1e-12)
        pair = worst_pair(step.scales, domain, neighbours, loss=loss, restarts=30, steps=100)
        assert pair.loss <= 0.45 * (1 + 1e-12)


def test_the_relevances_are_a_laplace_mechanism():
    """|sum x t| on the scale of v, with the exact sensitivity 4 d of the linear part over its budget."""
    f = objective(SQUARED, cube(2))
    step = privr(f, 1.0, share=0.5, floor=1e-6, random_state=9)
    draws = np.random.default_rng(9).laplace(size=2) * 8 / 0.5
    noisy = np.abs(f.v + draws)
    np.testing.assert_allclose(step.relevance, noisy / noisy.sum(), rtol=1e-5)
    assert step.ledger.spends[0].scale == 16
    assert step.ledger.spends[0].sensitivity == 8


def test_privr_gives_relevant_columns_less_noise_and_floors_the_rest():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (5000, 4))
    f = linear(X, X[:, 2], cube(4))
    step = privr(f, 1000.0, random_state=1)
    assert step.scales.v.argmin() == 2
    assert step.relevance.sum() == pytest.approx(1)
    assert step.relevance.min() >= 0.25 / 4 / (1 + 4 * 0.25)
    np.testing.assert_allclose(
        step.scales.M[0, 1] / step.scales.M[0, 0], 0.5 * 2 / (1 + step.relevance[1] / step.relevance[0])
    )


def test_privr_says_in_both_entries_that_the_bounds_leak():
    X, y = np.array([[0.5, 3.0], [-0.2, 0.4], [0.1, 0.9]]), np.array([0.3, -0.9, 0.1])
    with pytest.warns(PrivacyLeakWarning):
        leaky = Box.from_data(X, y)
    f = linear(X, y, leaky)
    step = privr(f, 1.0, random_state=1)
    both = step.ledger + release(f, step.scales, 2).ledger
    assert ["read off" in spend.caveat for spend in both] == [True, True]
    assert [spend.caveat for spend in privr(objective(SQUARED, cube(2)), 1.0, random_state=1).ledger] == [""]


def test_privr_charges_the_budget_and_is_refused_when_it_is_empty():
    f = objective(SQUARED, cube(2))
    budget = Budget(1.0)
    step = privr(f, 1.0, budget=budget, random_state=1)
    release(f, step.scales, 2, budget=budget)
    assert budget.remaining < 1e-9
    with pytest.raises(BudgetError):
        privr(f, 1.0, budget=budget, random_state=3)


# --- first order


def test_first_order_by_hand():
    M, theta = np.diag([2.0, 4.0]), np.array([1.0, -0.5])
    with pytest.warns(PrivacyLeakWarning):
        B, A = first_order(Quadratic(M, -2 * M @ theta, np.array(0.0)))
    assert pytest.approx((1 / 2 + 1 / 4) / 2) == A
    # K_jj = 2 theta_j^2 + (the other)^2 / 2
    assert pytest.approx((2 + 0.125) / 2 + (0.5 + 0.5) / 4) == B


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_first_order_against_simulation(loss):
    """Mean rise of the objective over 40,000 draws of small noise, within five standard errors and 2 %."""
    f = objective(loss, cube(3), n=400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        B, A = first_order(f)
    b1, b2 = (0.05, 0.2) if loss.labels else (0.5, 1.0)
    unit = unit_scales("monomial", 3)
    noisy = perturb(f, Scales(b1 * unit.M, b2 * unit.v), 5, draws=(40_000,))
    rise = f(minimise(noisy)) - f(minimise(f))
    expected = B * b1**2 + A * b2**2
    assert abs(rise.mean() - expected) < 5 * rise.std() / 200 + 0.02 * expected


def test_the_joint_release_beats_every_printed_split():
    for d in (3, 4, 5, 6, 13, 40):
        for x in np.linspace(0, 1, 21):  # A = x^3 B
            split = ((2 * d**2) ** (2 / 3) + x * (4 * d) ** (2 / 3)) ** 3
            assert split > (1 + x**3) * (d + 1) ** 4
    for d in (1, 2):
        assert ((2 * d**2) ** (2 / 3)) ** 3 < (d + 1) ** 4  # the theorem needs d of at least three
