"""The claims ledger: a number that is not in it, or not the same, stops the build."""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest

from dpreg.checks import InputError
from lib.pages import claims
from lib.pages.claims import Claim, LedgerError, Table, load

ROOT = Path(__file__).resolve().parents[2]

RECORD = {
    "id": "FM-X1",
    "source": "001",
    "place": "Section 1",
    "kind": "constant",
    "claim": "It is 8.",
    "verdict": "holds, but loose",
    "truth": "It is 4.",
    "test": "test_x.py::test_y",
    "values": {"printed": 8, "tight": 4.5, "works": True, "name": "box"},
    "tolerances": {"tight": 0.25},
}
FOUND = {"printed": 8.0, "tight": 4.5, "works": True, "name": "box"}


def claim(**changes):
    return Claim(**({"chapter": "part/page"} | RECORD | changes))


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write records to a folder of claims, and make it the ledger."""

    def into(text, name="part/page.yml"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        claims.load.cache_clear()
        return tmp_path

    original = claims.load
    monkeypatch.setattr(claims, "load", lambda path=tmp_path: original(path))
    claims.load.cache_clear = original.cache_clear
    yield into
    original.cache_clear()


YAML = """
- id: FM-X1
  source: "001"
  place: Section 1
  kind: constant
  claim: It is 8.
  verdict: holds, but loose
  truth: It is 4.
  test: test_x.py::test_y
  values: {printed: 8, tight: 4.5, works: true, name: box}
  tolerances: {tight: 0.25}
"""


def test_the_right_numbers_are_printed(write, capsys):
    write(YAML)
    claims.check("FM-X1", **FOUND)
    expected = "FM-X1 (holds, but loose): printed = 8, tight = 4.5, works = yes, name = box\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tight": 4.76}, "tight is 4.76, the ledger says 4.5"),
        ({"tight": math.nan}, "tight is nan"),
        ({"tight": math.inf}, "tight is inf"),
        ({"tight": "4.5"}, "tight is 4.5, the ledger says 4.5"),  # text is no number
        ({"works": False}, "works is no, the ledger says yes"),
        ({"works": np.bool_(False)}, "works is no"),
        ({"name": "ball"}, "name is ball, the ledger says box"),
        ({"other": 1.0}, "other is not in the ledger"),
    ],
)
def test_a_wrong_number_stops_the_chapter(write, capsys, changes, message):
    write(YAML)
    with pytest.raises(LedgerError, match=f"^FM-X1: {message}"):
        claims.check("FM-X1", **(FOUND | changes))
    assert capsys.readouterr().out == ""


def test_a_missing_number_stops_the_chapter(write):
    write(YAML)
    with pytest.raises(LedgerError, match="name is missing; tight is missing"):
        claims.check("FM-X1", printed=8, works=True)
    with pytest.raises(LedgerError, match=r"^FM-X1: name is missing; printed is 9"):
        claims.check("FM-X1", printed=9, tight=4.5, works=True)


def test_an_unknown_claim_is_refused(write):
    write(YAML)
    with pytest.raises(InputError, match="no claim 'FM-X2': add it"):
        claims.check("FM-X2", printed=8)


@pytest.mark.parametrize(
    ("expected", "tolerance", "found", "same"),
    [
        (4.0, 0.0, 4.0, True),
        (4.0, 0.0, 4.0 + 1e-13, True),  # rounding
        (4.0, 0.0, 4.0 + 1e-11, False),
        (4.0, 0.5, 4.5, True),
        (4.0, 0.5, 3.5, True),
        (4.0, 0.5, 4.5 + 1e-9, False),
        (4, 0.0, np.int64(4), True),
        (math.inf, 0.0, math.inf, True),
        (math.inf, 0.0, -math.inf, False),
        (math.inf, 0.0, 1e300, False),
        (0.0, 0.0, math.nan, False),
        (True, 0.0, np.bool_(True), True),
        (True, 0.5, False, False),
        ("a", 0.0, "a", True),
        ("a", 0.0, "b", False),
    ],
)
def test_tolerance_is_absolute_and_for_numbers_only(expected, tolerance, found, same):
    allowed = {"x": tolerance} if type(expected) in (int, float) else {}
    assert (claim(values={"x": expected}, tolerances=allowed).differences({"x": found}) == []) is same


def test_records_are_read_by_chapter(write):
    root = write(YAML)
    write(YAML.replace("FM-X1", "RR-Y1").replace('"001"', '"000"'), "other/deep/page.yml")
    write("", "other/empty.yml")
    found = claims.load(root)
    assert {claim.id: claim.chapter for claim in found.values()} == {"FM-X1": "part/page", "RR-Y1": "other/deep/page"}
    assert found["FM-X1"] == claim()
    assert found["FM-X1"].tag == "claim-fm-x1"
    assert repr(claims.box("other/deep/page")) == "RR-Y1 [000: Section 1] It is 8. -> holds, but loose: It is 4."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"001"', "001", r"source is of type int: give str"),  # YAML reads a bare 001 as a number
        ('"001"', '"007"', "source is '007'"),
        ("kind: constant", "kind: guess", "kind is 'guess': choose one of 'definition'"),
        ("holds, but loose", "true", "verdict is True|verdict is 'true'"),
        ("{printed: 8, tight: 4.5, works: true, name: box}", "{}", "has no values"),
        ("  place: Section 1\n", "", "place"),
        ("place:", "plaec:", "plaec"),
        ("  tolerances: {tight: 0.25}", "  chapter: other/page", "chapter"),
        ("{tight: 0.25}", "{loose: 0.25}", "tolerances has 'loose', none of its numbers: give .'printed', 'tight'"),
        ("{tight: 0.25}", "{works: 0.25}", "tolerances has 'works', none of its"),
        ("  tolerances:", "  wrong: {works: 1}\n  tolerances:", "wrong has 'works', none of its numbers"),
        ("place: Section 1", "place: Sections 1 and 2", "place is 'Sections 1 and 2', give 'Section 7.2"),
        ("place: Section 1", "place: Section 1, Figure 2", "give 'Section 7.2, Fig. 5"),
        ("- id", "- id: FM-X1\n- id", "FM-X1"),
    ],
)
def test_a_wrong_record_is_refused(write, old, new, message):
    assert old in YAML
    root = write(YAML.replace(old, new))
    with pytest.raises(InputError, match=message):
        claims.load(root)


def test_a_record_without_its_dash_is_refused(write):
    root = write("id: FM-X1\nsource: '001'\n")
    with pytest.raises(InputError, match=r"page\.yml"):
        claims.load(root)


def test_an_id_stands_once(write):
    write(YAML)
    root = write(YAML.replace("Section 1", "Section 2"), "part/other.yml")
    with pytest.raises(InputError, match="FM-X1 stands twice"):
        claims.load(root)


def test_a_place_is_judged_once(write):
    write(YAML)
    root = write(YAML.replace("FM-X1", "FM-X2"), "part/other.yml")
    with pytest.raises(InputError, match="claims FM-X2 and FM-X1 have one place: judge a sentence once"):
        claims.load(root)
    write(YAML.replace("FM-X1", "FM-X2").replace('"001"', '"001 program"'), "part/other.yml")
    assert len(claims.load(root)) == 2  # another source


def test_a_chapter_without_claims_is_refused(write):
    write(YAML)
    with pytest.raises(InputError, match="'part/pgae'"):
        claims.box("part/pgae")


def test_what_a_verdict_hinges_on_is_shown():
    page = Table([claim(hinges="The data, which are <not> ours.")])._repr_html_()
    assert '<p class="hinges">The data, which are &lt;not&gt; ours.</p>' in page
    assert "hinges" not in Table([claim()])._repr_html_()


def test_html_is_escaped():
    nasty = "<script>x</script> & a < b"
    page = Table([claim(claim=nasty, truth=nasty, place="Section 1, on " + nasty, id="<b>")], link=True)._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert page.count("&lt;script&gt;") == 3
    assert "&amp; a &lt; b" in page
    assert page.count("<tr") == page.count("</tr>") == 2
    assert page.count("<td>") == page.count("<th>") == 4


def test_rows_link_to_the_evidence_and_verdicts_carry_their_class():
    assert '<a href="../part/page.html#claim-fm-x1">FM-X1</a>' in Table([claim()], link=True)._repr_html_()
    assert '<a href="#claim-fm-x1">FM-X1</a>' in Table([claim()])._repr_html_()
    assert "test_x.py::test_y" in Table([claim()])._repr_html_()
    assert '<span class="verdict holds-but-loose">holds, but loose</span>' in Table([claim()])._repr_html_()


@pytest.mark.parametrize(("text", "message"), [("- id: a: b", "page.yml is not YAML: quote"), ("id: x", "not a list")])
def test_a_file_that_is_not_a_list_of_claims_names_itself(write, text, message):
    with pytest.raises(InputError, match=message):
        claims.load(write(text))


@pytest.mark.thorough
def test_the_books_own_ledger_is_well_formed():
    known = claims.load()
    assert known
    for name, record in known.items():
        assert name == record.id
        assert all(tolerance >= 0 for tolerance in record.tolerances.values())
        assert record.claim.strip()
        assert record.truth.strip()
        assert record.differences(record.values) == []


ROUNDING = 1e-6
HALF = {
    ("BA-MI-FIT", "large"): "of twenty populations; sign and twice are excluded",
    ("BA-MI-FIT-LOG", "tenth"): "of twenty populations; sign and twice are excluded",
    ("FM-FIG5-LOGIT", "fp_centred_br_14"): "of fifty fits that scatter most; sign and twice are excluded",
}  # numbers that cannot be told from half of them
every_record = pytest.mark.parametrize("record", claims.load().values(), ids=claims.load().keys())


@every_record
def test_a_wrong_value_misses(record):
    """The sign turned, twice and half of a number, and the `wrong` one it names; one that says "none" must name it."""
    assert record.tolerances.keys() <= record.values.keys()
    for name, value in record.values.items():
        if isinstance(value, bool | str):
            continue
        tolerance = record.tolerances.get(name, 0.0)
        none = abs(value) <= tolerance
        assert not none or tolerance <= ROUNDING or name in record.wrong, f"{name}: say what a wrong method would give"
        wrong = [] if none else [-value, 2 * value] if (record.id, name) in HALF else [-value, 2 * value, value / 2]
        for other in [*wrong, *(record.wrong[name] for _ in "x" if name in record.wrong)]:
            found = record.values | {name: other}
            assert record.differences(found), f"{name} = {other} would pass as {value} within {tolerance}"


@every_record
def test_a_verdict_that_hinges_says_on_what(record):
    assert record.hinges or record.verdict not in claims.HINGES


def test_on_the_users_own_extract_other_numbers_are_printed_and_the_chapter_goes_on(write, monkeypatch, capsys):
    write(YAML)
    monkeypatch.setenv("CENSUS_EXTRACTS", "data/user")
    claims.check("FM-X1", **(FOUND | {"tight": 9.0}))
    assert capsys.readouterr().out == "FM-X1, on other data than the ledger's: tight is 9, the ledger says 4.5\n"
    claims.check("FM-X1", **FOUND)
    assert capsys.readouterr().out.startswith("FM-X1 (holds, but loose): printed = 8")


FIGURES = (
    YAML
    + """
  figure: Fig. 10
  outcome: in shape
"""
    + "".join(
        YAML.replace("FM-X1", f"FM-X{k}").replace("Section 1", f"Section {k}")
        + f"  figure: Fig. {k}\n  outcome: {outcome}\n"
        for k, outcome in ((2, "not reproduced"), (3, "reproduced"))
    )
    + YAML.replace("FM-X1", "FM-X4").replace("Section 1", "Section 4")
    + "  figure: Fig. 2\n  outcome: not reproduced\n"
    + YAML.replace("FM-X1", "FM-X5").replace("Section 1", "Section 5")
)


def test_outcomes_of_a_chapter_by_figure(write):
    write(FIGURES)
    assert claims.outcomes("part/page").to_dict("list") == {
        "figure": ["Fig. 2", "Fig. 3", "Fig. 10"],
        "reproduced": ["-", "FM-X3", "-"],
        "in shape": ["-", "-", "FM-X1"],
        "not reproduced": ["FM-X2, FM-X4", "-", "-"],
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"figure": "Fig. 2"}, "outcome is None, choose one of reproduced, in shape, not reproduced"),
        ({"figure": "Fig. 2", "outcome": "nearly"}, "outcome is 'nearly': choose one of 'reproduced'"),
        ({"outcome": "in shape"}, "outcome is 'in shape', choose one of None"),
    ],
)
def test_a_figure_and_its_outcome_come_together(changes, message):
    with pytest.raises(InputError, match=message):
        claim(**changes)


@pytest.mark.thorough
def test_every_experiment_says_what_became_of_its_figures():
    for record in claims.load().values():
        if record.chapter.startswith("experiments/"):
            assert record.figure or not re.search(r"Figs?\.|Table", record.place), record.id


def broken_guarantees():
    """Where as_published=True is asked for: the function, and the id of the claim it warns with."""
    for file in sorted([*(ROOT / "dpreg").rglob("*.py"), *(ROOT / "lib").rglob("*.py")]):
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "checks.broken":
                    yield file.stem, function, ast.literal_eval(call.args[1])


@pytest.mark.parametrize(("module", "function", "claim"), [*broken_guarantees()])
def test_library_docstring_chapter_and_ledger_agree_on_a_broken_guarantee(module, function, claim):
    record = load()[claim]
    assert record.verdict in {"false", "holds with a change"}
    doc = " ".join((ast.get_docstring(function) or "").split())
    assert "as_published" in doc, f"{module}.{function.name} does not say that it needs the opt-in"
    assert claim in doc, f"{module}.{function.name} does not name {claim}"
    chapter = (ROOT / "book" / f"{record.chapter}.md").read_text(encoding="utf-8")
    assert "as_published" in chapter
