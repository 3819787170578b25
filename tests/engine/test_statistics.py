"""Statistics see what they are there to see."""

import numpy as np
import pytest

from dpreg.audit.outcomes import Outcome, of_array, table
from dpreg.audit.statistics import Statistic, candidates

N = 2000


def draw(seed, shift=0.0, columns=3):
    return np.random.default_rng(seed).normal(shift, 1.0, (N, columns))


def named(found, fragment):
    return next(statistic for statistic in found if fragment in statistic.name)


def area(statistic, one, other):
    """The chance that a release of the first data set has the larger value."""
    a, b = np.sort(statistic(one)), np.sort(statistic(other))
    return (np.searchsorted(b, a, "left") + np.searchsorted(b, a, "right")).mean() / 2 / len(b)


def test_mixtures_and_distances_by_hand():
    rows = of_array([[3.0, 1.0], [5.0, 2.0]])
    found = {statistic.name: statistic(rows).tolist() for statistic in candidates(rows, rows, learn=False)}
    assert (found["[0] - [1]"], found["[0] + [1]"], found["[0] * [1]"]) == ([2, 3], [4, 7], [3, 10])
    assert found["the distance of [0] from 4"] == [1, 1]


def test_the_direction_finds_what_is_spread_over_many_columns():
    one, other = of_array(draw(1, 0.5)), of_array(draw(2))
    best = area(named(candidates(one, other), "direction"), of_array(draw(3, 0.5)), of_array(draw(4)))
    assert best == pytest.approx(0.73, abs=0.03)  # Phi(0.5 sqrt(3) / sqrt(2)); 4 standard errors are 0.03


def test_the_forest_finds_what_no_column_shows():
    """Two columns whose product has a sign, in either data set its own; then a mixture of signs in one column."""

    def signed(seed, sign):
        out = draw(seed, columns=2)
        out[:, 1] = sign * np.abs(out[:, 1]) * np.sign(out[:, 0])
        return of_array(out)

    found = candidates(signed(1, 1), signed(2, -1))
    fresh = signed(3, 1), signed(4, -1)
    assert area(named(found, "forest"), *fresh) > 0.9
    assert abs(area(named(found, "direction"), *fresh) - 0.5) < 0.1


def test_repeated_values_are_found_in_columns_differences_words_and_rows():
    z = draw(5, columns=1)
    one, other = of_array(np.hstack([z, z + 1.0])), of_array(np.hstack([z, z + 2.0]))
    assert area(named(candidates(one, other, False), "likelier [0] - [1] is"), one, other) > 0.9
    still = [
        np.where(np.random.default_rng(k).random((N, 1)) < 0.3, shift, draw(k, columns=1))
        for k, shift in enumerate((7, 8))
    ]
    repeated = named(candidates(of_array(still[0]), of_array(still[1]), False), "to repeat a value")
    assert area(repeated, of_array(still[0]), of_array(still[1])) == pytest.approx(
        0.3 + 0.7**2 / 2 + 0.3 * 0.7, abs=0.05
    )
    said = [table([Outcome((), np.zeros(0), (word, "", ""))] * 4) for word in ("KeyError", "ValueError")]
    assert area(named(candidates(*said), "the outcome"), *said) == 1


def test_what_never_repeats_or_never_changes_gives_no_frequency():
    rows = of_array(draw(1))
    assert not any("repeat" in statistic.name for statistic in candidates(rows, of_array(draw(2)), False))
    assert not any("repeat" in statistic.name for statistic in candidates(of_array(np.ones(9)), of_array(np.ones(9))))


def test_what_is_no_number_counts_as_lowest():
    statistic = Statistic("it", lambda table: table.numbers[:, 0])
    assert statistic(of_array([1.0, np.nan, np.inf])).tolist() == [1.0, -np.inf, np.inf]


@pytest.mark.filterwarnings("error")
def test_hostile_numbers_break_nothing():
    hostile = draw(1)
    hostile[::3, 0], hostile[1::3, 1], hostile[:, 2] = np.nan, np.inf, -1e300
    rows, nothing = of_array(hostile), of_array(np.full((N, 3), np.nan))
    for one, other in ((rows, nothing), (nothing, rows), (nothing, nothing), (rows, rows)):
        for statistic in candidates(one, other):
            assert not np.isnan(statistic(rows)).any(), statistic.name
