"""001's running times: the counts behind them, and that `lib.papers.timing` times what it says."""

import math

import numpy as np
import pytest
from scipy.special import expit

from dpreg.mechanisms import grid, histogram
from dpreg.pipeline import logistic
from dpreg.pipeline.objective import TAYLOR
from dpreg.pipeline.objective import logistic as stand_in
from dpreg.sweeps import row_methods
from dpreg.sweeps.experiment import functional_mechanism, no_privacy
from dpreg.sweeps.methods import Method, RowMethod
from lib.data.census import above, census
from lib.papers import timing

DATA = above(census("US", 2000, attributes=5, random_state=3), 50_000)
BOX = DATA.box(intercept=True)


def newton_by_hand(Z, y, tolerance=1e-8):
    """Newton's method from zero, without safeguards: the evaluations until a step is below the tolerance."""
    theta = np.zeros(Z.shape[1])
    for evaluations in range(1, 60):
        mu = expit(Z @ theta)
        step = np.linalg.solve((Z.T * (mu * (1 - mu))) @ Z, Z.T @ (y - mu))
        if np.abs(step).max() <= tolerance * (1 + np.abs(theta).max()):
            return evaluations
        theta = theta + step
    raise AssertionError("no convergence")


@pytest.mark.parametrize("attributes", [5, 14])
def test_passes_of_newton(attributes):
    """FM-TIME-NOPRIV: six or seven evaluations on records of this kind, on half the records and another seed too."""
    data = above(census("US", 100_000, attributes=attributes, random_state=11), 50_000)
    for box in (data.box(corner=True), data.box(intercept=True)):
        found = timing.passes(data.X, data.y, box)
        Z, t = box.scale(data.X, data.y)
        assert abs(found - newton_by_hand(Z, t > 0)) <= 1
        assert 5 <= found <= 9


def test_a_better_start_saves_passes():
    Z, t = BOX.scale(DATA.X, DATA.y)
    best = logistic.fit(Z, (t > 0).astype(float))
    assert timing.passes(DATA.X, DATA.y, BOX, start=best) < timing.passes(DATA.X, DATA.y, BOX)


def test_one_pass_for_a_quadratic(monkeypatch):
    """FM-TIME-WHY, FM-TIME-LINEAR: with noise or without, each block of records is scaled and used once."""
    read = []
    original = type(BOX).scale_block

    def counted(self, X, y, out, *first):
        read.append(len(y))
        return original(self, X, y, out, *first)

    monkeypatch.setattr(type(BOX), "scale_block", counted)
    for loss in (TAYLOR, no_privacy("m").loss):
        for method in (no_privacy("plain", loss=loss), functional_mechanism("FM", BOX, loss=loss)):
            read.clear()
            timing.fit_times([method], DATA.X, DATA.y, BOX, runs=1)
            assert sum(read) == DATA.n, method.name


def test_cells_decide():
    """FM-TIME-TWICE, -GROW, -RATE: cells of DPME by Lei's rule, written out, against the records."""
    sizes = {}
    for attributes in (5, 14):
        data = above(census("US", 10, attributes=attributes), 50_000)
        values = [round(high - low) + 1 for low, high in list(data.bounds.values())[:-1]]
        for n in (37_000, 370_000):
            most = max(2, math.floor((n / math.sqrt(math.log(n))) ** (2 / (2 + attributes))))
            sizes[attributes, n] = 2 * math.prod(min(most, value) for value in values)
            assert grid.partition(data.box(), most, values=values, response=2).size == sizes[attributes, n]
    assert sizes[5, 370_000] < 370_000 / 4  # fewer cells than records: a histogram is quicker to fit than the records
    assert sizes[14, 370_000] > 4 * 370_000
    assert sizes[14, 370_000] / sizes[14, 37_000] == pytest.approx(7.4915, abs=1e-4)
    assert sizes[14, 370_000] / sizes[14, 37_000] < 10


def test_budgets_change_no_count():
    """FM-TIME-EPS: the grid and the number of noisy counts drawn do not depend on the budget."""
    counts = histogram.count(DATA.X, DATA.y, grid.partition(BOX, 4, values=grid.whole(BOX), response=2))
    for epsilon in (0.1, 3.2):
        published = histogram.dpme(counts, epsilon, 1, mode="signed")
        assert sum(weights.size for _, weights in published.blocks()) == counts.grid.size


def test_times_are_of_the_fit_alone_and_the_shortest_counts(monkeypatch):
    clock = iter([0.0, 5.0, 5.0, 7.0, 7.0, 10.0, 10.0, 14.0])  # a: 5 then 3; b: 2 then 4
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(clock))
    seen = []

    def spy(train, epsilons, rng):
        seen.append((train.batch, epsilons.tolist(), rng.random()))
        return np.zeros((1, 1, BOX.p))

    methods = [Method("a", spy, private=False), Method("b", spy)]
    frame = timing.fit_times(methods, DATA.X, DATA.y, BOX, [0.5], runs=2)
    assert frame.to_dict("list") == {"method": ["a", "b"], "epsilon": [np.inf, 0.5], "seconds": [3.0, 2.0]}
    assert [epsilons for _, epsilons, _ in seen] == [[1.0], [0.5]] * 2
    assert all(batch == (1, 1) for batch, *_ in seen)
    assert len({draw for *_, draw in seen}) == 4


def test_row_methods_are_given_all_records():
    seen = []

    def spy(partition, epsilons, rng):
        ((X, y),) = partition.training_rows()
        seen.append((X, y))
        return np.zeros((1, 1, BOX.p))

    timing.fit_times([RowMethod("spy", spy)], DATA.X, DATA.y, BOX, runs=1)
    np.testing.assert_array_equal(seen[0][0], DATA.X)
    np.testing.assert_array_equal(seen[0][1], DATA.y)


@pytest.mark.parametrize("solver", ["newton-cholesky", "lbfgs"])
def test_solvers_agree(solver):
    frame_of = {}
    for method in (timing.newton(), timing.scikit_learn(solver), row_methods.logistic_regression()):
        frame_of[method.name] = method.fit(partition(), np.array([1.0]), np.random.default_rng(0))[0, 0]
    ours = frame_of["no privacy"]
    f = stand_in(DATA.X, DATA.y, BOX)
    assert f.p == len(ours)
    Z, t = BOX.scale(DATA.X, DATA.y)
    worst = max(float(logistic.loss_at(theta, Z, (t > 0).astype(float))) for theta in frame_of.values())
    assert worst <= float(logistic.loss_at(ours, Z, (t > 0).astype(float))) + 1e-5


def partition():
    labels = np.zeros(DATA.n, np.int16)
    labels[1:] = 1  # one record is held out: it moves nothing here
    return timing.Partition(DATA.X, DATA.y, BOX.table(DATA.X, DATA.y), BOX, labels, (0,))
