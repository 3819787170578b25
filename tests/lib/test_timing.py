"""Running times: what is timed is the fit, of all records, and counts are those of the solver."""

import numpy as np
import pytest

from dpreg.pipeline import logistic
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.newton import newton
from dpreg.pipeline.objective import logistic as stand_in
from dpreg.sweeps import row_methods
from dpreg.sweeps.methods import Method, RowMethod
from lib.papers import timing
from tests.lib.papers import FIVE, FIVE_BOX


def test_a_better_start_saves_passes():
    Z, t = FIVE_BOX.scale(FIVE.X, FIVE.y)
    best = logistic.fit(Z, (t > 0).astype(float))
    assert timing.passes(FIVE.X, FIVE.y, FIVE_BOX, start=best) < timing.passes(FIVE.X, FIVE.y, FIVE_BOX)


def test_times_are_of_the_fit_alone_and_the_shortest_counts(monkeypatch):
    clock = iter([0.0, 5.0, 5.0, 7.0, 7.0, 10.0, 10.0, 14.0])  # a: 5 then 3; b: 2 then 4
    monkeypatch.setattr(timing.time, "process_time", lambda: next(clock))
    seen = []

    def spy(train, epsilons, rng):
        seen.append((train.batch, epsilons.tolist(), rng.random()))
        return np.zeros((1, 1, FIVE_BOX.p))

    methods = [Method("a", spy, private=False), Method("b", spy)]
    frame = timing.fit_times(methods, FIVE.X, FIVE.y, FIVE_BOX, [0.5], runs=2)
    assert frame.to_dict("list") == {"method": ["a", "b"], "epsilon": [np.inf, 0.5], "seconds": [3.0, 2.0]}
    assert [epsilons for _, epsilons, _ in seen] == [[1.0], [0.5]] * 2
    assert all(batch == (1, 1) for batch, *_ in seen)
    assert len({draw for *_, draw in seen}) == 4


def readings():
    """How often Newton's method asks for the five records, counted where it asks for them."""
    Z, t = FIVE_BOX.scale(FIVE.X, FIVE.y)
    asked = []
    newton(lambda: asked.append(1) or iter([(Z, (t > 0).astype(float), np.ones(len(t)))]), Z.shape[1])
    return len(asked)


def test_counts_are_of_one_fit_each():
    methods = [timing.newton("all"), row_methods.dpme(labels=True)]
    found = timing.counts(methods, FIVE.X, FIVE.y, FIVE_BOX, [0.5, 1.0])
    assert found["method"].tolist() == ["all", "DPME", "DPME"]
    assert found["epsilon"].tolist() == [np.inf, 0.5, 1.0]
    assert found["exponentials"][0] == FIVE.n * readings()
    assert timing.passes(FIVE.X, FIVE.y, FIVE_BOX) == readings()
    assert found["rows"].tolist() == [FIVE.n, 0, 0]
    alone = timing.counts(methods[:1], FIVE.X, FIVE.y, FIVE_BOX)
    assert alone.equals(found[:1])


def test_counting_ends_with_the_block_and_leaves_results_alone():
    Z, t = FIVE_BOX.scale(FIVE.X, FIVE.y)
    plain, original = logistic.fit(Z, (t > 0).astype(float)), Domain.scale_block
    with timing.counted() as count:
        seen = logistic.fit(Z, (t > 0).astype(float))
    assert count == timing.Count(rows=0, exponentials=FIVE.n * readings())
    np.testing.assert_array_equal(seen, plain)
    before = count.exponentials
    logistic.fit(Z, (t > 0).astype(float))
    FIVE_BOX.scale(FIVE.X, FIVE.y)
    assert (count.rows, count.exponentials) == (0, before)
    with pytest.raises(ZeroDivisionError), timing.counted():
        _ = 1 / 0
    FIVE_BOX.scale(FIVE.X, FIVE.y)
    assert Domain.scale_block is original


def test_row_methods_are_given_all_records():
    seen = []

    def spy(partition, epsilons, rng):
        ((X, y),) = partition.training_rows()
        seen.append((X, y))
        return np.zeros((1, 1, FIVE_BOX.p))

    timing.fit_times([RowMethod("spy", spy)], FIVE.X, FIVE.y, FIVE_BOX, runs=1)
    np.testing.assert_array_equal(seen[0][0], FIVE.X)
    np.testing.assert_array_equal(seen[0][1], FIVE.y)


@pytest.mark.parametrize("solver", ["newton-cholesky", "lbfgs"])
def test_solvers_agree(solver):
    frame_of = {}
    for method in (timing.newton(), timing.scikit_learn(solver), row_methods.logistic_regression()):
        frame_of[method.name] = method.fit(partition(), np.array([1.0]), np.random.default_rng(0))[0, 0]
    ours = frame_of["no privacy"]
    f = stand_in(FIVE.X, FIVE.y, FIVE_BOX)
    assert f.p == len(ours)
    Z, t = FIVE_BOX.scale(FIVE.X, FIVE.y)
    worst = max(float(logistic.loss_at(theta, Z, (t > 0).astype(float))) for theta in frame_of.values())
    assert worst <= float(logistic.loss_at(ours, Z, (t > 0).astype(float))) + 1e-5


def test_least_squares_by_qr_is_that_of_the_moments():
    found = timing.orthogonal().fit(partition(), np.array([1.0]), np.random.default_rng(0))[0, 0]
    Z, t = FIVE_BOX.scale(FIVE.X[1:], FIVE.y[1:])
    np.testing.assert_allclose(found, np.linalg.solve(Z.T @ Z, Z.T @ t), rtol=1e-8)


def partition():
    labels = np.zeros(FIVE.n, np.int16)
    labels[1:] = 1  # one record is held out: it moves nothing here
    return timing.Partition(FIVE.X, FIVE.y, FIVE_BOX.table(FIVE.X, FIVE.y), FIVE_BOX, labels, (0,))
