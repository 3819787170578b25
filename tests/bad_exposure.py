"""Bad input for lib.exposure."""

import numpy as np

from lib import exposure
from lib.domain import Box
from lib.experiment import Holdout, no_privacy
from lib.fits import measured
from lib.inversion import Attribute

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
    "exposure.attacked": [
        ("sensitive is of type int: give Attribute", lambda: exposure.attacked(3)),
        ("loss is of type str: give Loss", lambda: exposure.attacked(BIT, loss="linear")),
        ("share is 0: give", lambda: exposure.attacked(BIT, share=0)),
        ("share is 1.5: give", lambda: exposure.attacked(BIT, share=1.5)),
        ("3 training and 1 test records are too few: use more", few(exposure.attacked(BIT))),
    ],
    "exposure.unaided": [
        ("sensitive is of type int: give Attribute", lambda: exposure.unaided(3, Fake())),
        ("classifier is of type str: give a scikit-learn classifier", lambda: exposure.unaided(BIT, "tree")),
        ("share is nan", lambda: exposure.unaided(BIT, Fake(), share=np.nan)),
        ("3 training and 1 test records are too few: use more", few(exposure.unaided(BIT, Fake()))),
    ],
}
EXEMPT: dict[str, str] = {}
