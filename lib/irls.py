"""Least absolute deviations by iteratively reweighted least squares, in public (003, and its repairs).

Each iteration releases two weighted moments with noise and solves them; everything after the noise is free. A `Plan`
is a choice of noise. Its ledger is worked out from that noise, whoever chose it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from lib import accounting, checks, noise, objective, sheffet
from lib.checks import FloatArray, InputError, Neighbours
from lib.domain import Ball, Domain, Model
from lib.noise import RandomState
from lib.release import Budget, Ledger, Spend
from lib.weighted import moments, sensitivities

IMPOSSIBLE = "some outputs impossible under a neighbour: no epsilon has a smaller delta, and it is not concentrated"
Law = Literal["none", "Laplace", "Gaussian", "Wishart", "centred Wishart", "Wishart difference"]
VECTOR = "none", "Laplace", "Gaussian"


@dataclass(frozen=True)
class Noise:
    """Noise on one of the two moments.

    Parameters
    ----------
    law : {"none", "Laplace", "Gaussian", "Wishart", "centred Wishart", "Wishart difference"}
        `Gaussian` on a matrix: standard deviation `scale` on the diagonal, and that over sqrt(2) off it.
        `Wishart` is W_p(scale^2 I, degrees); `centred` is without its mean; `difference` is of two of them.
    scale : float
    degrees : int
        Of freedom, of the Wishart laws.
    epsilon : float
        At which the delta of Gaussian noise and of many degrees of freedom is stated. Infinite for zCDP alone.

    Examples
    --------
    >>> Noise("Gaussian", 2.0).level(7)
    4.0
    """

    law: Law
    scale: float = 0.0
    degrees: int = 0
    epsilon: float = math.inf

    def __post_init__(self) -> None:
        checks.choice(self.law, get_args(Law), "law")
        if checks.finite(self.scale, "scale") < 0:
            raise InputError(f"scale is {self.scale:g}: give a number of at least zero")
        checks.count(self.degrees, "degrees", 0)
        if self.epsilon != math.inf:
            checks.positive(self.epsilon, "epsilon")

    @property
    def unit(self) -> float:
        """The change that costs a loss of one: of Wishart noise 2 scale^2, of the others the scale."""
        return 2 * self.scale**2 if "Wishart" in self.law else self.scale

    def price(self, change: float, p: int, neighbours: Neighbours) -> tuple[float, float, float]:
        """Return epsilon, delta and rho of one release that a record changes by at most so much.

        Parameters
        ----------
        change : float
            In the norm of the law, which `Plan.ledger` names.
        p : int
            Rows of the matrix.
        neighbours : {"replace", "add_remove"}

        Examples
        --------
        >>> Noise("Gaussian", 4.0).price(2.0, 1, "replace")
        (inf, 0.0, 0.125)
        """
        loss, freedom = change / self.unit if self.unit else math.inf, self.degrees - p + 1
        epsilon, delta, rho = math.inf, 0.0, math.inf  # nothing is promised
        if loss == math.inf:
            return epsilon, delta, rho
        if self.law == "Laplace" or (self.law == "Wishart difference" and freedom == 2):
            epsilon, rho = loss, accounting.zcdp_from_pure(loss)
        elif self.law == "Gaussian":
            epsilon, rho = self.epsilon, loss**2 / 2
            delta = accounting.gdp_delta(loss, epsilon) if epsilon < math.inf else 0.0
        elif "centred" in self.law and freedom >= 2 and self.epsilon < math.inf:
            hides = sheffet.delta if checks.neighbours(neighbours) == "add_remove" else sheffet.replaced
            epsilon, delta = self.epsilon, hides(self.epsilon, freedom, 2 * loss)
        elif self.law == "Wishart" and freedom == 2:
            epsilon, delta = loss, -math.expm1(-loss)
        return (epsilon, delta, rho) if delta < 1 else (math.inf, 0.0, math.inf)

    def vector(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """Draw the noise on a first moment, of shape (*shape, p)."""
        if self.law == "none":
            return np.zeros((*shape, p))
        checks.choice(self.law, VECTOR, "the law of a vector")
        return (noise.laplace if self.law == "Laplace" else noise.gaussian)(self.scale, (*shape, p), rng)

    def matrix(self, p: int, rng: RandomState, shape: tuple[int, ...] = ()) -> FloatArray:
        """Draw the symmetric noise on a second moment, of shape (*shape, p, p)."""
        rng = noise.generator(rng)
        if self.law in VECTOR:
            upper = np.triu_indices(p)
            scale = np.where(upper[0] == upper[1], 1.0, math.sqrt(0.5) if self.law == "Gaussian" else 1.0)
            out = np.empty((*shape, p, p))
            out[..., upper[0], upper[1]] = out[..., upper[1], upper[0]] = self.vector(len(upper[0]), rng, shape) * scale
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
    neighbours : {"replace", "add_remove"}

    Examples
    --------
    The same noise costs more under a larger cap.

    >>> import dataclasses
    >>> plan = pure(Ball([0.0], 1.0, (-1.0, 1.0)), 0.5, cap=10.0)
    >>> round(plan.ledger.epsilon, 12), round(dataclasses.replace(plan, cap=100.0).ledger.epsilon, 12)
    (0.5, 5.0)
    """

    domain: Domain
    cap: float
    iterations: int
    first: Noise
    second: Noise
    neighbours: Neighbours = "replace"

    def __post_init__(self) -> None:
        checks.instance(self.domain, Ball, "domain")
        checks.positive(self.cap, "cap")
        checks.count(self.iterations, "iterations")
        for name in ("first", "second"):
            checks.instance(getattr(self, name), Noise, name)
        checks.choice(self.first.law, VECTOR, "the law of a vector")
        checks.neighbours(self.neighbours)

    @property
    def ledger(self) -> Ledger:
        """What it will cost, one spend for each moment of each iteration; infinite where nothing is promised."""
        size, spends = sensitivities(self.domain, self.cap, self.neighbours), []
        caveats = ["the domain's bounds were read off the data"] * self.domain.leaky
        for moment, one in (("first", self.first), ("second", self.second)):
            norm, change = size.of(moment, one.law)
            caveat = "; ".join(caveats + [IMPOSSIBLE] * (one.law == "Wishart"))
            cost = *one.price(change, self.domain.p, self.neighbours), caveat
            spends.append(Spend(f"weighted {moment} moment", one.law, self.neighbours, norm, change, one.unit, *cost))
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
    checks.instance(plan, Plan, "plan")
    table, rng = plan.domain.table(X, y), noise.generator(random_state)
    if budget is not None:
        budget.charge(plan.ledger, random_state)
    return Fit(follow(plan, table, rng), plan.domain, plan.ledger)


def follow(plan: Plan, table: FloatArray, rng: np.random.Generator, begun: FloatArray | None = None) -> FloatArray:
    """Return the parameters that a plan releases one after the other, of shape (iterations + 1, p), from zero on.

    Parameters
    ----------
    plan : Plan
    table : array of shape (n, p + 1)
        Scaled records of the plan's domain.
    rng : Generator
    begun : array of shape (p + 1, p + 1), optional
        The weighted moments at zero, if they are known: all plans of one cap start there.

    Examples
    --------
    >>> plan = exact(Ball([0.0], 1.0, (-1.0, 1.0)), cap=1.0, iterations=2)
    >>> follow(plan, np.array([[0.5, 1.0], [0.5, 1.0]]), noise.generator(1)).ravel().tolist()
    [0.0, 0.5, 0.5]
    """
    p, path = plan.domain.p, np.zeros((plan.iterations + 1, plan.domain.p))
    for k in range(plan.iterations):
        gram = moments(table, path[k], plan.cap) if k or begun is None else begun
        noisy = gram[0, 1:] + plan.first.vector(p, rng), gram[1:, 1:] + plan.second.matrix(p, rng)
        path[k + 1] = lifted(*noisy, plan.second.level(p))
    return path


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


def exact(domain: Domain, *, cap: float = 10.0, iterations: int = 5) -> Plan:
    """Return the plan without noise, and without privacy.

    Examples
    --------
    >>> exact(Ball([0.0], 1.0, (-1.0, 1.0))).ledger.epsilon
    inf
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
    first, second = (Noise("Gaussian", change / math.sqrt(2 * share)) for change in (size.first_l2, size.frobenius))
    return Plan(domain, cap, iterations, first, second, neighbours)


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
    checks.choice(law, ("Laplace", "Wishart difference"), "law")
    wishart = math.sqrt(size.nuclear / share / 2), domain.p + 1
    second = Noise(law, size.triangle / share) if law == "Laplace" else Noise(law, *wishart)
    return Plan(domain, cap, iterations, Noise("Laplace", size.first_l1 / share), second, neighbours)


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
    each = checks.positive(delta, "delta") / iterations
    if delta >= 1:
        raise InputError(f"delta is {delta:g}: give a number between zero and one")
    target = sheffet.halved(share, each) if neighbours == "replace" else (share, each)
    k = sheffet.least_freedom(*target) + domain.p - 1
    second = Noise("centred Wishart", math.sqrt(size.row), k, share)
    return Plan(domain, cap, iterations, Noise("Laplace", size.first_l1 / share), second, neighbours)


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
    checks.choice(first, ("laplace", "gaussian"), "first")
    deviation = accounting.classical_deviation(size.first_l2, share, delta)
    laplace, normal = Noise("Laplace", size.first_l1 / share), Noise("Gaussian", deviation, epsilon=share)
    checks.broken(as_published, "IR-WISHART", f"003's Wishart noise makes {IMPOSSIBLE}")
    second = Noise("Wishart", math.sqrt(size.row / share / 2), domain.p + 1)
    return Plan(domain, cap, iterations, laplace if first == "laplace" else normal, second)


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
    return checks.budget(total, name) / (2 * checks.count(iterations, "iterations"))
