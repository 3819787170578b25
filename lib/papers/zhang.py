"""The panels of 001's accuracy figures: the methods in them, on the scaling of each, and one sweep for a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.mechanisms import wishart
from dpreg.mechanisms.fm_recipes import PAPER, Recipe
from dpreg.noise import RandomState
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic
from dpreg.pipeline.solve import minimise
from dpreg.sweeps.experiment import functional_mechanism, mechanism, no_privacy
from dpreg.sweeps.methods import Method, RowMethod
from dpreg.sweeps.row_methods import dpme, filter_priority, logistic_regression, objective_perturbation
from dpreg.sweeps.scores import Metric
from dpreg.sweeps.splits import Protocol
from dpreg.sweeps.views import View, survey
from lib.data.datasets import Dataset

Lines = list[tuple[Box, list[Method | RowMethod]]]  # methods, by the box whose records they read

ONCE, TWICE, TEN = 1, 2, 10  # partitions in which methods that are slow, or hardly vary, take part
BEST = "this book's"
READINGS = {  # of the scaling: from the corner, as footnote 1 of 001 has it, or to [-1, 1]; with a constant column
    "as printed": (True, False),
    "constant": (True, True),
    "centred": (False, False),
    "centred, constant": (False, True),
}


@checked
def published(data: Dataset, loss: Loss = SQUARED, *, centred: bool = False) -> Lines:
    """Return the curves of 001's Figures 4 to 6, and some more: no noise, tight noise, and the best of this book.

    All have one scaling and one constant column, or none: 001's, unless they are `centred`. So this book's, which is
    always centred, stands in centred panels only. For labels, it and no noise give way to Truncated and to the answer
    "no" for everybody.

    Parameters
    ----------
    data : Dataset
    loss : Loss
        `TAYLOR` for labels.
    centred : bool
        Predictors in [-1, 1] and a constant column, noised like any other. 001 has [0, 1/sqrt(d)] and no constant.

    Examples
    --------
    >>> from lib.data.census import census
    >>> [[method.name for method in methods] for _, methods in published(census("US", 100))]
    [['NoPrivacy', 'FM', 'FM, tight', 'FM, no noise', 'DPME', 'FP']]
    """
    _check(data, loss)
    recipe = replace(PAPER, corner=not checks.flag(centred, "centred"), intercept=bool(centred))
    box = data.box(corner=recipe.corner, intercept=recipe.intercept)
    private = [Method("FM", recipe.fit, loss=loss), functional_mechanism("FM, tight", box, loss=loss)]
    rows = rivals(loss)
    if loss.labels:
        plain = logistic_regression("NoPrivacy", repeats=TWICE)
        more = [no_privacy("Truncated", loss=loss), Method("always no", _zero, private=False, repeats=ONCE, loss=loss)]
        return [(box, [plain, *private, *more, *rows])]
    bias = Method("FM, no noise", partial(_no_noise, recipe=recipe))
    lines: Lines = [(box, [no_privacy("NoPrivacy"), *private, bias, *rows])]
    return [*lines, _best(data, loss)] if centred else lines


@checked
def rivals(loss: Loss = SQUARED, *, repeats: int = ONCE) -> list[Method | RowMethod]:
    """Return DPME and Filter-Priority (FP), the private methods that 001 compares with.

    Parameters
    ----------
    loss : Loss
        `TAYLOR` for labels.
    repeats : int
        Partitions in which they take part.

    Examples
    --------
    >>> [method.name for method in rivals()]
    ['DPME', 'FP']
    """
    checks.instance(loss, Loss, "loss")
    return [make(labels=loss.labels, repeats=repeats) for make in (dpme, filter_priority)]


@checked
def variants(data: Dataset, loss: Loss = SQUARED) -> Lines:
    """Return NoPrivacy and FM with printed and tight noise in each of `READINGS`, and the best of this book.

    For labels, with objective perturbation, which 001 leaves out.

    Parameters
    ----------
    data : Dataset
    loss : Loss
        `TAYLOR` for labels.

    Examples
    --------
    >>> from lib.data.census import census
    >>> [methods[1].name for _, methods in variants(census("US", 100))[:4]]
    ['FM, as printed', 'FM, constant', 'FM, centred', 'FM, centred, constant']
    """
    _check(data, loss)
    lines: Lines = []
    for name, (corner, constant) in READINGS.items():
        box = data.box(corner=corner, intercept=constant)
        recipe = replace(PAPER, corner=corner, intercept=constant)
        plain = f"NoPrivacy, {name}"
        methods: list[Method | RowMethod] = [
            logistic_regression(plain, repeats=TWICE) if loss.labels else no_privacy(plain),
            Method(f"FM, {name}", recipe.fit, loss=loss),
            functional_mechanism(f"FM, tight, {name}", box, loss=loss),
        ]
        if loss.labels:
            methods.append(objective_perturbation(f"objective perturbation, {name}", repeats=ONCE))
        lines.append((box, methods))
    return [*lines, _best(data, loss)]


@checked
@dataclass(frozen=True)
class Panel:
    """The lines of one panel of a figure, or of one point of each.

    Parameters
    ----------
    data : Dataset
    lines : list of (Box, methods), such as `published(data)`
    epsilons : sequence of float
    metric : {"mse", "misclassified"}
    tags : dict, optional
        Columns that the panel's rows get in the result, to tell them apart.

    Examples
    --------
    >>> from lib.data.census import census
    >>> data = census("US", 100)
    >>> Panel(data, published(data), [0.8]).metric
    'mse'
    """

    data: Dataset
    lines: Lines
    epsilons: Sequence[float]
    metric: Metric = "mse"
    tags: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.choice(self.metric, ("mse", "misclassified"), "metric")
        if not self.lines:
            raise InputError("lines is empty: give boxes with their methods, such as published(data)")
        for line in self.lines:
            if not isinstance(line, tuple | list) or len(line) != 2 or not isinstance(line[0], Box):
                raise InputError("lines holds something else: give boxes with their methods, such as published(data)")


@checked
def run(panels: Sequence[Panel], protocol: Protocol, *, random_state: RandomState = 0, jobs: int = 1) -> pd.DataFrame:
    """Return the test error of every line, all on the same partitions, whose moments are added up once.

    The unit of the mean square error is half the range of the response, squared, as 001 scales it to [-1, 1].

    Parameters
    ----------
    panels : sequence of Panel
        Of the same records: one data set has all the columns that the others have, and the responses may differ.
    protocol : CrossValidation or Holdout
    random_state : None, int or SeedSequence
    jobs : int
        As in `experiment.sweep`.

    Returns
    -------
    DataFrame, as of `sweep`, with the columns of the panels' tags

    Examples
    --------
    >>> from lib.data.census import census
    >>> from dpreg.sweeps.experiment import CrossValidation
    >>> data = census("US", 1000)
    >>> lines = [(box, methods[:1]) for box, methods in published(data)]
    >>> run([Panel(data, lines, [1.0])], CrossValidation(1))["method"].unique().tolist()
    ['NoPrivacy']
    """
    for panel in panels:
        checks.instance(panel, Panel, "a panel")
    if not panels:
        raise InputError("panels is empty: give at least one")
    whole = max((panel.data for panel in panels), key=lambda data: len(data.names))
    columns = [_columns(panel.data, whole) for panel in panels]
    responses: dict[str, FloatArray] = {}
    for panel in panels:
        name, y = panel.data.response_name, panel.data.y
        if not np.array_equal(responses.setdefault(name, y), y):
            raise InputError(f"two panels have different responses named {name!r}: give each a name of its own")
    views = [
        View(
            box,
            methods,
            panel.epsilons,
            own,
            [*responses].index(panel.data.response_name),
            [panel.metric],
            {**panel.tags, "unit": box.half_width**2 if panel.metric == "mse" else 1.0},
        )
        for panel, own in zip(panels, columns, strict=True)
        for box, methods in panel.lines
    ]
    Y = np.column_stack([*responses.values()])
    frame = survey(whole.X, Y, views, protocol, random_state=random_state, jobs=jobs)
    return frame.assign(value=frame["value"] / frame["unit"]).drop(columns="unit")


@checked
def run_by(
    tag: str, panels: Sequence[Panel], protocol: Protocol, *, random_state: RandomState = 0, jobs: int = 1
) -> pd.DataFrame:
    """Return what `run` returns of the panels that have the same tag, for one value of it after the other.

    Parameters
    ----------
    tag : str
        Such as the country: panels that share it are of the same records.
    panels : sequence of Panel
    protocol, random_state, jobs
        As in `run`; every value of the tag starts with the same randomness.

    Examples
    --------
    >>> from lib.data.census import census
    >>> from dpreg.sweeps.experiment import CrossValidation
    >>> data = {code: census(code, 1000) for code in ("US", "BR")}
    >>> lines = {code: [(box, methods[:1]) for box, methods in published(one)] for code, one in data.items()}
    >>> panels = [Panel(data[code], lines[code], [1.0], tags={"country": code}) for code in data]
    >>> run_by("country", panels, CrossValidation(1))["country"].unique().tolist()
    ['US', 'BR']
    """
    groups: dict[Any, list[Panel]] = {}
    for panel in panels:
        if tag not in panel.tags:
            raise InputError(
                f"tag: a panel has no {str(tag)!r}: choose one of {', '.join(map(str, panel.tags)) or 'none'}"
            )
        groups.setdefault(panel.tags[tag], []).append(panel)
    if not groups:
        raise InputError("panels is empty: give at least one")
    return pd.concat([run(group, protocol, random_state=random_state, jobs=jobs) for group in groups.values()])


@checked
def wins(
    tables: Mapping[tuple[str, str, bool, int], pd.DataFrame], method: str, margins: Mapping[str, float]
) -> dict[str, int]:
    """Return at how many points a method is below both histograms.

    Parameters
    ----------
    tables : mapping
        By kind, country, whether centred, and attributes: medians with methods down and points across; infinity is
        no point.
    method : str
    margins : mapping
        By kind: how far below the lower of DPME and FP counts.

    Returns
    -------
    dict
        Linear regression together; logistic regression by scaling and attributes, such as "centred_14".

    Examples
    --------
    >>> table = pd.DataFrame({0.1: [0.5, 0.4, 0.6], 0.8: [0.1, 0.3, 0.2]}, index=["FM", "DPME", "FP"])
    >>> tables = {("linear", "US", False, 5): table, ("logistic", "US", True, 5): table}
    >>> wins(tables, "FM", {"linear": 0.0, "logistic": 0.0})
    {'linear': 1, 'centred_5': 1}
    """
    count: dict[str, int] = {}
    for (kind, _, centred, attributes), table in tables.items():
        if method not in table.index:
            raise InputError(f"method is {str(method)!r}: choose one of {', '.join(map(str, table.index))}")
        if not {"DPME", "FP"} <= set(table.index):
            raise InputError("tables: one has no row for DPME or none for FP: give both")
        if kind not in margins:
            raise InputError(f"margins has none for {kind!r}: give one for each kind")
        private = table[[point for point in table.columns if np.isfinite(point)]]
        won = private.loc[method] + margins[kind] < private.loc[["DPME", "FP"]].min()
        name = kind if kind == "linear" else f"{'centred' if centred else 'printed'}_{attributes}"
        count[name] = count.get(name, 0) + int(won.to_numpy().sum())
    return count


def _columns(part: Dataset, whole: Dataset) -> list[int]:
    """Return where the predictors of `part` stand in `whole`, having checked that the records are the same."""
    if missing := set(part.names) - set(whole.names):
        raise InputError(f"the panels have no data set with all columns, as {min(missing)!r} shows: give one")
    columns = [whole.names.index(name) for name in part.names]
    if part.n != whole.n or not np.array_equal(part.X, whole.X[:, columns]):
        raise InputError("the panels are of different records: give those of the same ones")
    return columns


def _check(data: Dataset, loss: Loss) -> None:
    checks.instance(data, Dataset, "data")
    checks.instance(loss, Loss, "loss")


def _best(data: Dataset, loss: Loss) -> tuple[Box, list[Method | RowMethod]]:
    box = data.box(intercept=True)
    best = mechanism(BEST, box, wishart.difference(box, 1.0, loss=loss), loss=loss)
    return box, [replace(best, repeats=TEN)]


def _zero(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Answer zero, which is no label: a probability of one half does not exceed one half."""
    return np.zeros((*train.batch, train.p))


def _no_noise(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator, recipe: Recipe) -> FloatArray:
    """Minimise the exact objective with the ridge that 001 adds to the noisy one: its bias, and nothing else."""
    assert isinstance(train.domain, Box)
    scales = [recipe.scales(train.domain, epsilon, train.loss) for epsilon in epsilons]
    return np.concatenate([minimise(recipe.repaired(train, one)) for one in scales], axis=1)
