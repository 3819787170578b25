"""001's Figures 4 to 6 once more, from rows, with numpy and scikit-learn: no sweep, no recipe, no panel.

DPME and Filter-Priority are the library's (`test_histogram.py` takes them apart), with another seed. A number agrees
if it lies within four standard errors of the record's: its own, found by resampling, and that of the chapter, of which
the record's tolerance is four. So a right one fails about once in ten thousand runs.
"""

import math
from functools import cache, cached_property, partial

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
        self.data, self.centred, self.labels = people(country, attributes), centred, kind == "logistic"
        self.t = (self.data.y > COUNTRIES[country][2]).astype(float) if self.labels else self.data.y / 50_000 - 1
        p = len(self.data.names) + centred
        self.printed = p**2 / 4 + 3 * p if self.labels else 2 * (p + 1) ** 2
        self.kept = None if self.labels else partial(linear_splits, country, attributes, centred)

    @cached_property
    def scaled(self):
        low, high = np.array([self.data.bounds[name] for name in self.data.names]).T
        Z = (self.data.X - low) / (high - low)
        return np.column_stack([np.ones(len(Z)), 2 * Z - 1]) if self.centred else Z / math.sqrt(len(low))

    def moments(self, rows):
        Z, t = self.scaled[rows], self.t[rows]
        if self.labels:
            return Z.T @ Z / 8, Z.T @ (0.5 - t)
        return Z.T @ Z, -2 * Z.T @ t

    @cached_property
    def total(self):
        return self.moments(slice(None))

    def trained(self, train, test):
        """Moments of the training rows: of all but the test rows, which are fewer."""
        if len(train) + len(test) < len(self.t):
            return self.moments(train)
        return tuple(whole - part for whole, part in zip(self.total, self.moments(test), strict=True))

    def error(self, theta, rows):
        score = self.scaled[rows] @ theta
        if self.labels:
            return float(np.mean((score > 0) != (self.t[rows] == 1)))
        return float(np.mean((score - self.t[rows]) ** 2))

    def splits(self, repeats, rng, rate=1.0):
        """Training and test rows of 80/20 splits of fresh subsets, as one fold of five."""
        n = len(self.t)
        for _ in range(repeats):
            order = rng.permutation(n)[: round(rate * n)]
            yield tuple(np.sort(half) for half in np.split(order, [len(order) // 5]))[::-1]  # read faster in order

    def fits(self, repeats, rng, rate=1.0):
        """Moments to fit with, and what gives the error of a fit; of squares, from moments that all tests share."""
        if self.kept:
            return self.kept(rate)[:repeats]
        return ((self.trained(a, b), partial(self.error, rows=b)) for a, b in self.splits(repeats, rng, rate))

    def plain(self, repeats, rng, rate=1.0):
        return np.array([error(solved(*moments)) for moments, error in self.fits(repeats, rng, rate)])

    def mechanism(self, epsilons, repeats, rng, rate=1.0, noisy=True):
        """Errors of 001's mechanism, of shape (repeats, budgets)."""
        found = []
        for (M, v), error in self.fits(repeats, rng, rate):
            fits = [repaired(M, v, self.printed / epsilon, rng, noisy) for epsilon in epsilons]
            found.append([error(theta) for theta in fits])
        return np.array(found)

    def newton(self, repeats, rng, rate=1.0):
        model = LogisticRegression(C=1e12, fit_intercept=False, solver="newton-cholesky", tol=1e-8)
        pairs = self.splits(repeats, rng, rate)
        return np.array([self.error(model.fit(self.scaled[a], self.t[a]).coef_[0], b) for a, b in pairs])


@cache
def linear_splits(country, attributes, centred, rate):
    """Moments of the training rows, and the mean square on the test rows, for as many splits as any test asks for."""
    task = Task("linear", country, attributes, centred)

    def mean_square(rows):
        (M, v), t = task.moments(rows), task.t[rows]
        c, n = t @ t, len(t)
        return lambda theta: (theta @ M @ theta + v @ theta + c) / n

    pairs = task.splits(80, np.random.default_rng(20), rate)
    return [(task.trained(a, b), mean_square(b)) for a, b in pairs]


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


def fits_of_fp(country, attributes, centred, rate):
    """Shares of wrong labels of FP in 50 fits, with another seed than the chapter's."""
    data = above(people(country, attributes), COUNTRIES[country][2])
    box = data.box(corner=not centred, intercept=centred)
    how = {"random_state": 78, "metrics": ["misclassified"], "progress": False}
    frame = sweep(data.X, data.y, box, [filter_priority(labels=True)], [0.8], CrossValidation(10, rate=rate), **how)
    return frame["value"].to_numpy()


def middle(values):
    """Median, and its standard error by resampling."""
    rng = np.random.default_rng(0)
    return np.median(values), np.median(rng.choice(values, (400, len(values))), axis=1).std()


def agrees(claim, name, own, deviation):
    record = claims.load()[claim]
    assert abs(own - record.values[name]) <= 4 * math.hypot(deviation, record.tolerances.get(name, 0) / 4)


def name(country, attributes, centred):
    return "centred_" * centred + f"{country}_{attributes}"


def ratio(one, other):
    (a, da), (b, db) = middle(one), middle(other)
    return a / b, a / b * math.hypot(da / a, db / b)


# Fast: the module


@pytest.mark.thorough
def test_grids_of_table_2():
    counts = [people("us", k).X.shape[1] for k in (5, 8, 11, 14)]
    found = {"rates": len(range(1, 11)), "budgets": len(BUDGETS), "least": counts[0], "most": counts[-1]}
    assert claims.load()["FM-TABLE2"].differences(found) == []


@pytest.mark.thorough
def test_recipe_is_the_one_of_the_paper():
    """One draw by hand: the sweep's mechanism and this file's have the same law of theta."""
    data = census("US", 20_000, attributes=5)
    box = data.box(corner=True)
    table = box.table(data.X, data.y)
    Z, t = table[:, 1:], table[:, 0]
    M, v = Z.T @ Z, -2 * Z.T @ t
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


centred_or_not = pytest.mark.parametrize("centred", [False, True])
each_country = pytest.mark.parametrize("country", COUNTRIES)
both_numbers = pytest.mark.parametrize("attributes", [11, 14])


@pytest.mark.slow
@centred_or_not
@each_country
def test_linear_mechanism_by_dimension(country, centred):
    rng = np.random.default_rng(21)
    for attributes in (5, 11, 14):
        task = Task("linear", country, attributes, centred)
        plain, whole = task.plain(20, rng), task.mechanism([0.8], 60, rng)[:, 0]
        agrees("FM-FIG4-SAME", name(country, attributes, centred), *ratio(plain, whole))
    if not centred:  # most of the gap is the ridge alone
        bias = np.median(task.mechanism([0.8], 10, rng, noisy=False)) - np.median(plain)
        assert bias > 0.5 * (np.median(whole) - np.median(plain))


@pytest.mark.slow
@centred_or_not
def test_linear_mechanism_is_below_the_histograms(centred):
    rng, wins = np.random.default_rng(22), 0
    for country in COUNTRIES:
        for attributes in (5, 8, 11, 14):
            own = np.median(Task("linear", country, attributes, centred).mechanism([0.8], 20, rng))
            wins += bool(own < rival("linear", country, attributes, centred=centred).min())
    assert wins == 8 == claims.load()["FM-FIG4-BEST"].values["charged"] / 2


@pytest.mark.slow
@each_country
@pytest.mark.parametrize("attributes", [5, 11, 14])
def test_histograms_by_dimension(country, attributes):
    rng = np.random.default_rng(23)
    for centred in (False, True):
        task, table = (
            Task("linear", country, attributes, centred),
            rival("linear", country, attributes, centred=centred),
        )
        if not centred:
            plain = middle(task.plain(20, rng))
            for method in ("DPME", "FP"):
                own = plain[0] / table[method]
                agrees("FM-FIG4-OTHERS", f"{method.lower()}_{country}_{attributes}", own, 0.01 * own)
        fm, deviation = middle(task.mechanism([0.8], 40, rng)[:, 0])
        lead = fm / table.min()
        agrees("FM-SUM-DIM", name(country, attributes, centred), lead, lead * (0.01 + deviation / fm))


@pytest.mark.slow
@centred_or_not
@each_country
@both_numbers
def test_truncation_costs_little(country, attributes, centred):
    task, rng = Task("logistic", country, attributes, centred), np.random.default_rng(24)
    own = ratio(task.plain(20, rng), task.newton(6, rng))
    agrees("FM-FIG4-TRUNC", name(country, attributes, centred), *own)


@pytest.mark.slow
@centred_or_not
@each_country
@both_numbers
def test_logistic_mechanism_and_truncated(country, attributes, centred):
    task, rng = Task("logistic", country, attributes, centred), np.random.default_rng(25)
    own = ratio(task.mechanism([0.8], 60, rng)[:, 0], task.plain(20, rng))
    agrees("FM-FIG4-SLIGHT", name(country, attributes, centred), *own)


@pytest.mark.slow
@centred_or_not
@each_country
@both_numbers
def test_logistic_mechanism_and_the_histograms(country, attributes, centred):
    """At all records, at epsilon 0.8 and 0.1; DPME settles to a thousandth within five fits."""
    task, rng = Task("logistic", country, attributes, centred), np.random.default_rng(26)
    errors = task.mechanism([0.8, 0.1], 60, rng)
    fm, deviation = middle(errors[:, 0])
    best = rival("logistic", country, attributes, centred=centred).min()
    agrees("FM-FIG4-MUCH", name(country, attributes, centred), fm / best, math.hypot(deviation, 0.001) / best)
    if centred and attributes == 11:
        few, few_deviation = middle(Task("logistic", country, 5, True).mechanism([0.8], 40, rng)[:, 0])
        better = rival("logistic", country, 5, centred=True).min()
        agrees("FM-FIG4-MUCH", f"centred_{country}_5", few / better, math.hypot(few_deviation, 0.001) / better)
    scaling, records = "centred" if centred else "printed", claims.load()
    points = {"FM-FIG5-MARGIN": {11: 12, 14: 8}, "FM-FIG6-BEST": {11: 12, 14: 12}}
    shares = [records[claim].values[f"{scaling}_{attributes}"] / of[attributes] for claim, of in points.items()]
    if centred:
        assert best - fm > 0.01
        assert min(shares) > 0.7
    else:
        low = rival("logistic", country, attributes, epsilon=0.1).min()
        assert max(best - fm, low - np.median(errors[:, 1])) < 0.01
        assert max(shares) < 0.1
    assert records["FM-SUM-ALL"].values["linear"] == 1 > records["FM-SUM-ALL"].values["logistic"]


@pytest.mark.slow
@each_country
@centred_or_not
@both_numbers
def test_linear_mechanism_by_records(country, attributes, centred):
    rng, task = np.random.default_rng(27), Task("linear", country, attributes, centred)
    fm = {rate: task.mechanism([0.8], 60, rng, rate)[:, 0] for rate in (0.2, 0.5, 1.0)}
    plain = {rate: task.plain(30, rng, rate) for rate in (0.2, 0.5, 1.0)}
    agrees("FM-FIG5-SAME", name(country, attributes, centred), *ratio(plain[0.5], fm[0.5]))
    agrees("FM-FIG5-STABLE", name(country, attributes, centred), *ratio(fm[1.0], fm[0.2]))
    steady, deviation = ratio(plain[1.0], plain[0.2])
    assert abs(steady - 1) < 0.01 + 4 * deviation


@pytest.mark.slow
@each_country
@both_numbers
def test_histograms_by_records(country, attributes):
    tenth, whole = rival("linear", country, attributes, rate=0.1), rival("linear", country, attributes)
    for method in ("DPME", "FP"):
        own = whole[method] / tenth[method]
        agrees("FM-FIG5-OTHERS", f"{method.lower()}_{country}_{attributes}", own, 0.02 * own)
    for centred in (False, True):
        best = rival("linear", country, attributes, centred=centred).min()
        task = Task("linear", country, attributes, centred)
        fm, deviation = middle(task.mechanism([0.8], 40, np.random.default_rng(28))[:, 0])
        agrees("FM-FIG5-ALL", name(country, attributes, centred), fm / best, fm / best * (0.01 + deviation / fm))


@pytest.mark.slow
@each_country
@centred_or_not
@both_numbers
def test_logistic_gap_shrinks(country, attributes, centred):
    task, rng = Task("logistic", country, attributes, centred), np.random.default_rng(29)
    for rate, end in ((0.1, "tenth"), (1.0, "all")):
        fm = task.mechanism([0.8], 60, rng, rate)[:, 0]
        own = ratio(fm, task.newton(10 if rate < 1 else 5, rng, rate))
        agrees("FM-FIG5-GAP", f"{name(country, attributes, centred)}_{end}", *own)


@pytest.mark.slow
@each_country
@both_numbers
def test_histograms_on_labels_by_records(country, attributes):
    """Five fits of DPME. FP's errors scatter too much for five, so it has 50."""
    for centred in (False, True):
        panel = name(country, attributes, centred)
        tenth, whole = (rival("logistic", country, attributes, rate=r, centred=centred)["DPME"] for r in (0.1, 1.0))
        agrees("FM-FIG5-LOGIT", f"dpme_{panel}", whole / tenth, 0.01)
        tenth, whole = (fits_of_fp(country, attributes, centred, rate) for rate in (0.1, 1.0))
        fall, deviation = ratio(whole, tenth)
        agrees("FM-FIG5-LOGIT", f"fp_{panel}", fall, deviation)
        record = claims.load()["FM-FIG5-LOGIT"]
        surely = 1 - record.values[f"fp_{panel}"] > 3 * record.tolerances[f"fp_{panel}"] / 4  # which is four errors
        assert surely == (attributes == 11 or panel == "centred_us_14")
        if attributes == 11:
            assert fall < 1


@pytest.mark.parametrize("method", ["NoPrivacy", "Truncated"])
def test_no_privacy_ignores_epsilon(method):
    data = above(census("US", 3000, attributes=5), 50_000)
    box, one = box_and(data, method, TAYLOR)
    grids = [
        zhang.run([zhang.Panel(data, [(box, [one])], grid, "misclassified")], CrossValidation(1))
        for grid in ([0.1], [0.8, 3.2])
    ]
    assert grids[0]["value"].tolist() == grids[1]["value"].tolist()


@pytest.mark.slow
@each_country
@both_numbers
def test_errors_by_epsilon(country, attributes):
    rng = np.random.default_rng(30)
    for centred in (False, True):
        errors = Task("linear", country, attributes, centred).mechanism([0.1, 3.2], 80, rng)
        agrees("FM-FIG6-ROBUST", name(country, attributes, centred), *ratio(errors[:, 1], errors[:, 0]))
    for method in ("DPME", "FP"):
        low, high = (rival("linear", country, attributes, epsilon=epsilon)[method] for epsilon in (0.1, 3.2))
        agrees("FM-FIG6-WORSE", f"{method.lower()}_{country}_{attributes}", high / low, 0.015 * high / low)


@pytest.mark.slow
@each_country
@centred_or_not
@both_numbers
def test_largest_budget(country, attributes, centred):
    rng = np.random.default_rng(31)
    task = Task("linear", country, attributes, centred)
    own = ratio(task.plain(30, rng), task.mechanism([3.2], 60, rng)[:, 0])
    agrees("FM-SUM-NEAR", name(country, attributes, centred), *own)
    task = Task("logistic", country, attributes, centred)
    own = ratio(task.newton(5, rng), task.mechanism([3.2], 60, rng)[:, 0])
    agrees("FM-SUM-NEAR", "labels_" + name(country, attributes, centred), *own)
