"""Bad input for what scikit-learn's users pass."""

import numpy as np

from dpreg.estimators import records
from dpreg.pipeline.domain import Box

BOX = Box([0.0], [1.0], response=(0, 1))

CASES = {
    "records.table": [
        ("X holds inf", lambda: records.table([[np.inf]])),
        ("entries of type", lambda: records.table([["a"]])),
        ("X has shape .*Reshape your data: give", lambda: records.table([1.0])),
    ],
    "records.response": [("y has shape .*: give one response", lambda: records.response(np.ones((2, 2))))],
    "records.refuse": [
        ("sample_weight is given", lambda: records.refuse({"sample_weight": [1.0]})),
        ("unknown is of type int: give a dict", lambda: records.refuse(3)),
    ],
    "records.labels": [
        ("y holds 2: give one of the two labels", lambda: records.labels([0, 1, 2], None, BOX)),
        ("classes is 3. .*: give the two labels", lambda: records.labels([0, 1], 3, BOX)),
        ("domain is of type int: give", lambda: records.labels([0, 1], None, 3)),
    ],
}
EXEMPT = {}
