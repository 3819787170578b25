"""Timings as ratios to a peer or a limit, measured side by side in one run, on one BLAS thread."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

EPSILONS = (3.2, 1.6, 0.8, 0.4, 0.2, 0.1)


def best(run: Callable[[], Any], repeats: int = 7, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest time of one run, in milliseconds."""
    run()
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return 1e3 * min(times)


def peak(run: Callable[[], Any]) -> float:
    """Return the most memory a run holds beyond its inputs, in megabytes."""
    tracemalloc.start()
    run()
    held = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return held


def kept(found: float, asked: str) -> bool:
    """Return whether a number keeps what was asked: "at least 20", "at most 1.1", or nothing."""
    if not asked:
        return True
    way, limit = asked.rsplit(maxsplit=1)
    return found >= float(limit) if way == "at least" else found <= float(limit)


def report(rows: Iterable[tuple[str, float, str, str]], heading: str) -> None:
    """Print names, numbers, what was asked and a remark as they come, and end with an error if a limit is missed."""
    print(f"\n{'what':58}{'found':>8}  {'asked':14}{heading}".rstrip())
    missed = []
    for name, found, asked, remark in rows:
        print(f"{name:58}{found:8.3g}  {asked:14}{remark}".rstrip(), flush=True)
        if not kept(found, asked):
            missed.append(name)
    if missed:
        sys.exit("missed: " + "; ".join(missed))
