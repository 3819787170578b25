"""Bad input for dpreg.pipeline.lattice, and for releases on a lattice."""

import math

import numpy as np

from dpreg.mechanisms import wishart
from dpreg.pipeline import lattice, laws, objective
from dpreg.pipeline.domain import Box

BOX = Box([-1, -1], [1, 1], (-1, 1))
X, Y = [[0.0, 0.0], [1.0, 1.0]], [-1, 1]
F, G = objective.linear(X, Y, BOX, bits=4), objective.linear(X, Y, BOX)
LAW = laws.functional(BOX, 1.0)
GRAM = F.exact.gram
LARGE = lattice.Lattice(GRAM * 2.0**43, 4)


def adder(kind="laplace", exact=F.exact, scales=GRAM + 1):
    return lambda: lattice.adder(kind, exact, scales)


BAD_BITS = [(f"bits is {bits!r}: give", bits) for bits in (0, 2.5, "16", True)] + [("bits is 25: give at most 24", 25)]

CASES = {
    "lattice.allowed": [
        *((message, lambda bits=bits: lattice.allowed(bits)) for message, bits in BAD_BITS),
        *((message, lambda bits=bits: objective.linear(X, Y, BOX, bits=bits)) for message, bits in BAD_BITS),
        *((message, lambda bits=bits: objective.logistic(X, Y, BOX, bits=bits)) for message, bits in BAD_BITS),
    ],
    "lattice.origin": [(message, lambda bits=bits: lattice.origin(bits)) for message, bits in BAD_BITS],
    "lattice.snap": [
        *((message, lambda bits=bits: lattice.snap(np.zeros((2, 3)), BOX, bits)) for message, bits in BAD_BITS),
        ("domain is of type int: give", lambda: lattice.snap(np.zeros((2, 3)), 2, 4)),
    ],
    "lattice.Lattice": [
        *((message, lambda bits=bits: lattice.Lattice(GRAM, bits)) for message, bits in BAD_BITS),
        ("not on the lattice .*: build", lambda: lattice.Lattice(GRAM / 3, 4)),
        ("not on the lattice", lambda: lattice.Lattice(np.triu(GRAM + 1), 4)),
        ("give fewer bits", lambda: lattice.Lattice(GRAM * 1e20, 4)),
        ("gram holds nan", lambda: lattice.Lattice(GRAM * math.nan, 4)),
        ("give one square matrix", lambda: lattice.Lattice(GRAM[0], 4)),
        ("gram has entries of type", lambda: lattice.Lattice([["a"]], 4)),
    ],
    "lattice.Lattice.plus": [("give fewer bits", lambda: LARGE.plus(LARGE, 1.0))],
    "lattice.adder": [
        ("kind is 'normal': choose", adder("normal")),
        ("exact is of type ndarray: give Lattice", adder(exact=GRAM)),
        (r"scales have shape \(2, 2\): give \(3, 3\)", adder(scales=np.ones((2, 2)))),
        *(("too large to add: give fewer", adder(scales=GRAM + bad)) for bad in (math.inf, math.nan, -9.0, 1e30)),
    ],
    "objective.on_lattice": [("build it with bits", lambda: objective.on_lattice("laplace", G, GRAM))],
    "laws.Scales.discrete": [
        ("build it with bits", lambda: LAW.discrete(G)),
        ("leave c infinite", lambda: laws.functional(BOX, 1.0, constant=True).discrete(F)),
    ],
    "laws.Law.discrete": [("there is no sampler .*: use", lambda: wishart.difference(BOX, 1.0).discrete(F))],
}
EXEMPT = {"laws.Law.concentrated": "abstract", "checks.needed": "test_lattice, without the package"}
