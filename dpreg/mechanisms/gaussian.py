"""Gaussian noise for all moments of the records (t, x) at once, with a discrete twin.

It is priced in zCDP, or with a delta. Dwork and others call such a release Analyze Gauss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpreg import accounting, checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, Neighbours
from dpreg.mechanisms.moment_noise import MomentNoise
from dpreg.mechanisms.wishart import balanced, largest_change
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.ledger import Spend
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic, on_lattice


@checked
@dataclass(frozen=True, eq=False, init=False)
class Gaussian(MomentNoise):
    """Noise s D^-1 N D^-1 on the moments sum (t, x)(t, x)', where D = diag(weights).

    N is symmetric, with normal entries of variance 1 on its diagonal and 1/2 off it. The spread is s. A multiple costs
    its square less of rho. On a lattice the moment of t^2 is withheld.

    Parameters
    ----------
    weights, spread, public_count, loss
        See `MomentNoise`.
    delta : float
        At which `certify` says what it costs; zero for rho alone.

    Examples
    --------
    >>> Gaussian([1.0, 1.0, 1.0], 2.0).p
    2
    """

    delta: float = 0.0
    name: ClassVar[str] = "Gaussian"
    norm: ClassVar[str] = "weighted Frobenius"

    def __init__(
        self,
        weights: ArrayLike,
        spread: ArrayLike,
        public_count: bool = False,
        loss: Loss = SQUARED,
        delta: float = 0.0,
    ) -> None:
        super().__init__(weights, spread, public_count, loss)
        object.__setattr__(self, "delta", checks.chance(delta, "delta", zero=True))

    @property
    def deviation(self) -> FloatArray:
        """See `Law`."""
        noisy = self.weights[1 + self.public_count :]
        return np.asarray(self.loss.square * self.spread / noisy.min() ** 2)

    @property
    def level(self) -> FloatArray:
        """See `Law`: a column of N has the mean squared length (p + 1) / 2.

        A public count takes the place of a draw that is counted here.
        """
        return np.asarray(self.loss.square * self.spread * math.sqrt((self.p + 1) / 2))

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations of the noise on the moments, of shape (p + 1, p + 1), at a spread of one."""
        out = (math.sqrt(0.5) + (1 - math.sqrt(0.5)) * np.eye(self.p + 1)) / np.outer(self.weights, self.weights)
        if self.public_count:
            out[1, 1] = 0.0
        return np.asarray(out)

    @property
    def entry(self) -> FloatArray:
        """Variance of the noise on an entry of D moments D off the diagonal; shape (...)."""
        return np.asarray(self.spread**2 / 2)

    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return the epsilon at `delta`, exact for noise of this rho; infinite without a delta.

        One Gaussian release of rho is Gaussian differential privacy with mu = sqrt(2 rho).
        """
        rho = self.concentrated(domain, neighbours, loss)
        return accounting.gdp_epsilon(math.sqrt(2 * rho), self.delta) if self.delta and rho < math.inf else math.inf

    def concentrated(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return a bound of |D (zz' - z'z'') D|_F^2 / (2 s^2), exact for add_remove: see `for_rho`."""
        public = self._priced(domain, neighbours, loss)
        change = _change(self.weights, domain, neighbours, loss)
        return change**2 / (2 * float(self.spread) ** 2) if public else math.inf

    def spends(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> tuple[Spend, ...]:
        """See `Law`: with the delta, if there is one."""
        return tuple(replace(spend, delta=self.delta) for spend in super().spends(domain, neighbours, loss))

    def discrete(self, objective: Quadratic) -> Callable[[], Quadratic]:
        """See `Law`: discrete Gaussian noise of the same scales."""
        return on_lattice("gaussian", objective, self.spread[..., None, None] * self.deviations)

    def _drawn(self, batch: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        m = self.p + 1
        drawn = np.triu(noise.gaussian(self.spread[..., None, None] * self.deviations, (*batch, m, m), rng))
        return np.asarray(drawn + np.swapaxes(np.triu(drawn, 1), -1, -2))


@checked
def for_rho(
    domain: Domain,
    rho: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    neighbours: Neighbours = "replace",
    loss: Loss = SQUARED,
) -> Gaussian:
    """Return the Gaussian noise that costs rho, as zero-concentrated differential privacy counts.

    Parameters
    ----------
    domain : Box or Ball
    rho : float or array
        `accounting.rho_for` gives that of an epsilon and a delta. An array gives one choice of noise per entry.
    weights : array of shape (p + 1,), optional
        Public; by default those of `wishart.balanced`, whose noise has the same shape. Any choice is private.
    neighbours : {"replace", "add_remove"}
    loss : Loss

    Notes
    -----
    With R the largest |Dz|, adding a record moves D zz' D by |Dz|^2 <= R^2 in the Frobenius norm. Replacing one moves
    it by the root of |Dz|^4 + |Dz'|^4 - 2 (Dz . Dz')^2, at most sqrt(2) R^2.

    Examples
    --------
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
    >>> round(for_rho(box, 0.125).concentrated(box), 12)
    0.125
    """
    budgets = checks.epsilons(rho, "rho")
    checks.instance(domain, (Box, Ball), "domain")
    chosen = balanced(domain) if weights is None else weights
    change = _change(chosen, domain, neighbours, loss)
    return Gaussian(chosen, change / np.sqrt(2 * budgets), domain.intercept and neighbours == "replace", loss)


@checked
def for_delta(
    domain: Domain,
    epsilon: ArrayLike,
    delta: float,
    *,
    weights: ArrayLike | None = None,
    neighbours: Neighbours = "replace",
    loss: Loss = SQUARED,
) -> Gaussian:
    """Return the Gaussian noise that costs epsilon at this delta, by the exact formula (`accounting.gdp_delta`).

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float or array
        An array gives one choice of noise per entry.
    delta : float
        Chance that no epsilon covers, such as 1e-6: well below one over the number of records.
    weights, neighbours, loss
        See `for_rho`.

    Examples
    --------
    >>> from dpreg.pipeline.laws import certify
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
    >>> round(certify(for_delta(box, 0.8, 1e-6), box), 9)
    0.8
    """
    budgets, chance = checks.epsilons(epsilon), checks.chance(delta, "delta")
    plain = for_rho(domain, mu_for(budgets, chance) ** 2 / 2, weights=weights, neighbours=neighbours, loss=loss)
    return replace(plain, delta=chance)


@checked
def mu_for(epsilon: ArrayLike, delta: float) -> FloatArray:
    """Return the mu of Gaussian privacy that each epsilon and this delta allow; shape of epsilon.

    Examples
    --------
    >>> mu_for([1.0], 1e-5).round(4).tolist()
    [0.2681]
    """
    given = checks.epsilons(epsilon)
    return np.array([_mu(one, delta) for one in given.ravel().tolist()]).reshape(given.shape)


@lru_cache(maxsize=1024)
def _mu(epsilon: float, delta: float) -> float:
    """Return `gdp_mu`, which is a search: sweeps ask for the same budgets on every split."""
    return accounting.gdp_mu(epsilon, delta)


def _change(weights: ArrayLike, domain: Domain, neighbours: Neighbours, loss: Loss) -> float:
    """Return the largest Frobenius norm of a change of D (sum zz') D, or a bound of it."""
    one = largest_change(weights, domain, "add_remove", loss)  # a single record has one eigenvalue: all norms agree
    return one * (math.sqrt(2) if checks.neighbours(neighbours) == "replace" else 1.0)
