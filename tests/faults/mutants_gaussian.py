"""Faults in Gaussian noise with a delta, and in the rivals from moments, each of which a test must notice."""

MUTANTS = {
    "gaussian: no delta on the ledger": (
        "dpreg.mechanisms.gaussian.Gaussian.spends",
        "delta=self.delta",
        "delta=0.0",
        "test_gaussian.py -k count_a_delta",
    ),
    "gaussian: a multiple forgets its delta": (
        "dpreg.mechanisms.moment_noise.MomentNoise.times",
        "replace(self, spread=self.spread * f)",
        "type(self)(self.weights, self.spread * f, self.public_count, self.loss)",
        "test_gaussian.py -k multiple",
    ),
    "gaussian: half of rho is mu squared": (
        "dpreg.mechanisms.gaussian.for_delta",
        "chance) ** 2 / 2",
        "chance) ** 2",
        "test_gaussian.py -k with_a_delta",
    ),
    "adassp: an eigenvalue for all of mu": (
        "dpreg.sweeps.moment_methods.adassp",
        "noise.gaussian(square / mu, batch, rng)",
        "noise.gaussian(square / mu / math.sqrt(3), batch, rng)",
        "test_moment_methods.py -k third",
    ),
    "adassp: moments of one record": (
        "dpreg.sweeps.moment_methods.adassp",
        "spread = math.sqrt(2) * square / mu",
        "spread = square / mu",
        "test_moment_methods.py -k third",
    ),
    "adassp: products of one record": (
        "dpreg.sweeps.moment_methods.adassp",
        "(2 * math.sqrt(square) / mu)",
        "(math.sqrt(square) / mu)",
        "test_moment_methods.py -k third",
    ),
    "descent: every step for all of mu": (
        "dpreg.sweeps.moment_methods.gradient_descent",
        "* math.sqrt(count) /",
        "/",
        "test_moment_methods.py -k share",
    ),
}
