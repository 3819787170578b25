"""Bad input for lib.papers.park_welling."""

import math

import pandas as pd

from dpreg.mechanisms import irls
from dpreg.pipeline.domain import Ball
from lib.papers import park_welling

BALL = irls.simulated(2, 2)[2]
PLAIN = {"no privacy": irls.exact(BALL)}
OTHER = irls.exact(Ball([0.0, 0.0], 2.0, (-2.0, 2.0)))
FRAME = pd.DataFrame({"method": ["no privacy"], "n": 10, "repeat": 0, "mse": 1.0, "lost": 0.0})


def replicate(plans=PLAIN, sizes=(20,), repeats=1, **more):
    return lambda: park_welling.replicate(plans, sizes, repeats, **more)


CASES = {
    "park_welling.replicate": [
        (r"plans is \{\}: give a dict", replicate({})),
        (r"plans is of type list: give a dict", replicate([irls.exact(BALL)])),
        ("an entry of plans is of type str: give Plan", replicate({"a": "exact"})),
        ("a plan is for another domain", replicate({"a": OTHER})),
        ("a plan is for another domain", replicate(PLAIN | {"a": irls.exact(irls.simulated(2, 3)[2])})),
        ("'always 0' is the name of the answer zero: give", replicate({"always 0": irls.exact(BALL)})),
        ("there are no sizes: give", replicate(sizes=[])),
        ("a size is 9: give", replicate(sizes=[9])),
        ("an entry of sizes is 20.5: give", replicate(sizes=[20.5])),
        ("repeats is 0: give", replicate(repeats=0)),
        ("noise_deviation is 0: give", replicate(noise_deviation=0.0)),
        ("maxima is 'no': give", replicate(maxima="no")),
        ("random_state is 'a': give", replicate(random_state="a")),
    ],
    "park_welling.log_likelihood": [
        ("mse has entries of type", lambda: park_welling.log_likelihood(["a"])),
        ("variance is 0: give", lambda: park_welling.log_likelihood([1.0], 0.0)),
    ],
    "park_welling.scored": [
        ("plain is 'a': choose", lambda: park_welling.scored(FRAME, "a")),
        ("variance is nan", lambda: park_welling.scored(FRAME, variance=math.nan)),
    ],
    "park_welling.needed": [
        ("level is 0: give", lambda: park_welling.needed(FRAME, 0.0, "no privacy")),
        ("beside is 'a': choose", lambda: park_welling.needed(FRAME, 1.0, "a")),
        ("random_state is -1: give", lambda: park_welling.needed(FRAME, 1.0, "no privacy", -1)),
    ],
    "park_welling.disturbance": [
        ("plan is of type str: give Plan", lambda: park_welling.disturbance("exact", 1.0)),
        ("square is inf", lambda: park_welling.disturbance(irls.exact(BALL), math.inf)),
    ],
    "park_welling.predicted": [
        ("plan is of type str: give Plan", lambda: park_welling.predicted("exact", 1.0)),
        ("level is -1: give", lambda: park_welling.predicted(irls.exact(BALL), -1.0)),
        ("deviation is 0: give", lambda: park_welling.predicted(irls.exact(BALL), 1.0, 0.0)),
        ("variance is 0: give", lambda: park_welling.predicted(irls.exact(BALL), 1.0, variance=0.0)),
    ],
    "park_welling.row_method": [
        ("plan is of type int: give Plan", lambda: park_welling.row_method("x", 3)),
        ("plan is of type float: give Plan", lambda: park_welling.row_method("a", 0.9)),
    ],
}
EXEMPT = {"park_welling.absolute": "a measure that measures.measured calls"}
