"""Noise goes on once, here, and every release leaves a ledger of what it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import InputError, Neighbours
from dpreg.noise import RandomState
from dpreg.pipeline import lattice
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.laws import Law, certify
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.objective import Quadratic

Sampler = Literal["numpy", "opendp"]


@checked
@dataclass(frozen=True)
class Release:
    """A noisy objective that may be published, with the domain it lives on and what it cost.

    Everything computed from `objective` alone is free.
    """

    objective: Quadratic
    law: Law
    domain: Domain
    ledger: Ledger


@checked
def perturb(
    objective: Quadratic,
    law: Law,
    random_state: RandomState = None,
    *,
    draws: tuple[int, ...] = (),
) -> Quadratic:
    """Return the objective plus noise, for studying a mechanism: many draws, no ledger.

    Stacks of objectives and of laws broadcast against each other, and `draws` adds axes in front.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    law : Law, such as Scales, stacked as (...)
    random_state : None, int, SeedSequence or Generator
    draws : tuple of int

    Returns
    -------
    Quadratic
        Its M is symmetric unless the law is ordered `Scales`. The constant is zero where it is withheld.

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> f = Quadratic([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], 0.0)
    >>> perturb(f, unit_scales("copied", 2), random_state=1, draws=(1000,)).batch
    (1000,)
    """
    if law.p != objective.p:
        raise InputError(f"the law has {law.p} columns and the objective {objective.p}: match them")
    return law.perturb(objective, draws, noise.generator(random_state))


@checked
def release(
    objective: Quadratic,
    law: Law,
    random_state: RandomState = None,
    *,
    neighbours: Neighbours = "replace",
    budget: Budget | None = None,
    sampler: Sampler = "numpy",
) -> Release:
    """Add the noise once and account for it.

    Parameters
    ----------
    objective : Quadratic
        With its domain, as `objective.linear` returns it.
    law : Law, such as Scales
    random_state : None, int, SeedSequence or Generator
        `None` for a real release: whoever knows the seed knows the noise, and two releases with one seed share it,
        which gives the data away. A budget refuses the second; without one, nothing can.
    neighbours : {"replace", "add_remove"}
    budget : Budget, optional
        Charged before the noise is drawn.
    sampler : {"numpy", "opendp"}
        `numpy` simulates the law in floating point, which is for study: its last bits betray records. `opendp` draws
        the discrete twin of Laplace or Gaussian noise, from OpenSSL's generator that the system seeds, for an objective
        that was built with `bits`. It costs the same, and needs the extra dpreg[publish].

    Raises
    ------
    InputError
        If the objective has no domain, or a number that a record can change would go out without noise; or for
        `opendp`, if there is a seed, no lattice, or no discrete twin of the law.
    DataError
        If OpenDP is asked for and not installed.
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
    cost = price(objective, law, neighbours)
    if checks.choice(sampler, ("numpy", "opendp"), "sampler") == "numpy":
        noisy, ledger = pay(cost, lambda state: perturb(objective, law, state), random_state, budget)
    else:
        draw = law.discrete(objective)
        assert objective.exact is not None  # `discrete` has refused it otherwise
        origin = lattice.origin(objective.exact.bits)
        noisy, ledger = pay(cost, lambda _: draw(), random_state, budget, origin=origin)
    assert objective.domain is not None  # `price` has refused it otherwise
    return Release(noisy, law, objective.domain, ledger)


@checked
def price(objective: Quadratic, law: Law, neighbours: Neighbours = "replace") -> Ledger:
    """Return what releasing the objective with this noise would cost, without releasing it."""
    domain = objective.domain
    if domain is None:
        raise InputError("the objective has no domain, so its sensitivity is unknown: build it with objective.linear")
    if objective.batch:
        raise InputError(f"the objective is a stack of shape {objective.batch}: release one at a time")
    epsilon = certify(law, domain, neighbours, objective.loss)
    rho = law.concentrated(domain, neighbours, objective.loss)
    if not math.isfinite(epsilon if rho is None else rho):
        raise InputError(
            "a coefficient that one record can change has scale zero: give it noise, or use neighbours='replace' "
            "if it is the public number of records"
        )
    spends = law.spends(domain, neighbours, objective.loss)
    return Ledger(tuple(replace(spend, caveat=domain.caveat) for spend in spends))
