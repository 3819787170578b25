"""The claims as pages show them, and whether every numbered item of the papers is judged or listed."""

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
import yaml

from lib.pages import claims, verdicts

ROOT = Path(__file__).resolve().parents[2]

# What the papers number, as far as their text shows.
ITEMS = {
    "000": {"Definition": 4, "Theorem": 2, "Lemma": 2, "Algorithm": 1, "Fig.": 5, "Eq.": 10, "footnote": 2},
    "001": {
        "Definition": 3,
        "Theorem": 2,
        "Lemma": 5,
        "Algorithm": 2,
        "Table": 2,
        "Fig.": 9,
        "Eq.": 14,
        "footnote": 2,
    },
    "003": {"Algorithm": 1, "Fig.": 1, "Eq.": 11},
    "004": {"Definition": 4, "Theorem": 3, "Lemma": 1, "Algorithm": 1, "Table": 1, "Fig.": 9, "Eq.": 9},
    "002": {"Slide": 15},
}
SECTIONS = {
    "000": "1 2 3 3.1 3.2 3.3 4 4.1 4.2 4.3 5.1 5.2 5.3 5.4 6",
    "001": "1 2 3 4.1 4.2 5 5.1 5.2 5.3 6 6.1 6.2 7 7.1 7.2 7.3 7.4 8",
    "003": "1 2 3 4",
    "004": "I II II.A II.B III.A III.B III.C III.D III.E IV.A IV.B IV.C V.A V.B V.C V.D V.E VI",
}
PLACES = {
    source: [claim.place for claim in verdicts.settled(source)]
    + [line["place"] for line in verdicts.not_judged(source)]
    for source in claims.SOURCES
}


def named(place):
    """The numbered items that a place names, such as ("Eq.", 6); Fig. 4a-b is part of Fig. 4."""
    for word, first, joint, last in re.findall(r"([A-Z]\w+\.?|footnote) (\d+)(?:[a-d-]+)?(?: (to|and) (\d+))?", place):
        ends = range(int(first), int(last) + 1) if joint == "to" else filter(None, (first, last))
        yield from ((word.replace("s.", "."), int(number)) for number in ends)


@pytest.mark.parametrize(
    ("place", "items"),
    [
        ("Section 5.1, Eqs. 6 to 9", [("Eq.", 6), ("Eq.", 7), ("Eq.", 8), ("Eq.", 9)]),
        ("Section V.B, Figs. 3 and 4, on FM", [("Fig.", 3), ("Fig.", 4)]),
        ("Section 7.1, Fig. 4a-b; Section 3, footnote 1", [("Fig.", 4), ("footnote", 1)]),
        ("Section IV.A, Algorithm 1, lines 2 to 4", [("Algorithm", 1)]),
    ],
)
def test_items_are_read_off_a_place(place, items):
    assert [item for item in named(place) if item[0] not in ("Section", "lines")] == items


@pytest.mark.parametrize("source", ITEMS)
def test_every_numbered_item_is_judged_or_listed(source):
    found = {item for place in PLACES[source] for item in named(place)}
    wanted = {(word, number) for word, most in ITEMS[source].items() for number in range(1, most + 1)}
    assert sorted(wanted - found) == []
    assert sorted(item for item in found - wanted if item[0] in ITEMS[source]) == [], "the paper has no such item"


@pytest.mark.parametrize("source", SECTIONS)
def test_every_section_is_judged_or_listed(source):
    found = {match[1] for place in PLACES[source] for match in re.finditer(r"Section ([\w.]+)", place)}
    assert set(SECTIONS[source].split()) == found


def test_what_is_not_judged_has_a_place_of_its_own_and_a_reason():
    listed = yaml.safe_load(verdicts.NOT_JUDGED.read_text(encoding="utf-8"))
    assert set(listed) <= set(claims.SOURCES)
    assert all(len(places) == len(set(places)) for places in PLACES.values())
    for line in (line for lines in listed.values() for line in lines):
        assert set(line) == {"place", "what", "why"}
        assert all(claims.PLACE.fullmatch(part) for part in line["place"].split("; ")), line["place"]
        assert all(name in claims.load() for name in re.findall(r"\b[A-Z]{2}-[A-Z0-9-]+", line["why"])), line["why"]


def test_records_name_records_that_exist():
    for record in claims.load().values():
        named_here = set(re.findall(r"\b(?:RR|FM|SL|IR|BA)-[A-Z0-9-]+", f"{record.truth} {record.hinges}"))
        assert named_here <= set(claims.load()), record.id


@pytest.mark.parametrize("record", claims.load().values(), ids=claims.load().keys())
def test_typical_words_of_a_false_verdict(record):
    """False takes a proof or a counterexample; a run on generated data is neither."""
    if record.verdict == "false":
        assert record.settings.get("data") != "generated", "not reproduced here"


def test_places_sort_as_the_paper_goes():
    places = ["Abstract", "Section 4.2, Lemma 1", "Section 4.10", "Section V.A", "Section V.B", "Slide 7", "Section IX"]
    assert sorted(reversed(places), key=verdicts.position)[0] == "Abstract"
    assert verdicts.position("Section V.B; Abstract") == [5, 2]
    assert verdicts.position("Section XIV") == [14]
    assert verdicts.position("Section 4.2, on x") < verdicts.position("Section 4.10") < verdicts.position("Slide 5")
    found = [verdicts.position(claim.place) for claim in verdicts.settled("004")]
    assert found == sorted(found)


def test_counts_add_up():
    frame = verdicts.counts()
    assert frame.drop(columns="source").to_numpy().sum() == len(claims.load())
    assert frame["source"].tolist() == list(claims.SOURCES)


def test_everything_is_one_table_with_what_the_filter_needs():
    page = verdicts.Everything()._repr_html_()
    assert page.count("<table") == 1
    assert 'data-filter="claims"' in page
    for claim in claims.load().values():
        row = f'<tr id="{claim.id.lower()}" data-source="{claim.source}" data-verdict="{claim.verdict}" data-kind="'
        assert row + claim.kind in page


@pytest.mark.parametrize("source", claims.SOURCES)
def test_a_paper_shows_every_claim_and_what_is_not_judged(source):
    paper = verdicts.Paper(source)
    page = paper._repr_html_()
    sections = re.findall(r'scope="rowgroup">([^<]+)<', page)
    assert len(sections) == len(set(sections)), "a section stands once"
    assert [verdicts.position(section) for section in sections] == sorted(map(verdicts.position, sections))
    for claim in verdicts.settled(source):
        assert page.count(f'href="../{claim.chapter}.html#{claim.tag}"') == 1
        assert page.count(f'href="ledger.html#{claim.id.lower()}"') == 1
    assert page.count("<td>not judged</td>") == len(verdicts.not_judged(source)) == len(paper.rest)


def test_errata_are_what_does_not_hold_as_printed():
    errata = verdicts.Errata("001")
    assert {claim.verdict for claim in errata.claims} == {"holds with a change", "false"}
    assert "FM-SIGN" in repr(errata)
    assert not {"FM-D", "FM-T1", "FM-FIG2"} & {claim.id for claim in errata.claims}  # loose, true, a trend
    assert errata._repr_html_().count("<li>") == len(errata.claims)


def test_citation_has_the_version_of_the_errata():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert len(cited) == 4
    assert {entry["version"] for entry in cited} == {verdicts.ERRATA}


# What each version of the errata says, as a digest: who changes one raises `verdicts.ERRATA` and CITATION.cff.
ISSUED = {"1.0": "8c5426603c1b6960", "1.1": "3c65963364e84f53", "1.2": "ad62b1c4f8d9b97a"}


def test_errata_say_what_their_version_said():
    errata = [verdicts.Errata(source)._repr_html_() for source in claims.SOURCES]
    found = hashlib.sha256("".join(errata).encode()).hexdigest()[:16]
    assert ISSUED[verdicts.ERRATA] == found, "the errata have changed: give them a new version, with this digest"


def test_files_have_all_of_every_record(tmp_path):
    verdicts.save(tmp_path)
    records = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    assert {record["id"]: record for record in records} == {k: asdict(v) for k, v in claims.load().items()}
    frame = pd.read_csv(tmp_path / "ledger.csv", dtype=str, keep_default_na=False)
    assert frame["id"].tolist() == [record["id"] for record in records]
    assert [json.loads(cell) for cell in frame["values"]] == [record["values"] for record in records]
    assert frame["truth"].tolist() == [record["truth"] for record in records]


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        (
            "It uses only the boxes, as is shown in Fig. 3 of it. The rest.",
            "It uses only the boxes, as is shown in Fig. 3 of it.",
        ),
        ("Short. Then more.", "Short. Then more."),
        ("Short. Then more. And more.", "Short. Then more."),
        ("One", "One"),
    ],
)
def test_opening(text, opening):
    assert verdicts.opening(text) == opening
