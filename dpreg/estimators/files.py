"""Files that the command line reads: public bounds of columns, and records."""

from __future__ import annotations

import importlib
import json
import tomllib
from pathlib import Path
from typing import Any

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import DataError, InputError
from dpreg.pipeline.domain import Box


@checked
def read(file: Path) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest value of each column, from a file in YAML, JSON or TOML.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "bounds.toml")
    ...     _ = file.write_text("age = [18, 90]")
    ...     read(file)
    {'age': (18.0, 90.0)}
    """
    try:
        content = file.read_text(encoding="utf-8")
        if file.suffix == ".toml":
            read: Any = tomllib.loads(content)
        else:
            read = json.loads(content) if file.suffix == ".json" else checks.needed("yaml", "table").safe_load(content)
    except DataError:
        raise
    except Exception as error:  # of the file or of its reader
        raise InputError(f"{file} cannot be read ({type(error).__name__}): give a YAML, JSON or TOML file") from None
    pairs = read if isinstance(read, dict) else {}
    if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs.values()):
        raise InputError(f"{file} does not hold one pair for each column: give name: [lowest, highest]")
    return {str(name): (checks.finite(pair[0], name), checks.finite(pair[1], name)) for name, pair in pairs.items()}


@checked
def box(ends: dict[str, tuple[float, float]], response: tuple[float, float]) -> Box:
    """Return the box with an intercept for these bounds of columns, with their names.

    Examples
    --------
    >>> box({"age": (18.0, 90.0)}, (0.0, 1.0)).names
    ('age',)
    """
    lower, upper = ({name: pair[k] for name, pair in ends.items()} for k in (0, 1))
    return Box(lower, upper, response, intercept=True)


@checked
def records(file: Path, predictors: list[str], target: str, *, text: bool = False) -> tuple[Any, Any]:
    """Return the columns of the predictors and of the target from a CSV file with a header; no error shows a record.

    Parameters
    ----------
    file : Path
    predictors : list of str
    target : str
    text : bool
        Read the target as text, as labels are.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("age,rich" + chr(10) + "30,no")
    ...     X, y = records(file, ["age"], "rich", text=True)
    >>> X["age"].tolist(), y.tolist()
    ([30], ['no'])
    """
    pandas = importlib.import_module("pandas")
    try:
        table = pandas.read_csv(file, dtype={target: str} if text else None)
    except Exception as error:  # whose words may show records
        raise InputError(f"{file} cannot be read ({type(error).__name__}): give a CSV file with a header") from None
    if missing := [name for name in [*predictors, target] if name not in table.columns]:
        raise InputError(f"{file} has no columns {missing}: match the bounds and the target with its header")
    return table[predictors], table[target]
