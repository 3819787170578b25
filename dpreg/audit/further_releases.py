"""What the estimators state, and releases with Gaussian noise, on a lattice, and in units of another size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from dpreg import accounting
from dpreg.audit.quadratic import WISHART, Noise, after_mean, quadratic
from dpreg.audit.quadratic_releases import difference_at, first, functional_at
from dpreg.audit.residuals import numbers, scales_of
from dpreg.audit.statement import Declared, Price, Sample, Setting, Step, gaussian_price, labelled, per_scale
from dpreg.checks import FloatArray
from dpreg.estimators import private
from dpreg.mechanisms import gaussian
from dpreg.mechanisms.mean_first import mean_first
from dpreg.noise import RandomState
from dpreg.pipeline import objective, release, repair, solve, surrogates
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Law
from dpreg.pipeline.ledger import Spend
from dpreg.pipeline.objective import Loss
from dpreg.pipeline.release import Release

DELTA = 1e-6
BITS = 4  # of the lattice: so few that its steps are seen


# Estimators: what they release, and what they show beside it.


def _fitted(make: Any, kind: str, **more: Any) -> dict[str, Any]:
    def fit(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> Any:
        options = {"mechanism": kind, "neighbours": s.neighbours, "random_state": seed, **more}
        return make(s.domain, s.epsilon, **options).fit(X, y)

    def send(X: FloatArray, y: FloatArray, s: Setting, law: Law, seed: RandomState) -> Release:
        out: Release = fit(X, y, s, seed).release_
        return out

    def answer(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, FloatArray]:
        model, labels = fit(X, y, s, seed), make is private.PrivateLogisticRegression
        out = model.release_
        plain = s.domain.unscale(solve.minimise(repair.lift(out.objective, out.law)))
        shown = np.r_[np.ravel(model.intercept_), np.ravel(model.coef_)]
        if labels:  # log-odds have no units
            shown = s.domain.half_width * shown + np.eye(len(shown))[0] * sum(s.domain.response) / 2
        return shown, np.r_[plain.intercept, plain.slopes]

    return {"send": send, "answer": answer}


# Gaussian noise, priced in zCDP or with a delta.


def _gaussian(s: Setting) -> gaussian.Gaussian:
    return gaussian.for_rho(s.domain, s.epsilon, neighbours=s.neighbours)


def _with_delta(s: Setting) -> gaussian.Gaussian:
    return gaussian.for_delta(s.domain, s.epsilon, DELTA, neighbours=s.neighbours)


def _mean_and_delta(s: Setting) -> Law:
    """Return the noise for 200 records: the number divides epsilon, and the price holds for any."""
    n = 200 if s.domain.intercept and s.neighbours == "replace" else None
    return mean_first(s.domain, s.epsilon, n, neighbours=s.neighbours, delta=DELTA)


def _delta_price(spend: Spend, s: Setting) -> Price:
    mu = spend.sensitivity / spend.scale
    return accounting.gdp_epsilon(mu, DELTA), DELTA, mu**2 / 2


def _mean_price(spend: Spend, s: Setting) -> Price:
    """Return the price by what is released: the word for its noise is a claim. The sum gets pure noise."""
    return (per_scale if spend.released == "sum of the response" else _delta_price)(spend, s)


def _moved_moments(s: Setting, law: gaussian.Gaussian, loss: Loss, prices: list[float]) -> tuple[Step, ...]:
    """Return the step of noise on all moments, all of which go out; its price is the root of twice rho."""
    weight = np.outer(law.weights, law.weights) / law.spread

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return objective.moments(X, y, s.domain).ravel()

    def lost(change: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(change * weight.ravel(), axis=-1))

    return (Step("moments", exact, lost, math.sqrt(2 * law.concentrated(s.domain, s.neighbours))),)


def _normal(
    s: Setting, law: gaussian.Gaussian, f: objective.Quadratic, size: int, rng: np.random.Generator
) -> list[Sample]:
    drawn = release.perturb(f, law, rng, draws=(2 * size // (f.p * (f.p + 1)),))
    w = law.weights[1:]
    rows, columns = np.triu_indices(f.p)
    kept = (columns > 0) | (not law.public_count)
    size_of = np.where(rows == columns, 1.0, math.sqrt(2)) * w[rows] * w[columns] / (law.spread * law.loss.square)
    square = ((drawn.M - f.M)[:, rows, columns] * size_of)[:, kept]
    cross = (drawn.v - f.v) * w * law.weights[0] * math.sqrt(2) / (law.spread * law.loss.cross)
    own = (drawn.c - f.c) * law.weights[0] ** 2 / (law.spread * law.loss.constant)
    return [Sample("normal", np.c_[square, cross, own], stats.norm, math.sqrt(2 / math.pi))]


NORMAL = Noise(_moved_moments, _normal, ("weighted Frobenius",))


# Discrete noise on a lattice, whose randomness takes no seed.


def _on_lattice(X: FloatArray, y: FloatArray, s: Setting) -> objective.Quadratic:
    return objective.linear(X, y, s.domain, bits=BITS)


def _discrete(X: FloatArray, y: FloatArray, s: Setting, law: Law, seed: RandomState) -> Release:
    return release.release(_on_lattice(X, y, s), law, neighbours=s.neighbours, sampler="opendp")


def _discrete_samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw steps of the lattice, one sample for every scale; fewer, since OpenDP takes its time."""
    f, law = _on_lattice(*_inside(s), s), functional_at()(s)
    draw, scale = law.discrete(f), scales_of(law)
    steps = np.array([numbers(draw(), law) for _ in range(size // (10 * len(scale)))]) - numbers(f, law)
    # The step of a coefficient is that of its moments, times what the objective makes of them.
    step = numbers(objective.Quadratic(np.ones((f.p, f.p)), 2 * np.ones(f.p), np.zeros(())), law) / 4.0**BITS
    samples = []
    for one in np.unique(np.c_[scale, step][scale > 0], axis=0):
        size_of, chosen = one[0] / one[1], (np.c_[scale, step] == one).all(axis=1)
        alpha = math.exp(-1 / size_of)
        mean = 2 * alpha / (1 - alpha**2)
        samples.append(
            Sample("discrete Laplace", (steps / step)[:, chosen].round(6), stats.dlaplace(1 / size_of), mean)
        )
    return samples


def _inside(s: Setting) -> tuple[FloatArray, FloatArray]:
    return np.vstack([np.eye(s.domain.d), -np.eye(s.domain.d)]), np.zeros(2 * s.domain.d)


# Units of another size: the records between -1 and 1 that the layers make, moved into bounds that are nothing like it.


def _elsewhere(d: int, intercept: bool) -> Box:
    lower, upper = (np.resize(ends, d) for ends in ((2.0, -1e6, 5e3, -1e-3, 0.0), (2.5, 3e6, 5e3 + 1, 2e-3, 1e9)))
    return Box(lower, upper, (-30.0, 10.0), intercept=intercept)


def _moved(declared: Declared) -> Declared:
    def there(given: Callable[..., Any]) -> Callable[..., Any]:
        def call(X: FloatArray, y: FloatArray, s: Setting, *rest: Any) -> Any:
            return given(*_placed(X, y, s.domain), s, *rest)

        return call

    def steps(s: Setting) -> tuple[Step, ...]:
        def exact(step: Step) -> Callable[[FloatArray, FloatArray], FloatArray]:
            return lambda X, y: step.exact(*_placed(X, y, s.domain))

        return tuple(replace(step, exact=exact(step)) for step in declared.steps(s))

    fields: dict[str, Any] = {
        name: there(getattr(declared, name)) for name in ("release", "exact", "study", "fit", "goal")
    }
    more: dict[str, Any] = {"domain": _elsewhere, "density": None, "steps": steps}
    return replace(declared, name=f"{declared.name}, other units", **fields, **more)


def _placed(X: FloatArray, y: FloatArray, domain: Box | Ball) -> tuple[FloatArray, FloatArray]:
    assert isinstance(domain, Box)
    low, high = np.array(domain.lower), np.array(domain.upper)
    bottom, top = domain.response
    return low + (X + 1) / 2 * (high - low), bottom + (y + 1) / 2 * (top - bottom)


CHEBYSHEV = surrogates.chebyshev(4.0)
BY_NUMBER: dict[str, Any] = {"exact": None, "study": None}  # its noise goes by the number of records
MEAN_FIRST, MEAN_NORMAL = after_mean(WISHART), after_mean(NORMAL)
ALL = (
    quadratic(
        "PrivateLinearRegression", difference_at(), noise=WISHART, **_fitted(private.PrivateLinearRegression, "wishart")
    ),
    quadratic(
        "PrivateLinearRegression, mean first",
        first,
        noise=MEAN_FIRST,
        steps=quadratic("", first, noise=MEAN_FIRST).steps,
        **BY_NUMBER,
        **_fitted(private.PrivateLinearRegression, "mean first"),
    ),
    quadratic(
        "PrivateLinearRegression, Laplace", functional_at(), **_fitted(private.PrivateLinearRegression, "laplace")
    ),
    quadratic(
        "PrivateLogisticRegression",
        difference_at(CHEBYSHEV),
        noise=WISHART,
        loss=CHEBYSHEV,
        labels=True,
        domain=labelled,
        **_fitted(private.PrivateLogisticRegression, "wishart"),
    ),
    quadratic("Gaussian", _gaussian, noise=NORMAL, spends="rho", price=gaussian_price),
    quadratic("Gaussian, delta", _with_delta, noise=NORMAL, price=_delta_price),
    quadratic(
        "PrivateLinearRegression, Gaussian",
        _mean_and_delta,
        noise=MEAN_NORMAL,
        steps=quadratic("", _mean_and_delta, noise=MEAN_NORMAL).steps,
        price=_mean_price,
        **BY_NUMBER,
        **_fitted(private.PrivateLinearRegression, "gaussian", delta=DELTA),
    ),
    quadratic(
        "functional, lattice",
        functional_at(),
        send=_discrete,
        samples=_discrete_samples,
        goal=lambda X, y, s: solve.minimise(_on_lattice(X, y, s)),
        seeded=False,
        study=None,
        exact=None,
        density=None,
    ),
    _moved(quadratic("functional", functional_at())),
    _moved(quadratic("Wishart difference", difference_at(), noise=WISHART)),
)
