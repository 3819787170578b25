"""Hostile values: what a caller may pass by mistake, or on purpose, in place of any argument.

Each is made anew for each call. Its kinds say as what it may be accepted: an answer to anything else is a silent one.
"""

import datetime
import decimal
import fractions
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse

from dpreg.mechanisms import irls_laws
from dpreg.mechanisms.grid import Grid
from dpreg.pipeline import laws, objective
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box, Model
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.solve import Penalty


@dataclass(frozen=True)
class Hostile:
    make: object
    kinds: frozenset
    huge: bool = False


class Sub(np.ndarray):
    """A subclass of arrays."""


class Real(float):
    """A subclass of float."""


class Loud:
    """What raises an error of its own when it is asked for anything."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")

    def __len__(self):
        raise RuntimeError("no length")

    def __float__(self):
        raise RuntimeError("no number")

    def __bool__(self):
        raise RuntimeError("no truth")


BOX = Box([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0))


def odd():
    """An objective whose loss no paper prints."""
    loss = objective.Loss(0.1, -0.5, 0.7, labels=True)
    return objective.Quadratic(np.eye(2), np.ones(2), np.array(8.0), BOX, loss)


NAN, INF = math.nan, math.inf
# As what a value may be taken; "object" is for arguments of a class, where the class decides.
FLAGS, WHOLE, FLOATS, ARRAYS = (
    {"bool", "int", "float", "array"},
    {"int", "float", "array"},
    {"float", "array"},
    {"array"},
)
LISTS, TEXT, NONE, MAPS = {"array", "list"}, {"text"}, {"none"}, {"mapping"}

VALUES = {
    # numbers
    "None": (lambda: None, NONE),
    "True": (lambda: True, FLAGS),
    "False": (lambda: False, FLAGS),
    "numpy True": (lambda: np.True_, FLAGS),
    "0": (lambda: 0, FLAGS),
    "1": (lambda: 1, FLAGS),
    "2": (lambda: 2, WHOLE),
    "-1": (lambda: -1, WHOLE),
    "-5": (lambda: -5, WHOLE),
    "0.0": (lambda: 0.0, FLOATS),
    "-0.0": (lambda: -0.0, FLOATS),
    "-0.5": (lambda: -0.5, FLOATS),
    "0.5": (lambda: 0.5, FLOATS),
    "1.5": (lambda: 1.5, FLOATS),
    "2.0": (lambda: 2.0, FLOATS),
    "NaN": (lambda: NAN, {"array"}),
    "inf": (lambda: INF, FLOATS),
    "-inf": (lambda: -INF, FLOATS),
    "5e-324": (lambda: 5e-324, FLOATS),
    "1e-300": (lambda: 1e-300, FLOATS),
    "1e-17": (lambda: 1e-17, FLOATS),
    "1e17": (lambda: 1e17, FLOATS),
    "1e300": (lambda: 1e300, FLOATS),
    "1e308": (lambda: 1e308, FLOATS),
    "-1e308": (lambda: -1e308, FLOATS),
    "10**400": (lambda: 10**400, set()),
    "-(10**400)": (lambda: -(10**400), set()),
    "2**31": (lambda: 2**31, WHOLE),
    "2**63": (lambda: 2**63, WHOLE),
    "10**8": (lambda: 10**8, WHOLE),
    "10**12": (lambda: 10**12, WHOLE),
    "complex": (lambda: 1 + 1j, set()),
    "numpy complex": (lambda: np.complex128(1j), set()),
    "Decimal": (lambda: decimal.Decimal("0.5"), FLOATS),
    "Decimal NaN": (lambda: decimal.Decimal("NaN"), set()),
    "Decimal huge": (lambda: decimal.Decimal("1e999"), set()),
    "Fraction": (lambda: fractions.Fraction(1, 3), FLOATS),
    "float32": (lambda: np.float32(0.5), FLOATS),
    "float16 inf": (lambda: np.float16(INF), FLOATS),
    "float64": (lambda: np.float64(0.5), FLOATS),
    "float64 NaN": (lambda: np.float64(NAN), {"array"}),
    "longdouble": (lambda: np.longdouble("0.1"), FLOATS),
    "longdouble huge": (lambda: np.longdouble(1e308) * 4, FLOATS),
    "int8": (lambda: np.int8(2), WHOLE),
    "uint64": (lambda: np.uint64(2), WHOLE),
    "uint64 huge": (lambda: np.uint64(2**64 - 1), WHOLE),
    "float subclass": (lambda: Real(0.5), FLOATS),
    # arrays
    "0-d": (lambda: np.array(0.5), FLOATS),
    "0-d whole": (lambda: np.array(2), FLOATS),
    "0-d NaN": (lambda: np.array(NAN), ARRAYS),
    "0-d object": (lambda: np.array(object(), dtype=object), set()),
    "0-d text": (lambda: np.array("a"), set()),
    "one entry": (lambda: np.array([0.5]), LISTS),
    "[1]": (lambda: [1], LISTS),
    "[0]": (lambda: [0], LISTS),
    "[-1]": (lambda: [-1], LISTS),
    "[0, 0]": (lambda: [0, 0], LISTS),
    "[1, 1]": (lambda: [1, 1], LISTS),
    "tuple": (lambda: (1.0, 2.0), LISTS),
    "reversed pair": (lambda: (2.0, 1.0), LISTS),
    "three": (lambda: [0.1, 0.2, 0.3], LISTS),
    "many": (lambda: [0.5] * 50, LISTS),
    "NaN in a list": (lambda: [NAN, 1.0], LISTS),
    "inf in a list": (lambda: [INF, 1.0], LISTS),
    "huge in a list": (lambda: [1e308, 1e308], LISTS),
    "tiny in a list": (lambda: [5e-324, 5e-324], LISTS),
    "[10**400]": (lambda: [10**400], set()),
    "3-d": (lambda: np.ones((2, 2, 2)), LISTS),
    "2-d": (lambda: np.ones((2, 3)), LISTS),
    "square NaN": (lambda: np.full((2, 2), NAN), LISTS),
    "square huge": (lambda: np.full((2, 2), 1e308), LISTS),
    "square -1": (lambda: -np.eye(2), LISTS),
    "no rows": (lambda: np.ones((0, 2)), LISTS),
    "no columns": (lambda: np.ones((2, 0)), LISTS),
    "[]": (lambda: [], LISTS),
    "()": (lambda: (), LISTS),
    "ragged": (lambda: [[1, 2], [3]], {"list"}),
    "list of None": (lambda: [None, None], {"list"}),
    "list of text": (lambda: ["a", "b"], {"list"}),
    "list of objects": (lambda: [object()], {"list"}),
    "twins": (lambda: ["a", "a"], {"list"}),
    "integers": (lambda: np.array([0, 1]), LISTS),
    "booleans": (lambda: np.array([True, False]), LISTS),
    "complex array": (lambda: np.array([1j, 1.0]), {"list"}),
    "objects": (lambda: np.array([object(), None], dtype=object), {"list"}),
    "Decimals": (lambda: np.array([decimal.Decimal("0.5"), 1], dtype=object), LISTS),
    "text array": (lambda: np.array(["a", "b"]), {"list"}),
    "dates": (lambda: np.array(["2000-01-01"], dtype="M8[D]"), {"list"}),
    "times": (lambda: np.array([1], dtype="m8[s]"), {"list"}),
    "records": (lambda: np.zeros(2, dtype=[("a", "f8")]), {"list"}),
    "masked": (lambda: np.ma.masked_array([1.0, 2.0], mask=[True, False]), {"list"}),
    "matrix": (lambda: np.asmatrix(np.eye(2)), LISTS),
    "array subclass": (lambda: np.ones(2).view(Sub), LISTS),
    "read-only": (lambda: np.broadcast_to(1.0, (2,)), LISTS),
    "sparse": (lambda: scipy.sparse.csr_matrix(np.eye(2)), set()),
    "sparse array": (lambda: scipy.sparse.coo_array(np.eye(2)), set()),
    "Series": (lambda: pd.Series([0.5, 1.0]), {*LISTS, "frame"}),
    "Series of NA": (lambda: pd.Series([1, None], dtype="Int64"), {"list", "frame"}),
    "frame": (lambda: pd.DataFrame({"a": [1.0, 2.0], "b": 3.0}), {*LISTS, "frame"}),
    "empty frame": (lambda: pd.DataFrame(), {*LISTS, "frame"}),
    # no numbers
    "pd.NA": (lambda: pd.NA, set()),
    "NaT": (lambda: pd.NaT, set()),
    "timedelta64": (lambda: np.timedelta64(3, "s"), set()),
    "datetime64": (lambda: np.datetime64("2000-01-01"), set()),
    "timedelta": (lambda: datetime.timedelta(1), set()),
    "date": (lambda: datetime.date(2000, 1, 1), set()),
    "empty text": (lambda: "", TEXT),
    "no": (lambda: "no", TEXT),
    "yes": (lambda: "yes", TEXT),
    "1 as text": (lambda: "1", TEXT),
    "nan as text": (lambda: "nan", TEXT),
    "numpy text": (lambda: np.str_("a"), TEXT),
    "bytes": (lambda: b"1", set()),
    "dict": (lambda: {"a": 1.0}, MAPS),
    "empty dict": (lambda: {}, MAPS),
    "dict of numbers": (lambda: {0: 1.0, 1: 2.0}, MAPS),
    "set": (lambda: {1, 2}, set()),
    "generator": (lambda: (k for k in range(2)), {"iterator"}),
    "endless": (lambda: itertools.count(), {"iterator"}),
    "range": (lambda: range(2), LISTS),
    "object": object,
    "loud object": Loud,
    "function": (lambda: lambda *args, **more: None, {"function"}),
    "class": (lambda: int, {"function"}),
    "module": (lambda: math, set()),
    "NotImplemented": (lambda: NotImplemented, set()),
    "Ellipsis": (lambda: ..., set()),
    "slice": (lambda: slice(None), set()),
    # objects of the project, where another is wanted
    "Box": lambda: BOX,
    "Ball": lambda: Ball([0.0, 0.0], 1.0, (-1.0, 1.0)),
    "wide Box": lambda: Box([-1.0] * 3, [1.0] * 3, (-1.0, 1.0), intercept=True),
    "Scales": lambda: laws.unit_scales("copied", 2),
    "no noise": lambda: laws.Scales(np.zeros((2, 2)), np.zeros(2)),
    "stacked Scales": lambda: laws.unit_scales("copied", 2).times([1.0, 2.0]),
    "wide Scales": lambda: laws.unit_scales("copied", 4),
    "Quadratic": lambda: objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0)),
    "stacked Quadratic": lambda: objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0))[None],
    "saddle": lambda: objective.Quadratic(np.diag([1.0, -1.0]), np.ones(2), np.array(0.0)),
    "objective of an odd loss": odd,
    "Penalty": lambda: Penalty(1.0, 0.5),
    "Loss": lambda: objective.Loss(1e300, 1.0, 1.0),
    "Model": lambda: Model(0.0, np.ones(2)),
    "Budget": lambda: Budget(1.0),
    "Ledger": lambda: Ledger(),
    "Grid": lambda: Grid(BOX, (2, 2, 2), (False, False, False)),
    "NoNoise": lambda: irls_laws.NoNoise(),
    "Box, the class": lambda: Box,
}

OBJECTS = frozenset({"object"})
HUGE = {"2**31", "2**63", "10**8", "10**12", "uint64 huge", "1e17", "endless", "1e300", "1e308"}
HOSTILE = {
    name: Hostile(*(made[0], frozenset(made[1])), huge=name in HUGE)
    if isinstance(made, tuple)
    else Hostile(made, OBJECTS)
    for name, made in VALUES.items()
}
