"""Moments of records on a lattice, exactly, and discrete noise for them from a library that is built for release.

Floating-point noise betrays the data by its last bits. Here nothing is rounded after the records are: every record is
moved to a lattice inside its domain, moments are whole numbers of steps, and so is the noise. OpenDP draws it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Literal

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import Ball, Box, Domain

WHOLE = 2.0**53  # floating-point numbers below hold every whole number, so sums of whole numbers are exact
FINEST = 24  # bits: the square of a step must leave room for the sum
WIDEST = 2.0**55  # steps; OpenDP adds in 64 bits, and 2^63 is far out in the tail of this scale
SLACK = 1 + 2.0**-30  # of the scales: far more than rounding can move what `certify` computes
Kind = Literal["laplace", "gaussian"]


@checked
@dataclass(frozen=True, eq=False)
class Lattice:
    """Moments sum (t, x)(t, x)' of records on the multiples of 2^-bits: whole numbers of steps of 4^-bits, exactly.

    Parameters
    ----------
    gram : array of shape (p + 1, p + 1)
        In scaled units, the response first.
    bits : int

    Raises
    ------
    InputError
        If the moments are not on the lattice, or so large that floating-point numbers no longer hold them exactly.

    Examples
    --------
    >>> Lattice(np.array([[0.25, 0.5], [0.5, 1.0]]), 1).steps.tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    gram: FloatArray
    bits: int

    def __post_init__(self) -> None:
        allowed(self.bits)
        own = np.array(checks.numeric(self.gram, "gram"), dtype=np.float64)
        own.flags.writeable = False
        object.__setattr__(self, "gram", own)
        if own.ndim != 2 or own.shape[0] != own.shape[1]:
            raise InputError(f"gram has shape {own.shape}: give one square matrix")
        checks.all_finite(own, "gram")
        if not (np.abs(own) < WHOLE / 4.0**self.bits).all():
            most = int(WHOLE) // 4**self.bits
            raise InputError(
                f"gram is too large, exact at {self.bits} bits for up to {most - 1} records: give fewer bits"
            )
        if (self.steps % 1 != 0).any() or (own != own.T).any():
            raise InputError(f"gram is not on the lattice of {self.bits} bits: build it from rounded records")

    @property
    def steps(self) -> FloatArray:
        """The moments in steps of 4^-bits: whole numbers, of shape (p + 1, p + 1)."""
        return self.gram * 4.0**self.bits

    def plus(self, other: Lattice | None, sign: float) -> Lattice | None:
        """Return the sum or difference, or None if the other moments are on no lattice or another."""
        if other is None or other.bits != self.bits:
            return None
        return Lattice(self.gram + sign * other.gram, self.bits)


@checked
def allowed(bits: Any) -> int:
    """Return the number of bits, from 1 to 24.

    Examples
    --------
    >>> allowed(16)
    16
    """
    if checks.count(bits, "bits") > FINEST:
        raise InputError(f"bits is {bits}: give at most {FINEST}, or the sums of products do not stay exact")
    return int(bits)


@checked
def snap(block: FloatArray, domain: Domain, bits: int) -> None:
    """Move scaled records (t, x) to multiples of 2^-bits in the domain, in place: the nearest, but for the surface.

    What comes out is in the domain exactly, and not only up to rounding. Each record is rounded by itself, by a public
    rule, so neighbours stay neighbours, and the rounding costs nothing.

    Parameters
    ----------
    block : array of shape (n, p + 1)
        As `domain.table` returns it.
    domain : Box or Ball
    bits : int

    Examples
    --------
    >>> table = np.array([[0.3, -1.0], [1.0, 0.13]])
    >>> snap(table, Box([0.0], [1.0], response=(0.0, 1.0)), 2)
    >>> table.tolist()
    [[0.25, -1.0], [1.0, 0.25]]
    """
    checks.instance(domain, (Box, Ball), "domain")
    step, first = 2 ** allowed(bits), 1 + domain.intercept
    block *= step
    Z = block[:, first:]
    np.rint(block, out=block)
    if isinstance(domain, Box):
        reach = math.isqrt(step**2 // domain.d) if domain.corner else step  # not above 1 / sqrt(d)
        np.clip(Z, math.ceil(domain.floor * step), reach, out=Z)
    else:  # squared lengths are whole numbers below 2^53, so they are exact
        while (outside := np.einsum("ij,ij->i", Z, Z) > step**2).any():
            Z[outside] -= np.sign(Z[outside])
    block /= step


@checked
def origin(bits: int) -> str:
    """Return what a ledger says of noise from here.

    Examples
    --------
    >>> origin(16).split(", ")[1:]
    ['OpenSSL randomness', 'lattice 2^-32']
    """
    return f"OpenDP {metadata.version('opendp')}, OpenSSL randomness, lattice 2^-{2 * allowed(bits)}"


@checked
def adder(kind: Kind, exact: Lattice, scales: FloatArray, ordered: bool = False) -> Callable[[], FloatArray]:
    """Return a function that draws discrete noise and adds it to the moments; all that can fail fails before.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
        P(k) is proportional to exp(-|k| / s) or exp(-k^2 / (2 s^2)), at whole numbers of steps k.
    exact : Lattice
    scales : array of shape (p + 1, p + 1)
        Of the noise on each moment, in scaled units. The upper triangle counts, unless `ordered`. At zero a moment is
        returned as it is.
    ordered : bool
        Draw independent noise for both twins of a moment of two predictors.

    Returns
    -------
    function
        Returns noisy moments of shape (p + 1, p + 1); that of t^2 is withheld, and zero.

    Raises
    ------
    DataError
        If OpenDP is not installed.
    InputError
        If a scale is not finite, or too large for the lattice.

    Examples
    --------
    >>> exact = Lattice(np.array([[1.0, 0.5], [0.5, 1.0]]), 1)
    >>> noisy = adder("laplace", exact, np.ones((2, 2)))()
    >>> bool((4 * noisy % 1 == 0).all()), float(noisy[0, 0])
    (True, 0.0)
    """
    size = len(exact.gram)
    sizes = np.asarray(checks.numeric(scales, "scales"), dtype=np.float64)
    if sizes.shape != (size, size):
        raise InputError(f"scales have shape {sizes.shape}: give {(size, size)}, the response first")
    rows, columns = np.indices((size, size)).reshape(2, -1) if ordered else np.triu_indices(size)
    rows, columns = rows[columns > 0], columns[columns > 0]  # neither t^2, nor t x_j twice
    wide = sizes[rows, columns] * 4.0**exact.bits * SLACK
    if not ((wide >= 0) & (wide <= WIDEST)).all():
        raise InputError(f"a scale of the noise is {wide.max():g} steps, too large to add: give fewer bits")
    steps, make = exact.steps[rows, columns].astype(np.int64).tolist(), _maker(kind)
    add = {scale: make(scale) if scale else _as_it_is for scale in set(wide.tolist())}
    noisy = [add[scale] for scale in wide.tolist()]

    def draw() -> FloatArray:
        drawn = np.array([one(step) for one, step in zip(noisy, steps, strict=True)], dtype=np.int64) / 4.0**exact.bits
        out = np.zeros((size, size))
        out[columns, rows] = drawn
        out[rows, columns] = drawn
        return out

    return draw


def _as_it_is(step: int) -> int:
    return step


def _maker(kind: Kind) -> Callable[[float], Callable[[int], int]]:
    """Return the function that makes OpenDP's measurement of a scale; it takes and returns 64-bit whole numbers."""
    domains, metrics, measurements, mod = (
        checks.needed(f"opendp.{name}", "publish") for name in ("domains", "metrics", "measurements", "mod")
    )
    mod.enable_features("contrib")  # where OpenDP keeps all whose review is not complete, these two included
    space = domains.atom_domain(T="i64"), metrics.absolute_distance(T="i64")
    make: Any = measurements.make_laplace if kind == "laplace" else measurements.make_gaussian
    return lambda scale: make(*space, scale=scale)
