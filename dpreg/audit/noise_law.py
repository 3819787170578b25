"""Whether the noise that is drawn has the law and the scale that are stated, entry by entry and together.

Each test below errs with probability `ALPHA` at most where the law is the one that is stated, the correlations of one
sample together. A scale five per cent off is noticed from about 20 000 numbers on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats

from dpreg.audit.findings import Finding
from dpreg.audit.statement import Declared, Sample
from dpreg.checks import FloatArray

ALPHA = 1e-6
SIZE = 40_000


def audit_noise(
    declared: Declared,
    rng: np.random.Generator,
    size: int = SIZE,
    epsilon: float = 0.7,
    sizes: tuple[int, ...] = (2, 5),
) -> list[Finding]:
    """Return what the tests say of a mechanism's noise under each relation: infinite where a law is rejected.

    Parameters
    ----------
    declared : Declared
    rng : Generator
    size : int
        About so many numbers are drawn; fewer of what is slow to draw.
    epsilon : float
    sizes : tuple of int
        Numbers of predictors.

    Examples
    --------
    >>> from dpreg.audit.quadratic_releases import ALL
    >>> found = audit_noise(ALL[0], np.random.default_rng(1), sizes=(2,))
    >>> len(found), any(finding.refuted for finding in found)
    (10, False)
    """
    findings, plain = [], declared.domain(2, False).intercept
    settings = [(setting, len(declared.steps(setting))) for setting in declared.settings(sizes, epsilon)]
    fewest = min((steps for _, steps in settings), default=0)
    for setting, steps in settings:
        if setting.domain.intercept != plain and steps == fewest:
            continue  # a constant is one more column, unless a release comes with it
        for sample in declared.samples(setting, size, rng):
            for event, chance in p_values(sample):
                found = math.inf if chance < ALPHA else epsilon
                where = f"{sample.name}: {event}, p = {chance:.1g}"
                draws = sample.values.size
                findings.append(
                    Finding("noise law", declared.name, str(setting), where, epsilon, found, 1 - ALPHA, draws)
                )
    return findings


def p_values(sample: Sample) -> Iterator[tuple[str, float]]:
    """Yield the name of each test and the probability of a result so extreme, at least.

    Examples
    --------
    >>> values = np.random.default_rng(1).laplace(size=(2000, 2))
    >>> sound, shared = Sample("", values, stats.laplace, 1.0), Sample("", values[:, [0, 0]], stats.laplace, 1.0)
    >>> [min(chance for _, chance in p_values(sample)) > 1e-6 for sample in (sound, shared)]
    [True, False]
    """
    flat, law = sample.values.ravel(), sample.law
    if _discrete(law):
        yield "law", _chi_square(flat, law)
    else:
        yield "law", float(stats.kstest(flat, law.cdf).pvalue)
        yield "no draw twice", 1.0 if len(np.unique(flat)) == len(flat) else 0.0
    square = float(law.var() + law.mean() ** 2)
    error = math.sqrt((square - sample.absolute**2) / len(flat))
    yield "scale", float(2 * stats.norm.sf(abs(np.abs(flat).mean() - sample.absolute) / error))
    for name, values in (("correlation", sample.values), ("correlation of sizes", np.abs(sample.values))):
        yield name, _correlated(values)


def _discrete(law: Any) -> bool:
    return hasattr(getattr(law, "dist", law), "pmf")


def _chi_square(values: FloatArray, law: Any) -> float:
    """Return the p-value of counts in cells that hold ten expected numbers or more."""
    low, high = float(values.min()) - 1, float(values.max()) + 1
    edges = np.arange(low, high + 1)
    share = np.diff(np.r_[0.0, law.cdf(edges), 1.0])
    count = np.histogram(values, np.r_[-np.inf, edges + 0.5, np.inf])[0]
    groups = np.unique(np.cumsum(share * len(values)) // 10, return_inverse=True)[1]  # ten expected to a group
    expected, seen = (np.bincount(groups, part) for part in (share * len(values), count))
    if len(expected) > 1 and expected[-1] < 5:
        expected, seen = (np.r_[part[:-2], part[-2:].sum()] for part in (expected, seen))
    if (seen[expected == 0] > 0).any():
        return 0.0
    expected, seen = expected[expected > 0], seen[expected > 0]
    if len(expected) < 2:
        return 1.0
    return float(stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue)


def _correlated(values: FloatArray) -> float:
    """Return a p-value for the largest correlation between columns, and of each with the next draw (Bonferroni)."""
    centred = values - values.mean(axis=0)
    size = np.sqrt((centred**2).mean(axis=0))
    if not (size > 0).all():
        return 0.0
    centred /= size
    n = len(centred)
    columns = np.abs(centred.T @ centred / n)[np.triu_indices(values.shape[1], 1)]
    later = np.abs((centred[1:] * centred[:-1]).mean(axis=0))
    all_of_them = np.r_[columns, later]
    return float(min(1.0, 2 * stats.norm.sf(all_of_them.max() * math.sqrt(n)) * len(all_of_them)))
