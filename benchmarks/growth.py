"""`python -m benchmarks.growth`: how the cost of a sweep grows, as ratios and log-log slopes beside their limits.

A slope of one means that twice as much takes twice as long. The best of several runs counts, on generated data, in
processor time, which other programs hardly disturb; with workers it is the time one waits. Ends with an error if a
limit is missed.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed

import benchmarks
from benchmarks import EPSILONS, report
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import TAYLOR
from dpreg.sweeps import row_methods
from dpreg.sweeps.experiment import functional_mechanism, sweep
from dpreg.sweeps.methods import Method, RowMethod
from dpreg.sweeps.splits import CrossValidation, fold_moments

N, D = 370_000, 13
FOLDS = 5

best = partial(benchmarks.best, clock=time.process_time)
Row = tuple[str, float, str, str]  # what grew, its ratio or slope, what was asked, a remark


def records(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Box]:
    """Return n records of d predictors in [-1, 1], their responses, the signs of these, and their box."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, d))
    y = np.clip(X @ rng.normal(size=d) / d + rng.normal(size=n) / 4, -1, 1)
    return X, y, np.where(y < 0, -1.0, 1.0), Box(-np.ones(d), np.ones(d), response=(-1.0, 1.0))


def mechanisms(box: Box, count: int = 1) -> list[Method]:
    """Return functional mechanisms, alike but for their names: each draws its own noise."""
    return [functional_mechanism(f"FM {k}", box) for k in range(count)]


def labelled(box: Box) -> list[Method]:
    """Return the functional mechanism for labels."""
    return [functional_mechanism("FM", box, loss=TAYLOR)]


def milliseconds(
    X: np.ndarray,
    y: np.ndarray,
    box: Box,
    methods: Sequence[Method | RowMethod],
    epsilons: Sequence[float],
    repeats: int = 2,
    jobs: int = 1,
    best: Callable[..., float] = best,
) -> float:
    """Return the time of a sweep; of labels if a method is for labels."""
    of_labels = any(isinstance(method, RowMethod) or method.loss.labels for method in methods)
    options: Any = {"metrics": ("misclassified",) if of_labels else ("rmse",), "jobs": jobs, "progress": False}
    return best(lambda: sweep(X, y, box, methods, epsilons, CrossValidation(repeats, FOLDS), **options), 3)


def slope(x: Sequence[float], times: Sequence[float]) -> float:
    """Return the slope of the least-squares line through the logarithms."""
    return float(np.polyfit(np.log(x), np.log(times), 1)[0])


def show(title: str, name: str, x: Sequence[float], columns: dict[str, Sequence[float]]) -> None:
    """Print each column, beside its ratio to its first entry and its slope from one row to the next."""
    print(f"\n{title}")
    print(f"{name:>12}" + "".join(f"{column:>25}{'slope':>7}" for column in columns))
    for k, value in enumerate(x):
        line = f"{value:12,}"
        for times in columns.values():
            line += f"{times[k]:13.2f} ms{times[k] / times[0]:8.1f}x"
            line += f"{slope(x[k - 1 : k + 1], times[k - 1 : k + 1]):7.2f}" if k else f"{'':7}"
        print(line.rstrip(), flush=True)


def against_records() -> list[Row]:
    """Sweeps against the number of records."""
    sizes, linear, logistic, newton = (37_000, 117_000, 370_000, 1_170_000, 3_700_000), [], [], []
    for n in sizes:
        X, y, signs, box = records(n, D)
        linear.append(milliseconds(X, y, box, mechanisms(box), EPSILONS))
        logistic.append(milliseconds(X, signs, box, labelled(box), EPSILONS))
        if n <= N:
            newton.append(milliseconds(X, signs, box, [row_methods.logistic_regression()], [1.0], repeats=1))
    show("Records: sweeps of 2 x 5 folds and 6 budgets", "n", sizes, {"linear": linear, "logistic": logistic})
    show("Records: 1 x 5 folds without privacy", "n", sizes[:3], {"Newton's method": newton})
    return [
        ("linear sweep against n: slope", slope(sizes, linear), "at most 1.1", ""),
        ("logistic sweep against n: slope", slope(sizes, logistic), "at most 1.1", ""),
        ("Newton's method against n: slope", slope(sizes[:3], newton), "at most 1.1", ""),
    ]


def against_settings() -> list[Row]:
    """Sweeps of 370,000 records against the number of budgets, of methods or draws, and of partitions."""
    X, y, signs, box = records(N, D)
    counts, grid = (1, 6, 36, 216), np.geomspace(0.1, 10, 216)
    budgets = [milliseconds(X, y, box, mechanisms(box), grid[:k]) for k in counts]
    methods = [milliseconds(X, y, box, mechanisms(box, k), [1.0]) for k in counts]
    logistic = [milliseconds(X, signs, box, labelled(box), grid[:k]) for k in counts[:3]]
    columns = {"budgets": budgets, "methods, or draws": methods}
    show("Budgets and methods: linear sweeps of 2 x 5 folds", "count", counts, columns)
    show("Budgets: logistic sweep of 2 x 5 folds", "count", counts[:3], {"budgets": logistic})
    partitions = (5, 10, 20, 40)
    passes = [milliseconds(X, y, box, mechanisms(box), EPSILONS, repeats=k) for k in partitions]
    show("Partitions: linear sweep of 5 folds and 6 budgets", "count", partitions, {"partitions": passes})
    table = box.table(X, y)
    product = best(lambda: table.T @ table)
    six = milliseconds(X, y, box, mechanisms(box, 6), EPSILONS)
    return [
        ("6 budgets x 6 methods against one: linear", six / budgets[0], "at most 2", ""),
        ("36 budgets against one: linear", budgets[2] / budgets[0], "at most 1.5", ""),
        ("36 budgets against one: logistic", logistic[2] / logistic[0], "at most 2", ""),
        ("linear sweep against partitions: slope", slope(partitions, passes), "at most 1.1", ""),
        ("one more partition, in products Z'Z", (passes[-1] - passes[0]) / 35 / product, "at most 6", ""),
    ]


def against_predictors() -> list[Row]:
    """Moments of the folds, and one draw of noise with its fit, against the number of predictors."""
    sizes, moments, fits = (8, 16, 32, 64, 128, 256), [], []
    n, budgets, rng = 40_000, np.array(EPSILONS), np.random.default_rng(2)
    labels = CrossValidation(1, FOLDS).labels(n, rng)
    for d in sizes:
        X, y, _, box = records(n, d)
        table, (method,) = box.table(X, y), mechanisms(box)
        train = fold_moments(table, labels, FOLDS, box)[:, None]
        moments.append(best(lambda table=table, box=box: fold_moments(table, labels, FOLDS, box), 5))
        fit = best(lambda method=method, train=train: method.fit(train, budgets, rng), 3)
        fits.append(fit / (FOLDS * len(budgets)))
    columns = {"moments": moments, "draw and fit": fits}
    show(f"Predictors: moments of {n:,} records, and one private fit from them", "d", sizes, columns)
    return [
        ("moments against d, from 32 to 256: slope", slope(sizes[2:], moments[2:]), "at most 2.1", ""),
        ("draw and fit against d, from 32 to 256: slope", slope(sizes[2:], fits[2:]), "at most 3.1", ""),
    ]


def against_workers() -> list[Row]:
    """Sweeps of 50 x 5 folds and 6 budgets with one and two workers, and as two programs that know nothing of another.

    The two programs, of half the partitions each, are what the computer has to give at the moment.
    """
    if cpu_count() < 2:
        print("\nWorkers: skipped, for there is one processor")
        return []
    X, y, signs, box = records(N, D)
    wait = partial(milliseconds, epsilons=EPSILONS, best=benchmarks.best)
    found, apart = {}, {}
    for name, target, methods in (("linear", y, mechanisms(box)), ("logistic", signs, labelled(box))):
        found[name] = [wait(X, target, box, methods, repeats=50, jobs=k) for k in (1, 2)]
        halves = (delayed(wait)(X, target, box, methods, repeats=25) for _ in range(2))
        apart[name] = max(Parallel(n_jobs=2)(halves))
    show("Workers: sweeps of 50 x 5 folds and 6 budgets", "workers", (1, 2), found)
    print("as two programs: " + ", ".join(f"{name} {found[name][0] / apart[name]:.2f} times faster" for name in found))
    return [
        (
            f"two workers against two programs: {name} sweep",
            found[name][1] / apart[name],
            asked,
            f"{found[name][0] / found[name][1]:.2f} times faster than one",
        )
        for name, asked in (("linear", ""), ("logistic", "at most 1.5"))
    ]


def main() -> None:
    """Print all tables, then what was asked beside what was found, and fail if a limit is missed."""
    cases = (against_records, against_settings, against_predictors, against_workers)
    report([row for case in cases for row in case()], "")


if __name__ == "__main__":
    main()
