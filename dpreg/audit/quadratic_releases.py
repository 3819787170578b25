"""What the mechanisms state that release a quadratic objective: a law of noise each, and for some a way to release."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit.quadratic import WISHART, after_mean, quadratic
from dpreg.audit.residuals import numbers, scales_of
from dpreg.audit.statement import Price, Sample, Setting, ball, labelled, per_scale
from dpreg.checks import FloatArray
from dpreg.mechanisms import best_scales, budget_split, fm_recipes, wishart
from dpreg.mechanisms.mean_first import mean_first
from dpreg.noise import RandomState
from dpreg.pipeline import laws, objective, repair, surrogates
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Law, Scales
from dpreg.pipeline.ledger import Spend
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss
from dpreg.pipeline.release import Release


def _twice(spend: Spend, s: Setting) -> Price:
    epsilon = 2 * per_scale(spend, s)[0]
    return epsilon, 0.0, epsilon * math.tanh(epsilon / 2)


def _half(s: Setting) -> Scales:
    return laws.functional(s.domain, s.epsilon / 2, neighbours=s.neighbours)


def _repeated(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw fewer, one run at a time: its noise is that of every release, here on an objective that is bounded."""
    rows = np.repeat(np.vstack([np.eye(s.domain.d), -np.eye(s.domain.d)]), 2000, axis=0)
    law, f = _half(s), objective.linear(rows, np.zeros(len(rows)), s.domain)
    scale, exact = scales_of(law), numbers(f, law)
    runs = [repair.retry(f, law, rng, neighbours=s.neighbours).objective for _ in range(size // 100)]
    drawn = np.array([numbers(run, law) for run in runs]) - exact
    return [Sample("Laplace", drawn[:, scale > 0] / scale[scale > 0], stats.laplace, 1.0)]


def _retry(X: FloatArray, y: FloatArray, s: Setting, law: Law, seed: RandomState) -> Release:
    return repair.retry(objective.linear(X, y, s.domain), law, seed, neighbours=s.neighbours)


def functional_at(**options: Any) -> Callable[[Setting], Scales]:
    """Return a function that makes the functional mechanism's noise for a setting; `options` are those of the law.

    Examples
    --------
    >>> functional_at()(Setting(ball(1, True), 0.7, "replace")).name
    'Laplace'
    """
    return lambda s: laws.functional(s.domain, s.epsilon, neighbours=s.neighbours, **options)


def difference_at(loss: Loss = SQUARED) -> Callable[[Setting], Law]:
    """Return a function that makes the Wishart difference for a setting.

    Examples
    --------
    >>> difference_at()(Setting(ball(1, True), 0.7, "replace")).name
    'Wishart difference'
    """
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
MORE: dict[str, Any] = {"labels": True, "domain": labelled}
ALL = (
    quadratic("functional", functional_at()),
    *(quadratic(f"functional, {word}", functional_at(convention=word)) for word in ("monomial", "copied")),
    quadratic("functional, ordered", functional_at(convention="ordered"), density=None),
    quadratic("functional, constant", functional_at(constant=True)),
    quadratic("functional, printed", functional_at(sensitivity="printed"), spends="at most"),
    quadratic("functional, ball", functional_at(), domain=ball),
    quadratic("functional, corner", functional_at(), domain=_corner, lossless=False),
    quadratic("functional, Taylor", functional_at(loss=TAYLOR), loss=TAYLOR, **MORE),
    quadratic("functional, Chebyshev", functional_at(loss=CHEBYSHEV), loss=CHEBYSHEV, **MORE),
    quadratic("best scales", _best),
    quadratic("DPBA", lambda s: budget_split.dpba(s.domain, s.epsilon), spends="at most"),
    quadratic("DPC", _dpc),
    quadratic("recipe of the paper", **_recipe(fm_recipes.PAPER)),
    quadratic("recipe of the code", **_recipe(fm_recipes.CODE)),
    quadratic("Wishart difference", difference_at(), noise=WISHART),
    quadratic("mean first", first, noise=after_mean(WISHART)),
    quadratic("mean first, ball", first, noise=after_mean(WISHART), domain=ball),
    quadratic("Wishart difference, ball", difference_at(), noise=WISHART, domain=ball),
    quadratic("Wishart difference, labels", difference_at(TAYLOR), noise=WISHART, loss=TAYLOR, **MORE),
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
