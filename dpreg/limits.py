"""How large numbers and arrays may be, so that what is made of them can be counted, held and written down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpreg import checks
from dpreg.checks import FloatArray, InputError

WORKERS = 10_000
HELD = 10**8  # numbers in an array that is made up: a gigabyte
LARGE = 1e150  # of what is squared
WIDE = 10_000  # columns: a matrix of so many fills a gigabyte


def reals(value: Any, name: str) -> FloatArray:
    """Return `value` as an array of floats whose squares are finite."""
    array = checks.numeric(value, name).astype(np.float64)
    large = ~(np.abs(array) <= LARGE)
    if large.any():
        raise InputError(f"{name} holds {array[large].flat[0]:g}: give finite numbers below {LARGE:g}")
    return array


def sized(value: Any, name: str) -> float:
    """Return `value` as a float whose square is finite."""
    number = checks.finite(value, name)
    if abs(number) > LARGE:
        raise InputError(f"{name} is {number:g}, and its square exceeds every float: give one below {LARGE:g}")
    return number


def fits(array: NDArray[Any], batch: tuple[int, ...], name: str) -> None:
    """Raise `InputError` unless there is one number, or one for each of a stack of this shape."""
    try:
        fit = np.broadcast_shapes(array.shape, batch) == batch
    except ValueError:
        fit = False
    if not fit:
        raise InputError(f"{name} has shape {array.shape}: give one number, or one for each of a stack of {batch}")


def shape(value: Any, name: str) -> tuple[int, ...]:
    """Return `value` as the shape of an array that can be held."""
    if not isinstance(value, tuple | list) or any(
        isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0 for n in value
    ):
        raise InputError(f"{name} is {checks.shown(value)}: give a tuple of whole numbers of at least zero")
    if math.prod(map(int, value)) > HELD:
        raise InputError(f"{name} is {checks.shown(value)}: give at most {HELD} numbers in all")
    return tuple(map(int, value))


def jobs(value: Any, name: str) -> int:
    """Return how many workers to start, or, below zero, how many processors to spare but one, as joblib has it."""
    if not 0 < abs(checks.whole(value, name)) <= WORKERS:
        raise InputError(
            f"{name} is {checks.shown(value)}: give a number from 1 to {WORKERS}, or -1 for all processors"
        )
    return int(value)


def has(frame: Any, columns: Sequence[Any], name: str) -> None:
    """Raise `InputError` unless a data frame has these columns, each once."""
    found = list(frame.columns)
    for column in columns:
        if found.count(column) != 1:
            raise InputError(
                f"{name} has no column {checks.shown(column)}, or several: give one of {checks.shown(found)}"
            )
