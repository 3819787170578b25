"""001's running times: the counts behind them."""

import math

import numpy as np
import pytest
from scipy.special import expit

from dpreg.mechanisms import grid, histogram
from dpreg.pipeline.objective import TAYLOR
from dpreg.sweeps.experiment import functional_mechanism, no_privacy
from lib.data.census import above, census
from lib.papers import timing
from tests.ledger import tolerance, value, values
from tests.lib.papers import FIVE, FIVE_BOX


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


@pytest.mark.thorough
@pytest.mark.parametrize("attributes", [5, 14])
@pytest.mark.parametrize(("country", "threshold"), [("US", 50_000), ("BR", 12_000)])
def test_passes_of_newton(attributes, country, threshold):
    """FM-TIME-NOPRIV: as many evaluations on fewer records of this kind and another seed, on either scaling."""
    data = above(census(country, 50_000, attributes=attributes, random_state=11), threshold)
    for box in (data.box(corner=True), data.box(intercept=True)):
        found = timing.passes(data.X, data.y, box)
        Z, t = box.scale(data.X, data.y)
        assert abs(found - newton_by_hand(Z, t > 0)) <= 1
        assert abs(found - values("FM-TIME-NOPRIV")[f"{country.lower()}_{attributes}"]) <= 2


def test_one_pass_for_a_quadratic(monkeypatch):
    """FM-TIME-WHY, FM-TIME-LINEAR: with noise or without, each block of records is scaled and used once."""
    read = []
    original = type(FIVE_BOX).scale_block

    def counted(self, X, y, out, *first):
        read.append(len(y))
        return original(self, X, y, out, *first)

    monkeypatch.setattr(type(FIVE_BOX), "scale_block", counted)
    for loss in (TAYLOR, no_privacy("m").loss):
        for method in (no_privacy("plain", loss=loss), functional_mechanism("FM", FIVE_BOX, loss=loss)):
            read.clear()
            timing.fit_times([method], FIVE.X, FIVE.y, FIVE_BOX, runs=1)
            assert sum(read) == FIVE.n, method.name


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
    more = sizes[14, 370_000] / sizes[14, 37_000]
    assert more == pytest.approx(value("FM-TIME-RATE", "cells"), abs=tolerance("FM-TIME-RATE", "cells"))
    assert more < 10


def test_budgets_change_no_count():
    """FM-TIME-EPS: the grid and the number of noisy counts drawn do not depend on the budget."""
    counts = histogram.count(FIVE.X, FIVE.y, grid.partition(FIVE_BOX, 4, values=grid.whole(FIVE_BOX), response=2))
    for epsilon in (0.1, 3.2):
        published = histogram.dpme(counts, epsilon, 1, mode="signed")
        assert sum(weights.size for _, weights in published.blocks()) == counts.grid.size
