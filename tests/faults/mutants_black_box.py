"""Small faults in the black-box half of dpreg.audit, each with the tests that must notice."""

MUTANTS = {
    "an audit counts what it chose by": (
        "dpreg.audit.black_box._Audit.bounds",
        "(*keys, 1), chosen[0].names",
        "(*keys, 0), chosen[0].names",
        "test_black_box.py -k seeds_that_choose",
    ),
    "the risk of an audit not shared by directions": (
        "dpreg.audit.black_box._risk",
        "(2 * sizes[r] * len(sizes))",
        "(sizes[r] * len(sizes))",
        "test_black_box.py -k what_was_counted",
    ),
    "the risk of an audit not shared by rounds": (
        "dpreg.audit.black_box._risk",
        "(2 * sizes[r] * len(sizes))",
        "(2 * sizes[r])",
        "test_black_box.py -k shares_the_risk",
    ),
    "the worst pairs go on": (
        "dpreg.audit.black_box._run",
        "key=lambda k: -promised[k]",
        "key=lambda k: promised[k]",
        "test_black_box.py -k go_on",
    ),
    "an audit looks in one direction": (
        "dpreg.audit.black_box._Audit.bounds",
        "(counted[::-1] if way else counted)",
        "counted",
        "test_black_box.py -k what_was_counted",
    ),
    "limits of a chance at twice the risk": (
        "dpreg.audit.clopper_pearson.lower_bound",
        '(1 - checks.chance(confidence, "confidence")) / 2)',
        '(1 - checks.chance(confidence, "confidence")))',
        "test_clopper_pearson.py -k 'spent or hand'",
    ),
    "an upper limit for one hit fewer": (
        "dpreg.audit.clopper_pearson._limits",
        "special.betainccinv(k[:-1] + 1, n - k[:-1], risk)",
        "special.betainccinv(np.maximum(k[:-1], 1e-9), n - k[:-1] + 1, risk)",
        "test_clopper_pearson.py -k limit",
    ),
    "delta forgotten by a bound": (
        "dpreg.audit.clopper_pearson.proved",
        "np.maximum(p - delta, 0.0)",
        "np.maximum(p, 0.0)",
        "test_clopper_pearson.py -k hand",
    ),
    "power of another risk": (
        "dpreg.audit.clopper_pearson.power",
        "stats.binom.isf(risk, n,",
        "stats.binom.isf(2 * risk, n,",
        "test_clopper_pearson.py -k outcomes",
    ),
    "errors hidden from an audit": (
        "dpreg.audit.outcomes.observe",
        "[type(error).__name__], [str(error)]",
        '[DONE], [""]',
        "test_outcomes.py -k errors",
    ),
    "types hidden from an audit": (
        "dpreg.audit.outcomes._collect",
        "{name} {kind} {array.dtype} {array.shape}",
        "{name} {array.shape}",
        "test_outcomes.py -k types",
    ),
    "repeated values overlooked": (
        "dpreg.audit.statistics._frequency",
        "if len(values) == 1 or counts.max() < 2:",
        "if counts.max() > 0:",
        "test_statistics.py -k repeated",
    ),
    "an event and its opposite overlap": (
        "dpreg.audit.events.Event.hits",
        "len(table) - over",
        "len(table) - over + 1",
        "test_events.py -k other_one",
    ),
    "only the first direction is chosen for": (
        "dpreg.audit.events.choose",
        "((hits, other), (other, hits))",
        "((hits, other), (hits, other))",
        "test_events.py",
    ),
    "neighbours that are none": (
        "dpreg.audit.pairs.Pair.__post_init__",
        "if self.changed() > 1:",
        "if self.changed() > 2:",
        "test_pairs.py -k own",
    ),
    "records beyond the bounds never tried": (
        "dpreg.audit.pairs._changes",
        "if beyond:",
        "if beyond and not beyond:",
        "test_pairs.py -k every_end",
    ),
    "columns switched on in one place": (
        "dpreg.audit.pairs._changes",
        "np.arange(len(far)) == j, space.alone",
        "np.arange(len(far)) == 0, space.alone",
        "test_pairs.py -k column",
    ),
    "a report that refutes too late": (
        "dpreg.audit.findings.Finding.refuted",
        "self.claimed * (1 + 1e-9)",
        "self.claimed * (1 + 1e-1) + 0.5",
        "test_findings.py -k refutes",
    ),
    "a refuted claim exits with zero": (
        "dpreg.audit.__main__.main",
        "return int(bool(report.refuted))",
        "return 0",
        "test_main.py -k faulty",
    ),
}
