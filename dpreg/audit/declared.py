"""Mechanisms, with what they state of themselves, and the audit of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from dpreg import checks, noise
from dpreg.audit import (
    count_releases,
    further_releases,
    hull_releases,
    irls_releases,
    other_releases,
    quadratic_releases,
)
from dpreg.audit.budget_algebra import audit_budget
from dpreg.audit.findings import Finding, Report
from dpreg.audit.metamorphic import audit_relations
from dpreg.audit.noise_law import audit_noise
from dpreg.audit.privacy_loss import audit_privacy_loss
from dpreg.audit.sensitivity_search import audit_sensitivity
from dpreg.audit.statement import Declared

Layer = Callable[[Declared, np.random.Generator], list[Finding]]

MODULES = (quadratic_releases, further_releases, count_releases, other_releases, irls_releases, hull_releases)
TABLE = tuple(declared for module in MODULES for declared in module.ALL)
MECHANISMS = {declared.name: declared for declared in TABLE}

# In the order of what they cost.
LAYERS: dict[str, Layer] = {
    "budget algebra": audit_budget,
    "metamorphic": audit_relations,
    "sensitivity": audit_sensitivity,
    "privacy loss": audit_privacy_loss,
    "noise law": audit_noise,
}
QUICK: dict[str, Layer] = LAYERS | {
    "budget algebra": partial(audit_budget, sizes=(2,)),
    "sensitivity": partial(audit_sensitivity, sizes=(2,), polish=0),
    "noise law": partial(audit_noise, sizes=(2,)),
}


def audit(
    names: str | Iterable[str] = "all",
    layers: str | Iterable[str] = "all",
    *,
    quick: bool = False,
    random_state: int = 0,
) -> Report:
    """Try to refute what mechanisms state of themselves, where the law of their noise is known.

    Parameters
    ----------
    names : str or iterable of str
        Keys of `MECHANISMS`, or "all".
    layers : str or iterable of str
        Keys of `LAYERS`, or "all".
    quick : bool
        Few predictors only.
    random_state : int
        Each mechanism and layer has its own stream, so its findings do not depend on the others.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        For a name or a layer that is not known.

    Examples
    --------
    >>> report = audit("functional", ["budget algebra", "sensitivity"], quick=True)
    >>> len(report.findings) > 0, report.refuted
    (True, ())
    """
    chosen = _chosen(names, tuple(MECHANISMS), "name")
    wanted = _chosen(layers, tuple(LAYERS), "layer")
    run = QUICK if checks.flag(quick, "quick") else LAYERS
    start, findings = time.perf_counter(), []
    for name in chosen:
        for layer in wanted:
            keys = list(MECHANISMS).index(name), list(LAYERS).index(layer)
            findings += run[layer](MECHANISMS[name], noise.spawn(random_state, *keys))
    return Report(tuple(findings), random_state, time.perf_counter() - start)


def _chosen(given: str | Iterable[str], known: tuple[str, ...], name: str) -> tuple[str, ...]:
    if given == "all":
        return known
    one = (given,) if isinstance(given, str) else tuple(given)
    return tuple(checks.choice(word, known, name) for word in one)
