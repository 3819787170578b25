"""The claims and propositions of the chapter on differential privacy, derived without the chapter."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from dpreg import noise
from dpreg.checks import BudgetError
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, certify
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import release
from tests.ledger import values


def laplace_cdf(x, centre, scale):
    z = (x - centre) / scale
    return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2


def moments(x):
    return np.array([x, x * x])


def test_uniform_noise_passes_pointwise_and_separates():
    """Uniform noise of width 1/2 on 40 and 41: no single output has mass, one interval has all of it or none."""

    def mass(low, high, answer):
        start, stop = max(Fraction(low), Fraction(answer)), min(Fraction(high), Fraction(answer) + Fraction(1, 2))
        return max(stop - start, Fraction(0)) / Fraction(1, 2)

    assert mass(40.25, 40.25, 40) == 0
    claim = values("FM-DEF3")
    assert mass(40, 40.5, 40) == claim["event"]
    assert mass(40, 40.5, 41) == claim["neighbour_event"]


def test_both_orders_equal_the_absolute_log():
    p, q = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(3, 4))
    events = [e for k in (1, 2) for e in itertools.combinations(range(2), k)]
    forward = max(sum(p[i] for i in e) / sum(q[i] for i in e) for e in events)
    backward = max(sum(q[i] for i in e) / sum(p[i] for i in e) for e in events)
    claim = values("RR-DEF1")
    assert (forward, backward) == (Fraction(2), Fraction(3, 2))
    assert claim["one_way"] == pytest.approx(math.log(forward), abs=1e-6)
    assert claim["other_way"] == pytest.approx(math.log(backward), abs=1e-6)
    assert claim["both_ways"] == pytest.approx(max(math.log(forward), math.log(backward)), abs=1e-6)


def test_two_moments_by_exact_optimisation():
    """A global search over both records, instead of the chapter's grid and proof."""
    claim = values("RR-DEF2")

    def change(pair):
        return -np.abs(moments(pair[0]) - moments(pair[1])).sum()

    found = optimize.differential_evolution(change, [(-1, 1), (-1, 1)], seed=1, tol=1e-12)
    assert -found.fun == pytest.approx(claim["replace"], abs=1e-6)
    assert sorted(np.abs(found.x)) == pytest.approx([0.5, 1.0], abs=1e-3)
    assert np.abs(moments(1.0)).sum() == claim["add_remove"]


def test_laplace_loss_is_exact():
    """The half-line beyond the first answer has exactly the ratio exp(epsilon), and no half-line has more."""
    claim = values("RR-THM1")
    scale = 1 / claim["asked"]
    beyond = laplace_cdf(0.0, 0.0, scale) / laplace_cdf(0.0, 1.0, scale)
    assert math.log(beyond) == pytest.approx(claim["spent"], abs=1e-6)
    others = [laplace_cdf(x, 0.0, scale) / laplace_cdf(x, 1.0, scale) for x in np.linspace(-30, 30, 601)]
    assert max(others) <= beyond * (1 + 1e-12)


def test_joint_release_is_cheaper():
    """Two maxima over all ordered pairs of a fine grid of exact fractions."""
    claim = values("FM-EQ1")
    grid = [Fraction(k, 8) for k in range(-8, 9)]
    pairs = list(itertools.product(grid, grid))
    together = max(abs(x - y) + abs(x * x - y * y) for x, y in pairs)
    apart = max(abs(x - y) for x, y in pairs) + max(abs(x * x - y * y) for x, y in pairs)
    assert (together, apart) == (claim["together"], claim["apart"])


@pytest.mark.parametrize("seed", range(6))
def test_scales_of_their_own(seed):
    """The theorem behind `certify`: the density ratio of vectors, its supremum, and a set where it is constant."""
    rng = np.random.default_rng(seed)
    q, r, b = rng.normal(size=4), rng.normal(size=4), rng.uniform(0.2, 3, 4)
    bound = (np.abs(q - r) / b).sum()

    def log_ratio(o):
        return ((np.abs(o - r) - np.abs(o - q)) / b).sum(axis=-1)

    anywhere = rng.normal(scale=5, size=(5000, 4))
    assert log_ratio(anywhere).max() <= bound * (1 + 1e-12)
    beyond = q + np.sign(q - r) * rng.exponential(size=(50, 4))
    assert log_ratio(beyond) == pytest.approx(np.full(50, bound))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_certify_is_the_supremum_of_the_theorem(seed):
    """All pairs of a grid of records on the line: the certified loss is met, and never beaten."""
    rng = np.random.default_rng(seed)
    box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    scales = Scales(rng.uniform(1, 5, (1, 1)), rng.uniform(1, 5, 1))
    t, x = (g.ravel() for g in np.meshgrid(*[np.linspace(-1, 1, 41)] * 2))
    numbers = np.stack([x * x / scales.M[0, 0], 2 * t * x / scales.v[0]], axis=1)
    largest = np.abs(numbers[:, None] - numbers).sum(axis=2).max()
    assert largest <= certify(scales, box) * (1 + 1e-12)
    assert largest == pytest.approx(certify(scales, box), rel=2e-3)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_law_of_the_privacy_loss(epsilon):
    """Two laws that differ in the centre: the loss of simulated outputs has the stated law, within four errors."""
    z = noise.laplace(1.0, (200_000,), random_state=5)
    loss = np.abs(z + epsilon) - np.abs(z)
    error = 4 / math.sqrt(len(z))
    for level in np.linspace(-epsilon, 0.99 * epsilon, 7):
        # An atom sits at -epsilon; the rounding of z + epsilon must not decide on which side it falls.
        assert abs((loss <= level + 1e-9).mean() - math.exp((level - epsilon) / 2) / 2) < error / 2
    assert abs((loss >= epsilon * (1 - 1e-9)).mean() - 0.5) < error / 2
    assert abs(loss.mean() - (epsilon - 1 + math.exp(-epsilon))) < error * loss.std()
    wrong = 1.05 * (epsilon - 1 + math.exp(-epsilon))
    assert abs(loss.mean() - wrong) > error * loss.std()


def test_floating_point_tell_tale():
    z = noise.laplace(1.0, (400_000,), random_state=9)
    out = 1.0 + z
    assert (np.ldexp(out[(out > 0) & (out < 0.5)], 53) % 1 == 0).all()
    # From answer 0 a double in [2^-(k+1), 2^-k) is a multiple of 2^-53 about once in 2^k; here k >= 6.
    small = z[(z > 0) & (z < 1 / 64)]
    assert (np.ldexp(small, 53) % 1 == 0).mean() < 2 / 64


def test_exact_moments_betray_the_last_record():
    rng = np.random.default_rng(2)
    X, y = rng.uniform(0, 10, (50, 3)), rng.uniform(0, 1, 50)
    box = Box([0, 0, 0], [10, 10, 10], response=(0, 1), intercept=True)
    gain = linear(X, y, box) - linear(X[:-1], y[:-1], box)
    assert gain.M[0, 1:] * box.unit + box.shift == pytest.approx(X[-1], abs=1e-9)
    assert 0.5 - gain.v[0] / 2 * box.half_width == pytest.approx(y[-1], abs=1e-9)


def test_replace_costs_at_most_two_steps():
    rng = np.random.default_rng(3)
    box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    for _ in range(10):
        A = rng.uniform(1, 4, (2, 2))
        scales = Scales((A + A.T) / 2, rng.uniform(1, 4, 2))
        assert certify(scales, box, "replace") <= 2 * certify(scales, box, "add_remove") * (1 + 1e-9)


def test_best_ratio_of_two_scales():
    """The root of r^3 + r / 2 = 1 minimises the variance at equal cost, by a scan through `certify`."""
    box = Box([-1.0], [1.0], response=(-1.0, 1.0), intercept=True)

    def variance(ratio):
        scales = Scales(np.array([[0.0, 1.0], [1.0, ratio]]), np.full(2, math.inf))
        return certify(scales, box) ** 2 * (1 + ratio**2)

    root = optimize.brentq(lambda r: r**3 + r / 2 - 1, 0, 1)
    best = optimize.minimize_scalar(variance, bounds=(0.3, 1.9), method="bounded").x
    assert best == pytest.approx(root, abs=1e-3)


def test_budget_is_a_cap_on_adaptive_choices():
    """Whatever the order and the sizes asked for, what was charged never exceeds the cap."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        budget = Budget(1.0)
        for asked in rng.uniform(0.05, 0.6, 10):
            try:
                budget.charge(Spend("a count", "Laplace", "replace", "L1", 1.0, 1 / asked, float(asked)))
            except BudgetError:
                continue
        assert budget.ledger.epsilon <= 1.0
        assert budget.remaining < 0.6


def test_ledgers_add_by_composition():
    rng = np.random.default_rng(6)
    box = Box([0.0], [1.0], response=(0.0, 1.0))
    f = linear(rng.uniform(size=(20, 1)), rng.uniform(size=20), box)
    scales = Scales(np.full((1, 1), 5.0), np.full(1, 7.0))
    parts = [release(f, scales, seed).ledger for seed in range(3)]
    assert sum(parts, Ledger()).epsilon == pytest.approx(3 * certify(scales, box))
