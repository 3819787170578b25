"""Bad input for dpreg.mechanisms.gaussian."""

import math

from dpreg.mechanisms import gaussian
from dpreg.pipeline import objective
from dpreg.pipeline.domain import Box

BOX = Box([-1, -1], [1, 1], (-1, 1))
CORNER = Box([-1, -1], [1, 1], (-1, 1), corner=True)
ONES = [1.0, 1.0, 1.0]
LAW = gaussian.for_rho(BOX, 0.5)
F = objective.logistic([[0.0, 0.0], [1.0, 1.0]], [-1, 1], BOX)

CASES = {
    "gaussian.mu_for": [
        ("epsilon is 0: give", lambda: gaussian.mu_for([0.0], 1e-6)),
        ("delta is 0: give", lambda: gaussian.mu_for([1.0], 0.0)),
    ],
    "gaussian.Gaussian": [
        ("weights has shape", lambda: gaussian.Gaussian([[1.0]], 1.0)),
        ("weights holds a number .* not above zero", lambda: gaussian.Gaussian([1.0, 0.0], 1.0)),
        ("weights holds nan", lambda: gaussian.Gaussian([1.0, math.nan], 1.0)),
        ("weights has shape .*: give one for", lambda: gaussian.Gaussian([1.0], 1.0)),
        ("weights has shape .*: give one for", lambda: gaussian.Gaussian([1.0, 1.0], 1.0, True)),
        ("spread holds a number", lambda: gaussian.Gaussian([1.0, 1.0], 0.0)),
        ("spread holds a number", lambda: gaussian.Gaussian([1.0, 1.0], [1.0, math.inf])),
        ("public_count is 'no': give", lambda: gaussian.Gaussian([1.0, 1.0], 1.0, "no")),
        ("loss is of type str: give Loss", lambda: gaussian.Gaussian([1.0, 1.0], 1.0, False, "squared")),
        ("delta is 1: give", lambda: gaussian.Gaussian(ONES, 1.0, delta=1.0)),
    ],
    "gaussian.Gaussian.spends": [("another loss", lambda: LAW.spends(BOX, loss=objective.TAYLOR))],
    "gaussian.Gaussian.certify": [
        ("stacked with shape", lambda: gaussian.for_rho(BOX, [1.0, 2.0]).certify(BOX)),
        ("weights has 3 entries: give 2", lambda: LAW.certify(Box([0], [1], (0, 1)))),
    ],
    "gaussian.Gaussian.concentrated": [
        ("stacked with shape", lambda: gaussian.for_rho(BOX, [1.0, 2.0]).concentrated(BOX)),
        ("another loss", lambda: LAW.concentrated(BOX, loss=objective.TAYLOR)),
        ("neighbours is 'other': choose", lambda: LAW.concentrated(BOX, "other")),
        ("two predictors: give", lambda: gaussian.Gaussian([1.0, 1.0, 2.0], 1.0).concentrated(BOX)),
    ],
    "gaussian.Gaussian.discrete": [("build it with bits", lambda: LAW.discrete(F))],
    "gaussian.for_delta": [
        ("epsilon is 0: give", lambda: gaussian.for_delta(BOX, 0, 1e-6)),
        ("delta is 0: give", lambda: gaussian.for_delta(BOX, 1.0, 0.0)),
        ("domain is of type int: give", lambda: gaussian.for_delta(2, 1.0, 1e-6)),
        ("neighbours is 'other': choose", lambda: gaussian.for_delta(BOX, 1.0, 1e-6, neighbours="other")),
        ("give corner=False", lambda: gaussian.for_delta(CORNER, 1.0, 1e-6)),
        ("loss is of type str", lambda: gaussian.for_delta(BOX, 1.0, 1e-6, loss="squared")),
    ],
    "gaussian.for_rho": [
        ("rho is 0: give", lambda: gaussian.for_rho(BOX, 0)),
        ("rho is nan", lambda: gaussian.for_rho(BOX, math.nan)),
        ("rho is 1e-300, .* its noise: give", lambda: gaussian.for_rho(BOX, [1.0, 1e-300])),
        ("domain is of type int: give", lambda: gaussian.for_rho(2, 1.0)),
        ("neighbours is 'other': choose", lambda: gaussian.for_rho(BOX, 1.0, neighbours="other")),
        ("weights has 2 entries: give 3", lambda: gaussian.for_rho(BOX, 1.0, weights=[1.0, 1.0])),
        ("not above zero", lambda: gaussian.for_rho(BOX, 1.0, weights=[0.0, 1.0, 1.0])),
        ("give corner=False", lambda: gaussian.for_rho(CORNER, 1.0)),
        ("loss is of type str", lambda: gaussian.for_rho(BOX, 1.0, loss="squared")),
    ],
}
EXEMPT = {}
