"""Bad input for lib.design."""

import math

from lib import design
from lib.allocation import unit_scales
from lib.domain import Box

BOX = Box([-1, -1], [1, 1], (-1, 1))

CASES = {
    "design.at_random_theta": [
        ("spread is 0: give", lambda: design.at_random_theta(0)),
        ("spread is inf: give", lambda: design.at_random_theta(math.inf)),
    ],
    "design.criterion": [
        ("scales is of type int: give Scales", lambda: design.criterion(1)),
        ("scales are ordered.*give", lambda: design.criterion(unit_scales("ordered", 2))),
        (r"weights are \(1.0, 1.0\): give three", lambda: design.criterion(unit_scales("copied", 2), (1, 1))),
        (r"weights are \(1.0, 0.0, 1.0\): give three", lambda: design.criterion(unit_scales("copied", 2), (1, 0, 1))),
        ("weights holds nan: give", lambda: design.criterion(unit_scales("copied", 2), (1, math.nan, 1))),
    ],
    "design.optimal": [
        ("epsilon is 0: give", lambda: design.optimal(BOX, 0.0)),
        ("domain is of type str: give Box or Ball", lambda: design.optimal("box", 1.0)),
        ("weights are .*: give three", lambda: design.optimal(BOX, 1.0, weights=(1, 2, -3))),
        ("neighbours is 'swap': choose", lambda: design.optimal(BOX, 1.0, neighbours="swap")),
        ("loss is of type str: give Loss", lambda: design.optimal(BOX, 1.0, loss="squared")),
    ],
    "design.least": [
        ("epsilon is nan: give", lambda: design.least(BOX, math.nan)),
        ("epsilon is 1e-300, .* its noise: give", lambda: design.least(BOX, 1e-300)),
        ("domain is of type int: give Box or Ball", lambda: design.least(3, 1.0)),
        ("weights are .*: give three", lambda: design.least(BOX, 1.0, weights=(1, 2))),
        ("neighbours is 'swap': choose", lambda: design.least(BOX, 1.0, neighbours="swap")),
        ("loss is of type int: give Loss", lambda: design.least(BOX, 1.0, loss=1)),
    ],
}
EXEMPT = {}
