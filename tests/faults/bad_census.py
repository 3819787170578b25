"""Bad input for the census-like generator."""

import math

import numpy as np

from lib.data import census, generated_parameters, generated_people

CASES = {
    "census.bounds": [("country is 'XX': choose", lambda: census.bounds("XX"))],
    "census.census": [
        ("country is 'us': choose", lambda: census.census("us", 10)),
        ("n is 0: give", lambda: census.census("US", 0)),
        ("n is 1.5: give", lambda: census.census("US", 1.5)),
        ("attributes is 13: choose", lambda: census.census("US", 10, attributes=13)),
        ("attributes is True: give", lambda: census.census("US", 10, attributes=True)),
        ("cap is 0: give", lambda: census.census("US", 10, cap=0)),
        ("cap is nan: give", lambda: census.census("US", 10, cap=math.nan)),
        ("random_state is -1: give", lambda: census.census("US", 10, random_state=-1)),
        ("one_hot is 'first': choose", lambda: census.census("US", 10, attributes=6, one_hot="first")),
        ("one_hot is None: give", lambda: census.census("US", 10, attributes=6, one_hot=None)),
    ],
    "census.above": [
        ("data is of type ndarray: give Dataset", lambda: census.above(np.ones(3), 1.0)),
        ("threshold is nan: give", lambda: census.above(census.census("US", 10), math.nan)),
        ("threshold is '50K': give", lambda: census.above(census.census("US", 10), "50K")),
    ],
    "census.calibration": [
        ("country is None: choose", lambda: census.calibration(None)),
        ("n is -5: give", lambda: census.calibration("US", -5)),
    ],
    "generated_people.people": [
        ("country is 'XX': choose", lambda: generated_people.people("XX", 10)),
        ("n is '10': give", lambda: generated_people.people("US", "10")),
        ("population is 'children': choose", lambda: generated_people.people("US", 10, population="children")),
        ("random_state is 'a': give", lambda: generated_people.people("US", 10, random_state="a")),
    ],
    "generated_parameters.parameters": [("country is 'XX': choose", lambda: generated_parameters.parameters("XX"))],
}
EXEMPT = {
    "generated_income.income": "inner step of people",
    "generated_parameters.document": "no arguments",
    "generated_parameters.provenance": "no arguments",
}
