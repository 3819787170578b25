"""Faults in the privacy statement and the command line, each of which a test must notice."""

MUTANTS = {
    "statement: epsilon of the last release only": (
        "dpreg.pipeline.guarantee._total",
        "math.fsum(getattr(spend, name) for spend in spends)",
        "getattr(spends[-1], name)",
        "test_guarantee.py -k totals",
    ),
    "statement: caveats forgotten": (
        "dpreg.pipeline.guarantee._more",
        'lines = sorted({spend.caveat for spend in spends} - {""})',
        "lines = []",
        "test_guarantee.py -k covered",
    ),
    "statement: names of columns not escaped": (
        "dpreg.pipeline.guarantee.page",
        "html.escape(line)",
        "line",
        "test_guarantee.py -k escaped",
    ),
    "command: refused records are shown": (
        "dpreg.estimators.command.main",
        "if given.explain else",
        "if True else",
        "test_command.py -k refused",
    ),
    "command: neighbours dropped": (
        "dpreg.estimators.command._model",
        '"neighbours": given.neighbours',
        '"neighbours": "replace"',
        "test_command.py -k neighbours",
    ),
    "command: another delta": (
        "dpreg.estimators.command._model",
        '"delta": given.delta',
        '"delta": 2 * given.delta',
        "test_command.py -k delta",
    ),
    "command: labels read as numbers": (
        "dpreg.estimators.files.records",
        "{target: str} if text else None",
        "None",
        "test_command.py -k labels",
    ),
    "command: what is wrong with a file is shown": (
        "dpreg.estimators.files.records",
        "({type(error).__name__})",
        "({error})",
        "test_files.py -k table",
    ),
}
