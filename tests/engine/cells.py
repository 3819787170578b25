"""Records for a grid, and regression on its cells without the library."""

import math

import numpy as np

from dpreg.pipeline.domain import Box

PLANE = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
N_001 = 296_000  # 80 % of the 370,000 records of 001


def data(n, seed, d=2, labels=False):
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0.1, 0.4, (n, d)), -1, 1)
    y = np.clip(X @ np.linspace(0.5, -0.3, d) + 0.2 * rng.normal(size=n) + 0.1, -1, 1)
    return X, (y > 0).astype(float) if labels else y


def by_hand(X, y, K, noisy=lambda counts: counts, values=None, lift=0.0):
    """DPME on K cells per axis of [-1, 1], with np.histogramdd and weighted rows: nothing of lib.

    Axes with at most K values get a bin around each of them. With a lift, directions that are not positive are
    dropped and the others lifted.
    """
    table, limits = np.column_stack([y, X]), [None, *(values or [None] * X.shape[1])]
    bins = [k if k is not None and k <= K else K for k in limits]
    reach = [1 + 1 / (k - 1) if k is not None and k <= K else 1.0 for k in limits]
    edges = [np.linspace(-r, r, k + 1) for r, k in zip(reach, bins, strict=True)]
    if len(bins) < 10:
        counts = np.histogramdd(table, bins=edges)[0].ravel()
    else:  # histogramdd has two outer bins more per axis, too many in 14 dimensions
        place = [np.searchsorted(e[1:-1], column, side="right") for e, column in zip(edges, table.T, strict=True)]
        counts = np.bincount(np.ravel_multi_index(place, bins), minlength=math.prod(bins))
    middle = np.meshgrid(*[(e[1:] + e[:-1]) / 2 for e in edges], indexing="ij")
    points = np.column_stack([m.ravel() for m in middle])
    weights = noisy(counts)
    Z = np.column_stack([np.ones(len(points)), points[:, 1:]])
    M, v = (Z.T * weights) @ Z, Z.T @ (weights * points[:, 0])
    if lift:
        size, Q = np.linalg.eigh(M)
        Q, size = Q[:, size > 0], size[size > 0] + lift
        return Q @ (Q.T @ v / size), weights
    return np.linalg.solve(M, v), weights


def weights_of(cells):
    """All weights of a grid, by code."""
    out = np.zeros(cells.grid.size)
    where = {tuple(p): k for k, p in enumerate(cells.grid.points(np.arange(cells.grid.size)).round(9).tolist())}
    for records, weights in cells.blocks():
        for record, weight in zip(records.round(9).tolist(), weights, strict=True):
            out[where[tuple(record)]] += weight
    return out
