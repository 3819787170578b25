"""Bad input for lib.pages.peer."""

import numpy as np

from dpreg.noise import generator
from lib.pages import peer

MODEL = peer.Peer("LinearRegression", {"epsilon": 1.0})
X, Y = np.zeros((2, 1)), np.zeros(2)

CASES = {
    "peer.Peer": [("draws is 0: give", lambda: MODEL(X, Y, generator(0), 0))],
    "peer.logistic_regression": [("repeats is 0: give", lambda: peer.logistic_regression(repeats=0))],
}

EXEMPT = {
    "peer.environment": "no arguments",
    "peer.version": "no arguments",
}
