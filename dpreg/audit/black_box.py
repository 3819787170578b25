"""An audit of anyone's estimator from its releases alone: draw often with neighbouring data sets, and count events.

It can refute a claim, and never prove one. What holds is this: **with chance at least `confidence`, no lower bound in
the report exceeds the epsilon that is really spent** (for this delta, between the data sets of its pair). Proof.
There are R rounds, one or three, and in round i there are m_i bounds: one per direction and pair that is still in it.
These numbers are fixed before anything is drawn. Fix a bound. Its event, and whether its pair is still in it, are
chosen from releases that are never counted, in this round and in those before. Given these, the event is a fixed set
S, and the counted releases, drawn with other seeds, are independent of the choice, so the hits are binomial with the
chances of S. Each of the two Clopper-Pearson limits is wrong with chance at most (1 - confidence) / (2 R m_i), whatever
was chosen, and so also on average over choices. All limits together are right with chance at least confidence, and then
log((p_low - delta) / q_high) is at most the epsilon spent. To stop early leaves bounds out, which makes none of the
others wrong. QED

What it takes for granted: that calls with different seeds are independent given the data. What it does not see: the
time a call takes, and what it writes elsewhere. Seeds are numbers below 2^32, for scikit-learn takes no others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from tqdm import tqdm

from dpreg import checks, noise
from dpreg.audit.clopper_pearson import MOST, largest_provable, lower_bound
from dpreg.audit.events import Event, choose, promise
from dpreg.audit.findings import FAILED, Finding, Report
from dpreg.audit.outcomes import DONE, Outcome, Table, observe, of_array, table
from dpreg.audit.pairs import Pair
from dpreg.checks import InputError
from dpreg.noise import RandomState

BLOCK = 250  # releases per task of a worker
PATIENCE = 2.0  # seconds before the bar shows
ROUNDS = (16, 4, 1)  # with `stop_early`: by what the draws are divided
GO_ON = 4  # with `stop_early`: one in so many pairs goes on to the next round
LEAST = 80  # draws: a quarter of them is what a classifier needs

Records = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class _Audit:
    """What stays the same over an audit."""

    make: Callable[..., Any]
    read: Callable[[Any], Any] | None
    many: bool
    epsilon: float
    delta: float
    gaussian: bool
    classifier: bool
    n_jobs: int
    confidence: float
    root: np.random.SeedSequence

    def bounds(
        self, pair: Pair, draws: int, risk: float, keys: tuple[int, ...], bar: Any
    ) -> tuple[list[Finding], float]:
        """Return the two findings of a pair, and what it promises; `risk` is that of one bound.

        Half the draws choose, and the other half is counted.
        """
        half = draws // 2
        chosen = self._tables(pair, half, (*keys, 0), None, bar)
        learn, rank = ((one[part], other[part]) for one, other in [chosen] for part in _halves(half))
        options: dict[str, Any] = {"delta": self.delta, "gaussian": self.gaussian}
        events = choose(learn, rank, risk / 2, classifier=self.classifier, **options)
        counted = self._tables(pair, half, (*keys, 1), chosen[0].names, bar)
        findings = []
        for way, event in enumerate(events):
            hits, other = (event.hits(side) for side in (counted[::-1] if way else counted))
            finding = Finding(
                check="black box",
                subject=getattr(self.make, "__name__", type(self.make).__name__),
                pair=pair.name + (", exchanged" if way else ""),
                event=_words(event, chosen),
                claimed=self.epsilon,
                found=float(lower_bound(hits, other, half, 1 - risk, **options)),
                confidence=self.confidence,
                draws=half,
                hits=hits,
                hits_other=other,
                delta=self.delta,
            )
            findings.append(finding)
        return findings, promise(events, chosen)

    def _tables(
        self, pair: Pair, n: int, keys: tuple[int, ...], names: tuple[str, ...] | None, bar: Any
    ) -> tuple[Table, Table]:
        if self.many:
            one, other = (self._at_once(side, n, (*keys, k), bar) for k, side in enumerate(pair.sides))
            if one.names != other.names:
                raise InputError(f"make returned {len(one.names)} and {len(other.names)} numbers: give equally many")
            return one, other
        seen = self._one_by_one(pair, n, keys, bar)
        if names is None:
            names = table(seen).names
        return table(seen[:n], names), table(seen[n:], names)

    def _at_once(self, side: Records, n: int, keys: tuple[int, ...], bar: Any) -> Table:
        found = of_array(self.make(side[0].copy(), side[1].copy(), noise.spawn(self.root, *keys), n))
        if len(found) != n:
            raise InputError(f"make returned {len(found)} releases when asked for {n}: use one row per release")
        bar.update(n)
        return found

    def _one_by_one(self, pair: Pair, n: int, keys: tuple[int, ...], bar: Any) -> list[Outcome]:
        """Draw n releases of either side. Seeds that choose are even, seeds that are counted odd.

        Both sides are drawn in one shuffled order: what drifts while the audit runs, such as the time a fit takes, must
        not look like a difference of the data.
        """
        todo: list[tuple[int, int]] = []
        for k in range(2):
            drawn = noise.spawn(self.root, *keys, k).choice(2**31, n, replace=False)
            todo += [(k, seed) for seed in (2 * drawn + keys[-1]).tolist()]
        order = noise.spawn(self.root, *keys, 2).permutation(len(todo)).tolist()
        blocks = [order[first : first + BLOCK] for first in range(0, len(order), BLOCK)]
        run = Parallel(self.n_jobs, return_as="generator")
        found: dict[int, Outcome] = {}
        work = (delayed(_block)(self.make, self.read, pair.sides, [todo[place] for place in block]) for block in blocks)
        for block, outcomes in zip(blocks, run(work), strict=True):
            found |= dict(zip(block, outcomes, strict=True))
            bar.update(len(block))
        return [found[place] for place in range(len(todo))]


def _block(
    make: Callable[..., Any], read: Callable[[Any], Any] | None, sides: Sequence[Records], todo: list[tuple[int, int]]
) -> list[Outcome]:
    return [observe(make, *sides[side], seed, read) for side, seed in todo]


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n // 2 * 2)


def _words(event: Event, chosen: tuple[Table, Table]) -> str:
    kinds = {kind for side in chosen for kind in side.words[:, 0]}
    return str(event) if any(DONE in kind for kind in kinds) else f"{FAILED} {', '.join(sorted(kinds))}"


def estimator(
    make: Callable[..., Any],
    pairs: Sequence[Pair],
    epsilon: float,
    *,
    delta: float = 0.0,
    draws: int = 4000,
    confidence: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int = 1,
    stop_early: bool = False,
    read: Callable[[Any], Any] | None = None,
    many: bool = False,
    assume: Literal["nothing", "gaussian"] = "nothing",
    classifier: bool = True,
    progress: bool = True,
) -> Report:
    """Try to refute the claim that an estimator is (epsilon, delta)-differentially private, from its releases alone.

    Parameters
    ----------
    make : callable
        `make(X, y, seed)` fits on these records with this seed, and returns what is released: a fitted model, a number,
        an array, a list or a dict (`outcomes.numbers_of` says what is read). An error or a warning is a release too.
    pairs : sequence of Pair
        Neighbouring data sets; `pairs.standard` has many.
    epsilon, delta : float
        What is claimed.
    draws : int
        Releases per data set and pair: a quarter to learn from, a quarter to choose by, and half to count.
        `clopper_pearson.power_table` says what half is enough for.
    confidence : float
        That no bound in the report is too large, over all pairs, directions and rounds together.
    random_state : None, int, SeedSequence or Generator
    n_jobs : int
        Workers. Results do not depend on it, unless the estimator remembers what it did before.
    stop_early : bool
        Go in three rounds, the first two with 1/16 and 1/4 of the draws, and stop after one that refutes: gross faults
        are found in seconds. Of the pairs the most promising quarter goes on to the next round, so that many pairs cost
        little more than a few; the report has the last round of each. Each round has a third of the risk.
    read : callable, optional
        `read(released)` returns what of a release to look at.
    many : bool
        `make(X, y, rng, draws)` returns that many releases at once, an array of shape (draws,) or (draws, k). An
        error is then an error.
    assume : {"nothing", "gaussian"}
        "gaussian" proves more, but only of Gaussian noise: see `clopper_pearson.lower_bound`.
    classifier : bool
        Train one to find events. It finds more, and takes most of the time of a small audit.
    progress : bool
        Show a bar if it takes long. TQDM_DISABLE=1 in the environment hides it.

    Returns
    -------
    Report
        Two findings per pair, one per direction.

    Raises
    ------
    InputError
        If no number can be read from a release, `make` fails with every pair, or so few draws could refute nothing.

    Examples
    --------
    >>> from dpreg.audit.pairs import standard
    >>> def mean(X, y, seed):  # clipped; one record of n moves it by 1 / n, so the scale should be 1 / n
    ...     return np.clip(y, 0, 1).mean() + np.random.default_rng(seed).laplace(scale=0.5 / len(y))
    >>> report = estimator(mean, standard((0, 1), (0, 1), d=1)[:4], 1.0, draws=2000, random_state=1, stop_early=True)
    >>> bool(report.refuted)
    True
    """
    began = time.perf_counter()
    pairs = _checked(make, pairs, read, n_jobs)
    draws = checks.count(draws, "draws", LEAST)
    rounds = _rounds(draws) if checks.flag(stop_early, "stop_early") else [draws]
    level, chance = checks.chance(confidence, "confidence"), checks.chance(delta, "delta", zero=True)
    audit = _Audit(
        make,
        read,
        checks.flag(many, "many"),
        checks.budget(epsilon),
        chance,
        _gaussian(assume, chance),
        checks.flag(classifier, "classifier"),
        n_jobs,
        level,
        noise.repeatable(random_state),
    )
    sizes = [-(-len(pairs) // GO_ON**r) for r in range(len(rounds))]
    _enough(audit, draws, _risk(audit, sizes, -1))
    _probe(audit, pairs)
    findings = _run(audit, pairs, rounds, sizes, checks.flag(progress, "progress"))
    seed = int(random_state) if isinstance(random_state, int | np.integer) else None
    return Report(tuple(findings), seed, time.perf_counter() - began)


def _checked(make: Any, pairs: Any, read: Any, n_jobs: Any) -> list[Pair]:
    for function, name, use in ((make, "make", "make(X, y, seed)"), (read, "read", "read(released)")):
        if not callable(function) and not (name == "read" and function is None):
            raise InputError(f"{name} is of type {type(function).__name__}: give a function {use}")
    found = [pairs] if isinstance(pairs, Pair) else list(pairs)
    for pair in found:
        checks.instance(pair, Pair, "pairs")
    if not found:
        raise InputError("there are no pairs: give at least one, or use pairs.standard")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs is {n_jobs!r}: give a number of workers, or -1 for one per processor")
    return found


def _gaussian(assume: str, delta: float) -> bool:
    gaussian = bool(checks.choice(assume, ("nothing", "gaussian"), "assume") == "gaussian")
    if gaussian and not delta:
        raise InputError("delta is 0, and Gaussian noise has no epsilon without one: give a number above zero")
    return gaussian


def _rounds(draws: int) -> list[int]:
    return sorted({max(LEAST, draws // part) for part in ROUNDS})


def _risk(audit: _Audit, sizes: list[int], r: int) -> float:
    """Return the risk of one bound in round r: rounds share it, and in each its pairs and both directions."""
    return (1 - audit.confidence) / (2 * sizes[r] * len(sizes))


def _run(audit: _Audit, pairs: list[Pair], rounds: list[int], sizes: list[int], progress: bool) -> list[Finding]:
    """Return the last findings of each pair; `sizes` are the numbers of pairs in each round."""
    latest: dict[int, list[Finding]] = {}
    still = list(range(len(pairs)))
    total = 2 * sum(size * draws for size, draws in zip(sizes, rounds, strict=True))
    # TQDM_DISABLE decides where `progress` does not
    with tqdm(total=total, unit="release", delay=PATIENCE) if progress else tqdm(disable=True) as bar:
        for r, draws in enumerate(rounds):
            promised: dict[int, float] = {}
            for k in still[: sizes[r]]:
                latest[k], promised[k] = audit.bounds(pairs[k], draws, _risk(audit, sizes, r), (r, k), bar)
                if len(rounds) > 1 and any(one.refuted for one in latest[k]):
                    return [one for found in latest.values() for one in found]
            still = sorted(promised, key=lambda k: -promised[k])
    return [one for found in latest.values() for one in found]


def _enough(audit: _Audit, draws: int, risk: float) -> None:
    """Refuse draws with which no claim so large could be refuted, not even of what has no noise."""

    def best(draws: int) -> float:
        return largest_provable(draws // 2, 1 - risk, delta=audit.delta, gaussian=audit.gaussian)

    needed = draws
    while best(needed) <= audit.epsilon:
        needed *= 2
        if needed > MOST:
            raise InputError(f"epsilon is {audit.epsilon:g}: no number of draws would refute it, give a smaller one")
    if needed > draws:
        raise InputError(
            f"draws is {draws}, and proves no more than epsilon = {best(draws):.3g}, even of what has no noise: "
            f"give at least {needed}"
        )


def _probe(audit: _Audit, pairs: list[Pair]) -> None:
    """Refuse what cannot be audited, before thousands of draws: errors with every pair, and nothing to read."""
    if audit.many:
        return
    sides = [side for pair in pairs for side in pair.sides]
    seen = [observe(audit.make, *side, 2**32 - 2 - k, audit.read) for k, side in enumerate(sides)]
    if not any(DONE in outcome.words[0] for outcome in seen):
        kind, said, _ = seen[0].words
        raise InputError(f"make raised {kind} with every pair ({said}): give make(X, y, seed) that fits such records")
    if not any(outcome.names for outcome in seen):
        raise InputError(f"no number was found in a release ({seen[0].words[2]}): give read=, which returns them")
