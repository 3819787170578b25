"""Differentially private regression.

    records -> domain -> objective -> release -> repair -> minimise -> coefficients in the user's units

A domain is a public set that holds every possible record. The objective adds over records, and is a quadratic. A law
of noise says how it is released; `certify` says what that costs, and a `Budget` is charged before anything is drawn.
All that comes after is free: repairs make the noisy objective convex again, and its minimiser is the answer.

Here is what such a chain takes, with Laplace noise, and the estimators that do all of it. Other noise and other
mechanisms are in `dpreg.mechanisms`, such as `wishart.difference`.

Docstrings quote five papers by number:

* 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018
* 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012
* 002: the slides to 000
* 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016
* 004: Fang, Yu, Yang and Qu, Regression Analysis With Differential Privacy Preserving, 2019

Examples
--------
>>> import dpreg
>>> box = dpreg.Box([0.0], [10.0], response=(0.0, 1.0))
>>> law = dpreg.functional(box, epsilon=1.0)
>>> round(dpreg.certify(law, box), 12)
1.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpreg.estimators.private import PrivateLinearRegression, PrivateLogisticRegression
    from dpreg.pipeline.budget import Budget
    from dpreg.pipeline.domain import Ball, Box
    from dpreg.pipeline.laws import certify, functional
    from dpreg.pipeline.objective import linear, logistic
    from dpreg.pipeline.release import release
    from dpreg.pipeline.repair import lift, ridge, trim
    from dpreg.pipeline.solve import Penalty, minimise

__all__ = [
    "Ball",
    "Box",
    "Budget",
    "Penalty",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "certify",
    "functional",
    "lift",
    "linear",
    "logistic",
    "minimise",
    "release",
    "ridge",
    "trim",
]

# Imported when asked for: whoever only releases should not wait for scikit-learn and CVXPY.
PLACES = {
    "estimators.private": ("PrivateLinearRegression", "PrivateLogisticRegression"),
    "pipeline.domain": ("Ball", "Box"),
    "pipeline.laws": ("certify", "functional"),
    "pipeline.objective": ("linear", "logistic"),
    "pipeline.budget": ("Budget",),
    "pipeline.release": ("release",),
    "pipeline.repair": ("lift", "ridge", "trim"),
    "pipeline.solve": ("Penalty", "minimise"),
}


def __getattr__(name: str) -> Any:
    for place, names in PLACES.items():
        if name in names:
            return getattr(import_module(f"dpreg.{place}"), name)
    raise AttributeError(f"module 'dpreg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
