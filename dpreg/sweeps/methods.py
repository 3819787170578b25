"""Methods of a sweep, what they find on a partition, and in which tasks workers share them out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic
from dpreg.sweeps.splits import Partition

ENOUGH = 4  # partitions for each worker, so that all have work to the end
Columns = dict[str, Any]  # of a result: arrays, or one value for all rows


@checked
@dataclass(frozen=True)
class Method:
    """A way to turn training moments into coefficients.

    Parameters
    ----------
    name : str
        As it appears in tables and figures. It also names the method's random numbers, so they do not change when
        other methods join the sweep.
    fit : function of (train, epsilons, rng)
        `train` is a stack of shape (s, 1), `epsilons` has shape (e,); returns theta of shape (s, e, p), or
        (s, 1, p) if not private.
    private : bool
    loss : Loss
        Of the objective that `fit` is given: a quadratic for the logistic loss, with labels.
    repeats : int, optional
        Take part in so many partitions only, for a method whose error hardly varies. A figure must say so.
    """

    name: str
    fit: Callable[[Quadratic, FloatArray, np.random.Generator], FloatArray]
    private: bool = True
    loss: Loss = SQUARED
    repeats: int | None = None

    def __post_init__(self) -> None:
        checks.count(1 if self.repeats is None else self.repeats, "repeats")

    def coefficients(self, partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return theta of every split and budget, of shape (s, e, p), or (s, 1, p)."""
        return self.fit(partition.train(self.loss), epsilons, rng)

    def takes_part(self, repeat: int) -> bool:
        """Return whether it is run on this partition."""
        return _among(self.repeats, repeat)


@checked
@dataclass(frozen=True)
class RowMethod:
    """A way to turn training records into coefficients, for what moments cannot do.

    Parameters
    ----------
    name : str
        As in `Method`.
    fit : function of (partition, epsilons, rng)
        Returns theta of shape (s, e, p), or (s, 1, p) if not private.
    private : bool
    repeats : int, optional
        As in `Method`.
    """

    name: str
    fit: Callable[[Partition, FloatArray, np.random.Generator], FloatArray]
    private: bool = True
    repeats: int | None = None

    def __post_init__(self) -> None:
        checks.count(1 if self.repeats is None else self.repeats, "repeats")

    def coefficients(self, partition: Partition, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return theta of every split and budget, of shape (s, e, p), or (s, 1, p)."""
        return self.fit(partition, epsilons, rng)

    def takes_part(self, repeat: int) -> bool:
        """Return whether it is run on this partition."""
        return _among(self.repeats, repeat)


def _among(repeats: int | None, repeat: int) -> bool:
    return repeats is None or repeat < repeats


@checked
def check_methods(methods: Sequence[Method | RowMethod]) -> None:
    """Raise `InputError` unless these are methods, at least one, each with a name of its own."""
    checks.instance(methods, (list, tuple), "methods")
    for method in methods:
        checks.instance(method, (Method, RowMethod), "a method")
    names = [method.name for method in methods]
    if len(set(names)) != len(names) or not names:
        raise InputError(f"method names are {names}: give at least one method, and each a name of its own")


@checked
def plan(
    methods: Sequence[Method | RowMethod], repeats: int, jobs: int = 1, alike: Sequence[Hashable] | None = None
) -> list[tuple[int, list[int]]]:
    """Return the tasks of a sweep: numbers of a partition, and of the methods to fit there, the longest tasks first.

    With several workers a method that reads rows and takes part in few partitions is a task of its own. These come
    first: the slow ones are among them, and no worker is left with one at the end. Where there are partitions enough to
    keep all workers busy, the methods of one share a task, and so what they find there.

    Parameters
    ----------
    methods : sequence of Method or RowMethod
    repeats : int
        Number of partitions.
    jobs : int
        As in `sweep`.
    alike : sequence of keys, optional
        One per method; those that read rows and have the same key, and so can use each other's work, share a task.

    Examples
    --------
    >>> plain, slow = Method("plain", print), RowMethod("slow", print, repeats=1)
    >>> plan([plain, slow], 2, jobs=2), plan([plain, slow], 2)
    ([(0, [1]), (0, [0]), (1, [0])], [(0, [0, 1]), (1, [0])])
    """
    alone: dict[Hashable, list[int]] = {}
    few = 0 if jobs == 1 else ENOUGH * effective_n_jobs(jobs)
    for k, method in enumerate(methods):
        if isinstance(method, RowMethod) and min(method.repeats or repeats, repeats) < few:
            alone.setdefault(k if alike is None else alike[k], []).append(k)
    rest = set(range(len(methods))) - {k for some in alone.values() for k in some}
    groups = [*sorted(alone.values(), key=lambda some: methods[some[0]].repeats or repeats), sorted(rest)]
    every = [
        (repeat, [k for k in some if methods[k].takes_part(repeat)]) for some in groups for repeat in range(repeats)
    ]
    return [task for task in every if task[1]]


@checked
def gathered(tasks: Sequence[tuple[int, list[int]]], results: Iterable[Sequence[Sequence[Columns]]]) -> pd.DataFrame:
    """Return what the tasks of `plan` found, in the order of the partitions and the methods.

    Parameters
    ----------
    tasks : from `plan`
    results : for each task, the parts of each method, as `frame` takes them

    Examples
    --------
    >>> one, two = ({"value": np.array([k])} for k in (1, 2))
    >>> gathered([(0, [1]), (0, [0])], [[[two]], [[one]]])["value"].tolist()
    [1, 2]
    """
    found = {
        (repeat, k): parts
        for (repeat, some), result in zip(tasks, results, strict=True)
        for k, parts in zip(some, result, strict=True)
    }
    return frame([part for key in sorted(found) for part in found[key]])


@checked
def frame(parts: Sequence[Columns]) -> pd.DataFrame:
    """Return one frame of many parts, built at once: pandas takes longer over a small frame than a fit does.

    Parameters
    ----------
    parts : sequence of dict
        From the names of columns to arrays, as long as the part's `value`, or to the one value of all its rows.

    Examples
    --------
    >>> frame([{"method": "a", "value": np.ones(2)}, {"method": "b", "value": np.zeros(1)}])["method"].tolist()
    ['a', 'a', 'b']
    """
    sizes = [len(part["value"]) for part in parts]
    rows = np.repeat(np.arange(len(parts)), sizes)
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        found = [part.get(name, np.nan) for part in parts]
        if any(isinstance(values, np.ndarray) for values in found):
            spread = (np.broadcast_to(values, size) for values, size in zip(found, sizes, strict=True))
            columns[name] = np.concatenate([*spread])
        else:
            columns[name] = pd.Series(found).take(rows).array
    return pd.DataFrame(columns)


@checked
def fitted(
    partition: Partition,
    methods: Sequence[Method | RowMethod],
    epsilons: FloatArray,
    root: np.random.SeedSequence,
    repeat: int,
) -> Iterator[tuple[dict[str, Any], FloatArray]]:
    """Yield the fits of each method that takes part, theta of shape (s, e, p), and the columns that name them.

    Parameters
    ----------
    partition : Partition
    methods : sequence of Method or RowMethod
    epsilons : array of shape (e,)
    root : SeedSequence
    repeat : int
        Number of the partition.
    """
    for method in methods:
        if not method.takes_part(repeat):
            continue
        theta = method.coefficients(partition, epsilons, method_generator(root, repeat, method))
        expected = (len(partition.tested), len(epsilons) if method.private else 1, partition.domain.p)
        if theta.ndim != 3 or theta.shape[1:] != expected[1:] or theta.shape[0] not in (1, expected[0]):
            raise InputError(f"{method.name!r} returned coefficients of shape {theta.shape}: give {expected}")
        fold, column = np.indices(expected[:2])
        epsilon = epsilons[column.ravel()] if method.private else np.inf
        keys = {"method": method.name, "epsilon": epsilon, "repeat": repeat, "fold": fold.ravel()}
        yield keys, np.broadcast_to(theta, expected)


@checked
def method_generator(root: np.random.SeedSequence, repeat: int, method: Method | RowMethod) -> np.random.Generator:
    """Return the random numbers of one method on one partition, which no other method or partition shares.

    Examples
    --------
    >>> float(method_generator(noise.seed_sequence(1), 0, RowMethod("a", print)).random()) < 1
    True
    """
    return noise.spawn(root, repeat, 1, zlib.crc32(method.name.encode()))
