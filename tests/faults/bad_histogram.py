"""Bad input for dpreg.mechanisms.grid, dpreg.mechanisms.histogram and dpreg.mechanisms.filter_priority."""

import math

from dpreg.mechanisms import filter_priority, grid, histogram
from dpreg.mechanisms.filter_priority import Summary
from dpreg.mechanisms.grid import Grid, partition
from dpreg.mechanisms.histogram import Histogram, count
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.objective import TAYLOR

BOX = Box([0.0], [1.0], response=(0.0, 1.0))
GRID = partition(BOX, 3)
H = count([[0.1], [0.9]], [0.2, 0.8], GRID)
OUT = Summary(GRID, H.codes, H.counts.astype(float), Ledger())

CASES = {
    "grid.bandwidth": [
        ("n is 1: give", lambda: grid.bandwidth(1, 2)),
        ("dimensions is 0: give", lambda: grid.bandwidth(10, 0)),
        ("c_h is 0: give", lambda: grid.bandwidth(10, 2, 0.0)),
        ("c_h is nan", lambda: grid.bandwidth(10, 2, math.nan)),
    ],
    "grid.Grid": [
        ("domain is of type Ball: give Box", lambda: Grid(Ball([0.0], 1.0, (0.0, 1.0)), (2, 2), (False, False))),
        ("there are 1 cells and 2 marks: give 2", lambda: Grid(BOX, (2,), (False, False))),
        ("cells is 0: give", lambda: Grid(BOX, (2, 0), (False, False))),
        ("cells is 2.5: give", lambda: Grid(BOX, (2, 2.5), (False, False))),
        ("exact is 'no': give", lambda: Grid(BOX, (2, 2), (False, "no"))),
        ("an exact axis has 1 cell: give", lambda: Grid(BOX, (2, 1), (False, True))),
        (r"an axis has 9007199254740993 cells: give", lambda: Grid(BOX, (2**53 + 1, 1), (False, False))),
        (r"the grid has 1e\+20 cells: give", lambda: Grid(BOX, (10**10, 10**10), (False, False))),
    ],
    "grid.Grid.codes": [
        ("X has 2 columns.*pass", lambda: GRID.codes([[0.0, 1.0]] * 2, [0.0, 1.0])),
        ("X holds nan.*drop", lambda: GRID.codes([[math.nan], [0.0]], [0.0, 1.0])),
    ],
    "grid.Grid.points": [
        ("from 0 to 8: give", lambda: GRID.points([9])),
        ("from 0 to 8: give", lambda: GRID.points([-1])),
        ("from 0 to 8: give", lambda: GRID.points([0.5])),
        ("from 0 to 8: give", lambda: GRID.points([[1]])),
    ],
    "grid.partition": [
        ("domain is of type Ball: give Box", lambda: partition(Ball([0.0], 1.0, (0.0, 1.0)), 2)),
        ("cells is 1: give", lambda: partition(BOX, 1)),
        ("values has 2 entries: give 1", lambda: partition(BOX, 2, values=[2, 2])),
        ("values is 1: give", lambda: partition(BOX, 2, values=[1])),
        ("cap is 0: give", lambda: partition(BOX, 2, cap=0)),
        ("cap of 3: drop predictors", lambda: partition(BOX, 2, cap=3)),
    ],
    "histogram.Histogram": [
        ("grid is of type int: give", lambda: Histogram(3, H.codes, H.counts)),
        ("codes and counts do not match: give", lambda: Histogram(GRID, H.codes, H.counts[:1])),
        ("codes and counts do not match: give", lambda: Histogram(GRID, H.codes, H.counts / 2)),
        ("do not increase.*build it with count", lambda: Histogram(GRID, H.codes[::-1], H.counts)),
        ("do not increase.*build it with count", lambda: Histogram(GRID, H.codes[::-1].astype("u8"), H.counts)),
        ("do not increase.*build it with count", lambda: Histogram(GRID, H.codes + 7, H.counts)),
        ("do not increase.*build it with count", lambda: Histogram(GRID, H.codes, H.counts * 0)),
    ],
    "histogram.count": [
        ("grid is of type Box: give Grid", lambda: count([[0.1], [0.2]], [0.0, 1.0], BOX)),
    ],
    "histogram.Cells.objective": [
        ("loss is of type str: give Loss", lambda: OUT.objective("squared")),
        ("no cell for each of two labels: give", lambda: OUT.objective(TAYLOR)),
    ],
    "histogram.Cells.logistic": [("no cell for each of two labels: give", lambda: OUT.logistic())],
    "histogram.dpme": [
        ("histogram is of type Grid: give", lambda: histogram.dpme(GRID, 1.0)),
        ("epsilon is 0: give", lambda: histogram.dpme(H, 0.0)),
        ("epsilon is 1e-300, .* its noise: give", lambda: histogram.dpme(H, 1e-300)),
        (r"epsilon is 1e\+300, .* its noise: give", lambda: histogram.dpme(H, 1e300)),
        ("epsilon is 4.94066e-324, .* its noise: give", lambda: histogram.dpme(H, 5e-324)),
        ("mode is 'cut': choose", lambda: histogram.dpme(H, 1.0, mode="cut")),
        ("level is 1 and mode 'clip': give", lambda: histogram.dpme(H, 1.0, level=1.0)),
        ("level is -1 and mode 'threshold': give", lambda: histogram.dpme(H, 1.0, mode="threshold", level=-1.0)),
        ("level is nan", lambda: histogram.dpme(H, 1.0, mode="threshold", level=math.nan)),
        ("neighbours is 'swap': choose", lambda: histogram.dpme(H, 1.0, neighbours="swap")),
        ("random_state is -1: give", lambda: histogram.dpme(H, 1.0, -1)),
        ("budget is of type float: give", lambda: histogram.dpme(H, 1.0, budget=1.0)),
    ],
    "filter_priority.passing": [
        ("level is 0: give", lambda: filter_priority.passing(0.5, 0)),
        ("alpha is 1: give", lambda: filter_priority.passing(1.0, 1)),
    ],
    "filter_priority.filter_level": [
        ("cells is 0: give", lambda: filter_priority.filter_level(0, 1, 0.5)),
        ("size is 0: give", lambda: filter_priority.filter_level(1, 0, 0.5)),
        ("alpha is 0: give", lambda: filter_priority.filter_level(1, 1, 0.0)),
    ],
    "filter_priority.priority": [
        ("values are not all above zero.*give", lambda: filter_priority.priority([1.0, 0.0], 1)),
        ("values are not all above zero.*give", lambda: filter_priority.priority([1.0, math.inf], 1)),
        ("values are not all above zero.*give", lambda: filter_priority.priority([[1.0]], 1)),
        ("size is 0: give", lambda: filter_priority.priority([1.0], 0)),
    ],
    "filter_priority.filter_priority": [
        ("which no count reaches", lambda: filter_priority.filter_priority(H, 1.0, 3, 1, level=2**62 + 2**61)),
        ("histogram is of type Grid: give", lambda: filter_priority.filter_priority(GRID, 1.0, 2)),
        ("epsilon is -1: give", lambda: filter_priority.filter_priority(H, -1.0, 2)),
        ("epsilon is 1e-300, .* its noise: give", lambda: filter_priority.filter_priority(H, 1e-300, 2)),
        ("epsilon is 1e-17, and its noise has no decay .*: give", lambda: filter_priority.filter_priority(H, 1e-17, 2)),
        ("size is 2.0: give", lambda: filter_priority.filter_priority(H, 1.0, 2.0)),
        ("level is 0: give", lambda: filter_priority.filter_priority(H, 1.0, 2, level=0)),
        ("neighbours is 'swap': choose", lambda: filter_priority.filter_priority(H, 1.0, 2, neighbours="swap")),
        ("budget is of type float: give", lambda: filter_priority.filter_priority(H, 1.0, 2, budget=1.0)),
    ],
    "filter_priority.survivors": [
        ("histogram is of type Grid: give", lambda: filter_priority.survivors(GRID, 0.5, 1)),
        ("alpha is 1: give", lambda: filter_priority.survivors(H, 1.0, 1)),
        ("level is 0: give", lambda: filter_priority.survivors(H, 0.5, 0)),
    ],
}
EXEMPT = {
    "grid.Grid.values": "inner step of points, which checks",
    "grid.Grid.records": "inner step of points, which checks",
    "histogram.Cells": "abstract",
    "histogram.Cells.blocks": "no arguments",
    "histogram.Cells.moments": "no arguments",
    "histogram.NoisyGrid": "what dpme returns",
    "histogram.NoisyGrid.blocks": "no arguments",
    "histogram.NoisyGrid.moments": "no arguments",
    "histogram.spent": "inner step of the two releases, which check",
    "filter_priority.Summary": "what filter_priority returns",
    "filter_priority.Summary.blocks": "no arguments",
}
