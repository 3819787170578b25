"""Faults in releases on a lattice and in Gaussian noise, each of which a test must notice."""

MUTANTS = {
    "lattice: records rounded out of a corner box": (
        "dpreg.pipeline.lattice.snap",
        "math.isqrt(step**2 // domain.d) if domain.corner",
        "round(step / math.sqrt(domain.d)) if domain.corner",
        "test_lattice.py -k in_the_domain",
    ),
    "lattice: records rounded out of a ball": (
        "dpreg.pipeline.lattice.snap",
        "Z[outside] -= np.sign(Z[outside])",
        "break",
        "test_lattice.py -k 'just_above or in_the_domain'",
    ),
    "lattice: the sums rounded, and not the records": (
        "dpreg.pipeline.objective._moments",
        "        gram += part.T @ part",
        "        gram += np.rint(part.T @ part)",
        "test_lattice.py -k are_exact",
    ),
    "lattice: sums beyond the exact ones": (
        "dpreg.pipeline.lattice.Lattice.__post_init__",
        "(np.abs(own) < WHOLE / 4.0**self.bits).all()",
        "(np.abs(own) < 4 * WHOLE / 4.0**self.bits).all()",
        "test_lattice.py -k not_be_exact",
    ),
    "lattice: moments of unrounded records": (
        "dpreg.pipeline.lattice.Lattice.__post_init__",
        "(self.steps % 1 != 0).any() or",
        "",
        "test_lattice.py -k other_records",
    ),
    "lattice: no slack for the rounding of the price": (
        "dpreg.pipeline.lattice.adder",
        "* 4.0**exact.bits * SLACK",
        "* 4.0**exact.bits / SLACK",
        "test_lattice.py -k slack",
    ),
    "lattice: noise at the scale of one step less": (
        "dpreg.pipeline.lattice.adder",
        "* 4.0**exact.bits * SLACK",
        "* 4.0 ** (exact.bits - 1) * SLACK",
        "test_lattice.py -k its_own_scale",
    ),
    "lattice: Gaussian noise for Laplace noise": (
        "dpreg.pipeline.lattice._maker",
        'if kind == "laplace" else',
        'if kind == "gaussian" else',
        "test_lattice.py -k exact_law",
    ),
    "lattice: twins drawn together": (
        "dpreg.pipeline.lattice.adder",
        "np.indices((size, size)).reshape(2, -1) if ordered",
        "np.indices((size, size)).reshape(2, -1) if ordered is None",
        "test_lattice.py -k its_own_scale",
    ),
    "lattice: the square of the response goes out": (
        "dpreg.pipeline.lattice.adder",
        "rows[columns > 0], columns[columns > 0]",
        "rows[columns >= 0], columns[columns >= 0]",
        "test_lattice.py -k around_the_exact",
    ),
    "lattice: noise on v for the wrong factor": (
        "dpreg.pipeline.laws.Scales.discrete",
        "self.v / abs(loss.cross)",
        "self.v",
        "test_lattice.py -k its_own_scale",
    ),
    "lattice: the constant published without noise": (
        "dpreg.pipeline.laws.Scales.discrete",
        "if not math.isinf(self.c):",
        "if False:",
        "test_lattice.py -k refused_release",
    ),
    "lattice: a ridge forgotten": (
        "dpreg.pipeline.repair.ridge",
        ", exact=None)",
        ")",
        "test_lattice.py -k other_records",
    ),
    "lattice: other noise than the ledger says": (
        "dpreg.pipeline.release.release",
        ", origin=origin)",
        ")",
        "test_lattice.py -k which_sampler",
    ),
    "lattice: a seed ignored": (
        "dpreg.pipeline.budget.pay",
        "if origin and random_state is not None:",
        "if False:",
        "test_lattice.py -k refused_release",
    ),
    "estimators: published from floating-point noise": (
        "dpreg.estimators.private._Private._minimise",
        ", sampler=self.sampler",
        "",
        "test_lattice.py -k estimators",
    ),
    "Gaussian: half the rho": (
        "dpreg.mechanisms.gaussian._change",
        "math.sqrt(2) if",
        "1.0 if",
        "test_gaussian.py -k 'no_pair or reached'",
    ),
    "Gaussian: products with the noise of squares left out of the price": (
        "dpreg.mechanisms.gaussian.Gaussian.deviations",
        "math.sqrt(0.5) + (1 - math.sqrt(0.5))",
        "0.5 + 0.5",
        "test_gaussian.py -k 'no_pair or noise_law'",
    ),
    "Gaussian: an epsilon": (
        "dpreg.mechanisms.gaussian.Gaussian.certify",
        "if self.delta and rho < math.inf else math.inf",
        "if self.delta and rho < math.inf else rho",
        "test_gaussian.py -k ledger",
    ),
}
