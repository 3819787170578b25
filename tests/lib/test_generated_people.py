"""The people of the generator: their columns agree, and meet the tables they are drawn from."""

from typing import get_args

import numpy as np
import pytest

from lib.data.generated_parameters import Country, parameters
from lib.data.generated_people import people


@pytest.mark.thorough
@pytest.mark.parametrize("country", get_args(Country))
def test_columns_agree_with_each_other(country, heads):
    frame = heads[country]
    assert (frame["is_married"] == (frame["marital"] == 2)).all()
    assert (frame["is_single"] == (frame["marital"] == 1)).all()
    assert (frame["family_size"] >= (1 + frame["is_married"] + frame["n_children"]).clip(upper=16)).all()
    assert (frame["years_residing"] <= frame["age"]).all()
    assert ((frame["hours_per_week"] > 0) | (frame["employment"] != 1)).all()
    assert (frame["head"] == 1).all()
    assert frame.notna().all().all()


@pytest.mark.thorough
def test_sex_and_age_follow_their_table():
    """One draw of adults against the table it is drawn from, group by group: a chi-squared test at one in 10^6."""
    p = parameters("US").household
    n = 300_000
    frame = people("US", n, population="adults", random_state=12)
    group = np.searchsorted([20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85], frame["age"], side="right")
    found = np.bincount(frame["female"] * 15 + group, minlength=30)
    wanted = n * np.r_[p.men, p.women] / np.r_[p.men, p.women].sum()
    assert ((found - wanted) ** 2 / wanted).sum() < 90  # 29 degrees of freedom


@pytest.mark.thorough
def test_heads_are_the_adults_who_head():
    """Drawing heads directly is drawing adults and keeping the heads: totals agree within four standard errors."""
    direct = people("BR", 200_000, random_state=1)
    kept = people("BR", 400_000, population="adults", random_state=2).query("head == 1")
    assert 0 < len(kept) < 400_000
    for name in ("age", "female", "is_married", "education", "n_children", "n_autos"):
        spread = np.sqrt(direct[name].var() / len(direct) + kept[name].var() / len(kept))
        assert abs(direct[name].mean() - kept[name].mean()) < 4 * spread, name


@pytest.mark.thorough
@pytest.mark.parametrize("country", get_args(Country))
def test_education_meets_its_shares(country):
    """The cut points give the shares of the table among adults of 25 and over, before the cap of the young."""
    p = parameters(country).education
    frame = people(country, 400_000, population="adults", random_state=3).query("age > 25")
    found = np.bincount(frame["education"] - p.first, minlength=len(p.shares)) / len(frame)
    assert np.abs(found - p.shares / p.shares.sum()).max() < 0.006  # those of 25 are left out, who may be capped


@pytest.mark.thorough
def test_owners_and_cars_depend_on_income(heads):
    frame = heads["US"]
    rich = frame["annual_income"] > 50_000
    assert frame[rich]["n_autos"].mean() > frame[~rich]["n_autos"].mean() + 0.5
    assert frame[rich]["owns_dwelling"].mean() > frame[~rich]["owns_dwelling"].mean() + 0.1


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
