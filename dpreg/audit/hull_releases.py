"""What the K-norm mechanism of the hull states, for the few predictors that it can be drawn for."""

from __future__ import annotations

import numpy as np
from scipy import stats

from dpreg.audit.quadratic import Noise, quadratic
from dpreg.audit.statement import Sample, Setting, Step, ball
from dpreg.checks import FloatArray
from dpreg.mechanisms import k_norm
from dpreg.pipeline import objective, release
from dpreg.pipeline.objective import Loss, Quadratic

NEAR = 1e-6  # of the surface of K, where moments that were subtracted do not tell which side it is


def _steps(s: Setting, law: k_norm.Hull, loss: Loss, prices: list[float]) -> tuple[Step, ...]:
    """Return the step of noise on all moments, with a lower bound of the loss: a search tries too many for gauges."""
    m = law.p + 1

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return objective.moments(X, y, s.domain).ravel()

    def lost(change: FloatArray) -> FloatArray:
        found, moved = np.zeros(change.shape[:-1]).ravel(), change.reshape(-1, m, m)
        for share in (0.5, 1 - NEAR, 1 + NEAR):  # of K: what is outside costs more than this share of the price
            found[~k_norm.inside(moved / share)] = share / float(law.spread)
        return np.asarray(found.reshape(change.shape[:-1]))

    return (Step("moments", exact, lost, prices[0]),)


def _samples(s: Setting, law: k_norm.Hull, f: Quadratic, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw fewer: a gauge takes many decisions. With k numbers the norm of the noise is a Gamma variable."""
    p, k = law.p, law.p * (law.p + 3) // 2
    drawn = release.perturb(f, law, rng, draws=(size // 20,))
    noise = np.zeros((size // 20, p + 1, p + 1))
    noise[:, 1:, 1:] = drawn.M - f.M
    noise[:, 0, 1:] = noise[:, 1:, 0] = (drawn.v - f.v) / law.loss.cross
    norms = k_norm.gauge(noise) / float(law.spread)
    return [Sample("K-norm", norms[:, None], stats.gamma(k), float(k))]


ALL = (
    quadratic(
        "hull K-norm",
        lambda s: k_norm.hull(s.domain, s.epsilon, neighbours=s.neighbours),
        noise=Noise(_steps, _samples, ("K",)),
        domain=lambda d, intercept: ball(d, False),
        largest=k_norm.LARGEST,
    ),
)
