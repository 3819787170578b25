"""What the plans of private IRLS state: noise on two moments, again and again."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import integrate, stats

from dpreg.audit.residuals import rotated
from dpreg.audit.reweighted import (
    DIFFERENCE,
    GAUSSIAN_FIRST,
    GAUSSIAN_SECOND,
    LAPLACE_FIRST,
    LAPLACE_SECOND,
    MomentKind,
    reweighted,
)
from dpreg.audit.statement import Price, Sample, Setting
from dpreg.checks import FloatArray
from dpreg.mechanisms import irls
from dpreg.mechanisms.irls_laws import CentredWishart
from dpreg.pipeline.ledger import Spend

CAP, ITERATIONS = 3.0, 3


def _trace(part: FloatArray) -> FloatArray:
    return np.asarray(np.trace(part, axis1=-2, axis2=-1))


def _centred_samples(law: CentredWishart, p: int, size: int, rng: np.random.Generator) -> list[Sample]:
    centred = rotated(2 * law.matrix(p, rng, (size // p,)) / law.unit, rng) + law.degrees
    return [Sample("second moment", centred, stats.chi2(law.degrees), float(law.degrees))]


def _centred_price(spend: Spend, s: Setting, law: CentredWishart) -> Price:
    """With replace the price is that of removing one record and adding another, half of epsilon each."""
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


CENTRED = MomentKind("trace", _trace, _centred_samples, _centred_price, together=False)


def _pure(law: Any, iterations: int = ITERATIONS) -> Callable[[Setting], irls.Plan]:
    return lambda s: irls.pure(s.domain, s.epsilon, law, cap=CAP, iterations=iterations, neighbours=s.neighbours)


def _gaussian(s: Setting) -> irls.Plan:
    return irls.gaussian(s.domain, s.epsilon, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


@cache
def _degrees(s: Setting) -> irls.Plan:
    return irls.degrees(s.domain, s.epsilon, 1e-3, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


ALL = (
    reweighted("IRLS, Laplace", _pure("Laplace"), LAPLACE_FIRST, LAPLACE_SECOND),
    reweighted("IRLS, many iterations", _pure("Laplace", 12), LAPLACE_FIRST, LAPLACE_SECOND),
    reweighted("IRLS, Wishart difference", _pure("Wishart difference"), LAPLACE_FIRST, DIFFERENCE),
    reweighted("IRLS, Gaussian", _gaussian, GAUSSIAN_FIRST, GAUSSIAN_SECOND, spends="rho"),
    reweighted("IRLS, many degrees", _degrees, LAPLACE_FIRST, CENTRED, fit=None),
)
