"""Bad input for lib.papers.timing."""

import numpy as np

from dpreg.pipeline.domain import Box
from dpreg.sweeps.experiment import no_privacy
from lib.papers import timing

BOX = Box([0.0], [1.0], response=(0.0, 1.0))
X, Y = np.linspace(0, 1, 20)[:, None], np.arange(20.0) % 2
PLAIN = [no_privacy("plain")]

CASES = {
    "timing.fit_times": [
        ("epsilon is 0", lambda: timing.fit_times(PLAIN, X, Y, BOX, [0.0])),
        ("X has 2 columns.*pass", lambda: timing.fit_times(PLAIN, np.hstack([X, X]), Y, BOX)),
        ("runs is 0: give", lambda: timing.fit_times(PLAIN, X, Y, BOX, runs=0)),
        ("domain is of type int: give", lambda: timing.fit_times(PLAIN, X, Y, 2)),
        ("methods is of type Method: give list or tuple", lambda: timing.fit_times(PLAIN[0], X, Y, BOX)),
        ("an entry of methods is of type str: give", lambda: timing.fit_times(["plain"], X, Y, BOX)),
    ],
    "timing.counts": [
        ("epsilon is 0", lambda: timing.counts(PLAIN, X, Y, BOX, [0.0])),
        ("X has 2 columns.*pass", lambda: timing.counts(PLAIN, np.hstack([X, X]), Y, BOX)),
        ("methods is of type Method: give list or tuple", lambda: timing.counts(PLAIN[0], X, Y, BOX)),
    ],
    "timing.scikit_learn": [("solver is 'sag': choose", lambda: timing.scikit_learn("sag"))],
    "timing.passes": [
        ("one of the two labels", lambda: timing.passes(X, Y / 2, BOX)),
        ("start has 3 entries: give 1", lambda: timing.passes(X, Y, BOX, start=[0.0, 0.0, 0.0])),
    ],
}

EXEMPT = {
    "timing.counted": "no arguments",
    "timing.Count": "filled by counted",
    "timing.newton": "a name",
    "timing.orthogonal": "a name",
}
