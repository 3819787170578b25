"""Bad input for the audits of mechanisms whose noise is known; what the layers take has been built by the library."""

import numpy as np

from dpreg.audit import declared, privacy_loss, residuals
from dpreg.mechanisms.wishart import WishartDifference
from dpreg.pipeline.laws import unit_scales
from dpreg.pipeline.objective import Quadratic

LINE = Quadratic(np.eye(1), np.ones(1), np.zeros(()))
WISHART = WishartDifference([1.0, 1.0], 1.0)
LAYER = "a layer of declared.audit, which checks"
STATED = "what a mechanism states"

CASES = {
    "declared.audit": [
        ("name is 'best': choose", lambda: declared.audit("best")),
        ("layer is 'noise': choose", lambda: declared.audit("functional", "noise")),
        ("name is 3: choose", lambda: declared.audit([3])),
        ("quick is 'no': give", lambda: declared.audit("functional", quick="no")),
        ("random_state is -1: give", lambda: declared.audit("functional", random_state=-1)),
    ],
    "residuals.scales_of": [("law is of type WishartDifference: give Scales", lambda: residuals.scales_of(WISHART))],
    "privacy_loss.quadratic_density": [
        (
            "law is of type WishartDifference: give Scales",
            lambda: privacy_loss.quadratic_density(LINE, WISHART),
        ),
        ("the law has 2 columns .*: give", lambda: privacy_loss.quadratic_density(LINE, unit_scales("copied", 2))),
    ],
}
EXEMPT = {
    "findings.Finding": "what an audit returns",
    "findings.Report": "what an audit returns",
    "statement.Setting": STATED,
    "statement.Step": STATED,
    "statement.Sample": STATED,
    "statement.cube": STATED,
    "statement.gaussian_price": STATED,
    "statement.per_scale": STATED,
    "statement.Declared": STATED,
    "statement.Declared.domain": STATED,
    "statement.Declared.price": STATED,
    "statement.Declared.settings": STATED,
    "statement.Declared.records": STATED,
    "residuals.numbers": STATED,
    "residuals.laplace_loss": STATED,
    "residuals.rotated": STATED,
    "quadratic.quadratic": STATED,
    "quadratic_releases.difference_at": STATED,
    "quadratic_releases.first": STATED,
    "quadratic_releases.functional_at": STATED,
    "quadratic.after_mean": STATED,
    "quadratic.Noise": STATED,
    "reweighted.reweighted": STATED,
    "reweighted.entries": STATED,
    "reweighted.MomentKind": STATED,
    "reweighted.MomentKind.price": STATED,
    "residuals.ChiSquareDifference": STATED,
    "residuals.ChiSquareDifference.cdf": STATED,
    "residuals.ChiSquareDifference.mean": STATED,
    "residuals.ChiSquareDifference.var": STATED,
    "statement.labelled": STATED,
    "statement.ball": STATED,
    "privacy_loss.tilted_density": STATED,
    "budget_algebra.audit_budget": LAYER,
    "metamorphic.audit_relations": LAYER,
    "sensitivity_search.audit_sensitivity": LAYER,
    "sensitivity_search.worst": LAYER,
    "privacy_loss.audit_privacy_loss": LAYER,
    "noise_law.audit_noise": LAYER,
    "noise_law.p_values": LAYER,
}
