"""Fit one model of diffprivlib again and again, to one data set, in the environment of the peer.

`python draw.py` reads folders from its input, one a line, and answers each with its name when it is done. A folder
holds the records, `records.npz`, and `what.json`: the model, its settings, and a seed for each fit. It gets
`draws.npy`: the coefficients and the intercept of each fit, NaN where it failed.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from diffprivlib import models


def fitted(make, settings, X, y, seed):
    try:
        model = make(**settings, random_state=seed).fit(X, y)
    except (ValueError, FloatingPointError):  # a failure is an outcome that is seen
        return np.full(X.shape[1] + 1, np.nan)
    return np.append(model.coef_, model.intercept_)


def main(folder):
    what = json.loads((folder / "what.json").read_text())
    make = getattr(models, what["model"])
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in what["settings"].items()}
    warnings.simplefilter("ignore")  # its optimiser overflows where there is no minimum
    with np.load(folder / "records.npz") as records:
        X, y = records["X"], records["y"]
    np.save(folder / "draws.npy", [fitted(make, settings, X, y, seed) for seed in what["seeds"]])


if __name__ == "__main__":
    for line in sys.stdin:
        main(Path(line.rstrip("\n")))
        print(line, end="", flush=True)
