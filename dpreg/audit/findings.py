"""What an audit found: one record per attempt to refute a claim, and a report of all."""

from __future__ import annotations

from dataclasses import dataclass


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
        The largest epsilon that the attempt proves to be spent at least, at this confidence; infinite if no epsilon holds.
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
