"""What laws share that put noise D^-1 N D^-1 on all moments sum (t, x)(t, x)' at once, where D = diag(weights)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.laws import Law
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic


@checked
@dataclass(frozen=True, eq=False, init=False)
class MomentNoise(Law):
    """Noise on the moments of the records (t, x), all of which go out; for labels that of t^2 is withheld.

    Parameters
    ----------
    weights : array of shape (p + 1,)
        Public and above zero: of the response, of the constant if there is one, and of the predictors. A larger
        weight is less noise for this column and more for all others.
    spread : array of shape (...)
        Its size; the law says of what.
    public_count : bool
        The first column is the constant and n is public, so n gets no noise.
    loss : Loss
        Of the objectives it is for; it refuses others.
    """

    weights: FloatArray
    spread: FloatArray
    public_count: bool = False
    loss: Loss = SQUARED

    def __init__(self, weights: ArrayLike, spread: ArrayLike, public_count: bool = False, loss: Loss = SQUARED) -> None:
        own = {"weights": in_range(weights).copy()}
        own["spread"] = np.array(checks.numeric(spread, "spread"), dtype=np.float64)
        for name, array in own.items():
            if not np.isfinite(array).all() or (array <= 0).any():
                raise InputError(f"{name} holds a number that is not above zero and finite: give positive numbers")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "public_count", checks.flag(public_count, "public_count"))
        if len(own["weights"]) < 2 + self.public_count:
            raise InputError(f"weights has shape {own['weights'].shape}: give one for the response and each column")
        object.__setattr__(self, "loss", loss)

    @abstractmethod
    def _drawn(self, batch: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Return noise on the moments, of shape (*batch, p + 1, p + 1); zero where the count is public."""

    @property
    def batch(self) -> tuple[int, ...]:
        """See `Law`."""
        return self.spread.shape

    @property
    def p(self) -> int:
        """See `Law`."""
        return len(self.weights) - 1

    @property
    def scale(self) -> float:
        """See `Law`: the spread over the squared weight of the last column, times the loss's factor."""
        return float(self.loss.square * self.spread / self.weights[-1] ** 2)

    @property
    def columns(self) -> FloatArray:
        """See `Law`: all weights but that of the response."""
        return self.weights[1:]

    @property
    def published(self) -> NDArray[np.bool_]:
        """See `Law`: the constant, too, unless it is that of labels."""
        shown = super().published
        shown[0, 0] = not self.loss.labels
        return shown

    def times(self, factor: ArrayLike) -> Self:
        """Return the noise multiplied by a number, or stacked along the shape of an array of numbers."""
        f = limits.reals(factor, "factor")
        if not (f > 0).all():
            raise InputError("factor holds a number that is not above zero: give positive numbers")
        return replace(self, spread=self.spread * f)

    def perturb(self, objective: Quadratic, draws: tuple[int, ...], rng: np.random.Generator) -> Quadratic:
        """Add the noise to M, v and c: the price is that of all moments, so the last one is free."""
        if objective.domain is not None:
            self._is_for(objective.loss)
        batch = (*draws, *np.broadcast_shapes(objective.batch, self.batch))
        change = self._drawn(batch, rng)
        M = objective.symmetric + self.loss.square * change[..., 1:, 1:]
        v = objective.v + self.loss.cross * change[..., 0, 1:]
        c = np.zeros(batch) if self.loss.labels else objective.c + self.loss.constant * change[..., 0, 0]
        return Quadratic(M, v, c)

    def _priced(self, domain: Domain, neighbours: Neighbours, loss: Loss) -> bool:
        """Return whether the price is finite: what gets no noise must be public. A stack has no single price."""
        if self.batch:
            raise InputError(f"the noise is stacked with shape {self.batch}: certify one choice at a time")
        self._is_for(loss)
        return not self.public_count or (domain.intercept and neighbours == "replace")

    def _is_for(self, loss: Loss) -> None:
        if loss != self.loss:
            raise InputError("the noise is for another loss than the objective's: give both the same")


@checked
def in_range(weights: ArrayLike) -> FloatArray:
    """Return the weights, whose fourth powers and ratios must not leave the range of floats: the price needs them.

    Examples
    --------
    >>> in_range(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    w = checks.vector(weights, "weights")
    if not ((w > 1e-50) & (w < 1e50)).all():
        raise InputError("weights holds a number that is not above zero, or is extreme: give positive ones around one")
    return w
