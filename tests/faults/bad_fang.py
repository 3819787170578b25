"""Bad input for lib.papers.fang."""

import numpy as np

from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import unit_scales
from dpreg.pipeline.objective import Loss, Quadratic
from lib.papers import fang

BOX = Box([-1, -1], [1, 1], (-1, 1))
CORNER = Box([-1, -1], [1, 1], (-1, 1), corner=True)
OTHER = Loss(0.1, -0.5, 0.7, labels=True)
BOWL = Quadratic(np.eye(2), np.ones(2), np.array(0.0))

CASES = {
    "fang.repaired": [
        ("noisy is of type int: give Quadratic", lambda: fang.repaired(1, unit_scales("triangle", 2))),
        ("law is of type float: give Law", lambda: fang.repaired(BOWL, 1.0)),
        ("k is 0: give", lambda: fang.repaired(BOWL, unit_scales("triangle", 2), 0.0)),
    ],
    "fang.privr": [("loss is of type str: give Loss", lambda: fang.privr(loss="linear"))],
    "fang.contenders": [
        ("domain is of type int: give Domain", lambda: fang.contenders(3, [0])),
        (r"sensitive predictors are \[2\]: give", lambda: fang.contenders(BOX, [2])),
        ("no paper prints", lambda: fang.contenders(BOX, [0], loss=OTHER)),
        ("scaled from its corner: give", lambda: fang.contenders(CORNER, [0])),
    ],
    "fang.every_split": [
        ("domain is of type int: give Domain", lambda: fang.every_split(3, [0.5])),
        ("split is 1: give", lambda: fang.every_split(BOX, [1.0])),
    ],
}
EXEMPT: dict[str, str] = {}
