"""Estimators with one fault each, as people write them, and the same without it.

Every one claims epsilon = 1 under replacing a record, for two predictors and a response in [0, 1]. A fault is caught
with the draws that stand beside it. `many` ones draw all at once.
"""

import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LOW, HIGH = 0.0, 1.0


@dataclass(frozen=True)
class Fault:
    faulty: Callable[..., Any]
    sound: Callable[..., Any]
    draws: int
    many: bool = True
    needs: tuple[str, ...] = ()  # in the names of the pairs without which it is missed
    labels: bool = False  # of a classifier with the labels 0 and 1


def clipped(X, y):
    return np.clip(X, LOW, HIGH), np.clip(y, LOW, HIGH)


def noise(seed, scale, size=None):
    return np.random.default_rng(seed).laplace(scale=scale, size=size)


# Draws all at once. One record changes the sum of the response by 1, and five moments by 1 each.


def total(scale, clip=True):
    def make(X, y, rng, draws):
        X, y = clipped(X, y) if clip else (X, y)
        return y.sum() + noise(rng, scale, draws)

    return make


def moments(quadratic, linear, clip=True):
    def make(X, y, rng, draws):
        X, y = clipped(X, y) if clip else (X, y)
        with np.errstate(over="ignore"):  # of records that are not clipped
            values = [*(X.T @ X)[np.triu_indices(2)], *(X.T @ y)]
        return values + noise(rng, [quadratic] * 3 + [linear] * 2, (draws, 5))

    return make


def product(scale):
    def make(X, y, rng, draws):
        X, y = clipped(X, y)
        return X[:, 0] @ y + noise(rng, scale, draws)

    return make


def intercept(clip):
    """The slope is clipped and noisy, half of epsilon each; the means are those of the records, as they come."""

    def make(X, y, rng, draws):
        n = len(y)
        Z, t = clipped(X, y)
        slope = Z[:, 0] @ t / n + noise(rng, 2 / n, draws)
        mean = (t if clip else y).mean() + noise(rng, 2 / n, draws)
        return np.column_stack([slope, mean])

    return make


def column_sums(scale):
    def make(X, y, rng, draws):
        return clipped(X, y)[0].sum(axis=0) + noise(rng, scale, (draws, 2))

    return make


def two_answers(epsilon):
    """The same sum twice, each with this budget."""

    def make(X, y, rng, draws):
        return clipped(X, y)[1].sum() + noise(rng, 1 / epsilon, (draws, 2))

    return make


def raw(place):
    """The response is clipped, but for one record."""

    def make(X, y, rng, draws):
        t = clipped(X, y)[1]
        if place is not None:
            t[int(place * len(y))] = y[int(place * len(y))]
        return t.sum() + noise(rng, 1.0, draws)

    return make


def tolerant(far):
    """What is too far out is taken for a different unit, and left alone."""

    def make(X, y, rng, draws):
        return np.where(np.abs(y) < far, clipped(X, y)[1], y).sum() + noise(rng, 1.0, draws)

    return make


def of_a_size(by_records):
    """The noise of a mean, on a sum."""

    def make(X, y, rng, draws):
        return clipped(X, y)[1].sum() + noise(rng, 4 / len(y) if by_records else 1.0, draws)

    return make


# One at a time.


def normed(squares):
    """Rows are scaled to a norm; the squares of large numbers are none, and numpy says so."""

    def make(X, y, seed):
        norm = np.sqrt((X**2).sum(axis=1)) if squares else np.hypot(*X.T)
        rows = X / np.maximum(norm, 1.0)[:, None]
        return rows.sum(axis=0) + noise(seed, 4.0, 2)

    return make


def large(tell):
    """A noisy sum as an integer in tiny units; whether the last response is high stands in the last bit of it."""

    def make(X, y, seed):
        value = round(clipped(X, y)[1].sum() + noise(seed, 1.0)) * 2**60
        return value + int(y[-1] > 0.5) if tell else value

    return make


def groups(kept):
    def make(X, y, seed):
        model = Model(np.array([clipped(X, y)[1].sum() + noise(seed, 1.0)]), None)
        model.groups_ = [y[y > 0.5].tolist(), y[y <= 0.5].tolist()] if kept else [[1.0], []]
        return model

    return make


def classes(refuse):
    def make(X, y, seed):
        if refuse and len(np.unique(y)) < 2:
            raise ValueError("there is one class only")
        return clipped(X, y)[1].sum() + noise(seed, 1.0)

    return make


def seeded(by_data):
    def make(X, y, seed):
        X, y = clipped(X, y)
        seed = zlib.crc32(X.tobytes() + y.tobytes()) if by_data else seed
        return y.sum() + noise(seed, 1.0)

    return make


def hostile(refuse):
    def make(X, y, seed):
        if refuse and (X > 1).any():
            raise ValueError("X is out of bounds")
        return clipped(X, y)[1].sum() + noise(seed, 1.0)

    return make


def sized(by_records):
    """A histogram with empty cells left out; or with all of them."""

    def make(X, y, seed):
        counts = np.histogram(clipped(X, y)[1], bins=4, range=(0, 1))[0]
        noisy = counts + noise(seed, 2.0, 4)
        return noisy[counts > 0] if by_records else noisy

    return make


def cached(once):
    kept = {}

    def make(X, y, seed):
        drawn = noise(seed, 1.0)
        return clipped(X, y)[1].sum() + (kept.setdefault("noise", drawn) if once else drawn)

    return make


def typed(by_label):
    def make(X, y, seed):
        value = float(np.round(clipped(X, y)[1].sum() + noise(seed, 1.0)))
        return int(value) if by_label and y[-1] > 0.5 else value

    return make


def warned(tell):
    def make(X, y, seed):
        outside = int((y > 1).sum())
        if tell and outside:
            warnings.warn(f"{outside} responses were clipped", UserWarning, stacklevel=1)
        return clipped(X, y)[1].sum() + noise(seed, 1.0)

    return make


def singular(look):
    """A slope that is refused where the records, and not the noisy moments, have none."""

    def make(X, y, seed):
        x, y = clipped(X, y)[0][:, 0], clipped(X, y)[1]
        drawn = noise(seed, 2.0, 2)
        return np.nan if look and x @ x == 0 else (x @ y + drawn[0]) / max(x @ x + drawn[1], 1.0)

    return make


class Model:
    def __init__(self, coef, clipped):
        self.coef_ = coef
        if clipped is not None:
            self.n_clipped_ = clipped


def attribute(kept):
    def make(X, y, seed):
        coef = np.array([clipped(X, y)[1].sum() + noise(seed, 1.0)])
        return Model(coef, int((X > 1).any(axis=1).sum()) if kept else None)

    return make


FAULTS = {
    "half the noise": Fault(total(0.5), total(1.0), 2000),
    "a budget spent one and a half times": Fault(total(1 / 1.5), total(1.0), 8000),
    "no noise on second moments": Fault(moments(0.0, 2.0), moments(5.0, 5.0), 200),
    "no noise where a lower bound is zero": Fault(product(LOW * HIGH), product(HIGH * HIGH), 200),
    "intercept from unclipped means": Fault(intercept(False), intercept(True), 400),
    "rows not clipped": Fault(moments(5.0, 5.0, clip=False), moments(5.0, 5.0), 200),
    "sensitivity of one column only": Fault(column_sums(1.0), column_sums(2.0), 8000),
    "the budget not split": Fault(two_answers(1.0), two_answers(0.5), 8000),
    "noise seeded by the data": Fault(seeded(True), seeded(False), 200, many=False),
    "an error for a hostile record": Fault(hostile(True), hostile(False), 200, many=False),
    "records shown by the shape": Fault(sized(True), sized(False), 200, many=False),
    "noise drawn once and kept": Fault(cached(True), cached(False), 200, many=False),
    "a label that decides the type": Fault(typed(True), typed(False), 200, many=False),
    "a warning that counts": Fault(warned(True), warned(False), 200, many=False),
    "not a number where the records are singular": Fault(singular(True), singular(False), 200, many=False),
    "a count kept on the model": Fault(attribute(True), attribute(False), 200, many=False),
    "a bit beyond what floats hold": Fault(large(True), large(False), 200, many=False),
    "a list of lists kept on the model": Fault(groups(True), groups(False), 200, many=False),
    "the first record not clipped": Fault(raw(0.0), raw(None), 400, needs=(", after it",)),
    "the record in the middle not clipped": Fault(raw(0.5), raw(None), 400, needs=(", around it",)),
    "records very far out not clipped": Fault(tolerant(1e3), tolerant(np.inf), 400, needs=("very far", "as far")),
    "a norm that overflows": Fault(normed(True), normed(False), 200, many=False, needs=("as far as numbers go",)),
    "noise that shrinks with many records": Fault(of_a_size(True), of_a_size(False), 400, needs=("100 of them",)),
    "an error for a single class": Fault(
        classes(True), classes(False), 200, many=False, needs=("the only record of its class",), labels=True
    ),
}
