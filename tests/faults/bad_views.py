"""Bad input for dpreg.sweeps.views."""

from dpreg.pipeline.domain import Box
from dpreg.sweeps import views
from dpreg.sweeps.experiment import Holdout, no_privacy
from dpreg.sweeps.views import View
from lib.data.datasets import wine

DATA = wine()
PLAIN = [no_privacy("plain")]
BOX = Box([0.0], [1.0], (0.0, 10.0))
ONE = View(BOX, PLAIN, [1.0], [0])


def survey(some, Y=DATA.y[:, None], X=DATA.X):
    return views.survey(X, Y, some, Holdout(1))


CASES = {
    "views.View": [
        ("domain is of type int: give Box", lambda: View(3, PLAIN, [1.0], [0])),
        ("give at least one method", lambda: View(BOX, [], [1.0], [0])),
        ("epsilon", lambda: View(BOX, PLAIN, [-1.0], [0])),
        ("there are no metrics: give", lambda: View(BOX, PLAIN, [1.0], [0], metrics=())),
        (r"columns are \[0, 1\]: give 1", lambda: View(BOX, PLAIN, [1.0], [0, 1])),
    ],
    "views.survey": [
        ("views is empty: give", lambda: survey([])),
        ("an entry of views is of type int: give View", lambda: survey([3])),
        ("protocol is of type int: give", lambda: views.survey(DATA.X, DATA.y[:, None], [ONE], 3)),
        (r"Y has shape \(4898,\): give", lambda: survey([ONE], DATA.y)),
        (
            "asks for column 11, and there are 11: they count from 0, give",
            lambda: survey([View(BOX, PLAIN, [1.0], [11])]),
        ),
        ("asks for response 1, and there are 1", lambda: survey([View(BOX, PLAIN, [1.0], [0], response=1)])),
        (
            "column 0 has bounds .* give all views the same",
            lambda: survey([ONE, View(Box([0.0], [2.0], (0.0, 10.0)), PLAIN, [1.0], [0])]),
        ),
        ("one of the two labels", lambda: survey([View(BOX, PLAIN, [1.0], [0], metrics=("auc",))])),
    ],
}
EXEMPT: dict[str, str] = {}
