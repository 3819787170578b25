"""What is stated of any mechanism that is a law of noise on a quadratic objective, by the kind of its noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit import privacy_loss
from dpreg.audit.residuals import ChiSquareDifference, laplace_loss, numbers, rotated, scales_of
from dpreg.audit.search import worst_pair
from dpreg.audit.statement import Declared, Sample, Setting, Step
from dpreg.checks import FloatArray
from dpreg.mechanisms import wishart
from dpreg.noise import RandomState
from dpreg.pipeline import objective, release, solve
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Law, Scales
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic
from dpreg.pipeline.release import Release


def _objective(X: FloatArray, y: FloatArray, setting: Setting, loss: Loss) -> Quadratic:
    if loss.labels:
        return objective.logistic(X, y, setting.domain, loss)
    return objective.linear(X, y, setting.domain)


@dataclass(frozen=True)
class Noise:
    """A kind of noise: what is stated of every law of this kind, whoever made it.

    Parameters
    ----------
    steps : function of (setting, law, loss, prices)
        Returns the steps of a release; the prices are those of the entries of its ledger.
    samples : function of (setting, law, objective, size, generator)
        See `Declared`; the objective is what the noise is added to.
    norms : tuple of str
    density : function of (objective, law), optional
        See `Declared`.
    """

    steps: Callable[[Setting, Any, Loss, list[float]], tuple[Step, ...]]
    samples: Callable[[Setting, Any, Quadratic, int, np.random.Generator], list[Sample]]
    norms: tuple[str, ...]
    density: Callable[[Quadratic, Any], FloatArray] | None = None


# Laplace noise on every coefficient.


def _laplace_steps(s: Setting, law: Scales, loss: Loss, prices: list[float]) -> tuple[Step, ...]:
    scale = scales_of(law)

    def before(X: FloatArray, y: FloatArray) -> FloatArray:
        return numbers(_objective(X, y, s, loss), law)

    def climb(rng: np.random.Generator) -> float:
        return worst_pair(law, s.domain, s.neighbours, loss=loss, restarts=60, steps=100, random_state=rng).loss

    return (Step("coefficients", before, lambda change: laplace_loss(change, scale), prices[0], climb),)


def _laplace_samples(s: Setting, law: Scales, f: Quadratic, size: int, rng: np.random.Generator) -> list[Sample]:
    exact, scale = numbers(f, law), scales_of(law)
    moved = numbers(release.perturb(f, law, rng, draws=(-(-size // len(exact)),)), law) - exact
    return [Sample("Laplace", moved[:, scale > 0] / scale[scale > 0], stats.laplace, 1.0)]


LAPLACE = Noise(_laplace_steps, _laplace_samples, ("weighted L1",), privacy_loss.quadratic_density)


# A Wishart difference on all moments; where t^2 is withheld, what is left costs no more.


def _nuclear(s: Setting, law: wishart.WishartDifference, loss: Loss, prices: list[float]) -> tuple[Step, ...]:
    m = law.p + 1

    def lost(change: FloatArray) -> FloatArray:
        weighted = np.outer(law.weights, law.weights) * change.reshape(*change.shape[:-1], m, m)
        return np.asarray(np.abs(np.linalg.eigvalsh(weighted)).sum(axis=-1) / (2 * float(law.spread)))

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return objective.moments(X, y, s.domain, labels=loss.labels).ravel()

    return (Step("moments", exact, lost, prices[0]),)


def _wishart_samples(
    s: Setting, law: wishart.WishartDifference, f: Quadratic, size: int, rng: np.random.Generator
) -> list[Sample]:
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


WISHART = Noise(_nuclear, _wishart_samples, ("weighted nuclear",))


def after_mean(rest: Noise) -> Noise:
    """Return the kind of a `MeanFirst` with this noise on the moments; without a public mean, of the latter alone.

    Examples
    --------
    >>> from dpreg.audit.statement import ball
    >>> from dpreg.mechanisms.mean_first import mean_first
    >>> setting = Setting(ball(1, True), 0.7, "replace")
    >>> law = mean_first(setting.domain, 0.7, 200)
    >>> [step.name for step in after_mean(WISHART).steps(setting, law, SQUARED, [0.4, 0.3])]
    ['sum of the response', 'moments']
    """

    def steps(s: Setting, law: Any, loss: Loss, prices: list[float]) -> tuple[Step, ...]:
        if not _two(s, law, loss):
            return rest.steps(s, law, loss, prices)
        scale = np.atleast_1d(law.scale_of_sum)

        def exact(X: FloatArray, y: FloatArray) -> FloatArray:
            return np.atleast_1d(_objective(X, y, s, loss).v[0] / loss.cross)

        first = Step("sum of the response", exact, lambda change: laplace_loss(change, scale), prices[0])
        return first, *rest.steps(s, law.rest, loss, prices[1:])

    def samples(s: Setting, law: Any, f: Quadratic, size: int, rng: np.random.Generator) -> list[Sample]:
        if not _two(s, law, f.loss):
            return rest.samples(s, law, f, size, rng)
        # The same draws of the rest tell what it left in the weighted mean.
        seed, cross = int(rng.integers(2**32)), f.loss.cross
        both, alone = (one.perturb(f, (size // 10,), np.random.default_rng(seed)).v[:, 0] for one in (law, law.rest))
        drawn = ((both - alone) / (cross * law.share) + (alone - f.v[0]) / cross)[:, None]
        first = Sample("Laplace, on the sum", drawn / law.scale_of_sum, stats.laplace, 1.0)
        return [first, *rest.samples(s, law.rest, f, size, rng)]

    return Noise(steps, samples, ("L1", *rest.norms))


def _two(s: Setting, law: Law, loss: Loss) -> bool:
    return len(law.spends(s.domain, s.neighbours, loss)) == 2


def quadratic(
    name: str,
    law: Callable[[Setting], Law],
    *,
    noise: Noise = LAPLACE,
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
    noise : Noise
        What kind of law it is.
    loss : Loss
    send : function of (X, y, setting, law, random_state), optional
        Releases, in place of `release.release`.
    share : float
        Of what is spent that one draw of the noise costs: half for repetition.

    Examples
    --------
    >>> from dpreg.pipeline import laws
    >>> mechanism = quadratic("functional", lambda s: laws.functional(s.domain, s.epsilon, neighbours=s.neighbours))
    >>> setting = next(mechanism.settings((2,)))
    >>> out, ledger = mechanism.release(*mechanism.records(2, 10, np.random.default_rng(1)), setting, 1)
    >>> out.shape, round(ledger.epsilon, 12)
    ((5,), 0.7)
    """

    def plain(X: FloatArray, y: FloatArray, s: Setting, law: Law, seed: RandomState) -> Release:
        return release.release(_objective(X, y, s, loss), law, seed, neighbours=s.neighbours)

    sent = send or plain

    def run(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
        out = sent(X, y, s, law(s), seed)
        return numbers(out.objective, out.law), out.ledger

    def exact(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
        return numbers(_objective(X, y, s, loss), law(s))

    def steps(s: Setting) -> tuple[Step, ...]:
        # Repetition needs an objective that is bounded; what one draw costs does not depend on it.
        ledger = sent(*_many(s.domain, loss, 1000 if send else 1), s, law(s), 1).ledger
        return noise.steps(s, law(s), loss, [share * spend.epsilon for spend in ledger])

    def study(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        return numbers(release.perturb(_objective(X, y, s, loss), law(s), seed), law(s))

    def fit(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        f = sent(X, y, s, law(s), seed).objective
        return solve.minimise(replace(f, M=f.symmetric))

    density: Any = noise.density
    fields: dict[str, Any] = {
        "norms": noise.norms,
        "labels": loss.labels,
        "exact": exact,
        "study": study,
        "fit": fit,
        "goal": lambda X, y, s: solve.minimise(_objective(X, y, s, loss)),
        "density": density and (lambda X, y, s: density(_objective(X, y, s, loss), law(s))),
        "samples": lambda s, size, rng: noise.samples(
            s, law(s), _objective(*_many(s.domain, loss, 9), s, loss), size, rng
        ),
    }
    return Declared(name, run, **({"steps": steps} | fields | more))


def _many(domain: Box | Ball, loss: Loss, n: int) -> tuple[FloatArray, FloatArray]:
    """Return records inside the domain, n of each of two kinds for every column."""
    rows = np.repeat(np.vstack([np.eye(domain.d), -np.eye(domain.d)]), n, axis=0)
    ends = np.array(domain.response)
    return rows, ends[np.arange(len(rows)) % 2] if loss.labels else np.zeros(len(rows))
