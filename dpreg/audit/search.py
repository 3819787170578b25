"""The search for the pair of records that the noise protects worst."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.noise import RandomState, generator
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.laws import Scales
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic

RESTARTS, STEPS = 10**5, 10**6  # of a search: each takes some tens of microseconds


@checked
@dataclass(frozen=True)
class Pair:
    """Two scaled records (t, x) and the privacy loss between data sets that differ in them.

    With add/remove neighbours the second record is missing, and all zeros.
    """

    record: FloatArray
    other: FloatArray
    loss: float


@checked
def worst_pair(
    scales: Scales,
    domain: Domain,
    neighbours: Neighbours = "replace",
    *,
    loss: Loss = SQUARED,
    restarts: int = 200,
    steps: int = 400,
    random_state: RandomState = 0,
) -> Pair:
    """Search for the neighbours with the largest privacy loss: a lower bound of what `certify` must return.

    Each step fixes the signs of the changed entries, which makes the loss a difference of two quadratic forms,
    climbs both, and projects back onto the domain.

    Parameters
    ----------
    scales : Scales
    domain : Box or Ball
    neighbours : {"replace", "add_remove"}
    loss : Loss
    restarts, steps : int
        Starting points, climbed side by side, and steps of each.
    random_state : None, int, SeedSequence or Generator

    Raises
    ------
    InputError
        If a number that a record can change has scale zero, or scales and domain do not match.

    Examples
    --------
    >>> from dpreg.pipeline.laws import functional
    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    >>> round(worst_pair(functional(box, 1.0), box).loss, 6)
    1.0
    """
    checks.instance(domain, (Box, Ball), "domain")
    rng = generator(random_state)
    A = scales.cost(loss)
    if loss.labels and neighbours == "replace":
        A[0, 0] = 0.0  # t^2 is one for every record
    if neighbours == "replace" and domain.intercept:
        A[1, 1] = 0.0
    if A.shape != (domain.p + 1, domain.p + 1):
        raise InputError(f"scales have {len(A) - 1} columns and the domain {domain.p}: match them")
    if not np.isfinite(A).all():
        raise InputError("a number that a record can change has scale zero: its loss is infinite, nothing to search")
    shape = (checks.count(restarts, "restarts", most=RESTARTS), domain.p + 1)
    z, other = (_start(shape, domain, rng) for _ in range(2))
    if neighbours == "add_remove":
        other = np.zeros(shape)
    best, kept = _loss(A, z, other), (z, other)
    for step in range(checks.count(steps, "steps", most=STEPS)):
        rate = rng.uniform(0.0, 4.0, (shape[0], 1)) * 1e-5 ** (step / steps) / (A.sum(axis=1).max() or 1.0)
        signed = A * np.sign(_outer(z) - _outer(other))
        z = _project(z + rate * (signed @ z[..., None])[..., 0], domain)
        if neighbours == "replace":
            other = _project(other - rate * (signed @ other[..., None])[..., 0], domain)
        value = _loss(A, z, other)
        better = value > best
        best = np.where(better, value, best)
        kept = (np.where(better[:, None], z, kept[0]), np.where(better[:, None], other, kept[1]))
    top = int(best.argmax())
    return Pair(kept[0][top], kept[1][top], float(best[top]))


@checked
def log_ratio(output: Quadratic, one: Quadratic, other: Quadratic, scales: Scales) -> FloatArray:
    """Return the log of the ratio of the densities at an output, given two objectives: the privacy loss there.

    Parameters
    ----------
    output : Quadratic with batch (...)
        What was released, as `release.perturb` returns it.
    one, other : Quadratic
        The objectives of two data sets. A number released without noise must be the same in both.
    scales : Scales

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> from dpreg.pipeline.laws import functional
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.pipeline.objective import linear
    >>> box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    >>> f, g = linear([[1.0], [1.0]], [1.0, 1.0], box), linear([[1.0], [1.0]], [1.0, -1.0], box)
    >>> round(float(log_ratio(f, f, g, functional(box, 1.0, convention="monomial"))), 12)
    1.0
    """
    for name, f in (("output", output), ("one", one), ("other", other)):
        if f.p != scales.p:
            raise InputError(f"scales have {scales.p} columns and {name} has {f.p}: match them")
    quadratic = _log_ratio(output.M, one.M, other.M, scales.M) * scales.published[1:, 1:]
    loss = quadratic.sum(axis=(-1, -2)) + _log_ratio(output.v, one.v, other.v, scales.v).sum(axis=-1)
    return np.asarray(loss if np.isinf(scales.c) else loss + _log_ratio(output.c, one.c, other.c, np.array(scales.c)))


def _log_ratio(x: FloatArray, a: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    if ((scale == 0) & (a != b)).any():
        raise InputError("a number that differs between the data sets has scale zero: its loss is infinite")
    return np.asarray((np.abs(x - b) - np.abs(x - a)) / np.where(scale == 0, 1.0, scale) * (scale > 0))


def _start(shape: tuple[int, int], domain: Domain, rng: np.random.Generator) -> FloatArray:
    """Random records of all sizes; in every other one the predictors are equal, as in many worst cases."""
    first = 1 + domain.intercept
    z = rng.uniform(-1.0, 1.0, shape)
    z[:, first:] *= rng.uniform(0.0, 1.0, (shape[0], 1))
    z[::2, first:] = z[::2, first : first + 1]
    return _project(z, domain)


def _outer(z: FloatArray) -> FloatArray:
    return np.asarray(z[..., :, None] * z[..., None, :])


def _loss(A: FloatArray, z: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray((A * np.abs(_outer(z) - _outer(other))).sum(axis=(-1, -2)))


def _project(z: FloatArray, domain: Domain) -> FloatArray:
    """Return the nearest records of the domain, with the constant column set to one."""
    first = 1 + domain.intercept
    out = np.clip(z, -1.0, 1.0)
    out[:, 1:first] = 1.0
    predictors = z[:, first:].copy()
    domain.clip(predictors)
    out[:, first:] = predictors
    return out
