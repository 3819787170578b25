"""Records of a binary response, and a sweep over them."""

import numpy as np

from dpreg import noise
from dpreg.pipeline.domain import Box
from dpreg.sweeps.experiment import CrossValidation, sweep

BOX = Box([0, 0, 0], [1, 9, 1], (0, 1), intercept=True)
OF_LABELS = ("misclassified", "logistic", "auc")


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 10, n), rng.random(n)]).astype(float)
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] + 0.4 * X[:, 1] - 0.5))).astype(float)


X, Y = data()
VALUES = [2, 10, None]


def run(methods, protocol=None, epsilons=(0.5, 4.0), metrics=OF_LABELS, **options):
    protocol = CrossValidation(2, 3) if protocol is None else protocol
    return sweep(X, Y, BOX, methods, epsilons, protocol, **{"random_state": 7, "metrics": metrics} | options)


def each_split(protocol, seed=7):
    """Repeat, fold, and which records train, drawn as the docstrings say."""
    for repeat in range(protocol.repeats):
        labels = protocol.labels(len(Y), noise.spawn(seed, repeat, 0))
        for fold in protocol.tested:
            yield repeat, fold, (labels >= 0) & (labels != fold), labels == fold


def of(frame, repeat, fold, metric):
    part = frame[(frame["repeat"] == repeat) & (frame["fold"] == fold) & (frame["metric"] == metric)]
    return part["value"].to_numpy()
