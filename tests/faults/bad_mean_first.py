"""Bad input for dpreg.mechanisms.mean_first."""

import math

from dpreg.mechanisms import mean_first, wishart
from dpreg.pipeline import objective
from dpreg.pipeline.domain import Box

BOX = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
CORNER = Box([-1, -1], [1, 1], (-1, 1), intercept=True, corner=True)
REST = wishart.difference(BOX, 1.0)
SECRET = wishart.difference(BOX, 1.0, neighbours="add_remove")
STACK = mean_first.mean_first(BOX, [1.0, 2.0], 9)
LAW = mean_first.mean_first(BOX, 1.0, 9)
NORMAL = mean_first.mean_first(BOX, 1.0, 9, delta=1e-6)
ROUNDED = objective.linear([[0.5, 0.5]], [0.5], BOX)


def law(epsilon=1.0, n=9, domain=BOX, **more):
    return lambda: mean_first.mean_first(domain, epsilon, n, **more)


CASES = {
    "mean_first.MeanFirst": [
        ("rest is of type float: give", lambda: mean_first.MeanFirst(1.0, 1.0)),
        ("rest has no public count, .*: give", lambda: mean_first.MeanFirst(SECRET, 1.0)),
        ("scale_of_sum holds a number .* not above zero", lambda: mean_first.MeanFirst(REST, 0.0)),
        ("scale_of_sum holds nan: give", lambda: mean_first.MeanFirst(REST, math.nan)),
        (r"scale_of_sum has shape \(2,\), and rest \(\): match", lambda: mean_first.MeanFirst(REST, [1.0, 2.0])),
    ],
    "mean_first.MeanFirst.times": [
        ("factor holds a number that is not above zero", lambda: LAW.times(0.0)),
        ("factor holds nan", lambda: LAW.times(math.nan)),
    ],
    "mean_first.MeanFirst.discrete": [("on no lattice: build it with bits", lambda: NORMAL.discrete(ROUNDED))],
    "mean_first.MeanFirst.certify": [
        ("stacked with shape", lambda: STACK.certify(BOX)),
        ("another loss", lambda: LAW.certify(BOX, loss=objective.TAYLOR)),
        ("neighbours is 'other': choose", lambda: LAW.certify(BOX, "other")),
    ],
    "mean_first.MeanFirst.concentrated": [("another loss", lambda: NORMAL.concentrated(BOX, loss=objective.TAYLOR))],
    "mean_first.MeanFirst.spends": [("another loss", lambda: LAW.spends(BOX, loss=objective.TAYLOR))],
    "mean_first.mean_first": [
        ("delta is 1: give", lambda: mean_first.mean_first(BOX, 1.0, 9, delta=1.0)),
        ("epsilon is 0: give", law(0)),
        ("epsilon is nan", law(math.nan)),
        ("epsilon is .*, .* its noise: give", law(5e-324)),
        ("n is 0: give a whole number", law(n=0)),
        ("n is 2.5: give a whole number", law(n=2.5)),
        ("n is given, and under add_remove it is a secret: give", law(neighbours="add_remove")),
        ("neighbours is 'other': choose", law(neighbours="other")),
        ("domain is of type int: give", law(domain=2)),
        ("give corner=False", law(domain=CORNER)),
        ("weights has 2 entries: give 4", law(weights=[1.0, 1.0])),
        ("loss is of type str", law(loss="squared")),
    ],
    "mean_first.blind_spot": [
        ("law is of type float: give WishartDifference", lambda: mean_first.blind_spot(1.0, 0.1)),
        ("no public count: give", lambda: mean_first.blind_spot(SECRET, 0.1)),
        ("law is a stack", lambda: mean_first.blind_spot(wishart.difference(BOX, [1.0, 2.0]), 0.1)),
        ("chance is 0.5: give a number below 1/2", lambda: mean_first.blind_spot(REST, 0.5)),
        ("chance is 0: give", lambda: mean_first.blind_spot(REST, 0.0)),
    ],
}
EXEMPT = {
    "mean_first.MeanFirst.perturb": "inner step of release.perturb",
    "mean_first.MeanFirst.constant": "inner step of repair.lift",
    "laws.Law.spends": "inner step of release.price",
    "laws.Law.constant": "inner step of repair.lift",
}
