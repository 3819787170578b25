"""The claims as pages show them: all of them to filter, a paper from its first page to its last, errata, files."""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import get_args

import pandas as pd
import yaml

from dpreg.arguments import checked
from dpreg.checks import InputError
from lib.pages.claims import CLAIMS, SOURCES, Claim, Table, Verdict, load

NOT_JUDGED = CLAIMS.parent / "not_judged.yml"
ERRATA = "1.2"  # of the errata lists; CITATION.cff has the same
SHORT = 40  # characters of a sentence that says too little alone
ROMAN = {"I": 1, "V": 5, "X": 10}


@checked
def settled(source: str) -> list[Claim]:
    """Return the claims of one source in the order of its sections, and within a section in that of the records.

    Parameters
    ----------
    source : str
        A key of `SOURCES`, such as "001".
    """
    if source not in SOURCES:
        raise InputError(f"source is {source!r}: choose one of {', '.join(SOURCES)}")
    claims = [claim for claim in load().values() if claim.source == source]
    return sorted(claims, key=lambda claim: position(claim.place))


def counts() -> pd.DataFrame:
    """Return how many claims of each source have each verdict."""
    rows = [
        [source, *(sum(claim.verdict == verdict for claim in settled(source)) for verdict in get_args(Verdict))]
        for source in SOURCES
        if settled(source)
    ]
    return pd.DataFrame(rows, columns=["source", *get_args(Verdict)])


@checked
def not_judged(source: str) -> list[dict[str, str]]:
    """Return what a source prints and no claim judges: place, what, and why not, in the order of its sections.

    Parameters
    ----------
    source : str
        A key of `SOURCES`.
    """
    if source not in SOURCES:
        raise InputError(f"source is {source!r}: choose one of {', '.join(SOURCES)}")
    lines = yaml.safe_load(NOT_JUDGED.read_text(encoding="utf-8")).get(source, [])
    return sorted(lines, key=lambda line: position(line["place"]))


@checked
class Everything(Table):
    """All claims in one table that a reader can filter and search; without JavaScript it is a plain table."""

    def __init__(self) -> None:
        super().__init__([claim for source in SOURCES for claim in settled(source)], link=True)

    def __repr__(self) -> str:
        return f"{len(self.claims)} claims"

    def _repr_html_(self) -> str:
        return super()._repr_html_().replace('class="ledger"', 'class="ledger" data-filter="claims"', 1)

    def _data(self, claim: Claim) -> str:
        return f' data-source="{claim.source}" data-verdict="{claim.verdict}" data-kind="{claim.kind}"'


@checked
class Paper:
    """A source from its first section to its last: what it says, the verdict, and one line.

    Parameters
    ----------
    source : str
        A key of `SOURCES`.
    """

    def __init__(self, source: str) -> None:
        self.source, self.claims, self.rest = source, settled(source), not_judged(source)

    def __repr__(self) -> str:
        return f"{len(self.claims)} claims of {self.source}, {len(self.rest)} items not judged"

    def _repr_html_(self) -> str:
        rows = [(position(claim.place), claim.place, self._row(claim)) for claim in self.claims]
        rows += [(position(line["place"]), line["place"], self._left(line)) for line in self.rest]
        rows.sort(key=lambda row: row[0])
        body = ""
        for section, group in groupby(rows, key=lambda row: re.split("[,;]", row[1])[0]):
            body += f'<tr class="section"><th colspan="3" scope="rowgroup">{html.escape(section)}</th></tr>'
            body += "".join(row for *_, row in group)
        head = "".join(
            f'<th scope="col">{name}</th>'
            for name in ("where", "it says, and in one line what happened here", "verdict")
        )
        return f'<table class="ledger paper"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    def _row(self, claim: Claim) -> str:
        name = html.escape(claim.id)
        return (
            f'<tr><td>{_within(claim.place)}<br><a href="../{claim.chapter}.html#{claim.tag}">{name}</a></td>'
            f'<td><details><summary>{html.escape(claim.claim)}</summary><p class="truth">'
            f"{html.escape(opening(claim.truth))} "
            f'<a href="ledger.html#{name.lower()}" aria-label="more on {name}">More</a></p>'
            f'<code class="test">{html.escape(claim.test)}</code></details></td><td>{claim.mark}</td></tr>'
        )

    def _left(self, line: dict[str, str]) -> str:
        return (
            f"<tr><td>{_within(line['place'])}</td><td><details><summary>{html.escape(line['what'])}</summary>"
            f"<p>{html.escape(line['why'])}</p></details></td><td>not judged</td></tr>"
        )


@checked
class Errata:
    """What to correct in a source: its definitions, theorems, constants and algorithms that do not hold as printed.

    Parameters
    ----------
    source : str
        A key of `SOURCES`.
    """

    def __init__(self, source: str) -> None:
        changed = [claim for claim in settled(source) if claim.verdict in ("holds with a change", "false")]
        self.source, self.claims = source, [claim for claim in changed if claim.kind not in ("trend", "code")]

    def __repr__(self) -> str:
        return f"Errata {ERRATA} of {self.source}: {', '.join(claim.id for claim in self.claims)}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<li><strong>{html.escape(claim.place)}</strong> ({claim.mark}, "
            f'<a href="ledger.html#{claim.id.lower()}">{claim.id}</a>). Printed: {html.escape(claim.claim)} '
            f"Read: {html.escape(claim.truth)}</li>"
            for claim in self.claims
        )
        return f'<p>Version {ERRATA}.</p><ol class="errata">{rows}</ol>'


@checked
def save(folder: Path) -> None:
    """Write all claims to `ledger.csv` and `ledger.json` in a folder; fields with several values are JSON in the first.

    Parameters
    ----------
    folder : Path
        An existing folder.
    """
    records = [asdict(claim) for source in SOURCES for claim in settled(source)]
    text = json.dumps(records, indent=1, ensure_ascii=False)
    (folder / "ledger.json").write_text(text + "\n", encoding="utf-8")
    flat = [{k: json.dumps(v, ensure_ascii=False) if isinstance(v, dict) else v for k, v in r.items()} for r in records]
    pd.DataFrame(flat).to_csv(folder / "ledger.csv", index=False)


@checked
def position(place: str) -> list[int]:
    """Return the first section or slide a place names, as numbers to sort by; an abstract comes first.

    Examples
    --------
    >>> position("Section 4.1, Lemma 1"), position("Section IV.B; Abstract"), position("Abstract")
    ([4, 1], [4, 2], [0])
    """
    found = re.match(r"(?:Section|Slide) ([\dIVX]+)((?:\.\w+)*)", place)
    if not found:
        return [0]
    first = int(found[1]) if found[1].isdigit() else _roman(found[1])
    return [first, *(int(part) if part.isdigit() else ord(part) - 64 for part in found[2].split(".")[1:])]


@checked
def opening(text: str) -> str:
    """Return the first sentence of a text, and the next where that is a short one; "Eq. 3" ends none.

    Examples
    --------
    >>> opening("As an upper bound. The sum is larger, by Eq. 3. The rest follows.")
    'As an upper bound. The sum is larger, by Eq. 3.'
    """
    first, *rest = re.split(r"(?<=[.])\s+(?=[^\W\d_])", text.strip())
    return f"{first} {rest[0]}" if rest and len(first) < SHORT else first


def _roman(numeral: str) -> int:
    values = [ROMAN[letter] for letter in numeral]
    return sum(-value if value < max(values[k:]) else value for k, value in enumerate(values))


def _within(place: str) -> str:
    """Return a place without the section that the rows above it name."""
    section, _, rest = place.partition(", ")
    return html.escape(rest or section)
