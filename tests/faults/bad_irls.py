"""Bad input for dpreg.mechanisms.irls, dpreg.mechanisms.irls_moments and dpreg.mechanisms.chi_square."""

import math
import warnings

import numpy as np

from dpreg import noise
from dpreg.checks import BrokenGuaranteeWarning
from dpreg.mechanisms import chi_square, irls, irls_laws, irls_moments
from dpreg.pipeline.domain import Ball, Box

BALL = Ball([0, 0], 1, (-1, 1))
BOX = Box([-1, -1], [1, 1], (-1, 1))
TABLE, ZEROS = np.zeros((4, 3)), np.zeros((2, 2))
X, Y = np.zeros((4, 2)), np.zeros(4)
NONE = irls_laws.NoNoise()
PLAN = irls.gaussian(BALL, 1.0)
OTHER = Ball([0, 0], 2, (-1, 1))


def shared(make):
    """What every maker of a plan refuses; `make` takes the domain, one budget, and the rest by name."""
    return [
        ("domain is of type Box: give Ball", lambda: make(BOX, 1.0)),
        ("cap is 0: give", lambda: make(BALL, 1.0, cap=0)),
        ("cap is nan", lambda: make(BALL, 1.0, cap=math.nan)),
        ("iterations is 0: give", lambda: make(BALL, 1.0, iterations=0)),
        ("iterations is 2.5: give", lambda: make(BALL, 1.0, iterations=2.5)),
        ("neighbours is 'swap': choose", lambda: make(BALL, 1.0, neighbours="swap")),
        (" is 0: give", lambda: make(BALL, 0)),
        (" is inf", lambda: make(BALL, math.inf)),
        (" is '1'", lambda: make(BALL, "1")),
        (" is 1e-300, .* its noise: give a number between", lambda: make(BALL, 1e-300)),
        (r" is 1e\+300, .* its noise: give a number between", lambda: make(BALL, 1e300)),
    ]


def printed(*args, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BrokenGuaranteeWarning)
        irls.printed(*args, as_published=True, **more)


CASES = {
    "irls.follow": [
        ("0 plans and 0 rngs: give", lambda: irls.follow([], TABLE, [])),
        ("1 plans and 0 rngs: give", lambda: irls.follow([PLAN], TABLE, [])),
        (
            "for several domains: give",
            lambda: irls.follow([PLAN, irls.exact(OTHER)], TABLE, [noise.generator(seed) for seed in (1, 2)]),
        ),
    ],
    "irls_moments.loss": [
        ("residuals has entries of type", lambda: irls_moments.loss(["a"], 1.0)),
        ("cap is 0: give", lambda: irls_moments.loss([1.0], 0.0)),
    ],
    "irls_moments.moments": [
        (r"table has shape \(4, 3\): give 2 columns", lambda: irls_moments.moments(TABLE, [0.0], 1.0)),
        (r"table has shape \(4,\)", lambda: irls_moments.moments(TABLE[:, 0], [0.0, 0.0], 1.0)),
        ("theta holds nan", lambda: irls_moments.moments(TABLE, [0.0, math.nan], 1.0)),
        (r"table holds nan \(first at row 0\)", lambda: irls_moments.moments(TABLE * math.nan, [0.0, 0.0], 1.0)),
        (
            r"table holds nan \(first at row 9000\): drop",
            lambda: irls_moments.moments(np.r_[np.zeros((9000, 3)), TABLE * math.nan], [0.0, 0.0], 1.0),
        ),
        ("exceed every float: scale", lambda: irls_moments.moments(TABLE + np.array([0, 1e300, 0]), [0.0, 0.0], 1.0)),
        ("cap is -1: give", lambda: irls_moments.moments(TABLE, [0.0, 0.0], -1.0)),
    ],
    "irls_moments.stacked": [
        (r"table has shape \(4, 3\): give 2 columns", lambda: irls_moments.stacked(TABLE, [[0.0]] * 2, [1.0] * 2)),
        (r"table has shape \(4, 3\): give 2 columns", lambda: irls_moments.stacked(TABLE, [[0.0]], [1.0])),
        (
            r"thetas has shape \(2,\), caps \(2,\): give a row",
            lambda: irls_moments.stacked(TABLE, [0.0, 0.0], [1.0] * 2),
        ),
        (r"thetas has shape \(2, 2\), caps \(3,\): give a row", lambda: irls_moments.stacked(TABLE, ZEROS, [1.0] * 3)),
        ("thetas holds nan", lambda: irls_moments.stacked(TABLE, [[0.0, math.nan]] * 2, [1.0] * 2)),
        ("a cap is -1: give", lambda: irls_moments.stacked(TABLE, ZEROS, [1.0, -1.0])),
        ("cap is -1: give", lambda: irls_moments.stacked(TABLE, ZEROS[:1], [-1.0])),
        ("caps has shape", lambda: irls_moments.stacked(TABLE, ZEROS, 1.0)),
        (r"table holds nan \(first at row 0\)", lambda: irls_moments.stacked(TABLE * math.nan, ZEROS, [1.0] * 2)),
        (
            "exceed every float: scale",
            lambda: irls_moments.stacked(TABLE + np.array([0, 1e300, 0]), ZEROS, [1.0] * 2),
        ),
    ],
    "irls_moments.sensitivities": [
        ("domain is of type Box: give Ball", lambda: irls_moments.sensitivities(BOX, 1.0)),
        ("cap is 0: give", lambda: irls_moments.sensitivities(BALL, 0.0)),
        ("neighbours is 'swap': choose", lambda: irls_moments.sensitivities(BALL, 1.0, "swap")),
    ],
    "irls_laws.NoNoise": [("scale is -1: give", lambda: irls_laws.NoNoise(-1.0))],
    "irls_laws.Laplace": [
        ("scale is -1: give", lambda: irls_laws.Laplace(-1.0)),
        ("scale is inf", lambda: irls_laws.Laplace(math.inf)),
    ],
    "irls_laws.Gaussian": [
        ("scale is nan", lambda: irls_laws.Gaussian(math.nan)),
        ("epsilon is -1: give", lambda: irls_laws.Gaussian(1.0, epsilon=-1.0)),
    ],
    "irls_laws.Wishart": [("degrees is 2.5: give", lambda: irls_laws.Wishart(1.0, 2.5))],
    "irls_laws.CentredWishart": [
        ("degrees is -1: give", lambda: irls_laws.CentredWishart(1.0, -1)),
        ("epsilon is 0: give", lambda: irls_laws.CentredWishart(1.0, 9, 0.0)),
    ],
    "irls_laws.WishartDifference": [("scale is -2: give", lambda: irls_laws.WishartDifference(-2.0, 3))],
    "irls_laws.Laplace.vector": [("random_state is -1: give", lambda: irls_laws.Laplace(1.0).vector(2, -1))],
    "irls_laws.Gaussian.vector": [("random_state is 1.5: give", lambda: irls_laws.Gaussian(1.0).vector(2, 1.5))],
    "irls_laws.MomentLaw.price": [
        ("neighbours is 'swap': choose", lambda: irls_laws.Laplace(1.0).price(1.0, 2, "swap"))
    ],
    "irls_laws.VectorLaw.matrix": [("random_state is 'a': give", lambda: irls_laws.Laplace(1.0).matrix(2, "a"))],
    "irls_laws.Wishart.matrix": [
        ("degrees is 0: give more than p - 1 = 1", lambda: irls_laws.Wishart(1.0, 0).matrix(2, 0))
    ],
    "irls_laws.CentredWishart.matrix": [
        ("random_state is 'a': give", lambda: irls_laws.CentredWishart(1.0, 3).matrix(2, "a"))
    ],
    "irls_laws.WishartDifference.matrix": [
        ("degrees is 1: give", lambda: irls_laws.WishartDifference(1.0, 1).matrix(2, 0))
    ],
    "irls.Plan": [
        ("domain is of type Box: give Ball", lambda: irls.Plan(BOX, 1.0, 1, NONE, NONE)),
        ("cap is 0: give", lambda: irls.Plan(BALL, 0.0, 1, NONE, NONE)),
        ("iterations is 0: give", lambda: irls.Plan(BALL, 1.0, 0, NONE, NONE)),
        ("first is of type NoneType: give VectorLaw", lambda: irls.Plan(BALL, 1.0, 1, None, NONE)),
        ("second is of type str: give MomentLaw", lambda: irls.Plan(BALL, 1.0, 1, NONE, "none")),
        ("first is of type Wishart: give VectorLaw", lambda: irls.Plan(BALL, 1.0, 1, irls_laws.Wishart(1.0, 3), NONE)),
        ("neighbours is 'swap': choose", lambda: irls.Plan(BALL, 1.0, 1, NONE, NONE, "swap")),
    ],
    "irls.irls": [
        ("plan is of type Ball: give Plan", lambda: irls.irls(X, Y, BALL)),
        ("random_state is 1.5: give", lambda: irls.irls(X, Y, PLAN, 1.5)),
        ("X has 4 records and y has 3: give", lambda: irls.irls(X, Y[:3], PLAN)),
        ("X has 1 columns but the domain has 2: pass", lambda: irls.irls(X[:, :1], Y, PLAN)),
        ("X holds nan", lambda: irls.irls(X * math.nan, Y, PLAN)),
    ],
    "irls.lifted": [
        (r"second has shape \(3, 3\): give 2", lambda: irls.lifted([1.0, 1.0], np.eye(3), 1.0)),
        ("second has shape", lambda: irls.lifted([1.0, 1.0], np.eye(2) * math.nan, 1.0)),
        ("first holds inf", lambda: irls.lifted([1.0, math.inf], np.eye(2), 1.0)),
        ("the floor is -1: give a public number", lambda: irls.lifted([1.0, 1.0], np.eye(2), -1.0)),
    ],
    "irls.exact": [
        ("domain is of type Box: give Ball", lambda: irls.exact(BOX)),
        ("cap is 0: give", lambda: irls.exact(BALL, cap=0)),
        ("iterations is 0: give", lambda: irls.exact(BALL, iterations=0)),
    ],
    "irls.gaussian": shared(irls.gaussian),
    "irls.pure": [
        *shared(irls.pure),
        ("law is 'Gaussian': choose", lambda: irls.pure(BALL, 1.0, "Gaussian")),
    ],
    "irls.degrees": [
        *shared(lambda domain, epsilon, **more: irls.degrees(domain, epsilon, 1e-5, **more)),
        ("delta is 0: give", lambda: irls.degrees(BALL, 1.0, 0.0)),
        ("delta is 90: give", lambda: irls.degrees(BALL, 1.0, 90.0)),
    ],
    "irls.printed": [
        ("IR-WISHART.*give as_published=True", lambda: irls.printed(BALL, 0.5)),
        ("as_published is 'yes': give", lambda: irls.printed(BALL, 0.5, as_published="yes")),
        ("domain is of type Box: give Ball", lambda: printed(BOX, 0.5)),
        ("step is 0: give", lambda: printed(BALL, 0.0)),
        ("cap is 0: give", lambda: printed(BALL, 0.5, cap=0)),
        ("iterations is 0: give", lambda: printed(BALL, 0.5, iterations=0)),
        ("first is 'wishart': choose", lambda: printed(BALL, 0.5, first="wishart")),
        ("delta is 10", lambda: printed(BALL, 0.5, first="gaussian", delta=10.0)),
    ],
    "irls.simulated": [
        ("n is 1: give", lambda: irls.simulated(1)),
        ("d is 0: give", lambda: irls.simulated(10, 0)),
        ("random_state is -1: give", lambda: irls.simulated(10, 2, -1)),
        ("noise_deviation is 0: give", lambda: irls.simulated(10, noise_deviation=0.0)),
    ],
    "chi_square.delta": [
        ("give at most", lambda: chi_square.delta(1.0, 1e300, 1.0)),
        ("epsilon is -1: give", lambda: chi_square.delta(-1.0, 3, 1.0)),
        ("epsilon is inf", lambda: chi_square.delta(math.inf, 3, 1.0)),
        ("freedom is 1: give", lambda: chi_square.delta(1.0, 1, 1.0)),
        ("shift is 0: give", lambda: chi_square.delta(1.0, 3, 0.0)),
    ],
    "chi_square.largest_shift": [
        ("give at most", lambda: chi_square.largest_shift(1.0, 1e-6, 1e300)),
        ("epsilon is 0: give", lambda: chi_square.largest_shift(0.0, 1e-5, 3)),
        ("delta is 1: give", lambda: chi_square.largest_shift(1.0, 1.0, 3)),
        ("freedom is 1: give", lambda: chi_square.largest_shift(1.0, 1e-5, 1)),
    ],
    "chi_square.least_freedom": [
        ("epsilon is 0: give", lambda: chi_square.least_freedom(0.0, 1e-5)),
        ("delta is 0: give", lambda: chi_square.least_freedom(1.0, 0.0)),
        ("shift is -1: give", lambda: chi_square.least_freedom(1.0, 1e-5, -1.0)),
    ],
    "chi_square.replaced": [
        ("epsilon is inf", lambda: chi_square.replaced(math.inf, 3, 1.0)),
        ("freedom is 1: give", lambda: chi_square.replaced(1.0, 1, 1.0)),
    ],
    "chi_square.halved": [
        ("epsilon is nan", lambda: chi_square.halved(math.nan, 1e-5)),
        ("epsilon is 2000, .* delta would have to be zero: give a smaller", lambda: chi_square.halved(2000.0, 1e-5)),
        ("delta is 2: give", lambda: chi_square.halved(1.0, 2.0)),
    ],
}
EXEMPT = {
    "irls_laws.MomentLaw": "abstract",
    "irls_laws.VectorLaw": "abstract",
    "irls_laws.WishartLaw": "abstract",
    "irls_laws.NoNoise.vector": "zeros",
    "irls_laws.MomentLaw.change": "reads a checked record",
    "irls_laws.NoNoise.change": "reads a checked record",
    "irls_laws.Laplace.change": "reads a checked record",
    "irls_laws.Gaussian.change": "reads a checked record",
    "irls_laws.WishartLaw.change": "reads a checked record",
    "irls_laws.WishartDifference.change": "reads a checked record",
    "irls_laws.MomentLaw.promise": "arithmetic on a checked change",
    "irls_laws.NoNoise.promise": "arithmetic on a checked change",
    "irls_laws.Laplace.promise": "arithmetic on a checked change",
    "irls_laws.Gaussian.promise": "arithmetic on a checked change",
    "irls_laws.Wishart.promise": "arithmetic on a checked change",
    "irls_laws.CentredWishart.promise": "arithmetic on a checked change",
    "irls_laws.WishartDifference.promise": "arithmetic on a checked change",
    "irls_laws.MomentLaw.level": "arithmetic on a checked law",
    "irls_laws.VectorLaw.level": "arithmetic on a checked law",
    "irls_laws.Wishart.level": "arithmetic on a checked law",
    "irls_laws.CentredWishart.level": "arithmetic on a checked law",
    "irls_laws.WishartDifference.level": "arithmetic on a checked law",
    "irls_laws.MomentLaw.mean_square": "arithmetic on a checked law",
    "irls_laws.Wishart.mean_square": "arithmetic on a checked law",
    "irls_laws.MomentLaw.matrix": "abstract",
    "irls_laws.VectorLaw.vector": "abstract",
    "irls.Fit": "what irls returns",
    "irls_moments.Sensitivities": "what sensitivities returns",
}
