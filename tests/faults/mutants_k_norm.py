"""Faults in the K-norm mechanism of the hull, each of which a test must notice."""

MUTANTS = {
    "hull: half the spread": (
        "dpreg.mechanisms.k_norm.hull",
        "1 / budgets",
        "1 / (2 * budgets)",
        "test_k_norm.py -k costs",
    ),
    "hull: one degree too few for the radius": (
        "dpreg.mechanisms.k_norm.Hull._drawn",
        "rng.gamma(k + 1.0,",
        "rng.gamma(k + 0.0,",
        "test_k_norm.py -k gamma",
    ),
    "hull: records without the sum of squares": (
        "dpreg.mechanisms.k_norm._in_ball",
        "fixed = length / 2 + trace",
        "fixed = length / 2",
        "test_k_norm.py -k 'by_hand or volume'",
    ),
    "hull: proposals inside the body": (
        "dpreg.mechanisms.k_norm._around_ball",
        "= 2 * _within_unit",
        "= 1.5 * _within_unit",
        "test_k_norm.py -k 'gamma or entry'",
    ),
    "hull: proposals crowd at the centre": (
        "dpreg.mechanisms.k_norm._within_unit",
        "** (1 / k)",
        "** (2 / k)",
        "test_k_norm.py -k 'evenly or entry'",
    ),
    "hull: the label moves as far as the predictor": (
        "dpreg.mechanisms.k_norm._in_line",
        "sign * E[:, 0, 1] / 2",
        "sign * E[:, 0, 1]",
        "test_k_norm.py -k 'programmes or pair'",
    ),
    "hull: what is left of the moments forgotten": (
        "dpreg.mechanisms.k_norm._in_line",
        "(one + two <= 1 - s)",
        "(one <= 1 - s)",
        "test_k_norm.py -k programmes",
    ),
    "hull: the count public to everybody": (
        "dpreg.mechanisms.k_norm.Hull.certify",
        "if public else math.inf",
        "if True else math.inf",
        "test_k_norm.py -k count",
    ),
}
