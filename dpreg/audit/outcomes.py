"""What a release shows: its numbers, and in words its type and shape, its warnings, its error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpreg import checks
from dpreg.checks import FloatArray, InputError

WORDS = ("outcome", "message", "form")
DONE = "released"
DEEPEST = 20  # collections inside each other
EXACT = 2.0**53  # the integers up to here are floats


@dataclass(frozen=True)
class Outcome:
    """One release.

    Parameters
    ----------
    names : tuple of str
        Of its numbers.
    numbers : array of shape (k,)
    words : tuple of str
        What happened (an error's type, and the types of warnings), what was said, and types and shapes.
    """

    names: tuple[str, ...]
    numbers: FloatArray
    words: tuple[str, str, str]


@dataclass(frozen=True)
class Table:
    """Many releases: one row each, the same columns in all; a number that a release does not have is NaN.

    Parameters
    ----------
    names : tuple of str
        Of the k columns of numbers.
    numbers : array of shape (n, k)
    words : array of shape (n, 3)
        See `Outcome`.
    """

    names: tuple[str, ...]
    numbers: FloatArray
    words: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice) -> Table:
        return Table(self.names, self.numbers[rows], self.words[rows])


def observe(make: Callable[..., Any], X: Any, y: Any, seed: int, read: Callable[[Any], Any] | None = None) -> Outcome:
    """Return what one call shows to whoever sees its result, its warnings or its error.

    Parameters
    ----------
    make : callable
        `make(X, y, seed)`; it gets copies.
    X, y : arrays
    seed : int
    read : callable, optional
        What of the result is looked at; without it, all that `numbers_of` finds.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> seen = observe(lambda X, y, seed: {"sum": y.sum(), "n": len(y)}, np.ones((2, 1)), np.ones(2), 1)
    >>> seen.names, seen.numbers.tolist()
    (('sum', 'n'), [2.0, 2.0])
    >>> observe(lambda X, y, seed: 1 / 0, np.ones((2, 1)), np.ones(2), 1).words[:2]
    ('ZeroDivisionError', 'division by zero')
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            released = make(X.copy(), y.copy(), seed)
            names, numbers, form = numbers_of(released if read is None else read(released))
            kinds, said = [DONE], [""]
        except (Exception, SystemExit) as error:  # whatever it is, the curator would show it
            names, numbers, form = (), np.zeros(0), ""
            kinds, said = [type(error).__name__], [str(error)]
    if caught:
        kinds += sorted({warning.category.__name__ for warning in caught})
        said += sorted({str(warning.message) for warning in caught})
    return Outcome(names, numbers, (", ".join(kinds), "; ".join(said), form))


def numbers_of(released: Any) -> tuple[tuple[str, ...], FloatArray, str]:
    """Return the names of the numbers in a release, the numbers, and its types and shapes.

    A release is a number, an array, a list or a dict of them, or a model: of that, `coef_`, `intercept_` and every
    other public attribute that ends in an underscore, whatever it holds; of what is neither number, text nor a
    collection or a model of them, the name of its type. An integer that is no float has its rest as a second number.

    Examples
    --------
    >>> numbers_of([1, True])
    (('[0]', '[1]'), array([1., 1.]), 'list int64 (2,)')
    >>> numbers_of(2**60 + 1)[:2]
    (('the number', 'the rest'), array([1.1529215e+18, 1.0000000e+00]))
    """
    parts: list[tuple[str, NDArray[Any]]] = []
    forms: list[str] = []
    _collect("", released, parts, forms)
    names = tuple(name for stem, array in parts for name in _labels(stem, array.shape))
    numbers = np.concatenate([array.ravel() for _, array in parts]) if parts else np.zeros(0)
    return names, numbers, ", ".join(forms)


def _collect(name: str, value: Any, parts: list[tuple[str, NDArray[Any]]], forms: list[str]) -> None:
    """Walk through a release; what is neither number, text nor a collection of them leaves the name of its type."""
    kind = type(value).__name__
    if name.count("[") > DEEPEST:
        raise InputError(f"{name} lies too deep in a release: give read=, which returns the numbers")
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, Mapping):
        for key, item in value.items():
            _collect(f"{name}[{key}]" if name else str(key), item, parts, forms)
        return
    if _is_model(value):
        forms.append(kind)
        for key, item in _attributes(value).items():
            _collect(f"{name}[{key}]" if name else key, item, parts, forms)
        return
    array = _array(value)
    if array is None or (array.dtype.kind == "O" and array.ndim and not _whole(array)):
        for k, item in enumerate(value):
            _collect(f"{name}[{k}]", item, parts, forms)
        return
    label = f"{name} {kind} {array.dtype} {array.shape}".strip()
    if array.dtype.kind in "US":
        label += f" {array.tolist()}"
    forms.append(label)
    if array.dtype.kind == "c":
        parts += [(f"{name}.real", array.real), (f"{name}.imag", array.imag)]
    elif array.dtype.kind in "mM":
        parts += _split(name, array.astype(np.int64))
    elif array.dtype.kind in "biu" or _whole(array):
        parts += _split(name, array)
    elif array.dtype.kind == "f":
        parts.append((name, array.astype(np.float64)))


def _whole(array: NDArray[Any]) -> bool:
    """Return whether it holds integers that are too large for numpy."""
    return array.dtype.kind == "O" and all(isinstance(one, int) for one in array.ravel().tolist())


def _split(name: str, array: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
    """Return integers as floats, and what is left of them where a float cannot hold it."""
    exact = array.ravel().tolist()
    try:
        near = np.array([float(one) for one in exact])
    except OverflowError:
        raise InputError(f"{name or 'an integer'} has over 300 digits: give read=, which returns numbers") from None
    rest = np.array([float(one - int(part)) for one, part in zip(exact, near.tolist(), strict=True)])
    found = [(name, near.reshape(array.shape))]
    return (
        [*found, (f"{name or 'the'} rest", rest.reshape(array.shape))]
        if np.abs(near).max(initial=0) >= EXACT
        else found
    )


def _is_model(value: Any) -> bool:
    plain = isinstance(value, str | bytes | np.generic | np.ndarray | Sequence)
    return not plain and hasattr(value, "__dict__") and not (hasattr(value, "__array__") or hasattr(value, "toarray"))


def _attributes(model: Any) -> dict[str, Any]:
    found = {key: getattr(model, key) for key in ("coef_", "intercept_") if hasattr(model, key)}
    own = {key: item for key, item in vars(model).items() if key.endswith("_") and not key.startswith("_")}
    return {**found, **own}


def _array(value: Any) -> NDArray[Any] | None:
    try:
        return np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    except ValueError:  # rows of different lengths
        return None


@lru_cache(maxsize=1024)
def _labels(stem: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    if not shape:
        return (stem or "the number",)
    return tuple(f"{stem}[{', '.join(map(str, place))}]" for place in np.ndindex(shape))


def table(outcomes: Sequence[Outcome], names: tuple[str, ...] | None = None) -> Table:
    """Return releases as a table; without `names`, its columns are all that occur, in the order of their first release.

    Examples
    --------
    >>> one, two = Outcome(("a",), np.ones(1), ("", "", "")), Outcome(("a", "b"), np.ones(2), ("", "", ""))
    >>> table([one, two]).numbers.tolist()
    [[1.0, nan], [1.0, 1.0]]
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, outcome in enumerate(outcomes):
        groups.setdefault(outcome.names, []).append(k)
    columns = tuple(dict.fromkeys(name for group in groups for name in group)) if names is None else names
    place = {name: k for k, name in enumerate(columns)}
    numbers = np.full((len(outcomes), len(columns)), np.nan)
    for group, rows in groups.items():
        kept = [k for k, name in enumerate(group) if name in place]
        if kept:
            block = np.array([outcomes[row].numbers for row in rows])[:, kept]
            numbers[np.ix_(rows, [place[group[k]] for k in kept])] = block
    words = np.array([outcome.words for outcome in outcomes], dtype=object).reshape(-1, len(WORDS))
    return Table(columns, numbers, words)


def of_array(array: Any) -> Table:
    """Return releases that were drawn all at once, of shape (n,) or (n, k), as a table.

    Examples
    --------
    >>> of_array([1.0, 2.0]).numbers.shape
    (2, 1)
    """
    numbers = np.asarray(checks.numeric(array, "what make returned"), dtype=np.float64)
    if not numbers.ndim or not numbers.size:
        raise InputError(f"what make returned has shape {numbers.shape}: give one row of numbers per release")
    if np.asarray(array).dtype.kind in "iu" and np.abs(numbers).max() > EXACT:
        raise InputError("what make returned holds integers beyond 2^53, which floats round: give floats")
    numbers = numbers.reshape(len(numbers), -1)
    names = _labels("", (numbers.shape[1],)) if numbers.shape[1] > 1 else ("the number",)
    words = np.full((len(numbers), len(WORDS)), "", dtype=object)
    words[:, 0] = DONE
    return Table(names, numbers, words)


def keys(columns: Any) -> NDArray[np.uint64]:
    """Return one number per row that is equal where the rows are: of text, or of floats bit by bit.

    Examples
    --------
    >>> a, b, c = keys(np.array([1.0, 2.0, 1.0])).tolist()
    >>> a == c != b
    True
    """
    if columns.dtype == object:
        return np.asarray(pd.util.hash_array(columns, categorize=True), dtype=np.uint64)
    bits = np.ascontiguousarray(columns).view(np.uint64)
    if bits.ndim == 1:
        return bits
    frame = pd.DataFrame(bits)
    return np.asarray(pd.util.hash_pandas_object(frame, index=False), dtype=np.uint64)
