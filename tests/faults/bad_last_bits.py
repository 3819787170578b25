"""Bad input for dpreg.attacks.last_bits."""

import math

import numpy as np

from dpreg.attacks import last_bits
from dpreg.pipeline import laws, objective

BOWL = objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0))
UNIT = laws.unit_scales("copied", 2)

CASES = {
    "last_bits.reachable": [
        ("do not match: give", lambda: last_bits.reachable([1.0, 2.0], [1.0, 2.0, 3.0], 1.0)),
        ("released has entries of type", lambda: last_bits.reachable("a", 1.0, 1.0)),
        *(
            ("not finite, or a scale not above zero: give", lambda three=three: last_bits.reachable(*three))
            for three in ((math.nan, 1.0, 1.0), (1.0, math.inf, 1.0), (1.0, 1.0, 0.0), (1.0, 1.0, -1.0))
        ),
    ],
    "last_bits.possible": [
        ("noisy is of type ndarray: give Quadratic", lambda: last_bits.possible(np.eye(2), BOWL, UNIT)),
        ("candidate is of type int", lambda: last_bits.possible(BOWL, 1, UNIT)),
        ("scales is of type float: give Scales", lambda: last_bits.possible(BOWL, BOWL, 1.0)),
        ("do not match: give one candidate", lambda: last_bits.possible(BOWL, BOWL, laws.unit_scales("copied", 3))),
        ("do not match: give one candidate", lambda: last_bits.possible(BOWL, BOWL[None], UNIT)),
        ("do not match: give one candidate", lambda: last_bits.possible(BOWL, BOWL, UNIT.times([1.0, 2.0]))),
    ],
}
EXEMPT = {}
