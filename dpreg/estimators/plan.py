"""How well a private linear regression will predict, from public numbers alone: nothing is read, nothing is spent.

What the noise adds to the error depends on the domain, on n, on epsilon, and on the moments of the records. The moments
are private, so stand-ins take their place: `stand_in`, or those of a public source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.estimators.words import Mechanism, PureWord, law_for
from dpreg.mechanisms.wishart import WishartDifference
from dpreg.noise import RandomState
from dpreg.pipeline import repair, solve
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.laws import Scales
from dpreg.pipeline.objective import FLAT, SQUARED, Quadratic, zero
from dpreg.pipeline.release import perturb

NEAR = 0.1
"""Noise over moments (`Forecast.noise`) up to which the first order is within 5 % of the simulation, by test."""

TITLES: dict[PureWord, str] = {"wishart": WishartDifference.name, "laplace": Scales.name}
PURE: dict[str, Any] = {TITLES.get(word, word): word for word in get_args(PureWord)}  # by their names in a table

REACH = 1e-6, 1e6  # between which an epsilon is looked for
WIDEST = 1e4  # beyond, rounding makes the moments singular


@checked
@dataclass(frozen=True)
class Forecast:
    """What to expect of a private fit on unseen records, in shares of the squared error of the best constant.

    So an error of one is as bad as predicting the mean, and one minus the error is R^2.

    Parameters
    ----------
    without : float
        Error of the fit without privacy.
    excess : float
        What the noise adds to it: the mean over simulated draws of noise, repair and all.
    standard_error : float
        Of `excess`, over the draws.
    first_order : float
        The excess to first order in the noise, before any repair: the chapter Before you spend derives it.
    noise : float
        Root mean square eigenvalue of the noise over the smallest eigenvalue of the moments, in the law's own columns.
    constant : float
        Squared error of the best constant, in squared half-ranges of the response.

    Examples
    --------
    >>> Forecast(0.5, 0.04, 0.001, 0.05, 0.3, 0.25).shift
    0.1
    """

    without: float
    excess: float
    standard_error: float
    first_order: float
    noise: float
    constant: float

    @property
    def private(self) -> float:
        """Error of the private fit."""
        return self.without + self.excess

    @property
    def shift(self) -> float:
        """How far the noise moves a prediction, root mean square, in half-ranges of the response."""
        return math.sqrt(self.excess * self.constant)

    @property
    def near(self) -> bool:
        """Whether the noise is so small beside the moments that the first order can be used (`NEAR`)."""
        return self.noise <= NEAR


@checked
def stand_in(domain: Domain, explained: float = 0.5, mean: float = 0.0, filled: float = 1.0) -> FloatArray:
    """Return the moments E (t, 1, Z)(t, 1, Z)' of records that nobody has, in scaled units of the centred domain.

    Predictors Z are uniform on the domain, or on the middle of it, so those of a box are independent. The response is
    m + (1 - |m|) (a s + (1 - a) u): s is the mean of the predictors over `filled` (of a ball, their component along
    the diagonal over it), u is uniform on [-1, 1], and a is such that s explains the share `explained` of the
    variance. So all are in the domain.

    Parameters
    ----------
    domain : Box or Ball
    explained : float, between zero and one
        R^2 without privacy.
    mean : float, between minus one and one
        Mean response m, in half-ranges from the middle of its bounds.
    filled : float, above zero and at most one
        Which part of the width of their bounds the predictors fill. People mostly stand in the middle, and their
        predictors go together, so a forecast with all of it is a best case.

    Returns
    -------
    array of shape (d + 2, d + 2)

    Examples
    --------
    >>> stand_in(Box([0.0], [1.0], (0.0, 10.0)), 0.5).round(3).tolist()
    [[0.167, 0.0, 0.167], [0.0, 1.0, 0.0], [0.167, 0.0, 0.333]]
    """
    checks.instance(domain, (Box, Ball), "domain")
    share, m = checks.chance(explained, "explained"), checks.finite(mean, "mean")
    part = checks.chance(filled, "filled", one=True)
    if not abs(m) < 1:
        raise InputError(f"mean is {m:g}: give a number between -1 and 1, in half-ranges from the middle")
    d = domain.d
    second = 1 / 3 if isinstance(domain, Box) else 1 / (d + 2)
    along = np.full(d, 1 / d if isinstance(domain, Box) else 1 / math.sqrt(d))
    odds = math.sqrt(share / (1 - share) / (3 * second * float(along @ along)))  # a / (1 - a)
    a, room = odds / (1 + odds), 1 - abs(m)
    moments = np.diag([0.0, 1.0, *np.full(d, part**2 * second)])
    moments[0, 1] = moments[1, 0] = m
    moments[0, 2:] = moments[2:, 0] = room * a * part * second * along
    moments[0, 0] = m**2 + room**2 * (a**2 * second * float(along @ along) + (1 - a) ** 2 / 3)
    return moments


@checked
def expected_error(
    domain: Domain,
    n: int,
    epsilon: float,
    moments: FloatArray | None = None,
    *,
    mechanism: Mechanism = "mean first",
    neighbours: Neighbours = "replace",
    repeats: int = 400,
    random_state: RandomState = 0,
    delta: float = 0.0,
) -> Forecast:
    """Return what to expect of `PrivateLinearRegression` on n records with these moments: nothing is read or spent.

    Parameters
    ----------
    domain : Box or Ball
    n : int
        Number of records. Under add_remove a guess, for it is a secret.
    epsilon : float
    moments : array of shape (d + 2, d + 2), optional
        Of (t, 1, Z) in scaled units of the centred domain, for one record: by default those of `stand_in`. For other
        records that are public, `objective.moments(X, y, box.centred) / len(y)`. Those of the records you mean to fit
        are private, and no forecast from them is.
    mechanism : {"mean first", "wishart", "laplace", "gaussian"} or function
        As in `PrivateLinearRegression`, and so is `delta`.
    neighbours : {"replace", "add_remove"}
    repeats : int
        Draws of the noise.
    random_state : None, int, SeedSequence or Generator
        A seed does no harm here: no record is protected by this noise.
    delta : float

    Examples
    --------
    >>> box = Box([18.0, 0.0], [90.0, 80.0], response=(0.0, 200_000.0), intercept=True)
    >>> ahead = expected_error(box, 5000, 1.0)
    >>> round(ahead.without, 9), ahead.excess < 0.1
    (0.5, True)
    """
    one = _checked(stand_in(domain) if moments is None else moments, domain)
    count = checks.count(n, "n", 2)
    law = law_for(mechanism, domain, epsilon, count, neighbours=neighbours, loss=SQUARED, delta=delta)
    A = _basis(domain)
    G = A @ one @ A.T
    M, v = G[1:, 1:], -2 * G[0, 1:]
    w = law.columns
    least = float(np.linalg.eigvalsh(M * np.outer(w, w))[0])
    theta = np.linalg.solve(M, -v / 2)
    constant = float(one[0, 0] - one[0, 1] ** 2)
    state = noise.generator(random_state)
    added = perturb(zero(len(v)), law, state, draws=(checks.count(repeats, "repeats", 2),))
    noisy = Quadratic(count * M + added.M, count * v + added.v, added.c)
    moved = solve.minimise(repair.lift(noisy, law)) - theta
    excess = ((moved @ M) * moved).sum(axis=1) / constant
    half = added.M @ theta + added.v / 2  # what the noise adds to half the gradient at theta
    first = (np.linalg.solve(M, half.T).T * half).sum(axis=1) / count**2 / constant
    return Forecast(
        float(G[0, 0] - theta @ M @ theta) / constant,
        float(excess.mean()),
        float(excess.std(ddof=1) / math.sqrt(len(excess))),
        float(first.mean()),
        float(law.level) / (count * least),
        constant,
    )


@checked
def epsilon_for(excess: float, domain: Domain, n: int, moments: FloatArray | None = None, **options: Any) -> float:
    """Return the smallest epsilon whose expected excess is at most this, to one per cent.

    By bisection, always over the same interval and with the same noise but for its size. So a smaller excess never asks
    for a smaller epsilon: at the first step where two searches part, the one with the smaller excess goes up.

    Parameters
    ----------
    excess : float
        In shares of the squared error of the best constant: how much of R^2 you are ready to lose.
    domain, n, moments
        See `expected_error`, which takes the other options too.

    Raises
    ------
    InputError
        If no epsilon up to a million is enough.

    Examples
    --------
    >>> box = Box([18.0, 0.0], [90.0, 80.0], response=(0.0, 200_000.0), intercept=True)
    >>> 0.1 < epsilon_for(0.05, box, 5000) < epsilon_for(0.05, box, 1000) < 10
    True
    """
    goal = checks.positive(excess, "excess")
    options["random_state"] = noise.repeatable(options.get("random_state", 0))
    low, high = map(math.log, REACH)
    if expected_error(domain, n, REACH[1], moments, **options).excess > goal:
        raise InputError(f"excess is {goal:g}, and no epsilon up to {REACH[1]:g} reaches it: give a larger one")
    while high - low > 0.01:
        middle = (low + high) / 2
        enough = expected_error(domain, n, math.exp(middle), moments, **options).excess <= goal
        low, high = (low, middle) if enough else (middle, high)
    return math.exp(high)


@checked
def altered(domain: Domain, *, predictors: float = 1.0, response: float = 1.0, intercept: bool | None = None) -> Domain:
    """Return the domain with bounds so many times as wide around the same middles, with or without an intercept.

    Parameters
    ----------
    domain : Box or Ball
    predictors, response : float
        How many times as wide.
    intercept : bool, optional
        As in the domain, if missing.

    Examples
    --------
    >>> altered(Box([0.0], [2.0], (0.0, 1.0)), predictors=10.0).lower
    (-9.0,)
    """
    checks.instance(domain, (Box, Ball), "domain")
    k, middle = checks.positive(predictors, "predictors"), sum(domain.response) / 2
    half = domain.half_width * checks.positive(response, "response")
    own: dict[str, Any] = {"response": (middle - half, middle + half), "leaky": domain.leaky}
    own["intercept"] = domain.intercept if intercept is None else intercept
    if isinstance(domain, Ball):
        return Ball(domain.centre, k * domain.radius, **own)
    assert isinstance(domain, Box)
    low, high = np.array(domain.lower), np.array(domain.upper)
    centre, reach = (low + high) / 2, k * (high - low) / 2
    return Box(centre - reach, centre + reach, corner=domain.corner, **own)


@checked
def compare(
    domain: Domain,
    n: int,
    epsilon: float,
    moments: FloatArray | None = None,
    *,
    mechanisms: dict[str, Any] | None = None,
    times: float = 10.0,
    **options: Any,
) -> dict[str, Forecast]:
    """Return forecasts for the same records and epsilon: as planned, and with one choice made otherwise.

    The others: the intercept, bounds so many times too wide, and each mechanism.

    Parameters
    ----------
    domain, n, epsilon, moments
        See `expected_error`, which takes the other options too.
    mechanisms : dict from name to mechanism, optional
        By default those that the estimator knows by name, but for the planned one.
    times : float
        How much too wide, at least one.

    Examples
    --------
    >>> box = Box([18.0, 0.0], [90.0, 80.0], response=(0.0, 200_000.0), intercept=True)
    >>> list(compare(box, 5000, 1.0, repeats=10))[:2]
    ['as planned', 'without intercept']
    """
    one = _checked(stand_in(domain) if moments is None else moments, domain)
    k = checks.finite(times, "times")
    if not 1 <= k <= WIDEST:
        raise InputError(f"times is {k:g}: give a number from 1 to {WIDEST:g}, for narrower bounds clip records")
    wide, tall = np.ones(len(one)), np.ones(len(one))
    wide[2:], tall[0] = 1 / k, 1 / k  # the same records in the wider bounds' units
    flipped = "without intercept" if domain.intercept else "with intercept"
    taller = f"response's bounds {k:g} times as wide"
    plans: dict[str, tuple[Domain, FloatArray]] = {
        "as planned": (domain, one),
        flipped: (altered(domain, intercept=not domain.intercept), one),
        f"predictors' bounds {k:g} times as wide": (altered(domain, predictors=k), one * np.outer(wide, wide)),
        taller: (altered(domain, response=k), one * np.outer(tall, tall)),
    }
    found = {name: expected_error(place, n, epsilon, G, **options) for name, (place, G) in plans.items()}
    found[taller] = replace(found[taller], constant=k**2 * found[taller].constant)  # in half-ranges of the plan
    used = options.get("mechanism", "mean first")
    others = {name: other for name, other in PURE.items() if other != used} if mechanisms is None else mechanisms
    for name, mechanism in others.items():
        if not callable(mechanism):
            checks.choice(mechanism, tuple(PURE.values()), f"mechanisms[{name!r}]")
        found[name] = expected_error(domain, n, epsilon, one, **(options | {"mechanism": mechanism, "delta": 0.0}))
    return found


def _basis(domain: Domain) -> FloatArray:
    """Return what makes the scaled record (t, x) of (t, 1, Z)."""
    if isinstance(domain, Box):
        return domain.basis
    whole = np.eye(domain.d + 2)
    return whole if domain.intercept else np.delete(whole, 1, axis=0)


def _checked(moments: FloatArray, domain: Domain) -> FloatArray:
    """Return moments that records of this domain can have."""
    size = domain.d + 2
    if moments.shape != (size, size):
        raise InputError(
            f"moments have shape {moments.shape}: give ({size}, {size}), of the response, 1 and each column"
        )
    if not np.isfinite(moments).all() or not np.allclose(moments, moments.T, rtol=1e-9, atol=1e-12):
        raise InputError("moments are not finite, or not symmetric: give those of (t, 1, Z)")
    if abs(moments[1, 1] - 1) > 1e-9 or np.diagonal(moments).max() > 1 + 1e-9:
        raise InputError("moments are not those of one scaled record: divide sums by n, and scale by the domain")
    values = np.linalg.eigvalsh(moments[1:, 1:])
    if values[0] <= FLAT * values[-1] or np.linalg.eigvalsh(moments)[0] < -1e-9:
        raise InputError("moments are singular or negative, so no predictor's slope is known: leave out a column")
    if moments[0, 0] - moments[0, 1] ** 2 <= FLAT:
        raise InputError("moments say that the response does not vary, and a constant predicts it: give others")
    return moments
