"""Bad input for lib.panels."""

from lib import panels
from lib.census import above, census
from lib.experiment import CrossValidation, no_privacy

DATA = census("US", 40, attributes=5)
ONCE = CrossValidation(1)


def panel(data):
    return panels.Panel(data, [(data.box(), [no_privacy("plain")])], [1.0])


CASES = {
    "panels.published": [
        ("data is of type int: give Dataset", lambda: panels.published(3)),
        ("loss is of type str: give Loss", lambda: panels.published(DATA, "linear")),
        ("centred is 'no': give True or False", lambda: panels.published(DATA, centred="no")),
    ],
    "panels.variants": [
        ("data is of type int: give Dataset", lambda: panels.variants(3)),
        ("loss is of type str: give Loss", lambda: panels.variants(DATA, "linear")),
    ],
    "panels.Panel": [
        ("data is of type int: give Dataset", lambda: panels.Panel(3, [], [1.0])),
        ("lines is empty: give", lambda: panels.Panel(DATA, [], [1.0])),
        ("metric is 'auc': choose", lambda: panels.Panel(DATA, panels.variants(DATA), [1.0], "auc")),
    ],
    "panels.run": [
        ("panels is empty: give", lambda: panels.run([], ONCE)),
        (
            "different responses named 'above': give",
            lambda: panels.run([panel(above(DATA, limit)) for limit in (20_000, 50_000)], ONCE),
        ),
        ("a panel is of type int: give Panel", lambda: panels.run([3], ONCE)),
        ("epsilon", lambda: panels.run([panels.Panel(DATA, panels.variants(DATA), [0.0])], ONCE)),
        ("different records: give", lambda: panels.run([panel(DATA), panel(census("US", 50, attributes=5))], ONCE)),
        (
            "no data set with all columns, as 'employment' shows: give",
            lambda: panels.run([panel(census("US", 40, attributes=14)), panel(census("US", 40, attributes=9))], ONCE),
        ),
    ],
}
EXEMPT: dict[str, str] = {}
