"""Domains and records of labels, and the logistic loss written out."""

import math
from functools import partial

import numpy as np

from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import TAYLOR
from tests.engine import spaces

LINE = Box([-1.0], [1.0], response=(0.0, 1.0))

space = partial(spaces.domain, response=(0.0, 1.0))
unit = partial(spaces.unit, loss=TAYLOR)


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def exact_loss(z, y):
    return math.log1p(math.exp(z)) - y * z


def records(seed, n=200, d=3, scale=1.5):
    """Rows with a constant column, and labels that are hard to separate."""
    rng = np.random.default_rng(seed)
    Z = np.c_[np.ones(n), rng.uniform(-1, 1, (n, d))]
    return Z, (rng.uniform(size=n) < 1 / (1 + np.exp(-Z @ (scale * rng.normal(size=d + 1))))).astype(float)
