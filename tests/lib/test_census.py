"""The census-like generator: the claims on the papers' data, then the data sets made of the people."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest

from dpreg.pipeline.domain import Box
from lib.data import census
from lib.data.generated_parameters import Country, document
from lib.data.generated_people import people
from lib.pages import claims


def record(claim):
    return claims.load()[claim]


def agrees(claim, **own):
    assert record(claim).differences(own) == []


# --- claims


@pytest.mark.thorough
def test_sizes_and_attributes_of_001():
    text = (
        "Age, Gender, Marital Status, Education, Disability, Nativity, Working Hours per Week, Number of Years Residing"
        " in the Current Location, Ownership of Dwelling, Family Size, Number of Children, Number of Automobiles"
        ", Annual Income"
    )
    agrees("FM-DATA-SIZE", us=370_000, brazil=190_000, attributes=len(text.split(", ")))
    assert census.census("US", attributes=5).n == 370_000


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_error_of_saying_no(heads):
    claim = record("FM-DATA-THRESHOLD")
    for name, value in claim.values.items():
        share = (heads["US"]["annual_income"] > 1000 * int(name[1:])).mean()
        assert abs(share - value) < deviations(value) + 1e-3  # the record is rounded, and simulated itself
    assert min(claim.tolerances.values()) >= 4 * np.sqrt(0.25 / 370_000)


def test_error_depends_on_the_top_code(heads):
    frame = heads["US"]
    X = np.column_stack([np.ones(len(frame)), frame[list(census.FOURTEEN)]]).astype(float)
    error = {}
    for cap in (100_000, 720_000):
        t = 2 * frame["annual_income"].clip(0, cap) / cap - 1
        error[cap] = np.mean((t - X @ np.linalg.lstsq(X, t)[0]) ** 2)
    claim = record("FM-DATA-CAP")
    off = error[100_000] / error[720_000] - claim.values["times"]
    assert abs(off) < 1.5 * claim.tolerances["times"]  # fewer records here


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


@pytest.mark.parametrize("country", get_args(Country))
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


# --- parameters


def test_what_is_recalled_says_so_where_it_is_printed():
    """A total is either read or marked as recalled, next to the number."""
    said = document()["sources"]
    for country in get_args(Country):
        frame = census.calibration(country, 1000)
        assert list(frame.columns).index("source") == list(frame.columns).index("target") + 1
        for source in frame["source"]:
            assert ("read again" in said[source]) != (source == "recalled"), source
    assert "memory" in said["recalled"]
    assert not any("read again" in said[source] for source in ("recalled", "ours", "tuned", "fitted"))


@pytest.mark.thorough
def test_calibration_measures_what_it_says(heads):
    frame = census.calibration("BR", 200_000, random_state=77).set_index("name")
    assert frame.loc["women", "generated"] == heads["BR"]["female"].mean()
    paid = heads["BR"]["annual_income"][heads["BR"]["annual_income"] > 0] / 12
    assert frame.loc["median of it", "generated"] == paid.median()
    assert frame.loc["women", "difference"] == pytest.approx(heads["BR"]["female"].mean() - 0.249)
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == sum(one["country"] == "BR" for one in document()["targets"])
