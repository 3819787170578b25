"""Composition and conversion: the claims of 003, Sections 1 and 3, and the mathematics of dpreg/accounting.py.

The independent computations are mpmath at 40 digits, closed forms, and Google's dp_accounting.
"""

import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpreg import accounting
from dpreg.accounting import MeanCDP, gdp_delta, gdp_epsilon, gdp_mu, rho_for, zcdp_to_dp
from dpreg.checks import InputError
from dpreg.pipeline.ledger import Spend
from lib.pages.claims import load
from tests.ledger import value

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dp_accounting
    from dp_accounting import gaussian_mechanism
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.rdp import rdp_privacy_accountant as rdp

mp.mp.dps = 40
REPLACE = dp_accounting.NeighboringRelation.REPLACE_ONE

deltas = st.floats(-300, -0.05).map(lambda power: 10.0**power)
losses = st.floats(-6, 3).map(lambda power: 10.0**power)
rhos = st.floats(-9, 4).map(lambda power: 10.0**power)
counts = st.integers(1, 300)
many = settings(max_examples=200, deadline=None)
some = settings(max_examples=40, deadline=None)


def near(claim, **found):
    assert found.keys() == load()[claim].values.keys()
    for name, number in found.items():
        assert float(number) == pytest.approx(value(claim, name), abs=1e-6), name


# --- independent computations


def gauss(mu, epsilon):
    """delta of a Gaussian release, 40 digits after those that cancel for small mu."""
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    with mp.workdps(40 + max(0, int(-mp.log10(mu)))):
        tail = [mp.erfc((epsilon / mu + sign * mu / 2) / mp.sqrt(2)) / 2 for sign in (-1, 1)]
        return tail[0] - mp.exp(epsilon) * tail[1]


def responses(epsilon, k, total):
    """delta of k answers by randomised response, 40 digits, summed over all numbers of true answers."""
    epsilon, total, delta = mp.mpf(epsilon), mp.mpf(total), mp.mpf(0)
    truth = 1 / (1 + mp.exp(-epsilon))
    for j in range(k + 1):
        loss = (2 * j - k) * epsilon
        if loss > total:
            delta += mp.binomial(k, j) * truth**j * (1 - truth) ** (k - j) * (1 - mp.exp(total - loss))
    return delta


def tight(rho, delta):
    """The conversion by the best of many orders, 40 digits; no stationary point is used."""
    rho, level = mp.mpf(rho), -mp.log(mp.mpf(delta))

    def at(s):
        return rho * (1 + s) + (level - mp.log1p(s)) / s + mp.log(s / (1 + s))

    low, high = mp.mpf(10) ** -20, mp.sqrt(level / rho) * 2
    golden = (mp.sqrt(5) - 1) / 2
    low, high = mp.log(low), mp.log(high)
    a, b = high - golden * (high - low), low + golden * (high - low)
    first, second = at(mp.exp(a)), at(mp.exp(b))
    for _ in range(95):  # each point is tried once: what was a becomes b, and the other way round
        if first < second:
            high, b, second = b, a, first
            a = high - golden * (high - low)
            first = at(mp.exp(a))
        else:
            low, a, first = a, b, second
            b = low + golden * (high - low)
            second = at(mp.exp(b))
    return max(mp.mpf(0), min(first, second))


def printed(epsilon, k, delta):
    epsilon = mp.mpf(epsilon)
    return mp.sqrt(-2 * k * mp.log(mp.mpf(delta))) * epsilon + k * epsilon * mp.expm1(epsilon)


# --- claims


def test_basic_composition_is_attained():
    k, epsilon = 10, 0.3
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    near("IR-BASIC", bound=k * epsilon, attained=k * math.log(truth / (1 - truth)))


def test_advanced_composition_is_loose():
    k, epsilon, delta = 20, 0.3, 1e-4
    exact = mp.findroot(lambda e: responses(epsilon, k, e) - delta, (4.81, 5.09), solver="anderson", tol=1e-20)
    near("IR-ADVANCED", printed=printed(epsilon, k, delta), basic=k * epsilon, exact=exact)


def test_advanced_share_against_the_basic_one():
    def share(k):
        return float(mp.findroot(lambda e: printed(e, k, 1e-5) - mp.mpf("0.9"), 0.9 / math.sqrt(24 * k)))

    wins = next(k for k in range(1, 100) if share(k) > 0.9 / k)
    near(
        "IR-ADVANCED-SHARE",
        basic_20=0.9 / 20,
        advanced_20=share(20),
        basic_200=0.9 / 200,
        advanced_200=share(200),
        wins_from=wins,
    )


def test_delta_is_less_than_the_chance_of_a_large_loss():
    # the loss of a shift by one deviation is normal with mean 1/2 and variance one
    loss = stats.norm(0.5, 1)
    delta = integrate.quad(lambda x: -math.expm1(1 - x) * loss.pdf(x), 1, 12)[0]
    factor = math.sqrt(math.log(1e12) / math.log(1e6))
    near("IR-DELTA", chance=loss.sf(1), delta=delta, factor=factor)


def test_difference_in_probability_is_no_sensitivity():
    """All outputs between two counts: half the integral of the absolute difference of the densities."""
    epsilon = 0.3

    def apart(x):
        return abs(math.exp(-epsilon * abs(x)) - math.exp(-epsilon * abs(x - 1))) * epsilon / 2

    difference = integrate.quad(apart, -150, 150, points=[0, 0.5, 1], limit=500)[0] / 2
    near("IR-SENSITIVITY", sensitivity=len([0, 0]) - len([0]), difference=difference)


@pytest.mark.thorough
def test_mean_loss_by_direct_search():
    """All laws on two outputs within e^epsilon of each other, on a fine grid; and an integral for Laplace noise."""
    epsilon = 0.3
    p, q = np.meshgrid(*[np.linspace(0.3, 0.7, 2001)] * 2)
    first, second = np.log(p / q), np.log((1 - p) / (1 - q))
    allowed = (np.abs(first) <= epsilon) & (np.abs(second) <= epsilon)
    least = np.where(allowed, p * first + (1 - p) * second, 0).max()
    exact = epsilon * (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1)
    assert exact - 2e-4 < least <= exact
    laplace = integrate.quad(lambda z: (abs(z + epsilon) - abs(z)) * math.exp(-abs(z)) / 2, -50, 50, points=[-0.3, 0])
    near("IR-DR-KL", quoted=epsilon * (math.exp(epsilon) - 1) / 2, least=exact, laplace=laplace[0])


def test_adaptive_choice_breaks_the_centred_definition():
    mu = 2.0
    first = stats.norm(mu, math.sqrt(2 * mu))
    tail = [integrate.quad(lambda x, n=n: x**n * first.pdf(x), mu, 40)[0] for n in (0, 1, 2)]
    head = [integrate.quad(lambda x, n=n: x**n * first.pdf(x), -40, mu)[0] for n in (0, 1, 2)]
    # above its mean the second loss, of mean mu and variance 2 mu, is added
    mean = head[1] + tail[1] + mu * tail[0]
    square = head[2] + tail[2] + 2 * mu * tail[1] + (mu**2 + 2 * mu) * tail[0]
    near("IR-COMPOSE", variance=square - mean**2, bound=2 * (2 * mu))
    assert square - mean**2 > value("IR-COMPOSE", "bound")


def test_quoted_cost_exceeds_the_budget():
    found = {}
    for J in (1, 5, 10, 50):
        share = mp.sqrt(mp.mpf("1.8") / J)
        found[f"J{J}"] = J * share * mp.expm1(share) / 2
        assert found[f"J{J}"] > 0.9
    near("IR-DIRECTION", **found)


def test_sharp_cost_stays_within_the_budget():
    found = {}
    for J in (1, 5, 10, 50):
        e = mp.sqrt(mp.mpf("1.8") / J)
        found[f"J{J}"] = J * e * (mp.exp(e) - 1) / (mp.exp(e) + 1)
        assert found[f"J{J}"] < 0.9
    # All 2^20 sequences of answers, one by one, each ended where the lies lead by three.
    codes = np.arange(2**20)
    lead, chance, live = np.zeros(2**20, dtype=int), np.ones(2**20), np.ones(2**20, dtype=bool)
    for bit in range(20):
        true = (codes >> bit & 1).astype(bool)
        chance *= np.where(true, stats.logistic.cdf(0.3), stats.logistic.sf(0.3))
        lead += np.where(live, np.where(true, 1, -1), 0)
        live &= lead > -3
    mean = chance @ (0.3 * lead)
    variance = chance @ (0.3 * lead - mean) ** 2
    near("IR-RESCUE", **found, tau=mp.sqrt("1.8"), bound=20 * 0.3**2, variance=variance)
    assert variance > value("IR-RESCUE", "bound")
    upper = [math.log(chance @ np.exp(s * (0.3 * lead - 20 * 0.3 * math.tanh(0.15)))) / s**2 for s in (0.1, 1, 5, 30)]
    assert max(upper) <= 1.8 / 2


def test_laplace_releases_that_stop_have_more_variance():
    """Each loss on a grid of sixteenths of epsilon; what falls between two points goes to both, with its mean."""
    J, grid = 200, 16
    epsilon = math.sqrt(1.8 / J)
    edges = np.linspace(-1, 1, 2 * grid * 50 + 1)
    mass = np.diff(np.exp(epsilon * (edges - 1) / 2)) / 2
    places = (edges[1:] + edges[:-1]) / 2 * grid + grid
    left = np.floor(places).astype(int)
    step = np.bincount(left, mass * (left + 1 - places), 2 * grid + 1)
    step += np.bincount(left + 1, mass * (places - left), 2 * grid + 1)
    step[-1] += 0.5
    step[0] += math.exp(-epsilon) / 2
    loss = np.arange(-J * grid, J * grid + 1) * epsilon / grid
    found = []
    for stop in (-math.inf, -1.0):
        live, done = (loss == 0).astype(float), np.zeros(loss.size)
        for _ in range(J):
            live = np.convolve(live, step, mode="same")
            ended = np.where(loss <= stop, live, 0.0)
            live, done = live - ended, done + ended
        law = live + done
        assert law.sum() == pytest.approx(1)
        found.append(law @ loss**2 - (law @ loss) ** 2)
    assert found[0] < 1.8 < found[1]


def test_two_statistics_per_iteration():
    near("IR-TWO", share=math.sqrt(0.9 / 10), mean=20 * 0.3 * (math.exp(0.3) - 1) / (math.exp(0.3) + 1))


def test_classical_deviation():
    c = mp.sqrt(2 * mp.log(mp.mpf(1.25) / mp.mpf(1e-5)))
    limit = mp.findroot(lambda e: mp.log(gauss(e / c, e)) - mp.log(1e-5), (8, 9), solver="anderson")
    exact = mp.findroot(lambda mu: mp.log(gauss(mu, 0.9)) - mp.log(1e-5), (0.2, 0.3), solver="anderson")
    near("IR-CLASSICAL", limit=limit, factor=c / mp.mpf("0.9") * exact)


def test_shares_at_equal_privacy():
    found = {"basic": 0.9 / 20, "published": math.sqrt(0.9 / 10)}
    for power in (4, 6):
        level = -2 * mp.log(10.0**-power)
        found[f"advanced_{power}"] = mp.findroot(
            lambda e, level=level: mp.sqrt(20 * level) * e + 20 * e * mp.expm1(e) - mp.mpf("0.9"), 0.04
        )
        rho = mp.findroot(lambda r, d=10.0**-power: tight(r, d) - mp.mpf("0.9"), (0.01, 0.05), solver="anderson")
        found[f"concentrated_{power}"] = math.sqrt(2 * rho / 20)
    near("IR-LESS-NOISE", **found)


def test_figure_one_compares_different_levels():
    orders = np.linspace(1.5, 20, 20_000)
    best = rdp.compute_epsilon(orders, 0.9 * orders, 1e-4)[0]
    simple = 0.9 + 2 * math.sqrt(0.9 * math.log(1e4))
    expected = 20 * 0.045 * (math.exp(0.045) - 1) / (math.exp(0.045) + 1)
    gaussian = gaussian_mechanism.get_epsilon_gaussian(1 / math.sqrt(1.8), 1e-4)
    near("IR-EQUAL", simple=simple, tight=best, gaussian=gaussian, conventional=0.9, expected=expected)


# --- Gaussian noise


@given(rhos, st.floats(-6, 38), st.booleans())
@many
def test_gaussian_delta_is_exact_and_never_below(mu, a, plain):
    """From mu 1e-9 to 1e4, over the whole range of deltas; 1e-9 for mu up to a thousand."""
    epsilon = max(mu * (a + mu / 2), 0.0) if plain else min(abs(a), 1e3)
    found, exact = gdp_delta(mu, epsilon), gauss(mu, epsilon)
    assert found >= exact
    if exact > 1e-300 and mu <= 1e3:
        assert found <= exact * (1 + mp.mpf("1e-9"))


@pytest.mark.thorough
@given(rhos.filter(lambda mu: mu < 1e3), deltas)
@many
def test_gaussian_epsilon_is_exact_and_never_below(mu, delta):
    found = gdp_epsilon(mu, delta)
    assert gauss(mu, found) <= delta
    if found > 0:
        assert gauss(mu, mp.mpf(found) * (1 - mp.mpf("1e-9"))) > delta


@pytest.mark.thorough
@given(st.floats(-6, 3).map(lambda power: 10.0**power) | st.just(0.0), deltas)
@many
def test_gaussian_calibration_is_exact_and_safe(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert gauss(mu, epsilon) <= delta
    assert gauss(mp.mpf(mu) * (1 + mp.mpf("1e-9")), epsilon) > delta
    deviation = accounting.gaussian_deviation(3.0, epsilon, delta)
    assert gauss(3 / mp.mpf(deviation), epsilon) <= delta
    assert deviation == pytest.approx(3 / mu)


@pytest.mark.thorough
@given(st.floats(0.05, 20), st.floats(-12, -0.5).map(lambda power: 10.0**power))
@many
def test_gaussian_agrees_with_dp_accounting(mu, delta):
    peer = gaussian_mechanism.get_epsilon_gaussian(1 / mu, delta)
    assert gdp_epsilon(mu, delta) == pytest.approx(peer, rel=1e-8, abs=1e-8)
    if peer > 1e-3:
        assert gaussian_mechanism.get_sigma_gaussian(peer, delta) == pytest.approx(
            accounting.gaussian_deviation(1, peer, delta), rel=1e-6
        )


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "deviation", "delta"), [(1, 1.0, 1e-5), (10, 5.0, 1e-6), (100, 20.0, 1e-3)])
def test_gaussian_composition_against_a_privacy_loss_distribution(k, deviation, delta):
    mu = math.sqrt(k) / deviation
    bounds = [
        pld.from_gaussian_mechanism(deviation, pessimistic_estimate=upper, use_connect_dots=False)
        .self_compose(k)
        .get_epsilon_for_delta(delta)
        for upper in (False, True)
    ]
    assert bounds[0] - 1e-6 <= gdp_epsilon(mu, delta) <= bounds[1] + 1e-6
    assert bounds[1] - bounds[0] < 0.03
    assert gdp_epsilon(mu, delta) < zcdp_to_dp(mu**2 / 2, delta) < zcdp_to_dp(mu**2 / 2, delta, tight=False)


@pytest.mark.thorough
@given(st.floats(0.01, 1), st.floats(-200, math.log10(0.5)).map(lambda power: 10.0**power) | st.floats(0.5, 1 - 1e-9))
@many
def test_classical_deviation_holds_up_to_one(epsilon, delta):
    assert gauss(1 / mp.mpf(accounting.classical_deviation(1, epsilon, delta)), epsilon) < delta


def test_classical_deviation_fails_for_large_epsilon():
    for delta in (1e-3, 1e-5, 1e-8):
        assert gauss(1 / mp.mpf(accounting.classical_deviation(1, 12.0, delta)), 12) > delta


# --- zero-concentrated


@pytest.mark.thorough
@given(rhos, deltas)
@many
def test_tight_conversion_is_exact_and_never_below(rho, delta):
    found, exact = zcdp_to_dp(rho, delta), tight(rho, delta)
    assert found >= exact - mp.mpf("1e-30")
    assert found <= exact + mp.mpf("1e-9") * max(1e-6, exact)
    assert found <= zcdp_to_dp(rho, delta, tight=False)


@pytest.mark.thorough
@given(rhos, deltas)
@many
def test_tight_conversion_covers_gaussian_noise(rho, delta):
    """Gaussian noise with mu^2 / 2 = rho is rho-zCDP, so no conversion may claim less than its exact epsilon."""
    assert gauss(mp.sqrt(2 * mp.mpf(rho)), zcdp_to_dp(rho, delta)) <= delta


@given(st.floats(0.001, 10), st.floats(-12, -1).map(lambda power: 10.0**power))
@some
def test_tight_conversion_agrees_with_dp_accounting(rho, delta):
    best = math.sqrt(-math.log(delta) / rho)
    orders = 1 + best * np.geomspace(0.2, 1.2, 4000)
    peer = rdp.compute_epsilon(orders[orders > 1.02], rho * orders[orders > 1.02], delta)[0]
    assert zcdp_to_dp(rho, delta) <= peer * (1 + 1e-9) + 1e-9
    if delta**2 < -math.expm1(-rho):  # otherwise the peer may use another bound, for small rho
        assert peer <= zcdp_to_dp(rho, delta) * (1 + 1e-5) + 1e-6


@pytest.mark.thorough
@given(losses, deltas)
@some
def test_rho_for_ends_on_the_safe_side(epsilon, delta):
    rho = rho_for(epsilon, delta)
    assert tight(rho, delta) <= epsilon
    assert tight(mp.mpf(rho) * (1 + mp.mpf("1e-9")) + mp.mpf("1e-300"), delta) > epsilon * (1 - mp.mpf("1e-9"))


@st.composite
def pairs(draw):
    """Two laws on a few outputs, within e^epsilon of each other."""
    size = draw(st.integers(2, 6))
    weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=size, max_size=size)))
    tilt = np.array(draw(st.lists(st.floats(-2, 2), min_size=size, max_size=size)))
    q = weights / weights.sum()
    p = q * np.exp(tilt)
    return p / p.sum(), q


@pytest.mark.thorough
@given(pairs(), st.floats(1e-3, 50), st.floats(0, 4))
@many
def test_no_pure_mechanism_exceeds_its_prices(pair, s, total):
    p, q = pair
    epsilon = float(np.abs(np.log(p / q)).max())
    loss = np.log(p / q)
    rho = accounting.zcdp_from_pure(epsilon)
    assert p @ loss <= rho + 1e-12
    assert np.log(p @ np.exp(s * loss)) <= s * (s + 1) * rho + 1e-9
    assert np.log(p @ np.exp(s * (loss - p @ loss))) <= s * s * epsilon**2 / 2 + 1e-9
    delta = np.maximum(p - np.exp(total) * q, 0).sum()
    assert delta <= responses(epsilon + 1e-12, 1, total) + 1e-12


@pytest.mark.thorough
@given(losses.filter(lambda e: e < 100), st.floats(1e-3, 1e3))
@many
def test_randomised_response_and_laplace_meet_their_rho(epsilon, s):
    e, v = mp.mpf(epsilon), mp.mpf(s) + mp.mpf("0.5")
    response = mp.log(mp.cosh(v * e) / mp.cosh(e / 2))
    laplace = -e / 2 + mp.log(mp.cosh(v * e) + mp.sinh(v * e) / (2 * v))
    order, slack = mp.mpf(s) * (1 + mp.mpf(s)), 1 + mp.mpf("1e-14")
    for moment, price in ((response, accounting.zcdp_from_pure), (laplace, accounting.zcdp_from_laplace)):
        assert moment <= order * price(epsilon) * slack
        small = mp.mpf("1e-12")
        w = small + mp.mpf("0.5")
        if price is accounting.zcdp_from_pure:
            least = mp.log(mp.cosh(w * e) / mp.cosh(e / 2)) / small
        else:
            least = (-e / 2 + mp.log(mp.cosh(w * e) + mp.sinh(w * e) / (2 * w))) / small
        assert price(epsilon) == pytest.approx(float(least), rel=1e-8)
    assert accounting.zcdp_from_laplace(epsilon) <= accounting.zcdp_from_pure(epsilon) * (1 + 1e-15)
    assert accounting.zcdp_from_pure(epsilon) <= min(epsilon, epsilon**2 / 2) * (1 + 1e-15)


@given(st.floats(0.1, 5), st.floats(0.1, 20))
@some
def test_derivatives_behind_the_concave_functions(x, u):
    """The two displayed formulas, by differences and quadrature, and that what they give falls in u."""
    x, u, step = mp.mpf(x), mp.mpf(u), mp.mpf("1e-8")

    def first(t):
        return mp.sqrt(t) * mp.coth(x * mp.sqrt(t))

    def second(t):
        return mp.log(mp.cosh(x * mp.sqrt(t)))

    slopes = []
    for t in (u, 2 * u):
        a = mp.sqrt(t)
        ratio = integrate.quad(lambda y, a=a: float(mp.sinh(a * y) / mp.sinh(a * x)) ** 2, 0, float(x))[0]
        assert ratio == pytest.approx(float((first(t + step) - first(t - step)) / (2 * step)), rel=1e-6)
        other = x**2 / 2 * mp.tanh(a * x) / (a * x)
        assert other == pytest.approx((second(t + step) - second(t - step)) / (2 * step), rel=1e-6)
        slopes.append((ratio, other))
    assert slopes[1][0] < slopes[0][0]
    assert slopes[1][1] < slopes[0][1]


@given(st.floats(0.01, 5), st.floats(1.1, 200))
@some
def test_laplace_divergence_agrees_with_dp_accounting(epsilon, order):
    accountant = rdp.RdpAccountant([order], REPLACE).compose(dp_accounting.LaplaceDpEvent(1 / epsilon))
    assert accountant._rdp[0] <= order * accounting.zcdp_from_laplace(epsilon) * (1 + 1e-9)


@given(losses)
@many
def test_laplace_rho_keeps_its_digits(epsilon):
    exact = mp.mpf(epsilon) - 1 + mp.exp(-mp.mpf(epsilon))
    assert accounting.zcdp_from_laplace(epsilon) == pytest.approx(float(exact), rel=1e-14)


def test_ledger_prices_a_pure_release_at_no_less():
    spend = Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5)
    assert spend.rho >= accounting.zcdp_from_pure(0.5) > accounting.zcdp_from_laplace(0.5)


# --- pure releases, many of them


@pytest.mark.thorough
@given(st.floats(-4, 1).map(lambda power: 10.0**power), counts, deltas)
@many
def test_optimal_composition_is_exact_and_never_below(epsilon, k, delta):
    found = accounting.optimal(epsilon, k, delta)
    assert responses(epsilon, k, found) <= delta
    if found > 0:
        assert responses(epsilon, k, found * (1 - 1e-8)) > delta
    assert found <= k * epsilon * (1 + 1e-14)
    assert found <= float(printed(epsilon, k, delta)) * (1 + 1e-12)
    assert found <= zcdp_to_dp(k * accounting.zcdp_from_pure(epsilon), delta) * (1 + 1e-12) + 1e-12


def lies(epsilon, k, total):
    """delta of k answers by randomised response, by number of lies, few of them."""
    with mp.workdps(50):
        epsilon, total, delta = mp.mpf(epsilon), mp.mpf(total), mp.mpf(0)
        chance = (1 / (1 + mp.exp(-epsilon))) ** k
        for n in range(400):
            if (k - 2 * n) * epsilon > total:
                delta += chance * (1 - mp.exp(total - (k - 2 * n) * epsilon))
            chance *= mp.exp(-epsilon) * (k - n) / (n + 1)
        return delta


@pytest.mark.thorough
@given(st.floats(18, 22), st.floats(-3, 3))
@some
def test_optimal_is_never_below_when_nearly_all_answers_are_true(epsilon, quantile):
    """A delta just below the chance of at most so many lies, where an error in the chances is not covered by others."""
    k = 10**10
    mean = k * math.exp(-epsilon)
    most = max(0, round(mean + quantile * math.sqrt(mean)))
    delta = float(lies(epsilon, k, (k - 2 * most - 1) * mp.mpf(epsilon)) * (1 - mp.mpf("1e-6")))
    assert lies(epsilon, k, accounting.optimal(epsilon, k, delta)) <= delta


def test_optimal_for_a_delta_below_the_normal_floats():
    """What the sum leaves out has a probability below 1e-307, which is then too much."""
    assert accounting.optimal(0.01, 10**5, 1e-310) == pytest.approx(10**3)


@pytest.mark.parametrize(("epsilon", "k", "delta"), [(0.1, 30, 1e-6), (0.3, 20, 1e-4), (1.0, 5, 1e-3)])
def test_pure_composition_against_dp_accounting(epsilon, k, delta):
    """The peer rounds the losses of the worst mechanism up and down; its closed form gives multiples of epsilon."""
    lazy = 2 / (1 + math.exp(epsilon))
    bounds = [
        pld.from_randomized_response(lazy, 2, pessimistic_estimate=upper).self_compose(k).get_epsilon_for_delta(delta)
        for upper in (False, True)
    ]
    found = accounting.optimal(epsilon, k, delta)
    assert bounds[0] - 1e-6 <= found <= bounds[1] + 1e-6
    single = dp_accounting.pld.common.DifferentialPrivacyParameters(epsilon, 0)
    peer = dp_accounting.pld.accountant.advanced_composition(single, k, delta)
    assert peer - 2 * epsilon <= found <= peer + 1e-12


@pytest.mark.parametrize(("epsilon", "k", "delta"), [(0.1, 100, 1e-6), (0.3, 20, 1e-4), (0.02, 1000, 1e-9)])
def test_no_accountant_claims_less_than_laplace_noise_loses(epsilon, k, delta):
    exact = (
        pld.from_laplace_mechanism(1 / epsilon, pessimistic_estimate=False, use_connect_dots=False)
        .self_compose(k)
        .get_epsilon_for_delta(delta)
    )
    laplace = zcdp_to_dp(k * accounting.zcdp_from_laplace(epsilon), delta)
    for total in (accounting.advanced(epsilon, k, delta), accounting.optimal(epsilon, k, delta), laplace, k * epsilon):
        assert total >= exact - 1e-6
    assert laplace < 1.2 * exact


@pytest.mark.thorough
@given(st.floats(-3, 2.5).map(lambda power: 10.0**power), st.integers(1, 10**6), deltas)
@example(0.1, 1, 0.9)  # the share is larger than the total
@many
def test_advanced_share_ends_on_the_safe_side(total, k, delta):
    share = accounting.advanced_share(total, k, delta)
    assert printed(share, k, delta) <= total
    assert printed(mp.mpf(share) * (1 + mp.mpf("1e-9")), k, delta) > total
    assert accounting.advanced(share, k, delta) == pytest.approx(total, rel=1e-9)


@pytest.mark.thorough
@given(st.floats(0.001, 3), st.integers(1, 1000), deltas)
@many
def test_advanced_by_the_printed_formula(epsilon, k, delta):
    assert accounting.advanced(epsilon, k, delta) == pytest.approx(float(printed(epsilon, k, delta)), rel=1e-14)


@pytest.mark.thorough
@given(st.floats(-3, 2).map(lambda power: 10.0**power), st.integers(1, 40), deltas)
@some
def test_optimal_share_ends_on_the_safe_side(total, k, delta):
    share = accounting.optimal_share(total, k, delta)
    assert responses(share, k, total) <= delta
    assert responses(share * (1 + 1e-8), k, total) > delta


@given(rhos)
@many
def test_laplace_for_ends_on_the_safe_side(rho):
    epsilon = mp.mpf(accounting.laplace_for(rho))
    assert epsilon - 1 + mp.exp(-epsilon) <= rho
    epsilon *= 1 + mp.mpf("1e-9")
    assert epsilon - 1 + mp.exp(-epsilon) > rho


# --- mean-concentrated


def test_mean_cdp_by_hand():
    total = MeanCDP(1.0, 3.0) + MeanCDP(2.0, 4.0)
    assert (total.mu, total.tau) == (3.0, 5.0)
    assert total.rho == 12.5
    assert MeanCDP(3.0, 1.0).rho == 3.0
    assert total.epsilon(math.exp(-2)) == pytest.approx(3 + 5 * 2)
    quoted = MeanCDP.from_pure(math.log(3), quoted=True)
    assert quoted.mu == pytest.approx(math.log(3))
    assert MeanCDP.from_pure(math.log(3)).mu == pytest.approx(math.log(3) / 2)
    assert MeanCDP.from_pure(0.7).tau == quoted.tau - math.log(3) + 0.7


@pytest.mark.thorough
@given(st.floats(0.001, 3), st.integers(1, 60), deltas)
@many
def test_mean_cdp_is_the_sharp_advanced_theorem(epsilon, k, delta):
    total = MeanCDP(0.0, 0.0)
    for _ in range(k):
        total += MeanCDP.from_pure(epsilon)
    formula = math.sqrt(2 * k * -math.log(delta)) * epsilon + k * epsilon * math.tanh(epsilon / 2)
    assert total.epsilon(delta) == pytest.approx(formula, rel=1e-12)
    assert accounting.optimal(epsilon, k, delta) <= formula * (1 + 1e-12) <= printed(epsilon, k, delta) * (1 + 1e-11)


@pytest.mark.thorough
@given(st.floats(0.001, 3), st.floats(0.001, 3), deltas)
@many
def test_mean_cdp_tail_covers_a_normal_loss(mu, tau, delta):
    """A normal loss whose mean is half its variance is Gaussian noise; the definition allows both numbers."""
    mu = min(mu, tau**2 / 2)  # a loss with variance tau^2 and mean tau^2 / 2 fits only if mu allows it
    guarantee = MeanCDP(tau**2 / 2, tau)
    assert gauss(tau, guarantee.epsilon(delta)) <= delta
    assert guarantee.rho == pytest.approx(tau**2 / 2)
    assert MeanCDP(mu, tau).epsilon(delta) <= guarantee.epsilon(delta)


def test_laplace_losses_stay_below_the_tails():
    """Twenty adaptive releases: each doubles its share of what is left or not, by the sign of the last answer."""
    rng, runs, k, share = np.random.default_rng(4), 100_000, 20, 0.3
    total, price = np.zeros(runs), np.full(runs, share)
    for _ in range(k):
        z = rng.laplace(size=runs)
        total += np.abs(z + price) - np.abs(z)
        price = np.where(z > 0, share, share / 2)
    whole = MeanCDP(0.0, 0.0)
    for _ in range(k):
        whole += MeanCDP.from_pure(share)
    for delta in (0.3, 0.1, 0.01):
        allowed = delta + 4 * math.sqrt(delta / runs)
        assert (total > whole.epsilon(delta)).mean() <= allowed
        hockey = np.maximum(-np.expm1(zcdp_to_dp(k * accounting.zcdp_from_laplace(share), delta) - total), 0).mean()
        assert hockey <= allowed


# --- extremes and refusals


@pytest.mark.parametrize("delta", [1e-300, 5e-324, 1e-12, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-300, 1e-6, 1.0, 1e3, 1e6])
def test_extreme_arguments_give_numbers(size, delta):
    for k in (1, 10**6):
        totals = [accounting.advanced(size, k, delta), accounting.optimal(size, k, delta)]
        assert all(total >= 0 for total in totals)
        assert totals[1] <= k * size * (1 + 1e-14)
    for number in (zcdp_to_dp(size, delta), gdp_epsilon(size, delta), gdp_mu(size, delta), gdp_delta(size, size)):
        assert math.isfinite(number)
        assert number >= 0
    if size:
        share = accounting.advanced_share(size, 10**6, delta)
        assert printed(share, 10**6, delta) <= size
        assert share > 0 or size < 1e-290
        assert zcdp_to_dp(rho_for(size, delta), delta) <= size
        assert accounting.classical_deviation(1.0, max(size, 1e-300), delta) > 0


def test_gaussian_delta_is_never_zero_by_underflow():
    assert gdp_delta(1e-320, 1e3) == gdp_delta(1.0, 1e6) == 5e-324
    assert gdp_delta(1e6, 1e-3) == 1


def test_nothing_costs_nothing():
    assert zcdp_to_dp(0, 1e-9) == zcdp_to_dp(0, 1e-9, tight=False) == gdp_delta(0, 0) == gdp_epsilon(0, 1e-9) == 0
    assert accounting.advanced(0, 5, 0.1) == accounting.optimal(0, 5, 0.1) == 0
    assert accounting.zcdp_from_pure(0) == accounting.zcdp_from_laplace(0) == 0
    assert MeanCDP.from_pure(0).epsilon(0.5) == 0


def test_quoted_theorem_overflows_with_an_error():
    with pytest.raises(InputError, match="overflows, use quoted=False"):
        MeanCDP.from_pure(1000.0, quoted=True)
    assert accounting.advanced(1000.0, 2, 0.1) == math.inf
