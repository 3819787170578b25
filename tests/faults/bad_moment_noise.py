"""Bad input for dpreg.mechanisms.moment_noise."""

import math

import numpy as np

from dpreg.mechanisms import gaussian, moment_noise, wishart
from dpreg.pipeline import objective, release
from dpreg.pipeline.domain import Box

BOX = Box([-1.0], [1.0], (-1, 1))
LAWS = (wishart.difference(BOX, 1.0), gaussian.for_rho(BOX, 1.0))
LABELS = objective.logistic([[0.5], [-0.5]], [1.0, -1.0], BOX)
THREE = objective.Quadratic(np.eye(3), np.ones(3), np.array(0.0))

CASES = {
    "moment_noise.MomentNoise.perturb": [
        case
        for law in LAWS
        for case in (
            ("another loss", lambda law=law: release.perturb(LABELS, law)),
            ("1 columns and the objective 3: match", lambda law=law: release.perturb(THREE, law)),
        )
    ],
    "moment_noise.MomentNoise.times": [
        case
        for law in LAWS
        for case in (
            ("factor holds a number", lambda law=law: law.times(0.0)),
            ("factor holds nan", lambda law=law: law.times([1.0, math.nan])),
        )
    ],
    "moment_noise.in_range": [
        ("above zero, or is extreme: give", lambda: moment_noise.in_range(np.array([1.0, 1e-60]))),
        ("above zero, or is extreme: give", lambda: moment_noise.in_range(np.array([1e60]))),
    ],
}

EXEMPT = {"moment_noise.MomentNoise": "abstract; its laws stand in the table"}
