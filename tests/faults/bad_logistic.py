"""Bad input for dpreg.pipeline.logistic."""

import math

import numpy as np

from dpreg.mechanisms.objective_perturbation import objective_perturbation, ridge, share_for, uniform
from dpreg.pipeline import logistic, objective, surrogates
from dpreg.pipeline.domain import Box

Z, Y = np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 0.0, 1.0])
BOX = Box([-1.0], [1.0], response=(0.0, 1.0))


def blocks():
    """One block of three records."""
    return iter([(Z, Y, np.ones(3))])


CASES = {
    "newton.newton": [
        ("p is 0: give", lambda: logistic.newton(blocks, 0)),
        ("ridge is -1: give", lambda: logistic.newton(blocks, 1, ridge=-1.0)),
        ("ridge is nan: give", lambda: logistic.newton(blocks, 1, ridge=math.nan)),
        ("start has 2 entries: give 1", lambda: logistic.newton(blocks, 1, start=[0.0, 0.0])),
        ("start holds inf: give", lambda: logistic.newton(blocks, 1, start=[math.inf])),
        ("tilt has 2 entries: give 1", lambda: logistic.newton(blocks, 1, tilt=[0.0, 0.0])),
        ("limit is 0: give", lambda: logistic.newton(blocks, 1, limit=0)),
        ("tolerance is 0: give", lambda: logistic.newton(blocks, 1, tolerance=0.0)),
        ("not converged after 1 evaluations.*add a ridge", lambda: logistic.newton(blocks, 1, limit=1)),
    ],
    "objective_perturbation.ridge": [
        ("curvature is 0: give", lambda: ridge(0.0, 1.0)),
        ("epsilon is 0: give", lambda: ridge(1.0, 0.0)),
    ],
    "objective_perturbation.share_for": [("p is 0: give", lambda: share_for(0))],
    "objective_perturbation.uniform": [("domain is of type int: give", lambda: uniform(3))],
    "objective.add_up": [
        ("X has 2 columns", lambda: objective.add_up(lambda *_: np.eye(2), np.ones((3, 2)), Y, BOX)),
    ],
    "objective_perturbation.objective_perturbation": [
        ("epsilon is 0: give", lambda: objective_perturbation(Z, Y, BOX, 0.0)),
        ("epsilon is inf: give", lambda: objective_perturbation(Z, Y, BOX, math.inf)),
        (
            "epsilon is 1e-300, .* its noise: give",
            lambda: objective_perturbation(Z, Y, BOX, 1e-300),
        ),
        ("share is 1: give", lambda: objective_perturbation(Z, Y, BOX, 1.0, share=1.0)),
        ("norm is 'L1': choose", lambda: objective_perturbation(Z, Y, BOX, 1.0, norm="L1")),
        ("share is nan: give", lambda: objective_perturbation(Z, Y, BOX, 1.0, share=math.nan)),
        ("y holds 2.0: give one of the two", lambda: objective_perturbation(Z, 2 * Y, BOX, 1.0)),
        ("domain is of type int: give", lambda: objective_perturbation(Z, Y, 3, 1.0)),
        (
            "neighbours is 'other': choose",
            lambda: objective_perturbation(Z, Y, BOX, 1.0, neighbours="other"),
        ),
        (
            "random_state is 'a': give",
            lambda: objective_perturbation(Z, Y, BOX, 1.0, random_state="a"),
        ),
        ("X has 2 columns", lambda: objective_perturbation(np.ones((3, 2)), Y, BOX, 1.0)),
    ],
    "logistic.fit": [
        ("y holds 0.5: give labels", lambda: logistic.fit(Z, [1, 0, 0.5])),
        ("y holds -1: give labels", lambda: logistic.fit(Z, [1, -1, 1])),
        ("y holds nan: give", lambda: logistic.fit(Z, [1, 0, math.nan])),
        (r"Z has shape \(3,\).*give", lambda: logistic.fit(Z[:, 0], Y)),
        (r"Z has shape \(3, 0\).*give", lambda: logistic.fit(Z[:, :0], Y)),
        (r"y \(2,\): give", lambda: logistic.fit(Z, Y[:2])),
        ("Z holds nan .*drop", lambda: logistic.fit([[math.nan], [1.0], [1.0]], Y)),
        ("Z has entries of type <U1: encode", lambda: logistic.fit([["a"], ["b"], ["c"]], Y)),
        ("2 weights and 3 rows: give", lambda: logistic.fit(Z, Y, [1.0, 1.0])),
        ("weights holds nan: give", lambda: logistic.fit(Z, Y, [1.0, 1.0, math.nan])),
        ("negative weights.*drop", lambda: logistic.fit(Z, Y, [-1.0, -1.0, -1.0])),
        ("separates the labels.*add a ridge", lambda: logistic.fit(Z, [1, 1, 0])),
        ("loss is flat: start closer", lambda: logistic.fit(Z, Y, start=[1e5])),
    ],
    "logistic.loss_at": [
        (r"theta has shape \(2,\): give 1", lambda: logistic.loss_at([1.0, 2.0], Z, Y)),
        (r"theta has shape \(\): give 1", lambda: logistic.loss_at(1.0, Z, Y)),
        ("y holds 2: give labels", lambda: logistic.loss_at([1.0], Z, [0, 1, 2])),
    ],
    "logistic.misclassified": [
        ("theta has shape", lambda: logistic.misclassified(np.ones((1, 3)), np.ones((4, 2)), np.ones(4))),
        (r"theta has shape \(2,\): give 1", lambda: logistic.misclassified([1.0, 2.0], Z, Y)),
        ("y holds 2: give labels", lambda: logistic.misclassified([1.0], Z, [0, 1, 2])),
    ],
    "surrogates.even": [("z has entries of type <U1: encode", lambda: surrogates.even("a"))],
    "surrogates.remainder": [("loss is of type int: give Loss", lambda: surrogates.remainder(0.0, 3))],
    "surrogates.derivative": [
        ("k is -1: give", lambda: surrogates.derivative(-1)),
        ("k is 1.5: give", lambda: surrogates.derivative(1.5)),
    ],
    "surrogates.chebyshev": [
        ("R is 0: give a bound", lambda: surrogates.chebyshev(0.0)),
        ("R is 1000: give a bound", lambda: surrogates.chebyshev(1000.0)),
        ("R is nan: give", lambda: surrogates.chebyshev(math.nan)),
    ],
    "surrogates.least_squares": [
        ("R is -1: give a bound", lambda: surrogates.least_squares(-1.0)),
        ("R is inf: give", lambda: surrogates.least_squares(math.inf)),
    ],
}
EXEMPT = {}
