"""Least absolute deviations by iteratively reweighted least squares, in public (003, and its repairs).

Each iteration releases two weighted moments with noise and solves them; everything after the noise is free. A `Plan`
is a choice of noise together with what it costs.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from lib import accounting, checks, noise, sheffet
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import Ball, Domain, Model
from lib.noise import RandomState
from lib.release import Ledger, Spend
from lib.weighted import moments, sensitivities

IMPOSSIBLE = "some outputs impossible under a neighbour: no epsilon has a smaller delta, and it is not concentrated"
Law = Literal["none", "Laplace", "Gaussian", "Wishart", "centred Wishart", "Wishart difference"]


@dataclass(frozen=True)
class Noise:
    """Noise on one of the two moments, and what one release with it costs.

    Parameters
    ----------
    law : {"none", "Laplace", "Gaussian", "Wishart", "centred Wishart", "Wishart difference"}
        `Gaussian` on a matrix: standard deviation `scale` on the diagonal, and that over sqrt(2) off it.
        `Wishart` is W_p(scale^2 I, degrees); `centred` is without its mean; `difference` is of two of them.
    scale : float
    spend : Spend, optional
        Of one release.
    degrees : int
        Of freedom, of the Wishart laws.

    Examples
    --------
    >>> Noise("Gaussian", 2.0).level(7)
    4.0
    """

    law: Law
    scale: float = 0.0
    spend: Spend | None = None
    degrees: int = 0

    def __post_init__(self) -> None:
        checks.choice(self.law, get_args(Law), "law")
        if checks.finite(self.scale, "scale") < 0:
            raise InputError(f"scale is {self.scale:g}: give a number of at least zero")
        if self.spend is not None:
            checks.instance(self.spend, Spend, "spend")

    def vector(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """Draw the noise on a first moment, of shape (*shape, p)."""
        if self.law == "none":
            return np.zeros((*shape, p))
        if self.law not in ("Laplace", "Gaussian"):
            raise InputError(f"the law is {self.law}: choose Laplace or Gaussian for a vector")
        draw = noise.laplace if self.law == "Laplace" else noise.gaussian
        return draw(self.scale, (*shape, p), rng)

    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """Draw the symmetric noise on a second moment, of shape (*shape, p, p)."""
        rng = noise.generator(rng)
        if self.law in ("none", "Laplace", "Gaussian"):
            upper = np.triu_indices(p)
            scale = np.where(upper[0] == upper[1], 1.0, math.sqrt(0.5) if self.law == "Gaussian" else 1.0)
            drawn = self.vector(len(upper[0]), rng, shape) * scale
            out = np.empty((*shape, p, p))
            out[..., upper[0], upper[1]] = out[..., upper[1], upper[0]] = drawn
            return out
        first = noise.wishart(p, self.degrees, shape, rng)
        if self.law == "centred Wishart":
            first -= self.degrees * np.eye(p)
        elif self.law == "Wishart difference":
            first -= noise.wishart(p, self.degrees, shape, rng)
        return self.scale**2 * first

    def level(self, p: int) -> float:
        """Return the root mean square eigenvalue of the noise matrix; zero for noise that keeps it positive."""
        unit = {
            "Laplace": math.sqrt(2 * p) * self.scale,
            "Gaussian": math.sqrt((p + 1) / 2) * self.scale,
            "centred Wishart": math.sqrt(self.degrees * (p + 1)) * self.scale**2,
            "Wishart difference": math.sqrt(2 * self.degrees * (p + 1)) * self.scale**2,
        }
        return unit.get(self.law, 0.0)


@dataclass(frozen=True)
class Plan:
    """What a private IRLS will release: the noise on both moments, in each of so many iterations.

    Parameters
    ----------
    domain : Ball
    cap : float
        Largest weight.
    iterations : int
    first, second : Noise
        On sum s t x, and on sum s xx'.

    Examples
    --------
    >>> len(gaussian(Ball([0.0], 1.0, (-1.0, 1.0)), 0.5, iterations=3).ledger.spends)
    6
    """

    domain: Domain
    cap: float
    iterations: int
    first: Noise
    second: Noise

    def __post_init__(self) -> None:
        checks.instance(self.domain, Ball, "domain")
        checks.positive(self.cap, "cap")
        checks.count(self.iterations, "iterations")
        checks.instance(self.first, Noise, "first")
        checks.instance(self.second, Noise, "second")

    @property
    def ledger(self) -> Ledger:
        """What it will cost, one spend for each moment of each iteration."""
        spends = [noise.spend for noise in (self.first, self.second) if noise.spend is not None]
        return Ledger(tuple(spends) * self.iterations)


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


def irls(X: ArrayLike, y: ArrayLike, plan: Plan, random_state: RandomState = None) -> Fit:
    """Release weighted moments and solve them, again and again; the weights follow from the released parameter.

    Parameters
    ----------
    X : array of shape (n, d), in the user's units
    y : array of shape (n,), in the user's units
    plan : Plan
        From `gaussian`, `pure`, `degrees`, `printed`, or `exact` for no privacy.
    random_state : None, int, SeedSequence or Generator
        `None` for a real release.

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
    checks.instance(plan, Plan, "plan")
    table, rng, p = plan.domain.table(X, y), noise.generator(random_state), plan.domain.p
    path = np.zeros((plan.iterations + 1, p))
    for k in range(plan.iterations):
        gram = moments(table, path[k], plan.cap)
        first = gram[0, 1:] + plan.first.vector(p, rng)
        second = gram[1:, 1:] + plan.second.matrix(p, rng)
        path[k + 1] = lifted(first, second, plan.second.level(p))
    return Fit(path, plan.domain, plan.ledger)


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
        return np.asarray(np.linalg.pinv(B, hermitian=True) @ A)
    values, vectors = np.linalg.eigh(B)
    return np.asarray(vectors @ ((vectors.T @ A) / np.maximum(values, floor)))


def exact(domain: Domain, *, cap: float = 10.0, iterations: int = 5) -> Plan:
    """Return the plan without noise, and without privacy; its ledger is empty.

    Examples
    --------
    >>> exact(Ball([0.0], 1.0, (-1.0, 1.0))).ledger.spends
    ()
    """
    return Plan(domain, cap, iterations, Noise("none"), Noise("none"))


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

    def law(name: str, norm: str, change: float) -> Noise:
        sigma = change / math.sqrt(2 * share)
        spend = Spend(f"weighted {name}", "Gaussian", neighbours, norm, change, sigma, math.inf, rho=share)
        return Noise("Gaussian", sigma, spend)

    first, second = law("first moment", "L2", size.first_l2), law("second moment", "Frobenius", size.frobenius)
    return Plan(domain, cap, iterations, first, second)


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
    first = _pure("Laplace", "first moment", neighbours, "L1", size.first_l1, share)
    if checks.choice(law, ("Laplace", "Wishart difference"), "law") == "Laplace":
        second = _pure(law, "second moment", neighbours, "L1 of the triangle", size.triangle, share)
    else:
        second = _pure(law, "second moment", neighbours, "nuclear", size.nuclear, share, domain.p + 1)
    return Plan(domain, cap, iterations, first, second)


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
    >>> round(plan.ledger.epsilon, 12), round(plan.ledger.delta, 12), plan.second.degrees
    (8.0, 1e-05, 88)
    """
    size, share = sensitivities(domain, cap, neighbours), _share(epsilon, iterations, "epsilon")
    first = _pure("Laplace", "first moment", neighbours, "L1", size.first_l1, share)
    each = 2 * _share(delta, iterations, "delta")
    if delta >= 1:
        raise InputError(f"delta is {delta:g}: give a number between zero and one")
    target = sheffet.halved(share, each) if neighbours == "replace" else (share, each)
    k = sheffet.least_freedom(*target) + domain.p - 1
    spend = Spend("weighted second moment", "Wishart", neighbours, "row", size.row, size.row, share, each)
    return Plan(domain, cap, iterations, first, Noise("centred Wishart", math.sqrt(size.row), spend, k))


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
        Of Eq. 5.
    as_published : bool

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     plan = printed(Ball([0.0], 1.0, (-1.0, 1.0)), 0.3, as_published=True)
    >>> round(plan.second.spend.delta, 4)
    0.2592
    """
    size, share = sensitivities(domain, cap), checks.positive(step, "step")
    checks.choice(first, ("laplace", "gaussian"), "first")
    if first == "laplace":
        mean = _pure("Laplace", "first moment", "replace", "L1", size.first_l1, share)
    else:
        if share > 1:
            raise InputError(f"step is {share:g}: give at most one, beyond it nothing is proved about Eq. 5")
        sigma = accounting.classical_deviation(size.first_l2, share, delta)
        rho = (size.first_l2 / sigma) ** 2 / 2
        spend = Spend("weighted first moment", "Gaussian", "replace", "L2", size.first_l2, sigma, share, delta, rho)
        mean = Noise("Gaussian", sigma, spend)
    checks.broken(as_published, "IR-WISHART", f"003's Wishart noise makes {IMPOSSIBLE}")
    second = _pure("Wishart", "second moment", "replace", "trace", size.row, share, domain.p + 1)
    assert second.spend is not None
    spend = dataclasses.replace(second.spend, delta=-math.expm1(-share), rho=math.inf, caveat=IMPOSSIBLE)
    return Plan(domain, cap, iterations, mean, dataclasses.replace(second, spend=spend))


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

    Examples
    --------
    >>> X, y, ball = simulated(100, random_state=1)
    >>> X.shape, ball.response
    ((100, 10), (-2.0, 2.0))
    """
    rng, d = noise.generator(random_state), checks.count(d, "d")
    ball = Ball(np.zeros(d), 1.0, response=(-2.0, 2.0))
    X = rng.normal(size=(checks.count(n, "n", 2), d)) / (math.sqrt(d) + 3)
    ball.clip(X)
    return X, X @ rng.normal(size=d) + checks.positive(noise_deviation, "noise_deviation") * rng.normal(size=n), ball


def _share(total: float, iterations: int, name: str) -> float:
    return checks.positive(total, name) / (2 * checks.count(iterations, "iterations"))


def _pure(
    law: Law, moment: str, neighbours: Neighbours, norm: str, change: float, epsilon: float, degrees: int = 0
) -> Noise:
    b = change / epsilon
    spend = Spend(f"weighted {moment}", law, neighbours, norm, change, b, epsilon)
    return Noise(law, math.sqrt(b / 2) if degrees else b, spend, degrees)
