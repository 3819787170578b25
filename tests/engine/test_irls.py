"""CDP-IRLS: the claims of 003, Sections 1 to 4, its plans and its fits."""

import dataclasses
import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from dpreg.checks import BrokenGuaranteeWarning, InputError
from dpreg.mechanisms import chi_square, irls, irls_laws, irls_moments
from dpreg.pipeline.domain import Ball
from lib.pages.claims import load
from tests.engine.reweighted import LAWS, huber, slow_step, unit
from tests.ledger import tolerance, value

KINDS = {
    "gaussian": lambda ball, size, **more: irls.gaussian(ball, size, **more),
    "Laplace": lambda ball, size, **more: irls.pure(ball, size, "Laplace", **more),
    "difference": lambda ball, size, **more: irls.pure(ball, size, **more),
    "degrees": lambda ball, size, **more: irls.degrees(ball, size, 1e-5, **more),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def published(ball, step, **more):
    with pytest.warns(BrokenGuaranteeWarning, match="IR-WISHART"):
        return irls.printed(ball, step, as_published=True, **more)


# --- claims


def test_the_solution_has_no_sensitivity():
    eta = 0.001  # one step of weight one on the first record, of weight ten on the second
    before, after = 2 * eta / (2 * eta**2), eta / (eta**2 + 10)
    assert before - after == pytest.approx(value("IR-INVERSE", "moves"), abs=tolerance("IR-INVERSE", "moves"))


@pytest.mark.thorough
def test_iterations_never_raise_the_loss():
    assert value("IR-IRLS", "rises") == 0
    X, y, ball = irls.simulated(200, d=4, random_state=1)
    Z, t = ball.scale(X, y)
    for cap in (0.5, 1.0, 10.0, 1e4):
        path = irls.irls(X, y, irls.exact(ball, cap=cap, iterations=60)).path
        F = [sum(huber(r, cap) for r in t - Z @ theta) for theta in path[:8]]
        for k in range(7):  # the theorem's decrease, not only its sign
            B = slow_step(Z, t, path[k], cap)[1]
            move = path[k + 1] - path[k]
            assert F[k + 1] <= F[k] - move @ B @ move / 2 + 1e-9
        rough = irls_moments.loss(t - Z @ path[-1], cap).sum()
        found = optimize.minimize(
            lambda th, cap=cap: irls_moments.loss(t - Z @ th, cap).sum(), path[-1], method="Powell"
        )
        assert rough <= found.fun + 1e-3 * abs(found.fun)


def test_large_cap_gives_least_absolute_deviations():
    X, y, ball = irls.simulated(120, d=3, random_state=2)
    Z, t = ball.scale(X, y)
    # some vertex is optimal: the plane through three records
    vertices = [
        np.linalg.solve(Z[list(rows)], t[list(rows)]) for rows in itertools.islice(combinations_near(Z, t), 4000)
    ]
    best = min(np.abs(t - Z @ theta).sum() for theta in vertices)
    theta = irls.irls(X, y, irls.exact(ball, cap=1e5, iterations=400)).theta
    assert value("IR-L1", "excess") == 0
    assert np.abs(t - Z @ theta).sum() / best - 1 == pytest.approx(0, abs=tolerance("IR-L1", "excess"))


def combinations_near(Z, t):
    """Triples of the records nearest to the least-squares plane; the optimal vertex has small residuals."""
    near = np.argsort(np.abs(t - Z @ np.linalg.lstsq(Z, t)[0]))[:30]
    return itertools.combinations(near, 3)


def test_cap_does_not_set_sparsity():
    claim = load()["IR-SPARSE"].values
    X, y, ball = irls.simulated(400, d=10, random_state=3)
    for cap in (1.0, 10.0, 1000.0):
        theta = irls.irls(X, y, irls.exact(ball, cap=cap, iterations=100)).theta
        assert (np.abs(theta) > 1e-6).sum() == 10 == claim[f"k{cap:.0f}"]
    # least absolute deviations as a linear program: residuals are plus minus minus, both at least zero
    Z, t = ball.scale(X, y)
    n, eye = len(t), np.eye(len(t))
    cost, bounds = np.r_[np.zeros(10), np.ones(2 * n)], [(None, None)] * 10 + [(0, None)] * (2 * n)
    found = optimize.linprog(cost, A_eq=np.c_[Z, eye, -eye], b_eq=t, bounds=bounds, method="highs-ds")
    assert (np.abs(t - Z @ found.x[:10]) < 1e-9).sum() == claim["zero_residuals"] == 10


def test_solution_is_a_function_of_what_was_released():
    """Two data sets with the same moments give the same parameter, bit for bit, and cost the same."""
    assert value("IR-FREE", "difference") == 0
    X, y, ball = irls.simulated(50, d=3, random_state=4)
    plan = irls.gaussian(ball, value("IR-FREE", "rho"), iterations=1)
    one, two = irls.irls(X, y, plan, 5), irls.irls(np.r_[X, -X], np.r_[y, -y], plan, 5)
    half = irls.irls(np.r_[X, X], np.r_[y, y], plan, 5)
    np.testing.assert_allclose(two.theta, half.theta, rtol=1e-9)
    assert one.ledger == two.ledger
    assert one.ledger.rho == pytest.approx(0.9, abs=1e-12)


def test_an_unclipped_row_breaks_the_bound():
    B = slow_step(np.array([[10.0, 0, 0, 0]]), [0.0], np.zeros(4), 10.0)[1]
    assert np.trace(B) / 10.0 == pytest.approx(value("IR-BOUNDS", "times"))
    X, y = [[10.0, 0.0], [0.1, 0.2]], [5.0, 0.3]
    inside = irls.irls([[1.0, 0.0], [0.1, 0.2]], [1.0, 0.3], irls.gaussian(unit(2), 1.0), 1)
    assert (irls.irls(X, y, irls.gaussian(unit(2), 1.0), 1).path == inside.path).all()


def test_noise_on_sums_does_not_depend_on_n():
    assert value("IR-SCALE", "ratio") == pytest.approx((1000 / 10_000) ** 2)
    ball, rng = unit(2), np.random.default_rng(6)
    plan, spread = irls.pure(ball, 1.0, "Laplace", iterations=1), []
    for n in (3, 3000):  # rows of zeros: the released moments are the noise, whatever n
        table = ball.table(np.zeros((n, 2)), np.zeros(n))
        gram = irls_moments.moments(table, [0.0, 0.0], plan.cap)
        spread.append((gram[0, 1:] + plan.first.vector(2, rng, (20_000,))).std())
    # the standard error of a Laplace standard deviation is sqrt(5/4n) of it, here of 40,000 draws
    assert spread[0] / spread[1] == pytest.approx(1, abs=5 * math.sqrt(2 * 5 / 4 / 40_000))


def test_laplace_step_costs_what_it_says():
    plan = irls.pure(unit(4), 1.0, "Laplace", iterations=1)
    assert plan.first.scale == pytest.approx(2 * 10 * 2 / 0.5)
    assert value("IR-LAPLACE", "loss") == pytest.approx(40 / plan.first.scale)


def test_classical_gaussian():
    claim = load()["IR-GAUSS"].values
    assert claim["c_squared"] == pytest.approx(2 * math.log(0.125), abs=1e-6)
    c, eps = math.sqrt(2 * math.log(1.25e5)), 0.9
    assert value("IR-GAUSS-C", "factor") == pytest.approx(c, abs=1e-6)
    # delta = integral of (p - e^eps q)_+ for unit sensitivity, by quadrature
    sigma = c / eps
    p, q = stats.norm(1, sigma), stats.norm(0, sigma)
    crossing = eps * sigma**2 + 0.5
    delta = integrate.quad(lambda u: p.pdf(u) - math.exp(eps) * q.pdf(u), crossing, crossing + 80, epsabs=1e-16)[0]
    assert delta / 1e-5 == pytest.approx(claim["share"], abs=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_wishart_step_leaves_a_gap(d):
    """P(x'W^-1 x > 1) by another route: sums of outer products of normal vectors, as 003 draws them (Eq. 6)."""
    eps, cap, draws = 0.3, 10.0, 40_000
    exact = 1 - math.exp(-eps)
    assert value("IR-WISHART", "exact") == value("IR-WISHART", f"d{d}") == pytest.approx(exact, abs=1e-6)
    assert tolerance("IR-WISHART", f"d{d}") == pytest.approx(4 * math.sqrt(exact * (1 - exact) / 20_000), abs=1e-4)
    z = np.random.default_rng(d).normal(size=(draws, d + 1, d)) * math.sqrt(cap / (2 * eps))
    W = np.swapaxes(z, -1, -2) @ z
    x = np.random.default_rng(99).normal(size=d)
    x /= np.linalg.norm(x)
    share = (np.linalg.eigvalsh(W - cap * np.outer(x, x))[:, 0] < 0).mean()
    assert abs(share - exact) < 4 * math.sqrt(exact * (1 - exact) / draws)
    plan = published(unit(d), eps, cap=cap)
    assert plan.second.scale**2 == pytest.approx(cap / (2 * eps))
    assert plan.second.degrees == d + 1
    assert plan.ledger.spends[1].delta == pytest.approx(exact)


@pytest.mark.thorough
def test_wishart_noise_is_larger_than_gaussian_noise_of_the_same_price():
    """Both loops written out with numpy alone, on other seeds; only the noise on the second moment differs."""
    claim = load()["IR-BETTER"]
    rng, n, d, cap, J = np.random.default_rng(9), 10_000, 10, 10.0, 5
    step, ratios = math.sqrt(0.9 / J), []
    sigma = cap * math.sqrt(2) / step  # rho = step^2 / 2 each
    z = rng.normal(size=(20_000, d + 1, d)) * math.sqrt(cap / (2 * step))
    W, G = np.swapaxes(z, -1, -2) @ z, rng.normal(size=(20_000, d, d)) * sigma
    G = (G + np.swapaxes(G, -1, -2)) / 2  # sd sigma on the diagonal, sigma / sqrt(2) off it
    level = math.sqrt((W**2).sum() / (G**2).sum())
    assert level == pytest.approx(11 / math.sqrt(2 * 11), rel=0.02)  # E|W|^2 = 2 d (d + 1)^2 s^4, by hand
    assert level == pytest.approx(claim.values["noise"], abs=claim.tolerances["noise"])
    for k in range(40):
        x = rng.normal(size=(n + 1000, d)) / (math.sqrt(d) + 3)
        x /= np.maximum(np.linalg.norm(x, axis=1), 1)[:, None]
        y = x @ rng.normal(size=d) + 0.1 * rng.normal(size=len(x))
        errors = []
        for original in (True, False):
            theta = np.zeros(d)
            for j in range(J):
                t = np.clip(y[:n] / 2, -1, 1)
                s = 1 / np.maximum(1 / cap, np.abs(t - x[:n] @ theta))
                A, B = (x[:n] * s[:, None]).T @ t, (x[:n] * s[:, None]).T @ x[:n]
                A = A + rng.normal(size=d) * 2 * cap / step
                if original:
                    theta = np.linalg.solve(B + W[J * k + j], A)
                else:
                    values, Q = np.linalg.eigh(B + G[J * k + j])
                    theta = Q @ (Q.T @ A / np.maximum(values, sigma * math.sqrt((d + 1) / 2)))
            errors.append(np.abs(y[n:] - 2 * x[n:] @ theta).mean())
        ratios.append(errors[0] / errors[1])
    assert np.median(ratios) == pytest.approx(claim.values["errors"], abs=claim.tolerances["errors"])


def test_iterations_expose_a_record():
    exact = 1 - math.exp(-math.sqrt(5 * 0.9))
    claim = load()["IR-EXPOSED"]
    assert claim.values["exact"] == claim.values["simulated"] == pytest.approx(exact, abs=1e-6)
    assert claim.tolerances["simulated"] == pytest.approx(4 * math.sqrt(exact * (1 - exact) / 500), abs=1e-3)
    # with full weights the iterations fail independently: five exponentials in one dimension, Eq. 6 with d = 1
    rng, step = np.random.default_rng(10), math.sqrt(0.9 / 5)
    W = rng.chisquare(2, size=(100_000, 5)) / (2 * step)
    share = (W < 1).any(axis=1).mean()
    assert abs(share - exact) < 4 * math.sqrt(exact * (1 - exact) / 100_000)


@pytest.mark.filterwarnings("ignore::dpreg.checks.BrokenGuaranteeWarning")
def test_exposure_is_the_delta_of_all_steps_together():
    """The ledger adds up to more. Other noise exposes nothing, other degrees promise nothing."""
    for turns in (1, 5):
        plan = irls.printed(unit(3), 0.4, iterations=turns, as_published=True)
        assert plan.exposure == pytest.approx(1 - math.exp(-0.4 * turns), rel=1e-12)
        assert plan.ledger.delta == pytest.approx(turns * (1 - math.exp(-0.4)), rel=1e-12)
        assert irls.gaussian(unit(3), 0.4, iterations=turns).exposure == irls.pure(unit(3), 0.4).exposure == 0
        assert dataclasses.replace(plan, second=irls_laws.Wishart(1.0, 7)).exposure == 1


def test_exposure_is_asked_of_the_law_whoever_made_it():
    class Mine(irls_laws.Laplace):
        one_sided = True

        def promise(self, loss, p, neighbours):
            return loss, 0.1, math.inf

    plan = dataclasses.replace(irls.pure(unit(3), 0.4, "Laplace", iterations=4), second=Mine(2.0))
    assert plan.exposure == pytest.approx(1 - 0.9**4)


def test_one_predictor_and_a_long_theta():
    """thm-irls-wishart for d = 1: B can move by kappa up to |theta| = 1 + 1 / kappa, and by less beyond."""
    x, t = np.meshgrid(np.linspace(0, 1, 401), np.linspace(-1, 1, 401))
    for cap in (1.0, 5.0):
        for theta, full in ((0.9, True), (1 + 1 / cap, True), (1.1 * (1 + 1 / cap), False), (9.0, False)):
            change = (x**2 / np.maximum(1 / cap, np.abs(t - x * theta))).max()
            assert (change > cap * (1 - 1e-9)) == full
            if not full:
                ends = cap * ((1 + 1 / cap) / theta) ** 2, 1 / (theta - 1)
                assert change == pytest.approx(max(ends), rel=0.02)


def test_printed_algorithm_is_the_first_iteration():
    X, y, ball = irls.simulated(80, d=3, random_state=11)
    Z, t = ball.scale(X, y)
    theta = irls.irls(X, y, irls.exact(ball, cap=1.0, iterations=1)).theta
    np.testing.assert_allclose(theta, np.linalg.lstsq(Z, t)[0], atol=tolerance("IR-ALG", "difference"))
    assert value("IR-ALG", "difference") == 0


def test_normalising_by_the_data_leaks():
    before, after = 10 * 1000, 10 * (1 + 999 / 100)  # kappa times the squared norms
    assert (before - after) / 20 == pytest.approx(value("IR-LEAK", "times"), abs=1e-3)


def test_unstated_settings_change_the_noise():
    assert value("IR-UNSTATED", "ratio") == pytest.approx(100 * math.sqrt(10), abs=1e-6)


# --- plans and fits


@each_kind
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("iterations", [1, 3, 7])
def test_ledger_total_is_the_declared_budget(kind, neighbours, iterations):
    ball = unit(3, intercept=True)
    plan = KINDS[kind](ball, 0.7, iterations=iterations, neighbours=neighbours)
    ledger = irls.irls(np.zeros((5, 3)), np.zeros(5), plan, 1).ledger
    assert len(ledger.spends) == 2 * iterations
    total = ledger.rho if kind == "gaussian" else ledger.epsilon
    assert abs(total - 0.7) < 1e-12
    assert (0.8e-5 < ledger.delta <= 1e-5 * (1 + 1e-12)) if kind == "degrees" else ledger.delta == 0
    assert {spend.neighbours for spend in ledger} == {neighbours}


@each_kind
def test_scales_are_sensitivity_over_share(kind):
    ball, size = unit(5), irls_moments.sensitivities(unit(5), 3.0)
    plan = KINDS[kind](ball, 0.8, cap=3.0, iterations=2)
    first, second, share = plan.first, plan.second, 0.2
    if kind == "gaussian":
        assert first.scale == pytest.approx(size.first_l2 / math.sqrt(2 * share))
        assert second.scale == pytest.approx(size.frobenius / math.sqrt(2 * share))
        return
    assert first.scale == pytest.approx(size.first_l1 / share)
    if kind == "Laplace":
        assert second.scale == pytest.approx(size.triangle / share)
    elif kind == "difference":
        assert 2 * second.scale**2 == pytest.approx(size.nuclear / share)
        assert second.degrees == 6
    else:
        assert second.scale**2 == pytest.approx(size.row)
        half = share / 2, 0.5e-5 / (1 + math.exp(share / 2))
        nu = second.degrees - 4
        assert chi_square.delta(*half[:1], nu, 1.0) <= half[1] < chi_square.delta(half[0], nu - 1, 1.0)


def test_printed_shares():
    plan = published(unit(4), 0.5, first="gaussian", delta=1e-6, iterations=3)
    assert plan.first.scale == pytest.approx(math.sqrt(2 * math.log(1.25e6)) * 20 / 0.5)
    first, second = plan.ledger.spends[:2]
    mu = 0.5 / math.sqrt(2 * math.log(1.25e6))
    # the true delta of this sigma, by the survival functions of the loss, which is normal; not the one asked for
    loss = stats.norm(mu**2 / 2, mu)
    assert first.delta == pytest.approx(loss.sf(0.5) - math.exp(0.5) * stats.norm(-(mu**2) / 2, mu).sf(0.5), rel=1e-6)
    assert (first.epsilon, first.delta < 1e-6) == (0.5, True)
    assert first.rho == pytest.approx(mu**2 / 2)
    assert plan.ledger.rho == math.inf
    assert "impossible" in second.caveat
    assert (second.epsilon, second.delta) == (pytest.approx(0.5), pytest.approx(1 - math.exp(-0.5)))
    assert published(unit(4), 0.5).first.scale == pytest.approx(40 / 0.5)


def test_a_fit_without_noise_has_no_finite_ledger():
    ledger = irls.irls(np.zeros((3, 2)), np.zeros(3), irls.exact(unit(2)), 1).ledger
    assert (ledger.epsilon, ledger.rho) == (math.inf, math.inf)
    for law in ("Laplace", "Gaussian", "Wishart difference", "centred Wishart"):  # nor has noise of scale zero
        plan = irls.Plan(unit(2), 10.0, 1, irls_laws.Laplace(1.0), LAWS[law](0.0, 3))
        assert (plan.ledger.spends[1].epsilon, plan.ledger.spends[1].rho) == (math.inf, math.inf)


@each_kind
def test_ledger_is_worked_out_from_the_noise(kind):
    """The plan of one cap, ball or number of columns, taken to another, is charged what it costs there."""
    plan = KINDS[kind](unit(3), 0.7, cap=2.0, iterations=2)

    def loss(ledger):
        return math.sqrt(ledger.rho) if kind == "gaussian" else ledger.epsilon

    wider = dataclasses.replace(plan, cap=6.0).ledger
    more = dataclasses.replace(plan, domain=unit(3, intercept=True)).ledger
    longer = dataclasses.replace(plan, iterations=4).ledger
    if kind == "degrees":  # epsilon is fixed, and delta gives way
        assert wider.delta > 1e3 * plan.ledger.delta
        assert more.delta > 10 * plan.ledger.delta
        assert longer.delta == pytest.approx(2 * plan.ledger.delta)
    else:
        assert loss(wider) == pytest.approx(3 * loss(plan.ledger))
        assert loss(more) > 1.3 * loss(plan.ledger)
        assert loss(longer) == pytest.approx(loss(plan.ledger) * (math.sqrt(2) if kind == "gaussian" else 2))
    other = dataclasses.replace(plan, neighbours="add_remove").ledger
    assert (other.delta < plan.ledger.delta) if kind == "degrees" else loss(other) < loss(plan.ledger)


def test_wrong_degrees_promise_nothing():
    for law in ("Wishart difference", "Wishart"):  # only with p + 1 is there no determinant in the density
        for degrees, finite in ((3, False), (4, True), (5, False)):
            plan = irls.Plan(unit(3), 1.0, 1, irls_laws.Laplace(9.0), LAWS[law](1.0, degrees))
            assert (plan.ledger.epsilon < math.inf) == finite


@pytest.mark.filterwarnings("ignore::dpreg.checks.PrivacyLeakWarning")
@each_kind
def test_bounds_from_the_data_are_on_the_ledger(kind):
    X, y = np.random.default_rng(27).normal(size=(9, 2)), np.arange(9.0)
    leaky = KINDS[kind](Ball.from_data(X, y), 1.0).ledger
    assert all("read off the data" in spend.caveat for spend in leaky)
    assert not any(spend.caveat for spend in KINDS[kind](unit(2), 1.0).ledger)


def test_printed_needs_the_opt_in():
    with pytest.raises(InputError, match="IR-WISHART"):
        irls.printed(unit(2), 0.5)


@each_kind
def test_large_budget_gives_the_fit_without_privacy(kind):
    X, y, ball = irls.simulated(300, d=3, random_state=19)
    size = 1e24 if kind == "gaussian" else 1e12
    if kind == "degrees":  # one-sided noise cannot shrink with epsilon, only next to more and more records
        X, y, size = np.tile(X, (1000, 1)), np.tile(y, 1000), 8.0
    plain = irls.irls(X, y, irls.exact(ball, iterations=4))
    close = irls.irls(X, y, KINDS[kind](ball, size, iterations=4), 1)
    slack = {"rtol": 0.01, "atol": 0.01} if kind == "degrees" else {"rtol": 1e-6, "atol": 1e-8}
    np.testing.assert_allclose(close.path, plain.path, **slack)


@given(st.permutations(range(4)), st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4), st.floats(0.1, 50))
@settings(max_examples=30, deadline=None)
def test_permuted_and_flipped_features(order, signs, cap):
    X, y, ball = irls.simulated(60, d=4, random_state=20)
    plan = irls.exact(ball, cap=cap)
    plain = irls.irls(X, y, plan).theta
    moved = irls.irls(X[:, order] * signs, y, plan).theta
    np.testing.assert_allclose(moved, plain[list(order)] * signs, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(irls.irls(X, -y, plan).theta, -plain, rtol=1e-9)


@each_kind
def test_same_seed_same_release(kind):
    X, y, ball = irls.simulated(40, d=2, random_state=21)
    plan = KINDS[kind](ball, 1.0)
    first, again = irls.irls(X, y, plan, 3), irls.irls(X, y, plan, 3)
    assert (first.path == again.path).all()
    assert (first.theta != irls.irls(X, y, plan, 4).theta).all()


@each_kind
def test_clipped_twin_gives_the_same_release(kind):
    ball = Ball([1.0, 2.0], 2.0, response=(0.0, 5.0))
    X, y = np.array([[9.0, 2.0], [1.5, 2.5], [1.0, 1.0]]), np.array([7.0, 2.0, -3.0])
    twin, clipped = np.array([[3.0, 2.0], [1.5, 2.5], [1.0, 1.0]]), np.clip(y, 0, 5)
    plan = KINDS[kind](ball, 1.0)
    assert (irls.irls(X, y, plan, 5).path == irls.irls(twin, clipped, plan, 5).path).all()


def test_plans_go_side_by_side():
    """Each releases what it would alone, whatever the caps and the iterations of the others."""
    X, y, ball = irls.simulated(300, d=3, random_state=23)
    plans = [
        irls.exact(ball),
        *(make(ball, 5.0, cap=k + 1.0, iterations=k + 1) for k, make in enumerate(KINDS.values())),
    ]
    paths = irls.follow(plans, ball.table(X, y), [np.random.default_rng(k) for k in range(len(plans))])
    for k, (plan, path) in enumerate(zip(plans, paths, strict=True)):
        alone = irls.irls(X, y, plan, np.random.default_rng(k)).path
        np.testing.assert_allclose(path, alone, rtol=1e-9, atol=1e-9)


def test_each_iteration_has_fresh_noise():
    plan = irls.gaussian(unit(2), 1.0, iterations=3)
    rng = np.random.default_rng(22)
    path = irls.irls(np.zeros((3, 2)), np.zeros(3), plan, rng).path
    rng, expected = np.random.default_rng(22), []
    for _ in range(3):  # rows of zeros: nothing but noise is solved
        first = rng.standard_normal(2) * plan.first.scale
        g = rng.standard_normal(3) * plan.second.scale
        G = np.array([[g[0], g[1] / math.sqrt(2)], [g[1] / math.sqrt(2), g[2]]])
        values, Q = np.linalg.eigh(G)
        floor = plan.second.scale * math.sqrt(1.5)
        expected.append(Q @ (Q.T @ first / np.maximum(values, floor)))
    np.testing.assert_allclose(path[1:], expected)


def test_floor_bounds_the_solution():
    rng = np.random.default_rng(23)
    for _ in range(100):
        A, M = rng.normal(size=3), rng.normal(size=(3, 3))
        theta = irls.lifted(A, M + M.T, 0.5)
        assert np.linalg.norm(theta) <= np.linalg.norm(A) / 0.5 * (1 + 1e-12)
    np.testing.assert_allclose(irls.lifted([1.0, 1.0], np.ones((2, 2)), 0.0), [0.5, 0.5])  # the smallest norm


def test_model_is_in_the_users_units():
    rng = np.random.default_rng(24)
    ball = Ball([10.0, -5.0], 4.0, response=(0.0, 100.0), intercept=True)
    X = np.array([10.0, -5.0]) + rng.uniform(-2, 2, (400, 2))
    y = 50 + X @ [3.0, 2.0] - 20
    fit = irls.irls(X, y, irls.exact(ball, cap=100.0, iterations=20))
    np.testing.assert_allclose(fit.model.predict(X), y, atol=1e-6)


def test_simulated_records():
    X, y, ball = irls.simulated(20_000, d=10, random_state=25)
    norm = np.linalg.norm(X, axis=1)
    assert norm.max() <= 1 + 1e-12
    assert (norm > 1 - 1e-12).mean() < math.exp(-4.5)
    theta = np.linalg.lstsq(X, y)[0]
    assert np.std(y - X @ theta) == pytest.approx(0.1, rel=0.02)
    assert X.std() == pytest.approx(1 / (math.sqrt(10) + 3), rel=0.01)
    assert ball.response == (-2.0, 2.0)


def test_warning_is_the_only_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in KINDS.values():
            make(unit(2), 1.0)
