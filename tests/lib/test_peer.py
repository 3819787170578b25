"""The peer in its own environment: fits are independent, and the same again with the same seed."""

import numpy as np
import pytest

from dpreg.noise import generator
from dpreg.pipeline.domain import Box
from dpreg.sweeps.splits import Holdout, draw
from lib.pages import peer

LINEAR = {"epsilon": 1.0, "bounds_X": [-1.0, 1.0], "bounds_y": [-1.0, 1.0], "fit_intercept": False}
X, Y = np.array([[1.0], [0.5], [-1.0]]), np.array([1.0, 0.0, -1.0])


def test_the_pinned_version():
    assert f"diffprivlib=={peer.version()}" in (peer.PEER / "requirements.txt").read_text()


@pytest.mark.slow
def test_draws_repeat_with_the_seed_and_differ_without():
    model = peer.Peer("LinearRegression", LINEAR)
    one, again, other = (model(X, Y, generator(seed), 20) for seed in (1, 1, 2))
    assert one.shape == (20, 2)
    assert (one == again).all()
    assert (one[:, 1] == 0).all()  # no intercept was asked for
    assert len(np.unique(np.concatenate([one[:, 0], other[:, 0]]))) == 40


@pytest.mark.slow
def test_a_fit_that_fails_is_an_outcome():
    model = peer.Peer("LogisticRegression", {"epsilon": 1.0, "data_norm": 2.0})
    assert np.isnan(model(X, np.zeros(3), generator(0), 2)).all()
    assert np.isfinite(model(X, np.array([0.0, 1.0, 1.0]), generator(0), 2)).all()


def test_the_peer_is_given_scaled_rows_and_their_norm(monkeypatch):
    seen = []

    class Fake:
        def __init__(self, model, settings):
            seen.append((model, settings))

        def __call__(self, X, y, rng, draws):
            seen.append((X, y, draws))
            return np.array([[1.0, 2.0, 3.0]])  # two slopes and the intercept

    monkeypatch.setattr(peer, "Peer", Fake)
    rng = np.random.default_rng(0)
    box = Box([0, 0], [10, 10], (0, 1), intercept=True)
    X, y = rng.uniform(0, 10, (40, 2)), rng.integers(0, 2, 40).astype(float)
    partition = draw(X, y, box.table(X, y), box, Holdout(1), rng)
    theta = peer.logistic_regression().fit(partition, np.array([0.5, 2.0]), rng)
    assert theta.tolist() == [[[3.0, 1.0, 2.0]] * 2]
    assert seen[0] == ("LogisticRegression", {"epsilon": 0.5, "data_norm": 2**0.5})
    ((rows, labels),) = partition.training_rows()
    assert seen[1][0] == pytest.approx(rows / 5 - 1)
    assert (seen[1][1] == labels).all()
    assert (seen[1][2], seen[2][1]["epsilon"]) == (1, 2.0)
