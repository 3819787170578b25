"""The chapter on noise fit for publishing: its theorem by adding up chances, and its numbers on other records."""

import math

import numpy as np
import pytest

from dpreg.attacks.last_bits import possible
from dpreg.mechanisms.best_scales import optimal
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import perturb
from dpreg.pipeline.repair import lift
from dpreg.pipeline.solve import minimise

K = np.arange(-4000, 4001)


def chances(kind, s, shift=0):
    weights = -np.abs(K - shift) / s if kind == "laplace" else -((K - shift) ** 2) / (2 * s**2)
    return np.exp(weights) / np.exp(weights).sum()


@pytest.mark.parametrize("s", [0.3, 1.0, 7.5, 40.0])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_laplace_costs_what_continuous_does(s, shift):
    near = np.abs(K) < 200 * s
    loss = np.log(chances("laplace", s)[near] / chances("laplace", s, shift)[near])
    assert loss.max() == pytest.approx(shift / s, rel=1e-9)
    assert -loss.min() == pytest.approx(shift / s, rel=1e-9)


@pytest.mark.parametrize("s", [0.3, 1.0, 7.5, 40.0])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 7.0])
def test_discrete_gaussian_is_concentrated_as_continuous_is(s, shift, order):
    """The divergence is at most that of the normal law, and equal to it at whole orders, where the shift is whole."""
    exponent = -(order * K**2 + (1 - order) * (K - shift) ** 2) / (2 * s**2)
    total = np.log(np.exp(exponent - exponent.max()).sum()) + exponent.max()
    divergence = (total - np.log(np.exp(-(K**2) / (2 * s**2)).sum())) / (order - 1)
    bound = order * shift**2 / (2 * s**2)
    assert divergence <= bound * (1 + 1e-9)
    if order == int(order):
        assert divergence == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("s", [1.0, 10.0, 100.0])
def test_variance_of_discrete_laplace(s):
    a = math.exp(-1 / s)
    assert (chances("laplace", s) * K**2).sum() == pytest.approx(2 * a / (1 - a) ** 2, rel=1e-9)
    assert 0 < 1 - 2 * a / (1 - a) ** 2 / (2 * s**2) < 0.1 / s**2


@pytest.mark.parametrize(("n", "epsilon"), [(200, 0.3), (5000, 1.0)])
def test_other_people_are_identified_too(n, epsilon):
    rng = np.random.default_rng(7)
    box = Box([-1] * 4, [1] * 4, response=(-1, 1), intercept=True)
    X, y = rng.uniform(-1, 1, (n, 4)), rng.uniform(-1, 1, n)
    f = linear(X, y, box)
    X[3] = rng.uniform(-1, 1, 4)
    law = functional(box, epsilon)
    noisy = perturb(f, law, 3, draws=(100,))
    assert possible(noisy, f, law).all()
    assert possible(noisy, linear(X, y, box), law).mean() < 0.05


@pytest.mark.thorough
def test_what_publishing_costs():
    """At an epsilon of one the best Laplace scales have an error about a quarter above the Wishart difference's."""
    rng, n = np.random.default_rng(8), 5000
    box = Box([-1] * 5, [1] * 5, response=(-1, 1), intercept=True)
    X = rng.uniform(-1, 1, (n, 5))
    f = linear(X, (X @ [0.3, -0.2, 0.2, 0.1, -0.1] + rng.normal(0, 0.1, n)).clip(-1, 1), box)

    def error(law):
        thetas = minimise(lift(perturb(f, law, 2, draws=(2000,)), law))
        return np.median(np.sqrt(f(thetas) - f(minimise(f))))

    assert 1.1 < error(optimal(box, 1.0)) / error(difference(box, 1.0)) < 1.4
