"""Faults in grid, histogram and filter_priority that the fast tests must notice."""

MUTANTS = {
    "cells whose bounds were read off the data say nothing": (
        "dpreg.mechanisms.histogram.spent",
        ", caveat=histogram.grid.domain.caveat",
        "",
        "test_pay.py -k bounds_read",
    ),
    "counts priced as if one cell changed": (
        "dpreg.mechanisms.histogram",
        '{"replace": 2, "add_remove": 1}',
        '{"replace": 1, "add_remove": 1}',
        "test_histogram.py -k 'law_of_the_counts or beats'",
    ),
    "noisy counts 5 % too quiet": (
        "dpreg.mechanisms.histogram._Slabs.__call__",
        "slab = noise.laplace(self.scale, ",
        "slab = noise.laplace(0.95 * self.scale, ",
        "test_histogram.py -k law_of_the_counts",
    ),
    "every slab with the same noise": (
        "dpreg.mechanisms.histogram._Slabs.__call__",
        "        for first in range(0, size // inner, step):\n",
        "        for first in range(0, size // inner, step):\n            rng = noise.generator(self.seed)\n",
        "test_histogram.py -k slab",
    ),
    "midpoints at the lower edge": (
        "dpreg.mechanisms.grid._values",
        "(place + (1 - exact) / 2)",
        "(place + 0 * (1 - exact) / 2)",
        "test_grid.py -k 'points or nearest'",
    ),
    "constant counted twice": (
        "dpreg.mechanisms.histogram.NoisyGrid._parts",
        "inside[:, 1] *= not self.grid.domain.intercept",
        "inside[:, 1] *= 1",
        "test_histogram.py -k fast_moments",
    ),
    "spent budget not charged": (
        "dpreg.mechanisms.filter_priority.filter_priority",
        "pay(spend, sample, random_state, budget)",
        "pay(spend, sample, random_state)",
        "test_histogram.py -k budgets",
    ),
    "twice as many empty cells pass": (
        "dpreg.mechanisms.filter_priority.passing",
        "/ (1 + alpha)\n",
        "* 2 / (1 + alpha)\n",
        "test_filter_priority.py -k 'passing or binomial'",
    ),
    "survivors one above the level": (
        "dpreg.mechanisms.filter_priority.survivors",
        "excess = level - 1 + rng",
        "excess = level + rng",
        "test_filter_priority.py -k simulated",
    ),
    "non-empty cells drawn as empty": (
        "dpreg.mechanisms.filter_priority.survivors",
        'ranks, side="right")',
        'ranks - 1, side="left")',
        "test_filter_priority.py -k 'simulated or binomial or can_pass'",
    ),
    "more empty cells drawn than pass": (
        "dpreg.mechanisms.filter_priority.survivors",
        "math.log1p(-passing(alpha, level))",
        "-passing(alpha, level) / (1 - passing(alpha, level))",
        "test_filter_priority.py -k 'joint_law'",
    ),
    "non-empty cells first": (
        "dpreg.mechanisms.filter_priority.survivors",
        "order = np.argsort(codes)",
        "order = np.arange(len(codes))",
        "test_filter_priority.py -k 'survivors_are_sorted or summary_is_sorted'",
    ),
    "counts that can be written to": (
        "dpreg.mechanisms.histogram.Histogram.__post_init__",
        "kept.setflags(write=False)",
        "kept.setflags(write=True)",
        "test_histogram.py -k under_a_noisy_grid",
    ),
    "weights without the threshold": (
        "dpreg.mechanisms.filter_priority.priority",
        "np.maximum(v[kept], rank[order[size]])",
        "v[kept]",
        "test_filter_priority.py -k 'priority_by_hand or unbiased'",
    ),
}
