"""Faults in logistic and in the closed forms of sensitivity that the tests must notice."""

MUTANTS = {
    "a tilt whose bounds were read off the data says nothing": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        ", caveat=domain.caveat",
        "",
        "test_pay.py -k bounds_read",
    ),
    "rounded labels in the constant": (
        "dpreg.pipeline.domain.Domain.scale_block",
        """np.subtract(y, self.response[0], out=out[:, 0], dtype=np.float64)  # or float32 stays so
            Z /= self.unit
            out[:, 0] /= self.half_width
            out[:, 0] -= 1.0""",
        """np.subtract(y, sum(self.response) / 2, out=out[:, 0], dtype=np.float64)
            Z /= self.unit
            out[:, 0] /= self.half_width""",
        "test_sensitivity.py -k constant_does_not_know",
    ),
    "no ridge at large epsilon": (
        "dpreg.mechanisms.objective_perturbation.ridge",
        "max(over, RIDGE)",
        "max(over, 0.0)",
        "test_objective_perturbation.py -k hard_objectives",
    ),
    "ridge lost in rounding": (
        "dpreg.pipeline.newton._newton_step",
        "(0.0 if least else 1e-12)",
        "1e-12",
        "test_newton.py -k however_small",
    ),
    "solver stops too early": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "limit=10_000, tolerance=1e-10",
        "limit=10_000, tolerance=1e-5",
        "test_objective_perturbation.py -k hard_objectives",
    ),
    "labels priced as responses": (
        "dpreg.pipeline.sensitivity.closed_form",
        "abs(loss.cross) / 2 if loss.labels else response",
        "response if loss.labels else response",
        "test_sensitivity.py -k closed_forms",
    ),
    "parabola past its edge": (
        "dpreg.pipeline.sensitivity._parabola",
        "if abs(slope) > total * r:",
        "if abs(slope) > 2 * total * r:",
        "test_sensitivity.py -k closed_forms",
    ),
    "price of t^2 charged to labels": (
        "dpreg.pipeline.laws.Scales.certify",
        'if loss.labels and checks.neighbours(neighbours) == "replace":',
        'if not loss.labels and checks.neighbours(neighbours) == "replace":',
        "test_sensitivity.py -k closed_forms",
    ),
    "ridge halved in the logistic fit": (
        "dpreg.pipeline.newton._held",
        "slope + 2 * ridge * theta",
        "slope + ridge * theta",
        "test_newton.py -k ends_at_the_minimiser",
    ),
    "last block of rows lost": (
        "dpreg.pipeline.newton.blocked",
        "for first in range(0, len(Z), BLOCK)",
        "for first in range(0, len(Z) - BLOCK, BLOCK)",
        "test_logistic.py -k blocks",
    ),
    "chebyshev not lifted": (
        "dpreg.pipeline.surrogates.chebyshev",
        "math.log(2) + height / 2",
        "math.log(2) + height",
        "test_surrogates.py -k equioscillates",
    ),
    "least squares of the wrong degree": (
        "dpreg.pipeline.surrogates.least_squares",
        "level - bend / 2",
        "level",
        "test_surrogates.py -k stationary",
    ),
    "one half counted as a one": (
        "dpreg.pipeline.logistic.predicted",
        "theta @ Z.T > FLAT * ",
        "theta @ Z.T >= -FLAT * ",
        "test_logistic.py -k stack",
    ),
    "probability and label swapped": (
        "dpreg.pipeline.newton.over.sums",
        "w * (chance - y)",
        "w * (y - chance)",
        "test_logistic.py -k scikit",
    ),
    "rounding decides on a label": (
        "dpreg.pipeline.logistic.predicted",
        "Z.T > FLAT * np.abs",
        "Z.T > 0 * np.abs",
        "test_logistic.py -k zero_on_its_own_scale",
    ),
    "ridge of objective perturbation halved": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "ridge=lift / 2, tilt",
        "ridge=lift / 4, tilt",
        "test_objective_perturbation.py -k longest",
    ),
    "replacing priced as adding": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        '(2.0 if checks.neighbours(neighbours) == "replace" else 1.0)',
        '(2.0 if checks.neighbours(neighbours) != "replace" else 1.0)',
        "test_objective_perturbation.py -k longest",
    ),
    "constant column forgotten in the longest record": (
        "dpreg.pipeline.domain.Domain.longest",
        "self.square + self.intercept",
        "self.square",
        "test_domain.py -k longest",
    ),
    "K-norm: the tilt of one degree too few": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "rng.gamma(domain.p + 1, scale)",
        "rng.gamma(domain.p, scale)",
        "test_objective_perturbation.py -k declared_law",
    ),
    "K-norm: the constant hidden by half": (
        "dpreg.mechanisms.objective_perturbation.uniform",
        "rng.uniform(-1.0, 1.0, int(domain.intercept))",
        "rng.uniform(-0.5, 0.5, int(domain.intercept))",
        "test_objective_perturbation.py -k leaves_k",
    ),
    "K-norm: a ball filled like its surface": (
        "dpreg.mechanisms.objective_perturbation.uniform",
        "rng.uniform() ** (1 / domain.d)",
        "1.0",
        "test_objective_perturbation.py -k leaves_k",
    ),
    "estimators: objective perturbation without the declared neighbours": (
        "dpreg.estimators.private.PrivateLogisticRegression._perturb",
        '"neighbours": self.neighbours',
        '"neighbours": "add_remove"',
        "test_private.py -k is_objective_perturbation",
    ),
    "estimators: a penalty that is silently left out": (
        "dpreg.estimators.records.no_quadratic",
        '"penalty": penalty is not None and penalty.lam > 0',
        '"penalty": False',
        "test_private.py -k belongs_to_a_quadratic",
    ),
}
