"""Methods that read rows: the sweep gives what a plain loop over the rows gives."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpreg import noise
from dpreg.accounting import gdp_mu
from dpreg.mechanisms import filter_priority, grid, histogram
from dpreg.mechanisms.objective_perturbation import objective_perturbation, share_for
from dpreg.pipeline import logistic
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.repair import trim
from dpreg.sweeps import row_methods
from dpreg.sweeps.experiment import Holdout, sweep
from dpreg.sweeps.methods import method_generator
from tests.engine.binary import BOX, VALUES, X, Y, each_split, of, run
from tests.engine.sweeps import assert_alike


def test_objective_perturbation_is_that_of_the_training_rows():
    method = row_methods.objective_perturbation("op")
    frame = run([method], Holdout(2), metrics=("logistic",))
    Z, _ = BOX.scale(X, Y)
    for repeat, fold, train, test in each_split(Holdout(2)):
        rng = method_generator(noise.seed_sequence(7), repeat, method)
        for k, epsilon in enumerate((0.5, 4.0)):
            theta, ledger = objective_perturbation(X[train], Y[train], BOX, epsilon, random_state=rng)
            assert ledger.epsilon == epsilon
            expected = logistic.loss_at(theta, Z[test], Y[test])
            assert of(frame, repeat, fold, "logistic")[k] == pytest.approx(float(expected), rel=1e-9)


def test_objective_perturbation_as_the_estimator_uses_it():
    method = row_methods.objective_perturbation("op", norm="K")
    frame = run([method], Holdout(1), metrics=("logistic",), epsilons=(0.5,))
    ((repeat, fold, train, test),) = each_split(Holdout(1))
    own = {"norm": "K", "share": share_for(BOX.p), "random_state": method_generator(noise.seed_sequence(7), 0, method)}
    theta, _ = objective_perturbation(X[train], Y[train], BOX, 0.5, **own)
    expected = logistic.loss_at(theta, BOX.scale(X, Y)[0][test], Y[test])
    assert of(frame, repeat, fold, "logistic")[0] == pytest.approx(float(expected), rel=1e-9)


def test_a_ridge_without_privacy():
    frame = run([row_methods.logistic_regression(ridge=3.0)], Holdout(1), metrics=("logistic",))
    ((_, _, train, test),) = each_split(Holdout(1))
    Z, _ = BOX.scale(X, Y)
    theta = logistic.fit(Z[train], Y[train], ridge=3.0)
    assert frame["value"].item() == pytest.approx(float(logistic.loss_at(theta, Z[test], Y[test])), rel=1e-7)


def test_descent_is_a_plain_loop():
    """Each gradient gets noise of twice the longest record, times the root of the steps, over mu."""
    method, steps, epsilons = row_methods.logistic_descent("g", BOX, 1e-6, 5), 5, (0.5, 50.0)
    frame = run([method], Holdout(1), metrics=("logistic",), epsilons=epsilons)
    ((repeat, fold, train, test),) = each_split(Holdout(1))
    rng, (Z, _) = method_generator(noise.seed_sequence(7), 0, method), BOX.scale(X, Y)
    square = (BOX.scale(np.r_[[BOX.lower, BOX.upper]], [0, 1])[0] ** 2).sum(axis=1).max()
    deviation = np.array([2 * np.sqrt(square * steps) / gdp_mu(e, 1e-6) for e in epsilons])[:, None]
    theta, path = np.zeros((2, BOX.p)), []
    for _ in range(steps):
        slope = np.stack([Z[train].T @ (1 / (1 + np.exp(-Z[train] @ one)) - Y[train]) for one in theta])
        theta = theta - 4 / (square * train.sum()) * (slope + deviation * rng.standard_normal(theta.shape))
        path.append(theta)
    expected = logistic.loss_at(np.mean(path[2:], axis=0), Z[test], Y[test])
    assert of(frame, repeat, fold, "logistic") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("mode", ["clip", "signed", "threshold"])
def test_dpme_is_regression_on_the_noisy_cells(mode):
    method = row_methods.dpme("d", mode=mode, values=VALUES)
    frame = run([method], Holdout(1), metrics=("mse",), epsilons=(0.5, 50.0))
    ((_, _, train, test),) = each_split(Holdout(1))
    rng = method_generator(noise.seed_sequence(7), 0, method)
    cells = grid.partition(BOX, grid.bandwidth(int(train.sum()), 4), values=VALUES)
    counts = histogram.count(X[train], Y[train], cells)
    Z, t = BOX.scale(X, Y)
    for k, epsilon in enumerate((0.5, 50.0)):
        published = histogram.dpme(counts, epsilon, rng, mode=mode)
        rows, weights = (np.concatenate(part) for part in zip(*published.blocks(), strict=True))
        M, b = (rows[:, 1:].T * weights) @ rows[:, 1:], (rows[:, 1:].T * weights) @ rows[:, 0]
        values, vectors = np.linalg.eigh(M)
        floor = published.deviation if mode == "signed" and values[0] <= 0 else 1e-9 * values[-1]
        kept = vectors[:, values > floor]
        theta = kept @ np.linalg.solve(kept.T @ M @ kept, kept.T @ b)
        assert of(frame, 0, 0, "mse")[k] == pytest.approx(np.mean((Z[test] @ theta - t[test]) ** 2) / 4, rel=1e-8)


def test_singular_moments_are_solved_and_not_trimmed():
    """With few cells left M is singular, and rounding alone gives its smallest eigenvalue a sign."""
    frame = run(
        [row_methods.dpme("d", mode="threshold", values=VALUES)], Holdout(20), metrics=("mse",), epsilons=(0.1,)
    )
    Z, t = BOX.scale(X, Y)
    method, singular = row_methods.dpme("d", mode="threshold", values=VALUES), 0
    for repeat, fold, train, test in each_split(Holdout(20)):
        rng = method_generator(noise.seed_sequence(7), repeat, method)
        cells = grid.partition(BOX, grid.bandwidth(int(train.sum()), 4), values=VALUES)
        published = histogram.dpme(histogram.count(X[train], Y[train], cells), 0.1, rng, mode="threshold")
        gram = published.moments()
        singular += np.linalg.matrix_rank(gram[1:, 1:], hermitian=True) < BOX.p
        theta = np.linalg.pinv(gram[1:, 1:], rcond=1e-9, hermitian=True) @ gram[1:, 0]
        expected = np.mean((Z[test] @ theta - t[test]) ** 2) / 4
        assert of(frame, repeat, fold, "mse")[0] == pytest.approx(expected, rel=1e-6)
    assert singular > 0


def test_indefinite_signed_moments_are_trimmed():
    """With this much noise the moments are indefinite in most of 20 draws, and no fit may run away."""
    frame = run([row_methods.dpme("d", mode="signed")], Holdout(20), metrics=("mse",), epsilons=(0.01,))
    assert np.isfinite(frame["value"]).all()
    counts = histogram.count(X, Y, grid.partition(BOX, grid.bandwidth(320, 4), values=grid.whole(BOX)))
    noisy = [histogram.dpme(counts, 0.01, seed, mode="signed") for seed in range(20)]
    assert np.mean([np.linalg.eigvalsh(one.objective().M)[0] <= 0 for one in noisy]) > 0.5
    assert all(np.abs(trim(one.objective(), one.deviation).v).max() < np.inf for one in noisy)


@pytest.mark.parametrize("make", [row_methods.dpme, row_methods.filter_priority])
def test_labels_on_cells_are_fitted_by_weighted_logistic_regression(make):
    method = make("m", labels=True, values=VALUES)
    frame = run([method], Holdout(1), metrics=("logistic",), epsilons=(2.0,))
    ((_, _, train, test),) = each_split(Holdout(1))
    rng = method_generator(noise.seed_sequence(7), 0, method)
    most = row_methods.FINEST if make is row_methods.filter_priority else grid.bandwidth(int(train.sum()), 4)
    counts = histogram.count(X[train], Y[train], grid.partition(BOX, most, values=VALUES, response=2))
    if make is row_methods.dpme:
        published = histogram.dpme(counts, 2.0, rng)
    else:
        published = filter_priority.filter_priority(counts, 2.0, int(train.sum()), rng)
    rows, weights = (np.concatenate(part) for part in zip(*published.blocks(), strict=True))
    fitted = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theta = fitted.fit(rows[:, 1:], rows[:, 0] > 0, weights).coef_[0]
    Z, _ = BOX.scale(X, Y)
    assert of(frame, 0, 0, "logistic") == pytest.approx(float(logistic.loss_at(theta, Z[test], Y[test])), rel=1e-3)


def test_histograms_lose_their_noise_and_keep_their_grid_as_epsilon_grows():
    """With a cell for every record Filter-Priority ends at the fit without privacy, and DPME at that of its cells."""
    rows, box, values = X[:, :2], Box([0, 0], [1, 9], (0, 1), intercept=True), [2, 10]
    methods = [
        row_methods.logistic_regression("none"),
        row_methods.filter_priority("f", labels=True, values=values),
        row_methods.dpme("d", labels=True, values=values),
    ]
    frame = sweep(rows, Y, box, methods, [1e6], Holdout(3), random_state=1, metrics=("logistic",))
    value = {name: part["value"].to_numpy() for name, part in frame.groupby("method")}
    np.testing.assert_allclose(value["f"], value["none"], rtol=1e-5)
    assert grid.partition(box, grid.bandwidth(320, 3), values=values, response=2).cells == (2, 2, 7)
    assert (np.abs(value["d"] / value["none"] - 1) < 0.1).all()
    assert (np.abs(value["d"] / value["none"] - 1) > 1e-4).any()


@pytest.mark.slow
def test_workers_change_nothing_for_methods_that_read_rows():
    methods = [
        row_methods.logistic_regression(),
        row_methods.objective_perturbation(),
        row_methods.dpme(labels=True),
        row_methods.filter_priority(labels=True),
    ]
    assert_alike(run(methods, jobs=1), run(methods, jobs=2))


def test_a_ball_will_do_for_what_needs_no_grid():
    ball = Ball([0.5, 4.5, 0.5], 6.0, (0, 1), intercept=True)
    methods = [row_methods.logistic_regression(), row_methods.objective_perturbation()]
    frame = sweep(X, Y, ball, methods, [1.0], Holdout(2), metrics=("misclassified",))
    assert (frame["value"] < 0.5).all()
