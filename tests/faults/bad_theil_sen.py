"""Bad input for dpreg.sweeps.theil_sen."""

from dpreg.pipeline.domain import Box
from dpreg.sweeps import theil_sen as ts

PLAIN = Box([0.0], [1.0], (0.0, 1.0))
PLANE = Box([0.0] * 2, [1.0] * 2, (0.0, 1.0), intercept=True)

CASES = {
    "theil_sen.theil_sen": [
        ("no intercept: give Box", lambda: ts.theil_sen("t", PLAIN)),
        ("2 predictors: give one", lambda: ts.theil_sen("t", PLANE)),
    ],
}
EXEMPT = {f"theil_sen.{name}": "inner step of theil_sen" for name in ("predicted", "scores", "private_median")}
