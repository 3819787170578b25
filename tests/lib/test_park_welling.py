"""003's protocol, its scores, and the number of records a method needs."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpreg.checks import PrivacyLeakWarning
from dpreg.mechanisms import irls
from dpreg.pipeline.domain import Ball
from dpreg.sweeps import measures
from dpreg.sweeps.experiment import Holdout
from dpreg.sweeps.methods import Method
from lib.data import datasets
from lib.papers import park_welling
from tests.lib.papers import BALL, EPSILON, SIGMA, D

pytestmark = pytest.mark.filterwarnings("ignore::dpreg.checks.BrokenGuaranteeWarning")

PLANS = {"no privacy": irls.exact(BALL), "Gaussian": irls.gaussian(BALL, EPSILON)}


def test_replicate_is_the_protocol():
    """Its rows are the fits one gets by hand; other plans and more workers change nothing."""
    frame = park_welling.replicate(PLANS, [200, 500], 3, random_state=4, jobs=2)
    assert frame["method"].tolist() == ["no privacy", "Gaussian", "always 0"] * 6
    assert frame["n"].tolist() == [200] * 9 + [500] * 9
    alone = park_welling.replicate({"Gaussian": PLANS["Gaussian"]}, [500], 2, random_state=4)
    both = frame[(frame["n"] == 500) & (frame["repeat"] < 2) & (frame["method"] != "no privacy")]
    pd.testing.assert_frame_equal(alone, both.reset_index(drop=True))
    again = park_welling.replicate(PLANS, [500], 1, random_state=5)
    assert again["mse"][1] != frame["mse"][10]


@pytest.mark.thorough
def test_replicate_tests_on_fresh_records():
    """The plain fit has the test error of least squares on as many records, and zero has the variance of y."""
    frame = park_welling.replicate({"plain": irls.exact(BALL, cap=1.0, iterations=1)}, [100], 2000, random_state=6)
    mse = frame.pivot(index="repeat", columns="method", values="mse")
    excess = SIGMA**2 * (1 + D / (100 - D - 1))  # of least squares with normal predictors
    signal = D / (math.sqrt(D) + 3) ** 2 + SIGMA**2
    for name, expected in (("plain", excess), ("always 0", signal)):
        assert (
            abs(mse[name].mean() - expected) <= 4 * mse[name].sem() + 0.005 * expected
        )  # clipping moves half a percent
    mae = frame[frame["method"] == "plain"]["mae"]
    assert abs(mae.mean() - math.sqrt(2 / math.pi * excess)) <= 4 * mae.sem() + 0.005


def test_noise_deviation_reaches_the_data():
    quiet = park_welling.replicate(PLANS, [1000], 1, noise_deviation=0.01)
    assert quiet["mse"][0] == pytest.approx(1e-4, rel=0.5)


def test_bounds_from_the_data_leak():
    with pytest.warns(PrivacyLeakWarning, match="read off every data set"):
        leaky = park_welling.replicate(PLANS, [300], 2, maxima=True)
    public = park_welling.replicate(PLANS, [300], 2)
    same = leaky["mse"] == public["mse"]
    assert same[leaky["method"] == "always 0"].all()
    assert not same[leaky["method"] == "Gaussian"].any()


def test_maxima_are_003s_scaling():
    """With bounds at the largest row and response the first step of the plain fit is that of the scaled records."""
    with pytest.warns(PrivacyLeakWarning):
        frame = park_welling.replicate({"plain": irls.exact(BALL, iterations=3)}, [50], 1, random_state=8, maxima=True)
    X, y, _ = irls.simulated(55, D, np.random.default_rng(np.random.SeedSequence(8, spawn_key=(50, 0, 0))))
    row, top = np.linalg.norm(X, axis=1).max(), np.abs(y).max()
    Z, t, theta = X[:50] / row, y[:50] / top, np.zeros(D)
    for _ in range(3):
        s = 1 / np.maximum(0.1, np.abs(t - Z @ theta))
        theta = np.linalg.solve((Z * s[:, None]).T @ Z, Z.T @ (s * t))
    miss = y[50:] - top * (X[50:] / row) @ theta
    assert frame["mse"][0] == pytest.approx(np.mean(miss**2), rel=1e-9)


def test_log_likelihood_is_that_of_a_normal_law():
    miss = np.random.default_rng(1).normal(size=50)
    for variance in (0.01, 2.0):
        expected = stats.norm.logpdf(miss, scale=math.sqrt(variance)).mean()
        assert park_welling.log_likelihood(np.mean(miss**2), variance) == pytest.approx(expected)


def power_law(scale, sizes, repeats, rng, spread=0.5):
    rows = [(n, r, (scale / n) ** 2 * math.exp(spread * rng.normal())) for n in sizes for r in range(repeats)]
    return pd.DataFrame(rows, columns=["n", "repeat", "lost"])


def test_scored_pairs_the_data_sets():
    frame = pd.DataFrame({"method": ["a", "plain"] * 2, "n": 10, "repeat": [0, 0, 1, 1], "mse": [4.0, 1.0, 9.0, 2.0]})
    found = park_welling.scored(frame, "plain", 0.5)
    assert found["lost"].tolist() == [3.0, 0.0, 7.0, 0.0]
    np.testing.assert_allclose(found["likelihood"], park_welling.log_likelihood(frame["mse"], 0.5))


def test_needed_finds_the_crossing_of_a_power_law():
    rng, sizes = np.random.default_rng(2), [500 * 2**k for k in range(8)]
    exact = [power_law(c, sizes, 3, rng, 0.0).assign(method=str(c)) for c in (1500, 6000)]
    found = park_welling.needed(pd.concat(exact), 0.25, "1500")
    np.testing.assert_allclose(found["records"], [3000, 12_000])
    np.testing.assert_allclose(found["ratio"], [1, 4])
    np.testing.assert_allclose(found[["error", "ratio_error"]], 0, atol=1e-12)


def test_needed_does_not_look_beyond_the_sizes():
    frame = power_law(1500, [100, 200], 3, np.random.default_rng(3)).assign(method="a")
    for level in (1e-3, 1e9):
        assert park_welling.needed(frame, level, "a")["records"].isna().all()
    flat = pd.DataFrame({"method": "a", "n": [100, 200], "repeat": 0, "lost": [2.0, -0.1]})
    assert park_welling.needed(flat, 1.0, "a")["records"][0] == pytest.approx(200)  # no logarithm to interpolate


@pytest.mark.slow
def test_standard_errors_are_those_of_fresh_runs():
    rng, sizes, runs = np.random.default_rng(4), [1000, 2000, 4000, 8000], []
    for _ in range(120):
        pair = [power_law(c, sizes, 40, rng).assign(method=str(c)) for c in (1500, 3000)]
        runs.append(park_welling.needed(pd.concat(pair), 1.0, "1500", rng).loc[1])
    runs = pd.DataFrame(runs)
    for name, error in (("records", "error"), ("ratio", "ratio_error")):
        true = np.log(runs[name].astype(float)).std()
        assert 0.7 < runs[error].mean() / true < 1.4  # 120 runs: six per cent, and the bootstrap of a median is rough


LAWS = {
    "none": irls.exact(BALL),
    "lap": None,
    "gau": None,
    "Gaussian": irls.gaussian(BALL, 0.3),
    "Laplace": irls.pure(BALL, 0.3, "Laplace"),
    "difference": irls.pure(BALL, 0.3),
    "degrees": irls.degrees(BALL, 2.0, 1e-4),
}


@pytest.mark.parametrize("name", LAWS)
def test_disturbance_by_simulation(name):
    plan = LAWS[name] or irls.printed(
        BALL, 0.3, first="laplace" if name == "lap" else "gaussian", delta=1e-3, as_published=True
    )
    rng = np.random.default_rng(5)
    theta = np.linspace(-1, 2, D)
    drawn = plan.first.vector(D, rng, (4000,)) - plan.second.matrix(D, rng, (4000,)) @ theta
    squares = (drawn**2).sum(axis=1)
    error = squares.std() / math.sqrt(4000)
    assert abs(squares.mean() - park_welling.disturbance(plan, theta @ theta)) <= 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("cap", [1.0, 10.0])
def test_prediction_is_right_for_many_records(cap):
    """Mean loss at the predicted size, for a loss so small that first order is all there is."""
    level, plan = 0.01, irls.gaussian(BALL, 20.0, cap=cap, iterations=3)
    n = round(park_welling.predicted(plan, level))
    own = {"no privacy": irls.exact(BALL, cap=cap, iterations=3), "private": plan}
    frame = park_welling.scored(park_welling.replicate(own, [n], 400, random_state=9))
    lost = frame[frame["method"] == "private"]["lost"]
    assert abs(lost.mean() - level) <= 4 * lost.sem() + 0.05 * level  # moments of n records vary by some per cent


def test_predicted_scales():
    plan = irls.gaussian(BALL, 1.0)
    once = park_welling.predicted(plan, 0.5)
    assert park_welling.predicted(plan, 0.125) == pytest.approx(2 * once)
    assert park_welling.predicted(plan, 0.5, variance=0.04) == pytest.approx(once / 2)
    assert park_welling.predicted(irls.gaussian(BALL, 4.0), 0.5) == pytest.approx(once / 2)


def test_row_methods_fit_the_training_rows():
    data = datasets.wine()
    X = data.box().scale(data.X, data.y)[0] / math.sqrt(11)
    ball = Ball(np.zeros(11), 1.0, data.box().response, intercept=True)
    plan = irls.exact(ball, iterations=3)
    methods = [
        park_welling.row_method("plain", plan),
        park_welling.row_method("nearly", lambda rho: irls.gaussian(ball, rho, iterations=3)),
        Method("five", lambda f, e, rng: np.zeros((*f.batch, f.p)), private=False),
    ]
    found = measures.measured(X, data.y, ball, methods, [1e12, 2e12], Holdout(2), park_welling.absolute, random_state=3)
    assert found["method"].value_counts().to_dict() == {"plain": 2, "nearly": 4, "five": 2}
    labels = Holdout(2).labels(data.n, np.random.default_rng(np.random.SeedSequence(3, spawn_key=(0, 0))))
    fit = irls.irls(X[labels != 0], data.y[labels != 0], plan)
    mae = np.abs(data.y[labels == 0] - fit.model.predict(X[labels == 0])).mean()
    first = found[found["repeat"] == 0].set_index("method")["value"]
    assert first["plain"] == pytest.approx(mae, rel=1e-9)
    np.testing.assert_allclose(first["nearly"], mae, rtol=1e-3)
    assert first["five"] == pytest.approx(np.abs(data.y[labels == 0] - 5).mean(), rel=1e-9)
