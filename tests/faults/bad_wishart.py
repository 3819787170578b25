"""Bad input for dpreg.mechanisms.wishart, and for the repair that goes with it."""

import math

import numpy as np

from dpreg.mechanisms import wishart
from dpreg.pipeline import laws, objective, repair
from dpreg.pipeline.domain import Ball, Box
from dpreg.sweeps import experiment

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
        ("above zero, or is extreme: give", lambda: wishart.WishartDifference([1.0, 1e-60], 1.0)),
        ("weights holds nan", lambda: wishart.WishartDifference([1.0, math.nan], 1.0)),
        ("weights has shape .*: give one for", lambda: wishart.WishartDifference([1.0], 1.0)),
        ("weights has shape .*: give one for", lambda: wishart.WishartDifference([1.0, 1.0], 1.0, True)),
        ("spread holds a number", lambda: wishart.WishartDifference([1.0, 1.0], 0.0)),
        ("spread holds a number", lambda: wishart.WishartDifference([1.0, 1.0], [1.0, math.inf])),
        ("public_count is 'no': give", lambda: wishart.WishartDifference([1.0, 1.0], 1.0, "no")),
        ("loss is of type str: give Loss", lambda: wishart.WishartDifference([1.0, 1.0], 1.0, False, "squared")),
    ],
    "wishart.WishartDifference.certify": [
        ("stacked with shape", lambda: wishart.difference(BOX, [1.0, 2.0]).certify(BOX)),
        ("another loss", lambda: LAW.certify(BOX, loss=objective.TAYLOR)),
        ("neighbours is 'other': choose", lambda: LAW.certify(BOX, "other")),
        ("two predictors: give", lambda: wishart.WishartDifference([1.0, 1.0, 2.0], 1.0).certify(BOX)),
        ("weights has 3 entries: give 2", lambda: LAW.certify(Box([0], [1], (0, 1)))),
    ],
    "wishart.nuclear_ratio": [
        ("m is 0: give", lambda: wishart.nuclear_ratio(0)),
        ("m is 31: give at most 30", lambda: wishart.nuclear_ratio(31)),
    ],
    "wishart.difference": [
        ("epsilon is 0: give", lambda: wishart.difference(BOX, 0)),
        ("epsilon is nan", lambda: wishart.difference(BOX, math.nan)),
        ("epsilon is 4.94066e-324, .* its noise: give", lambda: wishart.difference(BOX, 5e-324)),
        ("epsilon is 1e-300, .* its noise: give", lambda: wishart.difference(BOX, [1.0, 1e-300])),
        ("epsilon is 1e\\+300, .* its noise: give", lambda: wishart.difference(BOX, 1e300)),
        ("domain is of type int: give", lambda: wishart.difference(2, 1.0)),
        ("neighbours is 'other': choose", lambda: wishart.difference(BOX, 1.0, neighbours="other")),
        ("weights has 2 entries: give 3", lambda: wishart.difference(BOX, 1.0, weights=[1.0, 1.0])),
        ("not above zero", lambda: wishart.difference(BOX, 1.0, weights=[0.0, 1.0, 1.0])),
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
        ("two predictors", lambda: wishart.largest_change([1.0, 1.0, 2.0], BALL)),
        ("not above zero", lambda: wishart.largest_change([1.0, -1.0, -1.0], BALL)),
        ("is extreme", lambda: wishart.largest_change([1e-81, 1e-81, 1e-81], BALL)),
        ("neighbours is 'other': choose", lambda: wishart.largest_change([1.0, 1.0, 1.0], BALL, "other")),
        ("loss is of type str", lambda: wishart.largest_change([1.0, 1.0, 1.0], BALL, "replace", "x")),
    ],
    "repair.lift": [
        *((f"k is {a}: give", lambda a=a: repair.lift(BOWL, LAW, a)) for a in (0, -1, math.nan, math.inf)),
        ("k is '1': give", lambda: repair.lift(BOWL, LAW, "1")),
        ("law is of type float: give Law", lambda: repair.lift(BOWL, 1.0)),
        ("use ridge and trim", lambda: repair.lift(BOWL, laws.unit_scales("ordered", 2))),
        ("no noise on M", lambda: repair.lift(BOWL, laws.Scales(np.zeros((2, 2)), np.ones(2)))),
        ("3 columns and the objective 2: match", lambda: repair.lift(BOWL, wishart.WishartDifference(np.ones(4), 1.0))),
        ("objective is of type ndarray", lambda: repair.lift(np.eye(2), LAW)),
    ],
    "experiment.mechanism": [
        ("domain is of type int: give", lambda: experiment.mechanism("m", 2, LAW)),
        ("law is of type float: give", lambda: experiment.mechanism("m", BOX, 1.0)),
    ],
    "experiment.constant": [("private is 'no': give", lambda: experiment.constant("m", private="no"))],
}
EXEMPT = {}
