"""Faults to put into lib.papers.park_welling, and the tests that must notice."""

MUTANTS = {
    "tested on training records": (
        "lib.papers.park_welling._one",
        "{name: y[n:] - domain.unscale(path[-1]).predict(X[n:]) for",
        "{name: y[: n // TEST] - domain.unscale(path[-1]).predict(X[: n // TEST]) for",
        "lib/test_park_welling.py -k fresh_records",
    ),
    "all plans share their noise": (
        "lib.papers.park_welling._one",
        "zlib.crc32(name.encode())",
        "list(plans).index(name)",
        "lib/test_park_welling.py -k is_the_protocol",
    ),
    "all data sets the same": (
        "lib.papers.park_welling._one",
        "data = noise.spawn(root, n, repeat, 0)",
        "data = noise.spawn(root, n, 0, 0)",
        "lib/test_park_welling.py -k fresh_records",
    ),
    "bounds from the data without a word": (
        "lib.papers.park_welling.replicate",
        'if checks.flag(maxima, "maxima"):',
        'if checks.flag(maxima, "maxima") and not repeats:',
        "lib/test_park_welling.py -k leak",
    ),
    "loss against the plain fit of another data set": (
        "lib.papers.park_welling.scored",
        "base.reindex(own.index)",
        "base.iloc[::-1].set_axis(base.index).reindex(own.index)",
        "lib/test_park_welling.py -k pairs",
    ),
    "crossing on a linear axis": (
        "lib.papers.park_welling._crossing",
        "high, low = math.log(losses[k - 1]), math.log(losses[k])",
        "high, low, level = losses[k - 1], losses[k], math.exp(level)",
        "lib/test_park_welling.py -k power_law",
    ),
    "mean of the one-sided noise forgotten": (
        "dpreg.mechanisms.irls_laws.Wishart.mean_square",
        "self.degrees * (self.degrees + p + 1) * self.scale**4",
        "self.degrees * (p + 1) * self.scale**4",
        "lib/test_park_welling.py -k disturbance",
    ),
}
