"""Faults for lib/accounting.py that its tests must notice."""

MUTANTS = {
    "budgets beyond floats pass": (
        "checks.py",
        "if not 1 / reach <= number <= reach:",
        "if False:",
        "test_estimators.py -k reason",
    ),
    "budgets beyond floats pass in an array": (
        "checks.py",
        "for extreme in (array.min(), array.max()):",
        "for extreme in (array.max(),):",
        "test_bad_input.py -k functional",
    ),
    "a price beyond floats is charged": (
        "release.py",
        'checks.within_reach(self.epsilon, "epsilon", checks.REACH**2)',
        "pass",
        "test_release.py -k beyond_floats",
    ),
    "infinite noise is charged": (
        "release.py",
        "if self.scale == math.inf:",
        "if False:",
        "test_release.py -k beyond_floats",
    ),
    "logarithm without its two": (
        "accounting.py",
        "math.sqrt(-2 * k * math.log(delta)) * e",
        "math.sqrt(-k * math.log(delta)) * e",
        "test_accounting.py -k advanced",
    ),
    "calibrations end on the wrong side": (
        "accounting.py",
        "        good, bad = (middle, bad) if holds(middle) else (good, middle)\n    return good",
        "        good, bad = (middle, bad) if holds(middle) else (good, middle)\n    return bad",
        "test_accounting.py -k 'safe or optimal'",
    ),
    "tails of mean-concentrated releases added": (
        "accounting.py",
        "math.hypot(self.tau, other.tau)",
        "max(self.tau, other.tau)",
        "test_accounting.py -k mean_cdp",
    ),
    "mean loss of Laplace noise for every pure mechanism": (
        "accounting.py",
        "return e * math.tanh(e / 2)",
        "return zcdp_from_laplace(e)",
        "test_accounting.py -k 'pure or response'",
    ),
    "conversion without its smallest term": (
        "accounting.py",
        "-math.log1p(s) / s, -math.log1p(1 / s)",
        "-math.log1p(s) / s, -2 * math.log1p(1 / s)",
        "test_accounting.py -k tight_conversion_covers",
    ),
    "second tail of the Gaussian delta forgotten": (
        "accounting.py",
        "apart = _mills(a) - _mills(b) if mu > 0.5",
        "apart = _mills(a) if mu > 0.5",
        "test_accounting.py -k gaussian",
    ),
    "close tails subtracted": (
        "accounting.py",
        "if mu > 0.5 else",
        "if mu > 0 else",
        "test_accounting.py -k gaussian",
    ),
    "true answers counted, without a margin": (
        "accounting.py",
        "stats.binom.pmf(lies, k, lie) * (1 + 1e-10 + 1e-15 * k)",
        "stats.binom.pmf(k - lies, k, float(special.expit(e))) * (1 + 1e-10)",
        "test_accounting.py -k optimal_is_never",
    ),
    "chance outside the sum forgotten": (
        "accounting.py",
        ".sum() + 1e-307 <= delta",
        ".sum() <= delta",
        "test_accounting.py -k below_the_normal_floats",
    ),
    "small chances cut off": (
        "accounting.py",
        "reach = 40 * spread + 500",
        "reach = 4 * spread + 5",
        "test_accounting.py -k optimal_composition",
    ),
}
