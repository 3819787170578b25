"""Bad input for dpreg.sweeps.row_methods, dpreg.sweeps.scores and grid.whole."""

import numpy as np

from dpreg.mechanisms import grid
from dpreg.pipeline.domain import Ball, Box
from dpreg.sweeps import experiment, row_methods, scores

BOX, BALL = Box([0.0], [1.0], response=(0.0, 1.0)), Ball([0.0], 1.0, (0.0, 1.0))
X, Y = np.linspace(0, 1, 20)[:, None], np.arange(20.0) % 2
Z = np.ones((2, 1))


def run(method, domain=BOX, epsilon=1.0):
    return lambda: experiment.sweep(X, Y, domain, [method], [epsilon], experiment.Holdout(1))


CASES = {
    "grid.whole": [("domain is of type Ball: give Box", lambda: grid.whole(BALL))],
    "row_methods.logistic_regression": [("repeats is 0: give", lambda: row_methods.logistic_regression(repeats=0))],
    "row_methods.logistic_descent": [
        ("steps is 0: give", lambda: row_methods.logistic_descent("g", BOX, 1e-6, 0)),
        ("delta is 0: give", lambda: row_methods.logistic_descent("g", BOX, 0.0, 5)),
    ],
    "row_methods.objective_perturbation": [
        ("neighbours is 'both'", lambda: row_methods.objective_perturbation(neighbours="both")),
        ("norm is 'L1': choose", lambda: row_methods.objective_perturbation(norm="L1")),
        ("epsilon is 1e-300, .* its noise: give", run(row_methods.objective_perturbation(), epsilon=1e-300)),
    ],
    "row_methods.dpme": [
        ("mode is 'none': choose", lambda: row_methods.dpme(mode="none")),
        ("mode is 'signed'.*choose 'clip'", lambda: row_methods.dpme(mode="signed", labels=True)),
        ("neighbours is 'both'", lambda: row_methods.dpme(neighbours="both")),
        ("domain is of type Ball: give Box", run(row_methods.dpme(), BALL)),
        ("values has 2 entries: give 1", run(row_methods.dpme(values=[2, 2]))),
        ("c_h is 0: give", run(row_methods.dpme(c_h=0.0))),
        *(
            ("epsilon is 1e-300, .* its noise: give", run(row_methods.dpme(**options), epsilon=1e-300))
            for options in ({}, {"mode": "signed"}, {"mode": "threshold"}, {"labels": True})
        ),
    ],
    "row_methods.filter_priority": [
        ("size is 0: give", lambda: row_methods.filter_priority(size=0)),
        ("epsilon is 1e-300, .* its noise: give", run(row_methods.filter_priority(), epsilon=1e-300)),
        ("epsilon is 1e-20, and its noise has no decay", run(row_methods.filter_priority(), epsilon=1e-20)),
        ("neighbours is 'both'", lambda: row_methods.filter_priority(neighbours="both")),
        ("domain is of type Ball: give Box", run(row_methods.filter_priority(), BALL)),
    ],
    "scores.of_labels": [
        ("metric is 'mse': choose", lambda: scores.of_labels([1.0], Z, [0, 1], ["mse"])),
        ("y holds 2: give labels 0 and 1", lambda: scores.of_labels([1.0], Z, [0, 2])),
    ],
    "scores.auc": [
        ("all labels are the same: give", lambda: scores.auc([1.0], Z, [1, 1])),
        (r"theta has shape \(2,\): give 1", lambda: scores.auc([1.0, 1.0], Z, [0, 1])),
        ("y holds 2: give labels 0 and 1", lambda: scores.auc([1.0], Z, [0, 2])),
    ],
}

EXEMPT: dict[str, str] = {}
