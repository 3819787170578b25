"""The sweep written the obvious way, with scikit-learn and IBM's diffprivlib. It runs in an environment of its own.

`python obvious.py FOLDER`: the folder holds the scaled records, the folds and the budgets, and gets errors and seconds.
"""

import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from diffprivlib.models import LinearRegression as PrivateLinearRegression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import PredefinedSplit

SEEDS = itertools.count()


def private(epsilon):
    return PrivateLinearRegression(
        epsilon=epsilon,
        bounds_X=(-1.0, 1.0),
        bounds_y=(-1.0, 1.0),
        fit_intercept=False,
        random_state=next(SEEDS),
    )


def plain(epsilon):
    return LinearRegression(fit_intercept=False)


def has_minimum(model):
    """Return whether the noisy objective that was minimised has a minimum."""
    return not hasattr(model, "_obj_coefs") or np.linalg.eigvalsh(model._obj_coefs[2])[0] > 0


def sweep(make, X, y, labels, budgets):
    """Return test errors, and whether there was a minimum, both of shape (repeats, folds, budgets)."""
    errors, bounded = [], []
    for folds in labels:
        for train, test in PredefinedSplit(folds).split():
            rows, target = X[train], y[train]
            for epsilon in budgets:
                model = make(epsilon).fit(rows, target)
                errors.append(root_mean_squared_error(y[test], model.predict(X[test])))
                bounded.append(has_minimum(model))
    shape = (len(labels), -1, len(budgets))
    return np.reshape(errors, shape), np.reshape(bounded, shape)


def main(folder):
    X, y, labels = (np.load(folder / f"{name}.npy") for name in ("X", "y", "labels"))
    warnings.simplefilter("ignore")  # its optimiser overflows where there is no minimum
    seconds = {}
    for make, budgets in ((private, json.loads((folder / "budgets.json").read_text())), (plain, [None])):
        start = time.perf_counter()
        errors, bounded = sweep(make, X, y, labels, budgets)
        seconds[make.__name__] = time.perf_counter() - start
        np.savez(folder / f"{make.__name__}.npz", errors=errors, bounded=bounded)
    (folder / "seconds.json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
