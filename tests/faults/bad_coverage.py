"""Bad input for dpreg.sweeps.coverage."""

import numpy as np

from dpreg.mechanisms.wishart import difference
from dpreg.sweeps import coverage

LAW, DRAW = difference(coverage.cube(1), 1.0), coverage.made([0.0, 0.5], 20, 0.1)

CASES = {
    "coverage.cube": [("d is 0: give", lambda: coverage.cube(0))],
    "coverage.made": [
        ("theta has shape", lambda: coverage.made(1.0, 20, 0.1)),
        ("n is 0: give", lambda: coverage.made([0.0, 0.5], 0, 0.1)),
        ("noise is -1: give", lambda: coverage.made([0.0, 0.5], 20, -1.0)),
    ],
    "coverage.resampled": [
        ("records has shape .*: give", lambda: coverage.resampled(np.ones(3), 2)),
        ("n is 0: give", lambda: coverage.resampled(np.ones((3, 3)), 0)),
    ],
    "coverage.covered": [
        ("draw is of type int: give", lambda: coverage.covered(3, [0.0, 0.5], LAW)),
        ("draw returned .*: give 3", lambda: coverage.covered(lambda rng: np.ones(3), [0.0, 0.5], LAW)),
        ("law is for 2 columns, and theta has 3 entries: match", lambda: coverage.covered(DRAW, [0.0] * 3, LAW)),
        ("ways is 'none': choose", lambda: coverage.covered(DRAW, [0.0, 0.5], LAW, ("none",))),
        ("ways is empty: give", lambda: coverage.covered(DRAW, [0.0, 0.5], LAW, ())),
        ("repeats is 0: give", lambda: coverage.covered(DRAW, [0.0, 0.5], LAW, repeats=0)),
    ],
}
EXEMPT = {}
