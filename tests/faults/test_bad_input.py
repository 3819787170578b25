"""Every public function refuses unusable input with a typed error that names the value and says how to mend it."""

import importlib
import inspect
import json
import math
import pkgutil
import re
import warnings
from dataclasses import asdict
from pathlib import Path

import cvxpy
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import dpreg
import lib
from dpreg import checks, limits, noise
from dpreg.audit import search
from dpreg.audit.findings import Report
from dpreg.checks import BudgetError, DataError, IndefiniteError, InputError, SolverError
from dpreg.estimators import nonprivate
from dpreg.pipeline import budget, laws, ledger, objective, release, repair, sensitivity, solve
from dpreg.pipeline.domain import Ball, Box, Model
from dpreg.sweeps import experiment, methods, splits
from lib.data import datasets
from lib.pages import claims, plot, report, verdicts

MEND = "give pass drop choose use add match scale encode index trim ask restore check build stop certify leave release"
MEND = rf"\b({MEND.replace(' ', '|')})\b"

rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (20, 2)), rng.uniform(-1, 1, 20)
BOX = Box([-1, -1], [1, 1], (-1, 1))
CONSTANT = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
BALL = Ball([0, 0], 1, (-1, 1))
F = objective.linear(X, Y, BOX)
SCALES = laws.functional(BOX, 1.0)
UNIT = laws.unit_scales("copied", 2)
STEEP = objective.Loss(1e300, 1.0, 1.0)
NOISY = release.perturb(F, SCALES, 0)
NOTE = release.release(F, SCALES, 0)
BOWL = objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0))
SADDLE = objective.Quadratic(np.diag([1.0, -2.0]), np.ones(2), np.array(0.0))
GUTTER = objective.Quadratic(np.diag([1.0, 0.0]), np.ones(2), np.array(0.0))
LASSO = solve.Penalty(1.0, 0.0)
PLAIN = experiment.no_privacy("plain")
NAN, INF = math.nan, math.inf


def with_cell(value):
    broken = X.copy()
    broken[3, 1] = value
    return broken


BAD_RECORDS = {
    "NaN": (with_cell(NAN), Y, r"X holds nan \(first at row 3\)"),
    "infinity": (with_cell(-INF), Y, "X holds -inf"),
    "NaN response": (X, np.r_[Y[:-1], NAN], "y holds nan"),
    "infinite response": (X, np.r_[Y[:-1], INF], "y holds inf"),
    "flat X": (X[:, 0], Y, r"X has shape \(20,\)"),
    "deep X": (X[:, :, None], Y, r"X has shape \(20, 2, 1\)"),
    "scalar X": (1.0, Y, r"X has shape \(\)"),
    "column y": (X, Y[:, None], r"y has shape \(20, 1\).*ravel"),
    "scalar y": (X, 1.0, r"y has shape \(\)"),
    "no predictors": (X[:, :0], Y, "X has no columns"),
    "lengths": (X, Y[:-1], "X has 20 records and y has 19"),
    "text": (X.astype(str), Y, "X has entries of type <U"),
    "text in objects": (np.full((20, 2), "1.5", dtype=object), Y, "X has entries of type object"),
    "text response": (X, Y.astype(str), "y has entries of type <U"),
    "objects": (np.full((20, 2), object()), Y, "X has entries of type object"),
    "missing": (np.full((20, 2), None), Y, r"X has a missing value \(first at row 0, column 0\)"),
    "missing in a frame": (
        pd.DataFrame(X, columns=["a", "b"]).astype("Float64").mask(np.equal(X, X[:, 1].max())),
        Y,
        rf"X has a missing value \(first at row {X[:, 1].argmax()}, column 'b'\)",
    ),
    "missing labels": (
        X,
        pd.Series([True] * 19 + [None], dtype="boolean"),
        r"y has a missing value \(first at row 19\)",
    ),
    "text in a frame": (pd.DataFrame({"a": ["x"] * 20, "b": Y}), Y, "X has entries of type"),
    "complex": (X + 1j, Y, "X has entries of type complex"),
    "dates": (X.astype("M8[s]"), Y, "X has entries of type datetime"),
    "ragged": ([[1, 2], [3]], [1, 2], "X has rows of different lengths"),
    "sparse matrix": (scipy.sparse.csr_matrix(X), Y, r"X is a sparse csr_matrix: pass X.toarray\(\)"),
    "sparse array": (scipy.sparse.coo_array(X), Y, "X is a sparse"),
    "masked": (np.ma.masked_array(X, mask=X > 0.9), Y, "X has a missing value"),
    "masked response": (X, np.ma.masked_array(Y, mask=Y > 0.5), "y has a missing value"),
    "nothing": (None, Y, "X has shape"),
    "huge integers": ([[10**400, 1]] * 20, Y, "X has entries of type object"),
}
READERS = {
    "domain.Box.scale": BOX.scale,
    "domain.Ball.scale": BALL.scale,
    "domain.Domain.table": CONSTANT.table,
    "objective.linear": lambda X, y: objective.linear(X, y, CONSTANT),
    "experiment.sweep": lambda X, y: experiment.sweep(X, y, BOX, [PLAIN], [1.0], experiment.Holdout(1)),
    "nonprivate.choose_penalty": lambda X, y: nonprivate.choose_penalty(X, y, BOX, 1.0),
    "domain.Box.from_data": Box.from_data,
    "domain.Ball.from_data": Ball.from_data,
    "objective.moments": lambda X, y: objective.moments(X, y, BALL),
}


# A release takes any number of records: under add/remove it is a secret. What is no release asks for two.
NO_RELEASE = ("experiment.sweep", "nonprivate.choose_penalty", "domain.Box.from_data", "domain.Ball.from_data")


@pytest.mark.filterwarnings("ignore::dpreg.checks.PrivacyLeakWarning")
@pytest.mark.parametrize("reader", NO_RELEASE)
@pytest.mark.parametrize("n", [0, 1])
def test_too_few_records(reader, n):
    with pytest.raises(InputError, match=rf"(there are|for) {n} records( .n_samples = {n}.)?: give at"):
        READERS[reader](X[:n], Y[:n])


@pytest.mark.filterwarnings("ignore::dpreg.checks.PrivacyLeakWarning")
@pytest.mark.parametrize(
    ("reader", "record"),
    [
        (reader, record)
        for reader in READERS
        for record in BAD_RECORDS
        if not (record.startswith("sparse") and reader in ("objective.linear", "objective.moments"))  # they read these
    ],
)
def test_bad_records(reader, record):
    data, response, message = BAD_RECORDS[record]
    with pytest.raises(InputError, match=message) as caught:
        READERS[reader](data, response)
    assert re.search(MEND, str(caught.value)), caught.value


def quiet(function):
    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", checks.PrivacyLeakWarning)
            function()

    return run


def sweep(**changes):
    given = {"methods": [PLAIN], "epsilons": [1.0], "protocol": experiment.Holdout(1)} | changes
    return lambda: experiment.sweep(X, Y, BOX, **given)


def seeds(call):
    """Seeds nobody can use, and what is said about them."""
    for seed in (-1, 1.5, "seed", True, [1, 2]):
        yield f"random_state is {re.escape(repr(seed))}", lambda seed=seed: call(seed)
    yield "random_state is of type RandomState", lambda: call(np.random.RandomState(0))


def budgets(call):
    for epsilon in (0, -0.5, NAN, INF, -INF, "1", None, 1j):
        yield "epsilon", lambda epsilon=epsilon: call(epsilon)


def extremes(call, name="epsilon"):
    """Budgets whose noise overflows, or vanishes: they are blamed, and not the records."""
    for number in (5e-324, 1e-300, 1e-51, 1e51, 1e300):
        message = rf"{name} is {re.escape(f'{number:g}')}, .* its noise: give a number between 1e-50 and 1e\+50"
        yield message, lambda number=number: call(number)


def relations(call):
    for word in ("swap", None, True, "Replace"):
        yield f"neighbours is {word!r}: choose one of", lambda word=word: call(word)


def spend(**changes):
    given = {"released": "n", "mechanism": "m", "neighbours": "replace", "norm": "L1", "sensitivity": 1.0, "scale": 1.0}
    return ledger.Spend(**(given | {"epsilon": 0.5} | changes))


def spent(**changes):
    return json.dumps([asdict(spend()) | changes])


def method(**changes):
    return experiment.functional_mechanism("m", BOX, **changes)


def run(method, domain=BOX):
    return experiment.sweep(X, Y, domain, [method], [1.0], experiment.Holdout(1))


FRAME = pd.DataFrame({"method": "m", "epsilon": [1.0, 1.0], "metric": "mse", "median": [1.0, 2.0], "value": 1.0})
CLAIM = {
    "id": "X", "source": "001", "place": "Abstract", "kind": "code", "claim": "", "verdict": "holds", "truth": "",
    "chapter": "", "test": "", "values": {"a": 1},
}  # fmt: skip

# What is called, and then pairs of a fragment of the message and a call that must fail with it.
CASES = {
    "checks.positive": [
        ("x is 0: give", lambda: checks.positive(0, "x")),
        ("x is 'a'", lambda: checks.positive("a", "x")),
    ],
    "checks.finite": [
        ("x is nan", lambda: checks.finite(NAN, "x")),
        ("x is '1'", lambda: checks.finite("1", "x")),
        ("x is 1000", lambda: checks.finite(10**400, "x")),
    ],
    "checks.instance": [
        ("x is of type int: give Box or Ball", lambda: checks.instance(1, (Box, Ball), "x")),
        (r"x is of type Release: give Quadratic .*\.objective", lambda: checks.instance(NOTE, type(F), "x")),
    ],
    "checks.broken": [(r"false \(FM-X\): give as_published", lambda: checks.broken(False, "FM-X", "it is false"))],
    "checks.chance": [
        ("x is 0: give a number above zero and below one", lambda: checks.chance(0, "x")),
        ("x is 1: give a number above zero", lambda: checks.chance(1, "x")),
        ("x is 1: give a number of at least zero and below", lambda: checks.chance(1.0, "x", zero=True)),
        ("x is 1.5: give a number of at least zero and at most", lambda: checks.chance(1.5, "x", zero=True, one=True)),
        ("x is nan: give", lambda: checks.chance(NAN, "x", zero=True)),
    ],
    "checks.flag": [("x is 'no': give", lambda: checks.flag("no", "x"))],
    "checks.epsilons": [*budgets(checks.epsilons), *extremes(checks.epsilons)],
    "checks.budget": [*budgets(checks.budget), *extremes(checks.budget)],
    "checks.within_reach": [
        ("x is 0, .*: give a number between 0.1 and 10", lambda: checks.within_reach(0.0, "x", 10.0)),
        ("x is nan", lambda: checks.within_reach(NAN, "x")),
    ],
    "checks.neighbours": list(relations(checks.neighbours)),
    "checks.choice": [("x is 'c': choose one of 'a'", lambda: checks.choice("c", ("a",), "x"))],
    "checks.count": [("n is 1.5: give a whole", lambda: checks.count(1.5, "n"))],
    "checks.vector": [(r"x has shape \(1, 1\)", lambda: checks.vector([[1]], "x"))],
    "limits.jobs": [("x is 0: give", lambda: limits.jobs(0, "x"))],
    "limits.reals": [("x holds 1e\\+200: give", lambda: limits.reals([1e200], "x"))],
    "limits.sized": [("x is -1e\\+200.*: give", lambda: limits.sized(-1e200, "x"))],
    "limits.fits": [(r"x has shape \(3,\): give", lambda: limits.fits(np.ones(3), (2,), "x"))],
    "limits.shape": [("x is -1: give", lambda: limits.shape(-1, "x"))],
    "limits.has": [("x has no column 'b', or several: give", lambda: limits.has(FRAME, ["b"], "x"))],
    "checks.whole": [("x is 1.5: give", lambda: checks.whole(1.5, "x"))],
    "checks.numeric": [("x has entries of type", lambda: checks.numeric(["a"], "x"))],
    "checks.rows": [("X has 3 columns but the domain has 2", lambda: checks.rows(np.ones((4, 3)), np.ones(4), 2))],
    "checks.all_finite": [("x holds inf", lambda: checks.all_finite(np.array([INF]), "x"))],
    "domain.Model.predict": [
        ("give 2 columns", lambda: Model(0.0, np.ones(2)).predict([[1, 2, 3]])),
        ("X has shape", lambda: Model(0.0, np.ones(2)).predict([1, 2])),
        ("X holds nan", lambda: Model(0.0, np.ones(2)).predict([[1, NAN]])),
        ("entries of type", lambda: Model(0.0, np.ones(2)).predict([["1", "2"]])),
    ],
    "domain.Domain.unscale": [
        ("theta has 2 entries: give 3", lambda: CONSTANT.unscale([1, 2])),
        ("theta holds nan", lambda: BOX.unscale([1, NAN])),
        ("theta has shape", lambda: BOX.unscale(np.ones((2, 1)))),
    ],
    "domain.Box": [
        (r"predictor 1 has bounds \[2, 1\]: give lower < upper", lambda: Box([0, 2], [1, 1], (0, 1))),
        (r"predictor 0 has bounds \[1, 1\]", lambda: Box([1], [1], (0, 1))),
        ("lower has 2 entries and upper has 1", lambda: Box([0, 0], [1], (0, 1))),
        ("lower holds nan", lambda: Box([NAN], [1], (0, 1))),
        ("upper holds inf", lambda: Box([0], [INF], (0, 1))),
        ("lower has shape", lambda: Box([], [], (0, 1))),
        ("lower has shape", lambda: Box(0, 1, (0, 1))),
        ("lower has entries of type", lambda: Box(["0"], [1], (0, 1))),
        (r"response bounds are \(1.0, 0.0\)", lambda: Box([0], [1], (1, 0))),
        (r"response bounds are \(1.0, 1.0\)", lambda: Box([0], [1], (1, 1))),
        (r"response bounds are \(0.0, 1.0, 2.0\)", lambda: Box([0], [1], (0, 1, 2))),
        ("response is of type NoneType: give", lambda: Box([0], [1], None)),
        ("intercept is 'no'", lambda: Box([0], [1], (0, 1), intercept="no")),
        ("corner is 'no'", lambda: Box([0], [1], (0, 1), corner="no")),
        ("response holds inf", lambda: Box([0], [1], (0, INF))),
    ],
    "domain.Box.from_data": [("bounds", quiet(lambda: Box.from_data(np.ones((4, 1)), range(4))))],
    "domain.Ball": [
        ("radius is 0: give", lambda: Ball([0], 0, (0, 1))),
        ("radius is -1", lambda: Ball([0], -1, (0, 1))),
        ("radius is inf", lambda: Ball([0], INF, (0, 1))),
        ("centre holds nan", lambda: Ball([NAN], 1, (0, 1))),
        ("centre has shape", lambda: Ball([], 1, (0, 1))),
        ("response bounds", lambda: Ball([0], 1, (2, 1))),
        ("intercept is None", lambda: Ball([0], 1, (0, 1), intercept=None)),
    ],
    "domain.Ball.from_data": [
        ("radius is 0", quiet(lambda: Ball.from_data(np.ones((4, 1)), range(4)))),
        ("response bounds", quiet(lambda: Ball.from_data(np.arange(4.0)[:, None], np.ones(4)))),
    ],
    "objective.Quadratic": [
        ("M, v and c have shapes", lambda: objective.Quadratic(np.eye(2), np.ones(3), np.array(0.0))),
        ("M, v and c have shapes", lambda: objective.Quadratic(np.ones((2, 3)), np.ones(2), np.array(0.0))),
        ("M, v and c have shapes", lambda: objective.Quadratic(np.eye(2), np.ones(2), np.zeros(1))),
        ("M, v and c have shapes", lambda: objective.Quadratic(np.ones((0, 0)), np.ones(0), np.array(0.0))),
        ("M, v and c have shapes", lambda: objective.Quadratic(1.0, 1.0, 0.0)),
        ("M has entries of type", lambda: objective.Quadratic("a", np.ones(2), np.array(0.0))),
        ("v holds NaN", lambda: objective.Quadratic(np.eye(2), np.array([1, NAN]), np.array(0.0))),
        ("2 columns and its domain 3", lambda: objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0), CONSTANT)),
        ("theta has shape", lambda: F([1.0, 2.0, 3.0])),
        ("theta has shape", lambda: F(1.0)),
        ("theta has entries of type", lambda: F("a")),
        ("domain is of type str", lambda: objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0), "box")),
        ("different domains", lambda: F + objective.linear(X, Y, BALL)),
        ("different domains", lambda: F - NOISY),
    ],
    "objective.Quadratic.sum": [("without a stack", lambda: F.sum())],
    "objective.logistic": [
        ("y holds 0.5: give one of the two labels", lambda: objective.logistic(X, np.full(20, 0.5), BOX)),
        ("not one of labels: give", lambda: objective.logistic(X, np.ones(20), BOX, objective.SQUARED)),
        ("loss is of type int", lambda: objective.logistic(X, np.ones(20), BOX, 3)),
        ("domain is of type int", lambda: objective.logistic(X, np.ones(20), 3)),
    ],
    "objective.Loss": [
        ("square is 0: give", lambda: objective.Loss(0, 1, 1)),
        ("cross is nan", lambda: objective.Loss(1, NAN, 1)),
        ("constant is inf", lambda: objective.Loss(1, 1, INF)),
    ],
    "objective.linear": [
        ("X has 1 columns but the domain has 2", lambda: objective.linear(X[:, :1], Y, BOX)),
        ("domain is of type NoneType: give Domain", lambda: objective.linear(X, Y, None)),
    ],
    "domain.Domain.table": [("X has 4 columns but the domain has 2", lambda: BALL.table(np.ones((20, 4)), Y))],
    "objective.zero": [("p is 0: give a whole number", lambda: objective.zero(0))],
    "objective.from_gram": [("match them", lambda: objective.from_gram(np.eye(6), BOX))],
    "objective.merge": [("shards", lambda: objective.merge([])), ("shards", lambda: objective.merge([1, 2]))],
    "noise.generator": list(seeds(noise.generator)),
    "noise.seed_sequence": [
        *seeds(noise.seed_sequence),
        ("whose state moves: give a seed", lambda: noise.seed_sequence(np.random.default_rng(0))),
    ],
    "noise.repeatable": [*seeds(noise.repeatable)],
    "noise.spawn": [
        *seeds(lambda seed: noise.spawn(seed, 1)),
        ("whose state moves", lambda: noise.spawn(np.random.default_rng(0), 1)),
        ("keys is -1: give", lambda: noise.spawn(0, -1)),
        ("keys is 'a': give", lambda: noise.spawn(0, "a")),
    ],
    "noise.laplace": [
        *seeds(lambda seed: noise.laplace(1.0, (2,), seed)),
        *(("negative or not finite", lambda b=b: noise.laplace(b, (2,), 0)) for b in (-1.0, NAN, INF, [1, -1])),
        ("scale has entries of type", lambda: noise.laplace("1", (), 0)),
        ("one draw per scale", lambda: noise.laplace(np.ones(3), (), 0)),
    ],
    "noise.laplace_cdf": [
        ("scale is 0", lambda: noise.laplace_cdf(1.0, 0)),
        ("scale is nan", lambda: noise.laplace_cdf(1.0, NAN)),
    ],
    "sensitivity.printed_logistic": [("d is 0: give", lambda: sensitivity.printed_logistic(0))],
    "sensitivity.printed_linear": [("d is 0: give", lambda: sensitivity.printed_linear(0))],
    "sensitivity.closed_form": [
        ("convention is 'other'", lambda: sensitivity.closed_form(BOX, "other")),
        ("domain is of type int", lambda: sensitivity.closed_form(2, "copied")),
        ("no closed form", lambda: sensitivity.closed_form(Ball([0], 1, (-1, 1), intercept=True), "copied")),
        *relations(lambda word: sensitivity.closed_form(BOX, "copied", word)),
        *relations(lambda word: sensitivity.closed_form(BALL, "copied", word)),
    ],
    "sensitivity.worst_case": [
        ("not symmetric and nonnegative", lambda: sensitivity.worst_case(-np.ones((3, 3)), BOX)),
        ("not symmetric and nonnegative", lambda: sensitivity.worst_case(np.triu(np.ones((3, 3))), BOX)),
        ("not symmetric and nonnegative", lambda: sensitivity.worst_case(np.full((3, 3), NAN), BOX)),
        (r"A has shape \(2, 2\): give the domain's \(3, 3\)", lambda: sensitivity.worst_case(np.eye(2), BOX)),
        ("A has entries of type", lambda: sensitivity.worst_case("a", BOX)),
        *relations(lambda word: sensitivity.worst_case(np.ones((3, 3)), BOX, word)),
    ],
    "laws.Scales": [
        ("scales M hold a negative", lambda: laws.Scales(-np.eye(2), np.ones(2))),
        ("scales v hold a negative number or NaN", lambda: laws.Scales(np.eye(2), np.array([1, NAN]))),
        ("c is", lambda: laws.Scales(np.eye(2), np.ones(2), (1.0, 2.0))),
        ("scale c is -1", lambda: laws.Scales(np.eye(2), np.ones(2), -1)),
        ("c is nan", lambda: laws.Scales(np.eye(2), np.ones(2), NAN)),
        ("scales have shapes", lambda: laws.Scales(np.eye(2), np.ones(3))),
        ("scales have shapes", lambda: laws.Scales(1.0, 1.0)),
        ("M has entries of type", lambda: laws.Scales("a", np.ones(2))),
    ],
    "laws.Scales.times": [
        ("negative number or NaN", lambda: UNIT.times(-1)),
        ("negative number or NaN", lambda: UNIT.times(NAN)),
        ("leave c infinite", lambda: laws.unit_scales("copied", 2, constant=True).times([1, 2])),
    ],
    "laws.Scales.cost": [("certify one choice at a time", lambda: UNIT.times([1, 2]).cost())],
    "laws.unit_scales": [
        ("convention is 'other': choose one of", lambda: laws.unit_scales("other", 2)),
        ("p is 0: give", lambda: laws.unit_scales("copied", 0)),
        ("p is 2.0: give", lambda: laws.unit_scales("copied", 2.0)),
    ],
    "laws.functional": [
        *budgets(lambda epsilon: laws.functional(BOX, epsilon)),
        *budgets(lambda epsilon: laws.functional(BOX, [1.0, epsilon])),
        ("epsilon is empty", lambda: laws.functional(BOX, [])),
        *extremes(lambda epsilon: laws.functional(BOX, epsilon)),
        *extremes(lambda epsilon: laws.functional(BOX, [1.0, epsilon])),
        ("epsilon is 1e-20, .*give a larger", lambda: laws.functional(BOX, 1e-20, loss=STEEP)),
        ("domain is of type ndarray: give Domain", lambda: laws.functional(X, 1.0)),
        *relations(lambda word: laws.functional(BOX, 1.0, neighbours=word)),
        ("sensitivity is 'loose': choose", lambda: laws.functional(BOX, 1.0, sensitivity="loose")),
        ("convention is None: choose", lambda: laws.functional(BOX, 1.0, convention=None)),
    ],
    "laws.certify": [
        ("law is of type int: give Law", lambda: laws.certify(3, BOX)),
        ("law is of type float: give Law", lambda: laws.certify(1.0, BOX)),
        ("columns and the domain 3: match", lambda: laws.certify(UNIT, CONSTANT)),
        ("domain is of type NoneType", lambda: laws.certify(UNIT, None)),
        *relations(lambda word: laws.certify(UNIT, BOX, word)),
    ],
    "search.worst_pair": [
        *relations(lambda word: search.worst_pair(UNIT, BOX, word)),
        *seeds(lambda seed: search.worst_pair(UNIT, BOX, random_state=seed)),
        ("restarts is 0: give", lambda: search.worst_pair(UNIT, BOX, restarts=0)),
        ("steps is -1: give", lambda: search.worst_pair(UNIT, BOX, steps=-1)),
        ("2 columns and the domain 3", lambda: search.worst_pair(UNIT, CONSTANT)),
        ("scale zero", lambda: search.worst_pair(UNIT.times(0), BOX)),
        ("scales is of type int", lambda: search.worst_pair(1, BOX)),
        ("domain is of type int", lambda: search.worst_pair(UNIT, 1)),
    ],
    "search.log_ratio": [("scale zero", lambda: search.log_ratio(F, F, F + F, UNIT.times(0)))],
    "ledger.Spend": [
        ("epsilon is -1", lambda: spend(epsilon=-1)),
        ("epsilon is inf", lambda: spend(epsilon=INF)),
        ("epsilon is nan", lambda: spend(epsilon=NAN)),
        ("epsilon is 1e-101, .*: give a number between 1e-100", lambda: spend(epsilon=1e-101)),
        ("epsilon is 1e\\+101, .*: give a number between 1e-100", lambda: spend(epsilon=1e101)),
        ("scale of the noise is inf.*: give a larger epsilon", lambda: spend(epsilon=0.0, scale=INF)),
        *relations(lambda word: spend(neighbours=word)),
    ],
    "ledger.Ledger.from_json": [
        ("text is no ledger .*: give what", lambda: ledger.Ledger.from_json(3)),
        ("text is no ledger .*: give what", lambda: ledger.Ledger.from_json("[")),
        ("text is no ledger .*: give what", lambda: ledger.Ledger.from_json('[{"epsilon": 1.0}]')),
        ("text is no ledger .*: give what", lambda: ledger.Ledger.from_json("[1]")),
        ("text is no ledger .*: give what", lambda: ledger.Ledger.from_json('{"a": [1]}')),
        ("text is no ledger .*epsilon", lambda: ledger.Ledger.from_json(spent(epsilon=-1.0))),
        ("text is no ledger .*epsilon", lambda: ledger.Ledger.from_json(spent(epsilon="nan"))),
    ],
    "budget.Budget": [
        *budgets(budget.Budget),
        ("delta is -1: give", lambda: budget.Budget(1.0, -1.0)),
        ("delta is 1: give", lambda: budget.Budget(1.0, 1)),
        ("delta is 'a': give", lambda: budget.Budget(1.0, "a")),
        ("ledger is of type int: give", lambda: budget.Budget(1.0, ledger=3)),
        ("epsilon is 1.0 and rho is 1.0: give one", lambda: budget.Budget(1.0, rho=1.0)),
        ("rho is 0: give", lambda: budget.Budget(rho=0)),
        ("delta is 0.1: a budget in rho", lambda: budget.Budget(delta=0.1, rho=1.0)),
        ("costs 2 and 1 of 1", lambda: budget.Budget(1.0, ledger=ledger.Ledger((spend(epsilon=2.0),)))),
    ],
    "budget.Budget.charge": [
        ("costs 2 and 1 of 1 is left", lambda: budget.Budget(1.0).charge(spend(epsilon=2.0))),
        ("a rho of 2 and 1 of 1", lambda: budget.Budget(rho=1.0).charge(spend(zcdp=2.0))),
        ("spend is of type float: give", lambda: budget.Budget(1.0).charge(1.0)),
    ],
    "release.perturb": [
        ("3 columns and the objective 2", lambda: release.perturb(F, laws.unit_scales("copied", 3))),
        *seeds(lambda seed: release.perturb(F, SCALES, seed)),
        ("objective is of type ndarray", lambda: release.perturb(X, SCALES)),
        ("law is of type float: give Law", lambda: release.perturb(F, 1.0)),
        ("not finite", lambda: release.perturb(F, laws.Scales(np.full((2, 2), INF), np.ones(2)))),
    ],
    "budget.pay": [
        ("cost is of type float: give Spend or Ledger", lambda: budget.pay(1.0, noise.generator)),
        ("budget is of type str: give Budget", lambda: budget.pay(NOTE.ledger, noise.generator, 1, "ten")),
        ("a Generator, and a budget", lambda: budget.pay(NOTE.ledger, noise.generator, rng, budget.Budget(1.0))),
        *seeds(lambda seed: budget.pay(NOTE.ledger, noise.generator, seed)),
        ("dice takes no seed: leave", lambda: budget.pay(NOTE.ledger, noise.generator, 3, origin="dice")),
    ],
    "release.release": [
        ("no domain", lambda: release.release(NOISY, SCALES)),
        ("stack of shape", lambda: release.release(F[None], SCALES)),
        ("objective is of type ndarray: give Quadratic", lambda: release.release(X, SCALES)),
        ("budget is of type float: give Budget", lambda: release.release(F, SCALES, budget=1.0)),
        ("sampler is 'dp': choose one of 'numpy', 'op", lambda: release.release(F, SCALES, sampler="dp")),
        ("on no lattice: build it with bits", lambda: release.release(F, SCALES, sampler="opendp")),
        ("stacked with shape", lambda: release.release(F, laws.functional(BOX, [1.0, 2.0]))),
        ("scale zero", lambda: release.release(F, UNIT.times(0))),
        ("epsilon is .*e-300, .* its noise: give", lambda: release.release(F, UNIT.times(1e300))),
        ("scale of the noise is inf", lambda: release.release(F, laws.Scales(np.full((2, 2), INF), np.ones(2)))),
        ("use more noise", lambda: release.release(F, SCALES, budget=budget.Budget(0.5))),
        *relations(lambda word: release.release(F, SCALES, neighbours=word)),
        *seeds(lambda seed: release.release(F, SCALES, seed)),
    ],
    "release.price": [
        ("no domain", lambda: release.price(NOISY, SCALES)),
        ("columns and the domain 2: match", lambda: release.price(F, laws.unit_scales("copied", 3))),
        *relations(lambda word: release.price(F, SCALES, word)),
    ],
    "repair.ridge": [
        *(("ridge is negative or not finite", lambda a=a: repair.ridge(BOWL, a)) for a in (-1, NAN, INF, [1, -1])),
        ("amount has entries of type", lambda: repair.ridge(BOWL, "1")),
        (r"objective is of type Release.*\.objective", lambda: repair.ridge(NOTE, 1.0)),
    ],
    "repair.deviations": [
        ("k is 0: give", lambda: repair.deviations(UNIT, 0)),
        ("k is '4'", lambda: repair.deviations(UNIT, "4")),
        ("law is of type Box", lambda: repair.deviations(BOX)),
    ],
    "repair.trim": [
        *(("floor is negative or not finite", lambda a=a: repair.trim(BOWL, a)) for a in (-1, NAN, INF)),
        ("floor has entries of type", lambda: repair.trim(BOWL, "0")),
        (r"objective is of type Release.*\.objective", lambda: repair.trim(NOTE)),
    ],
    "repair.positive": [
        *(("ridge is negative or not finite", lambda a=a: repair.positive(BOWL, a)) for a in (-1, NAN, INF)),
        (r"objective is of type Release.*\.objective", lambda: repair.positive(NOTE, 1.0)),
    ],
    "repair.bound": [("k is 0: give", lambda: repair.bound(BOWL, UNIT, 0))],
    "repair.retry": [
        ("limit is 0: give", lambda: repair.retry(F, SCALES, limit=0)),
        *extremes(lambda epsilon: repair.retry(F, laws.functional(BOX, epsilon))),
        ("epsilon is .*e-300, .* its noise: give", lambda: repair.retry(F, UNIT.times(1e300))),
        ("hopeless here", lambda: repair.retry(objective.from_gram(-1e9 * np.eye(3), BOX), UNIT, 0, limit=3)),
        ("no domain", lambda: repair.retry(NOISY, SCALES)),
        ("use more noise", lambda: repair.retry(F, SCALES, budget=budget.Budget(1.5))),
        ("budget is of type int", lambda: repair.retry(F, SCALES, budget=2)),
        *relations(lambda word: repair.retry(F, SCALES, neighbours=word)),
        *seeds(lambda seed: repair.retry(F, SCALES, seed)),
    ],
    "solve.Penalty": [
        ("lam is -1: give", lambda: solve.Penalty(-1)),
        ("lam is nan", lambda: solve.Penalty(NAN)),
        ("lam is '1'", lambda: solve.Penalty("1")),
        ("alpha is 1.5: give", lambda: solve.Penalty(1, 1.5)),
        ("alpha is inf", lambda: solve.Penalty(1, INF)),
    ],
    "solve.minimise": [
        ("eigenvalue -2", lambda: solve.minimise(SADDLE)),
        ("eigenvalue -2", lambda: solve.minimise(SADDLE, LASSO)),
        ("flat: trim it first", lambda: solve.minimise(GUTTER)),
        (r"objective is of type Release.*\.objective", lambda: solve.minimise(NOTE)),
        ("penalty is of type float: give Penalty", lambda: solve.minimise(BOWL, 0.1)),
    ],
    "solve.asymmetric_closed_form": [
        ("L1 weight of 1: there is no closed form, use minimise", lambda: solve.asymmetric_closed_form(BOWL, LASSO)),
        ("singular", lambda: solve.asymmetric_closed_form(GUTTER)),
    ],
    "solve.Program": [("p is 0: give", lambda: solve.Program(0)), ("p is 1.5", lambda: solve.Program(1.5))],
    "solve.Program.solve": [
        ("give one of 3", lambda: solve.Program(3).solve(BOWL)),
        ("objective is of type Release", lambda: solve.Program(2).solve(NOTE)),
        ("penalty is of type int", lambda: solve.Program(2).solve(BOWL, 1)),
        ("give one of 2", lambda: solve.Program(2).solve(BOWL[None])),
        ("eigenvalue -2", lambda: solve.Program(2).solve(SADDLE)),
        ("trim it first", lambda: solve.Program(2).solve(GUTTER)),
    ],
    "nonprivate.twin": [
        ("n is 1: give", lambda: nonprivate.twin(LASSO, 1)),
        ("n is 5.0", lambda: nonprivate.twin(LASSO, 5.0)),
    ],
    "nonprivate.choose_penalty": [
        ("alpha is 2", quiet(lambda: nonprivate.choose_penalty(X, Y, BOX, 2.0))),
        ("folds is 1: give", quiet(lambda: nonprivate.choose_penalty(X, Y, BOX, 1.0, folds=1))),
        ("folds is 21 for 20 records", quiet(lambda: nonprivate.choose_penalty(X, Y, BOX, 1.0, folds=21))),
        ("random_state is -1", quiet(lambda: nonprivate.choose_penalty(X, Y, BOX, 1.0, random_state=-1))),
        ("domain is of type int", quiet(lambda: nonprivate.choose_penalty(X, Y, 2, 1.0))),
        ("grid has shape", quiet(lambda: nonprivate.choose_penalty(X, Y, BOX, 1.0, grid=()))),
        ("candidate of grid is 0", quiet(lambda: nonprivate.choose_penalty(X, Y, BOX, 1.0, grid=(1.0, 0.0)))),
    ],
    "splits.CrossValidation": [
        ("repeats is 0: give", lambda: experiment.CrossValidation(0)),
        ("folds is 1: give", lambda: experiment.CrossValidation(5, 1)),
        ("folds is 2.5: give", lambda: experiment.CrossValidation(5, 2.5)),
        ("folds is 40000: give at most", lambda: experiment.CrossValidation(5, 40000)),
        *(("rate is", lambda rate=rate: experiment.CrossValidation(5, 5, rate)) for rate in (0, 1.01, -0.5, NAN, "1")),
    ],
    "splits.Holdout": [
        ("repeats is '5'", lambda: experiment.Holdout("5")),
        *(("share is", lambda share=share: experiment.Holdout(5, share)) for share in (0, 1, -0.2, 1.5, NAN, "0.2")),
    ],
    "experiment.functional_mechanism": [
        ("convention is 'other'", lambda: method(convention="other")),
        ("sensitivity is 'loose'", lambda: method(sensitivity="loose")),
        *relations(lambda word: method(neighbours=word)),
        ("ridge is negative", lambda: run(method(ridge=-1.0))),
        ("floor is negative", lambda: run(method(floor=-1.0))),
        ("eigenvalue", lambda: run(method(ridge=None, floor=None))),
        ("'m' has the noise for another domain", lambda: run(method(), CONSTANT)),
        ("'m' has the noise for another domain", lambda: run(method(), BALL)),
    ],
    "splits.fold_moments": [
        ("each of 20 records", lambda: splits.fold_moments(np.ones((20, 3)), np.zeros(5, int), 2, BOX)),
        ("one of 2 folds", lambda: splits.fold_moments(np.ones((3, 3)), np.array([0, 1, 2]), 2, BOX)),
        ("match them", lambda: splits.fold_moments(np.ones((3, 5)), np.array([0, 1, 1]), 2, BOX)),
    ],
    "splits.Partition": [
        ("use more records", lambda: splits.Partition(X, Y, BOX.table(X, Y), BOX, np.zeros(20, np.int16), (0,))),
    ],
    "experiment.sweep": [
        *budgets(lambda epsilon: sweep(epsilons=[0.5, epsilon])()),
        *budgets(lambda epsilon: sweep(epsilons=epsilon)()),
        ("epsilon is empty", sweep(epsilons=[])),
        *extremes(lambda epsilon: sweep(epsilons=[1.0, epsilon])()),
        (r"method names are \['plain', 'plain'\]", sweep(methods=[PLAIN, PLAIN])),
        (r"method names are \[\]", sweep(methods=[])),
        ("methods is of type Method: give list or tuple", sweep(methods=PLAIN)),
        ("an entry of methods is of type str", sweep(methods=["plain"])),
        ("protocol is of type int: give CrossValidation or Holdout", sweep(protocol=5)),
        ("domain is of type int", lambda: run(PLAIN, 2)),
        ("an entry of metrics is 'mae': choose one of", sweep(metrics=("mae",))),
        ("no metrics", sweep(metrics=())),
        ("y holds .* one of the two labels", sweep(metrics=("auc",))),
        ("y holds .* one of the two labels", sweep(methods=[experiment.no_privacy("m", loss=objective.TAYLOR)])),
        ("'odd' returned coefficients of shape", sweep(methods=[experiment.Method("odd", lambda f, e, rng: f.c)])),
        *((message, call) for message, call in seeds(lambda seed: sweep(random_state=seed)())),
        ("whose state moves: give a seed", sweep(random_state=np.random.default_rng(0))),
        ("use more records", sweep(protocol=experiment.CrossValidation(1, 21))),
        ("use more records", sweep(protocol=experiment.Holdout(1, 0.01))),
    ],
    "methods.method_generator": [
        ("keys is -1: give", lambda: methods.method_generator(np.random.SeedSequence(0), -1, PLAIN)),
    ],
    "experiment.summarise": [
        ("by is empty", lambda: experiment.summarise(FRAME, by=())),
        (r"the band is \(0.8, 0.2\): give", lambda: experiment.summarise(FRAME, 0.8, 0.2)),
        (r"the band is \(-1, 0.2\)", lambda: experiment.summarise(FRAME, -1, 0.2)),
        ("low is nan: give", lambda: experiment.summarise(FRAME, NAN, 0.2)),
        ("by is .* no column 'rate': give", lambda: experiment.summarise(FRAME, by=["method", "rate"])),
    ],
    "report.audit": [
        ("the report is empty: give", lambda: report.audit(Report((), 1, 0.0))),
        ("found is of type str: give", lambda: report.audit("a report")),
    ],
    "report.cases": [
        ("frame has 1 columns: give two", lambda: report.cases(FRAME.iloc[:, :1])),
        ("value is None: give a number", lambda: report.cases(pd.DataFrame({"a": ["US"], "b": [None]}))),
    ],
    "report.medians": [
        ("tables is empty: give", lambda: report.medians({})),
        ("tables: 'US' has no line: give", lambda: report.medians({"US": FRAME[[]]})),
    ],
    "report.number": [
        ("digits is 0: give", lambda: report.number(1.0, 0)),
        ("value is None: give a number", lambda: report.number(None)),
    ],
    "report.table": [
        ("digits is 2.5", lambda: report.table(FRAME, 2.5)),
        ("61 rows and 1 columns: give at most 60", lambda: report.table(pd.DataFrame({"a": range(61)}))),
        ("value is None", lambda: report.table(pd.DataFrame({"a": [1], "b": [None]}))),
    ],
    "report.turned": [
        ("frame has 1 columns", lambda: report.turned(FRAME.iloc[:, :1], "US")),
        ("digits is 2.5", lambda: report.turned(FRAME, "US", 2.5))],
    "report.pivot": [
        ("summary has no rows", lambda: report.pivot(FRAME.assign(median=1.0)[:0])),
        ("choose one metric", lambda: report.pivot(FRAME))],
    "plot.drawn": [("points is 1: give", lambda: plot.drawn(plot.figure()[1][0], points=1))],
    "plot.numbers": [("points is 1: give", lambda: plot.numbers(plot.figure()[1][0], points=1))],
    "verdicts.settled": [("source is '007': choose", lambda: verdicts.settled("007"))],
    "verdicts.not_judged": [("source is '007': choose", lambda: verdicts.not_judged("007"))],
    "verdicts.Paper": [("source is '007': choose", lambda: verdicts.Paper("007"))],
    "verdicts.Errata": [("source is '007': choose", lambda: verdicts.Errata("007"))],
    "claims.Claim": [
        ("source is '9', choose", lambda: claims.Claim(**CLAIM | {"source": "9"})),
        ("kind is 'x': choose", lambda: claims.Claim(**CLAIM | {"kind": "x"})),
        ("verdict is 'x': choose", lambda: claims.Claim(**CLAIM | {"verdict": "x"})),
        ("no values: give", lambda: claims.Claim(**CLAIM | {"values": {}})),
        ("place is 'Sec. 1', give", lambda: claims.Claim(**CLAIM | {"place": "Sec. 1"})),
        ("tolerances has 'b', none of its numbers: give", lambda: claims.Claim(**CLAIM | {"tolerances": {"b": 1.0}})),
        ("wrong has 'b', none of its numbers: give", lambda: claims.Claim(**CLAIM | {"wrong": {"b": 1.0}})),
    ],
    "claims.check": [("no claim 'NO-1': add it", lambda: claims.check("NO-1", x=1))],
    "claims.outcomes": [("no claim names the chapter 'no/where': check", lambda: claims.outcomes("no/where"))],
    "claims.box": [("no claim names the chapter 'no/where': check", lambda: claims.box("no/where"))],
    "datasets.wine": [("nowhere.csv is missing", lambda: datasets.wine("nowhere.csv"))],
    "datasets.verified": [
        ("has sha256", lambda: datasets.verified(datasets.DATA / datasets.WINE_FILE, "0" * 64)),
    ],
}  # fmt: skip

# Nothing in these can be wrong, or another test is about what can.
EXEMPT = {
    "laws.Law": "abstract",
    "laws.Law.certify": "abstract",
    "laws.Law.times": "abstract",
    "laws.Law.perturb": "abstract",
    "laws.Scales.certify": "laws.certify calls it",
    "laws.Scales.perturb": "inner step of release.perturb",
    "logistic.predicted": "inner step of misclassified",
    "shared.Shared": "any value will do",
    "checks.InputError": "an error",
    "checks.BudgetError": "an error",
    "checks.IndefiniteError": "an error",
    "checks.SolverError": "an error",
    "checks.DataError": "an error",
    "checks.PrivacyLeakWarning": "a warning",
    "checks.BrokenGuaranteeWarning": "a warning",
    "claims.LedgerError": "an error",
    "domain.Model": "what unscale returns",
    "domain.Domain": "abstract",
    "domain.Domain.clip": "inner step on checked blocks",
    "domain.Box.clip": "inner step on checked blocks",
    "domain.Ball.clip": "inner step on checked blocks",
    "domain.Domain.scale_block": "inner step; the records have been checked by its callers, listed above",
    "search.Pair": "what worst_pair returns",
    "ledger.Ledger": "holds Spends, which are checked; mixing neighbours is in test_release",
    "release.Release": "what release returns",
    "ledger.Ledger.to_frame": "no arguments",
    "ledger.Ledger.to_json": "no arguments",
    "ledger.Ledger.drawn": "inner step of pay",
    "budget.charge": "inner step of pay",
    "noise.origin": "pay shows it: the errors of generator",
    "checks.enough": "rows calls it",
    "checks.real": "finite calls it, and any value will do",
    "checks.shown": "any value will do",
    "arguments.checked": "test_fuzz calls what it checks",
    "findings.Finding": "what an audit returns",
    "findings.Report": "what an audit returns",
    "domain.Domain.records": "table calls it",
    "bounds.named": "Box and Ball call it",
    "bounds.apart": "Box calls it",
    "bounds.interval": "Box and Ball call it",
    "bounds.pairs": "Box calls it",
    "bounds.data_range": "from_data calls it",
    "solve.violation": "arithmetic on checked objects",
    "methods.Method": "a record of the user's own function",
    "experiment.no_privacy": "arguments are checked objects",
    "splits.CrossValidation.labels": "inner step of sweep",
    "splits.Holdout.labels": "inner step of sweep",
    "splits.Partition.train": "inner step of sweep",
    "splits.Partition.training": "inner step of sweep",
    "splits.Partition.training_rows": "inner step of sweep",
    "splits.Partition.on_test_rows": "inner step of sweep",
    "splits.fold_grams": "inner step of fold_moments",
    "methods.plan": "inner step of sweep",
    "methods.gathered": "inner step of sweep",
    "methods.frame": "inner step of sweep",
    "splits.totals": "inner step of sweep",
    "scores.check_metrics": "sweep calls it",
    "scores.needs_labels": "inner step of sweep",
    "scores.Fit": "inner step of sweep",
    "scores.scored": "inner step of sweep",
    "newton.descend": "newton calls it",
    "newton.pointwise": "arithmetic on any finite numbers",
    "newton.blocked": "inner step of logistic",
    "newton.over": "inner step of newton",
    "attribute.rows_of": "inversion.scores calls it",
    "attribute.distribution": "attribute.Attribute calls it",
    "histogram.Part": "inner step of NoisyGrid",
    "histogram.Part.gram": "inner step of NoisyGrid",
    "histogram.Part.total": "inner step of NoisyGrid",
    "histogram.tally": "inner step of count",
    "inversion.accuracies": "accuracy calls it",
    "splits.draw": "inner step of sweep, which checks",
    "methods.fitted": "inner step of sweep",
    "methods.check_methods": "sweep calls it",
    "methods.RowMethod": "a record of the user's own function",
    "methods.Method.coefficients": "inner step of sweep",
    "methods.Method.takes_part": "inner step of sweep",
    "methods.RowMethod.coefficients": "inner step of sweep",
    "methods.RowMethod.takes_part": "inner step of sweep",
    "objective.check_labels": "objective.logistic calls it",
    "logistic.records": "fit and misclassified call it",
    "datasets.Dataset": "what the loaders return",
    "datasets.Dataset.box": "two switches",
    "plot.figure": "matplotlib checks it",
    "plot.style": "any index will do",
    "plot.bands": "draws what summarise returns",
    "plot.series": "draws what summarise returns",
    "plot.panels": "draws what summarise returns",
    "plot.boxes": "draws what sweep returns",
    "plot.outliers": "counts what boxes draws",
    "plot.curves": "matplotlib checks it",
    "plot.legend": "shows what is drawn",
    "claims.Claim.differences": "compares anything; test_ledger",
    "claims.load": "test_ledger, which writes bad files",
    "claims.Table": "holds Claims, which are checked",
    "verdicts.counts": "no arguments",
    "verdicts.Everything": "no arguments",
    "verdicts.save": "a folder that is not there is Python's own error",
    "verdicts.position": "any text has a position",
    "verdicts.opening": "any text has one",
    "report.line": "hands each number to report.number",
}

for info in pkgutil.iter_modules([str(Path(__file__).parent)]):  # the rest, one file per module
    if info.name.startswith("bad_"):
        more = importlib.import_module(info.name)
        CASES |= more.CASES
        EXEMPT |= more.EXEMPT

TYPED = (InputError, BudgetError, IndefiniteError, SolverError, DataError)
FLAT = [(name, number, message, call) for name, cases in CASES.items() for number, (message, call) in enumerate(cases)]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "number", "message", "call"), FLAT, ids=[f"{name}-{k}" for name, k, _, _ in FLAT])
def test_bad_argument(name, number, message, call):
    with pytest.raises(TYPED, match=message) as caught:
        call()
    assert re.search(MEND, str(caught.value)), f"{caught.value}: it does not say how to mend it"
    assert not re.search(r"np\.|float64\(|array\(", str(caught.value)), "it shows Python, not the value"


def test_a_solver_that_gives_up_is_an_error_of_ours(monkeypatch):
    def fail(self, **options):
        raise cvxpy.error.SolverError("out of breath")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    with pytest.raises(SolverError, match="SCS failed: out of breath"):
        solve.Program(2).solve(BOWL)


def public():
    """Every public function, class and method with arguments, as module.name."""
    for package in (dpreg, lib):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield from public_of(importlib.import_module(info.name))


def public_of(module):
    stem = module.__name__.rpartition(".")[2]
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing):
            yield f"{stem}.{name}"
            for attribute, method in vars(thing).items():
                method = getattr(method, "__func__", method)
                if inspect.isfunction(method) and not attribute.startswith("_"):
                    yield f"{stem}.{name}.{attribute}"
        elif callable(thing):
            yield f"{stem}.{name}"


def test_every_public_function_is_in_the_table():
    named = set(CASES) | set(READERS) | {"domain.Domain.scale"}
    found = set(public())
    assert found - named - set(EXEMPT) == set(), (
        "add bad input for these to CASES of tests/faults/bad_<module>.py, or say in its EXEMPT why there is none"
    )
    assert set(CASES) & set(EXEMPT) == set()
    assert (set(CASES) | set(EXEMPT)) - found == set(), "these no longer exist"
    assert all(EXEMPT.values())
    assert {f"{name.rsplit('.', 1)[0]}" for name in READERS} <= {f"{n.rsplit('.', 1)[0]}" for n in found}
