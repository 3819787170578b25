"""Bad input for lib.papers.zhang."""

from dpreg.sweeps.experiment import CrossValidation, no_privacy
from lib.data.census import above, census
from lib.papers import zhang

DATA = census("US", 40, attributes=5)
ONCE = CrossValidation(1)


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
