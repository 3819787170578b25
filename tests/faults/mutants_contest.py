"""Faults in the comparison at equal guarantees, each of which a test must notice."""

MUTANTS = {
    "contest: a published law spends what it happens to spend": (
        "lib.papers.contest.exactly",
        "law.times(certify(law, domain))",
        "law",
        "test_contest.py -k spends_all",
    ),
    "contest: errors in the units of the response": (
        "lib.papers.contest.relative",
        'frame["value"] /= frame["repeat"].map(means)',
        "pass",
        "test_contest.py -k over_those",
    ),
    "contest: another digit's pixel": (
        "lib.papers.contest.tasks",
        "digits[:, 36]",
        "digits[:, 35]",
        "test_contest.py -k records_they_name",
    ),
}
