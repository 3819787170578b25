"""Laws of the noise on the moments of one iteration of IRLS: how it is drawn, and what it costs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpreg import accounting, checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms import chi_square
from dpreg.mechanisms.irls_moments import Sensitivities
from dpreg.noise import RandomState

Price = tuple[float, float, float]  # epsilon, delta, rho
NOTHING: Price = (math.inf, 0.0, math.inf)  # is promised
IMPOSSIBLE = "some outputs impossible under a neighbour: no epsilon has a smaller delta, and it is not concentrated"


@dataclass(frozen=True)
class MomentLaw(ABC):
    """Noise on a weighted moment.

    Parameters
    ----------
    scale : float
    """

    scale: float
    name: ClassVar[str]
    caveat: ClassVar[str] = ""
    one_sided: ClassVar[bool] = False  # its delta is the chance of outputs that are impossible under a neighbour

    def __post_init__(self) -> None:
        if checks.finite(self.scale, "scale") < 0:
            raise InputError(f"scale is {self.scale:g}: give a number of at least zero")

    @property
    def unit(self) -> float:
        """The change that costs a loss of one."""
        return self.scale

    @abstractmethod
    def change(self, size: Sensitivities, moment: str) -> tuple[str, float]:
        """Return the norm in which it is priced, and how far a record moves the `first` or `second` moment in it."""

    @abstractmethod
    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """Draw the symmetric noise on a second moment, of shape (*shape, p, p)."""

    @abstractmethod
    def level(self, p: int) -> float:
        """Return the root mean square eigenvalue of the noise matrix; zero for noise that keeps it positive."""

    @abstractmethod
    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """Return the price of a change of so many units, where there is noise."""

    @checked
    def price(self, change: float, p: int, neighbours: Neighbours) -> Price:
        """Return epsilon, delta and rho of one release that a record changes by at most so much.

        Parameters
        ----------
        change : float
            In the norm that the method `change` names.
        p : int
            Rows of the matrix.
        neighbours : {"replace", "add_remove"}

        Examples
        --------
        >>> Gaussian(4.0).price(2.0, 1, "replace")
        (inf, 0.0, 0.125)
        """
        loss = change / self.unit if self.unit else math.inf
        found = NOTHING if loss == math.inf else self.promise(loss, p, checks.neighbours(neighbours))
        return found if found[1] < 1 else NOTHING

    @checked
    def mean_square(self, p: int) -> float:
        """Return the mean squared length of the matrix times a vector of length one."""
        return self.level(p) ** 2


class VectorLaw(MomentLaw):
    """Noise that is drawn entry by entry, so on a first moment as well."""

    off_diagonal: ClassVar[float] = 1.0  # scale there, over that on the diagonal

    @property
    @abstractmethod
    def variance(self) -> float:
        """Of an entry of a first moment."""

    @abstractmethod
    def vector(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """Draw the noise on a first moment, of shape (*shape, p)."""

    @checked
    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `MomentLaw`."""
        rng, upper = noise.generator(rng), np.triu_indices(p)
        scale = np.where(upper[0] == upper[1], 1.0, self.off_diagonal)
        out = np.empty((*shape, p, p))
        out[..., upper[0], upper[1]] = out[..., upper[1], upper[0]] = self.vector(len(upper[0]), rng, shape) * scale
        return out

    @checked
    def level(self, p: int) -> float:
        """See `MomentLaw`."""
        return math.sqrt(self.variance * (1 + (p - 1) * self.off_diagonal**2))


@checked
@dataclass(frozen=True)
class NoNoise(VectorLaw):
    """None, and no privacy.

    Examples
    --------
    >>> NoNoise().vector(2, None).tolist()
    [0.0, 0.0]
    """

    scale: float = 0.0
    name: ClassVar[str] = "none"

    @property
    def variance(self) -> float:
        """See `VectorLaw`."""
        return 0.0

    def change(self, size: Sensitivities, moment: str) -> tuple[str, float]:
        """See `MomentLaw`."""
        return "trace", size.row

    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """See `MomentLaw`."""
        return NOTHING

    def vector(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `VectorLaw`."""
        return np.zeros((*shape, p))


@checked
@dataclass(frozen=True)
class Laplace(VectorLaw):
    """Laplace noise, on a matrix on its upper triangle.

    Examples
    --------
    >>> Laplace(2.0).price(1.0, 3, "replace")[:2]
    (0.5, 0.0)
    """

    name: ClassVar[str] = "Laplace"

    @property
    def variance(self) -> float:
        """See `VectorLaw`."""
        return 2 * self.scale**2

    def change(self, size: Sensitivities, moment: str) -> tuple[str, float]:
        """See `MomentLaw`."""
        return ("L1", size.first_l1) if moment == "first" else ("L1 of the triangle", size.triangle)

    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """See `MomentLaw`."""
        return loss, 0.0, accounting.zcdp_from_pure(loss)

    def vector(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `VectorLaw`."""
        return noise.laplace(self.scale, (*shape, p), rng)


@checked
@dataclass(frozen=True)
class Gaussian(VectorLaw):
    """Normal noise; on a matrix `scale` is the standard deviation on the diagonal, and that over sqrt(2) off it.

    Parameters
    ----------
    scale : float
    epsilon : float
        At which its delta is stated; infinite for zCDP alone.

    Examples
    --------
    >>> Gaussian(2.0).level(7)
    4.0
    """

    epsilon: float = math.inf
    name: ClassVar[str] = "Gaussian"
    off_diagonal: ClassVar[float] = math.sqrt(0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon != math.inf:
            checks.positive(self.epsilon, "epsilon")

    @property
    def variance(self) -> float:
        """See `VectorLaw`."""
        return self.scale**2

    def change(self, size: Sensitivities, moment: str) -> tuple[str, float]:
        """See `MomentLaw`."""
        return ("L2", size.first_l2) if moment == "first" else ("Frobenius", size.frobenius)

    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """See `MomentLaw`."""
        delta = accounting.gdp_delta(loss, self.epsilon) if self.epsilon < math.inf else 0.0
        return self.epsilon, delta, loss**2 / 2

    def vector(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `VectorLaw`."""
        return noise.gaussian(self.scale, (*shape, p), rng)


@dataclass(frozen=True)
class WishartLaw(MomentLaw):
    """Noise made of Wishart matrices W_p(scale^2 I, degrees), on a second moment only.

    Parameters
    ----------
    scale : float
    degrees : int
        Of freedom.
    """

    degrees: int

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.count(self.degrees, "degrees", 0)

    @property
    def unit(self) -> float:
        """See `MomentLaw`: 2 scale^2."""
        return 2 * self.scale**2

    @checked
    def change(self, size: Sensitivities, moment: str) -> tuple[str, float]:
        """See `MomentLaw`."""
        return "trace", size.row


@checked
@dataclass(frozen=True)
class Wishart(WishartLaw):
    """003's noise, one Wishart matrix: one-sided, so not differentially private.

    References
    ----------
    * 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016.

    Examples
    --------
    >>> Wishart(1.0, 4).level(3)
    0.0
    """

    name: ClassVar[str] = "Wishart"
    caveat: ClassVar[str] = IMPOSSIBLE
    one_sided: ClassVar[bool] = True

    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """See `MomentLaw`."""
        # Only with p + 1 degrees of freedom is there no determinant in the density.
        return (loss, -math.expm1(-loss), math.inf) if self.degrees == p + 1 else NOTHING

    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `MomentLaw`."""
        return self.scale**2 * noise.wishart(p, self.degrees, shape, rng)

    def level(self, p: int) -> float:
        """See `MomentLaw`."""
        return 0.0

    def mean_square(self, p: int) -> float:
        """See `MomentLaw`: it is not centred."""
        return self.degrees * (self.degrees + p + 1) * self.scale**4


@checked
@dataclass(frozen=True)
class CentredWishart(WishartLaw):
    """Wishart noise of many degrees of freedom, less its mean.

    Parameters
    ----------
    scale : float
    degrees : int
        Of freedom.
    epsilon : float
        At which its delta is stated; with infinity nothing is promised.

    Examples
    --------
    >>> CentredWishart(1.0, 40, 1.0).price(0.1, 2, "add_remove")[1] < 0.5
    True
    """

    epsilon: float = math.inf
    name: ClassVar[str] = "centred Wishart"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon != math.inf:
            checks.positive(self.epsilon, "epsilon")

    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """See `MomentLaw`."""
        freedom = self.degrees - p + 1
        if freedom < 2 or self.epsilon == math.inf:
            return NOTHING
        hides = chi_square.delta if neighbours == "add_remove" else chi_square.replaced
        return self.epsilon, hides(self.epsilon, freedom, 2 * loss), math.inf

    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `MomentLaw`."""
        return self.scale**2 * (noise.wishart(p, self.degrees, shape, rng) - self.degrees * np.eye(p))

    def level(self, p: int) -> float:
        """See `MomentLaw`."""
        return math.sqrt(self.degrees * (p + 1)) * self.scale**2


@checked
@dataclass(frozen=True)
class WishartDifference(WishartLaw):
    """The difference of two Wishart matrices: pure privacy, priced in the nuclear norm.

    Examples
    --------
    >>> WishartDifference(1.0, 3).price(1.0, 2, "replace")[:2]
    (0.5, 0.0)
    """

    name: ClassVar[str] = "Wishart difference"

    def change(self, size: Sensitivities, moment: str) -> tuple[str, float]:
        """See `MomentLaw`."""
        return "nuclear", size.nuclear

    def promise(self, loss: float, p: int, neighbours: Neighbours) -> Price:
        """See `MomentLaw`."""
        return (loss, 0.0, accounting.zcdp_from_pure(loss)) if self.degrees == p + 1 else NOTHING

    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """See `MomentLaw`."""
        rng = noise.generator(rng)
        first = noise.wishart(p, self.degrees, shape, rng)
        return self.scale**2 * (first - noise.wishart(p, self.degrees, shape, rng))

    def level(self, p: int) -> float:
        """See `MomentLaw`."""
        return math.sqrt(2 * self.degrees * (p + 1)) * self.scale**2
