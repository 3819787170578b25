"""Attempts to refute a claimed guarantee: by algebra, by search, by the law of the noise, by counting events."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpreg.audit.black_box import estimator
    from dpreg.audit.findings import Finding, Report
    from dpreg.audit.pairs import Pair, standard

__all__ = ["Finding", "Pair", "Report", "estimator", "standard"]

# Imported when asked for: whoever reads a report does not wait for scikit-learn.
PLACES = {
    "black_box": ("estimator",),
    "findings": ("Finding", "Report"),
    "pairs": ("Pair", "standard"),
}


def __getattr__(name: str) -> Any:
    for place, names in PLACES.items():
        if name in names:
            return getattr(import_module(f"dpreg.audit.{place}"), name)
    raise AttributeError(f"module 'dpreg.audit' has no attribute {name!r}")
