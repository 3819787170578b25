"""How far one record can move the coefficients of a quadratic objective.

Write a scaled record as z = (t, x), with the constant column in x if there is one. All coefficients are entries
of zz', so every L1 sensitivity, and every privacy loss of independent Laplace noise, is the same maximum

    worst_case(A) = max over neighbours of sum_jk A_jk |(zz' - z'z'')_jk|,    A symmetric and nonnegative,

where A says how much a unit change of an entry costs. `printed_linear` is what the papers use instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import optimize

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.objective import SQUARED, Loss

minimize: Any = optimize.minimize  # its overloads know no array of unknown length


@checked
def printed_linear(d: int) -> float:
    """Return 2 (d + 1)^2, the sensitivity 001 (Section 4.2) and 000 (Lemma 2) print for d columns.

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> printed_linear(1), printed_linear(13)
    (8.0, 392.0)
    """
    return 2.0 * (checks.count(d, "d") + 1) ** 2


@checked
def printed_logistic(d: int) -> float:
    """Return d^2 / 4 + 3 d, the sensitivity 001 (Section 5.3) prints for the logistic objective with d columns.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> printed_logistic(13)
    81.25
    """
    return checks.count(d, "d") ** 2 / 4 + 3.0 * d


# Price of a unit change of sum t x_j, and of an off-diagonal entry of M, at noise scale one; a square costs one. That
# is for least squares: a loss of labels has no factor 2 to drop, so its price of t x_j is |cross| / 2 in all of them.
PRICES = {"monomial": (1.0, 1.0), "ordered": (1.0, 1.0), "copied": (1.0, 0.5), "triangle": (0.5, 0.5)}


@checked
def closed_form(
    domain: Domain,
    convention: str,
    neighbours: Neighbours = "replace",
    *,
    constant: bool = False,
    loss: Loss = SQUARED,
) -> float:
    """Return the sensitivity of a release convention as the formula proved for it.

    Parameters
    ----------
    domain : Box, or Ball without an intercept
    convention : {"monomial", "ordered", "copied", "triangle"}
        See `laws.unit_scales`.
    neighbours : {"replace", "add_remove"}
        With `replace` and an intercept, n is public and not released.
    constant : bool
        Release the degree-zero coefficient too.
    loss : Loss
        SQUARED, or one of labels such as TAYLOR.

    Returns
    -------
    float
        What `worst_case` computes for the scales of the convention.

    Examples
    --------
    >>> from dpreg.pipeline.objective import TAYLOR
    >>> box = Box([-1, -1, -1], [1, 1, 1], response=(-1, 1))
    >>> closed_form(box, "monomial"), closed_form(box, "triangle"), closed_form(box, "monomial", loss=TAYLOR)
    (16.0, 9.375, 3.125)
    """
    response, product = PRICES[checks.choice(convention, tuple(PRICES), "convention")]
    checks.instance(domain, (Box, Ball), "domain")
    if not (loss.labels or loss == SQUARED):
        raise InputError("the loss is neither SQUARED nor one of labels, and has no closed form here: use worst_case")
    d, one = domain.d, domain.intercept
    g, h = (abs(loss.cross) / 2 if loss.labels else response), loss.square * product
    total = d * loss.square + d * (d - 1) * h  # price of all entries of M
    if checks.neighbours(neighbours) == "add_remove":
        r = domain.reach if isinstance(domain, Box) else 1 / math.sqrt(d)
        far = total * r**2 + 2 * g * d * r + one * (2 * g + 2 * h * d * r + loss.square)
        return far + constant * abs(loss.constant)
    free = constant and not loss.labels  # the response's square can move
    if isinstance(domain, Box):
        return _box_form(d, domain.reach, total, g, h, one, free)
    if one:
        raise InputError("a ball with an intercept has no closed form here: use worst_case")
    arc = _ball_form(g * math.sqrt(d), math.sqrt(d * loss.square**2 + d * (d - 1) * h**2))
    return min(arc + (free and g * math.sqrt(d) < math.sqrt(2)), _box_form(d, 1.0, total, g, h, 0, free))


def _box_form(d: int, r: float, total: float, g: float, h: float, one: int, free: bool) -> float:
    """Return the closed form for replacing a record in a box, in the letters of the chapters."""
    if free and total > (d * g) ** 2:  # then it pays to change the response's square
        tilt = 1 + one * ((d + 1) / (2 * (d + 2)) - 2 * g)
        return total * r**2 + 2 * g * d * r + one * (4 * g + 2 * h * d * r) + tilt
    opposite = one * 4 * (g + h * d * r) + _parabola(total, r, d * (g - one * h))
    return max(opposite, _parabola(total, r, d * (g + one * h)))


def _parabola(total: float, r: float, slope: float) -> float:
    """Return max of 4 (slope u + total u (r - u)) over 0 <= u <= r."""
    if abs(slope) > total * r:
        return max(4 * slope * r, 0.0)
    return total * r**2 + 2 * slope * r + slope**2 / total


def _ball_form(a: float, w: float) -> float:
    """Maximum of 4 a sin(phi) + sqrt(2) w sin(2 phi), where its derivative vanishes."""
    cosine = (math.sqrt(a**2 + 4 * w**2) - a) / (2 * math.sqrt(2) * w)
    sine = math.sqrt(1 - cosine**2)
    return 4 * a * sine + 2 * math.sqrt(2) * w * sine * cosine


@checked
def worst_case(A: FloatArray, domain: Domain, neighbours: Neighbours = "replace") -> float:
    """Return the largest weighted change of zz' between neighbours, or a proved upper bound of it.

    Parameters
    ----------
    A : array of shape (p + 1, p + 1)
        Symmetric, nonnegative cost per unit change of each entry of zz', the response first.
    domain : Box or Ball
    neighbours : {"replace", "add_remove"}
        Replace one record by another (n is public), or add or remove one.

    Returns
    -------
    float
        Exact for add/remove. Exact for replace on a symmetric box if all predictors are treated alike and a square
        costs at least as much as a product; on a corner box also for the release conventions without the degree-zero
        coefficient. Otherwise an upper bound.

    Notes
    -----
    The proofs are in the chapter on tight sensitivities.

    Examples
    --------
    >>> worst_case(np.ones((3, 3)), Box([-1, -1], [1, 1], response=(-1, 1)))
    9.0
    """
    checks.instance(domain, (Box, Ball), "domain")
    A = _weights(A, domain)
    if checks.neighbours(neighbours) == "replace" and domain.intercept:
        A = A.copy()
        A[1, 1] = 0.0  # the number of records, which replacing one does not change
    if np.isinf(A).any():
        return math.inf
    largest = float(A.max())
    if largest == 0:
        return 0.0
    A = A / largest
    if isinstance(domain, Box):
        return largest * (_box_replace(A, domain) if neighbours == "replace" else _box_add(A, domain))
    assert isinstance(domain, Ball)
    return largest * (_ball_replace(A, domain) if neighbours == "replace" else _ball_add(A, domain))


def _weights(A: FloatArray, domain: Domain) -> FloatArray:
    A = np.asarray(checks.numeric(A, "A"), dtype=np.float64)
    if A.shape != (domain.p + 1, domain.p + 1):
        raise InputError(f"A has shape {A.shape}: give the domain's {(domain.p + 1, domain.p + 1)}, response first")
    if np.isnan(A).any() or (A < 0).any() or not np.allclose(A, A.T, rtol=1e-12, atol=0):
        raise InputError("A is not symmetric and nonnegative: give the cost of a unit change of each entry")
    return A


def _box_bounds(domain: Box) -> FloatArray:
    """Largest |z_j|: one for the response and the constant, the reach of the box for predictors."""
    return np.asarray(np.r_[np.ones(1 + domain.intercept), np.full(domain.d, domain.reach)])


def _box_add(A: FloatArray, domain: Box) -> float:
    """|z_j z_k| is largest for all coordinates at once where every |z_j| is."""
    r = _box_bounds(domain)
    return float(r @ A @ r)


def _box_replace(A: FloatArray, domain: Box) -> float:
    """With u = |z + z'|/2 and w = |z - z'|/2, u + w <= r and the change is at most 4 u'Aw: maximise that."""
    r = _box_bounds(domain)
    first = 1 + domain.intercept
    even = _evened(A, first)
    bound = _box_exchangeable(even, domain.d, domain.reach, first)
    return bound if np.allclose(A, even, rtol=1e-14, atol=0) else min(bound, _box_general(A, r, first))


def _evened(A: FloatArray, first: int) -> FloatArray:
    """Raise A until predictors are treated alike and squares cost as much as products: that only raises the cost."""
    even = A.copy()
    block = A[first:, first:]
    product = float((block - np.diag(np.diag(block))).max())
    even[:first, first:] = A[:first, first:].max(axis=1, keepdims=True)
    even[first:, :first] = even[:first, first:].T
    even[first:, first:] = product
    np.fill_diagonal(even[first:, first:], max(product, float(np.diag(block).max())))
    return even


def _box_exchangeable(A: FloatArray, d: int, reach: float, first: int) -> float:
    """All predictors alike, and their block positive semidefinite: by symmetry and concavity all u_j are equal.

    What is left is a quadratic in (u_0, u_1) on a rectangle: u_0 of the response, u_1 of every predictor.
    """
    total = A[first:, first:].sum()
    gamma = A[0, first] * d
    constant = A[1, first] * d if first == 2 else 0.0
    cross = A[0, 1] if first == 2 else 0.0

    def change(s: float, u: float) -> float:
        t, w = 1.0 - s, reach - u
        return float(4 * (A[0, 0] * s * t + gamma * (s * w + u * t) + cross * t + constant * w + total * u * w))

    hessian = -4 * np.array([[2 * A[0, 0], 2 * gamma], [2 * gamma, 2 * total]])
    gradient = 4 * np.array([A[0, 0] + gamma * reach - cross, gamma + total * reach - constant])
    return max(change(s, u) for s, u in _critical_points(gradient, hessian, (1.0, reach)))


def _critical_points(g: FloatArray, H: FloatArray, upper: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Where a quadratic with gradient g at the origin and Hessian H can be largest on [0, upper]."""
    if np.linalg.det(H) != 0:  # any point may be tried: the largest value is taken
        inside = np.linalg.solve(H, -g)
        if (inside >= 0).all() and (inside <= upper).all():
            yield float(inside[0]), float(inside[1])
    for axis, end in itertools.product((0, 1), (0.0, 1.0)):
        other, fixed = 1 - axis, end * upper[axis]
        slope, curve = g[other] + H[other, axis] * fixed, H[other, other]
        best = min(max(-slope / curve, 0.0), upper[other]) if curve < 0 else 0.0
        for free in (0.0, best, upper[other]):
            yield (fixed, free) if axis == 0 else (free, fixed)


def _box_general(A: FloatArray, r: FloatArray, first: int) -> float:
    """Bound max 4 u'A(r - u) from above: a concave relaxation, its maximum bounded by a duality gap.

    Adding a multiple of the identity to A only raises the objective, because u_j (r_j - u_j) >= 0.
    """
    best = 0.0
    for end in (0.0, 1.0) if A[0, 0] == 0 else (None,):  # without A_00 the objective is linear in u_0
        low, high = np.zeros_like(r), r.copy()
        if end is not None:
            low[0] = high[0] = end
        low[1:first] = high[1:first]  # the constant column never changes: u = 1, w = 0
        free = low < high
        lift = max(0.0, -float(np.linalg.eigvalsh(A[np.ix_(free, free)])[0]))
        best = max(best, _concave_bound(A + lift * np.eye(len(r)), r, low, high))
    return best


def _concave_bound(B: FloatArray, r: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the maximum of the concave 4 u'B(r - u) on a box, plus a proved bound of the solver's error."""

    def change(u: FloatArray) -> float:
        return float(4 * u @ B @ (r - u))

    def slope(u: FloatArray) -> FloatArray:
        return np.asarray(4 * B @ (r - 2 * u))

    start, box = np.clip(r / 2, low, high), optimize.Bounds(low, high)
    found = minimize(lambda u: -change(u), start, jac=lambda u: -slope(u), method="L-BFGS-B", bounds=box)

    def bound(u: FloatArray) -> float:
        return change(u) + float(np.where(slope(u) > 0, high - u, low - u) @ slope(u))

    u = np.clip(found.x, low, high)
    best = bound(u)
    for _ in range(len(r)):  # Newton's method on the coordinates that are not held at an end
        before, s, near = u, slope(u), 1e-6 * (high - low)
        free = (low < high) & ~((u <= low + near) & (s < 0)) & ~((u >= high - near) & (s > 0))
        u = np.where(free, u, np.where(s < 0, low, high))
        u[free] += np.linalg.lstsq(8 * B[np.ix_(free, free)], slope(u)[free], rcond=None)[0]
        u = np.clip(u, low, high)
        best = min(best, bound(u))
        if np.abs(u - before).max() < 1e-14:
            break
    return best


def _ball_replace(A: FloatArray, domain: Ball) -> float:
    """Cauchy-Schwarz on each block, unit vectors at a common angle, responses at their bounds.

    With |x + x'| = 2 sin phi and |x - x'| = 2 cos phi, the Frobenius norm of xx' - x'x'' is sqrt(2) sin(2 phi).
    A unit ball lies in a box, so the box's value is a bound too.
    """
    first = 1 + domain.intercept
    a, W = A[0, first:], A[first:, first:]
    h = A[1, first:] if domain.intercept else np.zeros(domain.d)
    opposite = 4 * A[0, 1] * domain.intercept + _arc(_norm(a), _norm(h), _norm(W))
    equal = _arc(0.0, _norm(a + h), _norm(W))
    unused = not domain.intercept and _norm(a) >= math.sqrt(2) * A[0, 0]  # then the response's square never helps
    box = Box(np.full(domain.d, -1), np.full(domain.d, 1), domain.response, intercept=domain.intercept)
    return min(float(max(opposite, equal)) + (0.0 if unused else float(A[0, 0])), _box_replace(A, box))


def _arc(sine: float, cosine: float, twice: float) -> float:
    """Bound max 4 sine sin(phi) + 4 cosine cos(phi) + sqrt(2) twice sin(2 phi) over a quarter turn: it is concave."""
    k = math.sqrt(2) * twice

    def slope(phi: float) -> float:
        return 4 * sine * math.cos(phi) - 4 * cosine * math.sin(phi) + 2 * k * math.cos(2 * phi)

    end = math.pi / 2
    phi = 0.0 if slope(0.0) <= 0 else end if slope(end) >= 0 else float(optimize.brentq(slope, 0.0, end, xtol=1e-15))
    value = 4 * sine * math.sin(phi) + 4 * cosine * math.cos(phi) + k * math.sin(2 * phi)
    return value + abs(slope(phi)) * end * (0.0 < phi < end)  # a tangent lies above a concave function


def _norm(array: FloatArray) -> float:
    return float(np.linalg.norm(array))


def _ball_add(A: FloatArray, domain: Ball) -> float:
    """Maximise z'Az over |x| <= 1 with response (and constant) one, by the dual of the trust-region problem."""
    first = 1 + domain.intercept
    W, b = A[first:, first:], A[:first, first:].sum(axis=0)
    values, vectors = np.linalg.eigh(W)
    top, beta = float(values[-1]), vectors.T @ b
    norm = float(np.linalg.norm(b))

    def excess(gap: float) -> float:
        return float(np.linalg.norm(beta / (top + gap - values)) - 1)

    tiny = 1e-13 * max(1.0, abs(top))
    inside = norm > tiny and excess(tiny) > 0
    gap = float(optimize.brentq(excess, tiny, norm + tiny, xtol=1e-15)) if inside else tiny
    return float(A[:first, :first].sum() + top + gap + (beta**2 / (top + gap - values)).sum())
