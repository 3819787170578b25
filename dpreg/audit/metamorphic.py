"""Relations between releases that a sound mechanism keeps, without knowing what it should release.

The same seed draws the same noise. So two releases that share it differ by what the records alone do: nothing where a
record is moved onto the bounds that it exceeds, and the exact difference where noise is all that is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from dpreg.audit.findings import Finding
from dpreg.audit.statement import Declared, Setting
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import BLOCK

LARGE = 1e9  # an epsilon whose noise no tolerance below can see
CLOSE = 1e-4  # of a fit without noise to its goal: solvers, and a ridge that is small by design
ROUNDING = 1e-8
SEEDS = (11, 12)

Relation = Callable[[Declared, Setting, np.random.Generator], bool]


def audit_relations(declared: Declared, rng: np.random.Generator) -> list[Finding]:
    """Return one finding for each relation and setting with two predictors: infinite where a relation is broken.

    Examples
    --------
    >>> from dpreg.audit.quadratic_releases import ALL
    >>> found = audit_relations(ALL[0], np.random.default_rng(1))
    >>> len(found), any(finding.refuted for finding in found)
    (48, False)
    """
    findings = []
    for setting in declared.settings((2,)):
        for name, good in _checked(declared, setting, rng):
            found = setting.epsilon if good else math.inf
            findings.append(Finding("metamorphic", declared.name, str(setting), name, setting.epsilon, found))
    return findings


def _checked(declared: Declared, setting: Setting, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    for name, relation in RELATIONS.items():
        if declared.seeded or relation not in SEEDED:
            yield name, relation(declared, setting, rng)


def _numbers(declared: Declared, X: FloatArray, y: FloatArray, setting: Setting, seed: int | None = 5) -> FloatArray:
    return declared.release(X, y, setting, seed)[0]


def _same(one: FloatArray, other: FloatArray, rounding: float = ROUNDING) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=rounding, atol=rounding))


def _clipped_twin(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether a record outside the bounds counts as the one on them."""
    X, y = declared.records(2, 12, rng)
    far, near = X.copy(), X.copy()
    far[3], near[3] = (7.0, 0.0), (1.0, 0.0)  # on the way to the centre, in the box and in the ball
    high, low = y.copy(), y.copy()
    if not declared.labels:
        high[5], low[5] = 9.0, 1.0
    return _same(_numbers(declared, far, high, setting), _numbers(declared, near, low, setting))


def _order(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether the order of the records does not count."""
    X, y = declared.records(2, 12, rng)
    order = rng.permutation(12)
    return _same(_numbers(declared, X, y, setting), _numbers(declared, X[order], y[order], setting))


def _noise_alone(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether one seed adds the same noise to any records, however many."""
    if declared.exact is None:
        return True
    noise = []
    for n in (300, 301, 900):
        X, y = declared.records(2, n, rng)
        noise.append(_numbers(declared, X, y, setting) - declared.exact(X, y, setting))
    return _same(noise[0], noise[1], 1e-7) and _same(noise[0], noise[2], 1e-7)


def _simulation(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether what experiments draw many times is what a release draws, bit for bit."""
    if declared.study is None:
        return True
    X, y = declared.records(2, 12, rng)
    return all(
        np.array_equal(_numbers(declared, X, y, setting, seed), declared.study(X, y, setting, seed)) for seed in SEEDS
    )


def _fresh(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether no two releases share a draw, with other seeds or without; nor two numbers of one release."""
    X, y = declared.records(2, 12, rng)
    drawn = [_numbers(declared, X, y, setting, seed) for seed in (*SEEDS, None, None)]
    if declared.exact is None:
        return all(not _same(one, other) for k, one in enumerate(drawn) for other in drawn[:k])
    noise = [one - declared.exact(X, y, setting) for one in drawn]
    moved = np.abs(np.concatenate(noise))
    moved = moved[moved > ROUNDING]  # a number that goes out as it is has none
    return len(np.unique(moved.round(9))) == len(moved)


def _coefficients(declared: Declared, X: FloatArray, y: FloatArray, setting: Setting) -> FloatArray:
    assert declared.fit is not None
    return declared.fit(X, y, replace(setting, epsilon=LARGE), 5)


def _goal(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether the answer is the non-private one, with a huge epsilon."""
    if declared.fit is None or declared.goal is None:
        return True
    X, y = _plain(declared, rng)
    return _same(_coefficients(declared, X, y, setting), declared.goal(X, y, setting), CLOSE)


def _equivariant(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether columns in another order, or with another sign, change their coefficients alike."""
    if declared.fit is None or not declared.lossless:
        return True
    X, y = _plain(declared, rng)
    plain, first = _coefficients(declared, X, y, setting), int(setting.domain.intercept)
    swapped, turned = plain.copy(), plain.copy()
    swapped[first:] = plain[first:][::-1]
    turned[first] = -plain[first]
    return _same(_coefficients(declared, X[:, ::-1], y, setting), swapped, CLOSE) and _same(
        _coefficients(declared, X * [-1.0, 1.0], y, setting), turned, CLOSE
    )


def _copies(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether two copies of every record change nothing, with a huge epsilon."""
    if declared.fit is None:
        return True
    X, y = _plain(declared, rng)
    twice = np.vstack([X, X]), np.r_[y, y]
    return _same(_coefficients(declared, *twice, setting), _coefficients(declared, X, y, setting), CLOSE)


def _many(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether every record counts once where they are more than one block: moments and counts add up."""
    if declared.exact is None:
        return True
    X, y = declared.records(2, 2 * BLOCK + 5, rng)
    parts = [
        declared.exact(X[part], y[part], setting) for part in (slice(0, 900), slice(900, None, 2), slice(901, None, 2))
    ]
    return _same(declared.exact(X, y, setting), sum(parts, np.zeros(len(parts[0]))))


def _answer(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether the coefficients of a model are those that its release gives, and so cost nothing more."""
    if declared.answer is None:
        return True
    shown, follows = declared.answer(*declared.records(2, 12, rng), setting, 5)
    return _same(shown, follows)


def _plain(declared: Declared, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return records off the edges of cells, whose classes overlap."""
    return declared.records(2, 400, rng)


def _bad_input(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether NaN and infinities are refused, and a response that is no label."""
    X, y = declared.records(2, 12, rng)
    bad = []
    for value in (math.nan, math.inf, -math.inf):
        rows, target = X.copy(), y.copy()
        rows[4, 1], target[6] = value, value
        bad += [(rows, y), (X, target)]
    if declared.labels:
        other = y.copy()
        other[2] = sum(setting.domain.response) / 2
        bad.append((X, other))
    return all(_refused(declared, one, setting) for one in bad)


def _refused(declared: Declared, records: tuple[FloatArray, FloatArray], setting: Setting) -> bool:
    try:
        declared.release(*records, setting, 5)
    except InputError:
        return True
    except (ValueError, ArithmeticError):  # it broke, without saying what is wrong with the records
        return False
    return False


def _any_records(declared: Declared, setting: Setting, rng: np.random.Generator) -> bool:
    """Return whether there is an answer for a constant column, for few records, and for none where one may be added."""
    if not declared.any_records:
        return True
    X, y = declared.records(2, 12, rng)
    flat = X.copy()
    flat[:, 0] = 0.25
    few = 2 if setting.neighbours == "replace" else 0
    sets = [(flat, y), (X[:2], y[:2]), (X[:few], y[:few])]
    return all(bool(np.isfinite(_numbers(declared, *records, setting)).all()) for records in sets)


RELATIONS: dict[str, Relation] = {
    "a record out of bounds is its clipped twin": _clipped_twin,
    "the order of records": _order,
    "the noise does not depend on the records": _noise_alone,
    "what is studied is what is released": _simulation,
    "every draw is new": _fresh,
    "a huge epsilon gives the non-private fit": _goal,
    "names and signs of columns": _equivariant,
    "copies of all records": _copies,
    "what is no number is refused": _bad_input,
    "any records will do": _any_records,
    "all records of many": _many,
    "a model is what its release gives": _answer,
}
SEEDED = (_clipped_twin, _order)  # they compare releases that share their draws
