"""Public sets that hold every possible record, and the maps between them and the user's units.

A domain is decided before the data are seen. It maps a record to scaled units, where the worst case of
every sensitivity is known, and clips what lies outside: always, with or without an intercept column.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline import bounds

BLOCK = 4096  # rows scaled at a time: the block and its product stay in the processor's cache


@checked
@dataclass(frozen=True)
class Model:
    """A fitted linear model in the user's own units: prediction = intercept + X @ slopes.

    Parameters
    ----------
    intercept : float
        In units of the response.
    slopes : array of shape (d,)
        In units of the response per unit of each predictor.

    Examples
    --------
    >>> Model(1.0, np.array([2.0])).predict([[3.0]])
    array([7.])
    """

    intercept: float
    slopes: FloatArray

    def __post_init__(self) -> None:
        checks.vector(self.slopes, "slopes")

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return predictions of shape (n,) for predictors of shape (n, d)."""
        array = np.asarray(checks.numeric(X, "X"), dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != len(self.slopes):
            raise InputError(f"X has shape {array.shape}: give {len(self.slopes)} columns, one row per record")
        checks.all_finite(array, "X")
        limits.reals(array, "X")
        return np.asarray(self.intercept + array @ self.slopes)


@dataclass(frozen=True)
class Domain:
    """What `Box` and `Ball` share: the affine maps of predictors and response, and the constant column.

    Scaled predictors are (x - shift) / unit, scaled responses (y - centre) / half-width in [-1, 1].
    With `intercept`, the scaled record starts with a column of ones, so p = d + 1; otherwise p = d. Bounds that have
    names, as those of a Series or a dict, refuse a data frame whose columns have others, or stand in another order.
    """

    response: tuple[float, float]
    intercept: bool
    leaky: bool = field(default=False, kw_only=True)
    names: tuple[str, ...] = field(default=(), kw_only=True, compare=False, repr=False)
    kind: ClassVar[str] = "domain"

    @property
    def shift(self) -> FloatArray:
        """The point of shape (d,) that scaling sends to zero."""
        raise NotImplementedError

    @property
    def unit(self) -> FloatArray:
        """What one scaled unit is worth in the user's units, of shape (d,)."""
        raise NotImplementedError

    @property
    def square(self) -> int:
        """Largest squared length of the scaled predictors of one record."""
        return 1

    @property
    def longest(self) -> int:
        """Largest squared length of a scaled record x, its constant column included."""
        return self.square + self.intercept

    def clip(self, Z: FloatArray) -> None:
        """Move scaled predictors of shape (n, d) into the set, in place."""
        raise NotImplementedError

    @property
    def d(self) -> int:
        """Number of predictors."""
        return len(self.shift)

    @property
    def p(self) -> int:
        """Number of columns: predictors, and the constant if there is an intercept."""
        return self.d + self.intercept

    @property
    def caveat(self) -> str:
        """What no epsilon on this domain covers, for the ledger; empty if nothing."""
        return "the domain's bounds were read off the data" if self.leaky else ""

    @property
    def half_width(self) -> float:
        """Units of the response in one scaled unit; multiply a scaled RMSE by it."""
        return (self.response[1] - self.response[0]) / 2

    def scale(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return clipped records in scaled units.

        Parameters
        ----------
        X : array of shape (n, d), in the user's units
        y : array of shape (n,), in the user's units

        Returns
        -------
        Z : array of shape (n, p)
        t : array of shape (n,), in [-1, 1]

        Raises
        ------
        InputError
            For NaN, infinities, text, or wrong shapes.

        Examples
        --------
        >>> box = Box([0.0], [10.0], response=(0.0, 1.0))
        >>> Z, t = box.scale([[0.0], [25.0]], [0.5, 1.0])
        >>> Z.ravel().tolist(), t.tolist()
        ([-1.0, 1.0], [0.0, 1.0])
        """
        table = self.table(X, y)
        return table[:, 1:], table[:, 0]

    def records(self, X: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return records in the user's units as arrays of shape (n, d) and (n,): columns and bounds belong together."""
        columns = getattr(X, "columns", None)
        if self.names and columns is not None and (found := tuple(columns)) != self.names:
            wanted = list(self.names)
            raise InputError(f"X has the columns {list(found)}, and the bounds are those of {wanted}: pass X[{wanted}]")
        return checks.rows(X, y, self.d)

    def table(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return the clipped records (t, Z) in scaled units as one array of shape (n, p + 1)."""
        rows, target = self.records(X, y)
        table = np.empty((len(rows), self.p + 1))
        for start in range(0, len(rows), BLOCK):
            stop = min(start + BLOCK, len(rows))
            self.scale_block(rows[start:stop], target[start:stop], table[start:stop], start)
        return table

    def scale_block(self, X: NDArray[Any], y: NDArray[Any], out: FloatArray, first: int | None = None) -> None:
        """Write the scaled records (t, Z) of one block into `out`.

        Parameters
        ----------
        X, y : arrays of shape (n, d) and (n,), in the user's units
        out : array of shape (n, p + 1)
        first : int, optional
            Number of its first record among all, for what is said about a record that cannot be used.
        """
        Z = out[:, 1 + self.intercept :]
        checks.all_finite(y, "y", first)
        checks.all_finite(X, "X", first)
        if self.intercept:
            out[:, 1] = 1.0
        with np.errstate(over="ignore"):  # of a finite record only the side counts, and clipping keeps it
            np.subtract(X, self.shift, out=Z)
            np.subtract(y, self.response[0], out=out[:, 0], dtype=np.float64)  # or float32 stays so
            Z /= self.unit
            out[:, 0] /= self.half_width
            out[:, 0] -= 1.0  # in this order the two ends become exactly -1 and 1, so a label's square is exactly one
        self.clip(Z)
        np.clip(out[:, 0], -1.0, 1.0, out=out[:, 0])

    def unscale(self, theta: ArrayLike) -> Model:
        """Return the model in the user's units for scaled coefficients of shape (p,).

        Examples
        --------
        >>> box = Box([0.0], [10.0], response=(0.0, 1.0))
        >>> box.unscale([1.0]).predict([[10.0], [5.0]])
        array([1. , 0.5])
        """
        scaled = checks.vector(theta, "theta")
        if len(scaled) != self.p:
            raise InputError(f"theta has {len(scaled)} entries: give {self.p}, one per column of the domain")
        slopes = self.half_width * scaled[int(self.intercept) :] / self.unit
        constant = self.half_width * scaled[0] if self.intercept else 0.0
        return Model(float(sum(self.response) / 2 + constant - slopes @ self.shift), slopes)


@checked
@dataclass(frozen=True)
class Box(Domain):
    """Each predictor between public bounds; scaled to [-1, 1], or to [0, 1/sqrt(d)] with `corner`.

    Parameters
    ----------
    lower, upper : array-like of shape (d,), Series or dict
        Public bounds in the user's units. They must not come from the data. A Series or a dict names the columns.
    response : (float, float)
        Public bounds of the response.
    intercept : bool
        Add a constant column.
    corner : bool
        Scale to [0, 1/sqrt(d)], which is 001's footnote 1: it keeps the Euclidean norm of a record below one.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> Box([0.0, 0.0], [1.0, 5.0], response=(0.0, 10.0)).d
    2
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    corner: bool = False
    kind: ClassVar[str] = "box"

    def __init__(
        self,
        lower: ArrayLike | Mapping[str, float],
        upper: ArrayLike | Mapping[str, float],
        response: tuple[float, float],
        *,
        intercept: bool = False,
        corner: bool = False,
        leaky: bool = False,
    ) -> None:
        low, high, names = bounds.pairs(lower, upper)
        _set(self, lower=low, upper=high, names=names, response=bounds.interval(response))
        _set(self, intercept=checks.flag(intercept, "intercept"), corner=checks.flag(corner, "corner"), leaky=leaky)
        with np.errstate(over="ignore"):
            for j in np.flatnonzero(~np.isfinite(self.unit)):
                raise InputError(f"predictor {j} has bounds [{low[j]:g}, {high[j]:g}], too far apart: give closer ones")

    @classmethod
    def from_data(cls, X: ArrayLike, y: ArrayLike, *, intercept: bool = False, corner: bool = False) -> Box:
        """Read the bounds off the data, as 000 does. This leaks: it warns, and the ledger says so.

        Raises
        ------
        InputError
            If a column is constant, so that no interval can be made of it.

        References
        ----------
        * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.
        """
        low, high, response = bounds.data_range(X, y)
        return cls(low, high, response, intercept=intercept, corner=corner, leaky=True)

    @property
    def reach(self) -> float:
        """Largest absolute value of a scaled predictor."""
        return 1 / math.sqrt(self.d) if self.corner else 1.0

    @property
    def floor(self) -> float:
        """Smallest value of a scaled predictor."""
        return 0.0 if self.corner else -1.0

    @property
    def shift(self) -> FloatArray:
        """See `Domain`."""
        low, high = np.array(self.lower), np.array(self.upper)
        return low if self.corner else np.asarray((low + high) / 2)

    @property
    def unit(self) -> FloatArray:
        """See `Domain`."""
        width = np.array(self.upper) - np.array(self.lower)
        return np.asarray(width * math.sqrt(self.d) if self.corner else width / 2)

    @property
    def square(self) -> int:
        """See `Domain`."""
        return 1 if self.corner else self.d

    @property
    def centred(self) -> Box:
        """The same bounds, scaled to [-1, 1], with a constant: every other scale is a linear image of it."""
        box = Box(self.lower, self.upper, self.response, intercept=True, leaky=self.leaky)
        _set(box, names=self.names)
        return box

    @property
    def basis(self) -> FloatArray:
        """The matrix A of shape (p + 1, d + 2) that makes the scaled record (t, x) of the `centred` one, (t, 1, Z).

        So moments are A G A', and theta has the coefficients A' theta on (t, 1, Z).

        Examples
        --------
        >>> Box([0.0], [1.0], (0.0, 1.0), corner=True).basis.tolist()  # from [-1, 1] to [0, 1]
        [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
        """
        A = np.zeros((self.p + 1, self.d + 2))
        A[0, 0], A[1, 1] = 1.0, self.intercept
        columns = 1 + self.intercept + np.arange(self.d)
        A[columns, 1] = (self.reach + self.floor) / 2
        A[columns, 2 + np.arange(self.d)] = (self.reach - self.floor) / 2
        return A

    def clip(self, Z: FloatArray) -> None:
        """See `Domain`."""
        np.clip(Z, self.floor, self.reach, out=Z)


@checked
@dataclass(frozen=True)
class Ball(Domain):
    """Predictors within a Euclidean ball around a public centre; scaled to the unit ball.

    Parameters
    ----------
    centre : array-like of shape (d,), Series or dict
        In the user's units.
    radius : float
        Public bound of the distance to the centre. Records outside are moved to the surface.
    response : (float, float)
        Public bounds of the response.
    intercept : bool
        Add a constant column; the ball then bounds the predictors alone.

    Examples
    --------
    >>> ball = Ball([0.0, 0.0], 1.0, response=(-1.0, 1.0))
    >>> ball.scale([[3.0, 4.0], [0.0, 0.5]], [0.0, 0.0])[0].tolist()
    [[0.6, 0.8], [0.0, 0.5]]
    """

    centre: tuple[float, ...]
    radius: float
    kind: ClassVar[str] = "ball"

    def __init__(
        self,
        centre: ArrayLike | Mapping[str, float],
        radius: float,
        response: tuple[float, float],
        *,
        intercept: bool = False,
        leaky: bool = False,
    ) -> None:
        centre, names = bounds.named(centre)
        middle = checks.vector(centre, "centre")
        _set(self, centre=tuple(middle.tolist()), radius=checks.positive(radius, "radius"))
        _set(self, response=bounds.interval(response), intercept=checks.flag(intercept, "intercept"), leaky=leaky)
        _set(self, names=names)

    @classmethod
    def from_data(cls, X: ArrayLike, y: ArrayLike, *, intercept: bool = False) -> Ball:
        """Take centre, radius and response range from the data. This leaks: it warns, and the ledger says so."""
        low, high, response = bounds.data_range(X, y)
        centre = (low + high) / 2
        radius = float(np.linalg.norm(np.asarray(X, dtype=np.float64) - centre, axis=1).max())
        return cls(centre, radius, response, intercept=intercept, leaky=True)

    @property
    def shift(self) -> FloatArray:
        """See `Domain`."""
        return np.array(self.centre)

    @property
    def unit(self) -> FloatArray:
        """See `Domain`."""
        return np.full(len(self.centre), self.radius)

    def clip(self, Z: FloatArray) -> None:
        """See `Domain`."""
        with np.errstate(over="ignore"):
            norm = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        huge = ~np.isfinite(norm)
        if huge.any():  # squares overflowed: the direction is all that survives clipping
            Z[huge] = np.nan_to_num(Z[huge])
            Z[huge] /= np.abs(Z[huge]).max(axis=1, keepdims=True)
            norm[huge] = np.linalg.norm(Z[huge], axis=1)
        outside = norm > 1
        Z[outside] /= norm[outside, None]


def _set(instance: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(instance, name, value)
