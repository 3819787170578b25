"""Bad input for lib.papers.zhang."""

import pandas as pd

from dpreg.sweeps.experiment import CrossValidation, no_privacy
from lib.data.census import above, census
from lib.papers import zhang

DATA = census("US", 40, attributes=5)
ONCE = CrossValidation(1)
WHERE = ("linear", "US", False, 5)
TABLES = {WHERE: pd.DataFrame({0.1: [0.5, 0.4, 0.6]}, index=["FM", "DPME", "FP"])}


def panel(data):
    return zhang.Panel(data, [(data.box(), [no_privacy("plain")])], [1.0])


CASES = {
    "zhang.published": [
        ("data is of type int: give Dataset", lambda: zhang.published(3)),
        ("loss is of type str: give Loss", lambda: zhang.published(DATA, "linear")),
        ("centred is 'no': give True or False", lambda: zhang.published(DATA, centred="no")),
    ],
    "zhang.rivals": [
        ("loss is of type str: give Loss", lambda: zhang.rivals("linear")),
        ("repeats is 0: give", lambda: zhang.rivals(repeats=0)),
    ],
    "zhang.variants": [
        ("data is of type int: give Dataset", lambda: zhang.variants(3)),
        ("loss is of type str: give Loss", lambda: zhang.variants(DATA, "linear")),
    ],
    "zhang.Panel": [
        ("data is of type int: give Dataset", lambda: zhang.Panel(3, [], [1.0])),
        ("lines is empty: give", lambda: zhang.Panel(DATA, [], [1.0])),
        ("metric is 'auc': choose", lambda: zhang.Panel(DATA, zhang.variants(DATA), [1.0], "auc")),
    ],
    "zhang.run_by": [
        ("panels is empty: give", lambda: zhang.run_by("country", [], ONCE)),
        ("an entry of panels is of type int: give Panel", lambda: zhang.run_by("country", [3], ONCE)),
        ("tag: a panel has no 'country': choose one of none", lambda: zhang.run_by("country", [panel(DATA)], ONCE)),
    ],
    "zhang.wins": [
        ("method is 'XY': choose one of FM, DPME, FP", lambda: zhang.wins(TABLES, "XY", {"linear": 0.0})),
        (
            "tables: one has no row for DPME",
            lambda: zhang.wins({WHERE: TABLES[WHERE].loc[["FM"]]}, "FM", {"linear": 0.0}),
        ),
        ("margins has none for 'linear'", lambda: zhang.wins(TABLES, "FM", {"logistic": 0.0})),
    ],
    "zhang.run": [
        ("panels is empty: give", lambda: zhang.run([], ONCE)),
        (
            "different responses named 'above': give",
            lambda: zhang.run([panel(above(DATA, limit)) for limit in (20_000, 50_000)], ONCE),
        ),
        ("an entry of panels is of type int: give Panel", lambda: zhang.run([3], ONCE)),
        ("epsilon", lambda: zhang.run([zhang.Panel(DATA, zhang.variants(DATA), [0.0])], ONCE)),
        ("different records: give", lambda: zhang.run([panel(DATA), panel(census("US", 50, attributes=5))], ONCE)),
        (
            "no data set with all columns, as 'employment' shows: give",
            lambda: zhang.run([panel(census("US", 40, attributes=14)), panel(census("US", 40, attributes=9))], ONCE),
        ),
    ],
}
EXEMPT: dict[str, str] = {}
