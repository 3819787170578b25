"""The attack on floating-point noise: it never rules out the truth, and finds what no draw can give."""

import itertools
import math

import numpy as np
import pytest

from dpreg import noise
from dpreg.attacks.last_bits import WINDOW, possible, reachable
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Scales, functional, unit_scales
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb

N = 4000


@pytest.mark.parametrize("scale", [1e-3, 0.7, 1.0, 37.5, 1e6])
@pytest.mark.parametrize("answer", [0.0, 0.1, -3.75, 1000.1, -123456.7])
def test_the_truth_is_never_ruled_out(answer, scale):
    for seed in (1, 2):
        assert reachable(answer + noise.laplace(scale, (N,), seed), answer, scale).all()


def small_draws(bits):
    """All that a sampler with so few bits can draw: each is one that numpy's can draw, too."""
    u = np.arange(1, 2**bits) / 2**bits
    return np.array([math.log(x + x) if x < 0.5 else -math.log(2.0 - x - x) for x in u])


def test_draws_of_numpy_by_its_formula():
    """Numbers reached from the uniform numbers at and beside the edges: all are reachable."""
    step = 2.0**-53
    k = np.arange(1, 50)
    u = np.r_[step * k, 0.5 - step * k, 0.5, 0.5 + step * k, 1 - step * k]
    z = np.array([math.log(x + x) if x < 0.5 else -math.log(2.0 - x - x) for x in u])
    for answer, scale in itertools.product((0.0, 0.3, -7.0), (1.0, 0.3, 5.0)):
        assert reachable(answer + z * scale, answer, scale).all()
        assert reachable(answer + small_draws(10) * scale, answer, scale).all()


def test_numbers_between_two_draws_are_not_reachable():
    """Far in the tail draws lie apart: by log((k + 1) / k) at the uniform number k steps from the end."""
    step = 2.0**-53
    for k in (1, 2, 3, 10, 1000):
        one, other = math.log(2 * k * step), math.log(2 * (k + 1) * step)
        between = np.linspace(one, other, 50)[1:-1]
        assert reachable([one, other], 0.0, 1.0).all()
        assert not reachable(between, 0.0, 1.0).any()
    assert not reachable(math.log(step), 0.0, 1.0)  # half a step
    assert not reachable(2 * math.log(step), 0.0, 1.0)
    assert reachable(1e9 + 3e-3, 1e9, 1e-3)  # so coarse a sum that nothing is ruled out


def test_another_answer_is_ruled_out_as_often_as_draws_lie_apart():
    """The farther out, the fewer of the floating-point numbers there are draws; near zero all of them are."""
    out = noise.laplace(1.0, (N,), 3)
    other = reachable(out, 0.25, 1.0)
    tail = np.abs(out) > 6
    assert other[tail].mean() < 0.1
    assert 0.2 < 1 - other.mean() < 0.9


def test_work_is_bounded():
    assert WINDOW <= 100
    assert reachable(np.zeros(0), 0.0, 1.0).shape == (0,)


@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize("convention", ["triangle", "ordered", "monomial"])
def test_releases_betray_the_data(kind, convention):
    """At a hundred records and epsilon one: the truth stands in all of 200 releases, a neighbour in hardly any."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-0.5, 0.5, (100, 4)), rng.uniform(-1, 1, 100)
    where = (Box if kind == "box" else lambda low, _, **more: Ball(np.zeros(4), 1.0, **more))(
        [-1] * 4, [1] * 4, response=(-1, 1), intercept=True
    )
    f = linear(X, y, where)
    X[0] = 0.1
    g, law = linear(X, y, where), functional(where, 1.0, convention=convention)
    noisy = perturb(f, law, 5, draws=(200,))
    assert possible(noisy, f, law).all()
    assert possible(noisy, g, law).mean() < 0.05
    X = X[1:]
    assert not possible(noisy, linear(X, y[1:], where), law).any()  # a public count tells the size


def test_numbers_without_noise_must_be_the_same():
    f = Quadratic(np.eye(2), np.zeros(2), 0.0)
    g = Quadratic(np.diag([1.5, 1.0]), np.zeros(2), 0.0)
    law = Scales(np.array([[0.0, 1.0], [1.0, 1.0]]), np.ones(2))
    noisy = perturb(f, law, 1, draws=(20,))
    assert possible(noisy, f, law).all()
    assert not possible(noisy, g, law).any()


def test_every_coefficient_counts():
    """Coefficients of M above the diagonal and below it if it is ordered, and of v."""
    zero = Quadratic(np.zeros((2, 2)), np.zeros(2), 0.0)
    for ordered in (False, True):
        law = unit_scales("ordered" if ordered else "copied", 2)
        noisy = perturb(zero, law, 1)
        for place in ((0, 0), (0, 1), (1, 1), (1, 0), "v0", "v1"):
            M, v = noisy.M.copy(), noisy.v.copy()
            if isinstance(place, str):
                v[int(place[1])] = math.log(2.0**-53)
            else:
                M[place] = math.log(2.0**-53)
            spoilt = Quadratic(M, v, 0.0)
            assert possible(noisy, zero, law)
            assert possible(spoilt, zero, law) == (place == (1, 0) and not ordered)
