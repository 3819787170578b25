"""Quadratics by their coefficients, and the records of 001's worked example (Section 4.2)."""

import numpy as np
from hypothesis import strategies as st

from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import Quadratic

LINE = Box([-1.0], [1.0], response=(-1.0, 1.0))
ROWS = ([[1.0], [0.9], [-0.5]], [0.4, 0.3, -1.0])


def quadratic(M, v):
    M = np.asarray(M, dtype=float)
    return Quadratic(M, np.asarray(v, dtype=float), np.zeros(M.shape[:-2]))


seeds = st.integers(0, 2**32 - 1)


def total(f, penalty, theta):
    theta = np.asarray(theta)
    return f(theta) + penalty.l2 * (theta**2).sum(axis=-1) + penalty.l1 * np.abs(theta).sum(axis=-1)
