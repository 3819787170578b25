"""Events are fixed sets, and the chosen one is the best there is."""

import math

import numpy as np
import pytest

from dpreg.audit.events import Event, choose
from dpreg.audit.outcomes import of_array
from dpreg.audit.statistics import Statistic

NUMBER = Statistic("the number", lambda table: table.numbers[:, 0])


def test_an_event_and_the_other_one_make_all_releases():
    rows = of_array([0.0, 1.0, 2.0, np.nan, np.inf, -np.inf])
    for threshold in (-np.inf, 0.5, 1.0, np.inf):
        above, below = (Event(NUMBER, threshold, above).hits(rows) for above in (True, False))
        assert above + below == 6
        assert above == sum(x > threshold for x in (0.0, 1.0, 2.0, np.inf))
    assert str(Event(NUMBER, 1.0, True)) == "the number is above 1"


def test_of_laplace_noise_the_best_event_is_beyond_the_centre():
    """The ratio of the chances is exp(epsilon) beyond the larger centre, and the most certain right there."""
    rng = np.random.default_rng(1)
    learn, rank = ([of_array(rng.laplace(centre, 1.0, 20_000)) for centre in (2, 0)] for _ in range(2))
    first, second = choose(tuple(learn), tuple(rank), 0.01, classifier=False)
    assert first.above
    assert not second.above
    fresh = [of_array(rng.laplace(centre, 1.0, 200_000)) for centre in (2, 0)]
    for event, (one, other) in ((first, fresh), (second, fresh[::-1])):
        assert math.log(event.hits(one) / event.hits(other)) == pytest.approx(2.0, abs=0.1)
        assert event.hits(one) / 200_000 > 0.3


def test_either_direction_is_tried():
    """With the first data set the number may be missing; the second never shows what the first cannot."""
    rng = np.random.default_rng(2)

    def gaps(share):
        return of_array(np.where(rng.random(4000) < share, np.nan, 1.0))

    first, second = choose((gaps(0.5), gaps(0.0)), (gaps(0.5), gaps(0.0)), 0.01)
    assert first.hits(gaps(0.5)) > 1500
    assert first.hits(gaps(0.0)) == 0
    assert second.hits(gaps(0.0)) == 4000


def test_the_gaussian_measure_prefers_the_middle():
    """The shift is told best where both chances are moderate, the ratio where one is small."""
    rng = np.random.default_rng(3)
    tables = [(of_array(rng.normal(1, 1, 20_000)), of_array(rng.normal(0, 1, 20_000))) for _ in range(2)]
    pure = choose(*tables, 0.01, classifier=False)[0].threshold
    gaussian = choose(*tables, 0.01, delta=1e-5, gaussian=True, classifier=False)[0].threshold
    assert gaussian < pure
