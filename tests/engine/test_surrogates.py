"""Quadratics in the place of the logistic loss: Taylor's, and better ones."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize

from dpreg.pipeline.objective import TAYLOR
from dpreg.pipeline.surrogates import chebyshev, derivative, even, least_squares, remainder
from tests.engine.labelled import sigmoid
from tests.ledger import values


def bernoulli(last):
    """Bernoulli's numbers from their recursion, as fractions."""
    B = [Fraction(1)]
    for m in range(1, last + 1):
        B.append(-sum(math.comb(m + 1, k) * B[k] for k in range(m)) / (m + 1))
    return B


def test_derivatives_at_zero():
    B = bernoulli(40)
    v = values("FM-F012")
    assert v["value"] == pytest.approx(math.log(2), abs=1e-6)
    assert (v["first"], v["second"]) == (sigmoid(0), sigmoid(0) ** 2)
    for k in range(2, 41):
        assert derivative(k) == pytest.approx(float((2**k - 1) * B[k] / k), rel=1e-12)
    # and those are the derivatives: s' = s - s^2 as a polynomial in s, evaluated at s = 1/2
    poly = np.polynomial.Polynomial([0, Fraction(1)])
    step = np.polynomial.Polynomial([0, Fraction(1), Fraction(-1)])
    names = {4: "fourth", 5: "fifth", 6: "sixth", 8: "eighth"}
    for k in range(2, 13):
        poly = poly.deriv() * step
        assert float(poly(Fraction(1, 2))) == pytest.approx(derivative(k), rel=1e-12, abs=1e-15)
        if k in names:
            assert float(poly(Fraction(1, 2))) == pytest.approx(values("FM-CLOSED")[names[k]], abs=1e-12)


def test_radius_of_convergence():
    B = bernoulli(40)
    terms = [math.log(2), 0.5] + [float((2**k - 1) * B[k] / k / math.factorial(k)) for k in range(2, 41)]
    for z, name in ((3, "error_3"), (4, "error_4")):
        error = math.fsum(c * z**k for k, c in enumerate(terms)) - math.log1p(math.exp(z))
        assert error == pytest.approx(values("FM-EQ6")[name], abs=1e-5)
    size = [abs(derivative(k)) / math.factorial(k) for k in range(2, 101, 2)]
    assert size[-1] ** (-1 / 100) == pytest.approx(math.pi * 50 ** (1 / 100), rel=1e-6)  # root test with the factor 2/k
    assert all(a > b for a, b in itertools.pairwise(s * math.pi ** (2 * k) for k, s in enumerate(size, 1)))


def test_lemma_three_is_empty():
    for z, name in ((1, "at_1"), (10, "at_10"), (100, "at_100")):
        difference = math.log1p(math.exp(z)) - math.log(2) - z / 2 - z**2 / 8
        assert difference == pytest.approx(values("FM-L3")[name], abs=1e-6)
        assert remainder(z) == pytest.approx(difference)


def third_derivative(z):
    return (math.exp(z) - math.exp(z) ** 2) / (1 + math.exp(z)) ** 3  # as 001 prints it


def test_remainder_on_the_unit_interval():
    v = values("FM-L4")
    assert third_derivative(1) / 6 == pytest.approx(v["low"], abs=1e-6)
    assert (v["high"], v["exact_high"]) == (0, 0)
    assert v["exact_low"] == pytest.approx(-(5 / 8 + math.log(2) - math.log(1 + math.e)), abs=1e-6)
    for z in np.linspace(-1, 1, 101):
        assert v["low"] <= v["exact_low"] - 1e-6 <= remainder(z) <= 1e-15


def test_third_derivative():
    v = values("FM-F3")
    assert v["on_unit"] == pytest.approx((math.e**2 - math.e) / (1 + math.e) ** 3, abs=1e-6)
    found = optimize.minimize_scalar(third_derivative, bounds=(0, 5), method="bounded", options={"xatol": 1e-10})
    assert -found.fun == pytest.approx(1 / (6 * math.sqrt(3))) == pytest.approx(v["everywhere"], abs=1e-6)
    assert found.x == pytest.approx(math.log(2 + math.sqrt(3)), abs=1e-5) == pytest.approx(v["where"], abs=1e-5)
    h, z = 1e-3, 0.8
    numeric = (sigmoid(z + h) - 2 * sigmoid(z) + sigmoid(z - h)) / h**2
    assert numeric == pytest.approx(third_derivative(z), rel=1e-4)


@given(st.floats(-700, 700))
def test_remainder_of_taylor_is_between_zero_and_the_fourth_power(z):
    assert -(z**4) / 192 - 1e-12 <= remainder(z) <= 1e-12 * (1 + z**2)
    assert even(z) == pytest.approx(np.logaddexp(z / 2, -z / 2), abs=1e-12)


@pytest.mark.parametrize("R", [0.5, 1.0, 3.0, 5.0, 8.0, 20.0])
def test_chebyshev_equioscillates_and_beats_a_linear_program(R):
    q = chebyshev(R)
    z = np.linspace(-R, R, 2001)
    error = remainder(z, q)
    height = float(-remainder(R, q))
    top = z[1000 + error[1000:].argmax()]
    np.testing.assert_allclose(remainder([-R, -top, 0, top, R], q) / height, [-1, 1, -1, 1, -1], atol=1e-5)
    assert np.abs(error).max() <= height * (1 + 1e-12)
    # minimise h over all cubics with |E - cubic| <= h on the grid
    V = np.vander(z / R, 4, increasing=True)
    A = np.block([[V, -np.ones((2001, 1))], [-V, -np.ones((2001, 1))]])
    E = np.logaddexp(z / 2, -z / 2)
    bounds = [(None, None)] * 4 + [(0, None)]
    found = optimize.linprog(np.r_[np.zeros(4), 1], A, np.r_[E, -E], bounds=bounds)
    assert found.fun == pytest.approx(height, rel=2e-3, abs=1e-7)
    assert found.fun <= height + 1e-7
    assert found.x[2] / R**2 == pytest.approx(q.square, rel=2e-3)
    assert q.cross == TAYLOR.cross
    assert q.labels


@pytest.mark.parametrize("R", [0.5, 2.0, 5.0, 20.0, 100.0])
def test_least_squares_is_stationary_and_smallest(R):
    q = least_squares(R)

    def squared(square, constant):
        def integrand(z):
            return (np.logaddexp(z / 2, -z / 2) - square * z**2 - constant) ** 2

        return integrate.quad(integrand, 0, R, epsabs=0, epsrel=1e-11, limit=200)[0] / R

    # normal equations, moments by another quadrature
    m0, m2 = (integrate.quad(lambda z, k=k: np.logaddexp(z / 2, -z / 2) * z**k, 0, R)[0] / R for k in (0, 2))
    solved = np.linalg.solve([[R**4 / 5, R**2 / 3], [R**2 / 3, 1]], [m2, m0])
    np.testing.assert_allclose([q.square, q.constant], solved, rtol=1e-6)
    least = squared(q.square, q.constant)
    for nudge in (0.98, 1.02):
        assert squared(q.square * nudge, q.constant) > least
        assert squared(q.square, q.constant * nudge) > least
    assert squared(chebyshev(R).square, chebyshev(R).constant) > least


def test_small_intervals_give_taylor():
    for quadratic_on in (chebyshev, least_squares):
        assert quadratic_on(0.01).square == pytest.approx(1 / 8, abs=1e-6)
        squares = [quadratic_on(R).square for R in (0.5, 1, 2, 4, 8, 16)]
        assert sorted(squares, reverse=True) == squares
        assert all(0 < s < 1 / 8 for s in squares)
