"""Bad input for lib.papers.contest."""

from dpreg.pipeline.domain import Box
from lib.data.datasets import wine
from lib.papers import contest

BOX = Box([0.0], [1.0], (0.0, 1.0), intercept=True)
PLAIN = Box([0.0], [1.0], (0.0, 1.0))

CASES = {
    "contest.pure": [
        ("box is of type int: give Box", lambda: contest.pure(2, 9)),
        ("n is .*2.5: give", lambda: contest.pure(BOX, 2.5)),
    ],
    "contest.exactly": [("law is of type int: give Law", lambda: contest.exactly(2, BOX))],
    "contest.with_delta": [
        ("delta is 0: give", lambda: contest.with_delta(BOX, 9, 0.0)),
        ("no intercept: give Box", lambda: contest.with_delta(PLAIN, 9, 1e-6)),
    ],
    "contest.picked": [("'colour' is no column: choose among", lambda: contest.picked(wine(), ["colour"], "pH"))],
    "contest.for_labels": [("delta is 0: give", lambda: contest.for_labels(BOX, 0.0))],
    "contest.wrong_labels": [
        (
            "y holds .*: give one of the two",
            lambda: contest.wrong_labels(contest.picked(wine(), ["pH"], "alcohol"), [1.0], 0.1),
        ),
    ],
    "contest.errors": [
        ("epsilon is 0: give", lambda: contest.errors(contest.picked(wine(), ["pH"], "alcohol"), [0.0], 1e-6)),
        ("delta is 1: give", lambda: contest.errors(contest.picked(wine(), ["pH"], "alcohol"), [1.0], 1.0)),
    ],
    "contest.training": [("data is of type int: give Dataset", lambda: contest.training(2))],
    "contest.relative": [
        ("epsilon is 0: give", lambda: contest.relative(contest.picked(wine(), ["pH"], "alcohol"), [], [0.0], 4, 2)),
        ("repeats is 0: give", lambda: contest.relative(contest.picked(wine(), ["pH"], "alcohol"), [], [1.0], 0, 2)),
    ],
    "contest.more_rivals": [
        ("delta is 1: give", lambda: contest.more_rivals(contest.picked(wine(), ["pH"], "alcohol"), [1.0], 1.0)),
        (
            "size is 0: give",
            lambda: contest.more_rivals(contest.picked(wine(), ["pH"], "alcohol"), [1.0], 1e-6, sizes=[0]),
        ),
    ],
}
EXEMPT = {"contest.tasks": "takes nothing", "contest.labelled": "takes nothing"}
