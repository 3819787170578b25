"""The parameters of the census-like generator, read from `data/census.yml`, where each has a meaning and a source."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
import yaml

from dpreg.arguments import checked
from lib.data.datasets import DATA

Country = Literal["US", "BR"]

YOUNGEST, OLDEST = 18, 90
AGES = np.arange(OLDEST + 1)


@cache
def document() -> dict[str, Any]:
    """Return `data/census.yml`: sources, parameters with their meaning, and the totals to compare with.

    Examples
    --------
    >>> document()["parameters"]["earnings"]["schooling"]["what"]
    'What a year of schooling adds'
    """
    loaded: dict[str, Any] = yaml.safe_load((DATA / "census.yml").read_text(encoding="utf-8"))
    return loaded


@checked
@cache
def parameters(country: Country) -> Any:
    """Return the parameters of one country by stage and name, age curves as arrays indexed by age.

    Examples
    --------
    >>> parameters("US").earnings.schooling, parameters("BR").work.share.shape
    (0.128, (2, 91))
    """
    stages = {
        stage: SimpleNamespace(**{name: _value(entry.get(country, entry.get("both"))) for name, entry in group.items()})
        for stage, group in document()["parameters"].items()
    }
    return SimpleNamespace(**stages)


def provenance() -> pd.DataFrame:
    """Return how many numbers of the model rest on which kind of source; an age curve counts each of its points.

    Examples
    --------
    >>> list(provenance().columns)
    ['source', 'numbers', 'share', 'what it is']
    """
    held: dict[str, int] = {}
    for entry in (entry for group in document()["parameters"].values() for entry in group.values()):
        for country in ("US", "BR"):
            source = entry["source"] if isinstance(entry["source"], str) else entry["source"][country]
            held[source] = held.get(source, 0) + _size(entry.get(country, entry.get("both")))
    rows = [(name, size, size / sum(held.values()), document()["sources"][name]) for name, size in held.items()]
    frame = pd.DataFrame(rows, columns=["source", "numbers", "share", "what it is"])
    return frame.sort_values("numbers", ascending=False, ignore_index=True)


def _size(raw: Any) -> int:
    if isinstance(raw, dict):
        return _size(raw["values"]) if "values" in raw else len(raw)
    return sum(map(_size, raw)) if isinstance(raw, list) else 1


def _value(raw: Any) -> Any:
    """Return a number, an array, or an age curve, or two of them, men first."""
    if isinstance(raw, dict) and "ages" in raw:
        return np.interp(AGES, raw["ages"], raw["values"])
    if isinstance(raw, list):
        return np.stack([_value(part) for part in raw]) if isinstance(raw[0], dict) else np.array(raw)
    return raw
