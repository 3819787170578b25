"""Data, methods and settings of the papers that several tests use."""

from dpreg.attacks.inversion import Attribute
from dpreg.mechanisms import irls
from dpreg.noise import seed_sequence, spawn
from dpreg.pipeline.objective import SQUARED, TAYLOR
from dpreg.sweeps import splits
from lib.data.census import above, census
from lib.papers import zhang


def box_and(data, name, loss=SQUARED):
    for box, methods in zhang.published(data, loss):
        for method in methods:
            if method.name == name:
                return box, method
    raise AssertionError(name)


FIVE = above(census("US", 2000, attributes=5, random_state=3), 50_000)
FIVE_BOX = FIVE.box(intercept=True)
DATA = census("US", 4000)
LABELS = above(DATA, 50_000)
BOX, YES_NO = DATA.box(), LABELS.box()
MARITAL = Attribute((2, 3), [[1, -1], [-1, 1], [-1, -1]])
LOSSES = {"linear": SQUARED, "logistic": TAYLOR}


def partition(data, protocol, seed, repeat=0):
    table = data.box().table(data.X, data.y)
    return splits.draw(data.X, data.y, table, data.box(), protocol, spawn(seed_sequence(seed), repeat, 0))


D, CAP, J, EPSILON, DELTA = 10, 10.0, 5, 0.9, 1e-5
SIGMA, HALF = 0.1, 2.0  # deviation of the responses, and what one scaled unit of them is worth
BALL = irls.simulated(2)[2]
