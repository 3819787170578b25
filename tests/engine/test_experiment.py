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

from dpreg import noise
from dpreg.checks import IndefiniteError
from dpreg.pipeline import solve, surrogates
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import TAYLOR, linear
from dpreg.pipeline.objective import logistic as stand_in
from dpreg.pipeline.release import perturb
from dpreg.pipeline.repair import lift
from dpreg.pipeline.solve import Penalty, Program, asymmetric_closed_form
from dpreg.sweeps import experiment
from dpreg.sweeps.experiment import (
    CrossValidation,
    Holdout,
    constant,
    functional_mechanism,
    mechanism,
    no_privacy,
    summarise,
    sweep,
)
from dpreg.sweeps.methods import method_generator
from lib.pages.report import pivot
from tests.engine import binary
from tests.engine.sweeps import BOX, GRID, METHODS, X, Y, assert_alike, rows_of, run

ROOT = Path(__file__).resolve().parents[2]


def test_the_same_seed_gives_the_same_frame_and_another_seed_another():
    pd.testing.assert_frame_equal(run(), run(), check_exact=True)
    pd.testing.assert_frame_equal(run(), run(random_state=np.random.SeedSequence(5)), check_exact=True)
    assert (run()["value"] != run(random_state=6)["value"]).all()
    assert (run(random_state=None)["value"] != run(random_state=None)["value"]).all()


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_the_number_of_workers_changes_nothing(backend):
    with parallel_config(backend=backend):
        assert_alike(run(jobs=1), run(jobs=2))


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


@pytest.mark.thorough
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


# --- labels


@pytest.mark.parametrize(
    "loss", [TAYLOR, surrogates.least_squares(3.0), surrogates.chebyshev(4.0)], ids=["T", "L", "C"]
)
def test_the_quadratic_of_a_loss_is_that_of_the_training_rows(loss):
    seen = []

    def spy(train, epsilons, rng):
        seen.append(train)
        return np.zeros((3, 1, binary.BOX.p))

    method = no_privacy("m", loss=loss)
    binary.run([type(method)("m", spy, False, loss)])
    expected = [
        stand_in(binary.X[train], binary.Y[train], binary.BOX, loss)
        for *_, train, _ in binary.each_split(CrossValidation(2, 3))
    ]
    for k, f in enumerate(expected):
        found = seen[k // 3][k % 3, 0]
        assert (found.domain, found.loss) == (f.domain, f.loss)
        np.testing.assert_allclose(found.M, f.M, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.v, f.v, rtol=1e-10, atol=1e-10)
        assert found.c == pytest.approx(f.c, rel=1e-12)


def test_the_mechanism_for_labels_step_by_step():
    law, epsilons = functional(binary.BOX, 1.0, loss=TAYLOR), np.array([0.5, 4.0])
    method = mechanism("tight", binary.BOX, law, loss=TAYLOR)
    frame = binary.run([method], Holdout(1), metrics=("misclassified",))
    ((_, _, train, test),) = binary.each_split(Holdout(1))
    rng = method_generator(noise.seed_sequence(7), 0, method)
    f = stand_in(binary.X[train], binary.Y[train], binary.BOX)[None, None]
    theta = solve.minimise(lift(perturb(f, law.times(1 / epsilons), rng), law.times(1 / epsilons)))[0]
    Z, _ = binary.BOX.scale(binary.X, binary.Y)
    expected = [np.mean((Z[test] @ one > 0) != binary.Y[test]) for one in theta]
    np.testing.assert_allclose(binary.of(frame, 0, 0, "misclassified"), expected, atol=1e-12)
    printed = functional_mechanism("p", binary.BOX, sensitivity="printed", convention="copied", loss=TAYLOR)
    assert printed.loss == TAYLOR


def test_the_mean_is_that_of_the_training_records_and_its_noise_that_of_one_sum():
    box, rng = Box([-1.0], [1.0], (0.0, 10.0), intercept=True), np.random.default_rng(3)
    X, y, split = rng.uniform(-1, 1, (60, 1)), rng.uniform(2, 9, 60), Holdout(4)
    methods = [constant("plain", private=False), constant("noisy")]
    frame = sweep(X, y, box, methods, [1e9], split, random_state=7)
    plain, noisy = (frame[frame["method"] == name]["value"].to_numpy() for name in ("plain", "noisy"))
    np.testing.assert_allclose(plain, noisy, rtol=1e-6)
    train = linear(X, y, box)[None, None]
    epsilons = np.full(40_000, 0.5)
    drawn = constant("noisy").fit(train, epsilons, np.random.default_rng(1))
    assert drawn.shape == (1, 40_000, 2)
    assert not drawn[..., 1].any()
    moved = drawn[0, :, 0] - (y.mean() - 5) / 5
    assert np.abs(moved).mean() == pytest.approx(2 / 0.5 / 60, rel=0.03)  # five standard errors are 2.5 per cent
    wild = constant("noisy").fit(train, np.array([1e-6]), np.random.default_rng(1))
    assert np.abs(wild[0, 0, 0]) == 1.0


def test_noise_that_does_not_go_with_epsilon_is_made_for_every_budget():
    law, seen = functional(BOX, 1.0), []

    def make(epsilons):
        seen.append(epsilons)
        return law.times(1 / epsilons)

    one, other = (run([mechanism("m", BOX, given)]) for given in (law, make))
    pd.testing.assert_frame_equal(one, other)
    assert all(len(epsilons) == len(GRID) for epsilons in seen)
