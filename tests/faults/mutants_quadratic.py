"""Faults in dpreg/audit/quadratic.py."""

MUTANTS = {
    "a price twice as high held to a law": (
        "dpreg.audit.quadratic.quadratic",
        "[share * spend.epsilon for spend in ledger]",
        "[2 * share * spend.epsilon for spend in ledger]",
        "test_quadratic.py -k gets_wrong",
    ),
    "samples of another law": (
        "dpreg.audit.quadratic.quadratic",
        "noise.samples(\n            s, law(s), ",
        "noise.samples(\n            s, law(s).times(0.9), ",
        "test_quadratic.py -k 'audited or gets_wrong'",
    ),
}
