"""What the mechanisms state that release something else: counts, reweighted moments, relevances, coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import integrate, special, stats

from dpreg.audit.privacy_loss import tilted_density
from dpreg.audit.quadratic_releases import ChiSquareDifference, laplace_loss, numbers, rotated, scales_of
from dpreg.audit.statement import Declared, Price, Sample, Setting, Step, cube, per_scale
from dpreg.checks import FloatArray
from dpreg.mechanisms import budget_split, filter_priority, histogram, irls, irls_laws, irls_moments
from dpreg.mechanisms import objective_perturbation as perturbation
from dpreg.mechanisms.grid import Grid, partition
from dpreg.noise import RandomState, generator
from dpreg.pipeline import logistic, objective, release, solve
from dpreg.pipeline.budget import Ledger, Spend
from dpreg.pipeline.domain import Ball, Box

SHARE = 0.4  # of what takes two parts, for the first of them
CAP, ITERATIONS = 3.0, 3
Records = tuple[FloatArray, FloatArray]


def labelled(d: int, intercept: bool) -> Box:
    """Return the box from -1 to 1 with the labels 0 and 1.

    Examples
    --------
    >>> labelled(1, True).response
    (0.0, 1.0)
    """
    return Box(-np.ones(d), np.ones(d), (0.0, 1.0), intercept=intercept)


# Histograms.


def _grid(s: Setting) -> Grid:
    assert isinstance(s.domain, Box)
    return partition(s.domain, 3 if s.domain.d < 5 else 2)


def _dense(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
    cells = histogram.count(X, y, _grid(s))
    out = np.zeros(cells.grid.size)
    out[cells.codes] = cells.counts
    return out


def _dpme(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
    cells = histogram.count(X, y, _grid(s))
    out = histogram.dpme(cells, s.epsilon, seed, mode="signed", neighbours=s.neighbours)
    return np.concatenate([slab.ravel() for slab in out.slabs()]), out.ledger


def _filtered(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
    grid = _grid(s)
    cells = histogram.count(X, y, grid)
    out = filter_priority.filter_priority(cells, s.epsilon, grid.size, seed, level=1, neighbours=s.neighbours)
    dense = np.zeros(grid.size)
    dense[out.codes] = out.weights
    return dense, out.ledger


def _counts(run: Callable[..., Any]) -> Callable[[Setting], tuple[Step, ...]]:
    def steps(s: Setting) -> tuple[Step, ...]:
        (spend,) = run(np.empty((0, s.domain.d)), np.empty(0), s, 1)[1]
        scale = np.full(_grid(s).size, spend.scale)
        return (
            Step("counts", lambda X, y: _dense(X, y, s), lambda change: laplace_loss(change, scale), spend.epsilon),
        )

    return steps


def _full(size: int, count: int) -> histogram.Histogram:
    grid = Grid(Box([0.0], [1.0], (0.0, 1.0)), (2, size // 2), (False, False))
    codes = np.arange(grid.size if count else 0)
    return histogram.Histogram(grid, codes, np.full(len(codes), max(count, 1)))


def _dpme_samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    out = histogram.dpme(_full(size, 1000), s.epsilon, rng, mode="signed", neighbours=s.neighbours)
    drawn = np.concatenate([slab.ravel() for slab in out.slabs()]) - 1000
    return [Sample("Laplace", drawn.reshape(-1, 2) / out.ledger.spends[0].scale, stats.laplace, 1.0)]


def _filtered_samples(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Draw all counts of full cells, and what becomes of empty cells and of those just below the level."""
    level, every = 3, size // 2 * 2

    def run(count: int, level: int) -> tuple[FloatArray, float]:
        out = filter_priority.filter_priority(
            _full(size, count), s.epsilon, size + 1, rng, level=level, neighbours=s.neighbours
        )
        return out.weights, out.ledger.spends[0].scale

    def passed(values: FloatArray) -> FloatArray:
        return np.asarray(rng.permutation(np.arange(every) < len(values))[:, None] * 1.0)

    (full, scale), (vacant, _), (low, _) = run(1000, 1), run(0, level), run(level - 1, level)
    alpha = math.exp(-1 / scale)
    chances = alpha**level / (1 + alpha), alpha / (1 + alpha)
    return [
        Sample("two-sided geometric", full[:, None] - 1000, stats.dlaplace(1 / scale), 2 * alpha / (1 - alpha**2)),
        Sample("excess of empty cells", vacant[:, None] - level + 1, stats.geom(1 - alpha), 1 / (1 - alpha)),
        Sample("empty cells that pass", passed(vacant), stats.bernoulli(chances[0]), chances[0]),
        Sample("cells below the level that pass", passed(low), stats.bernoulli(chances[1]), chances[1]),
    ]


def _cells_fit(mode: str) -> Callable[[FloatArray, FloatArray, Setting, RandomState], FloatArray]:
    def fit(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        cells = histogram.count(X, y, _grid(s))
        out: histogram.Cells
        if mode == "dpme":
            out = histogram.dpme(cells, s.epsilon, seed, neighbours=s.neighbours)
        else:
            size = cells.grid.size
            out = filter_priority.filter_priority(cells, s.epsilon, size, seed, neighbours=s.neighbours)
        return solve.minimise(out.objective())

    return fit


def _cells_goal(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
    cells = histogram.count(X, y, _grid(s))
    table = cells.grid.points(cells.codes)
    return solve.minimise(objective.from_gram((table.T * cells.counts) @ table, s.domain))


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


# Objective perturbation.


def _perturbed(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
    return perturbation.objective_perturbation(
        X, y, s.domain, s.epsilon, share=SHARE, neighbours=s.neighbours, random_state=seed
    )


def _perturbed_price(spend: Spend, s: Setting) -> Price:
    epsilon = per_scale(spend, s)[0] / SHARE
    return epsilon, 0.0, epsilon * math.tanh(epsilon / 2)


def _gradients(s: Setting) -> tuple[Step, ...]:
    """Return the step of the tilt, which hides the gradient at whatever theta is the answer."""
    (spend,) = _perturbed(np.empty((0, s.domain.d)), np.empty(0), s, 1)[1]
    thetas = np.vstack([np.zeros(s.domain.p), np.random.default_rng(1).normal(0.0, 3.0, (20, s.domain.p))])

    def exact(X: FloatArray, y: FloatArray) -> FloatArray:
        Z, t = s.domain.scale(X, y)
        return np.asarray(((special.expit(thetas @ Z.T) - (t > 0)) @ Z).ravel())

    def loss(change: FloatArray) -> FloatArray:
        each = np.linalg.norm(change.reshape(*change.shape[:-1], *thetas.shape), axis=-1)
        return np.asarray(each.max(axis=-1) / spend.scale)

    return (Step("gradient", exact, loss, SHARE * s.epsilon),)


def _tilts(s: Setting, size: int, rng: np.random.Generator) -> list[Sample]:
    """Without records theta is minus the tilt over the ridge; one record at theta tells the ridge."""
    none = np.empty((0, s.domain.d)), np.empty(0)
    row = np.ones((1, s.domain.d))
    (start, ledger), (end, _) = _perturbed(*none, s, 7), _perturbed(row, np.ones(1), s, 7)
    (z,) = s.domain.scale(row, np.ones(1))[0]
    slope = (special.expit(z @ end) - 1.0) * z
    ridge = float(slope @ (start - end) / ((start - end) @ (start - end)))
    drawn = ridge * np.array([_perturbed(*none, s, rng)[0] for _ in range(size // 40)]) / ledger.spends[0].scale
    length = np.linalg.norm(drawn, axis=1, keepdims=True)
    turn = np.arctan2(drawn[:, :1], drawn[:, 1:2])
    samples = [Sample("length of the tilt", length, stats.gamma(s.domain.p), float(s.domain.p))]
    if s.domain.p == 2:
        samples.append(Sample("direction of the tilt", turn, stats.uniform(-math.pi, 2 * math.pi), math.pi / 2))
    return samples


# Reweighting.


def _reweighted(
    plan: Callable[[Setting], irls.Plan], price: Callable[[Spend, Setting], Price], **more: Any
) -> dict[str, Any]:
    def run(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> tuple[FloatArray, Ledger]:
        out = irls.irls(X, y, plan(s), seed)
        return out.path[1:].ravel(), out.ledger

    def study(X: FloatArray, y: FloatArray, s: Setting, seed: RandomState) -> FloatArray:
        chosen, rng, path = plan(s), generator(seed), [np.zeros(s.domain.p)]
        for _ in range(ITERATIONS):
            gram = irls_moments.moments(s.domain.table(X, y), path[-1], CAP)
            first = gram[0, 1:] + chosen.first.vector(s.domain.p, rng)
            second = gram[1:, 1:] + chosen.second.matrix(s.domain.p, rng)
            path.append(irls.lifted(first, second, chosen.second.level(s.domain.p)))
        return np.concatenate(path[1:])

    def goal(X: FloatArray, y: FloatArray, s: Setting) -> FloatArray:
        return irls.irls(X, y, irls.exact(s.domain, cap=CAP, iterations=ITERATIONS)).theta

    return {
        "release": run,
        "study": study,
        "fit": lambda X, y, s, seed: irls.irls(X, y, plan(s), seed).theta,
        "goal": goal,
        "steps": lambda s: _moment_steps(plan(s), s),
        "samples": lambda s, size, rng: _moment_samples(plan(s), size, rng),
        "price": price,
        "domain": lambda d, intercept: Ball(np.zeros(d), 1.0, (-1.0, 1.0), intercept=intercept),
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


def _pure(law: Any) -> Callable[[Setting], irls.Plan]:
    return lambda s: irls.pure(s.domain, s.epsilon, law, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


def _gaussian(s: Setting) -> irls.Plan:
    return irls.gaussian(s.domain, s.epsilon, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


@cache
def _degrees(s: Setting) -> irls.Plan:
    return irls.degrees(s.domain, s.epsilon, 1e-3, cap=CAP, iterations=ITERATIONS, neighbours=s.neighbours)


IRLS_NORMS = ("L1", "L2", "L1 of the triangle", "Frobenius", "nuclear", "trace")
ALL = (
    Declared(
        "DPME",
        _dpme,
        _counts(_dpme),
        _dpme_samples,
        norms=("L1",),
        exact=_dense,
        fit=_cells_fit("dpme"),
        goal=_cells_goal,
    ),
    Declared(
        "Filter-Priority",
        _filtered,
        _counts(_filtered),
        _filtered_samples,
        norms=("L1",),
        fit=_cells_fit("filter"),
        goal=_cells_goal,
    ),
    Declared("PrivR", _privr, _privr_steps, _privr_samples, norms=("L1", "weighted L1")),
    Declared(
        "objective perturbation",
        _perturbed,
        _gradients,
        _tilts,
        norms=("L2",),
        domain=labelled,
        labels=True,
        price=_perturbed_price,
        fit=lambda X, y, s, seed: _perturbed(X, y, s, seed)[0],
        goal=lambda X, y, s: logistic.fit(s.domain.scale(X, y)[0], y),
        density=tilted_density,
    ),
    Declared("IRLS, Laplace", norms=IRLS_NORMS, **_reweighted(_pure("Laplace"), per_scale)),
    Declared("IRLS, Wishart difference", norms=IRLS_NORMS, **_reweighted(_pure("Wishart difference"), per_scale)),
    Declared("IRLS, Gaussian", norms=IRLS_NORMS, **_reweighted(_gaussian, _gaussian_price, spends="rho")),
    Declared("IRLS, many degrees", norms=IRLS_NORMS, **_reweighted(_degrees, _degrees_price, fit=None)),
)
