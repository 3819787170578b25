"""The numbers in a record's own sentence, `truth`, are those of its values and settings, or have a reason.

Those in `claim` are the paper's. Papers' items, intervals and formulas are left out; a fraction is a number, and a
ratio of two values, or one over a value, may stand for them.
"""

import itertools
import re

import pytest

from lib.pages import claims

ITEMS = r"Sections?|Eqs?\.|Figs?\.|Figures?|Lemma|Theorem|Algorithm|Definition|Tables?|[Ss]lides?|footnote|[Ll]ines?"
ITEMS += r"|Equations?"
NAMES = re.compile(
    r"(?<![\d,.])00[0-4]\b|\b(?:RR|FM|SL|IR|BA)-[A-Z0-9-]+|\[\d+-\d+\]|[\[(][−-]?\d+, [−-]?\d+[\])]"
    rf"|(?:{ITEMS}) (?:\d+(?:\.\d+)*[a-d]?(?:, | and | to )?)+|log \d+|[≥≤] \d+"
)
FRACTION = re.compile(r"(?<![\w/)^.])(\d+)/(\d+)(?![\w(/])")
SIGNS = r"[A-Za-zΑ-ωΔΣ√²³⁻|)(^]"
FORMULA = re.compile(rf"[^\s,;]*(?:{SIGNS}[^\s,;]*\d|\d[^\s,;]*{SIGNS})[^\s,;]*")
DIGITS = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?:e-?\d+)?)(?!\w)")
COUNTS = {0.0, 1.0}

# Numbers that neither values nor settings have, and where they come from.
ELSEWHERE = {
    "FM-015": {0.625: "the series of the loss at 1, which the derivation sums"},
    "FM-GAP": {0.0049: "the sharp value of FM-015, rounded"},
    "FM-INDEP": {0.015: "001's own number"},
    "BA-MI-BETTER": {75.0: "a bound from below, which the chapter proves"},
    "SL-ATTR": {9.0: "000's own count"},
    "BA-LOG": {4.0: "the inverse of 1/4, a factor of a formula"},
    "FM-EQ10": {0.125: "a coefficient of the expansion", 0.5: "another"},
    "BA-FIG34-BEST": {5.0: "per cent, a bound of the values"},
    "BA-FIG89-BASE": {20.0: "004's own share of the training set"},
    "IR-FIG1": {20.0: "a number of iterations, named in the values"},
    "IR-FIG1-GAU": {11.7: "log(1.25/δ), which its test computes"},
    "FM-FIG2": {27.0: "one over the second value, rounded"},
}


def numbers(text):
    """The numbers of a text, each with its last place: 1.29 is good for all that rounds to it."""
    text = NAMES.sub(" ", text)
    for top, bottom in FRACTION.findall(text):
        yield int(top) / int(bottom), 1e-6
    for match in DIGITS.findall(FORMULA.sub(" ", FRACTION.sub(" ", text))):
        number = match.replace(",", "")
        yield float(number), 0.5001 * 10.0 ** -len(number.partition(".")[2]) if "." in number else 1e-9


def flat(value):
    if isinstance(value, bool):
        return []
    if isinstance(value, int | float):
        return [abs(float(value))]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if parts is not None:
        return [number for part in parts for number in flat(part)]
    return [float(number.replace(",", "")) for number in DIGITS.findall(str(value))]


def sources(record):
    values = flat(record.values)
    ratios = [a / b for a, b in itertools.permutations([*values, 1.0], 2) if b]
    printed = [number for number, _ in numbers(record.claim)]
    return [*values, *ratios, *flat(record.settings), *printed]


def missing(record, truth=None):
    found = sources(record)
    wanted = numbers(record.truth if truth is None else truth)
    return {x for x, near in wanted if x not in COUNTS and not any(abs(x - y) <= near for y in found)}


@pytest.mark.parametrize("record", claims.load().values(), ids=claims.load().keys())
def test_numbers_of_a_truth_have_a_source(record):
    assert missing(record) == set(ELSEWHERE.get(record.id, ())), record.truth


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("FM-DATA-CAP", "720,000", "730,000"),
        ("IR-LESS-NOISE", "1.29", "1.39"),
        ("RR-DEF2", "9/4", "7/4"),
        ("BA-ELSE", "1/37", "1/36"),
        ("FM-CONVERGE", "p = 0.9", "p = 0.8"),
    ],
)
def test_an_edited_number_is_noticed(name, old, new):
    record = claims.load()[name]
    assert old in record.truth
    assert missing(record, record.truth.replace(old, new)) - set(ELSEWHERE.get(name, ()))
