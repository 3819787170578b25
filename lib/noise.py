"""Random draws. One helper turns every seed into a generator; nothing uses numpy's global state.

The draws are floating-point simulations of the laws in the proofs. They are right for studying a mechanism.
Floating-point numbers have gaps, so the last bits of a released number can betray the input even where the
real-valued law would not; a deployment should draw with a library built for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lib import checks
from lib.checks import FloatArray, InputError

RandomState = int | np.random.SeedSequence | np.random.Generator | None


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


def spawn(random_state: RandomState, *keys: int) -> np.random.Generator:
    """Return the generator of one task, named by `keys`: the same however many tasks run, and in which order.

    Examples
    --------
    >>> float(spawn(7, 2).random()) == float(spawn(7, 2).random())
    True
    """
    root = seed_sequence(random_state)
    keys = tuple(checks.count(key, "key", 0) for key in keys)
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *keys)))


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
    b = np.asarray(checks.numeric(scale, "scale"), dtype=np.float64)
    if not np.isfinite(b).all() or (b < 0).any():
        raise InputError("a Laplace scale is negative or not finite: give numbers of at least zero")
    try:
        b = np.broadcast_to(b, shape)  # a plain product would use one draw for several scales
    except ValueError:
        raise InputError(f"the scales have shape {b.shape} and the draws {shape}: ask for one draw per scale") from None
    return np.asarray(generator(random_state).laplace(size=shape) * b)


def laplace_cdf(x: ArrayLike, scale: float) -> FloatArray:
    """Return the probability that a Laplace variable of this scale is at most x.

    Examples
    --------
    >>> float(laplace_cdf(0.0, 3.0)), float(laplace_cdf(-2.06, 8.0).round(4))
    (0.5, 0.3865)
    """
    z = np.asarray(x, dtype=np.float64) / checks.positive(scale, "scale")
    tail = np.exp(-np.abs(z)) / 2
    return np.asarray(np.where(z < 0, tail, 1 - tail))


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return the seed sequence of a seed, or fresh entropy for `None`."""
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        raise InputError("random_state is a Generator, whose state moves: give a seed to name tasks by")
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(f"random_state is {random_state!r}: give None, a seed of at least zero, or a Generator")
    return np.random.SeedSequence(int(random_state))
