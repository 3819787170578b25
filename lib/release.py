"""Noise goes on once, here, and every release leaves a ledger of what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from lib import checks, noise
from lib.allocation import Scales, certify
from lib.checks import BudgetError, FloatArray, InputError, Neighbours
from lib.domain import Domain
from lib.noise import RandomState
from lib.objective import Quadratic


@dataclass(frozen=True)
class Spend:
    """One entry of a ledger.

    Parameters
    ----------
    released : str
        What was published.
    mechanism : str
    neighbours : {"replace", "add_remove"}
    norm : str
        In which the sensitivity is measured.
    sensitivity : float
        Worst change of the released numbers, each weighted by `scale` over its own scale.
    scale : float
        Noise scale on the last diagonal coefficient; `Release.scales` has all of them.
    epsilon : float
        What it cost, as certified, not as asked for.
    caveat : str
        What the epsilon does not cover, such as bounds read off the data. Empty if nothing.
    """

    released: str
    mechanism: str
    neighbours: Neighbours
    norm: str
    sensitivity: float
    scale: float
    epsilon: float
    caveat: str = ""

    def __post_init__(self) -> None:
        checks.neighbours(self.neighbours)
        if checks.finite(self.epsilon, "epsilon") < 0:
            raise InputError(f"epsilon is {self.epsilon:g}: a release cannot earn budget, give at least zero")


@dataclass(frozen=True)
class Ledger:
    """The spends of one data set, added by basic composition.

    Examples
    --------
    >>> spend = Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5)
    >>> (Ledger((spend,)) + Ledger((spend,))).epsilon
    1.0
    """

    spends: tuple[Spend, ...] = ()

    @property
    def epsilon(self) -> float:
        """Total privacy loss."""
        return math.fsum(spend.epsilon for spend in self.spends)

    def __add__(self, other: Ledger) -> Ledger:
        if len({spend.neighbours for spend in self.spends + other.spends}) > 1:
            raise InputError("the ledgers use different neighbours: an epsilon of one does not add to the other's")
        return Ledger(self.spends + other.spends)

    def __iter__(self) -> Iterator[Spend]:
        return iter(self.spends)

    def to_frame(self) -> pd.DataFrame:
        """Return the spends as a table, one row each."""
        return pd.DataFrame([asdict(spend) for spend in self.spends])


@dataclass
class Budget:
    """A cap on what one data set may spend; it refuses a release before any noise is drawn.

    Parameters
    ----------
    epsilon : float

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.75))
    >>> budget.remaining
    0.25
    """

    epsilon: float
    ledger: Ledger = field(default_factory=Ledger)
    _seeds: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.epsilon = checks.positive(self.epsilon, "epsilon")

    @property
    def remaining(self) -> float:
        """What is left to spend."""
        return max(0.0, self.epsilon - self.ledger.epsilon)

    def charge(self, spend: Spend, random_state: RandomState = None) -> None:
        """Add a spend, or raise `BudgetError` and add nothing; rounding of 1 in 10^12 is forgiven.

        A seed is refused the second time: composition needs fresh noise, and two releases with the same draws at
        different scales give away the data.
        """
        total = self.ledger + Ledger((spend,))
        if not total.epsilon <= self.epsilon * (1 + 1e-12):
            raise BudgetError(
                f"this release costs {spend.epsilon:.6g} and {self.remaining:.6g} of {self.epsilon:g} is left: "
                "use larger scales, or stop here"
            )
        if random_state is not None and not isinstance(random_state, np.random.Generator):
            root = noise.seed_sequence(random_state)
            if (seed := (str(root.entropy), str(root.spawn_key))) in self._seeds:
                raise InputError("an earlier release of this budget drew its noise from this seed: give a new one")
            self._seeds.add(seed)
        self.ledger = total


@dataclass(frozen=True)
class Release:
    """A noisy objective that may be published, with the domain it lives on and what it cost.

    Everything computed from `objective` alone is free.
    """

    objective: Quadratic
    scales: Scales
    domain: Domain
    ledger: Ledger


def perturb(
    objective: Quadratic,
    scales: Scales,
    random_state: RandomState = None,
    *,
    draws: tuple[int, ...] = (),
) -> Quadratic:
    """Return the objective plus Laplace noise, for studying a mechanism: many draws, no ledger.

    Stacks of objectives and of scales broadcast against each other, and `draws` adds axes in front.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    scales : Scales, stacked as (...)
    random_state : None, int, SeedSequence or Generator
    draws : tuple of int

    Returns
    -------
    Quadratic
        Its M is symmetric unless `scales.ordered`. The constant is zero where it is withheld.

    Examples
    --------
    >>> from lib.allocation import unit_scales
    >>> f = Quadratic(np.eye(2), np.zeros(2), np.array(0.0))
    >>> perturb(f, unit_scales("copied", 2), random_state=1, draws=(1000,)).batch
    (1000,)
    """
    checks.instance(objective, Quadratic, "objective")
    checks.instance(scales, Scales, "scales")
    if scales.v.shape[-1] != objective.p:
        raise InputError(f"scales have {scales.v.shape[-1]} columns and the objective {objective.p}: match them")
    rng = noise.generator(random_state)
    batch = (*draws, *np.broadcast_shapes(objective.batch, scales.v.shape[:-1]))
    p = objective.p
    if scales.ordered:
        change = noise.laplace(scales.M, (*batch, p, p), rng)
    else:
        change = _copy_down(np.triu_indices(p), scales.M, (*batch, p, p), rng)
    # A copied draw on unequal twins would publish their difference without noise.
    M = (objective.M if scales.ordered else objective.symmetric) + change
    v = objective.v + noise.laplace(scales.v, (*batch, p), rng)
    withheld = math.isinf(scales.c)
    c = np.zeros(batch) if withheld else objective.c + noise.laplace(scales.c, batch, rng)
    return Quadratic(M, v, c)


def release(
    objective: Quadratic,
    scales: Scales,
    random_state: RandomState = None,
    *,
    neighbours: Neighbours = "replace",
    budget: Budget | None = None,
) -> Release:
    """Add the noise once and account for it.

    Parameters
    ----------
    objective : Quadratic
        With its domain, as `objective.linear` returns it.
    scales : Scales
    random_state : None, int, SeedSequence or Generator
        `None` for a real release: whoever knows the seed knows the noise, and two releases with one seed share it,
        which gives the data away. A budget refuses the second; without one, nothing can.
    neighbours : {"replace", "add_remove"}
    budget : Budget, optional
        Charged before the noise is drawn.

    Raises
    ------
    InputError
        If the objective has no domain, or a number that a record can change would go out without noise.
    BudgetError
        If the budget does not allow it; nothing is drawn or charged.

    Examples
    --------
    >>> from lib.allocation import functional
    >>> from lib.domain import Box
    >>> from lib.objective import linear
    >>> box = Box([0.0], [1.0], response=(0.0, 1.0))
    >>> out = release(linear([[0.2], [0.7]], [0.1, 0.9], box), functional(box, 0.8), random_state=1)
    >>> round(out.ledger.epsilon, 12)
    0.8
    """
    spend, rng = price(objective, scales, neighbours), noise.generator(random_state)
    if budget is not None:
        checks.instance(budget, Budget, "budget")
        budget.charge(spend, random_state)
    assert objective.domain is not None  # `price` has refused it otherwise
    return Release(perturb(objective, scales, rng), scales, objective.domain, Ledger((spend,)))


def price(objective: Quadratic, scales: Scales, neighbours: Neighbours = "replace") -> Spend:
    """Return what releasing the objective with these scales would cost, without releasing it."""
    checks.instance(objective, Quadratic, "objective")
    domain = objective.domain
    if domain is None:
        raise InputError("the objective has no domain, so its sensitivity is unknown: build it with objective.linear")
    if objective.batch:
        raise InputError(f"the objective is a stack of shape {objective.batch}: release one at a time")
    epsilon = certify(scales, domain, neighbours)
    if not math.isfinite(epsilon):
        raise InputError(
            "a coefficient that one record can change has scale zero: give it noise, or use neighbours='replace' "
            "if it is the public number of records"
        )
    scale = float(scales.M[-1, -1])
    caveat = "the domain's bounds were read off the data" if domain.leaky else ""
    numbers = "quadratic objective" if math.isinf(scales.c) else "quadratic objective with its constant"
    return Spend(numbers, "Laplace", neighbours, "weighted L1", epsilon * scale, scale, epsilon, caveat)


def _copy_down(
    upper: tuple[np.ndarray, np.ndarray], scales: FloatArray, shape: tuple[int, ...], rng: np.random.Generator
) -> FloatArray:
    """Draw the upper triangle and mirror it."""
    drawn = noise.laplace(scales[..., upper[0], upper[1]], (*shape[:-2], len(upper[0])), rng)
    out = np.empty(shape)
    out[..., upper[0], upper[1]] = drawn
    out[..., upper[1], upper[0]] = drawn
    return out
