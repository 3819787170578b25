"""Whether a ledger adds up: to what was asked for, and each of its entries to its own sensitivity and scale."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpreg.audit.findings import Finding
from dpreg.audit.statement import Declared, Setting
from dpreg.pipeline.ledger import Ledger

FORGIVEN = 1e-9  # relative rounding


def audit_budget(declared: Declared, rng: np.random.Generator, sizes: tuple[int, ...] = (1, 2, 5, 13)) -> list[Finding]:
    """Return what a mechanism's ledgers say against what follows from them.

    Parameters
    ----------
    declared : Declared
    rng : Generator
    sizes : tuple of int
        Numbers of predictors.

    Examples
    --------
    >>> from dpreg.audit.quadratic_releases import ALL
    >>> found = audit_budget(ALL[0], np.random.default_rng(1), (1, 2))
    >>> len(found) > 0, any(finding.refuted for finding in found)
    (True, False)
    """
    findings = []
    for setting in declared.settings(sizes):
        _, ledger = declared.release(*declared.records(setting.domain.d, 20, rng), setting, 1)
        findings += [
            Finding("budget algebra", declared.name, str(setting), event, claimed, found)
            for event, claimed, found in _sums(declared, setting, ledger)
        ]
    return findings


def _sums(declared: Declared, setting: Setting, ledger: Ledger) -> Iterator[tuple[str, float, float]]:
    """Yield what is compared, the number that is claimed, and the one that was worked out: infinite if they differ."""
    total = ledger.rho if declared.spends == "rho" else ledger.epsilon
    least = setting.epsilon if declared.spends in ("epsilon", "rho") else 0.0
    wrong = not least * (1 - FORGIVEN) <= total <= setting.epsilon * (1 + FORGIVEN)
    if declared.spends != "as certified":
        yield "total, as asked for", setting.epsilon, math.inf if wrong else total
    for spend in ledger:
        said = spend.epsilon, spend.delta, spend.rho
        for what, claimed, found in zip(("epsilon", "delta", "rho"), said, declared.price(spend, setting), strict=True):
            same = claimed == found or math.isclose(claimed, found, rel_tol=1e-5 if what == "delta" else FORGIVEN)
            yield f"{what} of {spend.released}", claimed, claimed if same else math.inf
        words = {
            "neighbours": spend.neighbours == setting.neighbours,
            "norm": spend.norm in declared.norms,
            "caveat": not spend.caveat,
            "sensitivity and scale": spend.sensitivity > 0 and spend.scale > 0,
        }
        for what, good in words.items():
            yield f"{what} of {spend.released}", setting.epsilon, setting.epsilon if good else math.inf
