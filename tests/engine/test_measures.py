"""Measures of fits, and ROC curves."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from dpreg.noise import seed_sequence
from dpreg.pipeline.objective import TAYLOR
from dpreg.sweeps.experiment import CrossValidation, Holdout, no_privacy, sweep
from dpreg.sweeps.measures import measured, roc
from dpreg.sweeps.measures import roc_curve as height
from dpreg.sweeps.methods import method_generator
from dpreg.sweeps.row_methods import logistic_regression
from dpreg.sweeps.scores import auc
from lib.papers.attacked_fits import attacked
from lib.papers.fang import contenders
from tests.engine.sweeps import assert_alike
from tests.lib.papers import BOX, DATA, LABELS, MARITAL, YES_NO, partition

# --- measured


def test_measures_see_the_fits_that_the_sweep_scores():
    methods = [*contenders(YES_NO, [2, 3], loss=TAYLOR), logistic_regression(repeats=1)]
    at = (LABELS.X, LABELS.y, YES_NO, methods, [0.5, 2.0], CrossValidation(2, 3))

    def area(part, theta, rng):
        return {"auc": np.array([auc(one, Z, t > 0) for one, (Z, t) in zip(theta, part.test_rows, strict=True)])}

    ours, theirs = measured(*at, area, random_state=4), sweep(*at, metrics=["auc"], random_state=4)
    keys = ["method", "epsilon", "repeat", "fold"]
    both = ours.merge(theirs, on=keys)
    assert len(both) == len(ours) == len(theirs)
    np.testing.assert_array_equal(both["value_x"], both["value_y"])


def test_measures_do_not_depend_on_the_number_of_workers():
    at = (DATA.X, DATA.y, BOX, contenders(BOX, [2])[:2], [1.0], Holdout(3), attacked(MARITAL))
    assert_alike(measured(*at, jobs=1), measured(*at, jobs=2))


# --- ROC curves


def test_roc_curve_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    Z, y = rng.integers(-3, 4, (300, 2)).astype(float), rng.integers(0, 2, 300).astype(float)
    rates = np.linspace(0, 1, 37)
    for theta in ([1.0, 0.0], [0.3, -1.0], [0.0, 0.0]):  # with many ties, few, and nothing else
        x, hits, _ = roc_curve(y, Z @ theta, drop_intermediate=False)
        ends = np.r_[np.diff(x) > 0, True]
        np.testing.assert_allclose(height(theta, Z, y, rates), np.interp(rates, x[ends], hits[ends]), atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_area_below_the_roc_curve_is_the_auc(ties):
    rng = np.random.default_rng(2)
    Z, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200).astype(float)
    Z = Z.round() if ties else Z
    theta = rng.normal(size=(2, 4, 3))
    zeros = int((y == 0).sum())
    corners = np.linspace(0, 1, zeros + 1)  # every vertex of the curve lies over one of these
    heights = height(theta, Z, y, corners)
    below = ((heights[..., 1:] + heights[..., :-1]) / 2).mean(axis=-1)
    if not ties:  # a curve without ties is made of steps, whose left ends are the tops
        below = heights[..., :-1].mean(axis=-1)
    tall = [[roc_auc_score(y, Z @ one) for one in row] for row in theta]
    np.testing.assert_allclose(auc(theta, Z, y), tall, atol=1e-12)
    np.testing.assert_allclose(below, tall, atol=0.005 if ties else 1e-12)


def test_roc_measure_is_that_of_the_test_set():
    plain, part = no_privacy("plain", loss=TAYLOR), partition(LABELS, Holdout(2), 3, repeat=1)
    frame = measured(LABELS.X, LABELS.y, YES_NO, [plain], [1.0], Holdout(2), roc([0.2, 0.7]), random_state=3)
    theta = plain.coefficients(part, np.ones(1), method_generator(seed_sequence(3), 1, plain))[0, 0]
    (Z, t), *_ = part.test_rows
    cut = np.quantile(Z[t < 0] @ theta, [0.8, 0.3])
    expected = [(Z[t > 0] @ theta > c).mean() for c in cut]
    np.testing.assert_allclose(frame[frame["repeat"] == 1]["value"], expected, atol=0.02)
    assert frame["metric"].tolist() == [0.2, 0.7] * 2
