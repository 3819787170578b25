"""A search for the neighbours that a mechanism's numbers tell apart best, against what its ledger charges for them.

What the chapters prove is not used: the numbers of two data sets are worked out by the engine and compared. Records
outside the bounds are tried as well, because a mechanism has to clip them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import optimize

from dpreg.audit.findings import Finding
from dpreg.audit.statement import Declared, Setting, Step
from dpreg.checks import FloatArray

Records = tuple[FloatArray, FloatArray]
minimize: Any = optimize.minimize  # its overloads know no array of unknown length

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)  # the bounds are -1 and 1
CORNERS = 700  # records tried at most from the corners
SCATTERED = 60  # records tried at random
BESIDE = 3  # records that both data sets hold


def audit_sensitivity(
    declared: Declared, rng: np.random.Generator, sizes: tuple[int, ...] = (1, 2, 5), polish: int = 60
) -> list[Finding]:
    """Return the largest loss found for each step of a mechanism; claimed over found says how tight the ledger is.

    Parameters
    ----------
    declared : Declared
    rng : Generator
    sizes : tuple of int
        Numbers of predictors.
    polish : int
        Steps of the simplex search (Nelder and Mead) that starts from the best pair. With zero nothing climbs.

    Examples
    --------
    >>> from dpreg.audit.quadratic_releases import ALL
    >>> found = audit_sensitivity(ALL[0], np.random.default_rng(1), (2,))
    >>> [round(finding.found / finding.claimed, 6) for finding in found]
    [1.0, 1.0, 1.0, 1.0]
    """
    findings = []
    for setting in declared.settings(sizes):
        for step in declared.steps(setting):
            loss, pair = worst(declared, setting, step, rng, polish)
            if polish and step.climb is not None and (higher := step.climb(rng)) > loss:
                loss, pair = higher, "found by climbing"
            event = f"change of {step.name}"
            findings.append(Finding("sensitivity", declared.name, f"{setting}: {pair}", event, step.price, loss))
    return findings


def worst(
    declared: Declared, setting: Setting, step: Step, rng: np.random.Generator, polish: int = 60
) -> tuple[float, str]:
    """Return the largest privacy loss that was found for a step, and the two records in words.

    All corners of the domain and some records around them are compared with each other, or with no record; then the
    best pair is improved.

    Parameters
    ----------
    declared : Declared
    setting : Setting
    step : Step
    rng : Generator
    polish : int

    Examples
    --------
    >>> from dpreg.audit.quadratic_releases import ALL
    >>> setting = next(ALL[0].settings((1,)))
    >>> round(worst(ALL[0], setting, ALL[0].steps(setting)[0], np.random.default_rng(1))[0], 6)
    0.7
    """
    common = declared.records(setting.domain.d, BESIDE, rng)
    tried = _candidates(declared, setting, rng)

    def numbers(record: FloatArray | None) -> FloatArray:
        X, y = common
        if record is not None:
            X, y = np.vstack([X, record[1:]]), np.append(y, record[0])
        return step.exact(X, y)

    found = np.array([numbers(record) for record in tried])
    if setting.neighbours == "add_remove":
        losses = step.loss(found - numbers(None))
        top = int(losses.argmax())
        best, records = float(losses[top]), tried[top][None]
    else:
        losses = np.array([step.loss(found - one) for one in found])
        one, other = divmod(int(losses.argmax()), len(tried))
        best, records = float(losses[one, other]), tried[[one, other]]

    def lower(free: FloatArray) -> float:
        rows = records.copy()
        columns = slice(1, None) if declared.labels else slice(None)  # a label stays one
        rows[:, columns] = free.reshape(len(rows), -1)
        return -float(step.loss(numbers(rows[0]) - numbers(rows[1] if len(rows) > 1 else None)))

    start = (records[:, 1:] if declared.labels else records).ravel()
    if polish and np.isfinite(best):
        best = max(best, -float(minimize(lower, start, method="Nelder-Mead", options={"maxiter": polish}).fun))
    return best, " and ".join(str(record.round(3).tolist()) for record in records) + " (y, x)"


def _candidates(declared: Declared, setting: Setting, rng: np.random.Generator) -> FloatArray:
    """Return records (y, x), of shape (k, d + 1): corners, points between and beyond them, and some at random."""
    d = setting.domain.d
    values = VALUES if len(VALUES) ** (d + 1) <= CORNERS else (-1.0, 1.0)
    responses = setting.domain.response if declared.labels else values
    grid = np.array(list(itertools.islice(itertools.product(responses, *[values] * d), CORNERS)))
    X = rng.uniform(-1.5, 1.5, (SCATTERED, d))
    y = rng.choice(np.array(responses), SCATTERED) if declared.labels else rng.uniform(-1.5, 1.5, SCATTERED)
    return np.vstack([grid, np.c_[y, X]])
