"""Ways to make a noisy quadratic convex. All but `retry` are post-processing, hence free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.noise import RandomState, generator
from dpreg.pipeline.budget import Budget, pay
from dpreg.pipeline.laws import Law
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.objective import FLAT, Quadratic
from dpreg.pipeline.release import Release, perturb, price


@checked
def ridge(objective: Quadratic, amount: ArrayLike) -> Quadratic:
    """Add `amount` to the diagonal of M, so every eigenvalue rises by it (001, Eq. 13).

    Parameters
    ----------
    objective : Quadratic with batch (...)
    amount : array broadcastable to (...)
        It must be a function of public quantities; `deviations` gives 001's choice.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> ridge(Quadratic(-np.eye(1), np.zeros(1), np.array(0.0)), 3.0).M.tolist()
    [[2.0]]
    """
    lift = np.asarray(checks.numeric(amount, "amount"), dtype=np.float64)
    if not np.isfinite(lift).all() or (lift < 0).any():
        raise InputError("the ridge is negative or not finite: give numbers of at least zero")
    limits.fits(limits.reals(lift, "amount"), objective.batch, "amount")
    return replace(objective, M=objective.M + lift[..., None, None] * np.eye(objective.p), exact=None)


@checked
def deviations(law: Law, k: float = 4.0) -> np.ndarray:
    """Return k standard deviations of the noise on the diagonal of M: 001's ridge has k = 4 (Section 6.1).

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.
    """
    return np.asarray(checks.positive(limits.sized(k, "k"), "k") * law.deviation)


@checked
def trim(objective: Quadratic, floor: ArrayLike = 0.0) -> Quadratic:
    """Drop the eigenvectors of M whose eigenvalues are at most `floor`, from M and v alike (001, Eq. 14).

    An eigenvalue that exceeds the floor by no more than `FLAT` times the largest one goes, too: 001 trims at zero, and
    the zero eigenvalues of a singular M come out of any computation a little above or below.

    The result is positive semidefinite and bounded below. `solve.minimise` then gives the minimum-norm solution.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    floor : array broadcastable to (...)
        Zero is 001's rule; the solution's expected norm is then infinite. A positive public floor bounds it.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> f = trim(Quadratic(np.diag([2.0, -1.0]), np.array([-4.0, 5.0]), np.array(0.0)))
    >>> f.M.tolist(), f.v.tolist()
    ([[2.0, 0.0], [0.0, 0.0]], [-4.0, 0.0])
    """
    level = np.asarray(checks.numeric(floor, "floor"), dtype=np.float64)
    if not np.isfinite(level).all() or (level < 0).any():
        raise InputError("the floor is negative or not finite: give numbers of at least zero")
    limits.fits(limits.reals(level, "floor"), objective.batch, "floor")
    values, vectors = np.linalg.eigh(objective.symmetric)
    kept = values > level[..., None] + FLAT * np.abs(values).max(axis=-1, keepdims=True)
    part = vectors * kept[..., None, :]
    M = (part * np.where(kept, values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    v = (part @ (np.swapaxes(vectors, -1, -2) @ objective.v[..., None]))[..., 0]
    # Not linear in the records, so the domain's sensitivities no longer hold: it goes.
    return replace(objective, M=(M + np.swapaxes(M, -1, -2)) / 2 + 0.0, v=v + 0.0, domain=None)


@checked
def lift(objective: Quadratic, law: Law, k: float = 1.0) -> Quadratic:
    """Return M with each positive eigenvalue lifted by level^2 over itself; the other directions fall silent.

    An eigenvalue far above the noise keeps its place, unlike with a ridge. `level` is k times the root mean square
    eigenvalue of the noise on M. The solution minimises |M theta + v / 2|^2 + level^2 |theta|^2 over the positive
    eigenspace: with k = 1 the expected squared gradient once the noise is off again. What comes back is positive
    definite, with no eigenvalue of D M D below 2 level.

    For a law with a `constant`, theta is measured from that constant prediction, and the constant column is eliminated
    first (n is public), so the above is said of the slopes. Their linear term is shrunk by 1 - a / b, or to zero: b is
    its square in the norm of the positive part of M, and a what noise alone would give, as James and Stein shrink a
    mean. So where noise could have made it, the prediction stays constant.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    law : Law
        Of the release, stacked as (...); Scales must not be ordered. Eigenvalues are those of D M D, where D holds the
        law's `columns`: the weights of a Wishart difference, and one for Scales.
    k : float

    Examples
    --------
    >>> from dpreg.mechanisms.wishart import WishartDifference
    >>> f, law = Quadratic(np.diag([4.0, -1.0]), np.array([-4.0, 5.0]), np.array(0.0)), WishartDifference([1, 1, 1], 1)
    >>> lift(f, law, 2 / float(law.level)).M.round(9).tolist()
    [[5.0, 0.0], [0.0, 4.0]]
    """
    level, w = law.level, law.columns
    if not (level > 0).all():
        raise InputError("the law has no noise on M, so nothing to lift eigenvalues above: give one that has")
    if law.p != objective.p:
        raise InputError(f"the law has {law.p} columns and the objective {objective.p}: match them")
    f = checks.positive(limits.sized(k, "k"), "k") * level[..., None]
    start = law.constant(objective)
    if start:
        return _from_constant(objective, w, f, *start)
    M, v = _lifted(objective.symmetric, objective.v, w, f)
    return Quadratic(M, v, np.broadcast_to(objective.c, v.shape[:-1]))


def _lifted(
    M: FloatArray, v: FloatArray, w: FloatArray, f: FloatArray, variance: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    values, vectors = np.linalg.eigh(M * np.outer(w, w))
    high, above = np.maximum(values, f), np.maximum(values, 0.0)
    lifted = high + f**2 / high
    # Below the level the linear term shrinks instead: the same solution, without a huge eigenvalue.
    kept = above * lifted / (values**2 + f**2)
    back = vectors / w[:, None]
    M = (back * lifted[..., None, :]) @ np.swapaxes(back, -1, -2)
    along = (np.swapaxes(vectors, -1, -2) @ (v * w)[..., None])[..., 0]
    if variance is not None:
        found = (above * along**2).sum(axis=-1)
        signal = np.maximum(found - variance * above.sum(axis=-1), 0.0)
        along *= np.divide(signal, found, out=np.zeros_like(found), where=found > 0)[..., None]
    v = (back @ (kept * along)[..., None])[..., 0]
    return (M + np.swapaxes(M, -1, -2)) / 2 + 0.0, v + 0.0


def _from_constant(
    objective: Quadratic, w: FloatArray, f: FloatArray, constant: FloatArray, variance: FloatArray
) -> Quadratic:
    """Lift what is left for the slopes once the constant is eliminated, and put it back."""
    M, best = objective.symmetric, constant[..., None]
    n, row = M[..., 0, :1], M[..., 0, 1:]
    mean = np.divide(row, n, out=np.zeros_like(row), where=n > 0)
    left = M[..., 1:, 1:] - row[..., :, None] * mean[..., None, :]
    slopes, v = _lifted(left, objective.v[..., 1:] + 2 * best * row, w[1:], f, variance)
    mean = np.clip(mean, -1.0, 1.0)  # where the means of scaled predictors are
    border = n * mean
    whole = np.empty(M.shape)
    whole[..., 0, :1], whole[..., 0, 1:], whole[..., 1:, 0] = n, border, border
    whole[..., 1:, 1:] = slopes + border[..., :, None] * mean[..., None, :]
    v = np.concatenate([-2 * best * n, v - 2 * best * border], axis=-1)
    return Quadratic(whole, v, np.broadcast_to(objective.c, constant.shape))


@checked
def positive(objective: Quadratic, amount: ArrayLike) -> Quadratic:
    """Drop the directions where the noisy M is not positive, and lift the others by `amount`: `ridge`, then `trim`.

    For noise that no `Law` describes; `bound` takes the amount from the law.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    amount : array broadcastable to (...)
        It must be a function of public quantities, such as four standard deviations of the noise on the diagonal of M.

    Examples
    --------
    >>> f = positive(Quadratic(np.diag([5.0, -1.0]), np.array([-4.0, 5.0]), np.array(0.0)), 3.0)
    >>> f.M.tolist(), f.v.tolist()
    ([[8.0, 0.0], [0.0, 0.0]], [-4.0, 0.0])
    """
    return trim(ridge(objective, amount), amount)


@checked
def bound(objective: Quadratic, law: Law, k: float = 4.0) -> Quadratic:
    """Drop the directions where the noisy M is not positive, and lift the others by k standard deviations.

    What the chapters use for Laplace noise: 001's ridge, then a trim whose floor is the same. No eigenvalue that is
    left is below k standard deviations s, so the solution obeys |theta| <= |v| / (2 k s), and its moments are finite.

    Parameters
    ----------
    objective : Quadratic with batch (...)
    law : Law, such as Scales
        That of the release, stacked as (...).
    k : float

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> f = bound(Quadratic(np.diag([5.0, -1.0]), np.array([-4.0, 5.0]), np.array(0.0)), unit_scales("triangle", 2))
    >>> f.M.round(2).tolist(), f.v.tolist()
    ([[10.66, 0.0], [0.0, 0.0]], [-4.0, 0.0])
    """
    return positive(objective, deviations(law, k))


@checked
def retry(
    objective: Quadratic,
    law: Law,
    random_state: RandomState = None,
    *,
    neighbours: Neighbours = "replace",
    budget: Budget | None = None,
    limit: int = 100_000,
) -> Release:
    """Release until the noisy M is positive definite: twice the cost of one release (001, Lemma 5).

    To spend epsilon, pass a law that costs half of it. The number of runs must stay secret, and so must time.

    Parameters
    ----------
    objective : Quadratic with its domain
    law : Law, such as Scales
    random_state : None, int, SeedSequence or Generator
    neighbours : {"replace", "add_remove"}
    budget : Budget, optional
    limit : int
        Runs after which to give up with an error.

    Raises
    ------
    InputError
        If `limit` runs were all indefinite. Lemma 5 does not cover this outcome: keep it to yourself.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> from dpreg.pipeline.laws import functional
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.pipeline.objective import linear
    >>> box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    >>> f = linear([[1.0], [0.9], [-0.5]], [0.4, 0.3, -1.0], box)
    >>> out = retry(f, functional(box, 0.5), random_state=3)
    >>> bool(out.objective.M[0, 0] > 0), round(out.ledger.epsilon, 12)
    (True, 1.0)
    """
    once = price(objective, law, neighbours)
    twice = [
        replace(spend, mechanism=f"{spend.mechanism}, repeated until bounded", epsilon=2 * spend.epsilon)
        for spend in once.spends
    ]
    checks.count(limit, "limit")

    def first_bounded(state: RandomState) -> Quadratic:
        rng = generator(state)
        for done in range(0, limit, 256):
            noisy = perturb(objective, law, rng, draws=(min(limit - done, 256),))
            bounded = np.linalg.eigvalsh(noisy.symmetric)[:, 0] > 0
            if bounded.any():
                return noisy[int(bounded.argmax())]
        raise InputError(
            f"none of {limit} runs was bounded: repetition is hopeless here, use ridge and trim; "
            "that it failed depends on the data and is not covered by the guarantee, so do not publish it"
        )

    noisy, ledger = pay(Ledger(tuple(twice)), first_bounded, random_state, budget)
    assert objective.domain is not None  # `price` has refused it otherwise
    return Release(noisy, law, objective.domain, ledger)
