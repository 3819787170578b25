"""Random draws. One helper turns every seed into a generator; nothing uses numpy's global state.

The draws are floating-point simulations of the laws in the proofs. They are right for studying a mechanism.
Floating-point numbers have gaps, so the last bits of a released number betray the input even where the real-valued
law would not; what is to be published draws elsewhere: see `pipeline.lattice`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError

RandomState = int | np.random.SeedSequence | np.random.Generator | None
SYSTEM = "numpy, system randomness"
SEEDED = "numpy, seed "
LARGEST = 1e300  # scale of noise: a draw can be a few hundred times as large


@checked
def generator(random_state: RandomState = None) -> np.random.Generator:
    """Return the generator for a seed, a seed sequence, a generator, or fresh entropy for `None`.

    Examples
    --------
    >>> float(generator(7).random()) == float(generator(7).random())
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_sequence(random_state))


@checked
def origin(random_state: RandomState = None) -> str:
    """Return what a ledger says of where the draws come from; two origins are equal if the draws would be.

    A seed, however it is spelled, and an unused generator made from it have the same origin. It tells the seed to
    whoever tries enough of them: a release from a seed is for study.

    Examples
    --------
    >>> origin(None), origin(5) == origin(np.random.SeedSequence([5, 0])) == origin(np.random.default_rng(5))
    ('numpy, system randomness', True)
    """
    if random_state is None:
        return SYSTEM
    state = json.dumps(generator(random_state).bit_generator.state, sort_keys=True, default=np.ndarray.tolist)
    return f"{SEEDED}{hashlib.sha256(state.encode()).hexdigest()[:16]}"


@checked
def repeatable(random_state: RandomState = None) -> np.random.SeedSequence:
    """Return a seed for draws that are made more than once; that of a generator is drawn from it.

    Examples
    --------
    >>> seed = repeatable(np.random.default_rng(1))
    >>> float(generator(seed).random()) == float(generator(seed).random())
    True
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=8).tolist())
    return seed_sequence(random_state)


@checked
def spawn(random_state: RandomState, *keys: int) -> np.random.Generator:
    """Return the generator of one task, named by `keys`: the same however many tasks run, and in which order.

    Examples
    --------
    >>> float(spawn(7, 2).random()) == float(spawn(7, 2).random())
    True
    """
    root = seed_sequence(random_state)
    keys = tuple(checks.count(key, "keys", 0) for key in keys)
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *keys)))


@checked
def laplace(scale: ArrayLike, shape: tuple[int, ...], random_state: RandomState = None) -> FloatArray:
    """Draw independent Laplace variables with density exp(-|z| / scale) / (2 scale).

    Parameters
    ----------
    scale : array broadcastable to `shape`; zero gives exactly zero
    shape : tuple of int
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> laplace([0.0, 1.0], (2,), random_state=1)[0]
    np.float64(0.0)
    """
    b = _scales(scale, shape, "scale")
    return np.asarray(generator(random_state).laplace(size=shape) * b)


@checked
def symmetric(scale: ArrayLike, shape: tuple[int, ...], random_state: RandomState = None) -> FloatArray:
    """Draw symmetric matrices of Laplace variables: those of the upper triangle, and the same once more below.

    Parameters
    ----------
    scale : array broadcastable to `shape`; what is below the diagonal has no effect
    shape : tuple of int
        Its last two are the size of a matrix.
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> drawn = symmetric(1.0, (2, 2), random_state=1)
    >>> bool(drawn[0, 1] == drawn[1, 0] != drawn[0, 0])
    True
    """
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise InputError(f"shape is {shape}: give two equal numbers at its end, for a symmetric matrix")
    (rows, columns), out = np.triu_indices(shape[-1]), np.empty(shape)
    upper = _scales(scale, shape, "scale")[..., rows, columns]
    drawn = laplace(upper, upper.shape, random_state)
    out[..., rows, columns] = out[..., columns, rows] = drawn
    return out


@checked
def gaussian(deviation: ArrayLike, shape: tuple[int, ...], random_state: RandomState = None) -> FloatArray:
    """Draw independent normal variables with mean zero and these standard deviations.

    Parameters
    ----------
    deviation : array broadcastable to `shape`; zero gives exactly zero
    shape : tuple of int
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> gaussian([0.0, 1.0], (2,), random_state=1)[0]
    np.float64(0.0)
    """
    sigma = _scales(deviation, shape, "deviation")
    return np.asarray(generator(random_state).standard_normal(size=shape) * sigma)


@checked
def geometric(alpha: float, shape: tuple[int, ...], random_state: RandomState = None) -> NDArray[np.int64]:
    """Draw independent two-sided geometric integers: P(k) = (1 - alpha) / (1 + alpha) alpha^|k|.

    Parameters
    ----------
    alpha : float
        exp(-epsilon / sensitivity), between zero and one.
    shape : tuple of int
    random_state : None, int, SeedSequence or Generator

    Examples
    --------
    >>> geometric(0.5, (1000,), random_state=1).dtype
    dtype('int64')
    """
    checks.chance(alpha, "alpha")
    rng = generator(random_state)
    # The difference of two geometric variables with the same law is two-sided geometric.
    return np.asarray(rng.geometric(1 - alpha, shape) - rng.geometric(1 - alpha, shape))


@checked
def wishart(p: int, degrees: float, shape: tuple[int, ...] = (), random_state: RandomState = None) -> FloatArray:
    """Draw Wishart matrices W_p(I, degrees), by Bartlett's decomposition.

    Parameters
    ----------
    p : int
        Rows and columns.
    degrees : float
        Degrees of freedom, above p - 1. With p + 1 of them the density is proportional to exp(-tr W / 2).
    shape : tuple of int
    random_state : None, int, SeedSequence or Generator

    Returns
    -------
    array of shape (*shape, p, p)

    Examples
    --------
    >>> wishart(3, 4, (2,), random_state=1).shape
    (2, 3, 3)
    """
    checks.count(p, "p", most=limits.WIDE)
    if checks.finite(degrees, "degrees") > LARGEST:
        raise InputError(f"degrees is {degrees:g}: give at most {LARGEST:g}")
    if not degrees > p - 1:
        raise InputError(f"degrees is {degrees:g}: give more than p - 1 = {p - 1}")
    rng = generator(random_state)
    root = np.tril(rng.standard_normal((*shape, p, p)), -1)
    diagonal = np.arange(p)
    root[..., diagonal, diagonal] = np.sqrt(rng.chisquare(float(degrees) - diagonal, (*shape, p)))
    return np.asarray(root @ np.swapaxes(root, -1, -2))


@checked
def laplace_cdf(x: ArrayLike, scale: float) -> FloatArray:
    """Return the probability that a Laplace variable of this scale is at most x.

    Examples
    --------
    >>> float(laplace_cdf(0.0, 3.0)), float(laplace_cdf(-2.06, 8.0).round(4))
    (0.5, 0.3865)
    """
    with np.errstate(over="ignore"):  # an infinite quotient has the probability zero or one
        z = limits.reals(x, "x") / checks.positive(scale, "scale")
    tail = np.exp(-np.abs(z)) / 2
    return np.asarray(np.where(z < 0, tail, 1 - tail))


@checked
def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return the seed sequence of a seed, or fresh entropy for `None`."""
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        raise InputError("random_state is a Generator, whose state moves: give a seed to name tasks by")
    if (
        isinstance(random_state, bool | np.timedelta64)
        or not isinstance(random_state, int | np.integer)
        or random_state < 0
    ):
        raise InputError(
            f"random_state is {checks.shown(random_state)}: give None, a seed of at least zero, or a Generator"
        )
    return np.random.SeedSequence(int(random_state))


def _scales(scale: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    b = np.asarray(checks.numeric(scale, name), dtype=np.float64)
    if not np.isfinite(b).all() or (b < 0).any():
        raise InputError(f"a {name} of noise is negative or not finite: give numbers of at least zero")
    if (b > LARGEST).any():
        raise InputError(f"a {name} of noise is {b.max():g}, and its draws exceed every float: give a smaller one")
    try:
        return np.broadcast_to(b, shape)  # a plain product would use one draw for several scales
    except ValueError:
        raise InputError(
            f"the {name}s have shape {b.shape} and the draws {shape}: ask for one draw per {name}"
        ) from None
