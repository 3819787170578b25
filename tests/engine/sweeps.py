"""Records of a numeric response, and a sweep over them."""

import numpy as np
import pandas as pd

from dpreg import noise
from dpreg.pipeline.domain import Box
from dpreg.sweeps.experiment import CrossValidation, functional_mechanism, no_privacy, sweep

BOX = Box([-2, -2, -2], [2, 2, 2], (-10, 20), intercept=True)


def data(n=203, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 4 + X @ np.arange(1.0, d + 1) + rng.normal(size=n)


X, Y = data()


def split(protocol, n, seed, repeat):
    """The labels of one partition, drawn as the docstrings say: by the task's own generator."""
    return protocol.labels(n, noise.spawn(seed, repeat, 0))


METHODS = [
    no_privacy("none"),
    functional_mechanism("printed", BOX, sensitivity="printed", convention="monomial"),
    functional_mechanism("tight", BOX),
    functional_mechanism("untrimmed", BOX, neighbours="add_remove", ridge=1e4, floor=None),
]
GRID = [0.1, 1.0, 10.0]


def run(methods=METHODS, **options):
    options = {"random_state": 5, "metrics": ("rmse", "mse")} | options
    return sweep(X, Y, BOX, methods, GRID, options.pop("protocol", CrossValidation(3, 5)), **options)


def assert_alike(one, other):
    """Check two frames for the same rows and numbers, but for last bits.

    A worker's arrays lie elsewhere in memory, and a sum whose first terms are read alone there rounds in another order.
    """
    pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=1e-12, atol=0.0)


def rows_of(frame, name):
    return frame[frame["method"] == name].reset_index(drop=True)
