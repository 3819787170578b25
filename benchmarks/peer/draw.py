"""Fit one model of diffprivlib again and again, to one data set, in the environment of the peer.

`python draw.py` reads tasks from its input, pickled, and answers each. A task has the name of the model, the settings
and the seed of each fit, the shape of the records, and their bytes. The answer is the bytes of the coefficients and the
intercept of each fit, NaN where it failed. There is no array in either: the other side may have another numpy.
"""

import pickle
import sys
import warnings

import numpy as np
from diffprivlib import models


def fitted(make, settings, X, y, seed):
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    try:
        model = make(**settings, random_state=seed).fit(X, y)
    except (ValueError, FloatingPointError):  # a failure is an outcome that is seen
        return np.full(X.shape[1] + 1, np.nan)
    return np.append(model.coef_, model.intercept_)


def main(model, each, shape, rows, target):
    warnings.simplefilter("ignore")  # its optimiser overflows where there is no minimum
    X, y = np.frombuffer(rows).reshape(shape).copy(), np.frombuffer(target).copy()  # which may be written to
    return np.array([fitted(getattr(models, model), settings, X, y, seed) for settings, seed in each]).tobytes()


if __name__ == "__main__":
    while sys.stdin.buffer.peek(1):
        pickle.dump(main(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
        sys.stdout.flush()
