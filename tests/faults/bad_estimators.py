"""Bad input for the estimators."""

import math

import numpy as np

from dpreg.estimators import private, records
from dpreg.pipeline import objective, solve
from dpreg.pipeline.domain import Box

X, Y = np.linspace(-1, 1, 20)[:, None], np.linspace(0, 1, 20)
LABEL = (Y > 0.5).astype(float)
BOX = Box([-1], [1], (0, 1), intercept=True)


def linear(domain=BOX, epsilon=1.0, X=X, y=Y, budget=None, weights=None, **options):
    return lambda: private.PrivateLinearRegression(domain, epsilon, **options).fit(X, y, budget=budget, **weights or {})


def logistic(domain=BOX, epsilon=1.0, X=X, y=LABEL, **options):
    return lambda: private.PrivateLogisticRegression(domain, epsilon, **options).fit(X, y)


def parameters(fit):
    return [
        ("epsilon is 0: give", fit(epsilon=0)),
        ("epsilon is nan", fit(epsilon=math.nan)),
        *(
            (f"epsilon is {shown}, .* its noise: give", fit(epsilon=float(epsilon), mechanism=mechanism))
            for epsilon, shown in (("1e-300", "1e-300"), ("5e-324", "4.94066e-324"), ("1e300", r"1e\+300"))
            for mechanism in ("wishart", "laplace")
        ),
        ("epsilon is array|epsilon is \\[", fit(epsilon=[1.0, 2.0])),
        ("mechanism is 'normal': choose", fit(mechanism="normal")),
        ("neighbours is 'other': choose", fit(neighbours="other")),
        ("penalty is of type float: give Penalty", fit(penalty=0.1)),
        ("random_state is 'a': give", fit(random_state="a")),
        ("domain is of type NoneType: give Box, Ball,", fit(domain=None)),
        (r"bounds \[1, -1\]: give", fit(domain=([1], [-1], (0, 1)))),
        ("has 2 columns but the domain has 1: pass", fit(X=np.hstack([X, X]))),
        ("holds nan", fit(X=X * math.nan)),
        ("entries of type", fit(X=X.astype(str))),
        ("20 records and y has 3", fit(y=[0, 1, 0])),
    ]


CASES = {
    "private.PrivateLinearRegression": [
        *parameters(linear),
        ("delta is 0, .* Gaussian noise .*: give", linear(mechanism="gaussian")),
        ("delta is 1e-06, and only mechanism='gaussian' spends one", linear(delta=1e-6)),
        ("delta is 1: give", linear(mechanism="gaussian", delta=1.0)),
    ],
    "private.PrivateLinearRegression.fit": [
        ("y has shape", linear(y=np.column_stack([Y, Y]))),
        ("sample_weight is given, .*: .*leave", linear(weights={"sample_weight": Y})),
        ("X has shape", linear(X=Y)),
        ("budget is of type float: give Budget", linear(budget=1.0)),
    ],
    "private.PrivateLinearRegression.predict": [
        ("X holds nan", lambda: linear()().predict([[math.nan]])),
        ("entries of type", lambda: linear()().predict([["a"]])),
        ("X has shape", lambda: linear()().predict([1.0])),
    ],
    "private.PrivateLogisticRegression": [
        *parameters(logistic),
        ("loss is of type str: give Loss", logistic(loss="taylor")),
        ("loss is given, .*: add", logistic(loss=objective.TAYLOR)),
        ("not one of labels: give", logistic(mechanism="wishart", loss=objective.SQUARED)),
        (r"classes is .*: give the two labels", logistic(classes=[[1, 2], [3]])),
    ],
    "private.PrivateLogisticRegression.fit": [
        ("y holds 0.05", logistic(y=Y)),
        ("y has rows of different lengths: give", logistic(y=[[1, 2], [3]])),
        ("y has entries of type", logistic(y=np.zeros(len(Y), dtype=[("a", float)]))),
    ],
    "private.PrivateLogisticRegression.predict": [("X holds nan", lambda: logistic()().predict([[math.nan]]))],
    "private.PrivateLogisticRegression.predict_proba": [
        ("X holds inf", lambda: logistic()().predict_proba([[math.inf]])),
    ],
    "private.PrivateLogisticRegression.decision_function": [
        ("X has shape", lambda: logistic()().decision_function([1.0])),
    ],
    "records.no_generator": [("is a Generator: give", lambda: records.no_generator(np.random.default_rng(1)))],
    "records.no_quadratic": [
        ("penalty is given, .*: add", lambda: records.no_quadratic(solve.Penalty(1.0), None, "numpy")),
        ("sampler is 'other': choose", lambda: records.no_quadratic(None, None, "other")),
    ],
    "records.public_set": [
        ("domain is of type tuple: give Box, Ball, or lower", lambda: records.public_set(([0], [1]))),
        ("lower has 1 entries and upper has 2: give", lambda: records.public_set(([0], [1, 2], (0, 1)))),
    ],
}
EXEMPT = {}
