"""Bad input for dpreg.pipeline.uncertainty."""

import math

import numpy as np

from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Box, Model
from dpreg.pipeline.laws import Scales, functional
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import release
from dpreg.pipeline.uncertainty import Uncertainty, strength, uncertainty

X, Y = np.linspace(-1, 1, 10)[:, None], np.linspace(1, -1, 10)
BOX, PLAIN = Box([-1], [1], (-1, 1), intercept=True), Box([-1], [1], (-1, 1))
OUT, BARE = (release(linear(X, Y, box), difference(box, 1.0), 1) for box in (BOX, PLAIN))
SILENT = release(linear(X, Y, BOX), functional(BOX, 1.0), 1)
SECRET = release(linear(X, Y, PLAIN), difference(PLAIN, 1.0, neighbours="add_remove"), 1, neighbours="add_remove")
FEW = release(linear(X[:2], Y[:2], BOX), difference(BOX, 1.0), 1)
MODEL, ERRORS = Model(1.0, np.ones(1)), np.eye(2)
SURE = Uncertainty(MODEL, ERRORS, 1.0, 9.0)

CASES = {
    "uncertainty.uncertainty": [
        ("release is of type int: give Release", lambda: uncertainty(3)),
        ("repeats is 99: give a whole number of at least 100", lambda: uncertainty(OUT, repeats=99)),
        ("withholds the sum of squared responses", lambda: uncertainty(SILENT)),
        ("n is 10, .*: leave n out", lambda: uncertainty(OUT, n=10)),
        ("not hold the number of records: give n", lambda: uncertainty(BARE)),
        ("n is 0: give", lambda: uncertainty(BARE, n=0)),
        ("n is 10, .* a secret: release", lambda: uncertainty(SECRET, n=10)),
        ("n is 2, and there are 2 coefficients: release", lambda: uncertainty(FEW)),
    ],
    "uncertainty.strength": [
        ("noisy has 2 columns, the law 1, .*: give", lambda: strength(OUT.objective, BARE.law)),
        ("no noise on M, .*: give", lambda: strength(OUT.objective, Scales(np.zeros((2, 2)), np.ones(2)))),
        ("noisy is of type int: give Quadratic", lambda: strength(3, OUT.law)),
    ],
    "uncertainty.Uncertainty": [
        ("model is of type int: give Model", lambda: Uncertainty(3, ERRORS, 1.0, 9.0)),
        ("errors has shape .*: give", lambda: Uncertainty(MODEL, np.eye(3), 1.0, 9.0)),
        ("errors has shape .*: give", lambda: Uncertainty(MODEL, np.ones(2), 1.0, 9.0)),
    ],
    "uncertainty.Uncertainty.intervals": [
        ("level is 1: give", lambda: SURE.intervals(1.0)),
        ("level is 90: give", lambda: SURE.intervals(90)),
        ("level is nan: give", lambda: SURE.intervals(math.nan)),
    ],
    "uncertainty.Uncertainty.predictions": [
        ("X has shape .*: give 1 columns", lambda: SURE.predictions([[1.0, 2.0]])),
        ("X holds nan", lambda: SURE.predictions([[math.nan]])),
        ("level is 0: give", lambda: SURE.predictions([[1.0]], 0.0)),
    ],
    "uncertainty.Uncertainty.to_frame": [("level is 2: give", lambda: SURE.to_frame(2.0))],
}
EXEMPT = {}
