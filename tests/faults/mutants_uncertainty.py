"""Faults in standard errors and intervals, each of which a test must notice."""

PLACE = "dpreg.pipeline.uncertainty"

MUTANTS = {
    "uncertainty: the noise on the moments forgotten": (
        f"{PLACE}.uncertainty",
        "pull = noise.v / 2 + noise.M @ theta",
        "pull = noise.v / 2",
        "test_uncertainty.py -k law",
    ),
    "uncertainty: the records' own error forgotten": (
        f"{PLACE}.uncertainty",
        "errors = -(pull + sampled) @ inverse",
        "errors = -pull @ inverse",
        "test_uncertainty.py -k classical",
    ),
    "uncertainty: the records' error without the design": (
        f"{PLACE}.uncertainty",
        "@ np.linalg.cholesky(M).T",
        "* np.sqrt(np.diag(M))",
        "test_uncertainty.py -k classical",
    ),
    "uncertainty: coefficients cost no freedom": (
        f"{PLACE}.uncertainty",
        "_count(release, n) - noisy.p",
        "_count(release, n)",
        "test_uncertainty.py -k classical",
    ),
    "uncertainty: a withheld sum of squares taken for zero": (
        f"{PLACE}.uncertainty",
        "float(noisy.c) == 0.0",
        "False",
        "test_uncertainty.py -k refused",
    ),
    "uncertainty: a secret number taken": (
        f"{PLACE}._count",
        'elif any(spend.neighbours == "add_remove" for spend in release.ledger.spends):',
        "elif False:",
        "test_uncertainty.py -k refused",
    ),
    "uncertainty: a noisy count below the coefficients": (
        f"{PLACE}._count",
        "return max(counted, p + 1.0)",
        "return counted",
        "test_uncertainty.py -k noisy_count",
    ),
    "uncertainty: a negative variance": (
        f"{PLACE}._variance",
        "/ freedom, 0.0, 1.0)",
        "/ freedom, -1.0, 1.0)",
        "test_uncertainty.py -k negative",
    ),
    "uncertainty: units of the slopes forgotten": (
        f"{PLACE}._units",
        "unit.slopes] for",
        "np.eye(domain.p)[-domain.d:][:, -1]] for",
        "test_uncertainty.py -k classical",
    ),
    "uncertainty: tails on the wrong sides": (
        f"{PLACE}._between",
        "[centre - most, centre - least]",
        "[centre + least, centre + most]",
        "test_uncertainty.py -k lopsided",
    ),
    "uncertainty: both tails on each side": (
        f"{PLACE}._between",
        '(1 - checks.chance(level, "level")) / 2',
        '1 - checks.chance(level, "level")',
        "test_uncertainty.py -k 'lopsided or classical'",
    ),
}
