"""Methods that read rows, and scores of labels: the sweep gives what a plain loop over the rows gives."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from dpreg import noise
from dpreg.checks import InputError
from dpreg.mechanisms import filter_priority, grid, histogram
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline import logistic, solve, surrogates
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import TAYLOR, linear
from dpreg.pipeline.objective import logistic as stand_in
from dpreg.pipeline.release import perturb
from dpreg.pipeline.repair import lift, trim
from dpreg.sweeps import row_methods, scores, splits
from dpreg.sweeps.experiment import CrossValidation, Holdout, functional_mechanism, mechanism, no_privacy, sweep
from dpreg.sweeps.methods import RowMethod, method_generator

BOX = Box([0, 0, 0], [1, 9, 1], (0, 1), intercept=True)
OF_LABELS = ("misclassified", "logistic", "auc")


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 10, n), rng.random(n)]).astype(float)
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] + 0.4 * X[:, 1] - 0.5))).astype(float)


X, Y = data()
VALUES = [2, 10, None]


def run(methods, protocol=None, epsilons=(0.5, 4.0), metrics=OF_LABELS, **options):
    protocol = CrossValidation(2, 3) if protocol is None else protocol
    return sweep(X, Y, BOX, methods, epsilons, protocol, **{"random_state": 7, "metrics": metrics} | options)


def each_split(protocol, seed=7):
    """Repeat, fold, and which records train, drawn as the docstrings say."""
    for repeat in range(protocol.repeats):
        labels = protocol.labels(len(Y), noise.spawn(seed, repeat, 0))
        for fold in protocol.tested:
            yield repeat, fold, (labels >= 0) & (labels != fold), labels == fold


def of(frame, repeat, fold, metric):
    part = frame[(frame["repeat"] == repeat) & (frame["fold"] == fold) & (frame["metric"] == metric)]
    return part["value"].to_numpy()


@pytest.mark.parametrize("protocol", [CrossValidation(2, 3), CrossValidation(2, 3, rate=0.4), Holdout(3)], ids=str)
def test_scores_without_privacy_are_scikit_learns_on_the_same_rows(protocol):
    frame = run([row_methods.logistic_regression("m")], protocol)
    Z, _ = BOX.scale(X, Y)
    for repeat, fold, train, test in each_split(protocol):
        model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(Z[train], Y[train])
        chance = model.predict_proba(Z[test])[:, 1]
        assert of(frame, repeat, fold, "misclassified") == pytest.approx(np.mean((chance > 0.5) != Y[test]), abs=1e-12)
        assert of(frame, repeat, fold, "logistic") == pytest.approx(log_loss(Y[test], chance), rel=1e-5)
        assert of(frame, repeat, fold, "auc") == pytest.approx(roc_auc_score(Y[test], chance), abs=1e-3)
    assert np.isinf(frame["epsilon"]).all()
    assert len(frame) == 3 * protocol.repeats * len(protocol.tested)


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_scikit_learns_ties_included(seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.integers(0, 4, (60, 2)).astype(float), rng.integers(0, 2, 60).astype(float)
    theta = rng.normal(size=(3, 4, 2)).round()
    found = scores.auc(theta, Z, y)
    assert found.shape == (3, 4)
    for index in np.ndindex(3, 4):
        assert found[index] == pytest.approx(roc_auc_score(y, Z @ theta[index]), abs=1e-12)
    np.testing.assert_allclose(scores.auc(3 * theta, Z, y), found)


def test_subsets_have_their_rate_and_change_with_the_partition():
    protocol = CrossValidation(1, 5, rate=0.3)
    rng = np.random.default_rng(0)
    drawn = np.array([protocol.labels(200, rng) for _ in range(2000)])
    assert ((drawn >= 0).sum(axis=1) == 60).all()
    assert (np.array([(drawn == fold).sum(axis=1) for fold in range(5)]) == 12).all()
    share = (drawn >= 0).mean(axis=0)  # of each record: five standard errors
    assert np.abs(share - 0.3).max() < 5 * math.sqrt(0.3 * 0.7 / 2000)
    whole, full = CrossValidation(1, 5).labels(200, np.random.default_rng(3)), CrossValidation(1, 5, 1.0)
    np.testing.assert_array_equal(whole, full.labels(200, np.random.default_rng(3)))


def test_a_subset_is_trained_and_tested_on_alone():
    protocol = CrossValidation(2, 3, rate=0.5)
    frame = run([no_privacy("m")], protocol, metrics=("mse",))
    Z, t = BOX.scale(X, Y)
    for repeat, fold, train, test in each_split(protocol):
        assert train.sum() + test.sum() == 200
        theta = np.linalg.lstsq(Z[train], t[train])[0]
        assert of(frame, repeat, fold, "mse") == pytest.approx(np.mean((Z[test] @ theta - t[test]) ** 2) / 4, rel=1e-9)


@pytest.mark.parametrize(
    "loss", [TAYLOR, surrogates.least_squares(3.0), surrogates.chebyshev(4.0)], ids=["T", "L", "C"]
)
def test_the_quadratic_of_a_loss_is_that_of_the_training_rows(loss):
    seen = []

    def spy(train, epsilons, rng):
        seen.append(train)
        return np.zeros((3, 1, BOX.p))

    method = no_privacy("m", loss=loss)
    run([type(method)("m", spy, False, loss)])
    expected = [stand_in(X[train], Y[train], BOX, loss) for *_, train, _ in each_split(CrossValidation(2, 3))]
    for k, f in enumerate(expected):
        found = seen[k // 3][k % 3, 0]
        assert (found.domain, found.loss) == (f.domain, f.loss)
        np.testing.assert_allclose(found.M, f.M, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.v, f.v, rtol=1e-10, atol=1e-10)
        assert found.c == pytest.approx(f.c, rel=1e-12)


def test_the_mechanism_for_labels_step_by_step():
    law, epsilons = functional(BOX, 1.0, loss=TAYLOR), np.array([0.5, 4.0])
    method = mechanism("tight", BOX, law, loss=TAYLOR)
    frame = run([method], Holdout(1), metrics=("misclassified",))
    ((_, _, train, test),) = each_split(Holdout(1))
    rng = method_generator(noise.seed_sequence(7), 0, method)
    f = stand_in(X[train], Y[train], BOX)[None, None]
    theta = solve.minimise(lift(perturb(f, law.times(1 / epsilons), rng), law.times(1 / epsilons)))[0]
    Z, _ = BOX.scale(X, Y)
    expected = [np.mean((Z[test] @ one > 0) != Y[test]) for one in theta]
    np.testing.assert_allclose(of(frame, 0, 0, "misclassified"), expected, atol=1e-12)
    printed = functional_mechanism("p", BOX, sensitivity="printed", convention="copied", loss=TAYLOR)
    assert printed.loss == TAYLOR


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


def test_the_finest_grid_for_whole_numbers():
    assert grid.whole(Box([0.5, -2.0, 0.0], [2.5, 2.0, 0.9], (0.0, 1.0))) == (2, 5, 1)


def test_a_slow_method_takes_part_in_its_partitions_only():
    slow = row_methods.objective_perturbation("op", repeats=1)
    frame = run([no_privacy("m", loss=TAYLOR), slow], CrossValidation(4, 3), metrics=("misclassified",))
    assert frame[frame["method"] == "op"]["repeat"].unique().tolist() == [0]
    assert frame[frame["method"] == "m"]["repeat"].nunique() == 4
    whole = run([row_methods.objective_perturbation("op")], CrossValidation(4, 3), metrics=("misclassified",))
    part = whole[whole["repeat"] == 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(frame[frame["method"] == "op"].reset_index(drop=True), part, check_exact=True)


def test_partitions_without_a_method_are_left_out():
    frame = run(
        [row_methods.objective_perturbation("op", repeats=2)], CrossValidation(4, 3), metrics=("misclassified",)
    )
    assert frame["repeat"].unique().tolist() == [0, 1]


@pytest.mark.slow
def test_workers_change_nothing_for_methods_that_read_rows():
    methods = [
        row_methods.logistic_regression(),
        row_methods.objective_perturbation(),
        row_methods.dpme(labels=True),
        row_methods.filter_priority(labels=True),
    ]
    pd.testing.assert_frame_equal(run(methods, jobs=1), run(methods, jobs=2), check_exact=True)


def test_metrics_come_in_the_order_asked_and_may_be_mixed():
    frame = run([no_privacy("m")], metrics=("auc", "mse"))
    assert frame["metric"].unique().tolist() == ["auc", "mse"]
    f = linear(X, Y, BOX)
    assert f.p == 4
    with pytest.raises(InputError, match="labels"):
        sweep(X, Y + 0.5, BOX, [no_privacy("m")], [1.0], Holdout(1), metrics=("misclassified",))


def test_coefficients_of_another_shape_are_refused():
    method = RowMethod("odd", lambda partition, epsilons, rng: np.zeros((1, len(epsilons), 9)))
    with pytest.raises(InputError, match="'odd' returned coefficients of shape"):
        run([method])


def test_a_ball_will_do_for_what_needs_no_grid():
    ball = Ball([0.5, 4.5, 0.5], 6.0, (0, 1), intercept=True)
    methods = [row_methods.logistic_regression(), row_methods.objective_perturbation()]
    frame = sweep(X, Y, ball, methods, [1.0], Holdout(2), metrics=("misclassified",))
    assert (frame["value"] < 0.5).all()


def test_partition_gives_each_record_to_one_side():
    table, labels = BOX.table(X, Y), CrossValidation(1, 4).labels(len(Y), np.random.default_rng(1))
    partition = splits.Partition(X, Y, table, BOX, labels, (0, 1, 2, 3))
    assert partition.sizes.tolist() == [100] * 4
    tested = [Z for Z, _ in partition.test_rows]
    trained = [rows for rows, _ in partition.training_rows()]
    assert [len(rows) for rows in tested] == [100] * 4
    assert [len(rows) for rows in trained] == [300] * 4
