"""Faults in how bounds are read, each of which a test must notice."""

MUTANTS = {
    "bounds: names of a mapping forgotten": (
        "dpreg.pipeline.bounds.named",
        "return list(values.values()), tuple(values)",
        "return list(values.values()), ()",
        "test_bounds.py -k names",
    ),
    "bounds: an infinite width accepted": (
        "dpreg.pipeline.bounds.apart",
        " & np.isfinite(high - low)",
        "",
        "test_bounds.py -k apart",
    ),
    "bounds: names in two orders accepted": (
        "dpreg.pipeline.bounds.pairs",
        "if names and others and names != others:",
        "if set(names) != set(others):",
        "test_bounds.py -k pairs",
    ),
    "bounds: equal bounds of a response accepted": (
        "dpreg.pipeline.bounds.interval",
        "or not apart(pair[0], pair[1])",
        "",
        "test_bounds.py -k order",
    ),
    "bounds: read off the data without a word": (
        "dpreg.pipeline.bounds.data_range",
        "    warnings.warn(",
        "    str.format(",
        "test_bounds.py -k warns",
    ),
}
