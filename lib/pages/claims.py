"""The claims ledger: one record per published claim, read by the chapters, the ledger page and the tests."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd
import yaml

from dpreg.arguments import checked
from dpreg.checks import InputError
from lib.pages import report

CLAIMS = Path(__file__).resolve().parents[2] / "book" / "verdicts" / "claims"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML was built with libyaml

Verdict = Literal[
    "holds", "holds, but loose", "holds with a change", "not reproduced here", "false", "cannot be checked"
]
Outcome = Literal["reproduced", "in shape", "not reproduced"]
Kind = Literal["definition", "theorem", "constant", "algorithm", "trend", "code"]
SOURCES = {
    "000": "Dandekar, Basu & Bressan (2018)",
    "001": "Zhang et al. (2012)",
    "001 program": "Zhang et al., the program they published (2012)",
    "002": "Dandekar, Basu & Bressan (slides)",
    "003": "Park & Welling (2016)",
    "004": "Fang et al. (2019)",
}
HINGES = ("holds with a change", "not reproduced here", "cannot be checked")  # verdicts that say what would change them

_PART = r"(?:Title|Abstract|Program|Slide \d+|Section (?:\d+(?:\.\d+)*|[IVX]+(?:\.[A-Z])?))"
_NUMBERS = r"\d+(?:[a-d](?:-[a-d])?)?(?: (?:to|and) \d+)?"
_ITEM = rf"(?:Definition|Lemma|Theorem|Algorithm|Table|Figs?\.|Eqs?\.|footnote|lines?) {_NUMBERS}|proof|summary"
PLACE = re.compile(rf"{_PART}(?:, (?:{_ITEM}))*(?:, on [^;]+)?")


class LedgerError(AssertionError):
    """A number in a chapter is not the one in the ledger."""


@checked
@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, or one definition, equation, theorem or figure, and what became of it.

    Parameters
    ----------
    id : str
        Such as `FM-L5`; the evidence cell carries the tag `claim-fm-l5`.
    source : str
        A key of `SOURCES`: a paper, or its authors' program.
    place : str
        Where in it, such as "Section 7.2, Fig. 5, on FP" or "Section V.B, Eq. 12; Abstract"; no other record has it.
    kind : {"definition", "theorem", "constant", "algorithm", "trend", "code"}
    claim : str
        In our words.
    verdict : {"holds", "holds, but loose", "holds with a change", "not reproduced here", "false", "cannot be checked"}
        The ledger's page says what each means.
    truth : str
        What happened here, and why.
    chapter : str
        Path of the chapter below `book/`, without extension; the claim's file says it.
    test : str
        `file.py::function` below `tests/` that checks the numbers independently of the chapter.
    values : dict
        The numbers the evidence cell must find, by name.
    tolerances : dict
        Largest absolute difference allowed for a number, by name; 0 where there is none.
    wrong : dict
        For some numbers, what a neighbouring method would give: the tolerance must not allow it.
    hinges : str
        What would change the verdict: an unstated choice, other data, the printed page.
    settings : dict
        Seed, repeats, neighbours: whatever the numbers depend on.
    figure : str
        The published figure or table it is about, such as "Fig. 4"; empty for a claim about none.
    outcome : {"reproduced", "in shape", "not reproduced"}, optional
        Of that figure, as far as the claim goes: its numbers or its statement found again, its shape, or neither.
    """

    id: str
    source: str
    place: str
    kind: Kind
    claim: str
    verdict: Verdict
    truth: str
    chapter: str
    test: str
    values: dict[str, float | bool | str]
    tolerances: dict[str, float] = field(default_factory=dict)
    wrong: dict[str, float] = field(default_factory=dict)
    hinges: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    figure: str = ""
    outcome: Outcome | None = None

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("source", self.source, tuple(SOURCES)),
            ("kind", self.kind, get_args(Kind)),
            ("verdict", self.verdict, get_args(Verdict)),
            ("outcome", self.outcome, get_args(Outcome) if self.figure else (None,)),
        ):
            if value not in allowed:
                raise InputError(f"claim {self.id}: {name} is {value!r}, choose one of {', '.join(map(str, allowed))}")
        if not self.values:
            raise InputError(f"claim {self.id} has no values: give at least one number its cell must find")
        if not all(PLACE.fullmatch(part) for part in self.place.split("; ")):
            raise InputError(f"claim {self.id}: place is {self.place!r}, give 'Section 7.2, Fig. 5, on one method'")
        numbers = {name for name, value in self.values.items() if not isinstance(value, bool | str)}
        for field_, given in (("tolerances", self.tolerances), ("wrong", self.wrong)):
            for name in given.keys() - numbers:
                raise InputError(f"claim {self.id}: {field_} has {name!r}, none of its numbers: give {sorted(numbers)}")

    @property
    def tag(self) -> str:
        """Tag of the evidence cell."""
        return f"claim-{self.id.lower()}"

    @property
    def mark(self) -> str:
        """The verdict as a page shows it."""
        return f'<span class="verdict {self.verdict.replace(",", "").replace(" ", "-")}">{self.verdict}</span>'

    def differences(self, found: dict[str, Any]) -> list[str]:
        """Return what differs between the numbers of the record and those found; empty if nothing does."""
        missing = [f"{name} is missing" for name in self.values.keys() - found.keys()]
        extra = [f"{name} is not in the ledger" for name in found.keys() - self.values.keys()]
        return sorted(missing + extra) + [
            f"{name} is {report.number(found[name], 6)}, the ledger says {report.number(expected, 6)}"
            for name, expected in self.values.items()
            if name in found and not _same(found[name], expected, self.tolerances.get(name, 0.0))
        ]


@checked
@cache
def load(path: Path = CLAIMS) -> dict[str, Claim]:
    """Return all claims by id.

    Parameters
    ----------
    path : Path
        Folder with one file per chapter: `mechanisms/linear.yml` holds the claims of `book/mechanisms/linear.md`.

    Raises
    ------
    InputError
        For an unknown field or word, or an id or a place used twice.
    """
    claims: dict[str, Claim] = {}
    places: dict[tuple[str, str], str] = {}
    for file in sorted(path.rglob("*.yml")):
        chapter = file.relative_to(path).with_suffix("").as_posix()
        for record in _records(file):
            try:
                claim = Claim(chapter=chapter, **record)
            except TypeError as error:
                name = record.get("id") if isinstance(record, dict) else repr(record)
                raise InputError(f"claim {name} in {file.name}: {error}") from error
            if claim.id in claims:
                raise InputError(f"claim {claim.id} stands twice: give each an id of its own")
            if twin := places.get((claim.source, claim.place)):
                raise InputError(f"claims {twin} and {claim.id} have one place: judge a sentence once")
            claims[claim.id], places[claim.source, claim.place] = claim, claim.id
    return claims


def _records(file: Path) -> list[Any]:
    try:
        records = yaml.load(file.read_text(encoding="utf-8"), Loader=LOADER) or []
    except yaml.YAMLError as error:
        raise InputError(f"{file.name} is not YAML: quote text that holds ': ' or ' #'. {error}") from error
    if not isinstance(records, list):
        raise InputError(f"{file.name} is not a list: start each claim with '- id:'")
    return records


@checked
def check(claim_id: str, **found: Any) -> None:
    """Print the numbers of a claim, and raise `LedgerError` unless they are the ledger's.

    Called by the evidence cell of the claim, whose printed line `pytest --nbval` then compares. On the user's own
    extract (`lib.data.census`) other numbers are expected: they are printed as such, and the chapter goes on.
    """
    claims = load()
    if claim_id not in claims:
        raise InputError(f"claim_id: there is no claim {str(claim_id)!r}: add it to book/verdicts/claims/")
    claim = claims[claim_id]
    wrong = claim.differences(found)
    if wrong and os.environ.get("CENSUS_EXTRACTS"):
        print(f"{claim_id}, on other data than the ledger's: " + "; ".join(wrong))
        return
    if wrong:
        raise LedgerError(f"{claim_id}: " + "; ".join(wrong))
    print(f"{claim_id} ({claim.verdict}): {report.line(**found)}")


@checked
class Table:
    """Claims as a table, for the end of a chapter and the ledger page."""

    def __init__(self, claims: list[Claim], *, link: bool = False) -> None:
        self.claims, self.link = claims, link

    def __repr__(self) -> str:
        return "\n".join(f"{c.id} [{c.source}: {c.place}] {c.claim} -> {c.verdict}: {c.truth}" for c in self.claims)

    def _repr_html_(self) -> str:
        columns = ("claim", "where", "it says, and what happened here", "verdict")
        head = "".join(f"<th>{name}</th>" for name in columns)
        return (
            f'<table class="ledger"><thead><tr>{head}</tr></thead><tbody>'
            + "".join(self._row(claim) for claim in self.claims)
            + "</tbody></table>"
        )

    def _row(self, claim: Claim) -> str:
        name = html.escape(claim.id)
        page = f"../{claim.chapter}.html" if self.link else ""
        hinges = f'<p class="hinges">{html.escape(claim.hinges)}</p>' if claim.hinges else ""
        happened = f'<p class="truth">{html.escape(claim.truth)}</p>{hinges}'
        happened += f'<code class="test">{html.escape(claim.test)}</code>'
        cells = (
            f'<a href="{page}#{html.escape(claim.tag)}">{name}</a>',
            f"{claim.source}, {html.escape(claim.place)}",
            f"<details><summary>{html.escape(claim.claim)}</summary>{happened}</details>",
            claim.mark,
        )
        return f'<tr id="{name.lower()}"{self._data(claim)}>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    def _data(self, claim: Claim) -> str:
        return ""


@checked
def box(chapter: str) -> Table:
    """Return the claims a chapter settles.

    Parameters
    ----------
    chapter : str
        Path below `book/`, without extension.
    """
    claims = [claim for claim in load().values() if claim.chapter == chapter]
    if not claims:
        raise InputError(f"no claim names the chapter {chapter!r}: check its path, or add the claims it settles")
    return Table(claims)


@checked
def outcomes(chapter: str) -> pd.DataFrame:
    """Return for each published figure of a chapter the claims that were reproduced, in shape only, or not.

    Parameters
    ----------
    chapter : str
        Path below `book/`, without extension.
    """
    figures: dict[str, list[Claim]] = {}
    for claim in box(chapter).claims:
        if claim.figure:
            figures.setdefault(claim.figure, []).append(claim)
    rows = [
        [figure, *(", ".join(c.id for c in claims if c.outcome == outcome) or "-" for outcome in get_args(Outcome))]
        for figure, claims in sorted(figures.items(), key=lambda item: _number(item[0]))
    ]
    return pd.DataFrame(rows, columns=["figure", *get_args(Outcome)])


def _number(figure: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", figure)]


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, bool | str):
        return bool(found == expected)
    if isinstance(found, str):
        return False
    found, expected = float(found), float(expected)
    return bool(found == expected or abs(found - expected) <= tolerance + 1e-12)
