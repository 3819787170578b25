"""What an audit found: one record per attempt to refute a claim, and a report of all."""

from __future__ import annotations

import html
import importlib
import math
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from dpreg.checks import DataError

FAILED = "every call raised"  # how the event of a pair begins with which nothing was released


@dataclass(frozen=True)
class Finding:
    """One attempt to refute a claim.

    Parameters
    ----------
    check : str
        Kind of the attempt: "budget algebra", "sensitivity", "noise law", "privacy loss", "metamorphic", "black box".
    subject : str
        What was audited.
    pair : str
        The neighbours, in words; empty where there are none.
    event : str
        What was looked at: the event whose probabilities were compared, the number, the law.
    claimed : float
        The epsilon that was claimed.
    found : float
        The largest epsilon that the attempt proves to be spent at least, at this confidence; infinite if no epsilon
        holds.
    confidence : float
        One for what needs no sampling.
    draws, hits, hits_other : int
        Releases per data set, and how often the event was seen with each; zero where nothing was drawn.
    delta : float
        The claimed delta.
    """

    check: str
    subject: str
    pair: str
    event: str
    claimed: float
    found: float
    confidence: float = 1.0
    draws: int = 0
    hits: int = 0
    hits_other: int = 0
    delta: float = 0.0

    @property
    def refuted(self) -> bool:
        """Whether more is spent than was claimed; rounding of exact numbers is forgiven."""
        return self.found > self.claimed * (1 + 1e-9)

    def __str__(self) -> str:
        counts = f"; seen in {self.hits:,} and {self.hits_other:,} of {self.draws:,}" if self.draws else ""
        where = "; ".join(part for part in (self.pair, self.event) if part)
        return f"{self.check}, {self.subject}: at least {self.found:.3g} ({where}{counts})"


@dataclass(frozen=True)
class Report:
    """All attempts of one audit.

    Parameters
    ----------
    findings : tuple of Finding
    seed : int or None
    seconds : float
        Wall time.
    """

    findings: tuple[Finding, ...]
    seed: int | None
    seconds: float

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """The findings that refute the claim."""
        return tuple(finding for finding in self.findings if finding.refuted)

    @property
    def worst(self) -> Finding | None:
        """The finding with the largest lower bound, or the one furthest above its claim."""
        return max(self.findings, key=_badness, default=None)

    def __str__(self) -> str:
        """Say what was found: never that a claim holds, since no attempt to refute it can show that."""
        worst = self.worst
        if worst is None:
            return "Nothing was tried."
        claim = f"epsilon = {worst.claimed:g}" + (f", delta = {worst.delta:g}" if worst.delta else "")
        how = f"largest lower bound is {worst.found:.3g}: {worst.check}, {worst.subject}; "
        where = "; ".join(part for part in (worst.pair, worst.event) if part)
        verdict = f"{'REFUTED' if worst.refuted else 'Not refuted'} at {claim}: the {how}{where}"
        return f"{verdict} ({', '.join(self._means(worst))})"

    def _means(self, worst: Finding) -> list[str]:
        said = [f"{len(self.findings):,} attempts"]
        failed = sum(one.event.startswith(FAILED) for one in self.findings)
        if failed:
            said.append(f"{failed:,} of them empty, since every call raised an error")
        if worst.draws:
            seen = f"seen in {worst.hits:,} and {worst.hits_other:,} of {worst.draws:,} draws"
            said += [seen, f"confidence {100 * worst.confidence:g} % over all"]
        return [*said, "no seed" if self.seed is None else f"seed {self.seed}"]

    def to_frame(self) -> pd.DataFrame:
        """Return the findings as a table, one row each, the worst first."""
        ordered = sorted(self.findings, key=_badness, reverse=True)
        return pd.DataFrame([{**asdict(one), "refuted": one.refuted} for one in ordered])

    def _repr_html_(self) -> str:
        table = self.to_frame()
        shown = table[["pair", "event", "found", "claimed", "hits", "hits_other", "draws"]] if len(table) else table
        return f"<p>{html.escape(str(self))}</p>{shown.head(10).to_html(index=False, float_format='{:.3g}'.format)}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the lower bounds, the largest on top, and what was claimed. Return the axes.

        Raises
        ------
        DataError
            If matplotlib is not installed: dpreg does not need it otherwise.
        """
        try:
            pyplot = importlib.import_module("matplotlib.pyplot")
        except ImportError:
            raise DataError("matplotlib is not installed: add it, or use to_frame() for the numbers") from None
        ax = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        table = self.to_frame()
        if len(table):
            place = range(len(table))[::-1]
            finite = table["found"][table["found"] < float("inf")]
            edge = 1.2 * max(finite.max() if len(finite) else 0.0, table["claimed"].min())  # where infinite ones stand
            ax.plot(table["found"].clip(upper=edge), place, "o", label="proved to be spent at least")
            ax.plot(table["claimed"], place, "|", color="black", markersize=12, label="claimed")
            ax.legend()
        ax.set(xlabel="epsilon", ylabel="attempt", yticks=[])
        return ax


def _badness(one: Finding) -> tuple[bool, float, float]:
    above = one.found - one.claimed if math.isfinite(one.claimed) else 0.0
    return one.refuted, float(f"{above:.9f}"), float(f"{one.found:.9g}")  # rounding does not decide about an order
