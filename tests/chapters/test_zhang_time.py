"""001's running times: the counts behind them."""

import math
from functools import cached_property
from itertools import count

import numpy as np
import pytest
from scipy.special import expit

from dpreg.mechanisms import grid, histogram
from dpreg.mechanisms.filter_priority import filter_priority
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
    """FM-TIME-RATE: cells of DPME by Lei's rule, written out, against the records."""
    sizes, passes = {}, values("FM-TIME-NOPRIV")
    for attributes in (5, 14):
        data = above(census("US", 10, attributes=attributes), 50_000)
        many = [round(high - low) + 1 for low, high in list(data.bounds.values())[:-1]]
        for n in (37_000, 370_000):
            sizes[attributes, n] = 2 * math.prod(min(per_axis(n, attributes), k) for k in many)
            assert (
                grid.partition(data.box(), per_axis(n, attributes), values=many, response=2).size
                == sizes[attributes, n]
            )
    assert sizes[5, 370_000] < 370_000 / 4  # fewer cells than records: a histogram is quicker to fit than the records
    assert sizes[14, 370_000] > 4 * 370_000
    more = sizes[14, 370_000] / sizes[14, 37_000]
    assert more == pytest.approx(value("FM-TIME-RATE", "cells"), abs=tolerance("FM-TIME-RATE", "cells"))
    assert more < 10
    # columns: DPME and FP outgrow even the multiplications of NoPrivacy, 24 and 195 for a record
    most = 195 / 24 * passes["us_14"] / passes["us_5"]
    grown = [value("FM-TIME-GROW", f"{name}_columns") > most for name in ("dpme", "fp")]
    assert grown == [value("FM-TIME-RATE", "dpme"), value("FM-TIME-RATE", "fp")]


def per_axis(n, attributes):
    """Cells per axis at most, by Lei's rule."""
    return max(2, math.floor((n / math.sqrt(math.log(n))) ** (2 / (2 + attributes))))


class Cells:
    """The cells of the histograms on the first records of the US, and how many passes Newton's method makes on them."""

    def __init__(self, attributes, n=370_000):
        self.n, self.attributes = n, attributes
        data = above(census("US", 370_000, attributes=attributes), 50_000)
        self.X, self.y, self.box = data.X[:n], data.y[:n], data.box(corner=True)

    def counted(self, most, **options):
        cells = grid.partition(self.box, most, values=grid.whole(self.box), response=2, **options)
        return histogram.count(self.X, self.y, cells)

    @cached_property
    def fine(self):
        """Counts on FP's grid, which has up to 16 cells per axis."""
        return self.counted(16, cap=2**62)

    @cached_property
    def coarse(self):
        return self.counted(per_axis(self.n, self.attributes))

    def fp_cells(self, epsilon):
        """Expected number of cells that FP publishes: tails of the geometric noise, summed over all cells."""
        alpha, counts, cells = math.exp(-epsilon / 2), self.fine.counts, self.fine.grid.size
        level = next(k for k in count(1) if cells * alpha**k / (1 + alpha) <= self.n)
        low = np.maximum(level - counts, 0)  # the noise that a cell needs to pass
        high = np.maximum(counts - level + 1, 0)
        tails = np.where(counts >= level, 1 - alpha**high / (1 + alpha), alpha**low / (1 + alpha))
        return min(self.n, tails.sum() + (cells - len(counts)) * alpha**level / (1 + alpha))

    def fp_passes(self, epsilon, seed=11):
        published = filter_priority(self.fine, epsilon, self.n, seed)
        with timing.counted() as taken:
            published.logistic()
        assert len(published.codes) == pytest.approx(self.fp_cells(epsilon), rel=0.02)
        return taken.exponentials / len(published.codes)

    def dpme_passes(self, epsilon, seed=11):
        with timing.counted() as taken:
            histogram.dpme(self.coarse, epsilon, seed).logistic()
        return taken.exponentials / self.coarse.grid.size

    def taken(self, epsilon=0.8):
        """Exponentials of both, with another seed than the chapter's."""
        dpme, fp = self.dpme_passes(epsilon), self.fp_passes(epsilon)
        assert dpme.is_integer()
        assert fp.is_integer()
        return {"dpme": self.coarse.grid.size * dpme, "fp": self.fp_cells(epsilon) * fp}


def agrees(claim, name, own):
    assert own == pytest.approx(value(claim, name), rel=0.02), (claim, name)


@pytest.mark.slow
def test_exponentials_from_cells_and_passes():
    """FM-TIME-TWICE, -GROW: published cells in closed form, and passes over them, with another seed."""
    passes = values("FM-TIME-NOPRIV")
    five, tenth, whole = Cells(5).taken(), Cells(14, 37_000).taken(), Cells(14).taken()
    nopriv = {k: 370_000 * passes[f"us_{k}"] for k in (5, 14)}
    for name in ("dpme", "fp"):
        agrees("FM-TIME-TWICE", f"{name}_5", five[name] / nopriv[5])
        agrees("FM-TIME-TWICE", f"{name}_14", whole[name] / nopriv[14])
        agrees("FM-TIME-GROW", f"{name}_columns", whole[name] / five[name])
        agrees("FM-TIME-GROW", f"{name}_records", whole[name] / tenth[name])
    agrees("FM-TIME-GROW", "noprivacy_columns", nopriv[14] / nopriv[5])
    data = Cells(14, 37_000)
    few = timing.passes(data.X, data.y, data.box) * 37_000
    agrees("FM-TIME-GROW", "noprivacy_records", nopriv[14] / few)


@pytest.mark.slow
def test_worst_budget_over_best():
    """FM-TIME-EPS: cells of FP in closed form at every budget, and passes over both, with another seed."""
    cells, budgets = Cells(14), (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
    dpme = [cells.dpme_passes(epsilon) for epsilon in budgets]
    fp = [cells.fp_cells(epsilon) * cells.fp_passes(epsilon) for epsilon in budgets]
    agrees("FM-TIME-EPS", "dpme", max(dpme) / min(dpme))
    agrees("FM-TIME-EPS", "fp", max(fp) / min(fp))


@pytest.mark.thorough
def test_exponentials_are_those_of_a_newton_by_hand():
    """FM-TIME-TWICE, -EPS: evaluations on DPME's cells, with another seed, by a Newton on the records."""
    data = above(census("US", 30_000, attributes=5, random_state=11), 50_000)
    box = data.box(corner=True)
    parts = grid.partition(box, grid.bandwidth(data.n, 5), values=grid.whole(box), response=2)
    published = histogram.dpme(histogram.count(data.X, data.y, parts), 0.8, 3)
    with timing.counted() as taken:
        theta = published.logistic()
    records, weights = (np.concatenate(arrays) for arrays in zip(*published.blocks(), strict=True))
    by_hand = newton_by_hand(records[:, 1:], records[:, 0] > 0, weights=weights)
    assert taken.exponentials % parts.size == 0
    assert abs(taken.exponentials // parts.size - by_hand) <= 1
    Z, y = records[:, 1:], records[:, 0] > 0
    assert np.abs(Z.T @ (weights * (y - expit(Z @ theta)))).max() < 1e-6 * weights.sum()


def test_budgets_change_no_count():
    """FM-TIME-EPS: FM's work, DPME's grid and the number of noisy counts drawn do not depend on the budget."""
    counts = histogram.count(FIVE.X, FIVE.y, grid.partition(FIVE_BOX, 4, values=grid.whole(FIVE_BOX), response=2))
    for epsilon in (0.1, 3.2):
        published = histogram.dpme(counts, epsilon, 1, mode="signed")
        assert sum(weights.size for _, weights in published.blocks()) == counts.grid.size
    fm = functional_mechanism("FM", FIVE_BOX, loss=TAYLOR)
    found = timing.counts([fm], FIVE.X, FIVE.y, FIVE_BOX, [0.1, 3.2])
    assert found["exponentials"].tolist() == [value("FM-TIME-EPS", "fm")] * 2
    assert found["rows"].tolist() == [FIVE.n] * 2
