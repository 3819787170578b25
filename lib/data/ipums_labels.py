"""What the labels of IPUMS codebooks stand for, variable by variable.

The labels are those its pages and files show for the samples of 2000. Those of DISWORK, DISABLED, AUTOS, MIGYRS2 and
HRSUSUAL1 we have not seen: the patterns are for what the other variables of their kind say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpreg.arguments import checked

NUMBER = "number"  # what a label stands for if it starts with the number meant, such as "18 years or more"
NAN = math.nan

Labels = tuple[tuple[str, float | str], ...]  # patterns in lower case, the first that is found decides

NOT_ASKED = r"\bniu\b|not (in )?universe|^n/a"
MISSING: Labels = ((rf"unknown|missing|not reported|not specified|no response|{NOT_ASKED}", NAN),)
COUNT: Labels = (*MISSING, (r"^\d", NUMBER), (r"^(none|no |less than (1|one) )", 0.0))
# The 16 levels of the generator, as the census of 2000 asked for them. IPUMS International merges some: the middle.
LEVELS: Labels = (
    (r"^(none|no school)", 1.0),
    (r"^(nursery school|grades 1) to", 2.0),
    (r"^grades? 5 or 6", 3.0),
    (r"^grades? 7 or 8", 4.0),
    (r"^grades 5 to 8", 3.5),
    (r"^grade 9$", 5.0),
    (r"^grade 10$", 6.0),
    (r"^grade 11$", 7.0),
    (r"^(grade 12|12th grade), no diploma", 8.0),
    (r"^(regular )?high school (graduate|diploma)|^graduate equivalency|^ged ", 9.0),
    (r"^some college, no degree", 10.5),
    (r"^some college, but less than 1 year", 10.0),
    (r"^1 or more years of college credit", 11.0),
    (r"^associate", 12.0),
    (r"^bachelor", 13.0),
    (r"^master", 14.0),
    (r"^professional", 15.0),
    (r"^doctor", 16.0),
)
RACES: Labels = (
    (r"^white", 1.0),
    (r"^black", 2.0),
    (r"^(asian|chinese|japanese|korean|vietnamese|filipino|indian|pakistani|bangladeshi|other asian)", 3.0),
    (r"^(american indian|lat american indian|indigenous|mixed|brown|mestizo|mulatto)", 4.0),
    (r"^(two|three|other)", 4.0),
)
BUILDINGS: Labels = (
    (r"^1-family house, detached", 1.0),
    (r"^1-family house, attached", 2.0),
    (r"^2-family", 3.0),
    (r"^3-4 family", 4.0),
    (r"^(5-9|10-19) family", 5.0),
    (r"^(20-49|50\+) family", 6.0),
    (r"^(mobile home|boat)", 7.0),
)


@checked
@dataclass(frozen=True)
class Reading:
    """How one variable is read.

    Parameters
    ----------
    labels : pairs of a pattern and what a label it is found in stands for: a value, NaN for no answer, or `NUMBER`
    limits : (float, float), optional
        Numbers that stand for themselves where the codebook has no label for them.
    """

    labels: Labels
    limits: tuple[float, float] | None = None


DISABILITY = Reading((*MISSING, (r"^(yes|disab)", 1.0), (r"^(no|not)\b", 0.0)))
# Hours are asked of those who work, and the years in a municipality of those who came to it: others are there for life.
HOURS = Reading(((NOT_ASKED, 0.0), *COUNT), (0, 168))
STAY = Reading(((NOT_ASKED, math.inf), *COUNT))

# Attribute, the variables it can be read from, the best one first.
BOTH: dict[str, dict[str, Reading]] = {
    "age": {"AGE": Reading(COUNT, (0, 135))},
    "female": {"SEX": Reading(((r"^female", 1.0), (r"^male", 0.0)))},
    "race": {"RACE": Reading(RACES)},
    "marital": {
        "MARST": Reading(((r"never|^single", 1.0), (r"absent|separated|divorced|widowed", 3.0), (r"^married", 2.0)))
    },
    "native": {"NATIVITY": Reading(((r"^native", 1.0), (r"^foreign", 0.0)))},
    "hours_per_week": {"HRSUSUAL1": HOURS, "HRSWORK1": HOURS, "UHRSWORK": HOURS},
    "owns_dwelling": {
        name: Reading(((r"^owned", 1.0), (r"^(not owned|rented)", 0.0))) for name in ("OWNERSHIP", "OWNERSHP")
    },
    "family_size": {"FAMSIZE": Reading(COUNT, (1, 60))},
    "n_children": {"NCHILD": Reading(COUNT, (0, 9))},
    "n_autos": {"AUTOS": Reading(COUNT), "VEHICLES": Reading(COUNT)},
    "employment": {
        "EMPSTAT": Reading(((r"^employed", 1.0), (r"^unemployed", 2.0), (r"^(inactive|not in labor)", 3.0)))
    },
    "house_type": {"UNITSSTR": Reading(BUILDINGS)},
    "annual_income": {"INCTOT": Reading((), (-1e6, 1e7 - 3))},
}
OWN: dict[str, dict[str, dict[str, Reading]]] = {
    "US": {
        "education": {"EDUCUS": Reading(LEVELS), "EDUCD": Reading(LEVELS)},
        "disability": {"DISWORK": DISABILITY, "DISABWRK": DISABILITY},
        "years_residing": {"MIGYRS2": Reading(COUNT)},
    },
    "BR": {
        # Words such as "some secondary" name no number of years.
        "education": {"YRSCHOOL": Reading(((r"^(some |adult literacy|special education)", NAN), *COUNT))},
        "disability": {"DISABLED": DISABILITY},
        "years_residing": {"MIGYRSBR": STAY},
    },
}
NAMES = {"US": "United States", "BR": "Brazil"}
