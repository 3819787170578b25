"""Bad input for lib.papers.attacked_fits."""

import numpy as np

from dpreg.attacks.inversion import Attribute
from dpreg.pipeline.domain import Box
from dpreg.sweeps.experiment import Holdout, no_privacy
from dpreg.sweeps.measures import measured
from lib.papers import attacked_fits

BIT = Attribute((1,), [[-1.0], [1.0]])
BOX = Box([-1, -1], [1, 1], (-1, 1))
X, Y = np.array([[0.1, -1.0], [0.2, 1.0], [0.3, 1.0], [-0.4, -1.0]]), np.array([0.1, 0.2, -0.3, 0.5])


class Fake:
    """Stands in for a classifier that is never reached."""

    def fit(self, X, y):
        raise AssertionError


def few(measure):
    return lambda: measured(X, Y, BOX, [no_privacy("plain")], [1.0], Holdout(1, 0.25), measure)


CASES = {
    "attacked_fits.attacked": [
        ("sensitive is of type int: give Attribute", lambda: attacked_fits.attacked(3)),
        ("loss is of type str: give Loss", lambda: attacked_fits.attacked(BIT, loss="linear")),
        ("share is 0: give", lambda: attacked_fits.attacked(BIT, share=0)),
        ("share is 1.5: give", lambda: attacked_fits.attacked(BIT, share=1.5)),
        ("3 training and 1 test records are too few: use more", few(attacked_fits.attacked(BIT))),
    ],
    "attacked_fits.unaided": [
        ("sensitive is of type int: give Attribute", lambda: attacked_fits.unaided(3, Fake())),
        ("classifier is of type str: give a scikit-learn classifier", lambda: attacked_fits.unaided(BIT, "tree")),
        ("share is nan", lambda: attacked_fits.unaided(BIT, Fake(), share=np.nan)),
        ("3 training and 1 test records are too few: use more", few(attacked_fits.unaided(BIT, Fake()))),
    ],
}
EXEMPT: dict[str, str] = {}
