"""The peer in its own environment: fits are independent, and the same again with the same seed."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from dpreg.checks import DataError
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

    def fits(*given):
        seen.append(given)
        return np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])  # two slopes and the intercept

    monkeypatch.setattr(peer, "_fits", fits)
    rng = np.random.default_rng(0)
    box = Box([0, 0], [10, 10], (0, 1), intercept=True)
    X, y = rng.uniform(0, 10, (40, 2)), rng.integers(0, 2, 40).astype(float)
    partition = draw(X, y, box.table(X, y), box, Holdout(1), rng)
    theta = peer.logistic_regression().fit(partition, np.array([0.5, 2.0]), rng)
    assert theta.tolist() == [[[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]]]
    ((model, each, Z, t),) = seen
    assert model == "LogisticRegression"
    assert [settings for settings, _ in each] == [{"epsilon": e, "data_norm": 2**0.5} for e in (0.5, 2.0)]
    assert len({seed for _, seed in each}) == 2
    ((rows, labels),) = partition.training_rows()
    assert pytest.approx(rows / 5 - 1) == Z
    assert (t == labels).all()


@pytest.mark.slow
def test_fits_of_several_settings_come_in_their_order():
    each = [({**LINEAR, "epsilon": epsilon}, 7) for epsilon in (1.0, 1e3, 1.0, 1e9)]
    found = peer._fits("LinearRegression", each, X, Y)[:, 0]
    assert found[0] == found[2] != found[1]
    assert found[3] == pytest.approx(X[:, 0] @ Y / (X[:, 0] @ X[:, 0]), rel=1e-3)


def test_a_peer_that_ends_is_an_error(monkeypatch):
    for end in ("import sys; sys.stdin.buffer.peek(1)", "pass"):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        workers = [subprocess.Popen([sys.executable, "-c", end], **pipes) for _ in range(peer.WORKERS)]
        monkeypatch.setattr(peer, "_workers", cache(lambda workers=workers: workers))
        with pytest.raises(DataError, match="build again"):
            peer._fits("LinearRegression", [(LINEAR, 1)] * 2, X, Y)
        assert all(worker.poll() is not None for worker in workers)


@pytest.mark.slow
def test_an_interrupted_call_does_not_answer_the_next_one(monkeypatch):
    model = peer.Peer("LinearRegression", LINEAR)
    expected = model(X, Y, generator(1), 4)
    before = peer._workers()
    with monkeypatch.context() as patch:
        patch.setattr(peer.pickle, "load", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model(X, Y, generator(2), 4)
    assert all(worker.wait() for worker in before)
    assert (model(X, Y, generator(1), 4) == expected).all()


def interrupt(stream):
    raise KeyboardInterrupt


def test_two_that_ask_at_once_make_one_environment(monkeypatch, tmp_path):
    """The second waits until the first is done, and makes nothing."""
    made = []

    def install(wanted):
        made.append(wanted)
        time.sleep(0.2)
        (tmp_path / "peer").mkdir()

    monkeypatch.setattr(peer, "HOME", tmp_path / "peer")
    monkeypatch.setattr(peer, "_install", install)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: peer.environment(), range(2)))
    assert found == [tmp_path / "peer" / "bin" / "python"] * 2
    assert len(made) == 1
