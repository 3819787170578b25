"""Objectives that add over records: the coefficients of f(theta) = theta' M theta + v' theta + c."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline import lattice, stream
from dpreg.pipeline.domain import BLOCK, Domain
from dpreg.pipeline.lattice import Lattice

Add = Callable[[NDArray[Any], NDArray[Any], int], FloatArray]
FLAT = 1e-12  # of the largest: an eigenvalue or score this small is zero but for rounding, which must not decide


@checked
@dataclass(frozen=True)
class Loss:
    """What one record (t, x) adds to an objective: square z^2 + cross t z + constant t^2 at z = x' theta.

    So the coefficients of every objective here are the entries of sum (t, x)(t, x)', each times a number.

    Parameters
    ----------
    square, cross, constant : float
        `square` is above zero.
    labels : bool
        The response is one of two labels, scaled to -1 and 1, so t^2 is one for every record.

    Examples
    --------
    >>> SQUARED.square, SQUARED.cross, TAYLOR.square, TAYLOR.cross
    (1.0, -2.0, 0.125, -0.5)
    """

    square: float
    cross: float
    constant: float
    labels: bool = False

    def __post_init__(self) -> None:
        checks.positive(self.square, "square")
        checks.finite(self.cross, "cross")
        checks.finite(self.constant, "constant")


SQUARED = Loss(1.0, -2.0, 1.0)  # (t - z)^2
# log(1 + e^z) - y z with y = (t + 1) / 2, to the second order around z = 0 (001, Eq. 9)
TAYLOR = Loss(1 / 8, -1 / 2, math.log(2), labels=True)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The coefficients of f(theta) = theta' M theta + v' theta + c, or a stack of them.

    Adding two of them adds the functions, so shards of a data set merge with `+` and folds leave with `-`.

    Parameters
    ----------
    M : array of shape (..., p, p)
    v : array of shape (..., p)
    c : array of shape (...)
    domain : Domain, optional
        The public set the records were clipped to. Only an objective that knows it can be released:
        its sensitivity follows from it. A noisy objective has none.
    loss : Loss
        What was added up. It counts only beside a domain.
    exact : Lattice, optional
        The moments of rounded records, of which M, v and c are made, if they are to be released on a lattice. They
        count only beside a domain, too.

    Examples
    --------
    >>> f = Quadratic(np.eye(2), np.array([-2.0, 0.0]), np.array(1.0))
    >>> float(f([1.0, 0.0])), float((f + f)([1.0, 0.0]))
    (0.0, 0.0)
    """

    M: FloatArray
    v: FloatArray
    c: FloatArray
    domain: Domain | None = None
    loss: Loss = SQUARED
    exact: Lattice | None = None

    def __post_init__(self) -> None:
        for name in ("M", "v", "c"):
            view = np.asarray(checks.numeric(getattr(self, name), name), dtype=np.float64).view()
            if not np.isfinite(view).all():
                raise InputError(f"{name} holds NaN or an infinity: build it from finite records and finite noise")
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        p = self.v.shape[-1] if self.v.ndim else 0
        if p == 0 or self.M.shape != (*self.c.shape, p, p) or self.v.shape != (*self.c.shape, p):
            raise InputError(
                f"M, v and c have shapes {self.M.shape}, {self.v.shape} and {self.c.shape}: "
                "give (..., p, p), (..., p) and (...)"
            )
        checks.instance(self.loss, Loss, "loss")
        if self.domain is not None:
            checks.instance(self.domain, Domain, "domain")
        if self.domain is not None and self.domain.p != p:
            raise InputError(f"the objective has {p} columns and its domain {self.domain.p}: match them")
        if self.exact is not None:
            checks.instance(self.exact, Lattice, "exact")
        if self.domain is None:
            object.__setattr__(self, "exact", None)
        elif self.exact is not None:
            for name, exact in zip(("M", "v", "c"), _coefficients(self.exact.gram, self.loss), strict=True):
                if not np.allclose(getattr(self, name), exact, rtol=1e-9, atol=1e-9):
                    raise InputError(f"{name} is not that of the exact moments: leave them out, or they are released")

    @property
    def p(self) -> int:
        """Number of coefficients theta."""
        return int(self.v.shape[-1])

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape of the stack; empty for a single function."""
        return self.c.shape

    @property
    def symmetric(self) -> FloatArray:
        """(M + M') / 2, the part of M the function depends on; shape (..., p, p)."""
        return np.asarray((self.M + np.swapaxes(self.M, -1, -2)) / 2)

    def __call__(self, theta: ArrayLike) -> FloatArray:
        """Return f(theta) for theta of shape (..., p), broadcast against the stack."""
        t = np.asarray(checks.numeric(theta, "theta"), dtype=np.float64)
        if t.ndim == 0 or t.shape[-1] != self.p:
            raise InputError(f"theta has shape {t.shape}: give {self.p} entries on its last axis")
        quadratic = ((self.M @ t[..., None])[..., 0] * t).sum(axis=-1)
        return np.asarray(quadratic + (self.v * t).sum(axis=-1) + self.c)

    def __getitem__(self, index: Any) -> Quadratic:
        """Index the stack, as with an array; `None` adds an axis."""
        stack = index if isinstance(index, tuple) else (index,)
        if not any(part is ... for part in stack):
            stack = (*stack, ...)
        every = slice(None)  # the coefficients' own axes are none of the stack's, so an ellipsis must not reach them
        return Quadratic(self.M[(*stack, every, every)], self.v[(*stack, every)], self.c[stack], self.domain, self.loss)

    def __add__(self, other: Quadratic) -> Quadratic:
        return self._combine(other, 1.0)

    def __sub__(self, other: Quadratic) -> Quadratic:
        return self._combine(other, -1.0)

    def _combine(self, other: Quadratic, sign: float) -> Quadratic:
        if not isinstance(other, Quadratic):
            return NotImplemented
        if self.domain != other.domain or self.p != other.p:
            raise InputError("the two objectives come from different domains: scale both with the same one")
        if self.loss != other.loss:
            raise InputError("the two objectives add up different losses: build both with the same one")
        exact = self.exact and self.exact.plus(other.exact, sign)
        if exact:
            return Quadratic(*_coefficients(exact.gram, self.loss), self.domain, self.loss, exact)
        M, v, c = self.M + sign * other.M, self.v + sign * other.v, self.c + sign * other.c
        return Quadratic(M, v, c, self.domain, self.loss, exact)

    def sum(self) -> Quadratic:
        """Add up the leading axis of the stack."""
        if not self.batch:
            raise InputError("the objective is a single one, without a stack to add up: index it with None first")
        return Quadratic(self.M.sum(axis=0), self.v.sum(axis=0), self.c.sum(axis=0), self.domain, self.loss)


@checked
def linear(X: Any, y: ArrayLike, domain: Domain, *, bits: int | None = None) -> Quadratic:
    """Return the least-squares objective sum (y - x' theta)^2 of the clipped, scaled records.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
        In memory, or Dask arrays: see `moments`.
    domain : Domain
        Public bounds of both.
    bits : int, optional
        Round scaled records to multiples of 2^-bits, and add up exactly: for a release on a lattice. 16 bits do for
        two million records, and each bit less for four times as many.

    Returns
    -------
    Quadratic
        M = Z'Z, v = -2 Z't, c = t't in scaled units (000, Eq. 8).

    Raises
    ------
    InputError
        For NaN, infinities, text, or wrong shapes.

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    The three records of 001's example in Section 4.2.

    >>> from dpreg.pipeline.domain import Box
    >>> f = linear([[1.0], [0.9], [-0.5]], [0.4, 0.3, -1.0], Box([-1.0], [1.0], response=(-1.0, 1.0)))
    >>> f.M.round(2).tolist(), f.v.round(2).tolist(), float(f.c.round(2))
    ([[2.06]], [-2.34], 1.25)
    """
    return from_gram(moments(X, y, domain, bits=bits), domain, bits=bits)


@checked
def logistic(X: Any, y: ArrayLike, domain: Domain, loss: Loss = TAYLOR, *, bits: int | None = None) -> Quadratic:
    """Return a quadratic stand-in for the logistic objective sum log(1 + e^(x' theta)) - y x' theta.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
        In memory, or Dask arrays: see `moments`. The response is one of two labels, the ends of `domain.response`; 001
        has 0 and 1.
    domain : Domain
    loss : Loss
        Which quadratic; the default is 001's, to the second order around zero (Eq. 9).
    bits : int, optional
        See `linear`.

    Raises
    ------
    InputError
        If a response is not a label, or as in `linear`.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> f = logistic([[1.0], [-1.0]], [1, 0], Box([-1.0], [1.0], response=(0, 1)))
    >>> f.M.tolist(), f.v.tolist(), round(float(f.c), 4)
    ([[0.25]], [-1.0], 1.3863)
    """
    if not loss.labels:
        raise InputError("the loss is not one of labels: give TAYLOR, or another quadratic for the logistic loss")
    return from_gram(moments(X, y, domain, labels=True, bits=bits), domain, loss, bits=bits)


@checked
def check_labels(y: ArrayLike, domain: Domain) -> None:
    """Raise `InputError` unless every response is one of the two labels at the ends of `domain.response`."""
    target = np.asarray(checks.numeric(y, "y"))
    low, high = domain.response
    if (other := target[(target != low) & (target != high)]).size:
        raise InputError(f"y holds {other.flat[0]}: give one of the two labels {domain.response} of the domain")


@checked
def moments(X: Any, y: ArrayLike, domain: Domain, *, labels: bool = False, bits: int | None = None) -> FloatArray:
    """Return sum (t, x)(t, x)' of the clipped, scaled records, of shape (p + 1, p + 1), the response first.

    Rows are read once, block by block: memory beyond the input is one block.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
        X may be sparse. Or Dask arrays, such as `stream.parquet` returns: then memory is that of the chunks worked
        on. Their sum is that of the same rows in memory but for rounding, because chunks are added in another order.
    domain : Domain
    labels : bool
        Refuse a response that is not one of the two ends of `domain.response`.
    bits : int, optional
        See `linear`. The sum is then exact, in whatever order it is taken, until it leaves `lattice.WHOLE` steps.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> moments([[1.0], [0.5]], [1.0, -1.0], Box([-1.0], [1.0], response=(-1.0, 1.0))).tolist()
    [[2.0, 0.5], [0.5, 1.25]]
    """
    own = None if bits is None else lattice.allowed(bits)
    add = partial(_moments, domain=domain, labels=checks.flag(labels, "labels"), bits=own)
    return add_up(add, X, y, domain)


@checked
def add_up(add: Add, X: Any, y: Any, domain: Domain) -> FloatArray:
    """Return the sum of a matrix of shape (p + 1, p + 1) over records in memory, sparse or not, or in Dask arrays.

    Parameters
    ----------
    add : function of rows, responses and the number of their first row among all
        Returns the matrix of these records.
    X, y, domain
        As in `moments`.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    >>> add_up(lambda rows, target, first: len(rows) * np.eye(2), [[1.0], [0.5]], [1.0, -1.0], box).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    if stream.lazy(X) or stream.lazy(y):
        return stream.add_up(add, X, y, domain.d, domain.p + 1)
    if hasattr(X, "tocsr"):
        return _sparse(add, X.tocsr(), checks.numeric(y, "y"), domain.d)
    return add(*domain.records(X, y), 0)


def _sparse(add: Add, X: Any, target: NDArray[Any], d: int) -> FloatArray:
    """Add up blocks: centring fills a sparse block, and clipping needs it filled."""
    checks.shapes(X, target, d)
    starts = range(0, max(len(target), 1), BLOCK)
    parts = [slice(start, start + BLOCK) for start in starts]
    return sum((add(X[part].toarray(), target[part], part.start) for part in parts), np.zeros(()))


def _moments(
    rows: NDArray[Any], target: NDArray[Any], first: int, domain: Domain, labels: bool, bits: int | None
) -> FloatArray:
    block = np.empty((min(BLOCK, len(rows)), domain.p + 1))
    gram = np.zeros((domain.p + 1, domain.p + 1))
    for start in range(0, len(rows), BLOCK):
        part = block[: min(BLOCK, len(rows) - start)]
        if labels:
            check_labels(target[start : start + BLOCK], domain)
        domain.scale_block(rows[start : start + BLOCK], target[start : start + BLOCK], part, first + start)
        if bits is not None:
            lattice.snap(part, domain, bits)
        gram += part.T @ part
    return gram


@checked
def zero(p: int) -> Quadratic:
    """Return the objective of no records: with noise on it, it is the noise alone.

    Parameters
    ----------
    p : int
        Number of coefficients.

    Examples
    --------
    >>> float(zero(2)([3.0, -1.0]))
    0.0
    """
    return Quadratic(np.zeros((p, p)), np.zeros(p), np.array(0.0))


@checked
def from_gram(gram: FloatArray, domain: Domain, loss: Loss = SQUARED, bits: int | None = None) -> Quadratic:
    """Return the objective for the moments of (t, Z), of shape (..., p + 1, p + 1).

    Parameters
    ----------
    gram : array of shape (..., p + 1, p + 1)
    domain : Domain
    loss : Loss
    bits : int, optional
        See `linear`.

    Notes
    -----
    For a loss of labels the first of them must be the number of records, exactly: scaled labels are exactly -1 and 1.
    """
    if gram.ndim < 2 or gram.shape[-2:] != (domain.p + 1, domain.p + 1):
        raise InputError(
            f"gram has shape {gram.shape}, and the domain {domain.p} columns: match them, {domain.p + 1} each"
        )
    exact = None if bits is None else Lattice(gram, bits)
    return Quadratic(*_coefficients(gram, loss), domain, loss, exact)


def _coefficients(gram: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return M, v and c of moments."""
    return loss.square * gram[..., 1:, 1:], loss.cross * gram[..., 0, 1:], loss.constant * gram[..., 0, 0]


@checked
def on_lattice(
    kind: lattice.Kind, objective: Quadratic, scales: FloatArray, ordered: bool = False
) -> Callable[[], Quadratic]:
    """Return a function that draws an objective from its exact moments and discrete noise.

    Parameters
    ----------
    kind, scales, ordered
        See `lattice.adder`.
    objective : Quadratic
        Built with `bits`.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> f = linear([[0.2], [0.7]], [0.1, 0.9], Box([0.0], [1.0], response=(0.0, 1.0)), bits=8)
    >>> on_lattice("laplace", f, np.ones((2, 2)))().M.shape
    (1, 1)
    """
    if objective.exact is None:
        raise InputError("the objective's moments are rounded sums, on no lattice: build it with bits, such as bits=16")
    add, loss = lattice.adder(kind, objective.exact, scales, ordered), objective.loss

    def draw() -> Quadratic:
        gram = add()
        return Quadratic(loss.square * gram[1:, 1:], loss.cross * gram[0, 1:], np.array(0.0))

    return draw


@checked
def merge(shards: Iterable[Quadratic]) -> Quadratic:
    """Add up the objectives of disjoint shards of one data set.

    Nothing can tell here that they are disjoint. A record in two shards counts twice, and then moves the sum by twice
    the sensitivity that `laws.certify` knows.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([0.0], [1.0], response=(0.0, 1.0))
    >>> parts = [linear([[0.1], [0.9]], [0.2, 0.8], box), linear([[0.4], [0.5]], [0.3, 0.6], box)]
    >>> whole = linear([[0.1], [0.9], [0.4], [0.5]], [0.2, 0.8, 0.3, 0.6], box)
    >>> bool(np.allclose(merge(parts).M, whole.M))
    True
    """
    total: Quadratic | None = None
    for part in shards if isinstance(shards, Iterable) and not isinstance(shards, np.ndarray) else (None,):
        if not isinstance(part, Quadratic):  # at the first, for shards may be made one by one, without an end
            total = None
            break
        total = part if total is None else total + part
    if total is None:
        raise InputError("shards must be objectives, and at least one: give what objective.linear returns")
    return total
