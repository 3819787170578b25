"""Noise scales, one per released number, and what they cost.

A mechanism of the functional family is a choice of scales, nothing else: `certify` says what any choice costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lib import checks
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import Ball, Box, Domain
from lib.sensitivity import printed_linear, worst_case

Convention = Literal["monomial", "ordered", "copied", "triangle"]


@dataclass(frozen=True, eq=False)
class Scales:
    """Laplace scales of the coefficients of a quadratic, or a stack of such choices.

    Parameters
    ----------
    M : array of shape (..., p, p)
        Scales of the quadratic coefficients. Only the upper triangle counts unless `ordered`.
    v : array of shape (..., p)
        Scales of the linear coefficients.
    c : float
        Scale of the constant; infinite means that it is withheld, which costs nothing.
    ordered : bool
        Draw independent noise for all p^2 entries of M instead of copying the upper triangle down.

    Notes
    -----
    A scale of zero releases the number as it is; `certify` then demands that no neighbour can change it.

    Examples
    --------
    >>> unit_scales("monomial", 2).M.tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    M: FloatArray
    v: FloatArray
    c: float = math.inf
    ordered: bool = False

    def __post_init__(self) -> None:
        for name in ("M", "v"):
            own = np.array(checks.numeric(getattr(self, name), name), dtype=np.float64)  # a copy nobody else can write
            if np.isnan(own).any() or (own < 0).any():
                raise InputError(f"the scales {name} hold a negative number or NaN: give numbers of at least zero")
            own.flags.writeable = False
            object.__setattr__(self, name, own)
        if (np.ndim(self.c) or self.c != math.inf) and checks.finite(self.c, "c") < 0:
            raise InputError(f"the scale c is {self.c:g}: give a number of at least zero, or infinity to withhold it")
        object.__setattr__(self, "c", float(self.c))
        if self.v.ndim == 0 or self.M.shape != (*self.v.shape, self.v.shape[-1]):
            raise InputError(f"scales have shapes M {self.M.shape}, v {self.v.shape}: give (..., p, p) and (..., p)")

    def times(self, factor: ArrayLike) -> Scales:
        """Return the scales multiplied by a number, or stacked along the shape of an array of numbers."""
        f = np.asarray(factor, dtype=np.float64)
        if f.ndim and not math.isinf(self.c):
            raise InputError("a stack of scales withholds the constant: leave c infinite")
        c = self.c if math.isinf(self.c) else self.c * float(f)  # withheld stays withheld, whatever the factor
        return Scales(f[..., None, None] * self.M, f[..., None] * self.v, c, self.ordered)

    @property
    def deviation(self) -> FloatArray:
        """Largest standard deviation of noise on the diagonal of M; shape (...)."""
        return np.asarray(math.sqrt(2) * np.diagonal(self.M, axis1=-2, axis2=-1).max(axis=-1))

    def cost(self) -> FloatArray:
        """Return the cost of a unit change of each entry of zz', of shape (p + 1, p + 1); see `sensitivity`."""
        if self.v.ndim != 1:
            raise InputError(f"scales are stacked with shape {self.v.shape[:-1]}: certify one choice at a time")
        p = len(self.v)
        A = np.zeros((p + 1, p + 1))
        with np.errstate(divide="ignore"):
            inverse = 1 / self.M
            A[0, 1:] = A[1:, 0] = 1 / self.v  # v = -2 sum t x: entry (0, j) of zz' and its mirror image
            A[0, 0] = np.divide(1.0, self.c)
        if self.ordered:
            A[1:, 1:] = (inverse + inverse.T) / 2
        else:
            upper = np.triu(inverse, 1) / 2
            A[1:, 1:] = upper + upper.T + np.diag(np.diag(inverse))
        return A


def unit_scales(
    convention: Convention,
    p: int,
    *,
    constant: bool = False,
    public_count: bool = False,
) -> Scales:
    """Return scales for noise of scale one on the numbers a release convention publishes.

    Parameters
    ----------
    convention : {"monomial", "ordered", "copied", "triangle"}
        `monomial`: one draw per monomial, so 2 M_jk gets it and M_jk half of it (001, Algorithm 1).
        `ordered`: one draw for each of the p^2 entries of M (000 without symmetrising).
        `copied`: one draw per entry of the upper triangle, copied down (001, Section 6.1).
        `triangle`: the same, and the draw goes on sum x t instead of 2 sum x t.
    p : int
        Number of columns.
    constant : bool
        Release the degree-zero coefficient too.
    public_count : bool
        The first column is the constant and n is public: M_00 = n needs no noise.

    Examples
    --------
    >>> unit_scales("triangle", 2).M.tolist(), unit_scales("triangle", 2).v.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [2.0, 2.0])
    """
    checks.choice(convention, ("monomial", "ordered", "copied", "triangle"), "convention")
    ones = np.ones((checks.count(p, "p"), p))
    M = (ones + np.eye(p)) / 2 if convention == "monomial" else ones
    if public_count:
        M[0, 0] = 0.0
    v = np.full(p, 2.0 if convention == "triangle" else 1.0)
    return Scales(M, v, 1.0 if constant else math.inf, ordered=convention == "ordered")


def functional(
    domain: Domain,
    epsilon: ArrayLike,
    *,
    sensitivity: Literal["tight", "printed"] = "tight",
    convention: Convention = "triangle",
    neighbours: Neighbours = "replace",
    constant: bool = False,
) -> Scales:
    """Return the scales of the functional mechanism: one common scale, sensitivity over epsilon.

    Parameters
    ----------
    domain : Domain
    epsilon : float or array
        An array gives one choice of scales per entry, stacked, for studying them side by side.
    sensitivity : {"tight", "printed"}
        `tight` is the proved worst case of the numbers released; `printed` is 2 (p + 1)^2 (001, Section 4.2).
    convention : {"monomial", "ordered", "copied", "triangle"}
        See `unit_scales`.
    neighbours : {"replace", "add_remove"}
    constant : bool
        Release the degree-zero coefficient too, as the papers' Algorithm 1 does.

    Raises
    ------
    InputError
        For an epsilon that is not a finite number above zero, or an unknown choice.

    Examples
    --------
    >>> from lib.domain import Box
    >>> box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    >>> float(functional(box, 1.0, sensitivity="printed", convention="monomial").M[0, 0])
    8.0
    >>> float(functional(box, 1.0, convention="monomial").M[0, 0])
    4.0
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    checks.choice(sensitivity, ("tight", "printed"), "sensitivity")
    checks.neighbours(neighbours)
    tight = sensitivity == "tight"
    public = tight and domain.intercept and neighbours == "replace"
    unit = unit_scales(convention, domain.p, constant=constant, public_count=public)
    # The papers have no constant column; where there is one, it counts as one more predictor.
    bound = certify(unit, domain, neighbours) if tight else printed_linear(domain.p)
    with np.errstate(over="ignore"):
        factor = bound / budgets
        if not np.isfinite(factor * unit.v.max()).all():
            raise InputError(f"epsilon is {budgets.min():g}, and its scales exceed every float: give a larger one")
    return unit.times(factor)


def certify(scales: Scales, domain: Domain, neighbours: Neighbours = "replace") -> float:
    """Return the epsilon of releasing a least-squares objective with these Laplace scales.

    Parameters
    ----------
    scales : Scales
    domain : Box or Ball
    neighbours : {"replace", "add_remove"}

    Returns
    -------
    float
        The largest privacy loss, or a proved upper bound of it (see `sensitivity.worst_case`); infinite if a
        number that a record can change is released without noise.

    Examples
    --------
    The printed noise of 001 gives twice the privacy it promises on the box.

    >>> from lib.domain import Box
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    >>> certify(functional(box, 1.0, sensitivity="printed", convention="monomial"), box)
    0.5
    """
    if not isinstance(scales, Scales):
        raise InputError(f"scales is a {type(scales).__name__}: give Scales, such as functional(domain, epsilon)")
    return worst_case(scales.cost(), domain, neighbours)
