"""Bad input for the samplers of dpreg.noise beyond Laplace."""

import math

from dpreg import noise

CASES = {
    "noise.symmetric": [
        ("negative or not finite: give", lambda: noise.symmetric(-1.0, (2, 2))),
        (r"shape is \(2, 3\): give", lambda: noise.symmetric(1.0, (2, 3))),
        (r"shape is \(2,\): give", lambda: noise.symmetric(1.0, (2,))),
        ("random_state is 'a': give", lambda: noise.symmetric(1.0, (2, 2), "a")),
    ],
    "noise.gaussian": [
        ("negative or not finite: give", lambda: noise.gaussian(-1.0, (2,))),
        ("negative or not finite: give", lambda: noise.gaussian(math.nan, (2,))),
        (r"shape \(3,\).*ask", lambda: noise.gaussian([1.0, 1.0, 1.0], (2,))),
        ("random_state is 'a': give", lambda: noise.gaussian(1.0, (2,), "a")),
    ],
    "noise.geometric": [
        ("alpha is 0: give", lambda: noise.geometric(0.0, (2,))),
        ("alpha is 1: give", lambda: noise.geometric(1.0, (2,))),
        ("alpha is nan", lambda: noise.geometric(math.nan, (2,))),
        ("random_state is -1: give", lambda: noise.geometric(0.5, (2,), -1)),
    ],
    "noise.wishart": [
        ("degrees is 1e\\+301: give at most", lambda: noise.wishart(1, 1e301)),
        ("p is 0: give", lambda: noise.wishart(0, 4)),
        ("degrees is 2: give more than p - 1 = 2", lambda: noise.wishart(3, 2)),
        ("degrees is inf", lambda: noise.wishart(3, math.inf)),
        ("random_state is 1.5: give", lambda: noise.wishart(2, 3, (), 1.5)),
    ],
}
EXEMPT = {}
