"""Bad input for dpreg.estimators.words."""

from dpreg.estimators import words
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import SQUARED

BOX = Box([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0), intercept=True)


def law(mechanism, epsilon=1.0, n=9, neighbours="replace", loss=SQUARED):
    return lambda: words.law_for(mechanism, BOX, epsilon, n, neighbours=neighbours, loss=loss)


CASES = {
    "words.law_for": [
        ("mechanism is 'magic': choose", law("magic")),
        ("epsilon is 0: give", law("laplace", epsilon=0)),
        ("n is 2.5: give", law("mean first", n=2.5)),
        ("neighbours is 'near': choose", law("wishart", neighbours="near")),
        ("loss is of type str", law("wishart", loss="squared")),
    ],
}
EXEMPT = {}
