"""Faults in dpreg/audit/reweighted.py."""

MUTANTS = {
    "the second moment held to the kind of the first": (
        "dpreg.audit.reweighted._steps",
        "moved[..., 1:, 1:] if second else moved[..., 0, 1:]",
        "moved[..., 0, 1:]",
        "test_reweighted.py -k cap_of",
    ),
    "steps at another cap than the plan's": (
        "dpreg.audit.reweighted._steps",
        "np.full(len(thetas), cap)",
        "np.full(len(thetas), cap / 2)",
        "test_reweighted.py -k cap_of",
    ),
    "a price made of two that is searched": (
        "dpreg.audit.reweighted._steps",
        'kind.together or s.neighbours == "add_remove"',
        "True",
        "test_reweighted.py -k made_of_two",
    ),
    "the price of the first moment for both": (
        "dpreg.audit.reweighted.reweighted",
        "if known.released == spend.released",
        "if True",
        "test_declared.py -k 'sound and degrees'",
    ),
    "the noise of the first moment alone": (
        "dpreg.audit.reweighted.reweighted",
        "for _, kind, law in parts(s) for sample",
        "for _, kind, law in parts(s)[:1] for sample",
        "test_reweighted.py -k gets_wrong",
    ),
}
