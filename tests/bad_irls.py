"""Bad input for lib.irls, lib.weighted and lib.sheffet."""

import math
import warnings

import numpy as np

from lib import irls, sheffet, weighted
from lib.checks import BrokenGuaranteeWarning
from lib.domain import Ball, Box

BALL = Ball([0, 0], 1, (-1, 1))
BOX = Box([-1, -1], [1, 1], (-1, 1))
TABLE = np.zeros((4, 3))
X, Y = np.zeros((4, 2)), np.zeros(4)
NONE = irls.Noise("none")
PLAN = irls.gaussian(BALL, 1.0)


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
    "weighted.loss": [
        ("residuals has entries of type", lambda: weighted.loss(["a"], 1.0)),
        ("cap is 0: give", lambda: weighted.loss([1.0], 0.0)),
    ],
    "weighted.moments": [
        (r"table has shape \(4, 3\): give 2 columns", lambda: weighted.moments(TABLE, [0.0], 1.0)),
        (r"table has shape \(4,\)", lambda: weighted.moments(TABLE[:, 0], [0.0, 0.0], 1.0)),
        ("theta holds nan", lambda: weighted.moments(TABLE, [0.0, math.nan], 1.0)),
        (r"table holds nan \(first at row 0\)", lambda: weighted.moments(TABLE * math.nan, [0.0, 0.0], 1.0)),
        (
            r"table holds nan \(first at row 9000\): drop",
            lambda: weighted.moments(np.r_[np.zeros((9000, 3)), TABLE * math.nan], [0.0, 0.0], 1.0),
        ),
        ("exceed every float: scale", lambda: weighted.moments(TABLE + np.array([0, 1e300, 0]), [0.0, 0.0], 1.0)),
        ("cap is -1: give", lambda: weighted.moments(TABLE, [0.0, 0.0], -1.0)),
    ],
    "weighted.sensitivities": [
        ("domain is of type Box: give Ball", lambda: weighted.sensitivities(BOX, 1.0)),
        ("cap is 0: give", lambda: weighted.sensitivities(BALL, 0.0)),
        ("neighbours is 'swap': choose", lambda: weighted.sensitivities(BALL, 1.0, "swap")),
    ],
    "irls.Noise": [
        ("law is 'Cauchy': choose", lambda: irls.Noise("Cauchy", 1.0)),
        ("scale is -1: give", lambda: irls.Noise("Laplace", -1.0)),
        ("scale is inf", lambda: irls.Noise("Laplace", math.inf)),
        ("degrees is 2.5: give", lambda: irls.Noise("Wishart", 1.0, 2.5)),
        ("epsilon is -1: give", lambda: irls.Noise("Gaussian", 1.0, epsilon=-1.0)),
    ],
    "irls.Noise.vector": [
        ("the law of a vector is 'Wishart': choose", lambda: irls.Noise("Wishart", 1.0, 3).vector(2, 0)),
        ("random_state is -1: give", lambda: irls.Noise("Laplace", 1.0).vector(2, -1)),
    ],
    "irls.Noise.price": [
        ("neighbours is 'swap': choose", lambda: irls.Noise("centred Wishart", 1.0, 9, 1.0).price(1.0, 2, "swap")),
    ],
    "irls.Noise.matrix": [
        ("degrees is 0: give more than p - 1 = 1", lambda: irls.Noise("Wishart", 1.0).matrix(2, 0)),
        ("random_state is 'a': give", lambda: irls.Noise("Laplace", 1.0).matrix(2, "a")),
    ],
    "irls.Plan": [
        ("domain is of type Box: give Ball", lambda: irls.Plan(BOX, 1.0, 1, NONE, NONE)),
        ("cap is 0: give", lambda: irls.Plan(BALL, 0.0, 1, NONE, NONE)),
        ("iterations is 0: give", lambda: irls.Plan(BALL, 1.0, 0, NONE, NONE)),
        ("first is of type NoneType: give Noise", lambda: irls.Plan(BALL, 1.0, 1, None, NONE)),
        ("second is of type str: give Noise", lambda: irls.Plan(BALL, 1.0, 1, NONE, "none")),
        ("the law of a vector is 'Wishart': choose", lambda: irls.Plan(BALL, 1.0, 1, irls.Noise("Wishart"), NONE)),
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
    "sheffet.delta": [
        ("epsilon is -1: give", lambda: sheffet.delta(-1.0, 3, 1.0)),
        ("epsilon is inf", lambda: sheffet.delta(math.inf, 3, 1.0)),
        ("freedom is 1: give", lambda: sheffet.delta(1.0, 1, 1.0)),
        ("shift is 0: give", lambda: sheffet.delta(1.0, 3, 0.0)),
    ],
    "sheffet.largest_shift": [
        ("epsilon is 0: give", lambda: sheffet.largest_shift(0.0, 1e-5, 3)),
        ("delta is 1: give", lambda: sheffet.largest_shift(1.0, 1.0, 3)),
        ("freedom is 1: give", lambda: sheffet.largest_shift(1.0, 1e-5, 1)),
    ],
    "sheffet.least_freedom": [
        ("epsilon is 0: give", lambda: sheffet.least_freedom(0.0, 1e-5)),
        ("delta is 0: give", lambda: sheffet.least_freedom(1.0, 0.0)),
        ("shift is -1: give", lambda: sheffet.least_freedom(1.0, 1e-5, -1.0)),
    ],
    "sheffet.replaced": [
        ("epsilon is inf", lambda: sheffet.replaced(math.inf, 3, 1.0)),
        ("freedom is 1: give", lambda: sheffet.replaced(1.0, 1, 1.0)),
    ],
    "sheffet.halved": [
        ("epsilon is nan", lambda: sheffet.halved(math.nan, 1e-5)),
        ("epsilon is 2000, .* delta would have to be zero: give a smaller", lambda: sheffet.halved(2000.0, 1e-5)),
        ("delta is 2: give", lambda: sheffet.halved(1.0, 2.0)),
    ],
}
EXEMPT = {
    "irls.Fit": "what irls returns",
    "irls.Noise.level": "arithmetic on a checked law",
    "weighted.Sensitivities": "what sensitivities returns",
    "weighted.Sensitivities.of": "a table of its own numbers",
}
