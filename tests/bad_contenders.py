"""Bad input for lib.contenders."""

import numpy as np

from lib import contenders
from lib.allocation import unit_scales
from lib.domain import Box
from lib.objective import Loss, Quadratic

BOX = Box([-1, -1], [1, 1], (-1, 1))
CORNER = Box([-1, -1], [1, 1], (-1, 1), corner=True)
OTHER = Loss(0.1, -0.5, 0.7, labels=True)
BOWL = Quadratic(np.eye(2), np.ones(2), np.array(0.0))

CASES = {
    "contenders.repaired": [
        ("objective is of type int: give Quadratic", lambda: contenders.repaired(1, unit_scales("triangle", 2))),
        ("scales is of type float: give Law", lambda: contenders.repaired(BOWL, 1.0)),
        ("k is 0: give", lambda: contenders.repaired(BOWL, unit_scales("triangle", 2), 0.0)),
    ],
    "contenders.privr": [("loss is of type str: give Loss", lambda: contenders.privr(loss="linear"))],
    "contenders.contenders": [
        ("domain is of type int: give Box or Ball", lambda: contenders.contenders(3, [0])),
        (r"sensitive predictors are \[2\]: give", lambda: contenders.contenders(BOX, [2])),
        ("no paper prints", lambda: contenders.contenders(BOX, [0], loss=OTHER)),
        ("scaled from its corner: give", lambda: contenders.contenders(CORNER, [0])),
    ],
    "contenders.every_split": [
        ("domain is of type int: give Box or Ball", lambda: contenders.every_split(3, [0.5])),
        ("split is 1: give", lambda: contenders.every_split(BOX, [1.0])),
    ],
}
EXEMPT: dict[str, str] = {}
