"""What the labels of a codebook mean."""

import numpy as np
import pandas as pd
import pytest

from lib.data import census, ipums
from lib.data.ipums_labels import BOTH, OWN, Reading
from tests.lib.extracts import COUNTRIES, edit, extract, meant

pytest.importorskip("ipumspy", reason="ipumspy is an optional extra: pip install -e '.[ipums]'")


LABELS = {  # as IPUMS prints them, on its pages and in its files, and what they should mean
    ("US", "marital", "MARST"): {
        "Single/never married": 1,
        "Never married/single": 1,
        "Married/in union": 2,
        "Married, spouse present": 2,
        "Married, spouse absent": 3,
        "Separated/divorced/spouse absent": 3,
        "Widowed": 3,
        "Unknown/missing": None,
        "NIU (not in universe)": None,
    },
    ("US", "n_autos", "AUTOS"): {"No automobile": 0, "1": 1, "3+": 3, "NIU (not in universe)": None, "N/A": None},
    ("US", "n_autos", "VEHICLES"): {
        "No vehicles available": 0,
        "1 available": 1,
        "6 (6+, 2000, ACS and PRCS)": 6,
        "N/A": None,
    },
    ("US", "hours_per_week", "HRSUSUAL1"): {
        "140+ hours": 140,
        "0 hours": 0,
        "Unknown": None,
        "NIU (not in universe)": 0,
    },
    ("US", "education", "EDUCUS"): {
        "None or preschool": 1,
        "Grades 1 to 4": 2,
        "Grades 5 to 8": 3.5,
        "Grade 9": 5,
        "Grade 10": 6,
        "Grade 11": 7,
        "Grade 12, no diploma": 8,
        "High school graduate or equivalency degree": 9,
        "Some college, no degree": 10.5,
        "Associate dregree, type not specified": 12,
        "Bachelors degree": 13,
        "Masters degree": 14,
        "Professional degree": 15,
        "Doctorate degree": 16,
        "NIU (not in universe)": None,
    },
    ("BR", "education", "YRSCHOOL"): {
        "None or pre-school": 0,
        "1 year": 1,
        "18 years or more": 18,
        "Not specified": None,
        "Some secondary": None,
        "Adult literacy": None,
        "Special education": None,
    },
    ("BR", "years_residing", "MIGYRSBR"): {
        "Less than 1 year": 0,
        "6 (6 to 10 1960-70, 6 to 9 1980)": 6,
        "Unknown": None,
        "NIU (not in universe)": np.inf,
    },
    ("US", "years_residing", "MIGYRS2"): {"NIU (not in universe)": None},
    ("US", "disability", "DISABWRK"): {
        "No disability that affects work": 0,
        "Disability causes difficulty working": 1,
        "N/A": None,
    },
    ("BR", "disability", "DISABLED"): {"Yes": 1, "Yes, disabled": 1, "No": 0, "Not disabled": 0, "Not specified": None},
    ("BR", "race", "RACE"): {
        "White": 1,
        "Black": 2,
        "Black/African American": 2,
        "Asian": 3,
        "Other Asian or Pacific Islander": 3,
        "Brown (Brazil)": 4,
        "Indigenous": 4,
        "Two or more races": 4,
        "American Indian or Alaska Native": 4,
        "Unknown": None,
    },
    ("US", "native", "NATIVITY"): {"Native-born": 1, "Foreign-born": 0, "Unknown/missing": None},
    ("US", "owns_dwelling", "OWNERSHIP"): {"Owned": 1, "Not owned": 0, "Unknown": None},
    ("US", "owns_dwelling", "OWNERSHP"): {"Owned or being bought (loan)": 1, "Rented": 0, "N/A": None},
    ("US", "female", "SEX"): {"Male": 0, "Female": 1, "Unknown": None},
    ("US", "employment", "EMPSTAT"): {"Employed": 1, "Unemployed": 2, "Inactive": 3, "Not in labor force": 3},
    ("US", "age", "AGE"): {"Less than 1 year old": 0, "100+": 100, "90 (90+ in 1980 and 1990)": 90},
    ("US", "house_type", "UNITSSTR"): {
        "1-family house, detached": 1,
        "1-family house, attached": 2,
        "2-family building": 3,
        "3-4 family building": 4,
        "5-9 family building": 5,
        "20-49 family building": 6,
        "50+ family building": 6,
        "Mobile home or trailer": 7,
        "N/A": None,
    },
}


@pytest.mark.parametrize(("country", "attribute", "variable"), LABELS)
def test_labels_mean_what_they_say(country, attribute, variable):
    reading = (BOTH | OWN[country])[attribute][variable]
    table = LABELS[country, attribute, variable]
    labels = {40 + 7 * k: label for k, label in enumerate(table)}  # no code equals its value
    found = ipums._decode(pd.Series(list(labels), name=variable), labels, reading, {})
    np.testing.assert_array_equal(found, [np.nan if value is None else value for value in table.values()])


def test_a_label_beats_the_number_it_is_for(tmp_path):
    """As in the sample of 1980: code 2 means one automobile. Here code 1 becomes female."""
    extract(tmp_path, "US", 300, random_state=4)
    before, _ = ipums.heads(tmp_path, "US", ["female"])
    book = tmp_path / "US.xml"
    edit(book, "<labl>Male</labl>", "<labl>woman</labl>")
    edit(book, "<labl>Female</labl>", "<labl>Male</labl>")
    edit(book, "<labl>woman</labl>", "<labl>Female</labl>")
    after, _ = ipums.heads(tmp_path, "US", ["female"])
    assert (after["female"] == 1 - before["female"]).all()


def test_those_who_never_moved_are_there_for_life(tmp_path):
    frame = extract(tmp_path, "BR", random_state=6)
    found, _ = ipums.heads(tmp_path, "BR", ["years_residing", "age"])
    stayed = meant(frame, "BR", ["years_residing", "age"])
    assert (found["years_residing"] <= found["age"]).all()
    assert (found["years_residing"] == found["age"]).mean() == (stayed["years_residing"] == stayed["age"]).mean() > 0.2


def test_every_reading_is_used():
    """Each attribute of the papers has a way to be read, in each country."""
    for country in COUNTRIES:
        known = (BOTH | OWN[country]).keys() | {"is_single", "is_married"}
        assert known == census.bounds(country).keys() | {"annual_income"}
    assert all(
        isinstance(one, Reading) for table in (BOTH, *OWN.values()) for row in table.values() for one in row.values()
    )
