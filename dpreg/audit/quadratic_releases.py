"""What the mechanisms state that release a quadratic objective: a law of noise each, and for some a way to release."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit import privacy_loss
from dpreg.audit.residuals import ChiSquareDifference, laplace_loss, numbers, rotated, scales_of
from dpreg.audit.search import worst_pair
from dpreg.audit.statement import Declared, Price, Sample, Setting, Step, ball, labelled, per_scale
from dpreg.checks import FloatArray, InputError
from dpreg.mechanisms import best_scales, budget_split, fm_recipes, wishart
from dpreg.mechanisms.mean_first import MeanFirst, mean_first
from dpreg.noise import RandomState
from dpreg.pipeline import laws, objective, release, repair, solve, surrogates
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Law, Scales
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, Quadratic
from dpreg.pipeline.release import Release


def _objective(X: FloatArray, y: FloatArray, setting: Setting, loss: Loss) -> Quadratic:
    if loss.labels:
        return objective.logistic(X, y, setting.domain, loss)
    return objective.linear(X, y, setting.domain)


def _nuclear(setting: Setting, law: wishart.WishartDifference, price: float) -> Step:
    """Return the step of noise on all moments; where t^2 is withheld, what is left costs no more."""
    m, labels = law.p + 1, law.loss.labels

    def loss(change: FloatArray) -> FloatArray:
        weighted = np.outer(law.weights, law.weights) * change.reshape(*change.shape[:-1], m, m)
        return np.asarray(np.abs(np.linalg.eigvalsh(weighted)).sum(axis=-1) / (2 * float(law.spread)))

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return objective.moments(X, y, setting.domain, labels=labels).ravel()

    return Step("moments", exact, loss, price)


def _law_samples(law: Law, f: Quadratic, size: int, rng: np.random.Generator) -> list[Sample]:
    exact = numbers(f, law)
    if isinstance(law, MeanFirst):
        return [first_draw(law, f, size // 10, rng), *_law_samples(law.rest, f, size, rng)]
    if isinstance(law, Scales):
        scale = scales_of(law)
        moved = numbers(release.perturb(f, law, rng, draws=(-(-size // len(exact)),)), law) - exact
        return [Sample("Laplace", moved[:, scale > 0] / scale[scale > 0], stats.laplace, 1.0)]
    if not isinstance(law, wishart.WishartDifference):
        raise InputError(f"law is of type {type(law).__name__}: its noise law is not known here")
    drawn = release.perturb(f, law, rng, draws=(size // 2,))
    w, first = law.weights[1:], int(law.public_count)
    matrix = (drawn.M - f.M) / law.loss.square * np.outer(w, w) / law.spread
    along = (drawn.v - f.v) / law.loss.cross * w * law.weights[0] / law.spread
    one, two = ChiSquareDifference(law.p + 2), ChiSquareDifference(2 * (law.p + 2))
    direction = rng.standard_normal(along.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    cross = 2 * (along * direction).sum(axis=1, keepdims=True)  # sums of products of normal variables
    samples = [Sample("Wishart, beside the response", cross, two, two.absolute)]
    if not law.loss.labels:
        own = (drawn.c - f.c)[:, None] / law.loss.constant * law.weights[0] ** 2 / law.spread
        samples.append(Sample("Wishart, of the response", own, one, one.absolute))
    if first < law.p:
        samples.append(Sample("Wishart", rotated(matrix[:, first:, first:], rng), one, one.absolute))
    return samples


def first_draw(law: MeanFirst, f: Quadratic, draws: int, rng: np.random.Generator) -> Sample:
    """Return the Laplace noise on the sum: the same draws of the rest tell what it left in the weighted mean.

    Parameters
    ----------
    law : MeanFirst
    f : Quadratic
        To which it is added.
    draws : int
    rng : Generator

    Examples
    --------
    >>> law = mean_first(ball(1, True), 0.7, 200)
    >>> f = objective.linear([[0.5], [0.1]], [0.2, 0.3], ball(1, True))
    >>> first_draw(law, f, 5, np.random.default_rng(1)).values.shape
    (5, 1)
    """
    seed, cross = int(rng.integers(2**32)), law.rest.loss.cross
    both, rest = (one.perturb(f, (draws,), np.random.default_rng(seed)).v[:, 0] for one in (law, law.rest))
    first = (both - rest) / (cross * law.share) + (rest - f.v[0]) / cross
    return Sample("Laplace, on the sum", first[:, None] / law.scale_of_sum, stats.laplace, 1.0)


def _steps(s: Setting, noise: Law, loss: Loss, prices: list[float]) -> tuple[Step, ...]:
    """Return the steps of a law, one for each price."""
    if not isinstance(noise, MeanFirst):
        return (_step(s, noise, loss, prices[0]),)
    assert isinstance(noise.rest, wishart.WishartDifference)
    return first_step(s, noise, prices[0]), _nuclear(s, noise.rest, prices[1])


def first_step(s: Setting, noise: MeanFirst, price: float) -> Step:
    """Return the step of the Laplace noise on the sum of the response.

    Examples
    --------
    >>> setting = Setting(ball(1, True), 0.7, "replace")
    >>> first_step(setting, mean_first(setting.domain, 0.7, 200), 0.4).name
    'sum of the response'
    """

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return np.atleast_1d(_objective(X, y, s, noise.rest.loss).v[0] / noise.rest.loss.cross)

    scale = np.atleast_1d(noise.scale_of_sum)
    return Step("sum of the response", exact, lambda change: laplace_loss(change, scale), price)


def _step(s: Setting, noise: Law, loss: Loss, price: float) -> Step:
    """Return the one step of a law whose numbers all get noise together."""
    if isinstance(noise, wishart.WishartDifference):
        return _nuclear(s, noise, price)
    assert isinstance(noise, Scales)
    scale = scales_of(noise)

    def before(X: FloatArray, y: FloatArray) -> FloatArray:
        return numbers(_objective(X, y, s, loss), noise)

    def climb(rng: np.random.Generator) -> float:
        return worst_pair(noise, s.domain, s.neighbours, loss=loss, restarts=60, steps=100, random_state=rng).loss

    return Step("coefficients", before, lambda change: laplace_loss(change, scale), price, climb)


def quadratic(
    name: str,
    law: Callable[[Setting], Law],
    *,
    loss: Loss = SQUARED,
    send: Callable[[FloatArray, FloatArray, Setting, Law, RandomState], Release] | None = None,
    share: float = 1.0,
    **more: Any,
) -> Declared:
    """Return what a mechanism states that is a law of noise; `more` are other fields of Declared.

    Parameters
    ----------
    name : str
    law : function of a setting
    loss : Loss
    send : function of (X, y, setting, law, random_state), optional
        Releases, in place of `release.release`.
    share : float
        Of what is spent that one draw of the noise costs: half for repetition.

    Examples
    --------
    >>> mechanism = quadratic("functional", lambda s: laws.functional(s.domain, s.epsilon, neighbours=s.neighbours))
    >>> setting = next(mechanism.settings((2,)))
    >>> out, ledger = mechanism.release(*mechanism.records(2, 10, np.random.default_rng(1)), setting, 1)
    >>> out.shape, round(ledger.epsilon, 12)
    ((5,), 0.7)
    """

    def plain(X: FloatArray, y: FloatArray, s: Setting, noise: Law, seed: RandomState) -> Release:
        return release.release(_objective(X, y, s, loss), noise, seed, neighbours=s.neighbours)

    sent = send or plain

    def run(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
        out = sent(X, y, s, law(s), seed)
        return numbers(out.objective, out.law), out.ledger

    def exact(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
        return numbers(_objective(X, y, s, loss), law(s))

    def steps(s: Setting) -> tuple[Step, ...]:
        # Repetition needs an objective that is bounded; what one draw costs does not depend on it.
        ledger = sent(*_many(s.domain, loss, 1000 if send else 1), s, law(s), 1).ledger
        return _steps(s, law(s), loss, [share * spend.epsilon for spend in ledger])

    def study(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        return numbers(release.perturb(_objective(X, y, s, loss), law(s), seed), law(s))

    def fit(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        f = sent(X, y, s, law(s), seed).objective
        return solve.minimise(replace(f, M=f.symmetric))

    fields: dict[str, Any] = {
        "norms": ("L1", "weighted L1", "weighted nuclear"),
        "labels": loss.labels,
        "exact": exact,
        "study": study,
        "fit": fit,
        "goal": lambda X, y, s: solve.minimise(_objective(X, y, s, loss)),
        "density": lambda X, y, s: privacy_loss.quadratic_density(_objective(X, y, s, loss), law(s)),
        "samples": lambda s, size, rng: _law_samples(law(s), _objective(*_many(s.domain, loss, 9), s, loss), size, rng),
    }
    return Declared(name, run, **({"steps": steps} | fields | more))


def _many(domain: Box | Ball, loss: Loss, n: int) -> tuple[FloatArray, FloatArray]:
    """Return records inside the domain, n of each of two kinds for every column."""
    rows = np.repeat(np.vstack([np.eye(domain.d), -np.eye(domain.d)]), n, axis=0)
    ends = np.array(domain.response)
    return rows, ends[np.arange(len(rows)) % 2] if loss.labels else np.zeros(len(rows))


def _twice(spend: Spend, s: Setting) -> Price:
    epsilon = 2 * per_scale(spend, s)[0]
    return epsilon, 0.0, epsilon * math.tanh(epsilon / 2)


def _half(s: Setting) -> Scales:
    return laws.functional(s.domain, s.epsilon / 2, neighbours=s.neighbours)


def _repeated(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw fewer, one run at a time: its noise is that of every release, here on an objective that is bounded."""
    law, f = _half(s), objective.linear(*_many(s.domain, SQUARED, 2000), s.domain)
    scale, exact = scales_of(law), numbers(f, law)
    runs = [repair.retry(f, law, rng, neighbours=s.neighbours).objective for _ in range(size // 100)]
    drawn = np.array([numbers(run, law) for run in runs]) - exact
    return [Sample("Laplace", drawn[:, scale > 0] / scale[scale > 0], stats.laplace, 1.0)]


def _retry(X: FloatArray, y: FloatArray, s: Setting, law: Law, seed: RandomState) -> Release:
    return repair.retry(objective.linear(X, y, s.domain), law, seed, neighbours=s.neighbours)


def _functional(**options: Any) -> Callable[[Setting], Law]:
    return lambda s: laws.functional(s.domain, s.epsilon, neighbours=s.neighbours, **options)


def _difference(loss: Loss = SQUARED) -> Callable[[Setting], Law]:
    return lambda s: wishart.difference(s.domain, s.epsilon, neighbours=s.neighbours, loss=loss)


def first(s: Setting) -> Law:
    """Return the noise of `mean_first` for 200 records: the number divides epsilon, and the price holds for any.

    Examples
    --------
    >>> first(Setting(ball(1, True), 0.7, "replace")).name
    'Laplace, then all moments'
    """
    n = 200 if s.neighbours == "replace" else None
    return mean_first(s.domain, s.epsilon, n, neighbours=s.neighbours)


def _dpc(s: Setting) -> Law:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the exact share needs no opt-in
        return budget_split.dpc(s.domain, s.epsilon, [0], ratio=0.1, share="exact", neighbours=s.neighbours)


@cache
def _best(s: Setting) -> Law:
    return best_scales.optimal(s.domain, s.epsilon, neighbours=s.neighbours)


def _corner(d: int, intercept: bool) -> Box:
    return Box(-np.ones(d), np.ones(d), (-1.0, 1.0), intercept=intercept, corner=True)


def _recipe(recipe: fm_recipes.Recipe) -> dict[str, Any]:
    return {
        "law": lambda s: recipe.scales(s.domain, s.epsilon),
        "domain": lambda d, intercept: recipe.domain(-np.ones(d), np.ones(d), (-1.0, 1.0)),
        "spends": "as certified",
        "lossless": recipe.intercept,
    }


CHEBYSHEV = surrogates.chebyshev(4.0)
BARE: dict[str, Any] = {"density": None}
MORE: dict[str, Any] = {"labels": True, "domain": labelled}
ALL = (
    quadratic("functional", _functional()),
    *(quadratic(f"functional, {word}", _functional(convention=word)) for word in ("monomial", "copied")),
    quadratic("functional, ordered", _functional(convention="ordered"), **BARE),
    quadratic("functional, constant", _functional(constant=True)),
    quadratic("functional, printed", _functional(sensitivity="printed"), spends="at most"),
    quadratic("functional, ball", _functional(), domain=ball),
    quadratic("functional, corner", _functional(), domain=_corner, lossless=False),
    quadratic("functional, Taylor", _functional(loss=TAYLOR), loss=TAYLOR, **MORE),
    quadratic("functional, Chebyshev", _functional(loss=CHEBYSHEV), loss=CHEBYSHEV, **MORE),
    quadratic("best scales", _best),
    quadratic("DPBA", lambda s: budget_split.dpba(s.domain, s.epsilon), spends="at most"),
    quadratic("DPC", _dpc),
    quadratic("recipe of the paper", **_recipe(fm_recipes.PAPER)),
    quadratic("recipe of the code", **_recipe(fm_recipes.CODE)),
    quadratic("Wishart difference", _difference(), **BARE),
    quadratic("mean first", first, **BARE),
    quadratic("mean first, ball", first, domain=ball, **BARE),
    quadratic("Wishart difference, ball", _difference(), domain=ball, **BARE),
    quadratic("Wishart difference, labels", _difference(TAYLOR), loss=TAYLOR, **MORE, **BARE),
    quadratic(
        "repetition",
        _half,
        send=_retry,
        share=0.5,
        price=_twice,
        samples=_repeated,
        any_records=False,  # it is for objectives that are bounded
        scarce=True,
        study=None,
        density=None,
        exact=None,
    ),
)
