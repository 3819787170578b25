"""Faults in what the estimators take, each of which a test must notice."""

MUTANTS = {
    "labels: in the order they were given": (
        "dpreg.estimators.records._pair",
        "two := np.unique(two)",
        "two",
        "test_records.py -k sorted",
    ),
    "labels: whatever is not the upper one is the lower": (
        "dpreg.estimators.records.labels",
        "(known := lower | upper).all()",
        "(known := lower | upper).any()",
        "test_records.py -k refused",
    ),
    "weights: accepted and forgotten": (
        "dpreg.estimators.records.refuse",
        'if unknown.get("sample_weight") is not None:',
        "if unknown is None:",
        "test_private.py -k weights",
    ),
    "sparse rows: the second block taken for the first": (
        "dpreg.pipeline.objective._sparse",
        "target[part], part.start",
        "target[:len(X[part].toarray())], part.start",
        "test_objective.py -k sparse",
    ),
    "a free intercept: without the predictors' means": (
        "dpreg.pipeline.solve._free_first",
        "first = -(slope * others).sum(axis=-1, keepdims=True) - level / 2",
        "first = -level / 2",
        "test_solve.py -k free",
    ),
    "a free intercept: penalised all the same": (
        "dpreg.estimators.private._Private._minimise",
        "free = not checks.flag",
        "free = checks.flag",
        "test_private.py -k intercept",
    ),
    "the largest slide: too few are solved": (
        "dpreg.mechanisms.wishart._slide",
        "> best",
        "< best",
        "test_wishart.py -k slide",
    ),
}
