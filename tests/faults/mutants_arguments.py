"""Small faults in the checks of arguments, and the tests that must notice."""

MUTANTS = {
    "arguments by position unchecked": (
        "dpreg.arguments.checked",
        "value if rule is None else rule(value, name) for",
        "value if rule is None else value or rule(value, name) for",
        "test_arguments.py -k positions",
    ),
    "arguments by name unchecked": (
        "dpreg.arguments.checked",
        "if name in rules:",
        "if name in ():",
        "test_arguments.py -k 'refused or made'",
    ),
    "entries of lists unchecked": (
        "dpreg.arguments._list",
        "if element is None",
        "if element is not None",
        "test_arguments.py -k refused",
    ),
    "text for a flag": (
        "dpreg.checks.flag",
        "not (value == 0 or value == 1)",
        "value is None",
        "test_arguments.py -k refused",
    ),
}
