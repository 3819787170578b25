"""Bad input for dpreg.sweeps.measures."""

import math

import numpy as np

from dpreg.pipeline.domain import Box
from dpreg.sweeps import measures
from dpreg.sweeps.experiment import Holdout, no_privacy

BOX = Box([-1, -1], [1, 1], (-1, 1))
rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (20, 2)), np.repeat([1.0, 0.0], 10)
PLAIN = no_privacy("plain")


def size(partition, theta, rng):
    return {"size": np.abs(theta).max(axis=-1)}


def measured(**changes):
    given = {"X": X, "y": Y, "domain": BOX, "methods": [PLAIN], "epsilons": [1.0], "protocol": Holdout(1)}
    return lambda: measures.measured(**(given | {"measure": size} | changes))


CASES = {
    "measures.measured": [
        ("measure is of type int: give a function", measured(measure=3)),
        ("X has 20 records and y has 19", measured(y=Y[:-1])),
        ("epsilon is 0: give", measured(epsilons=[0.0])),
        ("domain is of type int: give Domain", measured(domain=3)),
        ("protocol is of type int: give", measured(protocol=5)),
        ("methods is of type Method: give", measured(methods=PLAIN)),
        ("an entry of methods is of type str: give", measured(methods=["plain"])),
        (r"method names are \['plain', 'plain'\]: give", measured(methods=[PLAIN, PLAIN])),
        (r"method names are \[\]: give", measured(methods=[])),
        ("measure is of type str: give a function", measured(measure="auc")),
        ("random_state is 'a': give", measured(random_state="a")),
    ],
    "measures.roc": [
        (r"rates are \[-0.1\]: give numbers from 0 to 1", lambda: measures.roc([-0.1])),
        (r"rates has shape \(0,\): give", lambda: measures.roc([])),
        ("rates", lambda: measures.roc([math.nan])),
    ],
    "measures.roc_curve": [
        (r"theta has shape \(3,\): give 2 entries", lambda: measures.roc_curve([1, 2, 3], X, Y, [0.5])),
        (r"theta has shape \(\): give 2 entries", lambda: measures.roc_curve(1.0, X, Y, [0.5])),
        ("all labels are the same.*use records", lambda: measures.roc_curve([1, 2], X, np.ones(20), [0.5])),
        (r"rates are \[1.5\]: give", lambda: measures.roc_curve([1, 2], X, Y, [1.5])),
    ],
}
EXEMPT: dict[str, str] = {}
