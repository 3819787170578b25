"""Least absolute deviations by iteratively reweighted least squares, in public (003, and its repairs).

Each iteration releases two weighted moments with noise and solves them; everything after the noise is free. A `Plan`
is a choice of noise. Its ledger is worked out from that noise, whoever chose it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpreg import accounting, checks, limits, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms import chi_square
from dpreg.mechanisms.irls_laws import (
    IMPOSSIBLE,
    CentredWishart,
    Gaussian,
    Laplace,
    MomentLaw,
    NoNoise,
    VectorLaw,
    Wishart,
    WishartDifference,
)
from dpreg.mechanisms.irls_moments import sensitivities, stacked
from dpreg.noise import RandomState
from dpreg.pipeline import objective
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.domain import Ball, Domain, Model
from dpreg.pipeline.ledger import Ledger, Spend


@checked
@dataclass(frozen=True)
class Plan:
    """What a private IRLS will release: the noise on both moments, in each of so many iterations.

    Parameters
    ----------
    domain : Ball
    cap : float
        Largest weight.
    iterations : int
    first : VectorLaw
        On sum s t x.
    second : MomentLaw
        On sum s xx'.
    neighbours : {"replace", "add_remove"}

    Examples
    --------
    The same noise costs more under a larger cap.

    >>> import dataclasses
    >>> plan = pure(Ball([0.0], 1.0, (-1.0, 1.0)), 0.5, cap=10.0)
    >>> round(plan.ledger.epsilon, 12), round(dataclasses.replace(plan, cap=100.0).ledger.epsilon, 12), plan.exposure
    (0.5, 5.0, 0.0)
    """

    domain: Domain
    cap: float
    iterations: int
    first: VectorLaw
    second: MomentLaw
    neighbours: Neighbours = "replace"

    def __post_init__(self) -> None:
        checks.instance(self.domain, Ball, "domain")
        checks.within_reach(checks.positive(self.cap, "cap"), "cap")
        checks.count(self.iterations, "iterations")

    @property
    def ledger(self) -> Ledger:
        """What it will cost, one spend for each moment of each iteration; infinite where nothing is promised."""
        size, spends = sensitivities(self.domain, self.cap, self.neighbours), []
        laws: tuple[tuple[str, MomentLaw], ...] = ("first", self.first), ("second", self.second)
        for moment, law in laws:
            norm, change = law.change(size, moment)
            cost = law.price(change, self.domain.p, self.neighbours)
            caveat = "; ".join(part for part in (self.domain.caveat, law.caveat) if part)
            entry = f"weighted {moment} moment", law.name, self.neighbours, norm, change, law.unit
            spends.append(Spend(*entry, *cost, caveat))
        return Ledger(tuple(spends) * self.iterations)

    @property
    def exposure(self) -> float:
        """Delta of all steps of one-sided noise together: 1 - exp(-J epsilon'), zero for other noise.

        So likely at most is an output that is impossible under a neighbour. The ledger adds these steps up instead.
        """
        if not self.second.one_sided:
            return 0.0
        change = self.second.change(sensitivities(self.domain, self.cap, self.neighbours), "second")[1]
        one = self.second.price(change, self.domain.p, self.neighbours)[1]
        return -math.expm1(self.iterations * math.log1p(-one)) if one else 1.0


@checked
@dataclass(frozen=True)
class Fit:
    """A released parameter, and what it cost.

    Parameters
    ----------
    path : array of shape (iterations + 1, p)
        Scaled parameters, from zero to the answer; all of them are covered by the ledger.
    domain : Domain
    ledger : Ledger
    """

    path: FloatArray
    domain: Domain
    ledger: Ledger

    @property
    def theta(self) -> FloatArray:
        """The answer, in scaled units; shape (p,)."""
        return np.asarray(self.path[-1])

    @property
    def model(self) -> Model:
        """The answer in the user's units."""
        return self.domain.unscale(self.theta)


@checked
def irls(X: ArrayLike, y: ArrayLike, plan: Plan, random_state: RandomState = None, budget: Budget | None = None) -> Fit:
    """Release weighted moments and solve them, again and again; the weights follow from the released parameter.

    Parameters
    ----------
    X : array of shape (n, d), in the user's units
    y : array of shape (n,), in the user's units
    plan : Plan
        From `gaussian`, `pure`, `degrees`, `printed`, or `exact` for no privacy.
    random_state : None, int, SeedSequence or Generator
        `None` for a real release: whoever knows the seed knows the noise.
    budget : Budget, optional
        Charged before any noise is drawn. A plan that is zCDP only, as that of `gaussian`, fits none.

    Returns
    -------
    Fit

    Examples
    --------
    >>> ball = Ball([0.0], 1.0, response=(-1.0, 1.0))
    >>> X, y = [[1.0], [0.5], [-1.0], [0.8]], [0.5, 0.25, -0.5, -1.0]
    >>> irls(X, y, exact(ball, cap=1e4, iterations=50)).theta.round(3).tolist()
    [0.5]
    """
    table = plan.domain.table(X, y)
    path, ledger = pay(
        plan.ledger, lambda state: follow([plan], table, [noise.generator(state)])[0], random_state, budget
    )
    return Fit(path, plan.domain, ledger)


@checked
def follow(plans: Sequence[Plan], table: FloatArray, rngs: Sequence[np.random.Generator]) -> list[FloatArray]:
    """Return the parameters that each plan releases one after the other, of shape (iterations + 1, p), from zero on.

    The plans go on side by side, since their moments together cost little more than those of one. A plan's noise is its
    own generator's, whoever goes beside it.

    Parameters
    ----------
    plans : sequence of Plan
        All for one domain.
    table : array of shape (n, p + 1)
        Scaled records of that domain.
    rngs : sequence of Generator
        One for each plan.

    Examples
    --------
    >>> ball, rngs = Ball([0.0], 1.0, (-1.0, 1.0)), [noise.generator(seed) for seed in (1, 2)]
    >>> plans = [exact(ball, cap=1.0, iterations=turns) for turns in (1, 2)]
    >>> [path.ravel().tolist() for path in follow(plans, np.array([[0.5, 1.0], [0.5, 1.0]]), rngs)]
    [[0.0, 0.5], [0.0, 0.5, 0.5]]
    """
    if not plans or len(rngs) != len(plans):
        raise InputError(
            f"there are {len(plans)} plans and {len(rngs)} rngs: give at least one plan, and one rng for each"
        )
    if any(plan.domain != plans[0].domain for plan in plans):
        raise InputError("the plans are for several domains: give those of one, whose table this is")
    p, caps = plans[0].domain.p, sorted({plan.cap for plan in plans})
    begun = dict(zip(caps, stacked(table, np.zeros((len(caps), p)), caps), strict=True))
    paths = [np.zeros((plan.iterations + 1, p)) for plan in plans]
    for k in range(max(plan.iterations for plan in plans)):
        going = [one for one in zip(plans, paths, rngs, strict=True) if k < one[0].iterations]
        at, caps = [path[k] for _, path, _ in going], [plan.cap for plan, _, _ in going]
        grams = stacked(table, at, caps) if k else [begun[cap] for cap in caps]
        for gram, (plan, path, rng) in zip(grams, going, strict=True):
            noisy = gram[0, 1:] + plan.first.vector(p, rng), gram[1:, 1:] + plan.second.matrix(p, rng)
            path[k + 1] = lifted(*noisy, plan.second.level(p))
    return paths


@checked
def lifted(first: ArrayLike, second: ArrayLike, floor: float) -> FloatArray:
    """Return the solution of second @ theta = first once eigenvalues below the floor are raised to it.

    So its norm is at most |first| / floor. With a floor of zero it is the solution of smallest norm.

    Examples
    --------
    >>> lifted([2.0, 3.0], [[4.0, 0.0], [0.0, -1.0]], 1.0).tolist()
    [0.5, 3.0]
    """
    A, B = checks.vector(first, "first"), np.asarray(checks.numeric(second, "second"), dtype=np.float64)
    if B.shape != (len(A), len(A)) or not np.isfinite(B).all():
        raise InputError(f"second has shape {B.shape}: give {len(A)} rows and columns of finite numbers")
    if checks.finite(floor, "floor") < 0:
        raise InputError(f"the floor is {floor:g}: give a public number of at least zero")
    if floor == 0:
        return np.asarray(np.linalg.pinv(B, rcond=objective.FLAT, hermitian=True) @ A)
    values, vectors = np.linalg.eigh(B)
    return np.asarray(vectors @ ((vectors.T @ A) / np.maximum(values, floor)))


@checked
def exact(domain: Domain, *, cap: float = 10.0, iterations: int = 5) -> Plan:
    """Return the plan without noise, and without privacy.

    Examples
    --------
    >>> exact(Ball([0.0], 1.0, (-1.0, 1.0))).ledger.epsilon
    inf
    """
    return Plan(domain, cap, iterations, NoNoise(), NoNoise())


@checked
def gaussian(
    domain: Domain, rho: float, *, cap: float = 10.0, iterations: int = 5, neighbours: Neighbours = "replace"
) -> Plan:
    """Return the plan with Gaussian noise on both moments: `rho` zCDP in all, the same share for every release.

    Parameters
    ----------
    domain : Ball
    rho : float
    cap : float
    iterations : int
    neighbours : {"replace", "add_remove"}

    Examples
    --------
    >>> plan = gaussian(Ball([0.0, 0.0], 1.0, (-1.0, 1.0)), 0.5)
    >>> round(plan.ledger.rho, 12), plan.first.scale / plan.second.scale
    (0.5, 1.414213562373095)
    """
    size, share = sensitivities(domain, cap, neighbours), _share(rho, iterations, "rho")
    first, second = (Gaussian(change / math.sqrt(2 * share)) for change in (size.first_l2, size.frobenius))
    return Plan(domain, cap, iterations, first, second, neighbours)


@checked
def pure(
    domain: Domain,
    epsilon: float,
    law: Literal["Laplace", "Wishart difference"] = "Wishart difference",
    *,
    cap: float = 10.0,
    iterations: int = 5,
    neighbours: Neighbours = "replace",
) -> Plan:
    """Return the plan of pure privacy: Laplace noise on the first moment, `law` on the second.

    Parameters
    ----------
    domain : Ball
    epsilon : float
        In all, the same share for every release.
    law : {"Laplace", "Wishart difference"}
    cap : float
    iterations : int
    neighbours : {"replace", "add_remove"}

    Examples
    --------
    >>> ball = Ball([0.0, 0.0], 1.0, (-1.0, 1.0))
    >>> [round(pure(ball, 0.8, law).ledger.epsilon, 12) for law in ("Laplace", "Wishart difference")]
    [0.8, 0.8]
    """
    size, share = sensitivities(domain, cap, neighbours), _share(epsilon, iterations, "epsilon")
    difference = WishartDifference(math.sqrt(size.nuclear / share / 2), domain.p + 1)
    second = Laplace(size.triangle / share) if law == "Laplace" else difference
    return Plan(domain, cap, iterations, Laplace(size.first_l1 / share), second, neighbours)


@checked
def degrees(
    domain: Domain,
    epsilon: float,
    delta: float,
    *,
    cap: float = 10.0,
    iterations: int = 5,
    neighbours: Neighbours = "replace",
) -> Plan:
    """Return the plan with Wishart noise of many degrees of freedom on the second moment, less its mean.

    Parameters
    ----------
    domain : Ball
    epsilon, delta : float
        In all, by basic composition: the same epsilon for every release, delta for the second moments only.
    cap : float
    iterations : int
    neighbours : {"replace", "add_remove"}

    Examples
    --------
    >>> plan = degrees(Ball([0.0, 0.0], 1.0, (-1.0, 1.0)), 8.0, 1e-5, iterations=4)
    >>> round(plan.ledger.epsilon, 12), plan.ledger.delta <= 1e-5, plan.second.degrees
    (8.0, True, 88)
    """
    size, share = sensitivities(domain, cap, neighbours), _share(epsilon, iterations, "epsilon")
    each = checks.chance(delta, "delta") / iterations
    target = chi_square.halved(share, each) if neighbours == "replace" else (share, each)
    k = chi_square.least_freedom(*target) + domain.p - 1
    second = CentredWishart(math.sqrt(size.row), k, share)
    return Plan(domain, cap, iterations, Laplace(size.first_l1 / share), second, neighbours)


@checked
def printed(
    domain: Domain,
    step: float,
    *,
    cap: float = 10.0,
    iterations: int = 5,
    first: Literal["laplace", "gaussian"] = "laplace",
    delta: float = 1e-5,
    as_published: bool = False,
) -> Plan:
    """Return 003's plan. Its Wishart step is not differentially private, so the opt-in is needed and it warns.

    Parameters
    ----------
    domain : Ball
    step : float
        003's epsilon' of each release. It is epsilon / (2 J) for epsilon in all by basic composition, and
        sqrt(epsilon / J) by its concentrated accounting, with J iterations.
    cap : float
    iterations : int
    first : {"laplace", "gaussian"}
        Noise on the first moment: Eq. 4 or Eq. 5.
    delta : float
        Of Eq. 5; the ledger has the true one.
    as_published : bool
        Needed, because claim IR-WISHART of the ledger fails.

    References
    ----------
    * 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     plan = printed(Ball([0.0], 1.0, (-1.0, 1.0)), 0.3, as_published=True)
    >>> round(plan.ledger.spends[1].delta, 4)
    0.2592
    """
    size, share = sensitivities(domain, cap), checks.budget(step, "step")
    deviation = accounting.classical_deviation(size.first_l2, share, delta)
    laplace, normal = Laplace(size.first_l1 / share), Gaussian(deviation, share)
    checks.broken(as_published, "IR-WISHART", f"003's Wishart noise makes {IMPOSSIBLE}")
    second = Wishart(math.sqrt(size.row / share / 2), domain.p + 1)
    return Plan(domain, cap, iterations, laplace if first == "laplace" else normal, second)


@checked
def simulated(
    n: int, d: int = 10, random_state: RandomState = None, *, noise_deviation: float = 0.1
) -> tuple[FloatArray, FloatArray, Ball]:
    """Return 003's simulated records X and y (Section 4), with public bounds in place of its data maxima.

    Predictors are normal, divided by sqrt(d) + 3, which their norm exceeds with chance at most exp(-9 / 2), and
    clipped to the unit ball. Responses are X theta plus noise for a normal theta; the public bounds are -2 and 2.

    Parameters
    ----------
    n, d : int
    random_state : None, int, SeedSequence or Generator
    noise_deviation : float

    References
    ----------
    * 003: Park and Welling, A note on privacy preserving iteratively reweighted least squares, 2016.

    Examples
    --------
    >>> X, y, ball = simulated(100, random_state=1)
    >>> X.shape, ball.response
    ((100, 10), (-2.0, 2.0))
    """
    rng, d = noise.generator(random_state), checks.count(d, "d", most=limits.WIDE)
    limits.shape((checks.count(n, "n", 2), d), "n times d")
    ball = Ball(np.zeros(d), 1.0, response=(-2.0, 2.0))
    X = rng.normal(size=(n, d)) / (math.sqrt(d) + 3)
    ball.clip(X)
    return (
        X,
        X @ rng.normal(size=d)
        + checks.positive(limits.sized(noise_deviation, "noise_deviation"), "noise_deviation") * rng.normal(size=n),
        ball,
    )


def _share(total: float, iterations: int, name: str) -> float:
    return checks.budget(total, name) / (2 * checks.count(iterations, "iterations"))
