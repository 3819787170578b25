"""Data sets with public bounds. Files are checked against their checksum before they are read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lib.checks import DataError, FloatArray
from lib.domain import Box

DATA = Path(__file__).resolve().parents[1] / "data"
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

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.y)

    def box(self, *, intercept: bool = False, corner: bool = False) -> Box:
        """Return the domain of the public bounds."""
        lower, upper = zip(*(self.bounds[name] for name in self.names), strict=True)
        return Box(lower, upper, self.bounds[self.response_name], intercept=intercept, corner=corner)


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


def verified(path: Path, sha256: str) -> Path:
    """Return `path` if its content has this checksum, and raise `DataError` otherwise."""
    if not path.is_file():
        raise DataError(f"{path.name} is missing from {path.parent.name}/: restore it from the repository")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise DataError(f"{path.name} has sha256 {found[:12]}..., not {sha256[:12]}...: restore the original file")
    return path
