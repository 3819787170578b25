"""The exact privacy loss of a released coefficient, where there is one column: its density, by change of variables.

Whatever the grid of an integral, both data sets share it and its weights are positive: the ratio of two such sums is at
most the largest ratio of their terms, so a coarse grid can hide a loss but never make one up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy import special, stats

from dpreg.arguments import checked
from dpreg.audit.findings import Finding
from dpreg.audit.statement import RELATIONS, Declared, Setting
from dpreg.checks import FloatArray, InputError
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline import repair, solve
from dpreg.pipeline.laws import Scales
from dpreg.pipeline.objective import Quadratic

EPSILONS = (0.3, 2.0)
OUTPUTS = np.r_[-np.geomspace(1e-3, 1e3, 30)[::-1], np.geomspace(1e-3, 1e3, 30)]
NODES = 300
VALUES = (-3.0, -1.0, 0.0, 0.6, 1.0, 3.0)  # the bounds are -1 and 1, and what is out is clipped
FORGIVEN = 1e-6  # relative: rounding of the densities, and the gradient that a solver leaves


def audit_privacy_loss(declared: Declared, rng: np.random.Generator) -> list[Finding]:
    """Return the largest privacy loss found of a mechanism with one column, for each relation; none without densities.

    Examples
    --------
    >>> from dpreg.audit.quadratic_releases import ALL
    >>> found = audit_privacy_loss(ALL[0], np.random.default_rng(1))
    >>> [finding.refuted for finding in found]
    [False, False, False, False]
    """
    if declared.density is None:
        return []
    domain = declared.domain(1, False)
    if domain.p != 1:
        return []
    findings = []
    for epsilon, relation in itertools.product(EPSILONS, RELATIONS):
        setting = Setting(domain, epsilon, relation)
        _, ledger = declared.release(*declared.records(1, 5, rng), setting, 1)
        loss, pair, output = max(_losses(declared, setting, rng), key=lambda found: found[0])
        event = f"theta = {output}, out of {len(OUTPUTS)} and the rest"
        found = loss / (1 + FORGIVEN)
        findings.append(Finding("privacy loss", declared.name, f"{relation}: {pair}", event, ledger.epsilon, found))
    return findings


def _losses(declared: Declared, setting: Setting, rng: np.random.Generator) -> Iterator[tuple[float, str, str]]:
    """Yield the loss of each pair of neighbours, the pair, and the output where it is largest."""
    assert declared.density is not None
    ends = setting.domain.response if declared.labels else VALUES
    for n in (0, 4):
        X, y = declared.records(1, n, rng)
        logs: dict[tuple[float, ...], FloatArray] = {}
        if setting.neighbours == "add_remove":
            logs[()] = declared.density(X, y, setting)
        for x, t in itertools.product(VALUES, ends):
            logs[(x, t)] = declared.density(np.vstack([X, [[x]]]), np.r_[y, t], setting)
        for one, other in itertools.combinations(logs, 2):
            if setting.neighbours == "add_remove" and one:
                continue
            with np.errstate(invalid="ignore"):  # where both are impossible there is no loss
                apart = np.abs(logs[one] - logs[other])
            top = int(np.where(np.isnan(apart), -1.0, apart).argmax())
            where = f"{OUTPUTS[top]:.4g}" if top < len(OUTPUTS) else "exactly zero"
            yield float(apart[top]), f"{one or 'none'} and {other}, beside {n} records", where


@checked
def quadratic_density(f: Quadratic, law: Scales) -> FloatArray:
    """Return the log density of the lifted minimiser on `OUTPUTS`, and the log chance of exactly zero, the last entry.

    The engine's repair and solver say where a noisy quadratic goes: theta is v times some function of M. So the
    density of theta is the integral over M of the densities of M and of v, times the derivative of v in theta.

    Parameters
    ----------
    f : Quadratic with one column
    law : Scales

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> f = Quadratic([[4.0]], [-4.0], 1.0)
    >>> log = quadratic_density(f, unit_scales("monomial", 1))
    >>> bool(OUTPUTS[log[:-1].argmax()] > 0)
    True
    """
    if law.p != 1 or f.p != 1:
        raise InputError(f"the law has {law.p} columns and the objective {f.p}: give one column")
    b, beta, centre = float(law.M[0, 0]), float(law.v[0]), float(f.M[0, 0])
    nodes, weights, slope = _nodes(b, beta)
    log_M = np.log(weights / (2 * b)) - np.abs(nodes - centre) / b
    moving = slope != 0
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(slope[moving]))
        linear = OUTPUTS[:, None] / slope[moving]
        log_v = -np.abs(linear - float(f.v[0])) / beta - math.log(2 * beta)
        log = special.logsumexp(log_M[moving] + log_v - size, axis=1)
        atom = special.logsumexp(log_M[~moving]) if (~moving).any() else -math.inf
    return np.asarray(np.r_[log, atom])


def tilted_density(X: FloatArray, y: FloatArray, setting: Setting) -> FloatArray:
    """Return the log density of the minimiser of objective perturbation on `OUTPUTS`.

    The tilt is minus the gradient at the minimiser, so its density there times the second derivative is that of theta.
    The scale of the tilt is the ledger's. The ridge is found from two runs that share a seed, and so the tilt.

    Parameters
    ----------
    X, y : arrays of shape (n, 1) and (n,)
        With labels 0 and 1, in the user's units of the domain.
    setting : Setting

    Examples
    --------
    >>> from dpreg.audit.statement import labelled
    >>> log = tilted_density(np.ones((1, 1)), np.ones(1), Setting(labelled(1, False), 1.0, "replace"))
    >>> len(log) == len(OUTPUTS)
    True
    """
    none, one = (np.empty((0, 1)), np.empty(0)), (np.ones((1, 1)), np.ones(1))
    options: Any = {"neighbours": setting.neighbours, "random_state": 5}
    (start, _), (end, ledger) = (
        objective_perturbation(*data, setting.domain, setting.epsilon, **options) for data in (none, one)
    )
    ridge = float((special.expit(end[0]) - 1.0) / (start[0] - end[0]))
    scale = ledger.spends[0].scale
    Z, t = setting.domain.scale(X, y)
    chance = special.expit(OUTPUTS[:, None] * Z[:, 0])
    gradient = ((chance - (t > 0)) * Z[:, 0]).sum(axis=1) + ridge * OUTPUTS
    curvature = (chance * (1 - chance) * Z[:, 0] ** 2).sum(axis=1) + ridge
    return np.asarray(stats.laplace.logpdf(-gradient, 0.0, scale) + np.log(curvature))


@cache
def _nodes(b: float, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return values that a noisy M takes, their weights in an integral, and theta over v for each."""
    # By the quantiles of the noise around a public point, so that they are the same for all data sets.
    chances = (np.arange(NODES) + 0.5) / NODES
    nodes = np.sort(np.concatenate([stats.laplace.ppf(chances, centre, b) for centre in (0.0, 5.0)]))
    stack = Quadratic(nodes[:, None, None], np.ones((len(nodes), 1)), np.zeros(len(nodes)))
    return (
        nodes,
        np.gradient(nodes),
        solve.minimise(repair.lift(stack, Scales(np.array([[b]]), np.array([beta]))))[:, 0],
    )
