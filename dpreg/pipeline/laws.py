"""Laws of noise on a quadratic objective, and what they cost.

A mechanism of the functional family is a choice of law, nothing else, and most are a choice of Laplace scales:
`certify` says what any choice costs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.ledger import Spend
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, Quadratic, on_lattice
from dpreg.pipeline.sensitivity import printed_linear, printed_logistic, worst_case

Convention = Literal["monomial", "ordered", "copied", "triangle"]


class Law(ABC):
    """A law of the noise on a quadratic objective: how it is drawn, and what it costs.

    Whatever needs to know something of the noise asks the law, and never what class it is of: so a new law is one
    class, and goes wherever these go. A factory `make(domain, epsilon, *, neighbours, loss)` of such a law is what an
    estimator takes as its `mechanism`; a sweep takes the law at epsilon one. `times(1 / epsilon)` is
    to cost epsilon times as much, as noise does that is priced by a norm.
    """

    name: ClassVar[str]

    norm: ClassVar[str]
    """In which `certify` measures how far a record moves the objective."""

    @property
    @abstractmethod
    def batch(self) -> tuple[int, ...]:
        """Shape of a stack of laws, to be studied side by side; empty for one."""

    @property
    @abstractmethod
    def p(self) -> int:
        """Number of columns of the objectives it is for."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Scale of the noise on the last diagonal coefficient, for the ledger."""

    @property
    @abstractmethod
    def deviation(self) -> FloatArray:
        """Largest standard deviation of the noise on the diagonal of M; shape (...)."""

    @property
    @abstractmethod
    def level(self) -> FloatArray:
        """Root mean square eigenvalue of the noise on D M D, where D = diag(`columns`), for `repair.lift`; shape (...).

        A law whose noise on M is not symmetric raises InputError.
        """

    @property
    def columns(self) -> FloatArray:
        """Weights of the columns, in which the noise on M is about as large in all directions; shape (p,)."""
        return np.ones(self.p)

    @property
    def published(self) -> NDArray[np.bool_]:
        """Which numbers go out: those of c and v in the first row, those of M below; shape (p + 1, p + 1).

        By default the upper triangle of M, and v.
        """
        k = np.arange(self.p + 1)
        return np.less_equal.outer(k, k) & (k > 0)

    @property
    def released(self) -> str:
        """What goes out, for the ledger."""
        return "quadratic objective"

    @abstractmethod
    def times(self, factor: ArrayLike) -> Law:
        """Return the noise multiplied by a number, or stacked along the shape of an array of numbers."""

    @abstractmethod
    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return the epsilon of releasing an objective of this loss, or a proved upper bound of it."""

    @abstractmethod
    def perturb(self, objective: Quadratic, draws: tuple[int, ...], rng: np.random.Generator) -> Quadratic:
        """Return the objective plus noise: the batch is draws, then the stack of laws with that of objectives.

        Start from `objective.symmetric`; noise that enters c would be paid for, so c is zero where it is withheld. All
        randomness comes from `rng`, and its draws do not depend on the objective.
        """

    def concentrated(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float | None:
        """Return the rho of releasing such an objective, or a proved upper bound; None for what epsilon implies."""
        return None

    def spends(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> tuple[Spend, ...]:
        """Return what a release costs, for the ledger: one entry, or one for each draw that has a price of its own."""
        epsilon, rho = self.certify(domain, neighbours, loss), self.concentrated(domain, neighbours, loss)
        change = (epsilon if rho is None else math.sqrt(2 * rho)) * self.scale
        return (Spend(self.released, self.name, neighbours, self.norm, change, self.scale, epsilon, zcdp=rho),)

    def constant(self, noisy: Quadratic) -> tuple[FloatArray, FloatArray] | None:
        """Return what `repair.lift` is to shrink to, if the law knows the best constant prediction well; else None.

        It is that constant, as the noisy objective has it, and the variance of the noise on each slope's entry of the
        gradient there, times its squared weight in `columns`; shapes (...). The first column is the constant one, and
        its entry of M has no noise.
        """
        return None

    @checked
    def discrete(self, objective: Quadratic) -> Callable[[], Quadratic]:
        """Return a function that adds the law's discrete twin to an objective on a lattice (see `lattice`).

        Whatever can fail fails here, before anything is charged. By default a law has no such twin.
        """
        raise InputError(
            f"there is no sampler of {self.name} noise that is built for release: use a law of Laplace or "
            "Gaussian noise, such as best_scales.optimal, or sampler='numpy' for a study"
        )


@checked
@dataclass(frozen=True, eq=False)
class Scales(Law):
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
    name: ClassVar[str] = "Laplace"
    norm: ClassVar[str] = "weighted L1"

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
        f = np.asarray(checks.numeric(factor, "factor"), dtype=np.float64)
        if np.isnan(f).any() or (f < 0).any():
            raise InputError("factor holds a negative number or NaN: give numbers of at least zero")
        if f.ndim and not math.isinf(self.c):
            raise InputError("a stack of scales withholds the constant: leave c infinite")
        c = self.c if math.isinf(self.c) else self.c * float(f)  # withheld stays withheld, whatever the factor
        with np.errstate(over="ignore", invalid="ignore"):  # infinite scales are refused where noise is drawn
            return Scales(f[..., None, None] * self.M, f[..., None] * self.v, c, self.ordered)

    @property
    def batch(self) -> tuple[int, ...]:
        """See `Law`."""
        return self.v.shape[:-1]

    @property
    def p(self) -> int:
        """See `Law`."""
        return int(self.v.shape[-1])

    @property
    def scale(self) -> float:
        """See `Law`."""
        return float(self.M[..., -1, -1])

    @property
    def deviation(self) -> FloatArray:
        """See `Law`."""
        return np.asarray(math.sqrt(2) * np.diagonal(self.M, axis1=-2, axis2=-1).max(axis=-1))

    @property
    def level(self) -> FloatArray:
        """See `Law`: the Frobenius norm over the root of p."""
        if self.ordered:
            raise InputError("the scales are ordered, so the noise on M is not symmetric: use ridge and trim")
        squares = 2 * np.triu(self.M**2).sum(axis=(-1, -2)) - np.trace(self.M**2, axis1=-2, axis2=-1)
        return np.asarray(np.sqrt(2 * squares / self.p))

    @property
    def published(self) -> NDArray[np.bool_]:
        """See `Law`: all of M if `ordered`, and the constant unless it is withheld."""
        shown = super().published
        shown[1:, 1:] |= self.ordered
        shown[0, 0] = not math.isinf(self.c)
        return shown

    @property
    def released(self) -> str:
        """See `Law`."""
        return "quadratic objective" if math.isinf(self.c) else "quadratic objective with its constant"

    def cost(self, loss: Loss = SQUARED) -> FloatArray:
        """Return the cost of a unit change of each entry of zz', of shape (p + 1, p + 1); see `sensitivity`."""
        if self.batch:
            raise InputError(f"scales are stacked with shape {self.batch}: certify one choice at a time")
        A = np.zeros((self.p + 1, self.p + 1))
        with np.errstate(divide="ignore"):
            inverse = loss.square / self.M
            A[0, 1:] = A[1:, 0] = abs(loss.cross) / 2 / self.v  # entry (0, j) of zz' and its mirror image
            A[0, 0] = np.divide(abs(loss.constant), self.c)
        counted = inverse if self.ordered else np.triu(inverse)
        A[1:, 1:] = (counted + counted.T) / 2
        return A

    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return the largest privacy loss, or the bound of it that `sensitivity.worst_case` proves."""
        A = self.cost(loss)
        if loss.labels and checks.neighbours(neighbours) == "replace":
            A[0, 0] = 0.0  # t^2 is one for every record, so replacing one changes nothing
        return worst_case(A, domain, neighbours)

    def perturb(self, objective: Quadratic, draws: tuple[int, ...], rng: np.random.Generator) -> Quadratic:
        """Add independent noise: to the upper triangle of M, copied down, unless `ordered`, and to v."""
        batch = (*draws, *np.broadcast_shapes(objective.batch, self.batch))
        draw = noise.laplace if self.ordered else noise.symmetric
        change = draw(self.M, (*batch, self.p, self.p), rng)
        # A copied draw on unequal twins would publish their difference without noise.
        M = (objective.M if self.ordered else objective.symmetric) + change
        v = objective.v + noise.laplace(self.v, (*batch, self.p), rng)
        c = np.zeros(batch) if math.isinf(self.c) else objective.c + noise.laplace(self.c, batch, rng)
        return Quadratic(M, v, c)

    def discrete(self, objective: Quadratic) -> Callable[[], Quadratic]:
        """See `Law`: discrete Laplace noise of the same scales."""
        if not math.isinf(self.c):
            raise InputError("the constant is not released on a lattice: withhold it, leave c infinite")
        loss, scales = objective.loss, np.zeros((self.p + 1, self.p + 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            scales[1:, 1:], scales[0, 1:] = self.M / loss.square, self.v / abs(loss.cross)
        return on_lattice("laplace", objective, scales, self.ordered)


@checked
def unit_scales(
    convention: Convention,
    p: int,
    *,
    constant: bool = False,
    public_count: bool = False,
    loss: Loss = SQUARED,
) -> Scales:
    """Return scales for noise of scale one on the numbers a release convention publishes.

    Parameters
    ----------
    convention : {"monomial", "ordered", "copied", "triangle"}
        `monomial`: one draw per monomial, so 2 M_jk gets it and M_jk half of it (001, Algorithm 1).
        `ordered`: one draw for each of the p^2 entries of M (000 without symmetrising).
        `copied`: one draw per entry of the upper triangle, copied down (001, Section 6.1).
        `triangle`: the same, and for least squares the draw goes on sum x t instead of 2 sum x t.
    p : int
        Number of columns.
    constant : bool
        Release the degree-zero coefficient too.
    public_count : bool
        The first column is the constant and n is public: M_00 needs no noise.
    loss : Loss

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> unit_scales("triangle", 2).M.tolist(), unit_scales("triangle", 2).v.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [2.0, 2.0])
    """
    ones = np.ones((checks.count(p, "p", most=limits.WIDE), p))
    M = (ones + np.eye(p)) / 2 if convention == "monomial" else ones
    if public_count:
        M[0, 0] = 0.0
    v = np.full(p, 2.0 if convention == "triangle" and not loss.labels else 1.0)
    return Scales(M, v, 1.0 if constant else math.inf, ordered=convention == "ordered")


@checked
def functional(
    domain: Domain,
    epsilon: ArrayLike,
    *,
    sensitivity: Literal["tight", "printed"] = "tight",
    convention: Convention = "triangle",
    neighbours: Neighbours = "replace",
    constant: bool = False,
    loss: Loss = SQUARED,
) -> Scales:
    """Return the scales of the functional mechanism: one common scale, sensitivity over epsilon.

    Parameters
    ----------
    domain : Domain
    epsilon : float or array
        An array gives one choice of scales per entry, stacked, for studying them side by side.
    sensitivity : {"tight", "printed"}
        `tight` is the proved worst case of the numbers released; `printed` is 2 (p + 1)^2 for least squares (001,
        Section 4.2) and p^2 / 4 + 3 p for labels (Section 5.3).
    convention : {"monomial", "ordered", "copied", "triangle"}
        See `unit_scales`.
    neighbours : {"replace", "add_remove"}
    constant : bool
        Release the degree-zero coefficient too, as the papers' Algorithm 1 does.
    loss : Loss
        `printed` knows SQUARED and TAYLOR.

    Raises
    ------
    InputError
        For an epsilon that is not a finite number above zero, or an unknown choice.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    >>> float(functional(box, 1.0, sensitivity="printed", convention="monomial").M[0, 0])
    8.0
    >>> float(functional(box, 1.0, convention="monomial").M[0, 0])
    4.0
    """
    budgets = checks.epsilons(epsilon)
    checks.instance(domain, (Box, Ball), "domain")
    tight = sensitivity == "tight"
    public = tight and domain.intercept and neighbours == "replace"
    unit = unit_scales(convention, domain.p, constant=constant, public_count=public, loss=loss)
    if not tight and loss not in (SQUARED, TAYLOR):
        raise InputError(f"no paper prints a sensitivity for {loss}: use sensitivity='tight'")
    # The papers have no constant column; where there is one, it counts as one more predictor.
    printed = (printed_logistic if loss.labels else printed_linear)(domain.p)
    bound = certify(unit, domain, neighbours, loss) if tight else printed
    with np.errstate(over="ignore"):
        factor = bound / budgets
        if not np.isfinite(factor * unit.v.max()).all():
            raise InputError(f"epsilon is {budgets.min():g}, and its scales exceed every float: give a larger one")
    return unit.times(factor)


@checked
def certify(law: Law, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
    """Return the epsilon of releasing an objective with this noise.

    Parameters
    ----------
    law : Law
        Such as Scales.
    domain : Box or Ball
    neighbours : {"replace", "add_remove"}
    loss : Loss

    Returns
    -------
    float
        The largest privacy loss, or a proved upper bound of it (see `sensitivity.worst_case`); infinite if a
        number that a record can change is released without noise.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    The printed noise of 001 gives twice the privacy it promises on the box.

    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    >>> certify(functional(box, 1.0, sensitivity="printed", convention="monomial"), box)
    0.5
    """
    checks.instance(domain, (Box, Ball), "domain")
    if law.p != domain.p:
        raise InputError(f"the noise has {law.p} columns and the domain {domain.p}: match them")
    return law.certify(domain, neighbours, loss)
