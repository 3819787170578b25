"""A law of noise as a reader writes one, outside the library: it asks no class of it, and is in none of its tables."""

import math

import numpy as np

from dpreg.pipeline import laws
from dpreg.pipeline.objective import SQUARED


class Mine(laws.Law):
    """A reader's own law: Laplace noise on M and v, in another wrapping, that asks no class of the library."""

    name = "mine"
    norm = "my L1"

    def __init__(self, size, p):
        self.size, self.columns_ = np.asarray(size, dtype=float), p

    @property
    def batch(self):
        return self.size.shape

    @property
    def p(self):
        return self.columns_

    @property
    def scale(self):
        return float(self.size)

    @property
    def deviation(self):
        return math.sqrt(2) * self.size

    @property
    def level(self):
        return np.asarray(math.sqrt(2 * self.p) * self.size)

    def times(self, factor):
        return Mine(self.size * np.asarray(factor), self.p)

    def inner(self):
        unit = laws.Scales(np.ones((self.p, self.p)), np.ones(self.p))
        return unit.times(self.size)

    def certify(self, domain, neighbours="replace", loss=SQUARED):
        return self.inner().certify(domain, neighbours, loss)

    def perturb(self, f, draws, rng):
        return self.inner().perturb(f, draws, rng)


def own(domain, epsilon, neighbours="replace", loss=SQUARED):
    unit = Mine(1.0, domain.p)
    return unit.times(laws.certify(unit, domain, neighbours, loss) / epsilon)
