"""Bad input for the two recipes of the functional mechanism."""

import math

import numpy as np

from dpreg.mechanisms import fm_recipes
from dpreg.mechanisms.fm_recipes import CODE, PAPER
from dpreg.pipeline.domain import Ball
from dpreg.pipeline.objective import Loss, Quadratic, linear

X, Y = np.linspace(-1, 1, 20).reshape(10, 2), np.linspace(-1, 1, 10)
BOX = CODE.domain([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0))
OTHER = PAPER.domain([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0))
BALL = Ball([0.0, 0.0], 2.0, response=(-1.0, 1.0))
F = linear(X, Y, BOX)
STRANGE = Loss(1.0, -1.0, 1.0)

CASES = {
    "fm_recipes.Recipe.domain": [
        ("give lower < upper", lambda: CODE.domain([1.0], [0.0], (-1, 1))),
        ("give .lower, upper. with lower < upper", lambda: CODE.domain([0.0], [1.0], (1, -1))),
    ],
    "fm_recipes.Recipe.sensitivity": [
        ("p is 0: give", lambda: CODE.sensitivity(0)),
        ("neither the paper nor the code knows", lambda: CODE.sensitivity(3, STRANGE)),
    ],
    "fm_recipes.Recipe.scales": [
        ("epsilon is 0: give", lambda: CODE.scales(BOX, 0)),
        ("epsilon is nan: give", lambda: CODE.scales(BOX, math.nan)),
        ("epsilon is 1e-300, .* its noise: give", lambda: CODE.scales(BOX, [1.0, 1e-300])),
        ("domain is of type Ball: give Box", lambda: CODE.scales(BALL, 1.0)),
        ("scaled otherwise than the recipe says", lambda: CODE.scales(OTHER, 1.0)),
        ("scaled otherwise than the recipe says", lambda: PAPER.scales(BOX, 1.0)),
        ("neither the paper nor the code knows", lambda: CODE.scales(BOX, 1.0, STRANGE)),
    ],
    "fm_recipes.Recipe.repaired": [
        ("noisy is of type ndarray: give Quadratic", lambda: CODE.repaired(X, CODE.scales(BOX, 1.0))),
        ("scales is of type float: give", lambda: CODE.repaired(F, 1.0)),
    ],
    "fm_recipes.Recipe.fit": [
        ("objective is of type ndarray: give Quadratic", lambda: CODE.fit(X, 1.0)),
        ("no box as its domain: build", lambda: CODE.fit(Quadratic(F.M, F.v, F.c), 1.0)),
        ("no box as its domain: build", lambda: CODE.fit(linear(X, Y, BALL), 1.0)),
        ("scaled otherwise than the recipe says", lambda: PAPER.fit(F, 1.0)),
        ("epsilon is -1: give", lambda: CODE.fit(F, -1)),
        ("random_state is -1: give", lambda: CODE.fit(F, 1.0, -1)),
    ],
    "fm_recipes.changed": [
        ("recipe is of type str: give Recipe", lambda: fm_recipes.changed("paper", "constant column")),
        ("change is 'ridge': choose", lambda: fm_recipes.changed(PAPER, "ridge")),
    ],
}
EXEMPT = {"fm_recipes.Recipe": "a record of choices; its methods check them", "fm_recipes.path": "no arguments"}
