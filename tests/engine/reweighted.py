"""Parts of reweighted least squares, written out, and the laws of its noise; for the tests of irls and its modules."""

import numpy as np
from scipy import integrate

from dpreg.mechanisms import irls_laws
from dpreg.pipeline.domain import Ball


def unit(d, **more):
    return Ball(np.zeros(d), 1.0, response=(-1.0, 1.0), **more)


def huber(r, cap):
    """Integrate r / max(1 / cap, |r|) from zero, and add the constant 1 / (2 cap)."""
    return integrate.quad(lambda u: u / max(1 / cap, abs(u)), 0, r, points=[1 / cap])[0] + 1 / (2 * cap)


def slow_step(Z, t, theta, cap):
    """003's Eqs. 1 and 2, record by record."""
    A, B = np.zeros(Z.shape[1]), np.zeros((Z.shape[1],) * 2)
    for x, response in zip(Z, t, strict=True):
        s = 1 / max(1 / cap, abs(response - x @ theta))
        A += s * response * x
        B += s * np.outer(x, x)
    return A, B


LAWS = {
    "Laplace": lambda scale, degrees: irls_laws.Laplace(scale),
    "Gaussian": lambda scale, degrees: irls_laws.Gaussian(scale, 1.0),
    "Wishart": irls_laws.Wishart,
    "centred Wishart": lambda scale, degrees: irls_laws.CentredWishart(scale, degrees, 1.0),
    "Wishart difference": irls_laws.WishartDifference,
}
