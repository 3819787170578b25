"""Bad input for lib.wishart, and for the repair that goes with it."""

import math

import numpy as np

from lib import objective, release, repair, wishart
from lib.domain import Ball, Box

BOX = Box([-1, -1], [1, 1], (-1, 1))
CORNER = Box([-1, -1], [1, 1], (-1, 1), corner=True)
BALL = Ball([0, 0], 1, (-1, 1))
BOWL = objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0))
LAW = wishart.difference(BOX, 1.0)
F = objective.logistic([[0.0, 0.0], [1.0, 1.0]], [-1, 1], BOX)

CASES = {
    "wishart.WishartDifference": [
        ("weights has shape", lambda: wishart.WishartDifference([[1.0]], 1.0)),
        ("weights holds a number .* not above zero", lambda: wishart.WishartDifference([1.0, 0.0], 1.0)),
        ("weights holds nan", lambda: wishart.WishartDifference([1.0, math.nan], 1.0)),
        ("weights has one entry: give", lambda: wishart.WishartDifference([1.0], 1.0)),
        ("spread holds a number", lambda: wishart.WishartDifference([1.0, 1.0], 0.0)),
        ("spread holds a number", lambda: wishart.WishartDifference([1.0, 1.0], [1.0, math.inf])),
        ("public_count is 'no': give", lambda: wishart.WishartDifference([1.0, 1.0], 1.0, "no")),
        ("loss is of type str: give Loss", lambda: wishart.WishartDifference([1.0, 1.0], 1.0, False, "squared")),
    ],
    "wishart.WishartDifference.certify": [
        ("stacked with shape", lambda: wishart.difference(BOX, [1.0, 2.0]).certify(BOX)),
        ("another loss", lambda: LAW.certify(BOX, loss=objective.TAYLOR)),
        ("neighbours is 'other': choose", lambda: LAW.certify(BOX, "other")),
        ("two for the predictors: give", lambda: wishart.WishartDifference([1.0, 1.0, 2.0], 1.0).certify(BOX)),
        ("weights has 3 entries: give 2", lambda: LAW.certify(Box([0], [1], (0, 1)))),
    ],
    "wishart.WishartDifference.perturb": [
        ("another loss", lambda: release.perturb(F, LAW)),
        (
            "2 columns and the objective 3: match",
            lambda: release.perturb(objective.Quadratic(np.eye(3), np.ones(3), np.array(0.0)), LAW),
        ),
    ],
    "wishart.difference": [
        ("epsilon is 0: give", lambda: wishart.difference(BOX, 0)),
        ("epsilon is nan", lambda: wishart.difference(BOX, math.nan)),
        ("exceeds every float: give", lambda: wishart.difference(BOX, 5e-324)),
        ("domain is of type int: give", lambda: wishart.difference(2, 1.0)),
        ("neighbours is 'other': choose", lambda: wishart.difference(BOX, 1.0, neighbours="other")),
        ("weights has 2 entries: give 3", lambda: wishart.difference(BOX, 1.0, weights=[1.0, 1.0])),
        ("at most zero", lambda: wishart.difference(BOX, 1.0, weights=[0.0, 1.0, 1.0])),
        ("give corner=False", lambda: wishart.difference(CORNER, 1.0)),
        ("loss is of type str", lambda: wishart.difference(BOX, 1.0, loss="squared")),
    ],
    "wishart.balanced": [
        ("domain is of type str: give", lambda: wishart.balanced("box")),
        ("scaled from its corner: give", lambda: wishart.balanced(CORNER)),
    ],
    "wishart.reference_risk": [
        ("scaled from its corner: give", lambda: wishart.reference_risk([1.0, 1.0, 1.0], CORNER)),
        ("weights has 2 entries: give 3", lambda: wishart.reference_risk([1.0, 1.0], BALL)),
    ],
    "wishart.largest_change": [
        ("domain is of type int: give", lambda: wishart.largest_change([1.0, 1.0], 1)),
        ("two for the predictors", lambda: wishart.largest_change([1.0, 1.0, 2.0], BALL)),
        ("at most zero", lambda: wishart.largest_change([1.0, -1.0, -1.0], BALL)),
        ("neighbours is 'other': choose", lambda: wishart.largest_change([1.0, 1.0, 1.0], BALL, "other")),
        ("loss is of type str", lambda: wishart.largest_change([1.0, 1.0, 1.0], BALL, "replace", "x")),
    ],
    "repair.lift": [
        *(("not above zero and finite: give", lambda a=a: repair.lift(BOWL, a)) for a in (0, -1, math.nan, math.inf)),
        ("level has entries of type", lambda: repair.lift(BOWL, "1")),
        ("not above zero and finite: give", lambda: repair.lift(BOWL, 1.0, [1.0, 0.0])),
        ("weights have shape", lambda: repair.lift(BOWL, 1.0, [1.0, 1.0, 1.0])),
        ("objective is of type ndarray", lambda: repair.lift(np.eye(2), 1.0)),
    ],
}
EXEMPT = {}
