"""Data sets with public bounds. Files are checked against their checksum before they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import DataError, FloatArray, InputError
from dpreg.pipeline.domain import Box

DATA = Path(__file__).resolve().parents[2] / "data"
WINE_FILE = "winequality-white.csv"
WINE_SHA256 = "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836"

# Round numbers of our choice that leave room around what a white wine can hold, in the file's units. They are
# written here, not computed from the file; but we had seen the file, as anybody has by now.
WINE_BOUNDS = {
    "fixed acidity": (2.0, 16.0),
    "volatile acidity": (0.0, 1.5),
    "citric acid": (0.0, 2.0),
    "residual sugar": (0.0, 70.0),
    "chlorides": (0.0, 0.4),
    "free sulfur dioxide": (0.0, 300.0),
    "total sulfur dioxide": (0.0, 450.0),
    "density": (0.98, 1.04),
    "pH": (2.5, 4.0),
    "sulphates": (0.0, 1.2),
    "alcohol": (7.0, 15.0),
    "quality": (0.0, 10.0),
}

KDD_FILE = "kdd_heads.csv.gz"
KDD_SHA256 = "0952dcf1d675a41656151a5210219e4ea5916ff36aef4022de6e08b6271e85bd"

# What answers can be in this survey: ages end at 90, a year has 52 weeks, a doctorate stands for 20 years of school.
KDD_BOUNDS = {
    "age": (15.0, 90.0),
    "female": (0.0, 1.0),
    "race": (1.0, 4.0),
    "is_single": (0.0, 1.0),
    "is_married": (0.0, 1.0),
    "education": (0.0, 20.0),
    "works": (0.0, 1.0),
    "self_employed": (0.0, 1.0),
    "native": (0.0, 1.0),
    "weeks_worked": (0.0, 52.0),
    "over_50k": (0.0, 1.0),
}


@checked
@dataclass(frozen=True, eq=False)
class Dataset:
    """Predictors, response, their names and public bounds.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    names : tuple of d predictor names
    response_name : str
    bounds : dict from name to (lower, upper), public
    source : str
        Citation and licence.
    """

    X: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    response_name: str
    bounds: dict[str, tuple[float, float]]
    source: str

    def __post_init__(self) -> None:
        X, y = checks.rows(self.X, self.y)
        checks.all_finite(X, "X")
        checks.all_finite(y, "y")

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.y)

    def box(self, *, intercept: bool = False, corner: bool = False) -> Box:
        """Return the domain of the public bounds."""
        lower, upper = zip(*(self.bounds[name] for name in self.names), strict=True)
        return Box(lower, upper, self.bounds[self.response_name], intercept=intercept, corner=corner)


@checked
def wine(path: str | Path | None = None) -> Dataset:
    """Return the white wines of Cortez et al. (2009): 4,898 records, 11 predictors, response `quality`.

    Parameters
    ----------
    path : str or Path, optional
        Another copy of the file; it must be byte for byte the same.

    Raises
    ------
    DataError
        If the file is missing, or its checksum is not the one of the original.

    Examples
    --------
    >>> data = wine()
    >>> data.X.shape, data.response_name
    ((4898, 11), 'quality')
    """
    file = verified(DATA / WINE_FILE if path is None else Path(path), WINE_SHA256)
    frame = pd.read_csv(file, sep=";").astype(float)
    names = tuple(frame.columns[:-1])
    return Dataset(
        frame[list(names)].to_numpy(),
        frame["quality"].to_numpy(),
        names,
        "quality",
        WINE_BOUNDS,
        "Cortez et al. (2009), UCI Machine Learning Repository, CC BY 4.0",
    )


@checked
def kdd_heads(part: Literal["all", "train", "test"] = "all") -> Dataset:
    """Return real heads of households, 113,417 of the US in 1994 and 1995; the response is income over 50,000 dollars.

    They are those of the Census-Income (KDD) data of the UCI repository; `data/README.md` says what was changed.

    Parameters
    ----------
    part : {"all", "train", "test"}
        The repository's own split; "all" has the training records first.

    Raises
    ------
    DataError
        If the file is missing, or its checksum is not the one of the original.

    Notes
    -----
    `race` is 1 White, 2 Black, 3 Asian or Pacific Islander, 4 other: names, whose order means nothing (see `one_hot`).
    `education` is years of school. `is_single` is never married, `is_married` is with the spouse present.

    Examples
    --------
    >>> data = kdd_heads()
    >>> data.X.shape, round(float(data.y.mean()), 4)
    ((113417, 10), 0.1275)
    """
    frame = pd.read_csv(verified(DATA / KDD_FILE, KDD_SHA256), compression="gzip").astype(float)
    if part != "all":
        frame = frame[frame["test"] == (part == "test")]
    frame = frame.assign(is_single=frame["marital"] == 1, is_married=frame["marital"] == 2)
    *names, response = KDD_BOUNDS
    return Dataset(
        frame[names].to_numpy(dtype=float),
        frame[response].to_numpy(),
        tuple(names),
        response,
        KDD_BOUNDS,
        "Census-Income (KDD), heads of households, UCI Machine Learning Repository, CC BY 4.0",
    )


@checked
def one_hot(data: Dataset, columns: Collection[str], *, drop_first: bool = False) -> Dataset:
    """Return the data with each of these columns replaced by one column of zeros and ones per category.

    The categories are the whole numbers between the public bounds, whether or not anybody has them.

    Parameters
    ----------
    data : Dataset
    columns : collection of str
        Predictors that are codes without an order.
    drop_first : bool
        Leave the first category out, so that the columns of one code do not add up to a constant column.

    Examples
    --------
    >>> one_hot(kdd_heads(), ["race"]).names[2:6]
    ('race=1', 'race=2', 'race=3', 'race=4')
    """
    checks.instance(columns, (list, tuple, set, frozenset), "columns")
    if unknown := [name for name in columns if name not in data.names]:
        raise InputError(f"columns has {unknown[0]!r}, which is no predictor: choose among {', '.join(data.names)}")
    parts, bounds = [], {data.response_name: data.bounds[data.response_name]}
    for name, values in zip(data.names, data.X.T, strict=True):
        if name not in columns:
            parts.append(values)
            bounds[name] = data.bounds[name]
            continue
        categories = np.arange(data.bounds[name][0], data.bounds[name][1] + 1)
        if not np.isin(values, categories).all():
            raise InputError(f"{name} is no code, for not all its values are whole numbers: leave it out of columns")
        for category in categories[int(checks.flag(drop_first, "drop_first")) :]:
            parts.append((values == category).astype(float))
            bounds[f"{name}={category:g}"] = (0.0, 1.0)
    names = tuple(name for name in bounds if name != data.response_name)
    return replace(data, X=np.column_stack(parts), names=names, bounds=bounds)


@checked
def verified(path: Path, sha256: str) -> Path:
    """Return `path` if its content has this checksum, and raise `DataError` otherwise."""
    if not path.is_file():
        raise DataError(f"{path.name} is missing from {path.parent.name}/: restore it from the repository")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise DataError(f"{path.name} has sha256 {found[:12]}..., not {sha256[:12]}...: restore the original file")
    return path
