"""Attacks on a claimed guarantee: a search for the pair of records that the noise protects worst."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib import checks
from lib.allocation import Scales
from lib.checks import FloatArray, Neighbours
from lib.domain import Domain
from lib.noise import RandomState, generator


@dataclass(frozen=True)
class Pair:
    """Two scaled records (t, x) and the privacy loss between data sets that differ in them.

    With add/remove neighbours the second record is missing, and all zeros.
    """

    record: FloatArray
    other: FloatArray
    loss: float


def worst_pair(
    scales: Scales,
    domain: Domain,
    neighbours: Neighbours = "replace",
    *,
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
    restarts, steps : int
        Starting points, climbed side by side, and steps of each.
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> from lib.allocation import functional
    >>> from lib.domain import Box
    >>> box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    >>> round(worst_pair(functional(box, 1.0), box).loss, 6)
    1.0
    """
    checks.neighbours(neighbours)
    rng = generator(random_state)
    A = scales.cost()
    if neighbours == "replace" and domain.intercept:
        A[1, 1] = 0.0
    shape = (checks.count(restarts, "restarts"), domain.p + 1)
    z, other = (_project(rng.uniform(-1.5, 1.5, shape), domain) for _ in range(2))
    if neighbours == "add_remove":
        other = np.zeros(shape)
    best, kept = _loss(A, z, other), (z, other)
    for step in range(checks.count(steps, "steps")):
        rate = rng.uniform(0.0, 2.0, (shape[0], 1)) / (A.max() * (1 + step / 20))
        signed = A * np.sign(_outer(z) - _outer(other))
        z = _project(z + rate * (signed @ z[..., None])[..., 0], domain)
        if neighbours == "replace":
            other = _project(other - rate * (signed @ other[..., None])[..., 0], domain)
        loss = _loss(A, z, other)
        better = loss > best
        best = np.where(better, loss, best)
        kept = (np.where(better[:, None], z, kept[0]), np.where(better[:, None], other, kept[1]))
    top = int(best.argmax())
    return Pair(kept[0][top], kept[1][top], float(best[top]))


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
