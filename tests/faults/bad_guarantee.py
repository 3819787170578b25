"""Bad input for the privacy statement, and for the command line."""

from dpreg.estimators import command
from dpreg.pipeline import guarantee

CASES = {
    "guarantee.statement": [
        ("domain is of type int: give", lambda: guarantee.statement([], 3)),
        ("an entry of spends is of type int: give", lambda: guarantee.statement([3])),
    ],
    "guarantee.bounds": [("domain is of type list: give", lambda: guarantee.bounds([1]))],
    "guarantee.text": [("parts is of type int: give", lambda: guarantee.text(3))],
    "guarantee.page": [("parts is of type int: give", lambda: guarantee.page(3))],
}
EXEMPT = {
    "command.main": "argparse says what is wrong; test_command",
    "command.described": "takes what fit returns",
}
assert command.REFUSED not in (0, 1, 2)
