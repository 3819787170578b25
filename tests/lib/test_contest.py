"""The comparison: all methods cost what they are said to, and the tasks are the records they name."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from dpreg.checks import InputError
from dpreg.mechanisms.budget_split import dpba
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import certify
from dpreg.sweeps.experiment import Holdout, sweep
from dpreg.sweeps.moment_methods import adassp
from dpreg.sweeps.row_methods import objective_perturbation
from lib.data.datasets import wine
from lib.papers import contest

BOX = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
LINE = Box([-1], [1], (-1, 1), intercept=True)
PURE = ["default", "Wishart", "Laplace", "DPBA (004)", "FM (001)", "objective", "private mean"]
DELTA = ["Gaussian", "Analyze Gauss", "AdaSSP", "objective, delta", "descent"]

LABELS = ["no privacy", "default", "objective, L2", "quadratic", "FM (001)", "likelier label"]
LABELS += ["objective, delta", "descent"]


def test_the_methods_and_their_names():
    assert sorted(method.name for method in contest.pure(BOX, 100)) == sorted(PURE)
    assert sorted(method.name for method in contest.pure(LINE, 100)) == sorted([*PURE, "hull", "K-norm gradient"])
    assert [method.name for method in contest.with_delta(BOX, 100, 1e-6)] == DELTA
    assert [method.name for method in contest.for_labels(BOX, 1e-6)] == LABELS
    assert [method.private for method in contest.for_labels(BOX, 1e-6)] == [False] + [True] * 7
    assert all(method.private for method in [*contest.pure(BOX, 9), *contest.with_delta(BOX, 9, 1e-6)])


def test_a_published_law_spends_all():
    law = dpba(BOX, 1.0)
    assert certify(law, BOX) < 0.9
    assert certify(contest.exactly(law, BOX), BOX) == pytest.approx(1.0)


def test_without_noise_all_but_the_mean_are_least_squares():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = (0.1 + 0.3 * X[:, 0] + 0.1 * rng.uniform(-1, 1, 300)).clip(-1, 1)
    methods = [*contest.pure(BOX, 240), *contest.with_delta(BOX, 240, 1e-6)]
    frame = sweep(X, y, BOX, methods, [1e9], Holdout(2)).groupby("method")["value"].mean()
    plain = frame.drop(["private mean", "descent"])
    assert plain.to_numpy() == pytest.approx(plain["Wishart"], rel=1e-3)
    assert frame["private mean"] > 1.5 * plain["Wishart"]


@pytest.mark.thorough
def test_tasks_are_the_records_they_name():
    found = contest.tasks()
    assert len(found) == 11
    for data in found.values():
        lower, upper = np.transpose([data.bounds[name] for name in data.names])
        assert np.array_equal(data.X, data.X.clip(lower, upper))
        if "scikit-learn" in data.source:  # income is capped where it is scaled
            assert data.bounds["y"][0] <= data.y.min() < data.y.max() <= data.bounds["y"][1]
        assert np.ptp(data.X, axis=0).min() > 0
    assert (found["petals"].X[:, 0] == load_iris().data[:, 2]).all()
    image = load_digits().images
    assert (found["digits"].y == image[:, 4, 4]).all()
    assert (found["digits"].X[:, 0] == image[:, 0, 1]).all()
    bottles = wine()
    assert (found["white wines"].y == bottles.X[:, -1]).all()
    assert found["white wines"].bounds["alcohol"] == bottles.bounds["alcohol"]
    schooling, us = found["US, schooling"], found["US"]
    assert (schooling.X[:, 0] == us.X[:, us.names.index("education")]).all()
    assert (schooling.y == us.y).all()


@pytest.mark.thorough
def test_labelled_tasks_are_the_records_they_name():
    found = contest.labelled()
    assert len(found) == 6
    for data in found.values():
        lower, upper = np.transpose([data.bounds[name] for name in data.names])
        assert np.array_equal(data.X, data.X.clip(lower, upper))
        assert set(data.y) == {0.0, 1.0}
    assert (found["odd digits"].y == load_digits().target % 2).all()
    assert found["malignant tumours"].X.shape == (569, 30)
    assert (found["wines, 7 or more"].y <= found["wines, 6 or more"].y).all()


@pytest.mark.thorough
@pytest.mark.parametrize(("large", "count"), [(10_000, 30), (100, 6)])
def test_wrong_labels_are_shares(monkeypatch, large, count):
    monkeypatch.setattr(contest, "LARGE", large)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    label = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.2) * 1.0
    bounds = {"a": (-1.0, 1.0), "b": (-1.0, 1.0), "above": (0.0, 1.0)}
    few = contest.Dataset(X, label, ("a", "b"), "above", bounds, "simulated")
    twin = objective_perturbation("twin", norm="K")
    frame = contest.wrong_labels(few, [1e-3, 1e4], 1e-6, [twin])
    assert set(frame["count"]) == {count}
    wide = frame.pivot(index="epsilon", columns="method", values="median")
    assert set(wide.columns) == {*LABELS, "twin"}
    plain = wide["no privacy"].dropna().item()
    assert wide.loc[1e4, ["default", "objective, L2", "objective, delta"]].to_numpy() == pytest.approx(plain, abs=0.03)
    assert wide.loc[1e4, "likelier label"] > plain + 0.05
    assert wide.loc[1e-3, "default"] > plain + 0.05


@pytest.mark.thorough
@pytest.mark.parametrize(("large", "counts"), [(10_000, {100}), (100, {4 * 25})])
def test_errors_are_over_those_of_the_mean(monkeypatch, large, counts):
    monkeypatch.setattr(contest, "LARGE", large)
    data = contest.picked(wine(), ["density", "pH"], "alcohol")
    few = contest.Dataset(data.X[:200], data.y[:200], data.names, "alcohol", data.bounds, data.source)
    frame = contest.errors(few, [0.01, 1e6], 1e-6)
    assert set(frame.loc[frame["method"] != "no privacy", "count"]) == counts
    wide = frame.pivot(index="epsilon", columns="method", values="median")
    assert set(wide.columns) == {*PURE, *DELTA, "no privacy"}
    assert wide.loc[1e6, "private mean"] == pytest.approx(1.0, rel=1e-3)
    assert wide.loc[1e6, "Wishart"] == pytest.approx(wide["no privacy"].dropna().item(), rel=0.01)
    assert wide.loc[0.01, "Laplace"] > wide.loc[1e6, "Laplace"]


@pytest.mark.thorough
def test_more_rivals_are_beside_the_same_methods_and_predict_the_middle_where_it_fails():
    data = contest.picked(wine(), ["density"], "alcohol")
    few = contest.Dataset(data.X[:1500], data.y[:1500], data.names, "alcohol", data.bounds, data.source)
    found = contest.more_rivals(few, [0.01, 10.0], 1e-6, sizes=(4, 300), beside=["AdaSSP"]).set_index("method")
    assert set(found.index) == {"AdaSSP", "TukeyEM, 4", "TukeyEM, 300", "Theil-Sen", "middle", "no privacy"}
    assert set(found["count"]) == {100}
    assert not found.loc[["AdaSSP", "Theil-Sen"], "failed"].any()
    assert found.loc["TukeyEM, 4", "failed"].tolist() == [1.0, 0.0]
    assert found.loc["TukeyEM, 300", "failed"].tolist() == [1.0, 1.0]  # too few records for any model
    assert found.loc["TukeyEM, 4", "median"].iloc[0] == found.loc["middle", "median"]
    assert found.loc["TukeyEM, 4", "median"].iloc[1] < 1.1 * found.loc["no privacy", "median"]
    own = contest.relative(few, [adassp("AdaSSP", few.box(intercept=True), 1e-6)], [0.01, 10.0], 100, 25)
    assert own.groupby("epsilon")["value"].median().tolist() == found.loc["AdaSSP", "median"].tolist()


def test_what_is_no_column_is_refused():
    with pytest.raises(InputError, match="'colour' is no column: choose among fixed acidity"):
        contest.picked(wine(), ["colour"], "alcohol")
    with pytest.raises(InputError, match="delta is 0: give"):
        contest.with_delta(BOX, 9, 0.0)
