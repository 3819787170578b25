"""What the mechanisms state that release relevances, or coefficients."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy import special, stats

from dpreg.audit.privacy_loss import tilted_density
from dpreg.audit.residuals import laplace_loss, numbers, scales_of
from dpreg.audit.statement import Declared, Price, Sample, Setting, Step, cube, labelled, per_scale
from dpreg.checks import FloatArray
from dpreg.estimators.private import PrivateLogisticRegression
from dpreg.mechanisms import budget_split
from dpreg.mechanisms import objective_perturbation as perturbation
from dpreg.mechanisms.objective_perturbation import Norm
from dpreg.noise import RandomState
from dpreg.pipeline import logistic, objective, release
from dpreg.pipeline.ledger import Ledger, Spend

SHARE = 0.4  # of what takes two parts, for the first of them


# PrivR: two steps, the second with scales that the first chose.


def _privr(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
    f = objective.linear(X, y, s.domain)
    rng = np.random.SeedSequence(seed).spawn(2) if isinstance(seed, int) else (None, None)
    first = budget_split.privr(f, s.epsilon, share=SHARE, neighbours=s.neighbours, random_state=rng[0])
    out = release.release(f, first.scales, rng[1], neighbours=s.neighbours)
    return np.r_[first.relevance, numbers(out.objective, first.scales)], first.ledger + out.ledger


def _privr_steps(s: Setting) -> tuple[Step, ...]:
    f = objective.linear(np.eye(s.domain.d), np.ones(s.domain.d), s.domain)
    first = budget_split.privr(f, s.epsilon, share=SHARE, neighbours=s.neighbours, random_state=1)
    second = release.release(f, first.scales, 2, neighbours=s.neighbours).ledger
    (spend,), law = first.ledger, first.scales
    scale = np.full(s.domain.p, spend.scale)
    own = scales_of(law)

    def coefficients(X: FloatArray, y: FloatArray) -> FloatArray:
        return numbers(objective.linear(X, y, s.domain), law)

    return (
        Step(
            "relevances",
            lambda X, y: objective.linear(X, y, s.domain).v,
            lambda change: laplace_loss(change, scale),
            SHARE * s.epsilon,
        ),
        Step("coefficients", coefficients, lambda change: laplace_loss(change, own), second.epsilon),
    )


def _privr_samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Two columns, one of them with a huge moment: the share of the other is the noise over that moment."""
    n = 100_000
    f = objective.linear(np.tile([1.0, 0.0], (n, 1)), np.ones(n), cube(2, False))
    quick: Any = {"floor": 1e-12, "sensitivity": "printed"}  # of the second step, which is not looked at
    firsts = [
        budget_split.privr(f, s.epsilon, share=SHARE, neighbours=s.neighbours, random_state=rng, **quick)
        for _ in range(size // 40)
    ]
    shares = np.array([first.relevance for first in firsts])
    drawn = shares[:, 1] / shares[:, 0] * abs(float(f.v[0])) / firsts[0].ledger.spends[0].scale
    return [Sample("Laplace, without its sign", drawn[:, None], stats.expon, 1.0)]


# Objective perturbation, in both norms.


def _perturbed(
    X: FloatArray, y: FloatArray, s: Setting, seed: RandomState, norm: Norm = "L2"
) -> tuple[FloatArray, Ledger]:
    return perturbation.objective_perturbation(
        X, y, s.domain, s.epsilon, share=SHARE, norm=norm, neighbours=s.neighbours, random_state=seed
    )


def _perturbed_price(spend: Spend, s: Setting) -> Price:
    epsilon = per_scale(spend, s)[0] / SHARE
    return epsilon, 0.0, epsilon * math.tanh(epsilon / 2)


def _gradients(s: Setting, norm: Norm = "L2") -> tuple[Step, ...]:
    """Return the step of the tilt, which hides the gradient at whatever theta is the answer."""
    (spend,) = _perturbed(np.empty((0, s.domain.d)), np.empty(0), s, 1, norm)[1]
    thetas = np.vstack([np.zeros(s.domain.p), np.random.default_rng(1).normal(0.0, 3.0, (20, s.domain.p))])
    order = 2 if norm == "L2" else np.inf  # of the cube, whose K is a cube

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        Z, t = s.domain.scale(X, y)
        return np.asarray(((special.expit(thetas @ Z.T) - (t > 0)) @ Z).ravel())

    def loss(change: FloatArray) -> FloatArray:
        each = np.linalg.norm(change.reshape(*change.shape[:-1], *thetas.shape), ord=order, axis=-1)
        return np.asarray(each.max(axis=-1) / spend.scale)

    return (Step("gradient", exact, loss, SHARE * s.epsilon),)


def _labelled_fit(X: FloatArray, y: FloatArray, s: Setting, seed: Any) -> FloatArray:
    """Return what the estimator shows, on a domain whose units are scaled ones."""
    settings: Any = {"neighbours": s.neighbours, "random_state": seed}
    model = PrivateLogisticRegression(s.domain, s.epsilon, **settings).fit(X, y)
    return np.r_[model.intercept_, model.coef_[0]] if s.domain.intercept else np.asarray(model.coef_[0])


def _tilts(s: Setting, size: int, rng: np.random.Generator, norm: Norm = "L2") -> list[Sample]:
    """Without records theta is minus the tilt over the ridge; one record at theta tells the ridge."""
    none = np.empty((0, s.domain.d)), np.empty(0)
    row = np.ones((1, s.domain.d))
    (start, ledger), (end, _) = _perturbed(*none, s, 7, norm), _perturbed(row, np.ones(1), s, 7, norm)
    (z,) = s.domain.scale(row, np.ones(1))[0]
    slope = (special.expit(z @ end) - 1.0) * z
    ridge = float(slope @ (start - end) / ((start - end) @ (start - end)))
    drawn = ridge * np.array([_perturbed(*none, s, rng, norm)[0] for _ in range(size // 40)]) / ledger.spends[0].scale
    length = np.linalg.norm(drawn, ord=2 if norm == "L2" else np.inf, axis=1, keepdims=True)
    samples = [Sample("length of the tilt", length, stats.gamma(s.domain.p), float(s.domain.p))]
    if s.domain.p == 2 and norm == "L2":
        turn = np.arctan2(drawn[:, :1], drawn[:, 1:2])
        samples.append(Sample("direction of the tilt", turn, stats.uniform(-math.pi, 2 * math.pi), math.pi / 2))
    elif s.domain.p == 2:  # a place on the edge of the square, from side to side
        side = np.abs(drawn).argmax(axis=1)
        long, short = (drawn[np.arange(len(drawn)), k] / length[:, 0] for k in (side, 1 - side))
        place = 4.0 * (side == 1) - 4.0 + 2.0 * (long > 0) + 1.0 + short
        samples.append(Sample("direction of the tilt", place[:, None], stats.uniform(-4.0, 8.0), 2.0))
    return samples


ALL = (
    Declared("PrivR", _privr, _privr_steps, _privr_samples, norms=("L1", "weighted L1"), scarce=True),
    Declared(
        "objective perturbation",
        _perturbed,
        _gradients,
        _tilts,
        norms=("L2",),
        domain=labelled,
        labels=True,
        scarce=True,
        price=_perturbed_price,
        fit=lambda X, y, s, seed: _perturbed(X, y, s, seed)[0],
        goal=lambda X, y, s: logistic.fit(s.domain.scale(X, y)[0], y),
        density=tilted_density,
    ),
    Declared(
        "objective perturbation, K-norm",
        partial(_perturbed, norm="K"),
        partial(_gradients, norm="K"),
        partial(_tilts, norm="K"),
        norms=("K",),
        domain=labelled,
        labels=True,
        scarce=True,
        price=_perturbed_price,
        fit=_labelled_fit,
        goal=lambda X, y, s: logistic.fit(s.domain.scale(X, y)[0], y),
    ),
)
