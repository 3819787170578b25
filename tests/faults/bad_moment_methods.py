"""Bad input for dpreg.sweeps.moment_methods."""

import numpy as np

from dpreg.pipeline.domain import Box
from dpreg.sweeps import moment_methods

BOX = Box([0.0], [1.0], (0.0, 1.0), intercept=True)
PLAIN = Box([0.0], [1.0], (0.0, 1.0))
ONE = np.ones(1)

CASES = {
    "moment_methods.adassp": [
        ("domain is of type int: give", lambda: moment_methods.adassp("a", 2, 1e-6)),
        ("delta is 0: give", lambda: moment_methods.adassp("a", BOX, 0.0)),
    ],
    "moment_methods.gradient_descent": [
        ("no intercept: give Box", lambda: moment_methods.gradient_descent("g", PLAIN, 1e-6, 5)),
        ("steps is 0: give", lambda: moment_methods.gradient_descent("g", BOX, 1e-6, 0)),
        ("delta is 1: give", lambda: moment_methods.gradient_descent("g", BOX, 1.0, 5)),
    ],
    "moment_methods.centred": [
        ("has no intercept: give Box", lambda: moment_methods.centred(Box([0.0], [1.0], (0.0, 1.0)))),
    ],
}
EXEMPT = {
    "moment_methods.ridge_for": "inner step of adassp",
    "moment_methods.inside": "inner step of gradient_descent",
}
