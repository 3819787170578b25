"""What is stated of any plan of private IRLS, by the kind of noise on each of its two moments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit.residuals import ChiSquareDifference, rotated
from dpreg.audit.statement import Declared, Price, Sample, Setting, Step, ball, gaussian_price, per_scale
from dpreg.checks import FloatArray
from dpreg.mechanisms import irls, irls_moments
from dpreg.mechanisms.irls_laws import MomentLaw, VectorLaw
from dpreg.noise import RandomState, generator
from dpreg.pipeline.ledger import Ledger, Spend


def _per_scale(spend: Spend, setting: Setting, law: MomentLaw) -> Price:
    return per_scale(spend, setting)


@dataclass(frozen=True)
class MomentKind:
    """A kind of noise on one moment: what is stated of every law of this kind, whoever made it.

    Parameters
    ----------
    norm : str
        That the ledger names.
    length : function of an array of shape (..., p), or (..., p, p) for a second moment
        Returns how long a change of the moment is in that norm, of shape (...).
    samples : function of (law, p, size, generator)
        See `Declared`.
    price : function of (spend, setting, law)
        See `Declared`.
    together : bool
        Its price under replace is for the change by both records; otherwise it is that of removing one and adding
        another, and no step is stated.
    """

    norm: str
    length: Callable[[FloatArray], FloatArray]
    samples: Callable[[Any, int, int, np.random.Generator], list[Sample]]
    price: Callable[[Spend, Setting, Any], Price] = _per_scale
    together: bool = True


def entries(part: FloatArray) -> FloatArray:
    """Return the entries of stacked symmetric matrices on and above the diagonal; shape (..., p (p + 1) / 2).

    Examples
    --------
    >>> entries(np.array([[1.0, 2.0], [2.0, 3.0]])).tolist()
    [1.0, 2.0, 3.0]
    """
    upper = np.triu_indices(part.shape[-1])
    return np.asarray(part[..., upper[0], upper[1]])


def _gaussian_price(spend: Spend, setting: Setting, law: MomentLaw) -> Price:
    return gaussian_price(spend, setting)


def _vectors(known: Any, absolute: float) -> Callable[[VectorLaw, int, int, np.random.Generator], list[Sample]]:
    def samples(law: VectorLaw, p: int, size: int, rng: np.random.Generator) -> list[Sample]:
        return [Sample("first moment", law.vector(p, rng, (size // p,)) / law.unit, known, absolute)]

    return samples


def _matrices(
    known: Any, absolute: float, beside: float = 1.0
) -> Callable[[MomentLaw, int, int, np.random.Generator], list[Sample]]:
    """Return the samples of independent entries, whose deviation off the diagonal is `beside` times that on it."""

    def samples(law: MomentLaw, p: int, size: int, rng: np.random.Generator) -> list[Sample]:
        over = np.where(np.eye(p, dtype=bool), 1.0, 1 / beside)
        return [Sample("second moment", entries(law.matrix(p, rng, (size // p,)) / law.unit * over), known, absolute)]

    return samples


def _differences(law: MomentLaw, p: int, size: int, rng: np.random.Generator) -> list[Sample]:
    chi = ChiSquareDifference(p + 1)  # with which its density has no determinant
    return [Sample("second moment", rotated(2 * law.matrix(p, rng, (size // p,)) / law.unit, rng), chi, chi.absolute)]


def _l1(part: FloatArray) -> FloatArray:
    return np.asarray(np.abs(part).sum(axis=-1))


LAPLACE, NORMAL = (stats.laplace, 1.0), (stats.norm, math.sqrt(2 / math.pi))
LAPLACE_FIRST = MomentKind("L1", _l1, _vectors(*LAPLACE))
LAPLACE_SECOND = MomentKind("L1 of the triangle", lambda part: _l1(entries(part)), _matrices(*LAPLACE))
GAUSSIAN_FIRST = MomentKind(
    "L2", lambda part: np.asarray(np.sqrt((part**2).sum(axis=-1))), _vectors(*NORMAL), _gaussian_price
)
GAUSSIAN_SECOND = MomentKind(
    "Frobenius",
    lambda part: np.asarray(np.sqrt((part**2).sum(axis=(-1, -2)))),
    _matrices(*NORMAL, math.sqrt(0.5)),
    _gaussian_price,
)
DIFFERENCE = MomentKind("nuclear", lambda part: np.asarray(np.abs(np.linalg.eigvalsh(part)).sum(axis=-1)), _differences)


def reweighted(
    name: str, plan: Callable[[Setting], irls.Plan], first: MomentKind, second: MomentKind, **more: Any
) -> Declared:
    """Return what a mechanism states that is a plan of IRLS; `more` are other fields of Declared.

    Parameters
    ----------
    name : str
    plan : function of a setting
    first, second : MomentKind
        What kinds of laws its two are.

    Examples
    --------
    >>> def plan(s):
    ...     return irls.pure(s.domain, s.epsilon, "Laplace", iterations=2, neighbours=s.neighbours)
    >>> mechanism = reweighted("IRLS", plan, LAPLACE_FIRST, LAPLACE_SECOND)
    >>> setting = next(mechanism.settings((2,)))
    >>> out, ledger = mechanism.release(*mechanism.records(2, 10, np.random.default_rng(1)), setting, 1)
    >>> out.shape, round(ledger.epsilon, 12), [step.name for step in mechanism.steps(setting)]
    ((4,), 0.7, ['weighted first moment', 'weighted second moment'])
    """

    def run(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
        out = irls.irls(X, y, plan(s), seed)
        return out.path[1:].ravel(), out.ledger

    def study(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        chosen, rng, path = plan(s), generator(seed), [np.zeros(s.domain.p)]
        for _ in range(chosen.iterations):
            gram = irls_moments.moments(s.domain.table(X, y), path[-1], chosen.cap)
            noisy = gram[0, 1:] + chosen.first.vector(s.domain.p, rng)
            square = gram[1:, 1:] + chosen.second.matrix(s.domain.p, rng)
            path.append(irls.lifted(noisy, square, chosen.second.level(s.domain.p)))
        return np.concatenate(path[1:])

    def goal(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
        chosen = plan(s)
        return irls.irls(X, y, irls.exact(s.domain, cap=chosen.cap, iterations=chosen.iterations)).theta

    def parts(s: Setting) -> list[tuple[Spend, MomentKind, MomentLaw]]:
        """Return what is paid for in an iteration: the first moment, and the second."""
        chosen = plan(s)
        return list(zip(chosen.ledger.spends[:2], (first, second), (chosen.first, chosen.second), strict=True))

    def price(spend: Spend, s: Setting) -> Price:
        return next(kind.price(spend, s, law) for known, kind, law in parts(s) if known.released == spend.released)

    def samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
        return [sample for _, kind, law in parts(s) for sample in kind.samples(law, s.domain.p, size, rng)]

    fields: dict[str, Any] = {
        "norms": (first.norm, second.norm),
        "domain": ball,
        "price": price,
        "study": study,
        "fit": lambda X, y, s, seed: irls.irls(X, y, plan(s), seed).theta,
        "goal": goal,
    }
    return Declared(name, run, lambda s: _steps(parts(s), plan(s).cap, s), samples, **(fields | more))


def _steps(parts: list[tuple[Spend, MomentKind, MomentLaw]], cap: float, s: Setting) -> tuple[Step, ...]:
    """How far a record moves both moments, at zero and at other parameters, over what a loss of one takes."""
    p = s.domain.p
    thetas = np.vstack([np.zeros(p), np.random.default_rng(1).normal(0.0, 1.0, (3, p))])

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        return irls_moments.stacked(s.domain.table(X, y), thetas, np.full(len(thetas), cap)).ravel()

    def loss(kind: MomentKind, law: MomentLaw, second: bool) -> Callable[[FloatArray], FloatArray]:
        def of(change: FloatArray) -> FloatArray:
            moved = change.reshape(*change.shape[:-1], len(thetas), p + 1, p + 1)
            part = moved[..., 1:, 1:] if second else moved[..., 0, 1:]
            return np.asarray(kind.length(part).max(axis=-1) / law.unit)

        return of

    return tuple(
        Step(spend.released, exact, loss(kind, law, bool(k)), spend.sensitivity / spend.scale)
        for k, (spend, kind, law) in enumerate(parts)
        if kind.together or s.neighbours == "add_remove"
    )
