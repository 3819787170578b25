"""The sum of the response first, with Laplace noise, and then all moments, with a Wishart difference or Gaussian noise.

So a model of few records at a small epsilon is about as good as the private mean: see `repair.lift`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits, noise
from dpreg.accounting import zcdp_from_pure
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms.gaussian import Gaussian, for_delta
from dpreg.mechanisms.wishart import WishartDifference, difference
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.laws import Law
from dpreg.pipeline.ledger import Spend
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic, on_lattice

ENOUGH = 80.0  # n times the epsilon after which the mean needs no more of it
MOST = 0.97  # of epsilon for the mean
REPLACED = 2.0  # how far one record moves the sum of the scaled response


@checked
@dataclass(frozen=True, eq=False)
class MeanFirst(Law):
    """Laplace noise on the sum of the response, then noise on all moments that covers this sum once more.

    What goes out for the sum is the mean of the two, weighted by their variances.

    Parameters
    ----------
    rest : WishartDifference or Gaussian
        With a public count.
    scale_of_sum : float or array of the shape of `rest.batch`
        Of the Laplace noise.

    Examples
    --------
    >>> law = MeanFirst(WishartDifference([1.0, 1.0, 1.0], 2.0, public_count=True), 4.0)
    >>> law.p, law.share.round(2).tolist()
    (2, 0.5)
    """

    rest: WishartDifference | Gaussian
    scale_of_sum: FloatArray
    name: ClassVar[str] = "Laplace, then all moments"
    norm: ClassVar[str] = "sum of both"

    def __post_init__(self) -> None:
        if not self.rest.public_count:
            raise InputError("rest has no public count, and a mean needs one: give it, or use rest alone")
        own = np.array(limits.reals(self.scale_of_sum, "scale_of_sum"), dtype=np.float64)
        if not (own > 0).all():
            raise InputError("scale_of_sum holds a number that is not above zero: give positive numbers")
        if own.shape != self.rest.batch:
            raise InputError(f"scale_of_sum has shape {own.shape}, and rest {self.rest.batch}: match them")
        own.flags.writeable = False
        object.__setattr__(self, "scale_of_sum", own)

    @property
    def share(self) -> FloatArray:
        """Weight of the sum that was released first, from zero to one; shape (...)."""
        w = self.rest.weights
        return np.asarray(1 / (1 + 2 * self.scale_of_sum**2 / (self.rest.entry / (w[0] * w[1]) ** 2)))

    @property
    def batch(self) -> tuple[int, ...]:
        """See `Law`."""
        return self.rest.batch

    @property
    def p(self) -> int:
        """See `Law`."""
        return self.rest.p

    @property
    def scale(self) -> float:
        """See `Law`."""
        return self.rest.scale

    @property
    def deviation(self) -> FloatArray:
        """See `Law`."""
        return self.rest.deviation

    @property
    def level(self) -> FloatArray:
        """See `Law`."""
        return self.rest.level

    @property
    def columns(self) -> FloatArray:
        """See `Law`."""
        return self.rest.columns

    @property
    def published(self) -> NDArray[np.bool_]:
        """See `Law`."""
        return self.rest.published

    def times(self, factor: ArrayLike) -> MeanFirst:
        """Return both noises multiplied by a number, or stacked along the shape of an array of numbers."""
        rest = self.rest.times(factor)
        return MeanFirst(rest, self.scale_of_sum * limits.reals(factor, "factor"))

    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return the sum of both costs: basic composition. Infinite where n is not public."""
        return self.rest.certify(domain, neighbours, loss) + REPLACED / float(self.scale_of_sum)

    def concentrated(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float | None:
        """See `Law`: both costs, if the second is one of rho."""
        rho = self.rest.concentrated(domain, neighbours, loss)
        return None if rho is None else rho + zcdp_from_pure(REPLACED / float(self.scale_of_sum))

    def spends(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> tuple[Spend, ...]:
        """See `Law`: one entry for the sum, one for the moments."""
        scale = float(self.scale_of_sum)
        first = Spend("sum of the response", "Laplace", neighbours, "L1", REPLACED, scale, REPLACED / scale)
        return (first, *self.rest.spends(domain, neighbours, loss))

    def perturb(self, objective: Quadratic, draws: tuple[int, ...], rng: np.random.Generator) -> Quadratic:
        """Add the noise to M and v, and put the weighted mean of both sums into v."""
        if objective.p != self.p:
            raise InputError(f"the noise has {self.p} columns and the objective {objective.p}: match them")
        noisy = self.rest.perturb(objective, draws, rng)
        once = objective.v[..., 0] + self.rest.loss.cross * noise.laplace(self.scale_of_sum, noisy.batch, rng)
        return self._merged(noisy, once)

    def discrete(self, objective: Quadratic) -> Callable[[], Quadratic]:
        """See `Law`: the discrete twin of both, if `rest` has one."""
        moments = self.rest.discrete(objective)
        # every moment gets the noise of the sum, and all but the sum are dropped: so nothing exact comes out of a draw
        sums = on_lattice("laplace", objective, np.full((self.p + 1, self.p + 1), float(self.scale_of_sum)))
        return lambda: self._merged(moments(), sums().v[0])

    def _merged(self, noisy: Quadratic, once: FloatArray) -> Quadratic:
        """Put the weighted mean of both releases of the sum into v."""
        v = noisy.v.copy()
        v[..., 0] += self.share * (once - v[..., 0])
        return Quadratic(noisy.M, v, noisy.c)

    def constant(self, noisy: Quadratic) -> tuple[FloatArray, FloatArray]:
        """See `Law`."""
        loss, w = self.rest.loss, self.rest.weights
        count = 2 * noisy.M[..., 0, 0]
        best = np.divide(-noisy.v[..., 0], count, out=np.zeros(noisy.batch), where=count > 0)
        reach = abs(loss.cross) / (2 * loss.square)  # the best constant if every response is at one end
        best = np.clip(best, -reach, reach)
        return best, self.rest.entry * ((loss.cross / w[0]) ** 2 + (2 * loss.square * best / w[1]) ** 2)


@checked
def mean_first(
    domain: Domain,
    epsilon: ArrayLike,
    n: int | None,
    *,
    weights: ArrayLike | None = None,
    neighbours: Neighbours = "replace",
    loss: Loss = SQUARED,
    delta: float = 0.0,
) -> MeanFirst | WishartDifference | Gaussian:
    """Return noise that spends min(0.97 epsilon, 80 / n) on the sum of the response and the rest on all moments.

    Without a constant column, or a public number of records, it is `wishart.difference` for all of epsilon. A model is
    then hardly worse than the private mean. The price, where n epsilon is a few hundred: of a strong signal
    `repair.lift` takes much for noise, and `wishart.difference` alone finds more, with one predictor as with many.
    Other shares than 80 did not mend that (the chapter on the best mechanism measures it).

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float or array
        An array gives one choice of noise per entry, stacked, for studying them side by side.
    n : int or None
        Number of records; None if it is not public, as under add_remove.
    weights : array of shape (p + 1,), optional
        See `wishart.difference`.
    neighbours : {"replace", "add_remove"}
    loss : Loss
    delta : float
        Above zero, the moments get Gaussian noise (`gaussian.for_delta`) in place of the Wishart difference.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.pipeline.laws import certify
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
    >>> law = mean_first(box, 0.8, 400)
    >>> round(certify(law, box), 12), float(law.scale_of_sum)
    (0.8, 10.0)
    """
    budgets = checks.epsilons(epsilon)
    more: dict[str, Any] = {"weights": weights, "neighbours": neighbours, "loss": loss}
    chance = checks.chance(delta, "delta", zero=True)

    def moments(epsilon: FloatArray) -> WishartDifference | Gaussian:
        return for_delta(domain, epsilon, chance, **more) if chance else difference(domain, epsilon, **more)

    if n is None:
        return moments(budgets)
    if checks.neighbours(neighbours) == "add_remove":
        raise InputError("n is given, and under add_remove it is a secret: give n=None")
    first = np.minimum(MOST * budgets, ENOUGH / checks.count(n, "n"))
    rest = moments(budgets - first * domain.intercept)
    return MeanFirst(rest, REPLACED / first) if domain.intercept else rest


@checked
def blind_spot(law: WishartDifference, chance: float) -> float:
    """Return an error of the sum of the response that any estimate from this noise makes with this chance.

    For some records at least, and whatever is made of the release. With w the weights of response and constant and s^2
    the spread, it is log(1 / chance - 1) s^2 / (2 w_0 w_1), in scaled units.

    Parameters
    ----------
    law : WishartDifference
        With a public count.
    chance : float below 1/2

    Examples
    --------
    >>> law = WishartDifference([0.5, 0.25, 1.0], 2.0, public_count=True)
    >>> round(blind_spot(law, 1 / (1 + math.e)), 9)
    8.0
    """
    if not law.public_count or law.batch:
        raise InputError("law is a stack, or has no public count: give one with it, such as difference(domain, 1.0)")
    if checks.chance(chance, "chance") >= 0.5:
        raise InputError(f"chance is {chance:g}: give a number below 1/2")
    return math.log(1 / chance - 1) * float(law.spread) / (2 * float(law.weights[0] * law.weights[1]))
