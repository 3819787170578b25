"""The attack on noise that was drawn in floating point: which released numbers an answer cannot give.

A textbook sampler makes its noise of one of 2^53 uniform numbers. So there are floating-point numbers that the sum of
an answer and its noise never is, and they are others for every answer.

References
----------
* Mironov, On Significance of the Least Significant Bits for Differential Privacy, 2012.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.laws import Scales
from dpreg.pipeline.objective import Quadratic

WINDOW = 64  # uniform numbers that are tried on either side; where more come into question, nothing is ruled out
log = np.frompyfunc(math.log, 1, 1)  # the computer's own, as numpy's sampler calls it; np.log may differ in a last bit


@checked
def reachable(released: ArrayLike, answer: ArrayLike, scale: ArrayLike) -> NDArray[np.bool_]:
    """Return whether `answer + noise.laplace(scale, ...)` can be the released number, to the last bit.

    Parameters
    ----------
    released, answer : arrays that broadcast
    scale : array that broadcasts, above zero

    Returns
    -------
    array of bool
        False is certain. True also stands where too many draws come into question to try them all.

    Examples
    --------
    >>> from dpreg import noise
    >>> out = 0.1 + noise.laplace(1.0, (1000,), random_state=1)
    >>> bool(reachable(out, 0.1, 1.0).all()), bool(reachable(out, 0.2, 1.0).all())
    (True, False)
    """
    given = {"released": released, "answer": answer, "scale": scale}
    numbers = [np.asarray(checks.numeric(value, name), dtype=np.float64) for name, value in given.items()]
    try:
        out, a, b = np.broadcast_arrays(*numbers)
    except ValueError:
        raise InputError("released, answer and scale do not match: give arrays that broadcast") from None
    if not (np.isfinite(out).all() and np.isfinite(a).all() and np.isfinite(b).all() and (b > 0).all()):
        raise InputError("released, answer or scale is not finite, or a scale not above zero: give such numbers only")
    for extreme in (b.min(initial=1.0), b.max(initial=1.0)):
        checks.within_reach(float(extreme), "scale")
    size = np.abs(out - a) / b
    tail = np.exp(-size) / 2  # of the uniform number, in whose steps of 2^-53 we count
    blur = (np.spacing(np.abs(out)) + np.spacing(np.abs(a))) / b + 4 * np.spacing(size)
    reach = tail * blur * 2.0**53 + 2
    found, few = reach > WINDOW, int(min(reach.max(initial=0.0), WINDOW)) + 1
    near = np.rint(np.ldexp(tail, 53))
    for step in range(-few, few + 1):
        lower = np.ldexp(np.maximum(near + step, 1.0), -53)  # a uniform number U, and its mirror image 1 - U
        upper = 1.0 - lower
        found = found | (a + _log(lower + lower) * b == out) | (a - _log((2.0 - upper) - upper) * b == out)
    return np.asarray(found)


@checked
def possible(noisy: Quadratic, candidate: Quadratic, scales: Scales) -> NDArray[np.bool_]:
    """Return whether a release with floating-point noise can come from these coefficients; shape of the stack.

    Parameters
    ----------
    noisy : Quadratic with batch (...)
    candidate : Quadratic
        The exact objective of a data set that the attacker thinks of.
    scales : Scales

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> from dpreg.pipeline.release import perturb
    >>> f, g = (Quadratic([[m]], [0.5], 0.0) for m in (1.0, 1.25))
    >>> unit = unit_scales("copied", 1)
    >>> noisy = perturb(f, unit, random_state=1, draws=(100,))
    >>> bool(possible(noisy, f, unit).all()), bool(possible(noisy, g, unit).all())
    (True, False)
    """
    for name, value, kind in (("noisy", noisy, Quadratic), ("candidate", candidate, Quadratic)):
        checks.instance(value, kind, name)
    if not noisy.p == candidate.p == scales.p or candidate.batch or scales.batch:
        raise InputError("the release, candidate and scales do not match: give one candidate, of as many columns")
    drawn = scales.published[1:, 1:]
    M = candidate.M if scales.ordered else candidate.symmetric
    out, answer, scale = (
        np.concatenate([part[0][..., drawn], part[1]], axis=-1)
        for part in ((noisy.M, noisy.v), (M, candidate.v), (scales.M, scales.v))
    )
    loud = scale > 0
    same = (out[..., ~loud] == answer[~loud]).all(axis=-1)  # a public number, which goes out as it is
    return np.asarray(same & reachable(out[..., loud], answer[loud], scale[loud]).all(axis=-1))


def _log(numbers: FloatArray) -> FloatArray:
    return np.asarray(log(np.where(numbers > 0, numbers, 1.0)), dtype=np.float64)
