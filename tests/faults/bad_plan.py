"""Bad input for forecasts."""

import math

import numpy as np

from dpreg.estimators import plan
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Ball, Box

BOX = Box([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0), intercept=True)
CORNER = Box([-1.0], [1.0], (-1.0, 1.0), corner=True)
G = plan.stand_in(BOX)


def changed(*entries):
    """The moments with these entries, (row, column, number), on both sides of the diagonal."""
    other = G.copy()
    for i, j, number in entries:
        other[i, j] = other[j, i] = number
    return lambda: plan.expected_error(BOX, 100, 1.0, other)


def ahead(domain=BOX, n=100, epsilon=1.0, moments=None, **options):
    return lambda: plan.expected_error(domain, n, epsilon, moments, **options)


LOPSIDED = G + np.triu(np.full(G.shape, 0.1), 1)

CASES = {
    "plan.Forecast": [("without is 'much': give", lambda: plan.Forecast("much", 0.1, 0.1, 0.1, 0.1, 0.1))],
    "plan.stand_in": [
        ("domain is of type int: give", lambda: plan.stand_in(3)),
        *((f"explained is {a}", lambda a=a: plan.stand_in(BOX, a)) for a in (0, 1, -1, math.nan)),
        *((f"filled is {a}", lambda a=a: plan.stand_in(BOX, filled=a)) for a in (0, 1.5, -1, math.nan)),
        *((f"mean is {a}: give", lambda a=a: plan.stand_in(BOX, 0.5, a)) for a in (1, -1, math.nan)),
    ],
    "plan.expected_error": [
        ("domain is of type str: give", ahead("box")),
        ("n is 1: give a whole number of at least 2", ahead(n=1)),
        ("n is 2.5: give", ahead(n=2.5)),
        ("epsilon is 0: give", ahead(epsilon=0)),
        ("epsilon is nan", ahead(epsilon=math.nan)),
        ("repeats is 1: give a whole number of at least 2", ahead(repeats=1)),
        ("neighbours is 'near': choose", ahead(neighbours="near")),
        ("mechanism is 'magic': choose", ahead(mechanism="magic")),
        (
            "the law costs 2, and epsilon is 1: scale",
            ahead(mechanism=lambda d, e, **more: difference(d, 2 * e, **more)),
        ),
        ("give corner=False", ahead(CORNER)),
        ("moments have shape .3, 3.: give .4, 4.", ahead(moments=np.eye(3))),
        ("not finite, or not symmetric", changed((0, 0, math.nan))),
        ("not finite, or not symmetric", ahead(moments=LOPSIDED)),
        ("not those of one scaled record: divide", ahead(moments=100 * G)),
        ("not those of one scaled record: divide", changed((1, 1, 0.5))),
        ("not those of one scaled record: divide", changed((2, 2, 1.5))),
        ("singular or negative", changed((2, 3, 1 / 3))),
        ("singular or negative", changed((0, 2, 0.9))),
        ("the response does not vary", changed((0, 0, 0.0), (0, 2, 0.0), (0, 3, 0.0))),
    ],
    "plan.epsilon_for": [
        *((f"excess is {a}: give", lambda a=a: plan.epsilon_for(a, BOX, 100)) for a in (0, -1, math.nan, math.inf)),
        ("excess is 1e-40, and no epsilon", lambda: plan.epsilon_for(1e-40, BOX, 10, repeats=2)),
        ("n is 0: give", lambda: plan.epsilon_for(0.1, BOX, 0)),
    ],
    "plan.altered": [
        ("domain is of type int: give", lambda: plan.altered(3)),
        ("predictors is 0: give", lambda: plan.altered(BOX, predictors=0)),
        ("response is -1: give", lambda: plan.altered(BOX, response=-1)),
        ("intercept is 'no': give", lambda: plan.altered(Ball([0], 1, (0, 1)), intercept="no")),
    ],
    "plan.compare": [
        *((f"times is {a}: give", lambda a=a: plan.compare(BOX, 100, 1.0, times=a)) for a in (0, 0.5, 20_000)),
        ("mechanisms is of type list: give a dict", lambda: plan.compare(BOX, 100, 1.0, mechanisms=["laplace"])),
        (r"mechanisms\['a'\] is 1: choose", lambda: plan.compare(BOX, 100, 1.0, mechanisms={"a": 1})),
        ("moments have shape", lambda: plan.compare(BOX, 100, 1.0, np.eye(2))),
    ],
}
EXEMPT = {}
