"""Bad input for the data sets on file, and for the coding of their categories."""

import numpy as np

from lib.data import datasets

WINE = datasets.wine()

CASES = {
    "datasets.kdd_heads": [("part is 'validation': choose", lambda: datasets.kdd_heads("validation"))],
    "datasets.one_hot": [
        ("data is of type ndarray: give Dataset", lambda: datasets.one_hot(np.ones((2, 2)), ["a"])),
        ("columns is of type str: give", lambda: datasets.one_hot(WINE, "pH")),
        ("columns has 'sugar', which is no predictor: choose", lambda: datasets.one_hot(WINE, ["sugar"])),
        ("pH is no code, .*: leave it out", lambda: datasets.one_hot(WINE, ["pH"])),
        ("drop_first is 'yes': give", lambda: datasets.one_hot(datasets.kdd_heads(), ["race"], drop_first="yes")),
    ],
}
EXEMPT: dict[str, str] = {}
