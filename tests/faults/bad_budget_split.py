"""Bad input for dpreg.mechanisms.budget_split."""

import math

import numpy as np

from dpreg.mechanisms import budget_split
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import Loss, Quadratic, linear

BOX = Box([-1, -1], [1, 1], (-1, 1))
WIDE = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
OTHER = Loss(0.1, -0.5, 0.7, labels=True)
F = linear([[0.1, 0.2], [0.3, -0.4], [-0.9, 0.5]], [0.1, -0.3, 0.4], BOX)
BARE = Quadratic(F.M, F.v, F.c)

CASES = {
    "budget_split.parts": [
        ("p is 0: give", lambda: budget_split.parts(0)),
        ("no paper prints sensitivities of the two parts.*use", lambda: budget_split.parts(2, OTHER)),
        ("loss is of type float: give Loss", lambda: budget_split.parts(2, 1.0)),
    ],
    "budget_split.printed_share": [
        ("quadratic is 0: give", lambda: budget_split.printed_share(0, 1)),
        ("linear is -1: give", lambda: budget_split.printed_share(1, -1)),
        ("linear is nan: give", lambda: budget_split.printed_share(1, math.nan)),
        ("beta is 0: give", lambda: budget_split.printed_share(4, 2, 0)),
        ("beta is 4.5, and all of epsilon is spent at 4.5: give less", lambda: budget_split.printed_share(4, 2, 4.5)),
        ("line 15 of Algorithm 1 knows none: leave", lambda: budget_split.printed_share(2, 4, 1.0)),
    ],
    "budget_split.share": [
        ("p is 1.5: give", lambda: budget_split.share(1.5)),
        ("split is 'best': choose", lambda: budget_split.share(2, "best")),
        ("split is 1: give", lambda: budget_split.share(2, 1.0)),
        ("split is nan", lambda: budget_split.share(2, math.nan)),
        ("only the printed split has one: leave", lambda: budget_split.share(2, "l1", beta=1.0)),
    ],
    "budget_split.dpba": [
        ("epsilon is 0: give", lambda: budget_split.dpba(BOX, 0)),
        ("epsilon is inf: give", lambda: budget_split.dpba(BOX, math.inf)),
        ("epsilon is 1e-300, .* its noise: give", lambda: budget_split.dpba(BOX, 1e-300)),
        ("domain is of type int: give Domain", lambda: budget_split.dpba(3, 1.0)),
        ("split is 0: give", lambda: budget_split.dpba(BOX, 1.0, split=0)),
        ("no paper prints.*use", lambda: budget_split.dpba(BOX, 1.0, loss=OTHER)),
    ],
    "budget_split.dpc": [
        ("epsilon is -1: give", lambda: budget_split.dpc(BOX, -1.0, [0])),
        ("domain is of type int: give Domain", lambda: budget_split.dpc(3, 1.0, [0])),
        (r"sensitive predictors are \[\]: give", lambda: budget_split.dpc(BOX, 1.0, [])),
        (r"sensitive predictors are \[2\]: give at least one, from 0 to 1", lambda: budget_split.dpc(BOX, 1.0, [2])),
        ("a sensitive predictor is -1: give", lambda: budget_split.dpc(BOX, 1.0, [-1])),
        ("an entry of sensitive is True: give", lambda: budget_split.dpc(BOX, 1.0, np.array([True, False]))),
        ("sensitive is of type NoneType: give", lambda: budget_split.dpc(BOX, 1.0, None)),
        ("ratio is 0: give", lambda: budget_split.dpc(BOX, 1.0, [0], ratio=0.0)),
        ("ratio is 2: give", lambda: budget_split.dpc(BOX, 1.0, [0], ratio=2.0)),
        ("share is 'mine': choose", lambda: budget_split.dpc(BOX, 1.0, [0], share="mine")),
        ("neighbours is 'swap': choose", lambda: budget_split.dpc(BOX, 1.0, [0], neighbours="swap")),
        ("times the epsilon it promises.*give as_published=True", lambda: budget_split.dpc(WIDE, 1.0, [0, 1])),
        ("as_published is 'yes': give", lambda: budget_split.dpc(WIDE, 1.0, [0, 1], as_published="yes")),
    ],
    "budget_split.privr": [
        ("epsilon is 0: give", lambda: budget_split.privr(F, 0.0)),
        ("epsilon is 1e-300, .* its noise: give", lambda: budget_split.privr(F, 1e-300)),
        ("share is 1: give", lambda: budget_split.privr(F, 1.0, share=1.0)),
        ("floor is 0: give", lambda: budget_split.privr(F, 1.0, floor=0.0)),
        ("sensitivity is 'loose': choose", lambda: budget_split.privr(F, 1.0, sensitivity="loose")),
        ("neighbours is 'swap': choose", lambda: budget_split.privr(F, 1.0, neighbours="swap")),
        ("objective is of type ndarray: give Quadratic", lambda: budget_split.privr(np.eye(2), 1.0)),
        ("no domain or is a stack: give", lambda: budget_split.privr(BARE, 1.0)),
        ("no domain or is a stack: give", lambda: budget_split.privr(F[None], 1.0)),
        ("budget is of type float: give Budget", lambda: budget_split.privr(F, 1.0, budget=1.0)),
        ("random_state is 'a': give", lambda: budget_split.privr(F, 1.0, random_state="a")),
    ],
    "budget_split.first_order": [
        ("objective is of type int: give Quadratic", lambda: budget_split.first_order(1)),
        ("is a stack of shape .*: give", lambda: budget_split.first_order(F[None])),
        ("eigenvalue -1 of M: give", lambda: budget_split.first_order(Quadratic(np.diag([1.0, -1.0]), F.v, F.c))),
    ],
}
EXEMPT = {"budget_split.Relevance": "what privr returns"}
