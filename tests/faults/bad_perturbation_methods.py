"""Bad input for dpreg.sweeps.perturbation_methods."""

from dpreg.pipeline.domain import Box
from dpreg.sweeps import perturbation_methods as pm

BOX = Box([0.0], [1.0], (0.0, 1.0), intercept=True)
PLAIN = Box([0.0], [1.0], (0.0, 1.0))
PLANE = Box([0.0] * 2, [1.0] * 2, (0.0, 1.0), intercept=True)

CASES = {
    "perturbation_methods.gaussian_tilt": [
        ("delta is 0.5: give at most", lambda: pm.gaussian_tilt(1.0, 1.0, 1.0, 0.5)),
        ("epsilon is 0: give", lambda: pm.gaussian_tilt(1.0, 1.0, 0.0, 1e-6)),
        ("slope is 0: give", lambda: pm.gaussian_tilt(1.0, 0.0, 1.0, 1e-6)),
        ("reach is -1: give", lambda: pm.gaussian_tilt(-1.0, 1.0, 1.0, 1e-6)),
    ],
    "perturbation_methods.share_with": [("delta is 0: give", lambda: pm.share_with(0.0))],
    "perturbation_methods.squares": [
        ("no intercept: give Box", lambda: pm.squares("s", PLAIN)),
        ("delta is 1: give", lambda: pm.squares("s", BOX, 1.0)),
    ],
    "perturbation_methods.k_norm_gradient": [
        ("no intercept: give Box", lambda: pm.k_norm_gradient("k", PLAIN)),
        ("2 predictors: give one", lambda: pm.k_norm_gradient("k", PLANE)),
    ],
    "perturbation_methods.labels": [
        ("delta is 0: give", lambda: pm.labels("l", BOX, 0.0)),
        ("domain is of type int: give", lambda: pm.labels("l", 2, 1e-6)),
    ],
}
EXEMPT = {
    "perturbation_methods.proposals": "inner step of k_norm_gradient",
    "perturbation_methods.bounded_minimiser": "inner step of squares",
}
