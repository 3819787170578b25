"""Bounded objectives: the claims of 001, Section 6."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpreg.pipeline import repair
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, functional
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import perturb, price
from dpreg.pipeline.solve import minimise
from lib.data.datasets import wine
from tests.engine.quadratics import LINE, ROWS, quadratic
from tests.ledger import tolerance, value

A, V = 2.06, -2.34  # 001's worked example


# --- claims


def test_semidefinite_objective_is_bounded():
    # (x + y)^2 - 2 (x + y) = (x + y - 1)^2 - 1
    f = quadratic(np.ones((2, 2)), [-2, -2])
    assert value("FM-PD", "lowest") == 0
    assert f(minimise(f)) == pytest.approx(value("FM-PD", "minimum")) == -1
    np.testing.assert_allclose(minimise(f), [0.5, 0.5])
    grid = np.random.default_rng(0).normal(size=(1000, 2)) * 100
    assert (f(grid) >= -1 - 1e-9).all()


def test_matrix_without_noise_is_definite_for_independent_predictors():
    # records (1/2, 0), (0, 1/2), (1/2, 1/2): X'X = [[1/2, 1/4], [1/4, 1/2]], with eigenvalues 1/2 -+ 1/4
    assert value("FM-DEFINITE", "independent") == 1 / 2 - 1 / 4
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, size=(3, 1))
    assert np.linalg.eigvalsh(np.hstack([x, x]).T @ np.hstack([x, x]))[0] == pytest.approx(0, abs=1e-12)
    assert value("FM-DEFINITE", "equal") == 0
    for _ in range(20):
        X = rng.uniform(-1, 1, size=(3, 2))
        assert np.linalg.matrix_rank(X) == 2
        assert np.linalg.eigvalsh(X.T @ X)[0] > 0


def test_copied_entries_have_twice_the_noise_of_monomials():
    box = Box([-1.0] * 3, [1.0] * 3, response=(-1.0, 1.0))
    spread = {}
    for convention in ("copied", "monomial"):
        scales = functional(box, 1.0, sensitivity="printed", convention=convention)
        f = perturb(quadratic(np.zeros((3, 3)), np.zeros(3)), scales, 7, draws=(100_000,))
        spread[convention] = f.M[:, 0, 1].std()
    # the standard error of a Laplace standard deviation is sqrt(5/4n) of it
    assert spread["copied"] / spread["monomial"] == pytest.approx(value("FM-SYM", "ratio"), rel=0.02)


def test_ridge_is_public_and_free():
    sd = math.sqrt(2) * 4 / 0.8
    assert value("FM-RIDGE-FREE", "ridge") == pytest.approx(4 * sd, abs=1e-6)
    first, second = linear(*ROWS, LINE), linear([[0.0], [0.9], [-0.5]], [0.4, 0.3, -1.0], LINE)
    scales = functional(LINE, 0.8, convention="monomial")
    assert (
        price(first, scales).epsilon
        == price(second, scales).epsilon
        == pytest.approx(value("FM-RIDGE-FREE", "epsilon"))
    )


def simulated_lowest(off, draws, seed, p=11):
    """Noise of scale one on the diagonal and `off` off it, drawn entry by entry."""
    rng = np.random.default_rng(seed)
    E = np.zeros((draws, p, p))
    for j in range(p):
        E[:, j, j] = rng.laplace(size=draws)
        for k in range(j):
            E[:, j, k] = E[:, k, j] = off(rng, draws)
    return np.linalg.eigvalsh(E)[:, 0]


@pytest.mark.thorough
def test_four_deviations_are_not_enough():
    laws = {
        "copied": lambda rng, n: rng.laplace(size=n),
        "monomial": lambda rng, n: rng.laplace(size=n) / 2,
        "ordered": lambda rng, n: (rng.laplace(size=n) + rng.laplace(size=n)) / 2,
    }
    draws = 40_000
    for name, off in laws.items():
        share = (simulated_lowest(off, draws, 11) < -4 * math.sqrt(2)).mean()
        expected = value("FM-RIDGE", name)
        own = math.sqrt(expected * (1 - expected)) * math.sqrt(1 / draws + 1 / 200_000)
        assert abs(share - expected) < 4 * own
        assert tolerance("FM-RIDGE", name) >= 4 * math.sqrt(expected * (1 - expected) / 20_000)


def test_four_deviations_in_one_dimension():
    scales = Scales(np.ones((1, 1)), np.ones(1))
    lowest = perturb(quadratic([[0]], [0]), scales, 3, draws=(400_000,)).M[:, 0, 0]
    exact = 0.5 * math.exp(-4 * math.sqrt(2))
    assert abs((lowest < -repair.deviations(scales)).mean() - exact) < 4 * math.sqrt(exact / 400_000)


def test_smallest_eigenvalue_grows_with_root_p():
    """The theorem's event, E's norm above kappa sqrt(p) with kappa < sigma, at p = 60."""
    p, sigma = 60, math.sqrt(2)
    lowest = simulated_lowest(lambda rng, n: rng.laplace(size=n), 300, 5, p)
    assert (lowest < -0.95 * sigma * math.sqrt(p)).mean() > 0.5
    assert np.median(lowest) == pytest.approx(-2 * sigma * math.sqrt(p), rel=0.1)


def test_trimming_by_hand():
    # eigenvalue 3 along (1, 1)/sqrt 2: V = -(1/2)(1/3)(-6/sqrt 2) = 1/sqrt 2
    f = repair.trim(quadratic([[1, 2], [2, 1]], [-6, 0]))
    V = -0.5 / 3 * (-6 / math.sqrt(2))
    np.testing.assert_allclose(minimise(f), V / math.sqrt(2) * np.ones(2))
    assert V / math.sqrt(2) == pytest.approx(value("FM-TRIM", "first")) == pytest.approx(value("FM-TRIM", "second"))


def test_the_fact_of_trimming_is_covered():
    scale = 4 / 0.8  # tight sensitivity of the example over epsilon
    loss = math.log(0.5) - math.log(0.5 * math.exp(-1 / scale))
    assert loss == pytest.approx(value("FM-TRIM-FREE", "loss"))
    assert loss <= value("FM-TRIM-FREE", "epsilon")


def tail(T, scale=8.0):
    """P(|theta| > T) by integrating over the noisy linear coefficient."""

    def below(x):  # the law of the coefficient
        return math.exp((x - A) / scale) / 2 if x < A else 1 - math.exp((A - x) / scale) / 2

    def inner(u):
        return math.exp(-abs(u - V) / scale) / (2 * scale) * (below(abs(u) / (2 * T)) - below(0))

    return integrate.quad(inner, -300, 300, points=[V, 0], limit=500)[0]


def test_tail_constant():
    scale = 8.0  # printed sensitivity 2 (1 + 1)^2 over epsilon = 1
    absolute = integrate.quad(lambda u: abs(u) * stats.laplace.pdf(u, V, scale), -400, 400, points=[V, 0], limit=500)[0]
    constant = stats.laplace.pdf(0, A, scale) * absolute / 2
    assert constant == pytest.approx(value("FM-TRIM-ZERO", "constant"), abs=1e-5)
    assert 1e5 * tail(1e5) == pytest.approx(constant, rel=1e-4)
    assert value("FM-TRIM-ZERO", "simulated") == value("FM-TRIM-ZERO", "constant")  # what the simulation is to find
    standard = 100 * math.sqrt(tail(100) / 1e6)
    assert abs(100 * tail(100) - constant) + 4 * standard == pytest.approx(
        tolerance("FM-TRIM-ZERO", "simulated"), abs=0.002
    )


def test_each_decade_adds_the_same_to_the_mean():
    decade = integrate.quad(tail, 100, 1000)[0]
    assert decade == pytest.approx(value("FM-TRIM-ZERO", "constant") * math.log(10), rel=0.01)
    assert integrate.quad(tail, 1e4, 1e5)[0] == pytest.approx(
        stats.laplace.pdf(0, A, 8) * (abs(V) + 8 * math.exp(V / 8)) / 2 * math.log(10), rel=1e-3
    )


@pytest.mark.parametrize(("name", "eps"), [("hundredth", 0.01), ("tenth", 0.1), ("one", 1.0)])
def test_exact_loss_of_repetition(name, eps):
    """Search all pairs on a grid, both directions; the closed form is the largest loss."""
    output = np.r_[1e-9, np.linspace(0.001, 4, 400)]
    a = np.linspace(0, 3, 31)
    law = stats.laplace.logpdf(output, a[:, None], 1 / eps) - stats.laplace.logsf(0, a[:, None], 1 / eps)
    pairs = np.abs(a[:, None] - a) <= 1 + 1e-12
    loss = np.where(pairs[..., None], law[:, None] - law[None], -np.inf).max()
    assert loss == pytest.approx(math.log(2 * math.exp(eps) - 1), abs=1e-6)
    assert loss / eps == pytest.approx(value("FM-L5", name), abs=2e-6)
    assert loss <= 2 * eps


def test_printed_proof_needs_a_not_a_star():
    assert value("FM-L5-PROOF", "loss") == pytest.approx(math.log(2 * math.e - 1), abs=1e-6)
    assert value("FM-L5-PROOF", "loss") > value("FM-L5-PROOF", "epsilon")


def test_a_cap_on_the_runs_costs_epsilon_per_run():
    eps = 0.3
    for runs in (1, 2, 3, 10):
        failed = [(1 - stats.laplace.sf(0, a, 1 / eps)) ** runs for a in (0, 1)]
        assert math.log(failed[0] / failed[1]) == pytest.approx(runs * eps)


@pytest.mark.thorough
def test_repetition_is_hopeless_on_wine():
    data = wine()
    box = data.box()
    Z, _ = box.scale(data.X, data.y)
    M, rng = Z.T @ Z, np.random.default_rng(8)
    E = rng.laplace(size=(value("FM-RETRY", "draws"), 11, 11)) * 288  # 2 (11 + 1)^2 over epsilon = 1
    E = np.triu(E) + np.swapaxes(np.triu(E, 1), 1, 2)
    assert (np.linalg.eigvalsh(M + E)[:, 0] > 0).sum() == value("FM-RETRY", "bounded")


def test_floor_tames_the_tail_and_zero_does_not():
    scales = functional(LINE, 1.0, sensitivity="printed", convention="monomial")
    f = perturb(linear(*ROWS, LINE), scales, 21, draws=(200_000,))
    wild, tame = (np.abs(minimise(repair.trim(f, k * scales.deviation))[:, 0]) for k in (0.0, 1.0))
    assert abs((wild > 50).mean() - tail(50)) < 4 * math.sqrt(tail(50) / 200_000)
    bound = (abs(V) + math.sqrt(2) * 8) / (2 * math.sqrt(2) * 8)
    assert tame.mean() < bound < wild.max()
