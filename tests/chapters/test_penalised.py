"""Penalised objectives: the claims of 000 and 002."""

import math
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.model_selection import KFold

from dpreg.checks import InputError, PrivacyLeakWarning
from dpreg.estimators.nonprivate import GRID, choose_penalty
from dpreg.pipeline.domain import Box
from dpreg.pipeline.solve import Penalty, asymmetric_closed_form, minimise
from lib.data.datasets import wine
from tests.engine.quadratics import quadratic, seeds, total
from tests.ledger import value


def wine_moments():
    data = wine()
    Z, t = data.box().scale(data.X, data.y)
    return Z.T @ Z, -2 * Z.T @ t


# --- claims


def test_cvxpy_refuses_both_forms():
    theta = cp.Variable(2)
    P = np.array([[1.0, 3.0], [1.0, -1.0]])
    with pytest.raises(ValueError, match="symmetric") as first:
        cp.quad_form(theta, P)
    with pytest.raises(cp.error.DCPError) as second:
        cp.Problem(cp.Minimize(cp.quad_form(theta, (P + P.T) / 2) + cp.norm1(theta))).solve(solver=cp.SCS)
    assert type(first.value).__name__ == value("RR-SCS", "asymmetric")
    assert type(second.value).__name__ == value("RR-SCS", "symmetrised")


def pair_of_sixty():
    data = wine()
    box = data.box()
    X, y = data.X[:60].copy(), data.y[:60].copy()
    other, score = X.copy(), y.copy()
    other[4], score[4] = data.X[4004], 0.0
    return box, (X, y), (other, score)


def scaled_change():
    """Coefficients move by the outer products of the one record that differs."""
    box, first, second = pair_of_sixty()
    z, w = (np.r_[box.scale(*d)[1][4], box.scale(*d)[0][4]] for d in (first, second))
    D = np.outer(z, z) - np.outer(w, w)
    return D[1:, 1:], -2 * D[0, 1:]


def chosen_by_hand(X, y, box):
    """Five-fold cross-validation of ridge from its normal equations."""
    Z, t = box.scale(X, y)
    errors = []
    for lam in GRID:
        parts = KFold(5, shuffle=True, random_state=0).split(Z)
        fits = [
            (test, np.linalg.solve(Z[train].T @ Z[train] + lam * np.eye(Z.shape[1]), Z[train].T @ t[train]))
            for train, test in parts
        ]
        errors.append(np.mean([((t[test] - Z[test] @ theta) ** 2).mean() for test, theta in fits]))
    return GRID[int(np.argmin(errors))]


def test_fixed_penalty_is_free():
    dM, dv = scaled_change()
    loss = (np.abs(dM).sum() + np.abs(dv).sum()) / (11 + 1) ** 2  # tight sensitivity (d + 1)^2
    assert loss == pytest.approx(value("RR-REG", "without"), abs=1e-6)
    assert value("RR-REG", "fixed") == value("RR-REG", "without")


def test_chosen_penalty_leaks():
    box, first, second = pair_of_sixty()
    lam, other = chosen_by_hand(*first, box), chosen_by_hand(*second, box)
    assert lam == pytest.approx(value("RR-CV", "lam"), abs=1e-6)
    assert other == pytest.approx(value("RR-CV", "neighbour"), abs=1e-6)
    dM, dv = scaled_change()
    loss = (np.abs(dM + (lam - other) * np.eye(11)).sum() + np.abs(dv).sum()) / 144
    assert loss == pytest.approx(value("RR-CV", "secret"), abs=1e-6)
    assert loss > 1
    line, one = Box([-1.0], [1.0], response=(-1.0, 1.0)), np.ones((60, 1))
    answers = {ones: np.repeat([1.0, -1.0], [ones, 60 - ones]) for ones in (34, 35)}
    higher, lower = (chosen_by_hand(one, y, line) for y in answers.values())
    # P(60 + noise <= -lam) = exp(-(60 + lam) / 8) / 2, as the printed scale is 2 (1 + 1)^2 = 8
    assert (higher - lower) / 8 == pytest.approx(value("RR-CV", "fit"), abs=1e-6)
    assert value("RR-CV", "fit") > 1
    with pytest.warns(PrivacyLeakWarning, match="without noise"):
        assert choose_penalty(*first, box, alpha=1.0).lam == lam


@pytest.mark.thorough
@given(seeds)
@settings(max_examples=50, deadline=None)
def test_symmetrising_is_free(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 7))
    A, theta = rng.laplace(size=(p, p)), rng.normal(size=p)
    assert theta @ A @ theta == pytest.approx(theta @ ((A + A.T) / 2) @ theta, abs=1e-10)
    assert value("RR-SYMMETRIC", "gap") == 0
    assert value("RR-SYMMETRIC", "ratio") == 1 / 2  # Var((a + b) / 2) = (s^2 + s^2) / 4


def test_closed_form_of_an_asymmetric_matrix():
    f = quadratic([[1, 1], [0, 1]], [-2, -2])
    # A^-1 (1, 1)' = (0, 1)', f(0, 1) = 1 - 2; symmetric part [[1, 1/2], [1/2, 1]]: (2/3, 2/3), f = -4/3
    assert (value("RR-CLOSED", "first"), value("RR-CLOSED", "second")) == (0, 1)
    np.testing.assert_allclose(asymmetric_closed_form(f), [0, 1], atol=1e-12)
    np.testing.assert_allclose(minimise(f), [2 / 3, 2 / 3])
    assert value("RR-CLOSED", "minimiser") == pytest.approx(2 / 3, abs=1e-6)
    assert value("RR-CLOSED", "excess") == pytest.approx(-1 + 4 / 3, abs=1e-6)
    with pytest.raises(InputError):
        asymmetric_closed_form(f, Penalty(1.0, 0.0))


@pytest.mark.thorough
@given(seeds)
@settings(max_examples=60, deadline=None)
def test_closed_form_is_stationary_only_under_the_theorems_condition(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 6))
    A, v = rng.normal(size=(p, p)) + 3 * np.eye(p), rng.normal(size=p)
    gradient = (A + A.T) @ asymmetric_closed_form(quadratic(A, v)) + v
    np.testing.assert_allclose(gradient, (A - A.T) @ np.linalg.solve(A, v) / 2, atol=1e-8)


@pytest.mark.thorough
def test_indefinite_shares():
    M, _ = wine_moments()
    rng, draws = np.random.default_rng(31), 20_000
    for name, eps in {"at_1": 1, "at_10": 10, "at_100": 100}.items():
        E = rng.laplace(size=(draws, 11, 11)) * (2 * 12**2 / eps)
        share = (np.linalg.eigvalsh(M + (E + np.swapaxes(E, 1, 2)) / 2)[:, 0] < 0).mean()
        expected = value("RR-INDEFINITE", name)
        spread = math.sqrt(max(expected * (1 - expected), 1e-6) * (1 / draws + 1 / 200_000))
        assert abs(share - expected) < 4 * spread + 1e-3


def test_no_draw_has_a_minimiser():
    M = wine_moments()[0]
    E = np.random.default_rng(32).laplace(size=(1000, 11, 11)) * 288
    lowest = np.linalg.eigvalsh(M + (E + np.swapaxes(E, 1, 2)) / 2)[:, 0]
    assert (lowest >= 0).sum() == value("RR-ARGMIN", "lasso")
    assert (lowest + max(GRID[:6]) >= 0).sum() == value("RR-ARGMIN", "ridge")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        data = wine()
        assert choose_penalty(data.X, data.y, data.box(), alpha=1.0).lam <= max(GRID[:6])


def test_pruning_is_covered():
    assert value("RR-PRUNE", "epsilon") == 1
    assert value("RR-PRUNE", "loss") == pytest.approx(1 / 8)  # |a - a'| over the scale 8
    draws = np.random.default_rng(4).laplace([[0.0], [1.0]], 8, size=(2, 400_000))
    pruned = (draws <= 0).mean(axis=1)
    assert math.log(pruned[0] / pruned[1]) == pytest.approx(1 / 8, abs=4 * math.sqrt(2 * 1.3 / 400_000))


def test_an_approximate_solver_is_covered():
    loss = math.log(2 - math.exp(-1 / 2))
    assert loss == pytest.approx(value("RR-SOLVER", "loss"), abs=1e-6)
    assert value("SL-VALID", "loss") == value("RR-SOLVER", "loss")
    assert value("SL-VALID", "epsilon") == value("RR-SOLVER", "epsilon") == 1 >= loss
    rng, ups = np.random.default_rng(5), []
    for v in (-4.0, 0.0):
        a, b = rng.laplace(scale=8, size=400_000) + 2, v + rng.laplace(scale=8, size=400_000)
        theta = np.zeros(400_000)
        for _ in range(3):
            theta = theta - 0.01 * (2 * a * theta + b)
        ups.append((theta > 0).mean())
    assert math.log(ups[0] / ups[1]) == pytest.approx(loss, abs=4 * math.sqrt(1.5 / 400_000))


def test_local_minimum_needs_an_l1_term():
    f, penalty = quadratic([[-1.0]], [0.0]), Penalty(10.0, 0.0)
    for name, theta in {"here": 0.0, "near": 1.0, "far": 100.0}.items():
        assert total(f, penalty, [theta]) == value("SL-LOCAL", name)
    near = np.linspace(-1, 1, 201)[:, None]
    assert (total(f, penalty, near) >= 0).all()
    assert f([0.1]) < f([0.0])


def test_one_hot_designs_are_singular():
    # scaled to [-1, 1], a group of k columns adds up to 2 - k: for k = 2 that is zero, for the others a constant,
    # and three groups with one common constant leave two relations
    assert value("SL-ATTR", "zeros") == 1 + 2
    rng = np.random.default_rng(1)
    H = np.hstack([np.eye(k)[rng.integers(k, size=500)] for k in (2, 3, 4, 5)])
    assert H.shape[1] - np.linalg.matrix_rank(2 * H - 1) == 3
    E = rng.laplace(size=(20_000, *[H.shape[1]] * 2))
    kernel = np.linalg.svd(2 * H - 1)[2][-3:]
    on_kernel = kernel @ ((E + np.swapaxes(E, 1, 2)) / 2) @ kernel.T  # what is left of M + E there, for any epsilon
    share = (np.linalg.eigvalsh(on_kernel)[:, 0] < 0).mean()
    assert (share >= 0.5) == value("SL-ATTR", "at_least_half")
