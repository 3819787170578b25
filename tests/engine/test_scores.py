"""Scores of fits: a sweep gives what scikit-learn gives on the same rows."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score

from dpreg.checks import InputError
from dpreg.pipeline.objective import linear
from dpreg.pipeline.solve import NONE, Penalty
from dpreg.sweeps import row_methods, scores
from dpreg.sweeps.experiment import CrossValidation, Holdout, no_privacy, sweep
from tests.engine import binary
from tests.engine.sweeps import BOX, X, Y, split


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


@pytest.mark.parametrize("protocol", [CrossValidation(2, 3), CrossValidation(2, 3, rate=0.4), Holdout(3)], ids=str)
def test_scores_without_privacy_are_scikit_learns_on_the_same_rows(protocol):
    frame = binary.run([row_methods.logistic_regression("m")], protocol)
    Z, _ = binary.BOX.scale(binary.X, binary.Y)
    for repeat, fold, train, test in binary.each_split(protocol):
        model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(
            Z[train], binary.Y[train]
        )
        chance = model.predict_proba(Z[test])[:, 1]
        assert binary.of(frame, repeat, fold, "misclassified") == pytest.approx(
            np.mean((chance > 0.5) != binary.Y[test]), abs=1e-12
        )
        assert binary.of(frame, repeat, fold, "logistic") == pytest.approx(log_loss(binary.Y[test], chance), rel=1e-5)
        assert binary.of(frame, repeat, fold, "auc") == pytest.approx(roc_auc_score(binary.Y[test], chance), abs=1e-3)
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


def test_metrics_come_in_the_order_asked_and_may_be_mixed():
    frame = binary.run([no_privacy("m")], metrics=("auc", "mse"))
    assert frame["metric"].unique().tolist() == ["auc", "mse"]
    f = linear(binary.X, binary.Y, binary.BOX)
    assert f.p == 4
    with pytest.raises(InputError, match="labels"):
        sweep(binary.X, binary.Y + 0.5, binary.BOX, [no_privacy("m")], [1.0], Holdout(1), metrics=("misclassified",))
