"""Faults in dpreg/sweeps/views.py, and in what it shares, that the fast tests must notice."""

MUTANTS = {
    "views of other partitions": (
        "dpreg.sweeps.views._partition",
        "noise.spawn(root, repeat, 0)",
        "noise.spawn(root, repeat, 5)",
        "test_views.py -k sweep",
    ),
    "first response for all": (
        "dpreg.sweeps.views._basis",
        "np.r_[view.response, responses, responses",
        "np.r_[0, responses, responses",
        "test_views.py -k sweep",
    ),
    "labels of the first response": (
        "dpreg.sweeps.views._Seen.test_rows",
        "(rows, rows[:, self.view.response])",
        "(rows, rows[:, 0])",
        "test_views.py -k sweep",
    ),
    "corner without its shift": (
        "dpreg.pipeline.domain.Box.basis",
        "A[columns, 1] = (self.reach + self.floor) / 2",
        "A[columns, 1] = 0.0",
        "test_views.py -k 'sweep or basis'",
    ),
    "noise of one split for all": (
        "dpreg.sweeps.row_methods._on_cells.fit",
        "(name, repr(publish), cells, split, place, *epsilons)",
        "(name, repr(publish), cells, place, *epsilons)",
        "test_views.py -k own_noise",
    ),
    "every method a task of every partition": (
        "dpreg.sweeps.methods.plan",
        "[k for k in some if methods[k].takes_part(repeat)]",
        "some",
        "test_methods.py -k tasks",
    ),
    "no worker has enough": (
        "dpreg.sweeps.methods.plan",
        "ENOUGH * effective_n_jobs(jobs)",
        "repeats + 1",
        "test_methods.py -k busy",
    ),
    "fits in each other's place": (
        "dpreg.sweeps.scores._labels",
        "np.cumsum([fit.theta.shape[1] for fit in fits])[:-1]",
        "np.cumsum([fit.theta.shape[1] for fit in fits[::-1]])[:-1]",
        "test_views.py -k sweep",
    ),
    "edge to the lower cell": (
        "dpreg.mechanisms.grid.Grid.codes",
        "(part - low) * (cells - exact) / (high - low)",
        "(part - low) / (high - low) * (cells - exact)",
        "test_grid.py -k edges",
    ),
    "label of the wrong row of cells": (
        "dpreg.mechanisms.histogram.NoisyGrid._logistic_sums",
        "part.weights * (part.rows[:, :1] > 0)",
        "part.weights * (part.rows[:, :1] < 0)",
        "test_histogram.py -k labels",
    ),
    "trimmed at zero exactly": (
        "dpreg.pipeline.repair.trim",
        "level[..., None] + FLAT * np.abs(values).max(axis=-1, keepdims=True)",
        "level[..., None]",
        "test_repair.py -k rounding",
    ),
}
