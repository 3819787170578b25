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


def rounding():
    import dpreg.pipeline.objective

    from_gram, eigh, solve = dpreg.pipeline.objective.from_gram, np.linalg.eigh, np.linalg.solve

    def other_eigh(a, *args, **options):
        values, vectors = eigh(a, *args, **options)
        size = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)  # what is off is off by a part of the largest
        return values + (moved(size + np.abs(values)) - (size + np.abs(values))), moved(vectors)

    def other_gram(gram, *args, bits=None):  # on a lattice sums are exact on every processor, too
        return from_gram(gram if bits else symmetric(gram), *args, bits=bits)

    dpreg.pipeline.objective.from_gram = other_gram
    np.linalg.eigh = other_eigh
    np.linalg.solve = lambda *args: moved(solve(*args))


def one_worker():
    parallel = joblib.Parallel.__init__

    def alone(self, n_jobs=None, *args, **options):
        parallel(self, 1, *args, **options)

    joblib.Parallel.__init__ = alone


{"rounding": rounding, "one worker": one_worker}[os.environ["OTHERWISE"]]()
