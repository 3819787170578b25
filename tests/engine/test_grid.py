"""Grids: how many cells they have, and which cell a record is in."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpreg.checks import InputError
from dpreg.mechanisms import grid
from dpreg.mechanisms.grid import Grid, bandwidth, partition
from dpreg.pipeline.domain import Box
from lib.data import census
from tests.engine.cells import N_001
from tests.ledger import value


def test_the_rule_for_the_cells():
    """The formula with its logarithm and power written out, against exact thresholds: K is a floor."""
    names = {"five": 5, "eight": 8, "eleven": 11, "fourteen": 14}
    base = math.log(N_001) - 0.5 * math.log(math.log(N_001))
    for name, D in names.items():
        K = value("FM-DPME-DIM", name)
        assert math.log(K) <= 2 / (2 + D) * base < math.log(K + 1)
        assert bandwidth(N_001, D) == K
    for name, c in {"half": 0.5, "one": 1.0, "twice": 2.0}.items():
        exact = math.exp(2 / 16 * base) / c
        assert max(2, int(exact)) == value("FM-DPME-PARAM", name) == bandwidth(N_001, 14, c)


def test_cells_per_record_grow_with_the_attributes():
    """Values per attribute are counted in the generated records, not taken from the chapter."""
    for name, D in {"five": 5, "fourteen": 14}.items():
        dataset = census.census(n=2000, attributes=D)
        K = bandwidth(N_001, D)
        sizes = [min(K, round(dataset.bounds[a][1] - dataset.bounds[a][0]) + 1) for a in dataset.names]
        assert math.prod([K, *sizes]) == value("RR-DPME-COST", name)
    # the rule, base^(2 / (2 + D)), gives two cells or more as long as D is at most 2 log2(base) - 2
    most = math.floor(2 * math.log2(N_001 / math.sqrt(math.log(N_001))) - 2)
    assert most == value("RR-DPME-COST", "most_axes")


def test_cells_are_fewer_than_the_records_squared_until_there_are_two_per_axis():
    """All axes with K cells: n^(2 D / (2 + D)) at most, up to the last D at which the power itself is two; then 2^D."""
    least = value("RR-DPME-COST", "most_axes")
    for D in range(1, 60):
        power = math.exp(2 / (2 + D) * (math.log(N_001) - 0.5 * math.log(math.log(N_001))))
        assert (power >= 2) == (least >= D)
        cells = bandwidth(N_001, D) ** D
        assert cells < N_001 ** (2 * D / (2 + D)) if least >= D else cells == 2**D
    assert bandwidth(N_001, 40) ** 40 > N_001**2


@pytest.mark.thorough
@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=2, max_size=5),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_codes_name_the_nearest_point(axes, intercept, seed):
    cells = [max(k, 2) if e else k for k, e in axes]
    d = len(cells) - 1
    box = Box(-np.ones(d) * 3, np.ones(d) * 5, (2.0, 4.0), intercept=intercept)
    grid = Grid(box, tuple(cells), tuple(e for _, e in axes))
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-4, 6, (50, d)), rng.uniform(1, 5, 50)
    Z, t = box.scale(X, y)
    points = grid.points(grid.codes(X, y))
    assert points.shape == (50, box.p + 1)
    if intercept:
        assert (points[:, 1] == 1).all()
    half = [1 / (k - 1) if e else 1 / k for k, (_, e) in zip(cells, axes, strict=True)]
    for j, (own, other) in enumerate(
        zip([t, *Z.T[intercept:]], [points[:, 0], *points.T[1 + intercept :]], strict=True)
    ):
        assert np.abs(own - other).max() <= half[j] + 1e-12
    every = grid.points(np.arange(grid.size))
    assert len(np.unique(every, axis=0)) == grid.size
    twice = np.tile(every, (2, 1))  # the points lie in the cells they stand for; one record alone is refused
    back = (twice[:, 1 + intercept :] + 1) * 4 - 3
    assert (grid.codes(back, 3 + twice[:, 0]) == np.tile(np.arange(grid.size), 2)).all()


def test_points_by_hand():
    box = Box([0.0, 1.0], [1.0, 16.0], (0.0, 8.0))
    grid = Grid(box, (4, 2, 16), (False, True, True))
    # income 3 of 8 is cell 1, midpoint 3 of 8 again; the binary stays 1; education 4 is the fourth of 16
    code = grid.codes([[1.0, 4.0]] * 2, [3.0, 99.0])
    assert code.tolist() == [1 * 32 + 1 * 16 + 3, 3 * 32 + 1 * 16 + 3]
    np.testing.assert_allclose(grid.points(code), [[-0.25, 1, -0.6], [0.75, 1, -0.6]])


def test_corner_scaling_has_its_own_frame():
    box = Box([0.0, 0.0], [10.0, 10.0], (0.0, 1.0), corner=True)
    grid = partition(box, 2)
    points = grid.points(np.arange(grid.size))
    np.testing.assert_allclose(np.unique(points[:, 1]), np.array([0.25, 0.75]) / math.sqrt(2))
    np.testing.assert_allclose(np.unique(points[:, 0]), [-0.5, 0.5])


def test_partition_keeps_values_and_respects_the_cap():
    box = Box([0.0, 0.0, 0.0], [1.0, 6.0, 1.0], (0.0, 1.0))
    grid = partition(box, 10, values=[2, 7, None], response=2)
    assert grid.cells == (2, 2, 7, 10)
    assert grid.exact == (True, True, True, False)
    smaller = partition(box, 10, values=[2, 7, None], response=2, cap=100)
    assert smaller.cells == (2, 2, 5, 5)
    assert smaller.exact == (True, True, False, False)
    assert partition(box, 10, cap=16).size == 16
    with pytest.raises(InputError, match="even two cells"):
        partition(box, 10, cap=15)


def test_codes_of_a_very_large_domain_are_exact():
    cells = (1000, 999, 998, 997, 996, 995)
    box = Box([0.0] * 5, [1.0] * 5, (0.0, 1.0))
    grid = Grid(box, cells, (False,) * 6)
    assert grid.size == math.prod(cells) > 9 * 10**17
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 5)), rng.random(200)
    places = [[int(v * k) for v, k in zip((t, *x), cells, strict=True)] for x, t in zip(X, y, strict=True)]
    for code, place in zip(grid.codes(X, y), places, strict=True):
        by_python = 0
        for k, c in zip(place, cells, strict=True):
            by_python = by_python * c + k
        assert int(code) == by_python


@pytest.mark.parametrize("high", [3, 7, 49, 60, 70, 90, 98, 99])
@pytest.mark.parametrize("cells", [2, 3, 5, 7, 10, 16, 25, 49])
def test_whole_numbers_on_edges_are_in_the_upper_cell(high, cells):
    """In whole numbers: x is in cell floor(x cells / high), the last one closed."""
    edges = Grid(Box([0.0], [float(high)], (0.0, 1.0)), (1, cells), (False, False))
    x = np.arange(high + 1)
    found = edges.codes(x[:, None].astype(float), np.zeros(len(x)))
    assert found.tolist() == [min(k * cells // high, cells - 1) for k in x.tolist()]


def test_cells_of_bounds_near_the_largest_float():
    wide = Grid(Box([-8e307], [8e307], (0.0, 1.0)), (1, 4), (False, False))
    assert wide.codes([[8e307], [-1.7e308], [0.0], [4e307]], np.zeros(4)).tolist() == [3, 0, 2, 3]


def test_the_finest_grid_for_whole_numbers():
    assert grid.whole(Box([0.5, -2.0, 0.0], [2.5, 2.0, 0.9], (0.0, 1.0))) == (2, 5, 1)
