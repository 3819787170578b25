"""Events by which two neighbours are told apart, chosen on releases that are not counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpreg.audit.clopper_pearson import limits
from dpreg.audit.outcomes import Table
from dpreg.audit.statistics import Statistic, candidates
from dpreg.checks import FloatArray

TRIED = 400  # thresholds per statistic
DOUBT = 0.1  # risk of the limits by which pairs are ranked


@dataclass(frozen=True)
class Event:
    """A statistic beyond a threshold: a fixed set of releases.

    Parameters
    ----------
    statistic : Statistic
    threshold : float
    above : bool
        Whether it is the releases above, or all others.

    Examples
    --------
    >>> from dpreg.audit.outcomes import of_array
    >>> event = Event(Statistic("the number", lambda table: table.numbers[:, 0]), 1.0, above=False)
    >>> str(event), event.hits(of_array([0.0, 1.0, 2.0, np.nan]))
    ('the number is at most 1', 3)
    """

    statistic: Statistic
    threshold: float
    above: bool

    def __str__(self) -> str:
        return f"{self.statistic.name} is {'above' if self.above else 'at most'} {self.threshold:.6g}"

    def hits(self, table: Table) -> int:
        """Return in how many releases it happened."""
        over = int((self.statistic(table) > self.threshold).sum())
        return over if self.above else len(table) - over


def choose(
    learn: tuple[Table, Table],
    rank: tuple[Table, Table],
    risk: float,
    *,
    delta: float = 0.0,
    gaussian: bool = False,
    classifier: bool = True,
) -> tuple[Event, Event]:
    """Return the most promising event in either direction: more often with the first data set, and with the second.

    Statistics are learnt on one part, and the threshold is where the lower bound on epsilon is largest on another, so
    that a statistic that only remembers what it learnt from is not taken for a good one.

    Parameters
    ----------
    learn, rank : pairs of Tables
        Releases of both data sets. Neither may be counted later.
    risk : float
        Chance of error of one limit of the bound that will be computed.
    delta : float
    gaussian : bool
        See `clopper_pearson.lower_bound`.
    classifier : bool
        Train one too.

    Returns
    -------
    event, event_other : Event

    Examples
    --------
    >>> from dpreg.audit.outcomes import of_array
    >>> rng = np.random.default_rng(1)
    >>> draw = lambda centre: of_array(rng.normal(centre, 1.0, 1000))
    >>> first, second = choose((draw(5), draw(0)), (draw(5), draw(0)), 0.01, classifier=False)
    >>> first.statistic.name, first.above, second.above
    ('the number', True, False)
    """
    statistics = candidates(*learn, learn=classifier)
    lower, upper = limits(len(rank[0]), risk)
    n = len(lower) - 1
    best: list[tuple[float, Event] | None] = [None, None]
    for statistic in statistics:
        values = [statistic(table) for table in rank]
        thresholds = _thresholds(np.concatenate(values))
        over = [n - np.searchsorted(np.sort(side), thresholds, side="right") for side in values]
        for above in (True, False):
            hits, other = over if above else [n - side for side in over]
            for way, (k, m) in enumerate(((hits, other), (other, hits))):
                bounds = _bounds(lower[k], upper[m], delta, gaussian)
                top = int(bounds.argmax())
                known = best[way]
                if known is None or bounds[top] > known[0]:
                    best[way] = (float(bounds[top]), Event(statistic, float(thresholds[top]), above))
    first, second = best
    nothing = Event(Statistic("whether anything was released", lambda table: np.ones(len(table))), 0.0, True)
    return (nothing if first is None else first[1]), (nothing if second is None else second[1])


def promise(events: tuple[Event, Event], seen: tuple[Table, Table]) -> float:
    """Return how well the better of two events tells apart what it was chosen by: to rank pairs of data sets by.

    It proves nothing, since these releases are not independent of the choice.

    Parameters
    ----------
    events : pair of Event
        As `choose` returns them.
    seen : pair of Tables

    Returns
    -------
    float
        The smallest ratio of its chances that is not in doubt.

    Examples
    --------
    >>> from dpreg.audit.outcomes import of_array
    >>> over = Event(Statistic("the number", lambda table: table.numbers[:, 0]), 0.5, above=True)
    >>> promise((over, over), (of_array(np.ones(9)), of_array(np.zeros(9)))) > 1
    True
    """
    lower, upper = limits(len(seen[0]), DOUBT)
    ways = zip(events, (seen, seen[::-1]), strict=True)
    return max(float(lower[event.hits(one)] / upper[event.hits(other)]) for event, (one, other) in ways)


def _bounds(p: FloatArray, q: FloatArray, delta: float, gaussian: bool) -> FloatArray:
    """Return the bound before it is cut at zero, so that also among hopeless events the best is taken."""
    if gaussian:  # what `proved` computes grows with this
        return np.asarray(special.ndtri(p) - special.ndtri(q))
    return np.asarray(np.maximum(p - delta, 1e-300) / q)


def _thresholds(values: FloatArray) -> FloatArray:
    """Return distinct values: all, or evenly spaced ranks and the ends, where the rare events are."""
    found: NDArray[np.float64] = np.unique(values)
    if len(found) <= TRIED:
        return found
    n = len(found)
    ends = np.unique(np.geomspace(1, n / 2, TRIED // 4).astype(int)) - 1
    ranks = np.concatenate([np.linspace(0, n - 1, TRIED // 2).astype(int), ends, n - 1 - ends])
    return np.asarray(found[np.unique(ranks)])
