"""Data sets of generated people, with the attributes, the sizes and the public bounds the papers' census data need.

The papers used extracts that nobody may pass on. These are not those data, and no row is a real person. Whoever has
an extract names its folder in the environment variable `CENSUS_EXTRACTS`, and gets its people instead.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import DataError, InputError
from dpreg.noise import RandomState
from lib.data import datasets, ipums
from lib.data.datasets import Dataset
from lib.data.generated_parameters import Country, document
from lib.data.generated_people import people

INCOME = "annual_income"
EXTRACTS = "CENSUS_EXTRACTS"  # the one setting: a folder with the user's own extracts, relative to the repository

# 001 (Section 7) counts income among the attributes, and splits marital status in two: so 14 are 13 predictors.
FIVE = ("age", "female", "education", "family_size")
EIGHT = (*FIVE, "native", "owns_dwelling", "n_autos")
ELEVEN = (*EIGHT, "is_single", "is_married", "n_children")
FOURTEEN = (
    *("age", "female", "is_single", "is_married", "education", "disability", "native", "hours_per_week"),
    *("years_residing", "owns_dwelling", "family_size", "n_children", "n_autos"),
)
SIX = ("age", "female", "race", "marital", "education")  # 002, slide 11
NINE = (*SIX[:4], "family_size", "education", "employment", "house_type")  # 000, Section 5.1
UNORDERED = ("race", "marital", "employment", "house_type")
PREDICTORS = {5: FIVE, 6: SIX, 8: EIGHT, 9: NINE, 11: ELEVEN, 14: FOURTEEN}

# What a questionnaire of this kind can hold, fixed before anybody is drawn.
BOUNDS: dict[str, tuple[float, float]] = {
    "age": (18, 90),
    "female": (0, 1),
    "race": (1, 4),
    "marital": (1, 3),
    "is_single": (0, 1),
    "is_married": (0, 1),
    "education": (1, 16),
    "disability": (0, 1),
    "native": (0, 1),
    "hours_per_week": (0, 99),
    "years_residing": (0, 60),
    "owns_dwelling": (0, 1),
    "family_size": (1, 16),
    "n_children": (0, 9),
    "n_autos": (0, 6),
    "employment": (1, 3),
    "house_type": (1, 7),
}
BRAZIL: dict[str, tuple[float, float]] = {"education": (0, 17), "years_residing": (0, 90)}


@checked
def bounds(country: Country) -> dict[str, tuple[float, float]]:
    """Return the public bounds of every predictor; every generated person lies within them.

    Examples
    --------
    >>> bounds("US")["education"], bounds("BR")["education"]
    ((1.0, 16.0), (0.0, 17.0))
    """
    checks.choice(country, ("US", "BR"), "country")
    own = BOUNDS | (BRAZIL if country == "BR" else {})
    return {name: (float(low), float(high)) for name, (low, high) in own.items()}


@checked
def census(
    country: Country = "US",
    n: int = 370_000,
    *,
    attributes: int = 14,
    cap: float = 100_000.0,
    random_state: RandomState = 2000,
    one_hot: bool | Literal["drop first"] = False,
) -> Dataset:
    """Return heads of households, generated or from the user's own extract; the response is annual income, top-coded.

    With the environment variable `CENSUS_EXTRACTS`, `n` heads are drawn without replacement from the extract in that
    folder (see `ipums.heads`), and clipped to the same bounds. The source of the data set tells which it is.

    Parameters
    ----------
    country : {"US", "BR"}
        Income is in dollars or in reais.
    n : int
        001 has 370,000 (US) and 190,000 (BR), 004 has 370,057 and 188,846, 000 has 316,276 (US).
    attributes : {5, 8, 11, 14, 6, 9}
        The attributes of 001 (5, 8, 11, 14), of 002 (6) or of 000 (9), income among them: one more than the predictors.
    cap : float
        Top code, and public upper bound, of income; what lies above is moved to it, and losses are moved to zero.
    random_state : None, int, SeedSequence or Generator
    one_hot : bool or "drop first"
        Make one column per category of race, marital status, employment status and house type, where the set has them,
        such as `race=2`; "drop first" leaves each first category out. Otherwise they are codes 1, 2, 3, ...

    Raises
    ------
    DataError
        If the extract lacks a variable, or has fewer than `n` heads who answered everything.

    Examples
    --------
    >>> data = census("US", 1000)
    >>> data.X.shape, data.bounds["annual_income"]
    ((1000, 13), (0.0, 100000.0))
    """
    if type(attributes) is not int or attributes not in PREDICTORS:
        raise InputError(f"attributes is {attributes!r}: choose one of {', '.join(map(str, sorted(PREDICTORS)))}")
    top = checks.positive(cap, "cap")
    names = PREDICTORS[attributes]
    folder = os.environ.get(EXTRACTS)
    if folder:
        frame, source = _extract(folder, country, n, names, random_state)
    else:
        frame, source = people(country, n, random_state=random_state), "generated"
    public = {name: bounds(country)[name] for name in names} | {INCOME: (0.0, top)}
    y = np.clip(frame[INCOME].to_numpy(dtype=float), 0.0, top)
    data = Dataset(frame[list(names)].to_numpy(dtype=float), y, names, INCOME, public, source)
    drop = isinstance(one_hot, str) and checks.choice(one_hot, ("drop first",), "one_hot") == "drop first"
    if not (drop or checks.flag(one_hot, "one_hot")):
        return data
    return datasets.one_hot(data, [name for name in UNORDERED if name in names], drop_first=drop)


def _extract(
    folder: str, country: Country, n: int, names: tuple[str, ...], random_state: RandomState
) -> tuple[pd.DataFrame, str]:
    """Return `n` of the user's people within the public bounds, the same ones for all subsets of 001's attributes."""
    limits = bounds(country)
    checks.count(n, "n")
    place = datasets.DATA.parent / Path(folder).expanduser()
    columns = FOURTEEN if set(names) <= set(FOURTEEN) else names
    frame, source = ipums.heads(place, country, [*columns, INCOME])
    if len(frame) < n:
        raise DataError(f"n is {n}, but the source is {source}: make a larger extract, or ask for fewer")
    frame = frame.iloc[noise.generator(random_state).choice(len(frame), n, replace=False)].copy()
    for name in columns:
        frame[name] = frame[name].clip(*limits[name])
    return frame, source


@checked
def above(data: Dataset, threshold: float) -> Dataset:
    """Return the same predictors with the label `response > threshold`, as 0 and 1.

    Examples
    --------
    >>> labels = above(census("US", 1000), 50_000)
    >>> labels.response_name, labels.bounds["above"], sorted(set(labels.y.tolist()))
    ('above', (0.0, 1.0), [0.0, 1.0])
    """
    level = checks.finite(threshold, "threshold")
    public = {name: data.bounds[name] for name in data.names} | {"above": (0.0, 1.0)}
    return Dataset(data.X, (data.y > level).astype(float), data.names, "above", public, data.source)


@checked
def calibration(country: Country, n: int = 370_000, random_state: RandomState = 2000) -> pd.DataFrame:
    """Return the totals the generator is compared with, what it gives, and the difference: its misses among them.

    A total whose source is "recalled" was written down from memory, and is no fact to rely on.

    Parameters
    ----------
    country : {"US", "BR"}
    n : int
        How many heads, and how many adults, to draw.
    random_state : None, int or SeedSequence

    Examples
    --------
    >>> list(calibration("BR", 1000).columns)
    ['name', 'people', 'target', 'source', 'generated', 'difference']
    """
    checks.choice(country, ("US", "BR"), "country")
    targets = [one for one in document()["targets"] if one["country"] == country]
    kinds = sorted({one["people"] for one in targets})
    drawn = {kind: people(country, n, population=kind, random_state=random_state) for kind in kinds}
    rows = [(one["name"], one["people"], one["value"], one["source"], _measure(one, drawn)) for one in targets]
    frame = pd.DataFrame(rows, columns=["name", "people", "target", "source", "generated"])
    return frame.assign(difference=frame["generated"] - frame["target"])


def _measure(target: dict[str, Any], drawn: dict[str, pd.DataFrame]) -> float:
    frame = drawn[target["people"]]
    among = frame.query(target["of"]) if "of" in target else frame
    return float(getattr(among.eval(target["is"]), target.get("statistic", "mean"))())
