"""The panels of 001's accuracy figures: the methods in them, on the scaling of each, and one sweep for a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from lib import checks, noise, wishart
from lib.authors import PAPER, Recipe
from lib.checks import FloatArray, InputError
from lib.datasets import Dataset
from lib.domain import Box
from lib.experiment import Method, Metric, RowMethod, functional_mechanism, mechanism, no_privacy, sweep
from lib.noise import RandomState
from lib.objective import SQUARED, Loss, Quadratic
from lib.rivals import dpme, filter_priority, logistic_regression, objective_perturbation
from lib.solve import minimise
from lib.splits import Partition, Protocol

Lines = list[tuple[Box, list[Method | RowMethod]]]  # methods, by the box whose records they read

ONCE, TWICE, TEN = 1, 2, 10  # partitions in which methods that are slow, or hardly vary, take part
BEST = "this book's"
READINGS = {  # of the scaling: from the corner, as footnote 1 of 001 has it, or to [-1, 1]; with a constant column
    "as printed": (True, False),
    "constant": (True, True),
    "centred": (False, False),
    "centred, constant": (False, True),
}


def published(data: Dataset, loss: Loss = SQUARED, *, centred: bool = False) -> Lines:
    """Return the curves of 001's Figures 4 to 6, and some more: no noise, tight noise, and the best of this book.

    All but the last are on 001's scaling, unless it is `centred`. For labels, tight noise and no noise give way to
    Truncated and to the answer "no" for everybody.

    Parameters
    ----------
    data : Dataset
    loss : Loss
        `TAYLOR` for labels.
    centred : bool
        Predictors in [-1, 1] and a constant column, noised like any other. 001 has [0, 1/sqrt(d)] and no constant.

    Examples
    --------
    >>> from lib.census import census
    >>> [[method.name for method in methods] for _, methods in published(census("US", 100))]
    [['NoPrivacy', 'FM', 'FM, no noise', 'FM, tight', 'DPME', 'FP'], ["this book's"]]
    """
    _check(data, loss)
    recipe = replace(PAPER, corner=not checks.flag(centred, "centred"), intercept=bool(centred))
    box = data.box(corner=recipe.corner, intercept=recipe.intercept)
    plain: Method | RowMethod
    more: list[Method | RowMethod]
    if loss.labels:
        plain = logistic_regression("NoPrivacy", repeats=TWICE)
        more = [no_privacy("Truncated", loss=loss), RowMethod("always no", _zero, private=False, repeats=ONCE)]
    else:
        plain = no_privacy("NoPrivacy")
        more = [Method("FM, no noise", partial(_no_noise, recipe=recipe)), functional_mechanism("FM, tight", box)]
    rows = [dpme(labels=loss.labels, repeats=ONCE), filter_priority(labels=loss.labels, repeats=ONCE)]
    return [(box, [plain, Method("FM", recipe.fit, loss=loss), *more, *rows]), _best(data, loss)]


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
    >>> from lib.census import census
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


def run(
    data: Dataset,
    lines: Lines,
    epsilons: Sequence[float],
    protocol: Protocol,
    *,
    metric: Metric = "mse",
    random_state: RandomState = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """Return the test error of every line, all on the same partitions.

    The unit of the mean square error is half the range of the response, squared, as 001 scales it to [-1, 1].

    Parameters
    ----------
    data : Dataset
    lines : list of (Box, methods), such as `published(data)`
    epsilons : sequence of float
    protocol : CrossValidation or Holdout
    metric : {"mse", "misclassified"}
    random_state : None, int or SeedSequence
    jobs : int
        As in `experiment.sweep`.

    Returns
    -------
    DataFrame, as of `sweep`

    Examples
    --------
    >>> from lib.census import census
    >>> from lib.experiment import CrossValidation
    >>> data = census("US", 1000)
    >>> lines = [(box, methods[:1]) for box, methods in published(data)]
    >>> run(data, lines, [1.0], CrossValidation(1))["method"].unique().tolist()
    ['NoPrivacy', "this book's"]
    """
    checks.instance(data, Dataset, "data")
    checks.choice(metric, ("mse", "misclassified"), "metric")
    if not lines:
        raise InputError("lines is empty: give boxes with their methods, such as published(data)")
    root = noise.seed_sequence(random_state)
    frames = []
    for box, methods in lines:
        frame = sweep(data.X, data.y, box, methods, epsilons, protocol, random_state=root, metrics=(metric,), jobs=jobs)
        unit = box.half_width**2 if metric == "mse" else 1.0
        frames.append(frame.assign(value=frame["value"] / unit))
    return pd.concat(frames, ignore_index=True)


def _check(data: Dataset, loss: Loss) -> None:
    checks.instance(data, Dataset, "data")
    checks.instance(loss, Loss, "loss")


def _best(data: Dataset, loss: Loss) -> tuple[Box, list[Method | RowMethod]]:
    box = data.box(intercept=True)
    best = mechanism(BEST, box, wishart.difference(box, 1.0, loss=loss), loss=loss)
    return box, [RowMethod(BEST, best.coefficients, repeats=TEN)]


def _zero(partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Answer zero, which is no label: a probability of one half does not exceed one half."""
    return np.zeros((len(partition.tested), 1, partition.domain.p))


def _no_noise(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator, recipe: Recipe) -> FloatArray:
    """Minimise the exact objective with the ridge that 001 adds to the noisy one: its bias, and nothing else."""
    assert isinstance(train.domain, Box)
    scales = [recipe.scales(train.domain, epsilon, train.loss) for epsilon in epsilons]
    return np.concatenate([minimise(recipe.repaired(train, one)) for one in scales], axis=1)
