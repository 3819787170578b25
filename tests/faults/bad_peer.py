"""Bad input for lib.pages.peer."""

import numpy as np

from lib.pages import peer

MODEL = peer.Peer("LinearRegression", {"epsilon": 1.0})
X, Y = np.zeros((2, 1)), np.zeros(2)

CASES = {
    "peer.Peer.draws": [
        ("draws is 0: give", lambda: MODEL.draws(X, Y, 0, 1)),
        ("seed is -1: give", lambda: MODEL.draws(X, Y, 1, -1)),
    ],
}

EXEMPT = {
    "peer.Peer": "a name and keywords, which the peer judges",
    "peer.environment": "no arguments",
    "peer.version": "no arguments",
}
