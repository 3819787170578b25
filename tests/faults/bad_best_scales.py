"""Bad input for dpreg.mechanisms.best_scales."""

import math

from dpreg.mechanisms import best_scales
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import unit_scales

BOX = Box([-1, -1], [1, 1], (-1, 1))

CASES = {
    "best_scales.at_random_theta": [
        ("spread is 0: give", lambda: best_scales.at_random_theta(0)),
        ("spread is inf: give", lambda: best_scales.at_random_theta(math.inf)),
    ],
    "best_scales.criterion": [
        ("scales is of type int: give Scales", lambda: best_scales.criterion(1)),
        ("scales are ordered.*give", lambda: best_scales.criterion(unit_scales("ordered", 2))),
        (r"weights are \(1.0, 1.0\): give three", lambda: best_scales.criterion(unit_scales("copied", 2), (1, 1))),
        (
            r"weights are \(1.0, 0.0, 1.0\): give three",
            lambda: best_scales.criterion(unit_scales("copied", 2), (1, 0, 1)),
        ),
        ("an entry of weights is nan: give", lambda: best_scales.criterion(unit_scales("copied", 2), (1, math.nan, 1))),
    ],
    "best_scales.optimal": [
        ("epsilon is 0: give", lambda: best_scales.optimal(BOX, 0.0)),
        ("domain is of type str: give Domain", lambda: best_scales.optimal("box", 1.0)),
        ("weights are .*: give three", lambda: best_scales.optimal(BOX, 1.0, weights=(1, 2, -3))),
        ("neighbours is 'swap': choose", lambda: best_scales.optimal(BOX, 1.0, neighbours="swap")),
        ("loss is of type str: give Loss", lambda: best_scales.optimal(BOX, 1.0, loss="squared")),
    ],
    "best_scales.least": [
        ("epsilon is nan: give", lambda: best_scales.least(BOX, math.nan)),
        ("epsilon is 1e-300, .* its noise: give", lambda: best_scales.least(BOX, 1e-300)),
        ("domain is of type int: give Domain", lambda: best_scales.least(3, 1.0)),
        ("weights are .*: give three", lambda: best_scales.least(BOX, 1.0, weights=(1, 2))),
        ("neighbours is 'swap': choose", lambda: best_scales.least(BOX, 1.0, neighbours="swap")),
        ("loss is of type int: give Loss", lambda: best_scales.least(BOX, 1.0, loss=1)),
    ],
}
EXEMPT = {}
