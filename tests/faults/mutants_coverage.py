"""Faults in the experiment that counts how often intervals hold, each of which a test must notice."""

PLACE = "dpreg.sweeps.coverage"

MUTANTS = {
    "coverage: only one end counts": (
        f"{PLACE}.covered",
        "(ends[..., 0] <= truth) & (truth <= ends[..., 1])",
        "ends[..., 0] <= truth",
        "test_coverage.py -k either_side",
    ),
    "coverage: no noise in what is made": (
        f"{PLACE}.made",
        "deviation * rng.standard_normal(size)",
        "0 * rng.standard_normal(size)",
        "test_coverage.py -k made",
    ),
    "coverage: drawn without what comes last": (
        f"{PLACE}.resampled",
        "rng.integers(0, len(records), size)",
        "rng.integers(0, len(records) - 1, size)",
        "test_coverage.py -k resampled",
    ),
    "coverage: equal variances in the sandwich": (
        f"{PLACE}._sandwich",
        "pull = (t - Z @ theta)[:, None] * Z",
        "pull = np.std(t - Z @ theta) * Z",
        "test_coverage.py -k sandwich",
    ),
    "coverage: a bootstrap without the records' error": (
        f"{PLACE}._bootstrap",
        "lifted.v + noise.v - 2 * error",
        "lifted.v + noise.v",
        "test_coverage.py -k classical",
    ),
}
