"""Bad input for dpreg.mechanisms.k_norm."""

import math

import numpy as np

from dpreg.mechanisms import k_norm
from dpreg.pipeline import objective
from dpreg.pipeline.domain import Ball, Box

BOX = Box([-1, -1], [1, 1], (-1, 1))
BALL = Ball([0, 0], 1, (-1, 1))
LINE = Box([-1], [1], (-1, 1), intercept=True)
LAW = k_norm.hull(BALL, 0.5)
CHANGES = np.zeros((2, 3, 3))

CASES = {
    "k_norm.Hull": [
        ("weights has shape", lambda: k_norm.Hull([[1.0]], 1.0)),
        ("weights holds a number other than one", lambda: k_norm.Hull([1.0, 2.0], 1.0)),
        ("weights has 4 entries: with a public count give 3", lambda: k_norm.Hull(np.ones(4), 1.0, True)),
        ("weights has 5 entries: .* give at most 4", lambda: k_norm.Hull(np.ones(5), 1.0)),
        ("spread holds a number", lambda: k_norm.Hull([1.0, 1.0], 0.0)),
        ("public_count is 'no': give", lambda: k_norm.Hull(np.ones(3), 1.0, "no")),
        ("loss is of type str: give Loss", lambda: k_norm.Hull(np.ones(3), 1.0, False, "squared")),
    ],
    "k_norm.Hull.certify": [
        ("stacked with shape", lambda: k_norm.hull(BALL, [1.0, 2.0]).certify(BALL)),
        ("another loss", lambda: LAW.certify(BALL, loss=objective.TAYLOR)),
        ("neighbours is 'other': choose", lambda: LAW.certify(BALL, "other")),
        ("a constant: build it", lambda: LAW.certify(LINE)),
        ("a box of 2 predictors: give one", lambda: LAW.certify(BOX)),
        ("domain is of type int: give", lambda: LAW.certify(2)),
    ],
    "k_norm.hull": [
        ("epsilon is 0: give", lambda: k_norm.hull(BALL, 0)),
        ("epsilon is nan", lambda: k_norm.hull(BALL, math.nan)),
        ("domain is of type int: give", lambda: k_norm.hull(2, 1.0)),
        ("a box of 2 predictors: give one", lambda: k_norm.hull(BOX, 1.0)),
        ("neighbours is 'other': choose", lambda: k_norm.hull(BALL, 1.0, neighbours="other")),
        ("no public number then: leave", lambda: k_norm.hull(LINE, 1.0, neighbours="add_remove")),
        ("loss is of type str", lambda: k_norm.hull(BALL, 1.0, loss="squared")),
    ],
    "k_norm.uniform": [
        ("p is 0: give", lambda: k_norm.uniform(0, 1)),
        ("p is 4: give at most 3", lambda: k_norm.uniform(4, 1)),
        ("p is 1: with a public count give 2", lambda: k_norm.uniform(1, 1, public_count=True)),
        ("size is -1: give", lambda: k_norm.uniform(1, -1)),
        ("size is 1000000000000: give at most", lambda: k_norm.uniform(1, 10**12)),
        ("public_count is 'no': give", lambda: k_norm.uniform(2, 1, public_count="no")),
        ("random_state is 'x'", lambda: k_norm.uniform(1, 1, "x")),
    ],
    "k_norm.inside": [
        ("changes has shape", lambda: k_norm.inside(np.ones((3, 3)))),
        ("changes has shape", lambda: k_norm.inside(np.ones((1, 2, 3)))),
        ("not symmetric: give", lambda: k_norm.inside(np.triu(np.ones((1, 3, 3))))),
        ("changes holds nan", lambda: k_norm.inside(CHANGES * math.nan)),
        ("p is 4: give at most 3", lambda: k_norm.inside(np.ones((1, 5, 5)))),
        ("p is 3: with a public count give 2", lambda: k_norm.inside(np.ones((1, 4, 4)), public_count=True)),
    ],
    "k_norm.gauge": [
        ("changes has shape", lambda: k_norm.gauge(np.ones((3, 3)))),
        ("changes holds nan", lambda: k_norm.gauge(CHANGES * math.nan)),
        ("p is 1: with a public count give 2", lambda: k_norm.gauge(np.ones((1, 2, 2)), public_count=True)),
    ],
}
EXEMPT = {}
