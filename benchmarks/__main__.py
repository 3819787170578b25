"""`python -m benchmarks`: print every ratio beside what was asked for, and the peak memory of our side.

Both sides of a ratio run in this process, on one BLAS thread, on generated data; the best of several runs counts.
Ends with an error if a ratio misses its limit.
"""

import time
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

from benchmarks import EPSILONS, best, peak, report
from dpreg import noise
from dpreg.mechanisms import filter_priority, grid, histogram, irls, irls_moments
from dpreg.pipeline import laws, objective, release, repair, solve
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import Quadratic
from dpreg.pipeline.solve import Penalty
from dpreg.sweeps import experiment
from lib.data import census, datasets

N, D = 370_000, 13


def repaired(released: release.Release) -> np.ndarray:
    """Return the minimiser after 001's repairs."""
    lifted = repair.ridge(released.objective, repair.deviations(released.law))
    return solve.minimise(repair.trim(lifted))


def single_fit() -> list[tuple[str, float, str, float]]:
    """One private fit against the two matrix products it cannot do without."""
    rng = np.random.default_rng(1)
    box = Box(np.zeros(D), np.full(D, 100.0), response=(0.0, 1e5))
    X, y = rng.uniform(0, 100, (N, D)), rng.uniform(0, 1e5, N)
    table = box.table(X, y)
    scales = laws.functional(box, 0.8)

    def from_scaled() -> np.ndarray:
        return repaired(release.release(objective.from_gram(table.T @ table, box), scales, 1))

    def from_raw() -> np.ndarray:
        return repaired(release.release(objective.linear(X, y, box), laws.functional(box, 0.8), 1))

    limit = best(lambda: (X.T @ X, X.T @ y))
    assert np.allclose(from_scaled(), from_raw())
    return [
        ("moments and one private fit, from scaled rows", best(from_scaled) / limit, "at most 1.3", peak(from_scaled)),
        ("whole fit from raw rows", best(from_raw) / limit, "at most 4", peak(from_raw)),
    ]


def sweep() -> list[tuple[str, float, str, float]]:
    """50 x 5 folds x 6 budgets from fold moments against refitting from rows each time, with equal errors."""
    rng = np.random.default_rng(2)
    box = Box(-np.ones(D), np.ones(D), response=(-1.0, 1.0))
    X = rng.uniform(-1, 1, (N, D))
    y = np.clip(X @ rng.normal(size=D) / 8 + rng.normal(size=N) / 4, -1, 1)
    method = experiment.functional_mechanism("FM", box)
    protocol = experiment.CrossValidation(50, 5)
    budgets = np.array(EPSILONS)

    def ours() -> Any:
        return experiment.sweep(X, y, box, [method], EPSILONS, protocol, random_state=3, progress=False)

    def refit(repeats: int) -> np.ndarray:
        Z, t = box.scale(X, y)
        root, errors = noise.seed_sequence(3), np.empty((repeats, 5, len(budgets)))
        for repeat in range(repeats):
            labels = protocol.labels(N, noise.spawn(root, repeat, 0))
            for fold in range(5):
                for k in range(len(budgets)):
                    train, test = labels != fold, labels == fold
                    Q, s = Z[train], t[train]
                    one = Quadratic(Q.T @ Q, -2 * Q.T @ s, s @ s, box)
                    # The library draws the noise of all folds and budgets at once: draw them all, use one.
                    stack = Quadratic(
                        np.tile(one.M, (5, 1, 1, 1)), np.tile(one.v, (5, 1, 1)), np.tile(one.c, (5, 1)), box
                    )
                    theta = method.fit(stack, budgets, experiment.method_generator(root, repeat, method))[fold, k]
                    errors[repeat, fold, k] = np.sqrt(np.mean((Z[test] @ theta - t[test]) ** 2))
        return errors

    time_ours = best(ours, 3)
    start = time.perf_counter()
    errors = refit(protocol.repeats)
    time_refit = 1e3 * (time.perf_counter() - start)
    difference = np.abs(ours()["value"].to_numpy() - errors.ravel()).max()
    assert difference < 1e-9, f"the two sides disagree by {difference}"
    return [("sweep of 50 x 5 folds x 6 budgets, against refitting", time_refit / time_ours, "at least 30", peak(ours))]


def elastic_net() -> list[tuple[str, float, str, float]]:
    """One elastic net inside a sweep against building the CVXPY problem anew, with equal solutions."""
    data = datasets.wine()
    box = data.box()
    scales = laws.functional(box, np.array(EPSILONS))
    noisy = release.perturb(objective.linear(data.X, data.y, box), scales, 4, draws=(50,))
    convex = repair.trim(repair.ridge(noisy, repair.deviations(scales)), scales.deviation)
    penalty = Penalty(20.0, alpha=0.5)

    def rebuilt(one: Quadratic) -> np.ndarray:
        theta = cp.Variable(one.p)
        size = np.trace(one.M)
        goal = cp.quad_form(theta, cp.psd_wrap(one.M / size)) + one.v / size @ theta
        goal += penalty.l2 / size * cp.sum_squares(theta) + penalty.l1 / size * cp.norm1(theta)
        cp.Problem(cp.Minimize(goal)).solve(solver=cp.SCS, eps_abs=1e-10, eps_rel=1e-10, max_iters=200_000)
        return np.asarray(theta.value)

    problems = [convex[i, j] for i in range(10) for j in range(len(EPSILONS))]
    expected = np.array([rebuilt(one) for one in problems])
    difference = np.abs(solve.minimise(convex, penalty)[:10].reshape(expected.shape) - expected).max()
    assert difference < 1e-6, f"the two sides disagree by {difference}"
    ours = best(lambda: solve.minimise(convex, penalty)) / (50 * len(EPSILONS))
    theirs = best(lambda: [rebuilt(one) for one in problems], 3) / len(problems)
    memory = peak(lambda: solve.minimise(convex, penalty))
    return [("elastic net in a sweep, against rebuilding it in CVXPY", theirs / ours, "at least 20", memory)]


def histograms() -> list[tuple[str, float, str, float]]:
    """DPME in seconds from raw rows, and Filter-Priority's time per published cell, largest over smallest."""
    data = census.census("US", N, attributes=14)
    box, kinds = data.box(intercept=True), [round(high - low) + 1 for low, high in data.bounds.values()]
    cells = grid.partition(box, grid.bandwidth(N, 14), values=kinds[:-1])
    assert cells.size > 4_000_000

    def dpme() -> np.ndarray:
        return solve.minimise(histogram.dpme(histogram.count(data.X, data.y, cells), 0.8, 1).objective())

    memory = peak(dpme)
    assert memory <= 200, f"DPME holds {memory:.0f} MB"
    found = [("DPME, 14 attributes, 4.2 million cells: seconds", best(dpme) / 1e3, "at most 0.5", memory)]
    line, rng, costs, held = Box([-1.0], [1.0], response=(-1.0, 1.0)), np.random.default_rng(5), [], []
    X, y = rng.uniform(-1, 1, (3000, 1)), rng.uniform(-1, 1, 3000)  # fewer than the cells of the smallest domain
    for side in (10**2, 10**3, 10**4, 10**5, 10**6):
        counts = histogram.count(X, y, grid.partition(line, side, cap=10**12))

        def publish(counts: histogram.Histogram = counts) -> filter_priority.Summary:
            return filter_priority.filter_priority(counts, 0.8, 3000, 1)

        costs.append(best(publish, 50) / (len(publish().codes) + len(counts.codes)))
        held.append(peak(publish))
    name = "FP on 1e4 to 1e12 cells, time per cell read or published"
    return [*found, (name, max(costs) / min(costs), "at most 3", max(held))]


def reweighted() -> list[tuple[str, float, str, float]]:
    """One private iteration of reweighted least squares against the two matrix products of its moments."""
    X, y, ball = irls.simulated(N, D, random_state=5)
    table, plan, rng = ball.table(X, y), irls.gaussian(ball, 0.9, iterations=1), np.random.default_rng(6)
    Z, t, theta = np.ascontiguousarray(table[:, 1:]), table[:, 0].copy(), np.full(D, 0.1)

    def iteration() -> np.ndarray:
        gram = irls_moments.moments(table, theta, plan.cap)
        first, second = gram[0, 1:] + plan.first.vector(D, rng), gram[1:, 1:] + plan.second.matrix(D, rng)
        return irls.lifted(first, second, plan.second.level(D))

    ratio = best(iteration) / best(lambda: (Z.T @ Z, Z.T @ t))
    return [("one private iteration of IRLS, from scaled rows", ratio, "at most 2", peak(iteration))]


def people() -> list[tuple[str, float, str, float]]:
    """Generating the records of 001's US data set, in seconds."""
    draw = partial(census.census, "US", N)
    return [("generating 370,000 census-like records: seconds", best(draw, 3) / 1e3, "at most 1", peak(draw))]


def main() -> None:
    """Run all, print a table, and fail if a limit is missed."""
    cases = (single_fit, sweep, elastic_net, histograms, reweighted, people)
    rows = (row for case in cases for row in case())
    report(((name, ratio, asked, f"{memory:8.1f}") for name, ratio, asked, memory in rows), " peak MB")


if __name__ == "__main__":
    main()
