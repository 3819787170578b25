"""Bounds as users give them: with names or without, public or read off the data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, PrivacyLeakWarning


@checked
def named(values: ArrayLike | Mapping[str, float]) -> tuple[ArrayLike, tuple[str, ...]]:
    """Return bounds and the names of their columns, if they have any.

    Examples
    --------
    >>> named({"age": 18.0, "hours": 0.0})
    ([18.0, 0.0], ('age', 'hours'))
    """
    if isinstance(values, Mapping):
        return list(values.values()), tuple(values)
    names = () if isinstance(values, list | tuple) else tuple(getattr(values, "index", ()))
    return values, names if all(isinstance(name, str) for name in names) else ()


@checked
def apart(low: Any, high: Any) -> Any:
    """Return where low < high, with middle and width that a floating-point number can hold.

    Examples
    --------
    >>> apart(np.array([0.0, 1.0]), np.array([1.0, 1.0])).tolist()
    [True, False]
    """
    with np.errstate(over="ignore"):
        return (low < high) & np.isfinite(low + high) & np.isfinite(high - low) & ((high - low) / 2 > 0)


@checked
def pairs(
    lower: ArrayLike | Mapping[str, float], upper: ArrayLike | Mapping[str, float]
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[str, ...]]:
    """Return the bounds of all predictors, checked, and the names of their columns.

    Examples
    --------
    >>> pairs({"age": 18.0}, [90.0])
    ((18.0,), (90.0,), ('age',))
    """
    (lower, names), (upper, others) = named(lower), named(upper)
    low, high = checks.vector(lower, "lower"), checks.vector(upper, "upper")
    if names and others and names != others:
        raise InputError(f"lower is of {list(names)} and upper of {list(others)}: give both in one order")
    if len(low) != len(high):
        raise InputError(f"lower has {len(low)} entries and upper has {len(high)}: give one pair per predictor")
    for j in np.flatnonzero(~apart(low, high)):
        raise InputError(f"predictor {j} has bounds [{low[j]:g}, {high[j]:g}]: give lower < upper")
    return tuple(low.tolist()), tuple(high.tolist()), names or others


@checked
def interval(response: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds of a response, checked.

    Examples
    --------
    >>> interval((0, 1))
    (0.0, 1.0)
    """
    pair = checks.vector(response, "response")
    if len(pair) != 2 or not apart(pair[0], pair[1]):
        raise InputError(f"response bounds are {tuple(pair.tolist())}: give (lower, upper) with lower < upper")
    return float(pair[0]), float(pair[1])


@checked
def data_range(X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """Return the least and largest values of records; it warns, because one record can move them.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     low, high, response = data_range([[1.0], [3.0]], [0.0, 1.0])
    >>> low.tolist(), high.tolist(), response
    ([1.0], [3.0], (0.0, 1.0))
    """
    rows, target = (array.astype(np.float64) for array in checks.rows(X, y, least=2))
    checks.all_finite(rows, "X")
    checks.all_finite(target, "y")
    warnings.warn(
        "bounds read off the data are not private: one record can move them, and with them everyone's scaling",
        PrivacyLeakWarning,
        stacklevel=4,
    )
    return rows.min(axis=0), rows.max(axis=0), (float(target.min()), float(target.max()))
