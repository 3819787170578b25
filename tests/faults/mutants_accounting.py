"""Faults for dpreg/accounting.py that its tests must notice."""

MUTANTS = {
    "budgets beyond floats pass": (
        "dpreg.checks.within_reach",
        "if not 1 / reach <= number <= reach:",
        "if False:",
        "test_private.py -k reason",
    ),
    "budgets beyond floats pass in an array": (
        "dpreg.checks.epsilons",
        "for extreme in (array.min(), array.max()):",
        "for extreme in (array.max(),):",
        "test_bad_input.py -k functional",
    ),
    "a price beyond floats is charged": (
        "dpreg.pipeline.ledger.Spend.__post_init__",
        'checks.within_reach(self.epsilon, "epsilon", checks.REACH**2)',
        "pass",
        "test_release.py -k beyond_floats",
    ),
    "infinite noise is charged": (
        "dpreg.pipeline.ledger.Spend.__post_init__",
        "if self.scale == math.inf:",
        "if False:",
        "test_release.py -k beyond_floats",
    ),
    "logarithm without its two": (
        "dpreg.accounting.advanced",
        "math.sqrt(-2 * k * math.log(delta)) * e",
        "math.sqrt(-k * math.log(delta)) * e",
        "test_accounting.py -k advanced",
    ),
    "calibrations end on the wrong side": (
        "dpreg.accounting._edge",
        "        good, bad = (middle, bad) if holds(middle) else (good, middle)\n    return good",
        "        good, bad = (middle, bad) if holds(middle) else (good, middle)\n    return bad",
        "test_accounting.py -k 'safe or optimal'",
    ),
    "tails of mean-concentrated releases added": (
        "dpreg.accounting.MeanCDP.__add__",
        "math.hypot(self.tau, other.tau)",
        "max(self.tau, other.tau)",
        "test_accounting.py -k mean_cdp",
    ),
    "mean loss of Laplace noise for every pure mechanism": (
        "dpreg.accounting.zcdp_from_pure",
        "return e * math.tanh(e / 2)",
        "return zcdp_from_laplace(e)",
        "test_accounting.py -k 'pure or response'",
    ),
    "conversion without its smallest term": (
        "dpreg.accounting.zcdp_to_dp",
        "-math.log1p(s) / s, -math.log1p(1 / s)",
        "-math.log1p(s) / s, -2 * math.log1p(1 / s)",
        "test_accounting.py -k tight_conversion_covers",
    ),
    "second tail of the Gaussian delta forgotten": (
        "dpreg.accounting.gdp_delta",
        "apart = _mills(a) - _mills(b) if mu > 0.5",
        "apart = _mills(a) if mu > 0.5",
        "test_accounting.py -k gaussian",
    ),
    "close tails subtracted": (
        "dpreg.accounting.gdp_delta",
        "if mu > 0.5 else",
        "if mu > 0 else",
        "test_accounting.py -k gaussian",
    ),
    "true answers counted, without a margin": (
        "dpreg.accounting.optimal",
        "stats.binom.pmf(lies, k, lie) * (1 + 1e-10 + 1e-15 * k)",
        "stats.binom.pmf(k - lies, k, float(special.expit(e))) * (1 + 1e-10)",
        "test_accounting.py -k optimal_is_never",
    ),
    "chance outside the sum forgotten": (
        "dpreg.accounting.optimal.covers",
        ".sum() + 1e-307 <= delta",
        ".sum() <= delta",
        "test_accounting.py -k below_the_normal_floats",
    ),
    "small chances cut off": (
        "dpreg.accounting.optimal",
        "reach = 40 * spread + 500",
        "reach = 4 * spread + 5",
        "test_accounting.py -k optimal_composition",
    ),
}
