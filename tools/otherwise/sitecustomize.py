"""Python imports this at its start where the folder is on PYTHONPATH: kernels and workers then compute otherwise.

`OTHERWISE=rounding` moves what a BLAS computes by a few units in the last place, as another processor would, and
`OTHERWISE=one worker` lets joblib work alone. Nothing that a chapter prints may depend on either.
"""

import os
import zlib

import joblib
import numpy as np

ULPS = 4


def moved(array):
    """Return the array with each number moved by at most `ULPS` units in the last place: the same for the same array.

    Whole numbers stay: their sums are exact on every processor.
    """
    array = np.ascontiguousarray(array)
    steps = np.random.default_rng(zlib.crc32(array.tobytes())).integers(-ULPS, ULPS + 1, array.shape)
    return np.where(array == np.round(array), array, array + steps * np.spacing(array))


def symmetric(gram):
    lower = np.tril(moved(gram))
    return lower + np.swapaxes(np.tril(lower, -1), -1, -2)


ORIGINAL = {}  # what is replaced, by name


# Workers get a method with what it calls: a function of this module is found there by its name, a local one is not.
def other_gram(gram, *args, bits=None):
    """On a lattice sums are exact on every processor, too."""
    return ORIGINAL["from_gram"](gram if bits else symmetric(gram), *args, bits=bits)


def other_eigh(a, *args, **options):
    """What is off in a value is off by a part of the largest."""
    values, vectors = ORIGINAL["eigh"](a, *args, **options)
    size = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    return values + (moved(size + np.abs(values)) - (size + np.abs(values))), moved(vectors)


def other_solve(*args):
    return moved(ORIGINAL["solve"](*args))


def alone(self, n_jobs=None, *args, **options):
    """Scikit-learn has a kind of its own, and keeps its processes: a page shows what none of them may do."""
    ORIGINAL["parallel"](self, 1 if type(self) is joblib.Parallel else n_jobs, *args, **options)


def rounding():
    from dpreg.pipeline import objective

    ORIGINAL.update(from_gram=objective.from_gram, eigh=np.linalg.eigh, solve=np.linalg.solve)
    objective.from_gram, np.linalg.eigh, np.linalg.solve = other_gram, other_eigh, other_solve


def one_worker():
    ORIGINAL["parallel"] = joblib.Parallel.__init__
    joblib.Parallel.__init__ = alone


{"rounding": rounding, "one worker": one_worker}[os.environ["OTHERWISE"]]()
