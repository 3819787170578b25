"""Faults in lib/logistic.py and in the closed forms of lib/sensitivity.py that the tests must notice."""

MUTANTS = {
    "rounded labels in the constant": (
        "domain.py",
        """np.subtract(y, self.response[0], out=out[:, 0], dtype=np.float64)  # or float32 stays so
            Z /= self.unit
            out[:, 0] /= self.half_width
            out[:, 0] -= 1.0""",
        """np.subtract(y, sum(self.response) / 2, out=out[:, 0], dtype=np.float64)
            Z /= self.unit
            out[:, 0] /= self.half_width""",
        "test_logistic.py -k constant_does_not_know",
    ),
    "no ridge at large epsilon": (
        "logistic.py",
        "-math.expm1(-rest), RIDGE)",
        "-math.expm1(-rest), 0.0)",
        "test_logistic.py -k hard_objectives",
    ),
    "ridge lost in rounding": (
        "newton.py",
        "(0.0 if least else 1e-12)",
        "1e-12",
        "test_logistic.py -k however_small",
    ),
    "solver stops too early": (
        "logistic.py",
        "limit=10_000, tolerance=1e-10",
        "limit=10_000, tolerance=1e-5",
        "test_logistic.py -k hard_objectives",
    ),
    "labels priced as responses": (
        "sensitivity.py",
        "abs(loss.cross) / 2 if loss.labels else response",
        "response if loss.labels else response",
        "test_logistic.py -k closed_forms",
    ),
    "parabola past its edge": (
        "sensitivity.py",
        "if abs(slope) > total * r:",
        "if abs(slope) > 2 * total * r:",
        "test_logistic.py -k closed_forms",
    ),
    "price of t^2 charged to labels": (
        "allocation.py",
        'if loss.labels and checks.neighbours(neighbours) == "replace":',
        'if not loss.labels and checks.neighbours(neighbours) == "replace":',
        "test_logistic.py -k closed_forms",
    ),
    "ridge halved in the logistic fit": (
        "newton.py",
        "slope + 2 * ridge * theta",
        "slope + ridge * theta",
        "test_logistic.py -k 'ridge or scikit'",
    ),
    "last block of rows lost": (
        "logistic.py",
        "for first in range(0, len(rows), BLOCK):\n            part",
        "for first in range(0, len(rows) - BLOCK, BLOCK):\n            part",
        "test_logistic.py -k blocks",
    ),
    "chebyshev not lifted": (
        "logistic.py",
        "math.log(2) + height / 2",
        "math.log(2) + height",
        "test_logistic.py -k equioscillates",
    ),
    "least squares of the wrong degree": (
        "logistic.py",
        "level - bend / 2",
        "level",
        "test_logistic.py -k stationary",
    ),
    "one half counted as a one": (
        "logistic.py",
        "theta @ Z.T > FLAT * ",
        "theta @ Z.T >= -FLAT * ",
        "test_logistic.py -k stack",
    ),
    "probability and label swapped": (
        "newton.py",
        "w * (chance - y)",
        "w * (y - chance)",
        "test_logistic.py -k scikit",
    ),
    "rounding decides on a label": (
        "logistic.py",
        "Z.T > FLAT * np.abs",
        "Z.T > 0 * np.abs",
        "test_logistic.py -k zero_on_its_own_scale",
    ),
    "ridge of objective perturbation halved": (
        "logistic.py",
        "ridge=lift / 2, tilt",
        "ridge=lift / 4, tilt",
        "test_logistic.py -k longest",
    ),
    "replacing priced as adding": (
        "logistic.py",
        '(2.0 if checks.neighbours(neighbours) == "replace" else 1.0)',
        '(2.0 if checks.neighbours(neighbours) != "replace" else 1.0)',
        "test_logistic.py -k longest",
    ),
    "constant column forgotten in the longest record": (
        "logistic.py",
        "square = domain.intercept + (",
        "square = 0 * domain.intercept + (",
        "test_logistic.py -k longest",
    ),
}
