"""Bad input for lib.data.categories."""

import numpy as np

from dpreg.pipeline.domain import Box
from lib.data import categories
from lib.data.datasets import Dataset

BOX = Box([0.0] * 4, [1.0] * 4, response=(0.0, 1.0))
PLAIN = Dataset(np.ones((2, 1)), np.ones(2), ("age",), "y", {"age": (0.0, 9.0), "y": (0.0, 1.0)}, "")

CASES = {
    "categories.groups": [
        ("none is a category: pass", lambda: categories.groups(["age", "race"])),
        ("names is of type str: give", lambda: categories.groups("race=1")),
        ("an entry of names is of type int: give", lambda: categories.groups([1])),
    ],
    "categories.silent": [
        ("domain is of type Dataset: give", lambda: categories.silent(PLAIN, [[0]])),
        (r"columns are \[\[0, 1\], \[1, 2\]\]: give", lambda: categories.silent(BOX, [[0, 1], [1, 2]])),
        (r"columns are \[\[3, 4\]\]: give.*from 0 to 3", lambda: categories.silent(BOX, [[3, 4]])),
        (r"columns are \[\]: give", lambda: categories.silent(BOX, [])),
    ],
    "categories.ball": [
        ("data is of type Box: give", lambda: categories.ball(BOX)),
        ("names are age, and none is a category: pass", lambda: categories.ball(PLAIN)),
        ("intercept is .yes.: ", lambda: categories.ball(PLAIN, intercept="yes")),
    ],
}
EXEMPT: dict[str, str] = {}
