"""How numbers are printed: rounded, plain, and the same on every platform."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.audit.findings import Report
from dpreg.checks import InputError


@checked
def number(value: Any, digits: int = 4) -> str:
    """Return a number with `digits` significant digits, as text.

    Integers and booleans stay whole, negative zero loses its sign, and exponents appear outside 1e-4 ... 1e6.

    Examples
    --------
    >>> number(2 / 3), number(-0.0), number(1234567.0), number(3), number(float("inf"))
    ('0.6667', '0', '1.235e+06', '3', 'inf')
    """
    checks.count(digits, "digits", most=17)
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64):
        return f"{value:d}"
    x = float(value) if isinstance(value, float | np.floating) else checks.real(value)
    if math.isnan(x) and not isinstance(value, float | np.floating):
        raise InputError(f"value is {checks.shown(value)}: give a number, a boolean or text")
    if not math.isfinite(x):
        return str(x)
    rounded = float(f"{x:.{digits}g}") + 0.0
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e6:
        places = digits - 1 - (math.floor(math.log10(abs(rounded))) if rounded else 0)
        text = f"{rounded:.{max(places, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{x:.{digits - 1}e}"  # not `rounded`, which may have overflowed


@checked
def table(frame: pd.DataFrame, digits: int = 4) -> pd.DataFrame:
    """Return the frame with every number as `number` prints it, indexed by its first column.

    Examples
    --------
    >>> table(pd.DataFrame({"d": [1, 2], "value": [0.123456, -0.0]})).value.tolist()
    ['0.1235', '0']
    """
    if len(frame) > 60 or frame.shape[1] > 20:  # pandas would show, and the tests compare, a part only
        raise InputError(f"the table has {len(frame)} rows and {frame.shape[1]} columns: give at most 60 and 20")
    if not frame.shape[1]:
        raise InputError("frame has no columns: give at least one")
    checks.count(digits, "digits", most=17)
    text = frame.map(lambda value: number(value, digits))
    # The name of the first column stands over the index, in the one row of the header.
    return text.set_index(text.columns[0]).rename_axis(index=None, columns=text.columns[0])


@checked
def cases(frame: pd.DataFrame) -> str:
    """Return the rows of a table in words: its first column, at the values of its second.

    Examples
    --------
    >>> cases(pd.DataFrame({"task": ["wines", "wines", "digits"], "epsilon": [0.1, 1.0, 1.0]}))
    'wines at 0.1 and 1, digits at 1'
    """
    if frame.shape[1] < 2:
        raise InputError(f"frame has {frame.shape[1]} columns: give two or more")
    found = []
    for name, part in frame.groupby(frame.columns[0], sort=False, dropna=False):
        *most, last = [number(value) for value in part.iloc[:, 1]]
        found.append(f"{name} at {', '.join(most)}{' and ' * bool(most)}{last}")
    return ", ".join(found) or "none"


def line(**found: Any) -> str:
    """Return named numbers in one line, each as `number` prints it.

    Examples
    --------
    >>> line(printed=8.0, tight=1 / 3)
    'printed = 8, tight = 0.3333'
    """
    return ", ".join(f"{name} = {number(value)}" for name, value in found.items())


@checked
def turned(frame: pd.DataFrame, corner: str, digits: int = 3) -> pd.DataFrame:
    """Return the frame as `table` shows it, turned: its first column goes across, and each of the others is a row.

    So a figure of many lines has a table that fits the page.

    Parameters
    ----------
    frame : DataFrame
    corner : str
        The heading over the names of the rows.
    digits : int

    Examples
    --------
    >>> frame = turned(pd.DataFrame({"rate": [0.1, 1.0], "FM": [2 / 3, 0.5], "DPME": [0.25, 2.0]}), "US")
    >>> frame.index.tolist(), frame.columns.tolist(), frame.loc["FM"].tolist()
    (['FM', 'DPME'], [0.1, 1.0], ['0.667', '0.5'])
    """
    if frame.shape[1] < 2:
        raise InputError(f"frame has {frame.shape[1]} columns: give at least two")
    across = frame.set_index(frame.columns[0])
    return table(across.T.reset_index(names=corner), digits)


@checked
def pivot(summary: pd.DataFrame, column: str = "median", digits: int = 4) -> pd.DataFrame:
    """Return one column of `experiment.summarise` as a table: budgets down, methods across.

    Methods without privacy have the same value in every row.

    Examples
    --------
    >>> pivot(pd.DataFrame({"method": ["a", "b"], "epsilon": [1.0, np.inf], "median": [2.0, 3.0]})).values.tolist()
    [['2', '3']]
    """
    limits.has(summary, ["method", "epsilon"], "summary")
    limits.has(summary, [column], "column")
    if summary.empty:
        raise InputError("summary has no rows: give at least one")
    if summary.duplicated(["method", "epsilon"]).any():
        raise InputError("a method has several values at one epsilon: choose one metric")
    order = list(dict.fromkeys(summary["method"]))
    wide = summary.pivot(index="epsilon", columns="method", values=column)[order]
    plain = wide.loc[np.inf] if np.inf in wide.index else pd.Series(dtype=float)
    finite = wide.drop(index=np.inf, errors="ignore")
    filled = finite if len(finite) else wide
    filled = filled.fillna(plain).reset_index()
    filled.columns.name = None
    return table(filled, digits)


@checked
def medians(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of a figure's panels in one, lines down and points across, without the ends of their bands.

    Parameters
    ----------
    tables : mapping
        From a panel's title to what `plot.numbers` reads back.

    Examples
    --------
    >>> numbers = pd.DataFrame({"x": [1.0, 2.0], "line": [0.1, 0.2], "line low": [0.0, 0.1], "line high": [0.3, 0.4]})
    >>> medians({"US": numbers}).to_dict("list")
    {'panel': ['US'], 'line': ['line'], 1.0: [0.1], 2.0: [0.2]}
    """
    if not tables:
        raise InputError("tables is empty: give that of at least one panel")
    parts = {}
    for panel, numbers in tables.items():
        own = [name for name in numbers if not str(name).endswith((" low", " high"))]
        if len(own) < 2:
            raise InputError(f"tables: {str(panel)!r} has no line: give points and the values of a line there")
        parts[panel] = numbers[own].set_index(own[0]).T.rename_axis(columns=None)
    return pd.concat(parts, names=["panel", "line"]).reset_index()


@checked
def audit(found: Report) -> str:
    """Return the worst finding of an audit in four lines, its numbers as `number` prints them.

    Examples
    --------
    >>> from dpreg.audit.findings import Finding
    >>> one = Finding("black box", "fit", "a pair", "the number is above 1.234567", 1.0, 2.5, 0.95, 40, 39, 0)
    >>> print(audit(Report((one,), 1, 0.0)))
    REFUTED at epsilon 1
    at least 2.5 is spent: a pair
    the event: the number is above 1.2
    seen in 39 and 0 of 40 releases
    """
    worst = found.worst
    if worst is None:
        raise InputError("the report is empty: give one of an audit that tried something")
    event = re.sub(r"-?\d+\.\d+", lambda match: number(float(match[0]), 2), worst.event)
    return "\n".join(
        [
            f"{'REFUTED' if worst.refuted else 'not refuted'} at epsilon {number(worst.claimed)}",
            f"at least {number(worst.found, 3)} is spent: {worst.pair}",
            f"the event: {event}",
            f"seen in {worst.hits} and {worst.hits_other} of {worst.draws} releases",
        ]
    )
