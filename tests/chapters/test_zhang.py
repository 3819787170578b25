"""001's Figures 4 to 6 once more, from rows, with numpy and scikit-learn: no sweep, no recipe, no panel.

DPME and Filter-Priority are the library's (`test_histogram.py` takes them apart), with another seed. A number agrees
if it lies within four standard errors of the record's: its own, found by resampling, and that of the chapter, of which
the record's tolerance is four. So a right one fails about once in ten thousand runs.
"""

import math
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpreg.mechanisms.fm_recipes import PAPER
from dpreg.pipeline.objective import TAYLOR, linear
from dpreg.sweeps.experiment import CrossValidation, sweep
from dpreg.sweeps.row_methods import dpme, filter_priority
from lib.data.census import above, census
from lib.pages import claims
from lib.papers import zhang
from tests.lib.papers import box_and

COUNTRIES = {"us": ("US", 370_000, 50_000), "br": ("BR", 190_000, 12_000)}
BUDGETS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


@cache
def people(country, attributes):
    name, n, _ = COUNTRIES[country]
    return census(name, n, attributes=attributes)


class Task:
    """Scaled records of one panel: as 001 scales them, or in [-1, 1] with a constant column."""

    def __init__(self, kind, country, attributes=14, centred=False):
        data = people(country, attributes)
        low, high = np.array([data.bounds[name] for name in data.names]).T
        Z = (data.X - low) / (high - low)
        self.Z = np.column_stack([np.ones(len(Z)), 2 * Z - 1]) if centred else Z / math.sqrt(len(low))
        self.labels = kind == "logistic"
        self.t = (data.y > COUNTRIES[country][2]).astype(float) if self.labels else data.y / 50_000 - 1
        p = self.Z.shape[1]
        self.printed = p**2 / 4 + 3 * p if self.labels else 2 * (p + 1) ** 2

    def moments(self, rows):
        Z, t = self.Z[rows], self.t[rows]
        if self.labels:
            return Z.T @ Z / 8, Z.T @ (0.5 - t)
        return Z.T @ Z, -2 * Z.T @ t

    def error(self, theta, rows):
        score = self.Z[rows] @ theta
        if self.labels:
            return float(np.mean((score > 0) != (self.t[rows] == 1)))
        return float(np.mean((score - self.t[rows]) ** 2))

    def splits(self, repeats, rng, rate=1.0):
        """Training and test rows of 80/20 splits of fresh subsets, as one fold of five."""
        n = len(self.t)
        for _ in range(repeats):
            order = rng.permutation(n)[: round(rate * n)]
            yield order[len(order) // 5 :], order[: len(order) // 5]

    def plain(self, repeats, rng, rate=1.0):
        return np.array([self.error(solved(*self.moments(a)), b) for a, b in self.splits(repeats, rng, rate)])

    def mechanism(self, epsilons, repeats, rng, rate=1.0, noisy=True):
        """Errors of 001's mechanism, of shape (repeats, budgets)."""
        found = []
        for a, b in self.splits(repeats, rng, rate):
            M, v = self.moments(a)
            fits = [repaired(M, v, self.printed / epsilon, rng, noisy) for epsilon in epsilons]
            found.append([self.error(theta, b) for theta in fits])
        return np.array(found)

    def newton(self, repeats, rng, rate=1.0):
        model = LogisticRegression(C=1e12, fit_intercept=False, solver="newton-cholesky", tol=1e-8)
        pairs = self.splits(repeats, rng, rate)
        return np.array([self.error(model.fit(self.Z[a], self.t[a]).coef_[0], b) for a, b in pairs])


def solved(M, v):
    return np.linalg.solve(2 * M, -v)


def repaired(M, v, b, rng, noisy=True):
    """Noise on the upper triangle, copied down; four standard deviations on the diagonal; drop what is not positive."""
    p = len(v)
    E = np.triu(rng.laplace(scale=b, size=(p, p)))
    E = E + np.triu(E, 1).T
    w = v + noisy * rng.laplace(scale=b, size=p)
    values, Q = np.linalg.eigh(M + noisy * E + 4 * math.sqrt(2) * b * np.eye(p))
    kept = values > 0
    return -0.5 * Q[:, kept] @ (Q[:, kept].T @ w / values[kept])


@cache
def rival(kind, country, attributes=14, epsilon=0.8, rate=1.0, centred=False):
    """Medians of DPME and FP over five fits, with another seed than the chapter's."""
    data = people(country, attributes)
    labels = kind == "logistic"
    if labels:
        data = above(data, COUNTRIES[country][2])
    box = data.box(corner=not centred, intercept=centred)
    methods = [dpme(labels=labels), filter_priority(labels=labels)]
    metric = "misclassified" if labels else "mse"
    protocol = CrossValidation(1, rate=rate)
    frame = sweep(data.X, data.y, box, methods, [epsilon], protocol, random_state=77, metrics=[metric], progress=False)
    unit = 1 if labels else 50_000**2
    return frame.groupby("method")["value"].median() / unit


def middle(values):
    """Median, and its standard error by resampling."""
    rng = np.random.default_rng(0)
    return np.median(values), np.median(rng.choice(values, (400, len(values))), axis=1).std()


def agrees(claim, name, own, deviation):
    record = claims.load()[claim]
    assert abs(own - record.values[name]) <= 4 * math.hypot(deviation, record.tolerances.get(name, 0) / 4)


def ratio(one, other):
    (a, da), (b, db) = middle(one), middle(other)
    return a / b, a / b * math.hypot(da / a, db / b)


def difference(one, other):
    (a, da), (b, db) = middle(one), middle(other)
    return a - b, math.hypot(da, db)


# Fast: the module


def test_grids_of_table_2():
    counts = [people("us", k).X.shape[1] for k in (5, 8, 11, 14)]
    found = {"rates": len(range(1, 11)), "budgets": len(BUDGETS), "least": counts[0], "most": counts[-1]}
    assert claims.load()["FM-TABLE2"].differences(found) == []


def test_recipe_is_the_one_of_the_paper():
    """One draw by hand: the sweep's mechanism and this file's have the same law of theta."""
    data = census("US", 20_000, attributes=5)
    task = Task.__new__(Task)
    box = data.box(corner=True)
    table = box.table(data.X, data.y)
    task.Z, task.t, task.labels = table[:, 1:], table[:, 0], False
    M, v = task.moments(slice(None))
    many = PAPER.fit(linear(data.X, data.y, box), np.full(4000, 0.8), 5)
    rng = np.random.default_rng(6)
    own = np.array([repaired(M, v, 2 * (4 + 1) ** 2 / 0.8, rng) for _ in range(4000)])
    for one, other in zip(many.T, own.T, strict=True):
        (a, da), (b, db) = middle(one), middle(other)
        assert abs(a - b) <= 4 * math.hypot(da, db)


# Slow: the claims


@pytest.mark.slow
def test_the_error_has_a_tail_of_order_one_over_root():
    task, rng = Task("linear", "us"), np.random.default_rng(12)
    ((a, b),) = task.splits(1, rng)
    M, v = task.moments(a)
    Q, w = task.moments(b)
    c = float(task.t[b] @ task.t[b])
    thetas = np.array([repaired(M, v, task.printed / 0.8, rng) for _ in range(40_000)])
    errors = (np.einsum("ij,jk,ik->i", thetas, Q, thetas) + thetas @ w + c) / len(b)
    far = int((errors > 2).sum())
    share = int((errors > 8).sum()) / far
    agrees("FM-AVERAGE", "ratio", share, math.sqrt(share * (1 - share) / far))


@pytest.mark.slow
@pytest.mark.parametrize("country", COUNTRIES)
def test_linear_mechanism_by_dimension(country):
    rng = np.random.default_rng(21)
    for attributes in (5, 14):
        task = Task("linear", country, attributes)
        own = ratio(task.plain(30, rng), task.mechanism([0.8], 100, rng)[:, 0])
        if (country, attributes) == ("br", 14):
            assert own[0] < 0.5
            assert claims.load()["FM-FIG4-SAME"].values["br_14_below_half"]
        else:
            agrees("FM-FIG4-SAME", f"{country}_{attributes}", *own)
    plain, whole = task.plain(10, rng), task.mechanism([0.8], 60, rng)
    bias = np.median(task.mechanism([0.8], 10, rng, noisy=False)) - np.median(plain)
    assert bias > 0.5 * (np.median(whole) - np.median(plain))  # most of the gap is the ridge alone
    task = Task("linear", country, centred=True)
    own = ratio(task.plain(30, rng), task.mechanism([0.8], 60, rng)[:, 0])
    agrees("FM-FIG4-SAME", f"centred_{country}_14", *own)


@pytest.mark.slow
@pytest.mark.parametrize("centred", [False, True])
def test_linear_mechanism_is_below_the_histograms(centred):
    rng, wins = np.random.default_rng(22), 0
    for country in COUNTRIES:
        for attributes in (5, 8, 11, 14):
            own = np.median(Task("linear", country, attributes, centred).mechanism([0.8], 20, rng))
            wins += bool(own < rival("linear", country, attributes, centred=centred).min())
    assert wins == 8 == claims.load()["FM-FIG4-BEST"].values["wins"] / 2


@pytest.mark.slow
def test_histograms_by_dimension():
    rng = np.random.default_rng(23)
    for country in COUNTRIES:
        for attributes in (5, 14):
            task, table = Task("linear", country, attributes), rival("linear", country, attributes)
            plain = middle(task.plain(20, rng))
            if country == "us":
                for name in ("DPME", "FP"):
                    own = plain[0] / table[name]
                    agrees("FM-FIG4-OTHERS", f"{name.lower()}_us_{attributes}", own, 0.01 * own)
            fm, deviation = middle(task.mechanism([0.8], 60, rng)[:, 0])
            lead = fm / table.min()
            agrees("FM-SUM-DIM", f"{country}_{attributes}", lead, lead * (0.01 + deviation / fm))


centred_or_not = pytest.mark.parametrize("centred", [False, True])
each_country = pytest.mark.parametrize("country", COUNTRIES)


@pytest.mark.slow
@centred_or_not
@each_country
def test_truncation_costs_little(country, centred):
    task, rng = Task("logistic", country, centred=centred), np.random.default_rng(24)
    own = difference(task.plain(20, rng), task.newton(6, rng))
    agrees("FM-FIG4-TRUNC", country + "_centred" * centred, *own)


@pytest.mark.slow
@centred_or_not
@each_country
def test_logistic_mechanism_and_truncated(country, centred):
    task, rng = Task("logistic", country, centred=centred), np.random.default_rng(25)
    own = difference(task.mechanism([0.8], 80, rng)[:, 0], task.plain(20, rng))
    agrees("FM-FIG4-SLIGHT", country + "_centred" * centred, *own)


@pytest.mark.slow
@centred_or_not
@each_country
def test_logistic_mechanism_and_the_histograms(country, centred):
    """At all records, at epsilon 0.8 and 0.1; DPME settles to a thousandth within five fits."""
    task, rng = Task("logistic", country, centred=centred), np.random.default_rng(26)
    errors = task.mechanism([0.8, 0.1], 80, rng)
    fm, deviation = middle(errors[:, 0])
    best = rival("logistic", country, centred=centred).min()
    agrees("FM-FIG4-MUCH", country + "_centred" * centred, best - fm, math.hypot(deviation, 0.001))
    if centred:
        few, few_deviation = middle(Task("logistic", country, 5, True).mechanism([0.8], 40, rng)[:, 0])
        lead = rival("logistic", country, 5, centred=True).min() - few
        agrees("FM-FIG4-MUCH", f"{country}_centred_5", lead, math.hypot(few_deviation, 0.001))
    records = claims.load()
    points = {"FM-FIG5-MARGIN": 20, "FM-FIG6-BEST": 12}
    if centred:
        assert best - fm > 0.01
        assert all(records[name].values["centred"] > 0.75 * of for name, of in points.items())
    else:
        low = rival("logistic", country, epsilon=0.1).min()
        assert max(best - fm, low - np.median(errors[:, 1])) < 0.01
        assert all(records[name].values["logistic"] == 0 for name in points)


@pytest.mark.slow
@each_country
def test_linear_mechanism_by_records(country):
    rng = np.random.default_rng(27)
    for centred in (False, True):
        task, name = Task("linear", country, centred=centred), "centred_" * centred + country
        fm = {rate: task.mechanism([0.8], 80, rng, rate)[:, 0] for rate in (0.2, 1.0)}
        plain = {rate: task.plain(30, rng, rate) for rate in (0.2, 1.0)}
        if name == "br":
            assert ratio(plain[1.0], fm[1.0])[0] < 0.5
            assert claims.load()["FM-FIG5-SAME"].values["br_below_half"]
        else:
            agrees("FM-FIG5-SAME", name, *ratio(plain[1.0], fm[1.0]))
        agrees("FM-FIG5-STABLE", name, *ratio(fm[1.0], fm[0.2]))
        steady, deviation = ratio(plain[1.0], plain[0.2])
        assert abs(steady - 1) < 0.01 + 4 * deviation


@pytest.mark.slow
@each_country
def test_histograms_by_records(country):
    tenth, whole = rival("linear", country, rate=0.1), rival("linear", country)
    for name in ("DPME", "FP"):
        own = whole[name] / tenth[name]
        agrees("FM-FIG5-OTHERS", f"{name.lower()}_{country}", own, 0.02 * own)
    fm, deviation = middle(Task("linear", country).mechanism([0.8], 80, np.random.default_rng(28))[:, 0])
    own = fm / whole.min()
    agrees("FM-FIG5-ALL", country, own, own * (0.01 + deviation / fm))


@pytest.mark.slow
@each_country
def test_logistic_gap_shrinks(country):
    task, rng = Task("logistic", country, centred=True), np.random.default_rng(29)
    for rate, name in ((0.1, "tenth"), (1.0, "all")):
        fm = task.mechanism([0.8], 100, rng, rate)[:, 0]
        agrees("FM-FIG5-GAP", f"{country}_{name}", *difference(fm, task.newton(10 if rate < 1 else 5, rng, rate)))


@pytest.mark.parametrize("name", ["NoPrivacy", "Truncated"])
def test_no_privacy_ignores_epsilon(name):
    data = above(census("US", 3000, attributes=5), 50_000)
    box, method = box_and(data, name, TAYLOR)
    grids = [
        zhang.run([zhang.Panel(data, [(box, [method])], grid, "misclassified")], CrossValidation(1))
        for grid in ([0.1], [0.8, 3.2])
    ]
    assert grids[0]["value"].tolist() == grids[1]["value"].tolist()


@pytest.mark.slow
@each_country
def test_errors_by_epsilon(country):
    rng = np.random.default_rng(30)
    for centred in (False, True):
        errors = Task("linear", country, centred=centred).mechanism([0.1, 3.2], 100, rng)
        agrees("FM-FIG6-ROBUST", "centred_" * centred + country, *ratio(errors[:, 1], errors[:, 0]))
    for name in ("DPME", "FP"):
        low, high = (rival("linear", country, epsilon=epsilon)[name] for epsilon in (0.1, 3.2))
        agrees("FM-FIG6-WORSE", f"{name.lower()}_{country}", high / low, 0.015 * high / low)


@pytest.mark.slow
@each_country
def test_largest_budget(country):
    rng = np.random.default_rng(31)
    for name, centred in (("linear", False), ("centred", True)):
        task = Task("linear", country, centred=centred)
        agrees("FM-SUM-NEAR", f"{name}_{country}", *ratio(task.plain(30, rng), task.mechanism([3.2], 80, rng)[:, 0]))
    task = Task("logistic", country, centred=True)
    agrees("FM-SUM-NEAR", f"logistic_{country}", *ratio(task.newton(5, rng), task.mechanism([3.2], 80, rng)[:, 0]))
