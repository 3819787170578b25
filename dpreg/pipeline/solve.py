"""Minimisers of convex quadratics, with and without an L1 term. All of it is post-processing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, IndefiniteError, InputError, SolverError
from dpreg.pipeline.objective import FLAT, Quadratic

TOLERANCE = 1e-9  # on the optimality conditions, relative to the larger of v and the L1 weight
ROUNDING = 1e-14  # what rounding may add to that, relative to the terms that cancel


@checked
@dataclass(frozen=True)
class Penalty:
    """lam * (alpha * |theta|_2^2 + (1 - alpha) * |theta|_1), as in 000, Eq. 9.

    So alpha = 1 is ridge and alpha = 0 LASSO: scikit-learn's `l1_ratio` runs the other way. `lam` goes with the
    *sum* of squares; scikit-learn divides that sum by 2 n.

    Parameters
    ----------
    lam : float, at least zero
    alpha : float in [0, 1]

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.

    Examples
    --------
    >>> Penalty(2.0, 0.25).l2, Penalty(2.0, 0.25).l1
    (0.5, 1.5)
    """

    lam: float = 0.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        lam, alpha = checks.finite(self.lam, "lam"), checks.finite(self.alpha, "alpha")
        if lam < 0:
            raise InputError(f"lam is {lam:g}: give a number of at least zero")
        if not 0 <= alpha <= 1:
            raise InputError(f"alpha is {alpha:g}: give a number from 0 (LASSO) to 1 (ridge)")

    @property
    def l2(self) -> float:
        """Weight of the squared Euclidean norm."""
        return self.lam * self.alpha

    @property
    def l1(self) -> float:
        """Weight of the L1 norm."""
        return self.lam * (1 - self.alpha)


NONE = Penalty()


@checked
def minimise(objective: Quadratic, penalty: Penalty = NONE, *, free: bool = False) -> FloatArray:
    """Return the minimiser of the objective plus the penalty, for a whole stack at once.

    Without an L1 term this is the closed form, of minimum norm where M is singular: where an eigenvalue is at most
    `FLAT` times the largest, so that rounding, which differs between processors, does not decide. With one it is the
    feature-sign active-set method, which stops only when the optimality conditions hold.

    Parameters
    ----------
    objective : Quadratic with batch (...)
        Positive semidefinite after adding the ridge part; only the symmetric part of M counts.
    penalty : Penalty
    free : bool
        The penalty leaves the first coefficient alone, as that of a constant column; M must have an entry above zero
        for it.

    Returns
    -------
    array of shape (..., p)

    Raises
    ------
    IndefiniteError
        If a quadratic has a negative eigenvalue: it is unbounded below, and no L1 term can change that.
    SolverError
        If the optimality conditions are not met, as when a linear term runs along a flat direction.

    Examples
    --------
    >>> f = Quadratic(np.eye(2), np.array([-4.0, -1.0]), np.array(0.0))
    >>> minimise(f).tolist(), minimise(f, Penalty(2.0, alpha=0.0)).round(9).tolist()
    ([2.0, 0.5], [1.0, 0.0])
    """
    if free and penalty.lam and objective.p > 1:
        return _free_first(objective, penalty)
    penalty = NONE if free else penalty
    M = objective.symmetric + penalty.l2 * np.eye(objective.p)
    values, vectors = np.linalg.eigh(M)
    _refuse_indefinite(values)
    if penalty.l1 == 0:
        return _closed_form(values, vectors, objective.v)
    # With unit diagonal the search does not depend on the units of the columns.
    unit = np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    unit = np.where(unit > 0, unit, 1.0).reshape(-1, objective.p)
    flat = M.reshape(-1, objective.p, objective.p) / (unit[:, :, None] * unit[:, None, :])
    theta = _search_signs(flat, objective.v.reshape(unit.shape) / unit, penalty.l1 / unit) / unit
    return theta.reshape(M.shape[:-1])


@checked
def asymmetric_closed_form(objective: Quadratic, penalty: Penalty = NONE) -> FloatArray:
    """Return -(1/2) (M + l2 I)^-1 v for an M that need not be symmetric: no minimiser, often not even stationary.

    Adding noise to all entries of M and solving 000's Eq. 5 without symmetrising gives this. It is here to
    reproduce 000, and only for ridge: with an L1 term there is no closed form.

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.

    Examples
    --------
    >>> f = Quadratic(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([-2.0, -2.0]), np.array(0.0))
    >>> (asymmetric_closed_form(f) + 0.0).tolist(), minimise(f).round(4).tolist()
    ([0.0, 1.0], [0.6667, 0.6667])
    """
    if penalty.l1:
        raise InputError(f"the penalty has an L1 weight of {penalty.l1:g}: there is no closed form, use minimise")
    M = objective.M + penalty.l2 * np.eye(objective.p)
    try:
        return np.asarray(-np.linalg.solve(M, objective.v[..., None])[..., 0] / 2)
    except np.linalg.LinAlgError:
        raise SolverError("the matrix is singular, so the closed form does not exist: add a ridge first") from None


@checked
def violation(objective: Quadratic, penalty: Penalty, theta: FloatArray) -> FloatArray:
    """Return how far theta is from the optimality conditions, relative to the largest of |v| and the L1 weight.

    Examples
    --------
    >>> f = Quadratic(np.eye(2), np.array([-4.0, -1.0]), np.array(0.0))
    >>> float(violation(f, Penalty(2.0, alpha=0.0), np.array([1.0, 0.0])))
    0.0
    """
    theta = limits.reals(theta, "theta")
    if theta.shape[-1:] != (objective.p,):
        raise InputError(f"theta has shape {theta.shape}: give {objective.p} entries on its last axis")
    M = objective.symmetric + penalty.l2 * np.eye(objective.p)
    slope = 2 * (M @ theta[..., None])[..., 0] + objective.v
    miss = np.abs(slope + penalty.l1 * np.sign(theta)) - np.where(theta == 0, penalty.l1, 0.0)
    scale = np.maximum(np.abs(objective.v).max(axis=-1), penalty.l1)
    return np.asarray(np.maximum(miss, 0.0).max(axis=-1) / np.where(scale > 0, scale, 1.0))


@checked
@dataclass
class Program:
    """The same problem through CVXPY and SCS: compiled once, then only its parameters change.

    The independent route that `minimise` is tested against, and the one to extend with constraints.

    Parameters
    ----------
    p : int
        Number of coefficients.

    Examples
    --------
    >>> f = Quadratic(np.eye(2), np.array([-4.0, -1.0]), np.array(0.0))
    >>> (Program(2).solve(f, Penalty(2.0, alpha=0.0)).round(6) + 0.0).tolist()
    [1.0, 0.0]
    """

    p: int
    _parts: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        import cvxpy  # takes a second and 50 MB, which every worker of a sweep would pay

        cp: Any = cvxpy  # its functions carry no types
        checks.count(self.p, "p")
        theta = cp.Variable(self.p)
        root, v = cp.Parameter((self.p, self.p)), cp.Parameter(self.p)
        l1 = cp.Parameter(nonneg=True)
        # |R theta|^2 and not quad_form: only the first is linear in its parameter, hence compiled once (DPP).
        goal = cp.Minimize(cp.sum_squares(root @ theta) + v @ theta + l1 * cp.norm1(theta))
        self._parts = {"cvxpy": cp, "theta": theta, "root": root, "v": v, "l1": l1, "problem": cp.Problem(goal)}

    def solve(self, objective: Quadratic, penalty: Penalty = NONE) -> FloatArray:
        """Return the minimiser of shape (p,) of one objective plus the penalty.

        Raises
        ------
        IndefiniteError
            If the quadratic has a negative eigenvalue.
        SolverError
            If SCS does not report an optimal solution.
        """
        if objective.batch or objective.p != self.p:
            raise InputError(
                f"the objective has batch {objective.batch} and {objective.p} columns: give one of {self.p}"
            )
        values, vectors = np.linalg.eigh(objective.symmetric + penalty.l2 * np.eye(self.p))
        _refuse_indefinite(values)
        size = max(float(np.abs(values).max()), float(np.abs(objective.v).max()), penalty.l1) or 1.0
        parts, cp = self._parts, self._parts["cvxpy"]
        parts["root"].value = np.sqrt(np.clip(values, 0, None) / size)[:, None] * vectors.T
        parts["v"].value, parts["l1"].value = objective.v / size, penalty.l1 / size
        problem = parts["problem"]
        try:
            problem.solve(solver=cp.SCS, eps_abs=1e-9, eps_rel=1e-9, max_iters=200_000)
        except cp.error.SolverError as error:
            raise SolverError(f"SCS failed: {error}") from error
        if problem.status != cp.OPTIMAL:
            raise SolverError(
                f"SCS stopped with status {problem.status!r}: the problem may be unbounded, trim it first"
            )
        return np.asarray(parts["theta"].value, dtype=np.float64)


def _refuse_indefinite(values: FloatArray) -> None:
    lowest, size = values[..., 0], np.abs(values).max(axis=-1)
    bad = lowest < -FLAT * size
    if bad.any():
        worst = float(lowest[bad].min())
        raise IndefiniteError(
            f"the quadratic has eigenvalue {worst:.6g}, so it is unbounded below and an L1 term cannot help: "
            f"add a ridge above {-worst:.6g}, or trim it"
        )


def _free_first(objective: Quadratic, penalty: Penalty) -> FloatArray:
    """Minimise over the first coefficient, which makes a quadratic of the others, and over these with the penalty."""
    M, v = objective.symmetric, objective.v
    own, along = M[..., 0, 0, None], M[..., 0, 1:]
    if (own <= 0).any():
        raise IndefiniteError("the quadratic does not rise along its first coefficient, which is free: lift it first")
    slope, level = along / own, v[..., :1] / own
    rest = Quadratic(M[..., 1:, 1:] - along[..., None] * slope[..., None, :], v[..., 1:] - along * level, objective.c)
    others = minimise(rest, penalty)
    first = -(slope * others).sum(axis=-1, keepdims=True) - level / 2
    return np.asarray(np.concatenate([first, others], axis=-1))


def _closed_form(values: FloatArray, vectors: FloatArray, v: FloatArray) -> FloatArray:
    """Minimum-norm solution of 2 M theta = -v; a linear term along a flat direction has no minimiser."""
    flat = values <= FLAT * np.abs(values).max(axis=-1, keepdims=True)
    along = (np.swapaxes(vectors, -1, -2) @ v[..., None])[..., 0]
    if (flat & (np.abs(along) > 1e-9 * np.abs(v).max(axis=-1, keepdims=True))).any():
        floor = FLAT * float(np.abs(values).max())
        raise SolverError(
            f"the linear term runs along a direction where the quadratic is flat: trim it first, with floor={floor:.3g}"
        )
    weight = np.divide(along, values, out=np.zeros(np.broadcast_shapes(along.shape, values.shape)), where=~flat)
    return np.asarray(-(vectors @ weight[..., None])[..., 0] / 2)


def _slack(M: FloatArray, v: FloatArray, l1: FloatArray, theta: FloatArray) -> FloatArray:
    """Return how far each optimality condition may be off: rounding errors are relative to the terms that cancel.

    Where these dwarf v and l1, theta has run off along a flat direction, and no rounding excuses it.
    """
    size = np.maximum(np.abs(v), l1)
    product = (np.abs(M) @ np.abs(theta)[..., None])[..., 0]
    most = 1e-6 * size.max(axis=-1, keepdims=True)  # of all columns: a zero entry of v may meet large products
    return np.asarray(np.minimum(np.maximum(TOLERANCE / 2 * size, ROUNDING * product), most))


def _search_signs(M: FloatArray, v: FloatArray, l1: FloatArray) -> FloatArray:
    """Solve a stack of problems by the feature-sign active-set method; solved ones leave the stack.

    On a support with known signs the optimum solves a linear system. Each step moves towards that optimum, to the
    best point among those where a sign flips on the way, or lets the most violated zero in. The objective falls
    with every step and there are finitely many sign patterns.
    """
    b, p = v.shape
    size = np.trace(M, axis1=-2, axis2=-1)
    size = np.where(size > 0, size, 1.0)
    theta = np.zeros_like(v)
    signs = np.zeros_like(v)
    todo = np.arange(b)
    for _ in range(60 * p):
        m, w, sign, slope = M[todo], theta[todo], signs[todo], 2 * (M[todo] @ theta[todo, :, None])[..., 0] + v[todo]
        weight, slack = l1[todo], _slack(m, v[todo], l1[todo], w)
        settled = ((sign == 0) | (np.abs(slope + weight * sign) <= slack / 5)).all(axis=-1)
        outside = np.where(sign == 0, np.abs(slope) - weight - slack, 0.0)
        enters = outside.argmax(axis=-1)
        open_ = outside.max(axis=-1) > 0
        unfinished = ~settled | open_
        todo = todo[unfinished]
        if not len(todo):
            return theta
        m, w, sign, slope = m[unfinished], w[unfinished], sign[unfinished], slope[unfinished]
        new = np.flatnonzero(settled[unfinished])
        j = enters[unfinished][new]
        sign[new, j] = -np.sign(slope[new, j])
        theta[todo], signs[todo] = _step(m, v[todo], l1[todo], w, sign, size[todo])
    raise SolverError(
        f"{len(todo)} of {b} problems are not optimal after {60 * p} steps: "
        "a linear term may run along a flat direction, trim it first"
    )


def _step(
    M: FloatArray, v: FloatArray, l1: FloatArray, theta: FloatArray, signs: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Move towards the optimum of the signed problem, to the best of the points where a sign flips on the way."""
    p = v.shape[-1]
    on = signs != 0
    within = np.where(on[:, :, None] & on[:, None, :], M, 0.0)
    # 1e-14 of the trace keeps a singular block solvable; it only sets how far along a flat direction to look.
    pivot = np.where(on, 1e-14, 1.0) * size[:, None]
    lifted, right = within + pivot[:, :, None] * np.eye(p), np.where(on, -(v + l1 * signs) / 2, 0.0)[..., None]
    target = np.linalg.solve(lifted, right)
    target += np.linalg.solve(lifted, right - within @ target)  # takes the lift out again, except where M is flat
    move = target[..., 0] - theta
    flips = np.divide(-theta, move, out=np.ones_like(theta), where=(theta != 0) & (theta * target[..., 0] < 0))
    stops = np.concatenate([flips, np.ones((len(v), 1))], axis=1)
    path = theta[:, None] + stops[..., None] * move[:, None]
    path[:, np.arange(p), np.arange(p)] = np.where(flips < 1, 0.0, path[:, np.arange(p), np.arange(p)])
    value = ((path @ M) * path).sum(axis=-1) + (path @ v[..., None])[..., 0] + (np.abs(path) @ l1[..., None])[..., 0]
    best = value.argmin(axis=-1)
    moved = path[np.arange(len(v)), best]
    return moved, np.sign(moved)
