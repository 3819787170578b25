"""What the K-norm mechanism of the hull states, for the few predictors that it can be drawn for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit.quadratic_releases import quadratic
from dpreg.audit.statement import Sample, Setting, Step, ball
from dpreg.checks import FloatArray
from dpreg.mechanisms import k_norm
from dpreg.pipeline import objective, release

NEAR = 1e-6  # of the surface of K, where moments that were subtracted do not tell which side it is


def _hull(s: Setting) -> k_norm.Hull:
    return k_norm.hull(s.domain, s.epsilon, neighbours=s.neighbours)


def _steps(s: Setting) -> tuple[Step, ...]:
    """Return the step of noise on all moments, with a lower bound of the loss: a search tries too many for gauges."""
    law, m = _hull(s), s.domain.p + 1

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return objective.moments(X, y, s.domain).ravel()

    def loss(change: FloatArray) -> FloatArray:
        found, moved = np.zeros(change.shape[:-1]).ravel(), change.reshape(-1, m, m)
        for share in (0.5, 1 - NEAR, 1 + NEAR):  # of K: what is outside costs more than this share of the price
            found[~k_norm.inside(moved / share)] = share / float(law.spread)
        return np.asarray(found.reshape(change.shape[:-1]))

    return (Step("moments", exact, loss, 1 / float(law.spread)),)


def _samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw fewer: a gauge takes many decisions. With k numbers the norm of the noise is a Gamma variable."""
    law, p = _hull(s), s.domain.p
    rows = np.vstack([np.eye(p), -np.eye(p)])
    f, k = objective.linear(rows, np.zeros(2 * p), s.domain), p * (p + 3) // 2
    drawn = release.perturb(f, law, rng, draws=(size // 20,))
    noise = np.zeros((size // 20, p + 1, p + 1))
    noise[:, 1:, 1:] = drawn.M - f.M
    noise[:, 0, 1:] = noise[:, 1:, 0] = (drawn.v - f.v) / law.loss.cross
    norms = k_norm.gauge(noise) / float(law.spread)
    return [Sample("K-norm", norms[:, None], stats.gamma(k), float(k))]


MORE: dict[str, Any] = {"norms": ("K",), "largest": k_norm.LARGEST, "density": None}
ALL = (
    quadratic("hull K-norm", _hull, domain=lambda d, intercept: ball(d, False), steps=_steps, samples=_samples, **MORE),
)
