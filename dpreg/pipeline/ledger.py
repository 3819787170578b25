"""What releases cost, written down: entries of a ledger, which prints as a privacy statement."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import pandas as pd

from dpreg import checks, noise
from dpreg.accounting import zcdp_from_pure
from dpreg.arguments import checked
from dpreg.checks import InputError, Neighbours
from dpreg.pipeline import guarantee


@checked
@dataclass(frozen=True)
class Spend:
    """One entry of a ledger.

    Parameters
    ----------
    released : str
        What was published.
    mechanism : str
        Name of the noise, as its law has it, such as "Laplace".
    neighbours : {"replace", "add_remove"}
    norm : str
        In which the sensitivity is measured, such as "L1". Of a pure release, `sensitivity` over `scale` is epsilon.
    sensitivity : float
        Worst change of the released numbers, each weighted by `scale` over its own scale.
    scale : float
        Noise scale on the last diagonal coefficient; `Release.law` has all of them.
    epsilon : float
        What it cost, as certified, not as asked for. Infinite for a release that is zCDP only.
    delta : float
        Zero for pure differential privacy.
    zcdp : float, optional
        Its rho, if the noise is known to cost less than what `rho` follows from epsilon and delta.
    caveat : str
        What the epsilon does not cover, such as bounds read off the data. Empty if nothing.
    noise : str
        Where its draws came from (`noise.origin`). Empty for a release that is priced, but not drawn.
    """

    released: str
    mechanism: str
    neighbours: Neighbours
    norm: str
    sensitivity: float
    scale: float
    epsilon: float
    delta: float = 0.0
    zcdp: float | None = None
    caveat: str = ""
    noise: str = ""

    def __post_init__(self) -> None:
        only_zcdp = self.zcdp is not None and self.epsilon == math.inf
        if not only_zcdp and checks.finite(self.epsilon, "epsilon") < 0:
            raise InputError(f"epsilon is {self.epsilon:g}: a release cannot earn budget, give at least zero")
        if self.epsilon and not only_zcdp:
            checks.within_reach(self.epsilon, "epsilon", checks.REACH**2)  # it may be a small share of a budget
        if self.scale == math.inf:
            raise InputError("the scale of the noise is inf, which no number survives: give a larger epsilon")
        checks.chance(self.delta, "delta", zero=True)
        if self.zcdp is not None and self.zcdp != math.inf and checks.finite(self.zcdp, "zcdp") < 0:
            raise InputError(f"zcdp is {self.zcdp:g}: give a number of at least zero")

    @property
    def rho(self) -> float:
        """Its zCDP: as given, or what any epsilon costs (`accounting.zcdp_from_pure`); infinite if delta is above zero.

        It is derived, so an entry with another epsilon has another rho.
        """
        if self.zcdp is not None:
            return self.zcdp
        return zcdp_from_pure(self.epsilon) if self.delta == 0 else math.inf


@checked
@dataclass(frozen=True)
class Ledger:
    """The spends of one data set, added by basic composition; it prints as a privacy statement.

    Ledgers of two releases that share their noise do not add up, because together they give the data away.

    Examples
    --------
    >>> spend = Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5)
    >>> (Ledger((spend,)) + Ledger((spend,))).epsilon
    1.0
    """

    spends: tuple[Spend, ...] = ()

    @property
    def epsilon(self) -> float:
        """Total privacy loss, by basic composition."""
        return math.fsum(spend.epsilon for spend in self.spends)

    @property
    def delta(self) -> float:
        """Total chance of exceeding it, by basic composition."""
        return math.fsum(spend.delta for spend in self.spends)

    @property
    def rho(self) -> float:
        """Total zCDP; infinite if a spend has a delta."""
        return math.fsum(spend.rho for spend in self.spends)

    @property
    def seeds(self) -> set[str]:
        """Where draws came from that can come from there again."""
        return {spend.noise for spend in self.spends if spend.noise.startswith(noise.SEEDED)}

    def drawn(self, origin: str) -> Ledger:
        """Return the ledger with this origin of the noise in every entry."""
        return Ledger(tuple(replace(spend, noise=origin) for spend in self.spends))

    def __add__(self, other: Ledger) -> Ledger:
        if len({spend.neighbours for spend in self.spends + other.spends}) > 1:
            raise InputError("the ledgers use different neighbours: an epsilon of one does not add to the other's")
        if self.seeds & other.seeds:
            raise InputError("two releases drew their noise from one seed, and share it: give each a new one, or None")
        return Ledger(self.spends + other.spends)

    def __iter__(self) -> Iterator[Spend]:
        return iter(self.spends)

    def __str__(self) -> str:
        return guarantee.text(guarantee.statement(self.spends))

    def _repr_html_(self) -> str:
        return guarantee.page(guarantee.statement(self.spends))

    def to_frame(self) -> pd.DataFrame:
        """Return the spends as a table, one row each."""
        table = pd.DataFrame([{**asdict(spend), "zcdp": spend.rho} for spend in self.spends])
        return table.rename(columns={"zcdp": "rho"})

    def to_json(self) -> str:
        """Return the spends as text that loses no bit of them: to keep, and to publish with what was released.

        It holds what `Spend` lists, and so nothing of the data; an infinite number is 1e999, for JSON has no word.

        Examples
        --------
        >>> ledger = Ledger((Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5),))
        >>> ledger.to_json()[:50]
        '[{"released": "a count", "mechanism": "Laplace", "'
        >>> Ledger.from_json(ledger.to_json()) == ledger
        True
        """
        text = json.dumps([asdict(spend) for spend in self.spends])
        return re.sub(r'(?<!\\)": Infinity', '": 1e999', text)  # a quote inside a text has a backslash

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Return the ledger that `to_json` wrote. It is a record, and caps nothing: `Budget(1.0, ledger=...)` does.

        Raises
        ------
        InputError
            If it is not such text, or an entry is no spend.
        """
        try:
            return cls(tuple(Spend(**entry) for entry in json.loads(text)))
        except (ValueError, TypeError) as error:
            raise InputError(f"text is no ledger ({error}): give what to_json wrote") from None
