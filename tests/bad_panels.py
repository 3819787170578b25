"""Bad input for lib.panels."""

from lib import panels
from lib.census import census
from lib.experiment import CrossValidation

DATA = census("US", 40, attributes=5)
ONCE = CrossValidation(1)

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
    "panels.run": [
        ("data is of type int: give Dataset", lambda: panels.run(3, [], [1.0], ONCE)),
        ("lines is empty: give", lambda: panels.run(DATA, [], [1.0], ONCE)),
        ("metric is 'auc': choose", lambda: panels.run(DATA, panels.variants(DATA), [1.0], ONCE, metric="auc")),
        ("epsilon", lambda: panels.run(DATA, panels.variants(DATA), [0.0], ONCE)),
    ],
}
EXEMPT: dict[str, str] = {}
