"""Bad input for the privacy statement, and for the command line."""

from pathlib import Path

from dpreg.estimators import command, files
from dpreg.pipeline import guarantee

CASES = {
    "guarantee.statement": [
        ("domain is of type int: give", lambda: guarantee.statement([], 3)),
        ("an entry of spends is of type int: give", lambda: guarantee.statement([3])),
    ],
    "guarantee.bounds": [("domain is of type list: give", lambda: guarantee.bounds([1]))],
    "guarantee.text": [("parts is of type int: give", lambda: guarantee.text(3))],
    "files.read": [("nowhere.yml cannot be read", lambda: files.read(Path("nowhere.yml")))],
    "files.records": [("nowhere.csv cannot be read", lambda: files.records(Path("nowhere.csv"), ["age"], "income"))],
    "files.box": [("lower", lambda: files.box({"age": (2.0, 1.0)}, (0.0, 1.0)))],
    "guarantee.page": [("parts is of type int: give", lambda: guarantee.page(3))],
}
EXEMPT = {
    "command.main": "argparse says what is wrong; test_command",
    "command.described": "takes what fit returns",
    "command_plan.add_to": "a part of the parser",
    "command_plan.tables": "takes what argparse returns; test_command",
}
assert command.REFUSED not in (0, 1, 2)
