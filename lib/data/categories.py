"""Predictors coded as one column per category: the directions no record has, and the ball that holds every record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import linalg

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.domain import Ball, Domain
from lib.data.datasets import Dataset

ROUNDING = 1e-12  # of a sum of shares


@checked
def groups(names: Sequence[str]) -> list[list[int]]:
    """Return the columns of each predictor that `datasets.one_hot` has coded, told by names such as `race=2`.

    Examples
    --------
    >>> groups(["age", "race=1", "race=2", "marital=1", "marital=2"])
    [[1, 2], [3, 4]]
    """
    checks.instance(names, (list, tuple), "names")
    found: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        checks.instance(name, str, "a name")
        if "=" in name:
            found.setdefault(name.partition("=")[0], []).append(column)
    if not found:
        raise InputError(f"names are {', '.join(names)}, and none is a category: pass data through datasets.one_hot")
    return list(found.values())


@checked
def silent(domain: Domain, columns: Sequence[Sequence[int]]) -> FloatArray:
    """Return an orthonormal basis of the directions u with z'u = 0 for every possible record z, as columns.

    Parameters
    ----------
    domain : Domain
    columns : groups of columns, such as `groups` returns
        Every record has a one in exactly one column of each group and zeros in the others: no category is left out.

    Returns
    -------
    array of shape (p, k)
        It is a function of the coding alone, not of any record. k is one less than the number of groups, or as many as
        there are groups if there is an intercept, or if each group adds up to zero as in `ball`.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> box = Box([0, 0, 0, 0], [1, 1, 1, 1], response=(0.0, 1.0), intercept=True)
    >>> silent(box, [[0, 1], [2, 3]]).shape
    (5, 2)
    """
    flat = [column for group in columns for column in group]
    if not flat or len(set(flat)) < len(flat) or not set(flat) <= set(range(domain.d)):
        raise InputError(f"columns are {list(columns)}: give each of them once, numbered from 0 to {domain.d - 1}")
    # Scaled, x = shift + unit z; so the sum of a group's x, which is one, says sum(unit z) = 1 - sum(shift).
    sums = np.zeros((len(columns), domain.p))
    constants = np.empty((1, len(columns)))
    for place, group in enumerate(columns):
        sums[place, np.array(group) + domain.intercept] = domain.unit[group]
        constants[0, place] = 1 - domain.shift[group].sum()
    constants[np.abs(constants) < ROUNDING] = 0.0
    if domain.intercept:
        sums, constants = np.vstack([sums, np.eye(1, domain.p)]), np.c_[constants, 1.0]
    return np.asarray(linalg.orth(sums.T @ linalg.null_space(constants)))


@checked
def ball(data: Dataset, *, intercept: bool = False) -> tuple[Dataset, Ball]:
    """Return the data with numbers scaled to [-1, 1] and categories as zeros and ones, and the ball that holds them.

    A record is one in one of k columns, so it is at a distance of sqrt(1 - 1/k) from their common centre 1/k, however
    many categories there are: a group counts less than one number. In a box every column counts.

    Parameters
    ----------
    data : Dataset
        As `datasets.one_hot` returns it, no category left out.
    intercept : bool
        Add a constant column.

    Examples
    --------
    >>> from lib.data.datasets import kdd_heads, one_hot
    >>> coded, domain = ball(one_hot(kdd_heads(), ["race"]))
    >>> coded.X.shape[1], round(domain.radius**2, 12)
    (13, 9.75)
    """
    checks.flag(intercept, "intercept")
    centre, squared = np.zeros(len(data.names)), float(len(data.names))
    hot = np.zeros(len(data.names), dtype=bool)
    for group in groups(data.names):
        hot[group], centre[group] = True, 1 / len(group)
        squared -= len(group) - (1 - 1 / len(group))
    box = data.box()
    scaled = np.clip((data.X - box.shift) / box.unit, -1.0, 1.0)
    bounds = data.bounds | {name: (-1.0, 1.0) for name, is_hot in zip(data.names, hot, strict=True) if not is_hot}
    coded = replace(data, X=np.where(hot, data.X, scaled), bounds=bounds)
    response = data.bounds[data.response_name]
    return coded, Ball(centre, np.sqrt(squared), response, intercept=intercept)
