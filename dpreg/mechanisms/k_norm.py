"""The K-norm mechanism of the moments, with the smallest body it can have: the hull of all changes of one record.

For a ball of few predictors without an intercept, and for one predictor with or without, membership of the hull has a
form that can be decided, so its noise is drawn exactly, by rejection.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.mechanisms.moment_noise import MomentNoise
from dpreg.noise import RandomState, generator
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.objective import SQUARED, Loss

LARGEST = 3  # predictors of a ball: of three, one proposal in 26 is kept, and of more far fewer
BLOCK = 1 << 14  # proposals drawn at a time
FEW = 1 << 8  # looked at, at a time, where not many points are wanted
STEPS = 200  # of the ascent: what they leave undecided is within rounding of the surface, and counts as outside
HALVINGS = 34  # of the range in which a gauge lies
STUDY = 1 << 14  # draws from which the size of the noise is computed


@checked
class Hull(MomentNoise):
    """Noise on the moments with density proportional to exp(-|N|_K / spread): K is the hull of all changes.

    K holds every difference of the moments of two records (t, x), without those of t^2 and of a public count. It has
    a shape of its own, so all weights are one. With `public_count`, it is for one predictor and the constant; otherwise
    for p predictors in a ball, or one in a box.

    Notes
    -----
    Draws are floats: they leak in their last bits, and there is no discrete twin. This law is for study.

    Examples
    --------
    >>> Hull([1.0, 1.0, 1.0], 2.0).p
    2
    """

    name: ClassVar[str] = "hull K-norm"
    norm: ClassVar[str] = "K"

    def __init__(self, weights: ArrayLike, spread: ArrayLike, public_count: bool = False, loss: Loss = SQUARED) -> None:
        super().__init__(weights, spread, public_count, loss)
        if (self.weights != 1.0).any():
            raise InputError("weights holds a number other than one: the hull has a shape of its own, give ones")
        if self.public_count and self.p != 2:
            raise InputError(f"weights has {self.p + 1} entries: with a public count give 3, for one predictor")
        if self.p > LARGEST:
            raise InputError(
                f"weights has {self.p + 1} entries: there is no sampler for so many, give at most {LARGEST + 1}"
            )

    @property
    def deviation(self) -> FloatArray:
        """See `Law`: from a fixed sample, to about a per cent."""
        squares = np.diag(_squares(self.p, self.public_count))[1:].max()
        return np.asarray(self.loss.square * self.spread * math.sqrt(squares))

    @property
    def level(self) -> FloatArray:
        """See `Law`: from a fixed sample, to about a per cent."""
        squares = _squares(self.p, self.public_count)[1:, 1:].sum()
        return np.asarray(self.loss.square * self.spread * math.sqrt(squares / self.p))

    def certify(self, domain: Domain, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> float:
        """Return 1 / spread: some change reaches the surface of K, and none leaves it.

        Adding a record is replacing a record of zeros, if none of its numbers is the constant.
        """
        _known(domain)
        public = self._priced(domain, checks.neighbours(neighbours), loss)
        if domain.intercept and not self.public_count:
            raise InputError("the noise is for predictors without a constant: build it for a domain with an intercept")
        return float(1 / self.spread) if public else math.inf

    def _drawn(self, batch: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        size, k = math.prod(batch), _dimension(self.p, self.public_count)
        points = uniform(self.p, size, rng, public_count=self.public_count)
        points *= rng.gamma(k + 1.0, 1.0, size)[:, None, None]
        return np.asarray(points.reshape(*batch, self.p + 1, self.p + 1) * self.spread[..., None, None])


@checked
def hull(domain: Domain, epsilon: ArrayLike, *, neighbours: Neighbours = "replace", loss: Loss = SQUARED) -> Hull:
    """Return the K-norm noise of the hull of all changes that costs epsilon.

    Parameters
    ----------
    domain : Box or Ball
        One predictor, with or without an intercept, on a box that is centred, or a ball; or a ball of up to three
        without an intercept.
    epsilon : float or array
        An array gives one choice of noise per entry, stacked, for studying them side by side.
    neighbours : {"replace", "add_remove"}
        K is the smallest body for `replace`. Without an intercept it is private for `add_remove` too, but not smallest.
    loss : Loss
        The hull is that of all responses in [-1, 1] for a loss of labels too: labels are its corners.

    Raises
    ------
    InputError
        For a domain whose hull we cannot sample.

    Examples
    --------
    >>> from dpreg.pipeline.laws import certify
    >>> ball = Ball([0.0, 0.0], 1.0, response=(-1.0, 1.0))
    >>> certify(hull(ball, 0.5), ball)
    0.5
    """
    budgets = checks.epsilons(epsilon)
    _known(domain)
    if checks.neighbours(neighbours) == "add_remove" and domain.intercept:
        raise InputError("neighbours is 'add_remove', and the count is no public number then: leave out the intercept")
    return Hull(np.ones(domain.p + 1), 1 / budgets, domain.intercept, loss)


@checked
def uniform(p: int, size: int, random_state: RandomState = None, *, public_count: bool = False) -> FloatArray:
    """Draw points uniformly from K, by rejection from a body around it whose draws are simple.

    Parameters
    ----------
    p : int
        Number of columns, from 1 to 3.
    size : int
    random_state : None, int, SeedSequence or Generator
    public_count : bool
        See `Hull`.

    Returns
    -------
    array of shape (size, p + 1, p + 1)
        Symmetric matrices of moments (t, x), whose entry of t^2 is zero.

    Examples
    --------
    >>> points = uniform(2, 100, random_state=1)
    >>> bool(inside(points).all()), bool(inside(1.01 * points).all())
    (True, False)
    """
    m = _columns(p, public_count) + 1
    rng, kept, found = generator(random_state), [np.empty((0, m, m))], 0
    wanted = checks.count(size, "size", least=0, most=limits.HELD // m**2)
    step = FEW if wanted < FEW else BLOCK
    while found < wanted:
        proposals = _around_line(rng) if public_count else _around_ball(p, rng)
        for first in range(0, BLOCK, step):
            if found < wanted:
                part = proposals[first : first + step]
                kept.append(part[inside(part, public_count=public_count)])
                found += len(kept[-1])
    return np.concatenate(kept)[:wanted]


@checked
def inside(changes: FloatArray, *, public_count: bool = False) -> NDArray[np.bool_]:
    """Return which changes of the moments (t, x) lie in K.

    Parameters
    ----------
    changes : array of shape (size, p + 1, p + 1)
        Symmetric. The entry of t^2 does not count, nor that of the constant with `public_count`.
    public_count : bool
        See `Hull`.

    Examples
    --------
    The record t = 1, x = 1 instead of t = -1, x = 1, and a change that is too large for one record.

    >>> inside(np.array([[[0.0, 2.0], [2.0, 0.0]], [[0.0, 2.0], [2.0, 0.1]]])).tolist()
    [True, False]
    """
    own = _stacked(changes, public_count)
    return _in_line(own) if public_count else _in_ball(own[:, 1:, 1:], own[:, 0, 1:])


@checked
def gauge(changes: FloatArray, *, public_count: bool = False) -> FloatArray:
    """Return the K-norm of changes, the least factor of K that holds them, to nine digits.

    Parameters
    ----------
    changes, public_count
        See `inside`.

    Examples
    --------
    >>> gauge(np.array([[[0.0, 2.0], [2.0, 0.5]], [[0.0, 1.0], [1.0, 0.0]]])).round(6).tolist()
    [1.142857, 0.5]
    """
    own = _stacked(changes, public_count)
    counted = np.ones(own.shape[1:])
    counted[0, 0] = 0.0
    if public_count:
        counted[1, 1] = 0.0
    # K holds every unit change of one entry, so no gauge is above the sum of their sizes.
    low, high = np.zeros(len(own)), np.abs(own * counted).sum(axis=(1, 2)) + np.finfo(float).tiny
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        within = inside(own * counted / middle[:, None, None], public_count=public_count)
        low, high = np.where(within, low, middle), np.where(within, middle, high)
    return np.asarray(high)


def _in_ball(N: FloatArray, n: FloatArray) -> NDArray[np.bool_]:
    """Decide max over |S| <= 1 of <S, N> + (|n|^2 - |S n|^2) / 2 + |tr N| <= 2, by ascent with momentum in S.

    Every S is a proof that a point is outside, and c = S n / 2 may be one that it is inside: see the chapter.
    """
    length, trace = (n**2).sum(axis=1), np.abs(np.trace(N, axis1=1, axis2=2))
    fixed = length / 2 + trace
    # Of S = 0, and of |N|_F^2 <= 2: neither needs an eigenvalue.
    left = np.flatnonzero((fixed <= 2) & (trace <= 1) & ((N**2).sum(axis=(1, 2)) <= 2))
    within = np.zeros(len(N), dtype=np.bool_)
    S = _spectral(N[left], np.sign)
    ahead, t = S, 1.0
    for _ in range(STEPS):
        A, a = N[left], n[left]
        image = (S @ a[:, :, None])[:, :, 0]
        below = (S * A).sum(axis=(1, 2)) - (image**2).sum(axis=1) / 2 + fixed[left]
        rest = np.abs(np.linalg.eigvalsh(A - _product(image, a))).sum(axis=1)
        above = (image**2).sum(axis=1) / 2 + rest + fixed[left]
        within[left[above <= 2]] = True
        open_ = (above > 2) & (below <= 2)
        if not open_.any():
            break
        left, S, ahead, A, a = left[open_], S[open_], ahead[open_], A[open_], a[open_]
        slope = A - _product((ahead @ a[:, :, None])[:, :, 0], a)
        step = 1 / np.maximum(length[left], np.finfo(float).tiny)
        new = _spectral(ahead + slope * step[:, None, None], lambda values: np.clip(values, -1.0, 1.0))
        t, before = (1 + math.sqrt(1 + 4 * t * t)) / 2, t
        ahead, S = new + (before - 1) / t * (new - S), new
    return within


def _in_line(E: FloatArray) -> NDArray[np.bool_]:
    """Decide for one predictor and the constant: a share p of weight on t = 1, and the least sum of squares for it.

    The sums of x over records with t = 1 and t = -1 change by a and b, the weight on t = 1 by w, the sum of x^2 by s.
    """
    sign = np.where(E[:, 2, 2] < 0, -1.0, 1.0)
    s, w = sign * E[:, 2, 2], sign * E[:, 0, 1] / 2
    a, b = np.abs(E[:, 1, 2] + E[:, 0, 2]) / 2, np.abs(E[:, 1, 2] - E[:, 0, 2]) / 2
    # The weight p on t = 1 and q = 1 - p on t = -1, each of its own: a difference would round a small one to zero.
    least_p = np.maximum.reduce([np.zeros_like(w), -w, (a - w) / 2])
    least_q = np.maximum.reduce([np.zeros_like(w), w, (b + w) / 2])
    k, m = a - w, b + w  # what p and q must reach, or moments are left over
    both = (k > 0) & (m > 0) & (k + m > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.clip(np.where(both, k / (k + m), k), least_p, 1 - least_q)
        q = np.clip(np.where(both, m / (k + m), 1 - k), least_q, 1 - least_p)
        one = np.where(k > p, (k - p) ** 2 / p, 0.0)
        two = np.where(m > q, (m - q) ** 2 / q, 0.0)
    return np.asarray((least_p + least_q <= 1) & (one + two <= 1 - s))


def _around_ball(p: int, rng: np.random.Generator) -> FloatArray:
    """Draw proposals from |N|_F^2 <= 2, |n| <= 2, which holds K: the two are independent."""
    changes = np.zeros((BLOCK, p + 1, p + 1))
    rows, columns = np.triu_indices(p)
    N = math.sqrt(2) * _within_unit(len(rows), rng) / np.where(rows == columns, 1.0, math.sqrt(2))
    changes[:, rows + 1, columns + 1] = changes[:, columns + 1, rows + 1] = N
    changes[:, 0, 1:] = changes[:, 1:, 0] = 2 * _within_unit(p, rng)
    return changes


def _around_line(rng: np.random.Generator) -> FloatArray:
    """Draw proposals from the box around K: the sum of squares changes by at most one, the others by two."""
    changes = np.zeros((BLOCK, 3, 3))
    for j, k, most in ((0, 1, 2.0), (0, 2, 2.0), (1, 2, 2.0), (2, 2, 1.0)):
        changes[:, j, k] = changes[:, k, j] = rng.uniform(-most, most, BLOCK)
    return changes


def _within_unit(k: int, rng: np.random.Generator) -> FloatArray:
    """Draw points uniformly from the Euclidean unit ball of k dimensions."""
    points = rng.standard_normal((BLOCK, k))
    return np.asarray(points * (rng.random(BLOCK) ** (1 / k) / np.linalg.norm(points, axis=1))[:, None])


def _spectral(A: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply a function to the eigenvalues."""
    values, vectors = np.linalg.eigh(A)
    return np.asarray((vectors * function(values)[:, None, :]) @ vectors.swapaxes(1, 2))


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return (ab' + ba') / 2."""
    outer = a[:, :, None] * b[:, None, :]
    return np.asarray((outer + outer.swapaxes(1, 2)) / 2)


@cache
def _squares(p: int, public_count: bool) -> FloatArray:
    """Return the mean squares of the noise at spread one, of shape (p + 1, p + 1), from a fixed sample of K."""
    k = _dimension(p, public_count)
    squares = (k + 1) * (k + 2) * (uniform(p, STUDY, 0, public_count=public_count) ** 2).mean(axis=0)
    squares.flags.writeable = False  # the cache hands out this very array
    return np.asarray(squares)


def _stacked(changes: FloatArray, public_count: bool) -> FloatArray:
    """Return changes whose shape is right."""
    own = limits.reals(changes, "changes")
    if own.ndim != 3 or own.shape[1] != own.shape[2] or not np.array_equal(own, own.swapaxes(1, 2)):
        raise InputError(f"changes has shape {own.shape}, or is not symmetric: give symmetric matrices, stacked")
    _columns(own.shape[1] - 1, public_count)
    return own


def _dimension(p: int, public_count: bool) -> int:
    """Return how many numbers get noise."""
    return p * (p + 3) // 2 - public_count


def _columns(p: int, public_count: bool) -> int:
    """Return p, if there is a sampler."""
    if checks.flag(public_count, "public_count") and p != 2:
        raise InputError(f"p is {p}: with a public count give 2, one predictor and the constant")
    return checks.count(p, "p", most=LARGEST)


def _known(domain: Domain) -> None:
    """Refuse a domain without a sampler."""
    checks.instance(domain, (Box, Ball), "domain")
    line = domain.d == 1 and not (isinstance(domain, Box) and domain.corner)
    if not line and not (isinstance(domain, Ball) and domain.d <= LARGEST and not domain.intercept):
        raise InputError(
            f"the domain is a {domain.kind} of {domain.d} predictors: give one predictor in a centred box, or a ball "
            f"of at most {LARGEST} without an intercept, for no sampler of another hull is known here"
        )
