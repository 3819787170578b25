"""Domains, records in and out of them, and the containers that records come in."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpreg.pipeline.domain import Ball, Box

ordinary = st.floats(-1e6, 1e6, allow_subnormal=False)
anything = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def domains(draw, kinds=("box", "corner", "ball")):
    d = draw(st.integers(1, 5))
    kind = draw(st.sampled_from(kinds))
    low = draw(arrays(float, d, elements=ordinary))
    width = draw(arrays(float, d, elements=st.floats(1e-3, 1e6)))
    bottom, height = draw(ordinary), draw(st.floats(1e-3, 1e6))
    options = {"response": (bottom, bottom + height), "intercept": draw(st.booleans())}
    if kind == "ball":
        return Ball(low, float(width[0]), **options)
    return Box(low, low + width, corner=kind == "corner", **options)


@st.composite
def records(draw, elements=anything, kinds=("box", "corner", "ball")):
    domain = draw(domains(kinds))
    n = draw(st.integers(2, 6))
    X = draw(arrays(float, (n, domain.d), elements=elements))
    return domain, X, draw(arrays(float, n, elements=elements))


def wrappings(X, y):
    """The same numbers in every form a user may hold them."""
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    yield "list", X.tolist(), y.tolist()
    yield "tuple", tuple(map(tuple, X.tolist())), tuple(y.tolist())
    yield "Fortran", np.asfortranarray(X), y
    yield "strided", wide[::2, ::2], np.repeat(y, 2)[::2]
    yield "reversed", X[::-1][::-1], y[::-1][::-1]
    yield "read-only", _frozen(X), _frozen(y)
    yield "frame", pd.DataFrame(X), pd.Series(y)
    yield "frame with another index", pd.DataFrame(X, index=range(100, 100 + len(X))), pd.Series(y)
    yield "object", X.astype(object), y.astype(object)
    yield "mixed frame", pd.DataFrame(X).astype({0: "Float64"}), pd.Series(y, dtype="Float64")
    yield "unmasked", np.ma.masked_array(X), np.ma.masked_array(y)
    yield "long double", X.astype(np.longdouble), y.astype(np.longdouble)


def _frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array
