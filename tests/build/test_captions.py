"""The numbers in a caption are those of the code that drew the figure.

For each figure the statements that its cell depends on are looked up, backwards through the page; a number in the
caption, in digits or in words, must stand in one of them, or in the function of `lib` that they call.
"""

import ast
import re
from functools import cache

import jupytext
import pytest

from tools import chapters

ROOT = chapters.ROOT
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]
COUNTS = {word: value for value, word in enumerate(WORDS, 1)} | {"once": 1, "twice": 2, "twenty": 20}
ARTICLES = ("one",)  # more often a pronoun than a number
# Papers and their figures, intervals, and the formula of a standard error.
NAMES = re.compile(r"(?<![\d,.])00[0-4]('s)?|Figs?\. \d+\w?([ ,and-]+\d+\w)*|\[-?\d+, \d+\]|1/\(2√[\d,]+\)|\(\w\)")
DIGITS = r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?:e-?\d+)?)(?!\w)"
NUMBER = re.compile(rf"{DIGITS}|[A-Za-z]+")
SEEDS = re.compile(rf"\bseeds? ({DIGITS})(?:(?: and | to )({DIGITS}))?")
PER_CENT = re.compile(r"(-\d+)? %|th (to|percentile)|/\d")
BAND = {20.0, 80.0}  # what `plot.bands` draws unless told otherwise
GROWS = ("append", "extend", "update", "add")

UNIT = {1.0: "not written down in a formula", 2.0: "of 1/2"}
PREDICTORS = {13.0: "predictors of the census"}
BUDGETS = {6.0: "budgets of 001, in benchmarks.EPSILONS"}
SWEEP = {0.0: "the seed of a sweep unless told otherwise"}
# Numbers that no line of code has, and where they come from.
ELSEWHERE = {
    "fig-privacy-loss": {0.0016: "1 / (2 √100,000), rounded up"},
    "fig-regression-shrinkage": UNIT,
    "fig-irls-level": UNIT,
    "fig-accounting-gauss": {3.0: "accountants, keys of a dict", 10.0: "for rho = 1/200 = (1/10)^2 / 2"},
    "fig-census-robust": PREDICTORS | {4.0: "a bound, which the next cell asserts"},
    "fig-linear-parabola": {3.0: "records of 001's example"},
    "fig-logistic-census": {2000.0: "the seed of the US records unless told otherwise"},
    "fig-authors-path": PREDICTORS,
    "fig-penalised-paths": {11.0: "a seed, in the dict of uses"},
    "fig-inversion-accuracy": {19.0: "the last of twenty seeds"},
    "fig-audit-power": {9.0: "of ten: a chance of 0.9", 10.0: "nine of ten"},
    "fig-best-wine": {11.0: "predictors of the wines"} | SWEEP,
    "fig-best-census": SWEEP,
    "fig-best-flat": SWEEP,
    "fig-best-few": SWEEP,
    "fig-speed-records": PREDICTORS | BUDGETS,
    "fig-speed-settings": PREDICTORS,
    "fig-speed-predictors": BUDGETS,
}


ELSEWHERE_BEFORE = {name: set(reasons) for name, reasons in ELSEWHERE.items()}


def numbers(caption):
    """Yield the numbers of a caption, and whether each is a percentage; papers' figures are left out."""
    text = NAMES.sub(" ", caption)
    for match in NUMBER.finditer(text):
        word = match[0].lower()
        if word[0].isdigit():
            yield (
                float(word.replace(",", "")),
                bool(PER_CENT.match(text, match.end())) or text[match.start() - 1] == "/",
            )
        elif word in COUNTS and word not in ARTICLES:
            yield float(COUNTS[word]), False


def seeds(caption):
    return {float(number.replace(",", "")) for match in SEEDS.finditer(caption) for number in match.groups() if number}


def root(node):
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def binds(statement):
    """Names that a statement gives a value, or changes."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield root(node)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWS:
            yield root(node.func)


def uses(statement):
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def forgets(statement):
    """Names whose earlier values do not matter after a statement."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)} - uses(statement)


def needed(earlier, drawing):
    """The statements that a figure depends on."""
    names, kept = set().union(*map(uses, drawing)), list(drawing)
    for statement in reversed(earlier):
        if names & set(binds(statement)):
            kept.append(statement)
            names = (names - forgets(statement)) | uses(statement)
    return kept


def values(node):
    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return {float(value) for value in constants if isinstance(value, int | float) and not isinstance(value, bool)}


def seeding(statement):
    """The whole numbers that may be a seed: given to a call as they are, defaults, ends of a range, named a seed."""
    for node in ast.walk(statement):
        given = []
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if ast.unparse(node.func) == "range":
                yield from {0.0} | {value - 1 for value in values(node)}
        elif isinstance(node, ast.Dict):
            given = [
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if key and "random_state" in ast.dump(key)
            ]
        elif isinstance(node, ast.arguments):
            given = [*node.defaults, *node.kw_defaults]
        elif isinstance(node, ast.Assign) and "seed" in ast.unparse(node.targets).lower():
            given = [node.value, *getattr(node.value, "elts", [])]
        yield from (float(part.value) for part in given if isinstance(part, ast.Constant) and type(part.value) is int)


@cache
def module(name):
    path = ROOT / (name.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []


def called(statements, imported):
    """The definitions in `lib` that statements name, and the constants beside them."""
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and root(node) in imported:
            parts = module(imported[root(node)])
            found = [part for part in parts if getattr(part, "name", None) == node.attr]
            named = set().union(*map(uses, found))
            yield from found
            yield from (part for part in parts if isinstance(part, ast.Assign) and named & set(binds(part)))


@cache
def figures(page):
    """Name, caption and statements of each figure of a chapter."""
    return list(_figures(page))


def _figures(page):
    earlier, imported = [], {}
    for cell in chapters.code_cells(jupytext.read(page, fmt="md:myst")):
        code = ast.parse(
            "\n".join("" if line.startswith(("%", "!")) else line for line in cell.source.split("\n"))
        ).body
        for statement in code:
            if isinstance(statement, ast.ImportFrom) and statement.module.startswith(
                ("lib.papers", "lib.data", "dpreg.audit")
            ):
                imported |= {
                    alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names
                }
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            statements = needed(earlier, code)
            yield figure["name"], figure["caption"], [*statements, *called(statements, imported)]
        earlier += code


def missing(name, caption, statements):
    """The numbers and seeds of a caption that the code does not have."""
    found = set().union(*map(values, statements))
    found |= {round(1 / x, 9) for x in found if 0 < x < 0.001}  # one in so many
    shares = BAND | {round(100 * share, 9) for x in found for share in (x, 1 - x)}
    lost = {x for x, per_cent in numbers(caption) if x not in (shares if per_cent else found)}
    lost |= seeds(caption) - {seed for statement in statements for seed in seeding(statement)}
    return lost - set(ELSEWHERE.get(name, ()))


PAGES = chapters.chapters()


def every_figure():
    return [figure for page in PAGES for figure in figures(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_caption_says_what_the_code_does(page):
    lost = {name: missing(name, caption, statements) for name, caption, statements in figures(page)}
    assert {name: numbers for name, numbers in lost.items() if numbers} == {}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_no_reason_is_left_over(name, monkeypatch):
    """What the code has needs no reason."""
    (figure,) = [figure for figure in every_figure() if figure[0] == name]
    monkeypatch.setitem(ELSEWHERE, name, {})
    assert missing(*figure) == set(ELSEWHERE_BEFORE[name])


EDITS = {  # what nobody would see: another seed, other repeats, another budget
    "seed": ("fig-fang-6", "seed 2", "seed 7"),
    "splits": ("fig-fang-8", "40 splits", "50 splits"),
    "in words": ("fig-irls-error", "Five iterations", "Nine iterations"),
    "records": ("fig-zhang-time-8", "370,000", "380,000"),
    "budget": ("fig-zhang-4-linear", "epsilon 0.8", "epsilon 0.9"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_caption_is_noticed(edit):
    name, old, new = EDITS[edit]
    (found,) = [figure for figure in every_figure() if figure[0] == name]
    assert old in found[1]
    assert missing(name, found[1].replace(old, new), found[2])


@pytest.mark.thorough
def test_most_edits_of_a_number_are_noticed():
    """One number of one caption at a time, moved by one in its last place or doubled; the code has some of these."""
    noticed = []
    for name, caption, statements in every_figure():
        for match in re.finditer(DIGITS, caption):
            number = match[0].replace(",", "")
            step = 10.0 ** -len(number.partition(".")[2]) if "e" not in number else float(number)
            for value in (float(number) + step, 2 * float(number)):
                text = f"{caption[: match.start()]}{value:,.12g}{caption[match.end() :]}"
                if not NAMES.search(caption, max(0, match.start() - 6), match.end() + 6):
                    noticed.append(bool(missing(name, text, statements)))
    assert sum(noticed) > 0.6 * len(noticed), f"{sum(noticed)} of {len(noticed)}"
