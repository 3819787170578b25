"""Noise goes on once, here, and every release leaves a ledger of what it cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TypeVar

import numpy as np
import pandas as pd

from dpreg import checks, noise
from dpreg.accounting import zcdp_from_pure
from dpreg.checks import BudgetError, InputError, Neighbours
from dpreg.noise import RandomState
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.laws import Law, certify
from dpreg.pipeline.objective import Quadratic

T = TypeVar("T")


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
        What it cost, as certified, not as asked for. Infinite for a release that is zCDP only.
    delta : float
        Zero for pure differential privacy.
    rho : float, optional
        Its zCDP. By default what any epsilon costs (`accounting.zcdp_from_pure`), or infinite if delta is above zero.
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
    delta: float = 0.0
    rho: float | None = None
    caveat: str = ""

    def __post_init__(self) -> None:
        checks.neighbours(self.neighbours)
        only_zcdp = self.rho is not None and self.epsilon == math.inf
        if not only_zcdp and checks.finite(self.epsilon, "epsilon") < 0:
            raise InputError(f"epsilon is {self.epsilon:g}: a release cannot earn budget, give at least zero")
        if self.epsilon and not only_zcdp:
            checks.within_reach(self.epsilon, "epsilon", checks.REACH**2)  # it may be a small share of a budget
        if self.scale == math.inf:
            raise InputError("the scale of the noise is inf, which no number survives: give a larger epsilon")
        _chance(self.delta)
        if self.rho is None:
            object.__setattr__(self, "rho", zcdp_from_pure(self.epsilon) if self.delta == 0 else math.inf)
        elif self.rho != math.inf and checks.finite(self.rho, "rho") < 0:
            raise InputError(f"rho is {self.rho:g}: give a number of at least zero")


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
        """Total privacy loss, by basic composition."""
        return math.fsum(spend.epsilon for spend in self.spends)

    @property
    def delta(self) -> float:
        """Total chance of exceeding it, by basic composition."""
        return math.fsum(spend.delta for spend in self.spends)

    @property
    def rho(self) -> float:
        """Total zCDP; infinite if a spend has a delta."""
        return math.fsum(spend.rho for spend in self.spends if spend.rho is not None)

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
    delta : float
        Zero to allow pure differential privacy only.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.75))
    >>> budget.remaining
    0.25
    """

    epsilon: float
    delta: float = 0.0
    ledger: Ledger = field(default_factory=Ledger)
    _seeds: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.epsilon = checks.positive(self.epsilon, "epsilon")
        self.delta = _chance(self.delta)
        checks.instance(self.ledger, Ledger, "ledger")

    @property
    def remaining(self) -> float:
        """What is left to spend."""
        return max(0.0, self.epsilon - self.ledger.epsilon)

    def charge(self, spend: Spend | Ledger, random_state: RandomState = None) -> None:
        """Add a spend or all of a ledger, or raise `BudgetError` and add nothing; 1 in 10^12 is forgiven as rounding.

        A seed is refused the second time: composition needs fresh noise, and two releases with the same draws at
        different scales give away the data. Only seeds are remembered, not generators: their state moves. A release
        that is zCDP only has no epsilon, and no budget of epsilon covers it.
        """
        new = Ledger((spend,)) if isinstance(spend, Spend) else spend
        checks.instance(new, Ledger, "spend")
        total = self.ledger + new
        if not total.epsilon <= self.epsilon * (1 + 1e-12):
            raise BudgetError(
                f"this release costs {new.epsilon:.6g} and {self.remaining:.6g} of {self.epsilon:g} is left: "
                "use larger scales, or stop here"
            )
        if not total.delta <= self.delta * (1 + 1e-12):
            raise BudgetError(f"this release costs a delta of {new.delta:.3g}, over {self.delta:g}: stop here")
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
    scales: Law
    domain: Domain
    ledger: Ledger


def pay(
    cost: Spend | Ledger,
    draw: Callable[[RandomState], T],
    random_state: RandomState = None,
    budget: Budget | None = None,
) -> tuple[T, Ledger]:
    """Charge the budget, then draw: all privacy is paid for here.

    Parameters
    ----------
    cost : Spend or Ledger
        As certified.
    draw : function of a random state
        What is released; it is not called if the budget refuses.
    random_state : None, int, SeedSequence or Generator
    budget : Budget, optional
        Without one nobody keeps count but the caller, who gets the ledger.

    Returns
    -------
    released, ledger

    Examples
    --------
    >>> spend, budget = Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5), Budget(1.0)
    >>> count, ledger = pay(spend, lambda state: 7 + float(noise.laplace(2.0, (), state)), 1, budget)
    >>> ledger.epsilon, budget.remaining
    (0.5, 0.5)
    """
    ledger = Ledger((cost,)) if isinstance(cost, Spend) else cost
    checks.instance(ledger, Ledger, "cost")
    noise.generator(random_state)  # a bad one is refused before anything is charged
    if budget is not None:
        checks.instance(budget, Budget, "budget")
        budget.charge(ledger, random_state)
    return draw(random_state), ledger


def perturb(
    objective: Quadratic,
    scales: Law,
    random_state: RandomState = None,
    *,
    draws: tuple[int, ...] = (),
) -> Quadratic:
    """Return the objective plus noise, for studying a mechanism: many draws, no ledger.

    Stacks of objectives and of scales broadcast against each other, and `draws` adds axes in front.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    scales : Law, such as Scales, stacked as (...)
    random_state : None, int, SeedSequence or Generator
    draws : tuple of int

    Returns
    -------
    Quadratic
        Its M is symmetric unless `scales.ordered`. The constant is zero where it is withheld.

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> f = Quadratic(np.eye(2), np.zeros(2), np.array(0.0))
    >>> perturb(f, unit_scales("copied", 2), random_state=1, draws=(1000,)).batch
    (1000,)
    """
    checks.instance(objective, Quadratic, "objective")
    checks.instance(scales, Law, "scales")
    if scales.p != objective.p:
        raise InputError(f"scales have {scales.p} columns and the objective {objective.p}: match them")
    return scales.perturb(objective, draws, noise.generator(random_state))


def release(
    objective: Quadratic,
    scales: Law,
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
    scales : Law, such as Scales
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
    >>> from dpreg.pipeline.laws import functional
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.pipeline.objective import linear
    >>> box = Box([0.0], [1.0], response=(0.0, 1.0))
    >>> out = release(linear([[0.2], [0.7]], [0.1, 0.9], box), functional(box, 0.8), random_state=1)
    >>> round(out.ledger.epsilon, 12)
    0.8
    """
    spend = price(objective, scales, neighbours)
    noisy, ledger = pay(spend, lambda state: perturb(objective, scales, state), random_state, budget)
    assert objective.domain is not None  # `price` has refused it otherwise
    return Release(noisy, scales, objective.domain, ledger)


def price(objective: Quadratic, scales: Law, neighbours: Neighbours = "replace") -> Spend:
    """Return what releasing the objective with these scales would cost, without releasing it."""
    checks.instance(objective, Quadratic, "objective")
    domain = objective.domain
    if domain is None:
        raise InputError("the objective has no domain, so its sensitivity is unknown: build it with objective.linear")
    if objective.batch:
        raise InputError(f"the objective is a stack of shape {objective.batch}: release one at a time")
    epsilon = certify(scales, domain, neighbours, objective.loss)
    if not math.isfinite(epsilon):
        raise InputError(
            "a coefficient that one record can change has scale zero: give it noise, or use neighbours='replace' "
            "if it is the public number of records"
        )
    scale = scales.scale
    cost = epsilon * scale, scale, epsilon
    return Spend(scales.released, scales.name, neighbours, scales.norm, *cost, caveat=domain.caveat)


def _chance(delta: float) -> float:
    number = checks.finite(delta, "delta")
    if not 0 <= number < 1:
        raise InputError(f"delta is {number:g}: give a number of at least zero and below one")
    return number
