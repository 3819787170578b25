"""Faults in lib/papers/timing.py that the fast tests must notice."""

MUTANTS = {
    "the longest time counts": (
        "lib.papers.timing.fit_times",
        "times.min(axis=0)",
        "times.max(axis=0)",
        "test_timing.py -k shortest",
    ),
    "one seed for all runs": (
        "lib.papers.timing.fit_times",
        "rng = noise.spawn(root, run, k)",
        "rng = noise.spawn(root, 0, 0)",
        "test_timing.py -k shortest",
    ),
    "passes not counted": (
        "lib.papers.timing.passes",
        "// len(Z)",
        "// (2 * len(Z))",
        "test_zhang_time.py -k passes",
    ),
    "exponentials counted by call": (
        "lib.papers.timing.counted.taken",
        "count.exponentials += z.size",
        "count.exponentials += 1",
        "test_timing.py -k counting",
    ),
    "rows counted by call": (
        "lib.papers.timing.counted.scaled",
        "count.rows += len(y)",
        "count.rows += 1",
        "test_timing.py -k counts",
    ),
}
