"""Pairs are neighbours, made of the bounds alone, and they reach all ends of them."""

import numpy as np
import pytest

from dpreg.audit.pairs import LARGEST, MANY, REACHES, Pair, standard
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
            others = MANY if "100 of them" in pair.name else n
            assert len(pair.y) == others + 1
            assert len(pair.y_other) == others + (neighbours == "replace")


def test_without_records_beyond_all_stay_inside_and_touch_every_end():
    inside = records(standard(BOUNDS, (-1.0, 2.0), beyond=False))
    low, high = np.append(BOUNDS[0], -1.0), np.append(BOUNDS[1], 2.0)
    np.testing.assert_array_equal(inside.min(axis=0), low)
    np.testing.assert_array_equal(inside.max(axis=0), high)
    outside = records(standard(BOUNDS, (-1.0, 2.0)))
    assert (outside.max(axis=0) >= LARGEST / 10).all()
    assert (outside.min(axis=0) < low).all()


def test_on_the_sphere():
    pairs = standard(data_norm=2.0, labels=(0, 1), d=3, beyond=False)
    lengths = np.linalg.norm(records(pairs)[:, :3], axis=1)
    assert lengths.max() == pytest.approx(2.0)
    alone = [pair for pair in pairs if "alone" in pair.name]
    assert {float(np.abs(pair.X[-1]).max()) for pair in alone} == {2.0}
    beyond = standard(data_norm=2.0, labels=(0, 1), d=3)
    far = records(
        [pair for pair in beyond if "beyond" in pair.name and "very" not in pair.name and "as far" not in pair.name]
    )
    assert np.linalg.norm(far[:, :3], axis=1).max() == pytest.approx(REACHES["far"] * 2.0)


def test_both_classes_stay_whatever_record_changes():
    for pair in standard(BOUNDS, labels=(3, 5), n=2, both=True):
        for _, y in pair.sides:
            assert set(y.tolist()) == {3, 5}


def test_one_record_decides_whether_there_are_two_classes():
    classes = [{len(set(y.tolist())) for _, y in pair.sides} for pair in standard(BOUNDS, labels=(3, 5))]
    assert {1, 2} in classes


def test_the_record_that_changes_is_last_first_and_in_between():
    places = [
        [k for k, (one, other) in enumerate(changed(pair)) if (one != other).any()]
        for pair in standard(BOUNDS, (-1.0, 2.0), n=4)
    ]
    assert all(len(place) == 1 for place in places)
    assert {place for (place,) in places} == {0, 2, 4, MANY}


def test_records_lie_as_far_out_as_numbers_go():
    """Also where bounds are so large that a multiple of them is no number."""
    for bounds in ((-1.0, 1.0), (1e20, 1e30)):
        reached = np.abs(records(standard(bounds, bounds, d=2))).max(axis=0)
        np.testing.assert_allclose(reached, LARGEST, rtol=1e-9)


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
