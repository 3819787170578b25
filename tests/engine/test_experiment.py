"""Sweeps from moments give what a loop over rows gives, whoever computes them and in which order."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.linear_model import LinearRegression, Ridge

from dpreg import noise
from dpreg.checks import IndefiniteError, InputError
from dpreg.pipeline.domain import BLOCK, Ball, Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import perturb
from dpreg.pipeline.solve import NONE, Penalty, Program, asymmetric_closed_form
from dpreg.sweeps import experiment
from dpreg.sweeps.experiment import CrossValidation, Holdout, functional_mechanism, no_privacy, summarise, sweep
from dpreg.sweeps.methods import Method, method_generator
from dpreg.sweeps.splits import fold_moments
from lib.pages.report import pivot

ROOT = Path(__file__).resolve().parents[2]
BOX = Box([-2, -2, -2], [2, 2, 2], (-10, 20), intercept=True)


def data(n=203, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 4 + X @ np.arange(1.0, d + 1) + rng.normal(size=n)


X, Y = data()


def split(protocol, n, seed, repeat):
    """The labels of one partition, drawn as the docstrings say: by the task's own generator."""
    return protocol.labels(n, noise.spawn(seed, repeat, 0))


@pytest.mark.parametrize("n", [2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 11])
@pytest.mark.parametrize("domain", [BOX, Ball([0, 0, 0], 2, (-10, 20))], ids=["box", "ball"])
def test_fold_moments_are_those_of_the_rows_of_the_fold(n, domain):
    X, y = data(n)
    folds = 3
    labels = np.random.default_rng(1).integers(0, folds, n).astype(np.int16)
    found = fold_moments(domain.table(X, y), labels, folds, domain)
    Z, t = domain.scale(X, y)
    assert found.batch == (folds,)
    for fold in range(folds):
        rows, target = Z[labels == fold], t[labels == fold]
        np.testing.assert_allclose(found.M[fold], rows.T @ rows, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(found.v[fold], -2 * rows.T @ target, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(found.c[fold], target @ target, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(found.M[fold], found.M[fold].T)
    np.testing.assert_allclose(found.sum().M, linear(X, y, domain).M, rtol=1e-11)


def test_labels_of_any_integer_type_will_do():
    table = BOX.table(X, Y)
    labels = np.arange(len(Y)) % 4
    expected = fold_moments(table, labels.astype(np.int16), 4, BOX)
    for dtype in (np.int64, np.uint8, np.int32):
        np.testing.assert_array_equal(fold_moments(table, labels.astype(dtype), 4, BOX).M, expected.M)


@pytest.mark.parametrize("n", [10, 11, 14, 1000])
def test_folds_are_balanced_and_holdouts_have_their_share(n):
    rng = np.random.default_rng(0)
    sizes = np.bincount(CrossValidation(1, 5).labels(n, rng), minlength=5)
    assert sizes.sum() == n
    assert np.ptp(sizes) <= 1
    for share in (0.2, 0.5, 0.75):
        labels = Holdout(1, share).labels(n, rng)
        assert (labels == 0).sum() == round(share * n)
        assert set(labels) == {0, 1}
    assert CrossValidation(1, 5).tested == (0, 1, 2, 3, 4)
    assert Holdout().tested == (0,)


def test_every_record_is_as_likely_to_be_tested():
    """Each of 50 records is held out in a fifth of 4,000 splits, to within five standard errors."""
    repeats = 4000
    rng = np.random.default_rng(0)
    tested = np.mean([Holdout(1, 0.2).labels(50, rng) == 0 for _ in range(repeats)], axis=0)
    assert np.abs(tested - 0.2).max() < 5 * math.sqrt(0.2 * 0.8 / repeats)
    fold = np.mean([CrossValidation(1, 5).labels(50, rng) == 3 for _ in range(repeats)], axis=0)
    assert np.abs(fold - 0.2).max() < 5 * math.sqrt(0.2 * 0.8 / repeats)


@pytest.mark.parametrize("protocol", [CrossValidation(3, 5), Holdout(4, 0.2)], ids=["folds", "holdout"])
@pytest.mark.parametrize(
    ("penalty", "estimator"),
    [(NONE, LinearRegression(fit_intercept=False)), (Penalty(7.0), Ridge(7.0, fit_intercept=False))],
    ids=["least squares", "ridge"],
)
def test_error_without_privacy_is_scikit_learns_on_the_same_rows(protocol, penalty, estimator):
    frame = sweep(X, Y, BOX, [no_privacy("m", penalty)], [1.0], protocol, random_state=9, metrics=("mse", "rmse"))
    Z, t = BOX.scale(X, Y)
    for repeat in range(protocol.repeats):
        labels = split(protocol, len(Y), 9, repeat)
        for fold in protocol.tested:
            train, test = labels != fold, labels == fold
            scaled = estimator.fit(Z[train], t[train]).coef_
            # Row by row, in the units of the response, against the response clipped to its bounds.
            clipped = np.clip(X, BOX.lower, BOX.upper)
            miss = np.clip(Y, *BOX.response)[test] - BOX.unscale(scaled).predict(clipped[test])
            part = frame[(frame["repeat"] == repeat) & (frame["fold"] == fold)].set_index("metric")["value"]
            assert part["mse"] == pytest.approx(np.mean(miss**2), rel=1e-9)
            assert part["rmse"] == pytest.approx(math.sqrt(np.mean(miss**2)), rel=1e-9)
    assert len(frame) == 2 * protocol.repeats * len(protocol.tested)
    assert np.isinf(frame["epsilon"]).all()


def test_training_moments_are_those_of_the_rows_not_tested():
    seen = []

    def spy(train, epsilons, rng):
        seen.append(train)
        return np.zeros((*train.batch[:1], len(epsilons), train.p))

    protocol = CrossValidation(2, 4)
    frame = sweep(X, Y, BOX, [Method("spy", spy)], [0.5, 2.0, 8.0], protocol, random_state=3)
    Z, t = BOX.scale(X, Y)
    for repeat, train in enumerate(seen):
        assert train.batch == (4, 1)
        assert train.domain == BOX
        labels = split(protocol, len(Y), 3, repeat)
        for fold in range(4):
            rows = labels != fold
            np.testing.assert_allclose(train.M[fold, 0], Z[rows].T @ Z[rows], rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(train.v[fold, 0], -2 * Z[rows].T @ t[rows], rtol=1e-10, atol=1e-9)
            # With theta = 0 the prediction is the centre of the response.
            error = math.sqrt(np.mean(t[labels == fold] ** 2)) * BOX.half_width
            part = frame[(frame["repeat"] == repeat) & (frame["fold"] == fold)]
            np.testing.assert_allclose(part["value"], error, rtol=1e-10)
            assert part["epsilon"].tolist() == [0.5, 2.0, 8.0]


METHODS = [
    no_privacy("none"),
    functional_mechanism("printed", BOX, sensitivity="printed", convention="monomial"),
    functional_mechanism("tight", BOX),
    functional_mechanism("untrimmed", BOX, neighbours="add_remove", ridge=1e4, floor=None),
]
GRID = [0.1, 1.0, 10.0]


def run(methods=METHODS, **options):
    options = {"random_state": 5, "metrics": ("rmse", "mse")} | options
    return sweep(X, Y, BOX, methods, GRID, options.pop("protocol", CrossValidation(3, 5)), **options)


def rows_of(frame, name):
    return frame[frame["method"] == name].reset_index(drop=True)


def test_the_same_seed_gives_the_same_frame_and_another_seed_another():
    pd.testing.assert_frame_equal(run(), run(), check_exact=True)
    pd.testing.assert_frame_equal(run(), run(random_state=np.random.SeedSequence(5)), check_exact=True)
    assert (run()["value"] != run(random_state=6)["value"]).all()
    assert (run(random_state=None)["value"] != run(random_state=None)["value"]).all()


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_the_number_of_workers_changes_nothing(backend):
    with parallel_config(backend=backend):
        pd.testing.assert_frame_equal(run(jobs=1), run(jobs=2), check_exact=True)


def test_order_and_presence_of_other_methods_change_nothing():
    whole = run()
    for methods in (METHODS[::-1], METHODS[1:3], METHODS[2:3]):
        part = run(methods)
        for method in methods:
            pd.testing.assert_frame_equal(rows_of(part, method.name), rows_of(whole, method.name), check_exact=True)


def test_more_repeats_extend_the_frame():
    short, long = run(protocol=CrossValidation(2, 5)), run(protocol=CrossValidation(4, 5))
    kept = long[long["repeat"] < 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, short, check_exact=True)


def test_methods_and_partitions_draw_independent_noise():
    one, twin = functional_mechanism("one", BOX), functional_mechanism("two", BOX)
    frame = run([one, twin], metrics=("mse",))
    assert (rows_of(frame, "one")["value"] != rows_of(frame, "two")["value"]).all()
    root = noise.seed_sequence(0)
    draws = {method_generator(root, repeat, method).random() for repeat in range(5) for method in (one, twin)}
    assert len(draws) == 10
    assert noise.spawn(root, 0, 0).random() not in draws  # nor is the split the noise


def test_progress_is_shown_when_it_takes_long_and_changes_nothing(capsys, monkeypatch):
    quiet = run(progress=False)
    assert not capsys.readouterr().err
    pd.testing.assert_frame_equal(run(), quiet, check_exact=True)
    assert not capsys.readouterr().err, "a bar for a sweep of less than two seconds"
    monkeypatch.setattr(experiment, "PATIENCE", 0.0)
    pd.testing.assert_frame_equal(run(), quiet, check_exact=True)
    assert "3/3" in capsys.readouterr().err
    pd.testing.assert_frame_equal(run(progress=False), quiet, check_exact=True)
    assert not capsys.readouterr().err


@pytest.mark.slow
def test_the_environment_hides_the_bar():
    """As in the book: `conftest.py`, `tools/reference.py` and `_ext/execution.py` set it for every kernel."""
    code = """
from dpreg.sweeps import experiment
from dpreg.pipeline.domain import Box
from dpreg.sweeps.experiment import Holdout, no_privacy, sweep

experiment.PATIENCE = 0
sweep([[0.1], [0.2], [0.3]], [0.1, 0.2, 0.3], Box([0], [1], (0, 1)), [no_privacy("none")], [1.0], Holdout(3))
"""
    for disable, shown in (("", True), ("1", False)):
        environment = os.environ | {"TQDM_DISABLE": disable}
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("3/3" in done.stderr) == shown


def test_private_errors_approach_the_non_private_one():
    method = functional_mechanism("fm", BOX)
    frame = sweep(X, Y, BOX, [no_privacy("none"), method], [1e3, 1e6, 1e9], Holdout(5), random_state=1)
    exact = rows_of(frame, "none")["value"].to_numpy()
    gaps = [np.abs(part["value"].to_numpy() - exact).max() for _, part in rows_of(frame, "fm").groupby("epsilon")]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-5


def test_the_mechanism_step_by_step():
    """Noise, 001's ridge of four standard deviations (Eq. 13), its trimming (Eq. 14), and the minimum-norm solution."""
    epsilons = np.array([0.3, 3.0])
    f = linear(X, Y, BOX)
    found = functional_mechanism("m", BOX, convention="copied").fit(f[None, None], epsilons, np.random.default_rng(8))
    unit = functional(BOX, 1.0, convention="copied")
    noisy = perturb(f[None, None], unit.times(1 / epsilons), np.random.default_rng(8))
    trimmed = 0
    for k, epsilon in enumerate(epsilons):
        deviation = math.sqrt(2) * unit.M[-1, -1] / epsilon
        values, vectors = np.linalg.eigh(noisy.M[0, k] + 4 * deviation * np.eye(BOX.p))
        kept = values > 0
        trimmed += (~kept).sum()
        theta = -vectors[:, kept] @ (vectors[:, kept].T @ noisy.v[0, k] / values[kept]) / 2
        np.testing.assert_allclose(found[0, k], theta, rtol=1e-9)
    raw = functional_mechanism("m", BOX, ridge=None).fit(f[None, None], epsilons / 100, np.random.default_rng(8))
    noisy = perturb(f[None, None], functional(BOX, epsilons / 100), np.random.default_rng(8))
    for k in range(2):
        values, vectors = np.linalg.eigh(noisy.M[0, k])
        kept = values > 0
        trimmed += (~kept).sum()
        theta = -vectors[:, kept] @ (vectors[:, kept].T @ noisy.v[0, k] / values[kept]) / 2
        np.testing.assert_allclose(raw[0, k], theta, rtol=1e-9)
    assert trimmed > 0  # or trimming was not tested


def test_repairs_are_optional_and_an_indefinite_draw_is_refused():
    with pytest.raises(IndefiniteError):
        run([functional_mechanism("raw", BOX, ridge=None, floor=None)])
    raw = functional_mechanism("raw", BOX, ridge=None, floor=None, solver=asymmetric_closed_form)
    assert np.isfinite(run([raw])["value"]).all()
    trimmed = functional_mechanism("trimmed", BOX, ridge=None)
    assert np.isfinite(run([trimmed])["value"]).all()


def test_any_solver_can_be_plugged_in():
    penalty = Penalty(3.0, 0.0)
    program = Program(BOX.p)

    def through_scs(objective, penalty):
        flat = [program.solve(objective[index], penalty) for index in np.ndindex(objective.batch)]
        return np.reshape(flat, (*objective.batch, objective.p))

    fast, slow = (
        sweep(X, Y, BOX, [functional_mechanism("m", BOX, penalty=penalty, **other)], [5.0], Holdout(2), random_state=1)
        for other in ({}, {"solver": through_scs})
    )
    np.testing.assert_allclose(fast["value"], slow["value"], rtol=1e-5)


def test_too_few_records_for_the_protocol_are_refused():
    """Otherwise the error of an empty test set would be NaN, and a model trained on nothing would be reported."""
    for n, protocol in ((2, Holdout(1, 0.2)), (2, Holdout(1, 0.9)), (3, CrossValidation(1, 5))):
        with pytest.raises(InputError, match="use more records"):
            sweep(X[:n], Y[:n], BOX, [no_privacy("m")], [1.0], protocol)
    sweep(X[:5], Y[:5], BOX, [no_privacy("m", Penalty(1.0))], [1.0], CrossValidation(1, 5))  # leave one out


def test_labels_that_drop_records_are_refused():
    table = BOX.table(X, Y)
    for labels in (np.zeros(5, int), np.full(len(Y), 7), np.full(len(Y), -2)):
        with pytest.raises(InputError, match="labels"):
            fold_moments(table, labels, 5, BOX)


def test_summary_of_known_values():
    values = np.arange(1.0, 101.0)
    frame = pd.DataFrame({"method": "m", "epsilon": 0.5, "metric": "mse", "value": values[::-1]})
    (row,) = summarise(frame).to_dict("records")
    assert row["median"] == 50.5
    assert (row["low"], row["high"]) == (20.8, 80.2)  # 1 + 0.2 * 99 and 1 + 0.8 * 99
    assert row["mean"] == 50.5
    assert row["variance"] == pytest.approx(np.var(values, ddof=1))
    assert row["count"] == 100
    assert row["error"] == pytest.approx(99 * 0.05)  # quantiles 0.45 and 0.55, half their distance
    assert math.isnan(summarise(frame[:1])["error"][0])  # one value says nothing about its spread
    wide = summarise(frame, low=0.0, high=1.0)
    assert (wide["low"][0], wide["high"][0]) == (1.0, 100.0)


def test_a_summary_by_another_column():
    frame = pd.DataFrame({"method": "m", "rate": [0.1, 0.1, 1.0], "value": [1.0, 3.0, 5.0]})
    found = summarise(frame, by=("method", "rate"))
    assert found[["rate", "median", "count"]].to_numpy().tolist() == [[0.1, 2.0, 2], [1.0, 5.0, 1]]


def test_the_error_of_the_median_covers_it():
    """Median plus or minus 1.96 errors holds the true median in 95 % of 500 samples, give or take two points."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"method": np.repeat(np.arange(500), 200), "epsilon": 1.0, "metric": "mse"})
    frame["value"] = rng.standard_cauchy(len(frame))
    summary = summarise(frame)
    hits = np.abs(summary["median"]) <= 1.96 * summary["error"]
    assert abs(hits.mean() - 0.95) < 0.02 + 5 * math.sqrt(0.95 * 0.05 / 500)


def test_summaries_keep_methods_budgets_and_metrics_apart():
    frame = run()
    summary = summarise(frame)
    assert len(summary) == 2 * (1 + 3 * len(GRID))
    for _, row in summary.iterrows():
        where = (frame[["method", "metric"]] == row[["method", "metric"]].to_numpy()).all(axis=1)
        part = frame[where & (frame["epsilon"] == row["epsilon"])]["value"]
        assert row["median"] == np.median(part)
        assert row["count"] == len(part) == 15
    one = summary[summary["metric"] == "rmse"]
    table = pivot(one)
    assert table.columns.tolist() == [method.name for method in METHODS]
    assert table.index.tolist() == ["0.1", "1", "10"]
    assert table["none"].nunique() == 1
