"""The census-like generator: the claims on the papers' data first, then the people, their laws and their bounds."""

import numpy as np
import pandas as pd
import pytest

from dpreg.pipeline.domain import Box
from lib.data import census
from lib.data.generated_parameters import AGES, document, parameters, provenance
from lib.data.generated_people import people
from lib.pages import claims

COUNTRIES = ("US", "BR")


def record(claim):
    return claims.load()[claim]


def agrees(claim, **own):
    assert record(claim).differences(own) == []


@pytest.fixture(autouse=True)
def no_extract(monkeypatch):
    """These tests are of the generated people, whatever the reader has."""
    monkeypatch.delenv(census.EXTRACTS, raising=False)


@pytest.fixture(scope="module")
def heads():
    """Other draws than the chapter's."""
    return {country: people(country, 200_000, random_state=77) for country in COUNTRIES}


# --- claims


def test_sizes_and_attributes_of_001():
    text = (
        "Age, Gender, Marital Status, Education, Disability, Nativity, Working Hours per Week, Number of Years Residing"
        " in the Current Location, Ownership of Dwelling, Family Size, Number of Children, Number of Automobiles"
        ", Annual Income"
    )
    agrees("FM-DATA-SIZE", us=370_000, brazil=190_000, attributes=len(text.split(", ")))
    assert census.census("US", attributes=5).n == 370_000


def test_two_columns_for_three_states(heads):
    frame = heads["US"]
    two = frame[["is_single", "is_married"]].to_numpy(float)
    three = np.column_stack([two, frame["marital"] == 3])
    rank = [np.linalg.matrix_rank(np.column_stack([np.ones(len(frame)), X])) for X in (two, three)]
    agrees("FM-DATA-SPLIT", predictors=14 - 1, zeros_two=3 - rank[0], zeros_three=4 - rank[1])
    assert (two.sum(axis=1) == (frame["marital"] < 3)).all()
    assert len(census.FOURTEEN) == 13


def test_subsets_count_income():
    # 001, Section 7, the lists as printed
    first = {"Age", "Gender", "Education", "Family Size", "Annual Income"}
    second = first | {"Nativity", "Ownership of Dwelling", "Number of Automobiles"}
    third = second | {"Is Single", "Is Married", "Number of Children"}
    own = {name: len(listed) - 1 for name, listed in {"five": first, "eight": second, "eleven": third}.items()}
    agrees("FM-DATA-SUBSETS", **own, fourteen=14 - 1)
    for attributes in (5, 8, 11, 14):
        assert census.census("US", 10, attributes=attributes).X.shape == (10, attributes - 1)
    assert set(census.FIVE) < set(census.EIGHT) < set(census.ELEVEN) < set(census.FOURTEEN)


def deviations(share, n=200_000):
    """Four standard errors of a difference between these draws and the ledger's long run."""
    return 4 * np.sqrt(share * (1 - share) / n)


def test_error_of_saying_no(heads):
    claim = record("FM-DATA-THRESHOLD")
    for name, value in claim.values.items():
        share = (heads["US"]["annual_income"] > 1000 * int(name[1:])).mean()
        assert abs(share - value) < deviations(value) + 1e-3  # the record is rounded, and simulated itself
    assert claim.tolerance >= 4 * np.sqrt(0.25 / 370_000)


def test_error_depends_on_the_top_code(heads):
    frame = heads["US"]
    X = np.column_stack([np.ones(len(frame)), frame[list(census.FOURTEEN)]]).astype(float)
    error = {}
    for cap in (100_000, 720_000):
        t = 2 * frame["annual_income"].clip(0, cap) / cap - 1
        error[cap] = np.mean((t - X @ np.linalg.lstsq(X, t)[0]) ** 2)
    claim = record("FM-DATA-CAP")
    assert abs(error[100_000] / error[720_000] - claim.values["times"]) < 1.5 * claim.tolerance  # fewer records here


def test_quarter_of_the_heads():
    agrees("RR-DATA-SIZE", share=316_276 / 1_230_000, people_per_household=2_800_000 / 1_230_000)


def test_attributes_of_000_and_002():
    nine = ["Age", "Gender", "Race", "Marital Status", "Family Size", "Education", "Employment Status", "House type"]
    six = ["Age", "Gender", "Race", "Marital Status", "Education"]  # 002, slide 11, without Income
    unordered = {"Race", "Marital Status", "Employment Status", "House type"}
    shared = set(six) & set(nine)
    agrees(
        "RR-DATA-ATTR",
        predictors=len(nine),
        unordered=len(unordered & set(nine)),
        in_slides=len(six),
        shared=len(shared),
    )
    assert census.census("US", 10, attributes=9).X.shape == (10, 8)
    assert census.census("US", 10, attributes=6).X.shape == (10, 5)


def test_sizes_of_004_round_to_those_of_001():
    agrees("BA-DATA-UCI", us=float(f"{370_057:.1e}"), brazil=float(f"{188_846:.1e}"))


def test_nobody_has_a_name():
    columns = people("US", 5).columns
    agrees("BA-DATA-NAME", name="name" in columns, age="age" in columns, marital="marital" in columns)


def test_fifty_thousand_reais(heads):
    claim = record("BA-DATA-TASK")
    for name, country in {"us": "US", "brazil": "BR"}.items():
        share = (heads[country]["annual_income"] > 50_000).mean()
        assert abs(share - claim.values[name]) < deviations(claim.values[name]) + 2e-4


# --- data sets


@pytest.mark.parametrize("country", COUNTRIES)
@pytest.mark.parametrize("attributes", sorted(census.PREDICTORS))
def test_everybody_lies_within_the_public_bounds(country, attributes):
    data = census.census(country, 20_000, attributes=attributes, cap=30_000, random_state=5)
    low, high = np.array([data.bounds[name] for name in data.names]).T
    assert (low <= data.X).all()
    assert (high >= data.X).all()
    assert data.y.min() >= 0
    assert data.y.max() == 30_000  # some are above, and were moved
    assert isinstance(data.box(intercept=True), Box)
    assert set(data.bounds) == {*data.names, "annual_income"}


def test_bounds_do_not_come_from_the_draws():
    bounds = [census.census("BR", n, random_state=n).bounds for n in (2, 1000)]
    assert bounds[0] == bounds[1]


def test_income_is_top_coded_and_losses_are_zero():
    whole = people("US", 20_000, random_state=4)["annual_income"].to_numpy()
    capped = census.census("US", 20_000, cap=50_000, random_state=4).y
    assert whole.min() < 0
    np.testing.assert_array_equal(capped, np.clip(whole, 0, 50_000))


def test_labels_are_strictly_above():
    data = census.census("US", 5_000, random_state=6)
    level = float(np.median(data.y[data.y > 0]))
    labels = census.above(data, level)
    assert (labels.y == (data.y > level)).all()
    assert (data.y == level).any()  # so "at least" would give other labels
    assert labels.X is data.X
    assert "annual_income" not in labels.bounds


def test_the_seed_is_all():
    again = [census.census("BR", 1000, random_state=seed) for seed in (8, 8, 9)]
    np.testing.assert_array_equal(again[0].X, again[1].X)
    np.testing.assert_array_equal(again[0].y, again[1].y)
    assert (again[0].y != again[2].y).any()
    rng = np.random.default_rng(8)
    np.testing.assert_array_equal(census.census("BR", 1000, random_state=rng).y, again[0].y)


def test_the_source_says_that_nobody_is_real():
    assert census.census("US", 10).source == "generated"


@pytest.mark.parametrize("attributes", [6, 9])
def test_one_hot_says_the_same_as_the_codes(attributes):
    plain = census.census("BR", 3_000, attributes=attributes, random_state=5)
    hot = census.census("BR", 3_000, attributes=attributes, random_state=5, one_hot=True)
    dropped = census.census("BR", 3_000, attributes=attributes, random_state=5, one_hot="drop first")
    unordered = [name for name in ("race", "marital", "employment", "house_type") if name in plain.names]
    assert not set(unordered) & set(hot.names)
    for name in unordered:
        low, high = plain.bounds[name]
        columns = [f"{name}={k:g}" for k in np.arange(low, high + 1)]
        block = hot.X[:, [hot.names.index(column) for column in columns]]
        np.testing.assert_array_equal(low + block.argmax(axis=1), plain.X[:, plain.names.index(name)])
        assert (block.sum(axis=1) == 1).all()
        assert {hot.bounds[column] for column in columns} == {(0.0, 1.0)}
        assert [column in dropped.names for column in columns] == [False] + [True] * (len(columns) - 1)
    for name in set(plain.names) - set(unordered):
        np.testing.assert_array_equal(hot.X[:, hot.names.index(name)], plain.X[:, plain.names.index(name)])
    np.testing.assert_array_equal(hot.y, plain.y)


# --- people


@pytest.mark.parametrize("country", COUNTRIES)
def test_columns_agree_with_each_other(country, heads):
    frame = heads[country]
    assert (frame["is_married"] == (frame["marital"] == 2)).all()
    assert (frame["is_single"] == (frame["marital"] == 1)).all()
    assert (frame["family_size"] >= (1 + frame["is_married"] + frame["n_children"]).clip(upper=16)).all()
    assert (frame["years_residing"] <= frame["age"]).all()
    assert ((frame["hours_per_week"] > 0) | (frame["employment"] != 1)).all()
    assert (frame["head"] == 1).all()
    assert frame.notna().all().all()


def test_sex_and_age_follow_their_table():
    """One draw of adults against the table it is drawn from, group by group: a chi-squared test at one in 10^6."""
    p = parameters("US").household
    n = 300_000
    frame = people("US", n, population="adults", random_state=12)
    group = np.searchsorted([20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85], frame["age"], side="right")
    found = np.bincount(frame["female"] * 15 + group, minlength=30)
    wanted = n * np.r_[p.men, p.women] / np.r_[p.men, p.women].sum()
    assert ((found - wanted) ** 2 / wanted).sum() < 90  # 29 degrees of freedom


def test_heads_are_the_adults_who_head():
    """Drawing heads directly is drawing adults and keeping the heads: totals agree within four standard errors."""
    direct = people("BR", 200_000, random_state=1)
    kept = people("BR", 400_000, population="adults", random_state=2).query("head == 1")
    assert 0 < len(kept) < 400_000
    for name in ("age", "female", "is_married", "education", "n_children", "n_autos"):
        spread = np.sqrt(direct[name].var() / len(direct) + kept[name].var() / len(kept))
        assert abs(direct[name].mean() - kept[name].mean()) < 4 * spread, name


@pytest.mark.parametrize("country", COUNTRIES)
def test_education_meets_its_shares(country):
    """The cut points give the shares of the table among adults of 25 and over, before the cap of the young."""
    p = parameters(country).education
    frame = people(country, 400_000, population="adults", random_state=3).query("age > 25")
    found = np.bincount(frame["education"] - p.first, minlength=len(p.shares)) / len(frame)
    assert np.abs(found - p.shares / p.shares.sum()).max() < 0.006  # those of 25 are left out, who may be capped


def test_owners_and_cars_depend_on_income(heads):
    frame = heads["US"]
    rich = frame["annual_income"] > 50_000
    assert frame[rich]["n_autos"].mean() > frame[~rich]["n_autos"].mean() + 0.5
    assert frame[rich]["owns_dwelling"].mean() > frame[~rich]["owns_dwelling"].mean() + 0.1


def test_brazilian_incomes_heap_at_twelve_minimum_wages(heads):
    income = heads["BR"]["annual_income"]
    assert income[income > 0].mode().item() == 12 * 151


def test_american_incomes_are_rounded(heads):
    income = heads["US"]["annual_income"]
    assert (income[income.abs() < 1_000] % 10 == 0).all()
    assert (income[income.between(1_000, 49_999)] % 100 == 0).all()
    assert (income[income >= 50_000] % 1_000 == 0).all()
    assert income.min() >= -10_000
    assert income.max() == 720_000


# Moments that the experiments depend on, for seeds the generator was not tuned with. The values are those of
# data/census.yml, some of them recalled, so this keeps the generator where it is and says nothing of a census. The
# margins are several times what seeds do.
MOMENTS = {
    ("US", "owns_dwelling"): (0.66, 0.03),
    ("US", "is_married"): (0.517, 0.01),
    ("BR", "female"): (0.249, 0.015),
    ("BR", "education"): (5.7, 0.25),
}


@pytest.mark.parametrize(("country", "name"), MOMENTS)
def test_moments(country, name, heads):
    value, margin = MOMENTS[country, name]
    assert abs(heads[country][name].mean() - value) < margin


def test_income_stays_as_explainable_as_it_was_made():
    """R² and condition are choices of this generator, kept where they are: no fact about a census is behind them."""
    data = census.census("US", 100_000, cap=720_000, random_state=21)
    X = np.column_stack([np.ones(data.n), data.X])
    left = data.y - X @ np.linalg.lstsq(X, data.y)[0]
    assert abs(1 - left.var() / data.y.var() - 0.27) < 0.02
    Z, _ = data.box(corner=True).scale(data.X, data.y)
    values = np.linalg.eigvalsh(Z.T @ Z)
    assert 500 < values[-1] / values[0] < 2_500


# --- parameters


def entries():
    for stage, group in document()["parameters"].items():
        for name, entry in group.items():
            yield f"{stage}.{name}", entry


@pytest.mark.parametrize(("name", "entry"), entries(), ids=[name for name, _ in entries()])
def test_every_parameter_has_a_meaning_a_source_and_values(name, entry):
    assert entry["what"].strip()
    sources = entry["source"].values() if isinstance(entry["source"], dict) else [entry["source"]]
    assert set(sources) <= set(document()["sources"])
    assert ("both" in entry) != ({"US", "BR"} <= set(entry))
    assert set(entry) <= {"what", "source", "US", "BR", "both"}


def test_what_is_recalled_says_so_where_it_is_printed():
    """A total is either read or marked as recalled, next to the number."""
    said = document()["sources"]
    for country in COUNTRIES:
        frame = census.calibration(country, 1000)
        assert list(frame.columns).index("source") == list(frame.columns).index("target") + 1
        for source in frame["source"]:
            assert ("read again" in said[source]) != (source == "recalled"), source
    assert "memory" in said["recalled"]
    assert not any("read again" in said[source] for source in ("recalled", "ours", "tuned", "fitted"))


def test_every_source_is_used():
    used = {one["source"] for one in document()["targets"]} | set(provenance()["source"])
    assert used == set(document()["sources"])


def test_curves_are_linear_between_their_points():
    curve = parameters("US").ownership.odds
    assert curve.shape == AGES.shape
    assert curve[18] == -1.9
    assert curve[21] == pytest.approx(-1.9 + 3 / 7 * 0.9)


def test_provenance_counts_every_number_once():
    def numbers(raw):
        if isinstance(raw, dict):
            return numbers(raw["values"]) if "values" in raw else len(raw)
        return sum(numbers(part) for part in raw) if isinstance(raw, list) else 1

    total = sum(2 * numbers(e["both"]) if "both" in e else numbers(e["US"]) + numbers(e["BR"]) for _, e in entries())
    frame = provenance()
    assert frame["numbers"].sum() == total
    assert frame["share"].sum() == pytest.approx(1.0)


def test_calibration_measures_what_it_says(heads):
    frame = census.calibration("BR", 200_000, random_state=77).set_index("name")
    assert frame.loc["women", "generated"] == heads["BR"]["female"].mean()
    paid = heads["BR"]["annual_income"][heads["BR"]["annual_income"] > 0] / 12
    assert frame.loc["median of it", "generated"] == paid.median()
    assert frame.loc["women", "difference"] == pytest.approx(heads["BR"]["female"].mean() - 0.249)
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == sum(one["country"] == "BR" for one in document()["targets"])
