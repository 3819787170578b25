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


def newton_by_hand(Z, y, tolerance=1e-8, weights=1.0):
    """Newton's method from zero, without safeguards: the evaluations until a step is below the tolerance."""
    theta = np.zeros(Z.shape[1])
    for evaluations in range(1, 60):
        mu = expit(Z @ theta)
        step = np.linalg.solve((Z.T * (weights * mu * (1 - mu))) @ Z, Z.T @ (weights * (y - mu)))
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


def test_one_pass_for_a_quadratic():
    """FM-TIME-WHY, FM-TIME-LINEAR: with noise or without, each record is scaled once, no exponential taken."""
    for loss in (TAYLOR, no_privacy("m").loss):
        methods = [no_privacy("plain", loss=loss), functional_mechanism("FM", FIVE_BOX, loss=loss)]
        found = timing.counts(methods, FIVE.X, FIVE.y, FIVE_BOX)
        assert found["rows"].tolist() == [FIVE.n] * 2
        assert found["exponentials"].tolist() == [0] * 2
    for claim, names in (("FM-TIME-WHY", {"fm": 0, "truncated": 0}), ("FM-TIME-LINEAR", {"fm": 1, "nopriv": 1})):
        assert names.items() <= values(claim).items()
    assert value("FM-TIME-WHY", "nopriv") == value("FM-TIME-NOPRIV", "us_14")


def test_cells_decide():
    """FM-TIME-TWICE, -GROW, -RATE: cells of DPME by Lei's rule, written out, against the records."""
    sizes, passes = {}, values("FM-TIME-NOPRIV")
    for attributes in (5, 14):
        data = above(census("US", 10, attributes=attributes), 50_000)
        many = [round(high - low) + 1 for low, high in list(data.bounds.values())[:-1]]
        for n in (37_000, 370_000):
            most = max(2, math.floor((n / math.sqrt(math.log(n))) ** (2 / (2 + attributes))))
            sizes[attributes, n] = 2 * math.prod(min(most, k) for k in many)
            assert grid.partition(data.box(), most, values=many, response=2).size == sizes[attributes, n]
    assert sizes[5, 370_000] < 370_000 / 4  # fewer cells than records: a histogram is quicker to fit than the records
    assert sizes[14, 370_000] > 4 * 370_000
    more = sizes[14, 370_000] / sizes[14, 37_000]
    assert more == pytest.approx(value("FM-TIME-RATE", "cells"), abs=tolerance("FM-TIME-RATE", "cells"))
    assert more < 10
    for attributes in (
        5,
        14,
    ):  # 4 to 6 passes over the cells: so many fit the published weights, by the tests of newton
        share = (
            value("FM-TIME-TWICE", f"dpme_{attributes}")
            * passes[f"us_{attributes}"]
            * 370_000
            / sizes[attributes, 370_000]
        )
        assert 3.9 < share < 6.1
        assert value("FM-TIME-TWICE", f"fp_{attributes}") < 1
    grown = sizes[14, 370_000] / sizes[5, 370_000]
    assert 4 / 6 * grown < value("FM-TIME-GROW", "dpme_columns") < 6 / 4 * grown
    assert value("FM-TIME-GROW", "noprivacy_columns") == pytest.approx(passes["us_14"] / passes["us_5"], abs=0.01)


@pytest.mark.thorough
def test_exponentials_are_those_of_a_newton_by_hand():
    """FM-TIME-TWICE, -EPS: evaluations on DPME's cells, with another seed, by a Newton on the records."""
    data = above(census("US", 30_000, attributes=5, random_state=11), 50_000)
    box = data.box(corner=True)
    parts = grid.partition(box, grid.bandwidth(data.n, 5), values=grid.whole(box), response=2)
    published = histogram.dpme(histogram.count(data.X, data.y, parts), 0.8, 3)
    with timing.counted() as count:
        theta = published.logistic()
    records, weights = (np.concatenate(arrays) for arrays in zip(*published.blocks(), strict=True))
    by_hand = newton_by_hand(records[:, 1:], records[:, 0] > 0, weights=weights)
    assert count.exponentials % parts.size == 0
    assert abs(count.exponentials // parts.size - by_hand) <= 1
    Z, y = records[:, 1:], records[:, 0] > 0
    assert np.abs(Z.T @ (weights * (y - expit(Z @ theta)))).max() < 1e-6 * weights.sum()


def test_budgets_change_no_count():
    """FM-TIME-EPS: the grid and the number of noisy counts drawn do not depend on the budget."""
    counts = histogram.count(FIVE.X, FIVE.y, grid.partition(FIVE_BOX, 4, values=grid.whole(FIVE_BOX), response=2))
    for epsilon in (0.1, 3.2):
        published = histogram.dpme(counts, epsilon, 1, mode="signed")
        assert sum(weights.size for _, weights in published.blocks()) == counts.grid.size
    fm = functional_mechanism("FM", FIVE_BOX, loss=TAYLOR)
    found = timing.counts([fm], FIVE.X, FIVE.y, FIVE_BOX, [0.1, 3.2])
    assert found["exponentials"].tolist() == [value("FM-TIME-EPS", "fm")] * 2
    assert found["rows"].tolist() == [FIVE.n] * 2
    assert 1 <= value("FM-TIME-EPS", "dpme") < 3  # passes over the same cells, of which there are 3 to 6
