"""What the plans of private IRLS state: noise on two moments, again and again."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import integrate, stats

from dpreg.audit.residuals import ChiSquareDifference, rotated
from dpreg.audit.statement import Declared, Price, Sample, Setting, Step, ball, per_scale
from dpreg.checks import FloatArray
from dpreg.mechanisms import irls, irls_laws, irls_moments
from dpreg.noise import RandomState, generator
from dpreg.pipeline.ledger import Ledger, Spend

CAP, ITERATIONS = 3.0, 3


def _reweighted(
    plan: Callable[[Setting], irls.Plan],
    price: Callable[[Spend, Setting], Price],
    iterations: int = ITERATIONS,
    **more: Any,
) -> dict[str, Any]:
    def run(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
        out = irls.irls(X, y, plan(s), seed)
        return out.path[1:].ravel(), out.ledger

    def study(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        chosen, rng, path = plan(s), generator(seed), [np.zeros(s.domain.p)]
        for _ in range(iterations):
            gram = irls_moments.moments(s.domain.table(X, y), path[-1], CAP)
            first = gram[0, 1:] + chosen.first.vector(s.domain.p, rng)
            second = gram[1:, 1:] + chosen.second.matrix(s.domain.p, rng)
            path.append(irls.lifted(first, second, chosen.second.level(s.domain.p)))
        return np.concatenate(path[1:])

    def goal(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
        return irls.irls(X, y, irls.exact(s.domain, cap=CAP, iterations=iterations)).theta

    return {
        "release": run,
        "study": study,
        "fit": lambda X, y, s, seed: irls.irls(X, y, plan(s), seed).theta,
        "goal": goal,
        "steps": lambda s: _moment_steps(plan(s), s),
        "samples": lambda s, size, rng: _moment_samples(plan(s), size, rng),
        "price": price,
        "domain": ball,
    } | more


def _moment_steps(plan: irls.Plan, s: Setting) -> tuple[Step, ...]:
    """How far a record moves both moments, at zero and at other parameters, over what a loss of one takes."""
    p = s.domain.p
    thetas = [np.zeros(p), *np.random.default_rng(1).normal(0.0, 1.0, (3, p))]

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        table = s.domain.table(X, y)
        return np.array([irls_moments.moments(table, theta, CAP) for theta in thetas]).ravel()

    def loss(moment: str, norm: str, unit: float) -> Callable[[FloatArray], FloatArray]:
        def of(change: FloatArray) -> FloatArray:
            moved = change.reshape(*change.shape[:-1], len(thetas), p + 1, p + 1)
            part = moved[..., :1, 1:] if moment == "first" else moved[..., 1:, 1:]
            return np.asarray(NORMS[norm](part).max(axis=-1) / unit)

        return of

    steps = []
    for spend, law in zip(plan.ledger.spends[:2], (plan.first, plan.second), strict=True):
        moment = "first" if "first" in spend.released else "second"
        if spend.norm == "trace" and s.neighbours == "replace":
            continue  # its price is that of removing one record and adding another
        price = spend.sensitivity / spend.scale
        steps.append(Step(spend.released, exact, loss(moment, spend.norm, law.unit), price))
    return tuple(steps)


def _triangle(part: FloatArray) -> FloatArray:
    return np.asarray(np.abs(part * np.triu(np.ones(part.shape[-2:]))).sum(axis=(-1, -2)))


NORMS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "L1": lambda part: np.abs(part).sum(axis=(-1, -2)),
    "L2": lambda part: np.sqrt((part**2).sum(axis=(-1, -2))),
    "Frobenius": lambda part: np.sqrt((part**2).sum(axis=(-1, -2))),
    "L1 of the triangle": _triangle,
    "nuclear": lambda part: np.abs(np.linalg.eigvalsh(part)).sum(axis=-1),
    "trace": lambda part: np.trace(part, axis1=-2, axis2=-1),
}


def _moment_samples(plan: irls.Plan, size: int, rng: np.random.Generator) -> list[Sample]:
    p, normal = plan.domain.p, (stats.norm, math.sqrt(2 / math.pi))
    known = {"Laplace": (stats.laplace, 1.0), "Gaussian": normal}
    draws, scale = size // p, plan.first.scale
    samples = [Sample("first moment", plan.first.vector(p, rng, (draws,)) / scale, *known[plan.first.name])]
    law = plan.second
    matrix = law.matrix(p, rng, (draws,)) / law.unit
    if isinstance(law, irls_laws.WishartLaw):
        matrix = 2 * matrix
        if law.name == "Wishart difference":
            chi = ChiSquareDifference(p + 1)  # with which its density has no determinant
            drawn: Sample = Sample("second moment", rotated(matrix, rng), chi, chi.absolute)
        else:
            assert isinstance(law, irls_laws.CentredWishart)
            centred = rotated(matrix, rng) + law.degrees
            drawn = Sample("second moment", centred, stats.chi2(law.degrees), float(law.degrees))
        return [*samples, drawn]
    upper = np.triu_indices(p)
    entries = matrix[:, upper[0], upper[1]]
    if law.name == "Gaussian":
        entries = np.where(upper[0] == upper[1], 1.0, math.sqrt(2)) * entries
    return [*samples, Sample("second moment", entries, *known[law.name])]


def _gaussian_price(spend: Spend, s: Setting) -> Price:
    return math.inf, 0.0, (spend.sensitivity / spend.scale) ** 2 / 2


def _degrees_price(spend: Spend, s: Setting) -> Price:
    """With replace the price is that of removing one record and adding another, half of epsilon each."""
    if spend.mechanism == "Laplace":
        return per_scale(spend, s)
    law = _degrees(s).second
    assert isinstance(law, irls_laws.CentredWishart)
    half = s.neighbours == "replace"
    epsilon, factor = (spend.epsilon / 2, 1 + math.exp(spend.epsilon / 2)) if half else (spend.epsilon, 1.0)
    shift = 2 * spend.sensitivity / spend.scale
    return s.epsilon / (2 * ITERATIONS), factor * _stick(epsilon, shift, law.degrees - s.domain.p + 1), math.inf


@cache
def _stick(epsilon: float, shift: float, freedom: int) -> float:
    """Return the delta of chi-square noise on a number that moves by `shift`, by integrating on a grid."""
    x = np.linspace(1e-9, freedom + shift + 60 * math.sqrt(freedom) + 60, 1_000_001)
    still, moved = stats.chi2.pdf(x, freedom), stats.chi2.pdf(x - shift, freedom)
    excess = (np.maximum(a - math.exp(epsilon) * b, 0.0) for a, b in ((still, moved), (moved, still)))
    return max(float(integrate.simpson(one, x=x)) for one in excess)


def _pure(law: Any, iterations: int = ITERATIONS) -> Callable[[Setting], irls.Plan]:
    return lambda s: irls.pure(s.domain, s.epsilon, law, cap=CAP, iterations=iterations, neighbours=s.neighbours)


def _gaussian(s: Setting) -> irls.Plan:
    return irls.gaussian(s.domain, s.epsilon, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


@cache
def _degrees(s: Setting) -> irls.Plan:
    return irls.degrees(s.domain, s.epsilon, 1e-3, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


IRLS_NORMS = ("L1", "L2", "L1 of the triangle", "Frobenius", "nuclear", "trace")
ALL = (
    Declared("IRLS, Laplace", norms=IRLS_NORMS, **_reweighted(_pure("Laplace"), per_scale)),
    Declared("IRLS, many iterations", norms=IRLS_NORMS, **_reweighted(_pure("Laplace", 12), per_scale, 12)),
    Declared("IRLS, Wishart difference", norms=IRLS_NORMS, **_reweighted(_pure("Wishart difference"), per_scale)),
    Declared("IRLS, Gaussian", norms=IRLS_NORMS, **_reweighted(_gaussian, _gaussian_price, spends="rho")),
    Declared("IRLS, many degrees", norms=IRLS_NORMS, **_reweighted(_degrees, _degrees_price, fit=None)),
)
