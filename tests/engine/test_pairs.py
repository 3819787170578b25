"""Pairs are neighbours, made of the bounds alone, and they reach all ends of them."""

import numpy as np
import pytest

from dpreg.audit.pairs import BEYOND, Pair, standard
from dpreg.checks import InputError

BOUNDS = ([-1.0, 0.0, 2.0], [1.0, 4.0, 3.0])


def changed(pair):
    return [(np.append(x, y), np.append(a, b)) for x, y, a, b in zip(*pair.sides[0], *pair.sides[1], strict=True)]


def records(pairs):
    return np.vstack([np.column_stack(side) for pair in pairs for side in pair.sides])


@pytest.mark.parametrize("response", [{"bounds_y": (-1.0, 2.0)}, {"labels": (-1, 1)}])
@pytest.mark.parametrize("space", [{"bounds_X": BOUNDS}, {"data_norm": 2.0, "d": 3}])
@pytest.mark.parametrize("n", [2, 4])
def test_pairs_differ_in_one_record_and_have_names_of_their_own(response, space, n):
    for neighbours in ("replace", "add_remove"):
        pairs = standard(**space, **response, neighbours=neighbours, n=n)
        assert len({pair.name for pair in pairs}) == len(pairs) > 10
        for pair in pairs:
            assert pair.changed() == 1
            assert len(pair.y) == n + 1
            assert len(pair.y_other) == n + (neighbours == "replace")


def test_without_records_beyond_all_stay_inside_and_touch_every_end():
    inside = records(standard(BOUNDS, (-1.0, 2.0), beyond=False))
    low, high = np.append(BOUNDS[0], -1.0), np.append(BOUNDS[1], 2.0)
    np.testing.assert_array_equal(inside.min(axis=0), low)
    np.testing.assert_array_equal(inside.max(axis=0), high)
    outside = records(standard(BOUNDS, (-1.0, 2.0)))
    assert (outside.max(axis=0) >= BEYOND * high).all()
    assert (outside.min(axis=0) < low).all()


def test_on_the_sphere():
    pairs = standard(data_norm=2.0, labels=(0, 1), d=3, beyond=False)
    lengths = np.linalg.norm(records(pairs)[:, :3], axis=1)
    assert lengths.max() == pytest.approx(2.0)
    alone = [pair for pair in pairs if "alone" in pair.name]
    assert {float(np.abs(pair.X[-1]).max()) for pair in alone} == {2.0}
    beyond = standard(data_norm=2.0, labels=(0, 1), d=3)
    assert np.linalg.norm(records(beyond)[:, :3], axis=1).max() == pytest.approx(BEYOND * 2.0)


def test_both_classes_stay_whatever_record_changes():
    for pair in standard(BOUNDS, labels=(3, 5), n=2):
        for _, y in pair.sides:
            assert set(y.tolist()) == {3, 5}


def test_every_column_is_switched_on_alone():
    """Also one past those that are all tried: whoever forgets the last one is found."""
    alone = [pair for pair in standard((0.0, 1.0), (0.0, 1.0), d=9) if "alone" in pair.name]
    switched = {int(np.flatnonzero(pair.X[-1])[0]) for pair in alone}
    assert switched == {0, 1, 2, 3, 8}


def test_a_pair_of_ones_own():
    pair = Pair("by hand", [[1.0], [2.0]], [0, 1], [[2.0], [1.0]], [1, 1])  # the order is no difference
    assert pair.changed() == 1
    with pytest.raises(InputError, match="2 records differ"):
        Pair("far", [[1.0], [2.0]], [0, 1], [[3.0], [4.0]], [0, 1])
    with pytest.raises(InputError, match="shapes"):
        Pair("far", [[1.0], [2.0], [2.0]], [0, 1, 1], [[1.0]], [0])
