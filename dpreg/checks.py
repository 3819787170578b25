"""Typed errors, warnings, and the checks that raise them.

Every message names the offending value and the mend, because a wrong input to a private mechanism
either costs accuracy without a sign or costs somebody's privacy.
"""

from __future__ import annotations

import contextlib
import decimal
import importlib
import math
import numbers
import warnings
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
Neighbours = Literal["replace", "add_remove"]
REACH = 1e50  # of budgets: the fourth powers of their noise are floats


class InputError(ValueError):
    """An argument is unusable: the message names it and says how to mend it."""


class BudgetError(RuntimeError):
    """A release would spend more than the budget allows."""


class IndefiniteError(ArithmeticError):
    """A quadratic has a negative eigenvalue, so the problem has no minimiser."""


class SolverError(RuntimeError):
    """A solver stopped without an optimal solution."""


class DataError(RuntimeError):
    """A data file is missing or is not the one it should be."""


class PrivacyLeakWarning(UserWarning):
    """Something was computed from private data outside the mechanism."""


class BrokenGuaranteeWarning(UserWarning):
    """A mechanism is used whose published guarantee is false."""


def broken(as_published: bool, claim: str, reason: str) -> None:
    """Let a mechanism whose published guarantee is false pass only with the opt-in, and warn even then.

    `claim` is the id of the record in the book's ledger that says why.
    """
    if not flag(as_published, "as_published"):
        raise InputError(f"{reason} ({claim}): give as_published=True to study it all the same")
    warnings.warn(f"{reason} ({claim} in the book's ledger)", BrokenGuaranteeWarning, stacklevel=4)


def needed(module: str, extra: str) -> Any:
    """Return a module of a package that only an extra of this one brings, or raise `DataError`."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise DataError(
            f"this needs {package}, which is not here: add the extra dpreg[{extra}], pip install -e '.[{extra}]'"
        ) from None


def positive(value: Any, name: str) -> float:
    """Return `value` as a finite float above zero."""
    number = finite(value, name)
    if number <= 0:
        raise InputError(f"{name} is {number:g}: give a number above zero")
    return number


def finite(value: Any, name: str) -> float:
    """Return `value` as a finite float."""
    number = value if type(value) is float else real(value)
    if not math.isfinite(number):
        raise InputError(f"{name} is {shown(value)}: give one finite number")
    return number


def real(value: Any) -> float:
    """Return a real number of any kind as a float, and NaN for all else: text, arrays, complex numbers, times."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, numbers.Real | decimal.Decimal | np.bool_) or isinstance(value, np.timedelta64):
        return math.nan
    try:
        with np.errstate(over="ignore"):
            number = float(value)
        return math.nan if math.isinf(number) and isinstance(value, decimal.Decimal) else number
    except (OverflowError, ValueError):  # a whole number beyond all floats, a signalling NaN
        return math.nan


def shown(value: Any) -> str:
    """Return a value as an error shows it: short, and by its type if its own words are Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, str | bytes | numbers.Number | list | tuple | None):
        return f"of type {type(value).__name__}"
    try:
        text = repr(value)
    except Exception:  # of an entry; or a number of too many digits
        return f"of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def chance(value: Any, name: str, *, zero: bool = False, one: bool = False) -> float:
    """Return `value` as a float between zero and one.

    Parameters
    ----------
    value, name
        What to check, and what to call it.
    zero, one : bool
        Whether the ends are allowed.
    """
    number = finite(value, name)
    if not 0 <= number <= 1 or (number == 0 and not zero) or (number == 1 and not one):
        low = "of at least zero" if zero else "above zero"
        raise InputError(f"{name} is {number:g}: give a number {low} and {'at most' if one else 'below'} one")
    return number


def budget(value: Any, name: str = "epsilon") -> float:
    """Return a privacy budget as a float above zero whose noise floating-point numbers can hold."""
    return within_reach(positive(value, name), name)


def within_reach(number: float, name: str, reach: float = REACH) -> float:
    """Return a number between 1 / reach and reach.

    Beyond, the noise overflows or vanishes, and whatever meets it next would blame the records.
    """
    if not 1 / reach <= number <= reach:
        raise InputError(
            f"{name} is {number:g}, and floating-point numbers cannot hold its noise: give a number between "
            f"{1 / reach:g} and {reach:g}"
        )
    return number


def epsilons(value: Any, name: str = "epsilon") -> FloatArray:
    """Return a privacy budget, or an array of budgets to be studied side by side, as floats above zero."""
    array = numeric(value, name).astype(np.float64)
    bad = array[~(np.isfinite(array) & (array > 0))]
    if bad.size or not array.size:
        shown = f"{bad.flat[0]:g}" if bad.size else "empty"
        raise InputError(f"{name} is {shown}: give a finite number above zero")
    for extreme in (array.min(), array.max()):
        within_reach(float(extreme), name)
    return array


def neighbours(value: Any) -> Neighbours:
    """Return the neighbouring relation, `replace` or `add_remove`."""
    relation: Neighbours = choice(value, get_args(Neighbours), "neighbours")
    return relation


def choice(value: Any, allowed: tuple[Any, ...], name: str) -> Any:
    """Return `value` if it is one of `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} is {shown(value)}: choose one of {', '.join(map(repr, allowed))}")
    return value


def instance(value: Any, kind: type[Any] | tuple[type[Any], ...], name: str) -> None:
    """Raise `InputError` unless `value` is of this type: the wrong thing was passed, often one in another's place."""
    if not isinstance(value, kind):
        wanted = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        inside = " (a release keeps its own in .objective)" if hasattr(value, "objective") else ""
        raise InputError(f"{name} is of type {type(value).__name__}: give {wanted}{inside}")


def flag(value: Any, name: str) -> bool:
    """Return `value` as a boolean; text is refused, because every text but the empty one would mean yes."""
    if not isinstance(value, bool | int | np.bool_ | np.integer) or not (value == 0 or value == 1):
        raise InputError(f"{name} is {shown(value)}: give True or False")
    return bool(value)


def whole(value: Any, name: str) -> int:
    """Return `value` as an integer of any sign; truth values and spans of time are none."""
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} is {shown(value)}: give a whole number")
    if abs(int(value)) >= 2**63:
        raise InputError(f"{name} is {shown(value)}: give a whole number that fits into 64 bits")
    return int(value)


def count(value: Any, name: str, least: int = 1, most: int = 2**63 - 1) -> int:
    """Return `value` as an integer of at least `least`, and at most what can be counted or held.

    Parameters
    ----------
    value, name
        What was given, for which argument.
    least, most : int
        Both are allowed.
    """
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {shown(value)}: give a whole number of at least {least}")
    if value > most:
        raise InputError(f"{name} is {shown(value)}: give at most {most}")
    return int(value)


def vector(value: ArrayLike, name: str) -> FloatArray:
    """Return `value` as a one-dimensional array of finite floats."""
    array = numeric(value, name).astype(np.float64)
    if array.ndim != 1 or not array.size:
        raise InputError(f"{name} has shape {array.shape}: give a one-dimensional array, one number per entry")
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds {array[~np.isfinite(array)][0]}: give finite numbers only")
    return array


def numeric(value: Any, name: str, first: int = 0) -> NDArray[Any]:
    """Return `value` as an array of real numbers, without copying where it already is one.

    `first` is the number of its first row, for messages, where it is a part of something longer.
    """
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.dtype.char != "g":
        return value  # most calls
    if hasattr(value, "toarray"):
        raise InputError(f"{name} is a sparse {type(value).__name__}: pass {name}.toarray()")
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths: give a rectangular array") from None
    except Exception:  # an object may say whatever it likes when it is asked for an array
        raise InputError(f"{name} is of type {type(value).__name__}: give an array of real numbers") from None
    if array.ndim == 0 and array.dtype.kind == "O" and math.isnan(real(value)):
        raise InputError(f"{name} has shape (), and entries of type {type(value).__name__}: give real numbers")
    text = array.dtype.kind == "O" and any(isinstance(entry, str | bytes) for entry in array.flat)
    if not text and (place := _gap(value, array)):
        where = _where(place, first, getattr(value, "columns", None))
        raise InputError(f"{name} has a missing value (first at {where}): drop or impute such records")
    if array.dtype.kind == "O" and not text:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype == np.longdouble:
        with np.errstate(over="ignore"):  # infinite ones are told apart where the numbers are used
            array = array.astype(np.float64)
    if array.dtype.kind == "c":
        raise InputError(f"{name} has entries of type {array.dtype}. Complex data not supported: give real numbers")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} has entries of type {array.dtype}: encode them as real numbers first")
    return array


def _gap(value: Any, array: NDArray[Any]) -> tuple[int, ...]:
    """Return the place of the first entry that is marked as missing, or nothing; NaN among floats is left to others.

    As numbers some of these marks would become NaN, and others no number at all.
    """
    if isinstance(value, np.ma.MaskedArray):
        gaps = np.ma.getmaskarray(value)
    elif hasattr(value, "isna") and any(not isinstance(kind, np.dtype) for kind in _types(value)):
        gaps = np.asarray(value.isna())
    elif array.dtype.kind == "O":
        # Here, because it loads slowly, and whoever passes numbers does not need it.
        gaps = np.asarray(importlib.import_module("pandas").isna(array))
    else:
        return ()
    return tuple(np.argwhere(gaps)[0].tolist()) if gaps.ndim and gaps.any() else ()


def _types(value: Any) -> list[Any]:
    """Return the types of the columns of a data frame, or the type of one column."""
    types = value.dtypes if hasattr(value, "dtypes") else value.dtype
    return list(types) if hasattr(types, "__iter__") else [types]


def _where(place: tuple[int, ...], first: int, columns: Any = None) -> str:
    """Return the words for a place: its row in the whole input, and its column, by name if it has one."""
    row = f"row {first + place[0]}"
    if len(place) != 2:
        return row
    names = columns.tolist() if hasattr(columns, "tolist") else columns  # Python's own numbers and words
    return f"{row}, column {place[1] if names is None else repr(names[place[1]])}"


def rows(X: Any, y: Any, d: int | None = None, *, least: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return predictors and response as arrays of matching shape; finiteness is checked where they are read.

    Raises `InputError` for a wrong number of dimensions or columns, no columns, different lengths, and entries that are
    not real numbers.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    d : int, optional
        Number of columns to expect.
    least : int
        Number of records to ask for. A release asks for none: where one may be added or removed, it is a secret.
    """
    X, y = numeric(X, "X"), numeric(y, "y")
    shapes(X, y, d)
    enough(X, least)
    return X, y


def enough(X: Any, least: int = 2) -> None:
    """Raise `InputError` if there are fewer records."""
    shape = X.shape if hasattr(X, "shape") else (len(X),) if hasattr(X, "__len__") else np.shape(X)
    if shape and (n := shape[0]) < least:  # what has no length is refused where it is read
        raise InputError(f"there are {n} records (n_samples = {n}): give at least {least}")


def shapes(X: Any, y: Any, d: int | None = None) -> None:
    """Raise the errors of `rows` that the shapes alone decide."""
    if X.ndim != 2:
        raise InputError(f"X has shape {X.shape}: give one row per record and one column per predictor")
    if y.ndim != 1:
        raise InputError(f"y has shape {y.shape}: give a one-dimensional array (y.ravel() if it is one column)")
    if X.shape[1] == 0:
        raise InputError(
            f"X has no columns, 0 feature(s) (shape={X.shape}) while a minimum of 1 is required: give a predictor"
        )
    if d is not None and X.shape[1] != d:
        raise InputError(f"X has {X.shape[1]} columns but the domain has {d}: pass the predictors the bounds describe")
    if X.shape[0] != len(y):
        raise InputError(f"X has {X.shape[0]} records and y has {len(y)}: give one response per record")


def all_finite(array: NDArray[Any], name: str, first: int | None = 0) -> None:
    """Raise `InputError` if `array` holds NaN or an infinity; one pass, no temporary of its size.

    `first` is the number of its first row in the whole input: None if only the caller's caller knows.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(array.sum())
    if not math.isfinite(total) and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))[0]
        value = array[tuple(bad)]
        row = f"row {bad[0]} of its block" if first is None else f"row {first + bad[0]}"
        raise InputError(f"{name} holds {value} (first at {row}): drop or impute records with NaN or infinities")
