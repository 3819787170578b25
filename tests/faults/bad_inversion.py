"""Bad input for dpreg.attacks.inversion."""

import math

import numpy as np

from dpreg.attacks import inversion
from dpreg.attacks.inversion import Attribute
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, functional
from dpreg.pipeline.objective import Quadratic, linear

BIT = Attribute((1,), [[0.0], [1.0]])
X, Y = [[0.5, 0.0], [0.2, 1.0]], [1.0, 0.0]
BOX = Box([-1, -1], [1, 1], (-1, 1))
F = linear(X, Y, BOX)
SCALES = functional(BOX, 1.0)
PAIR = Quadratic(np.stack([F.M, F.M]), np.stack([F.v, -F.v]), np.zeros(2))


class Fake:
    """Stands in for a classifier that is never reached."""

    def fit(self, X, y):
        raise AssertionError


def total(rows):
    return rows.sum(axis=1)


def error(y, f):
    return -((y - f) ** 2)


def without_model(public_X=X, sensitive=BIT, classifier=None):
    return inversion.guess_without_model(public_X, Y, X, Y, sensitive, classifier or Fake())


CASES = {
    "attribute.Attribute": [
        (r"values has shape \(1, 1\): give at least two", lambda: Attribute((0,), [[1.0]])),
        (r"values has shape \(2, 1\): give", lambda: Attribute((0, 1), [[0.0], [1.0]])),
        (r"values has shape \(2,\): give", lambda: Attribute((0,), [0.0, 1.0])),
        (r"values has shape \(2, 0\): give", lambda: Attribute((), np.ones((2, 0)))),
        ("an entry of columns is -1: give", lambda: Attribute((-1,), [[0.0], [1.0]])),
        ("an entry of columns is 0.5: give", lambda: Attribute((0.5,), [[0.0], [1.0]])),
        (r"columns are \(0, 0\): give each", lambda: Attribute((0, 0), [[0, 1], [1, 0]])),
        ("values has equal rows: give", lambda: Attribute((0,), [[1.0], [1.0]])),
        ("values holds nan", lambda: Attribute((0,), [[math.nan], [1.0]])),
        ("values has entries of type", lambda: Attribute((0,), [["a"], ["b"]])),
        (r"prior is \[1.0\]: give 2 shares", lambda: Attribute((0,), [[0], [1]], prior=[1.0])),
        (r"prior is \[-1.0, 2.0\]: give 2", lambda: Attribute((0,), [[0], [1]], prior=[-1, 2])),
        (r"prior is \[0.0, 0.0\]: give", lambda: Attribute((0,), [[0], [1]], prior=[0, 0])),
        ("prior holds nan", lambda: Attribute((0,), [[0], [1]], prior=[math.nan, 1])),
    ],
    "attribute.Attribute.codes": [
        (r"value \[0.5\]: add it to the values", lambda: BIT.codes([[1.0, 0.5]])),
        ("X has 1 columns and the attribute uses column 1", lambda: BIT.codes([[1.0]])),
        (r"X has shape \(2,\): give", lambda: BIT.codes([1.0, 0.0])),
        (r"X has shape \(0, 2\): give", lambda: BIT.codes(np.ones((0, 2)))),
        ("X holds inf", lambda: BIT.codes([[math.inf, 0.0]])),
    ],
    "attribute.Attribute.with_marginal": [(r"value \[2.0\]: add", lambda: BIT.with_marginal([[1.0, 2.0]]))],
    "inversion.gaussian_error": [
        ("n is 3, for 3 coefficients: give more", lambda: inversion.gaussian_error(1.0, 3, 3)),
        ("n is 0: give", lambda: inversion.gaussian_error(1.0, 0, 1)),
        ("p is 1.5: give", lambda: inversion.gaussian_error(1.0, 9, 1.5)),
        ("rss is not finite and above zero", lambda: inversion.gaussian_error(0.0, 9, 1)),
        ("rss is not finite and above zero", lambda: inversion.gaussian_error([1.0, math.nan], 9, 1)),
        ("rss has entries of type", lambda: inversion.gaussian_error("a", 9, 1)),
    ],
    "inversion.confusion_error": [
        ("y holds 2: give labels", lambda: inversion.confusion_error([0, 2], [0, 1])),
        ("predicted holds 0.3: give labels", lambda: inversion.confusion_error([0, 1], [0.3, 1])),
        ("predicted holds nan: give labels", lambda: inversion.confusion_error([0, 1], [math.nan, 1])),
        (r"predicted has shape \(1,\) and y 2 entries: give", lambda: inversion.confusion_error([0, 1], [1])),
        (r"predicted has shape \(\)", lambda: inversion.confusion_error([0, 1], 1)),
        ("smoothing is 0: give", lambda: inversion.confusion_error([0, 1], [0, 1], 0)),
    ],
    "inversion.scores": [
        ("sensitive is of type int: give Attribute", lambda: inversion.scores(total, X, Y, 1, error)),
        ("an entry of unknown is of type int", lambda: inversion.scores(total, X, Y, BIT, error, [1])),
        (r"use the columns \[1, 1\]: give", lambda: inversion.scores(total, X, Y, BIT, error, [BIT])),
        ("X has 2 targets and y has 1: give", lambda: inversion.scores(total, X, [1.0], BIT, error)),
        ("y holds nan", lambda: inversion.scores(total, X, [1.0, math.nan], BIT, error)),
        (
            r"predict gave shape \(2,\), or not finite: give",
            lambda: inversion.scores(lambda rows: total(rows)[:2], X, Y, BIT, error),
        ),
        (
            r"predict gave shape \(4,\), or not finite: give",
            lambda: inversion.scores(lambda r: total(r) + math.inf, X, Y, BIT, error),
        ),
    ],
    "inversion.map_attack": [
        ("X has 2 targets and y has 3", lambda: inversion.map_attack(total, X, [1] * 3, BIT, error)),
    ],
    "inversion.accuracy": [
        (r"value \[0.5\]: add it", lambda: inversion.accuracy(total, [[1.0, 0.5]], [1.0], BIT, error)),
    ],
    "inversion.guess_without_model": [
        ("classifier is of type str: give", lambda: without_model(classifier="tree")),
        ("3 columns and targets 2: match", lambda: without_model(public_X=np.ones((2, 3)))),
        ("sensitive is of type int", lambda: without_model(sensitive=1)),
    ],
    "inversion.accuracy_table": [
        ("'a' has 1 accuracies inside and 1 outside: give", lambda: inversion.accuracy_table({"a": ([1.0], [1.0])})),
        ("2 accuracies inside and 3 outside", lambda: inversion.accuracy_table({"a": ([1, 1], [1, 1, 1])})),
        ("accuracy of a holds nan", lambda: inversion.accuracy_table({"a": ([1, math.nan], [1, 1])})),
    ],
    "inversion.accuracy_bound": [
        ("epsilon is 0: give", lambda: inversion.accuracy_bound([0.5, 0.5], 0)),
        ("prior is .*: give 2 shares", lambda: inversion.accuracy_bound([[0.5, -0.5]], 1.0)),
        ("prior has shape", lambda: inversion.accuracy_bound(0.5, 1.0)),
    ],
    "inversion.membership_bound": [("epsilon is -1: give", lambda: inversion.membership_bound(-1))],
    "inversion.attribute_epsilon": [
        ("scales is of type int: give Scales", lambda: inversion.attribute_epsilon(1, BIT)),
        ("sensitive is of type int: give Attribute", lambda: inversion.attribute_epsilon(SCALES, 1)),
        ("loss is of type int: give Loss", lambda: inversion.attribute_epsilon(SCALES, BIT, 1)),
        (
            r"columns \(2,\) and values up to 1: scale it",
            lambda: inversion.attribute_epsilon(SCALES, Attribute((2,), [[0], [1]])),
        ),
        ("values up to 3: scale it", lambda: inversion.attribute_epsilon(SCALES, Attribute((0,), [[0], [3]]))),
    ],
    "inversion.strongest_attack": [
        ("is of type int: give Quadratic", lambda: inversion.strongest_attack(1, PAIR, SCALES, [1, 1])),
        ("is of type int: give Scales", lambda: inversion.strongest_attack(F, PAIR, 1, [1, 1])),
        (r"candidates have batch \(\)", lambda: inversion.strongest_attack(F, F, SCALES, [1, 1])),
        ("prior is .*: give 2 shares", lambda: inversion.strongest_attack(F, PAIR, SCALES, [1, 1, 1])),
        (
            r"scales are stacked with shape \(2,\): give one",
            lambda: inversion.strongest_attack(F, PAIR, SCALES.times([1.0, 2.0]), [1, 1]),
        ),
        (
            "that the value changes has scale zero",
            lambda: inversion.strongest_attack(F, PAIR, Scales(SCALES.M, 0 * SCALES.v), [1, 1]),
        ),
    ],
}
EXEMPT = {"attribute.Attribute.without_prior": "no arguments"}
