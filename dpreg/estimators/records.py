"""Records as scikit-learn's users give them: rows with names or sparse ones, labels of any kind, weights.

What the library cannot do is refused with its reason, in words that scikit-learn's own checks look for.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import type_of_target

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import InputError
from dpreg.noise import RandomState
from dpreg.pipeline import stream
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.objective import Loss
from dpreg.pipeline.solve import Penalty

Bounds = Domain | tuple[ArrayLike, ArrayLike, tuple[float, float]]


@checked
def table(X: Any) -> Any:
    """Return rows to predict for, of shape (n, d): floats, or the sparse matrix itself.

    Examples
    --------
    >>> table([[1, 2]])
    array([[1., 2.]])
    """
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        checks.all_finite(checks.numeric(X.data, "X"), "X", None)
        limits.reals(X.data, "X")
        return X
    rows = np.asarray(checks.numeric(X, "X"), dtype=np.float64)
    if rows.ndim != 2:
        raise InputError(
            f"X has shape {rows.shape}. Reshape your data: give one row per record and one column per predictor"
        )
    checks.all_finite(rows, "X")
    limits.reals(rows, "X")
    return rows


@checked
def response(y: Any) -> Any:
    """Return the response, and a single column as one dimension, with scikit-learn's warning.

    Examples
    --------
    >>> response([1.0, 2.0])
    [1.0, 2.0]
    """
    shape: tuple[int, ...] = np.shape(y) if np.isscalar(y) else getattr(y, "shape", (1,))
    if not shape:
        raise InputError("y has shape (): give one response for each record")
    if len(shape) == 2 and shape[1] != 1:
        raise InputError(f"y has shape {shape}: give one response, and fit a model with its own epsilon for each")
    if len(shape) != 2 or stream.lazy(y):
        return y
    warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=4)
    return np.asarray(y).ravel()


@checked
def refuse(unknown: Mapping[str, Any]) -> None:
    """Raise an error for arguments that `fit` does not take, and say why there are no weights.

    Examples
    --------
    >>> refuse({"sample_weight": None})
    """
    if unknown.get("sample_weight") is not None:
        raise InputError(
            "sample_weight is given, and epsilon is the price of records of weight one: a record of weight w moves "
            "the sums w times as far; leave it out"
        )
    if other := set(unknown) - {"sample_weight"}:
        raise TypeError(f"fit() got an unexpected keyword argument {min(other)!r}")


@checked
def labels(y: Any, classes: Any, domain: Domain) -> tuple[Any, NDArray[Any]]:
    """Return labels as the ends of the domain's response, and the two classes as they will be predicted, sorted.

    Parameters
    ----------
    y : array of shape (n,)
    classes : pair or None
        The two labels, of any kind; None for the ends of the response, which come back in the type of y.
    domain : Domain

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> y, two = labels(["yes", "no"], ("no", "yes"), Box([0.0], [1.0], response=(0, 1)))
    >>> y.tolist(), two.tolist()
    ([1.0, 0.0], ['no', 'yes'])
    """
    two = np.array(domain.response) if classes is None else _pair(classes)
    if stream.lazy(y):
        if classes is not None:
            raise InputError("y is a Dask collection, whose labels stay numbers: leave classes out")
        return y, two
    try:
        found = np.asarray(y)
    except Exception:  # an object may say whatever it likes when it is asked for an array
        found = checks.numeric(y, "y")  # says what is wrong
    if found.ndim != 1:
        return y, two  # the objective says what is wrong with its shape
    if found.dtype.kind in "cV":
        checks.numeric(found, "y")
    if found.dtype.kind == "O" and (gap := importlib.import_module("pandas").isna(found)).any():
        raise InputError(f"y has a missing value (first at row {gap.argmax()}): drop or impute such records")
    if classes is None and found.dtype.kind in "biuf" and (two.astype(found.dtype) == two).all():
        two = two.astype(found.dtype)
    alike = found.dtype.kind == "O" or (found.dtype.kind in "US") == (two.dtype.kind in "US")
    lower, upper = (found == one if alike else np.zeros(len(found), dtype=bool) for one in two)
    if not (known := lower | upper).all():
        _refuse_label(found, found[~known][0], two)
    return np.where(upper, domain.response[1], domain.response[0]), two


def _pair(classes: Any) -> NDArray[Any]:
    """Return two labels in the order that scikit-learn has them in."""
    given = classes.tolist() if isinstance(classes, np.ndarray) else classes
    try:
        two = np.array(list(given)) if isinstance(given, list | tuple) else np.empty(0)
    except ValueError:  # rows of different lengths
        two = np.empty(0)
    usable = two.ndim == 1 and (two.dtype.kind in "biUS" or (two.dtype.kind == "f" and np.isfinite(two).all()))
    if not usable or len(two := np.unique(two)) != 2:
        raise InputError(
            f"classes is {checks.shown(classes)}. Only binary classification is supported: give the two labels, "
            "or fit a model for each label against the rest, which share epsilon"
        )
    return two


def _refuse_label(found: NDArray[Any], other: Any, two: NDArray[Any]) -> NoReturn:
    """Say what kind of response this is, in scikit-learn's words, and what to do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of infinities that are no whole numbers
            kind = type_of_target(found)
    except (ValueError, TypeError):  # of infinities, and of objects
        kind = "unknown"
    what = {
        "multiclass": "Only binary classification is supported. The type of the target is multiclass: fit a model for "
        "each label against the rest, which share epsilon",
        "binary": "Name your labels: give classes=(lower, upper)",
    }.get(kind, f"Unknown label type: {kind}")
    raise InputError(f"y holds {checks.shown(other)}: give one of the two labels {tuple(two.tolist())}. {what}")


@checked
def no_generator(random_state: RandomState) -> None:
    """Refuse a Generator, which a fitted model would keep: copied and wound back, it takes the noise off.

    Examples
    --------
    >>> no_generator(None)
    """
    if isinstance(random_state, np.random.Generator):
        raise InputError("random_state is a Generator: give None for a real release, or a seed for a study")


@checked
def no_quadratic(penalty: Penalty | None, loss: Loss | None, sampler: str) -> None:
    """Raise `InputError` for what is for a quadratic, where none is released.

    Examples
    --------
    >>> no_quadratic(None, None, "numpy")
    """
    given = {
        "penalty": penalty is not None and penalty.lam > 0,
        "loss": loss is not None,
        "sampler": checks.choice(sampler, ("numpy", "opendp"), "sampler") != "numpy",
    }
    for name in (name for name, one in given.items() if one):
        raise InputError(f"{name} is given, and is for a quadratic: add mechanism='laplace', or leave it out")


@checked
def public_set(bounds: Bounds, d: int | None = None) -> Domain:
    """Return the domain itself, or the box with an intercept for lower, upper and response bounds.

    Parameters
    ----------
    bounds : Box, Ball, or (lower, upper, (lowest, highest response))
    d : int, optional
        For how many columns one number counts.

    Examples
    --------
    >>> public_set(([0.0], [1.0], (0.0, 10.0))).intercept
    True
    >>> public_set((0.0, [1.0, 5.0], (0.0, 10.0)), 2).lower
    (0.0, 0.0)
    """
    if isinstance(bounds, Box | Ball):
        return bounds
    if not isinstance(bounds, tuple | list) or len(bounds) != 3:
        kind = type(bounds).__name__
        raise InputError(f"domain is of type {kind}: give Box, Ball, or lower, upper and response bounds")
    lower, upper, response = bounds
    lower, upper = (np.full(d, end) if d and isinstance(end, int | float) else end for end in (lower, upper))
    return Box(lower, upper, response, intercept=True)
