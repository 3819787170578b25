"""The pages, the claims and the stored outputs, read without running anything."""

import ast
import importlib
import importlib.util
import os
import re
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
import yaml

from lib.pages import claims, report

ROOT = Path(__file__).resolve().parents[2]
BOOK, REFERENCE, TESTS = ROOT / "book", ROOT / "tests" / "reference", ROOT / "tests"

HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""
SHORTEST_ALT = 20
MEASURED_HERE = "on the computer that made this page"  # in the caption of a figure tagged "timing"
PICTURE = re.compile(r"<Figure size \S+ with \d+ Axes>")  # what stands beside a picture, and is not shown

# Numbers that prose may state, because they are not results: they name a thing, or a choice the reader can see.
NAMES = (
    r"(?:Python|MathJax|CC BY|version) \d+(?:\.\d+)*",
    r"(?:Sections?|Sect\.|§+|Chapters?|Figures?|Figs?\.|Tables?|Theorems?|Lemmas?|Equations?|Eqs?\.|Algorithms?"
    r"|Definitions?|Corollary|Appendix)[ ~\u00a0]*\(?[A-Z]?\d+(?:\.\d+)*[a-z]?\)?"
    r"(?:(?:[,;–-]| and| to| or)[ ~\u00a0]*\(?\d+(?:\.\d+)+\)?)*",
    r"\b(?:19|20)\d\d\b",
)
# Other numbers in prose: page, number, and why it may stand there.
ALLOWED = {
    (
        "foundations/privacy",
        "0.0016",
    ): "1/(2√100,000) rounded up: no share of that many draws has a larger standard error",
}


def part(path):
    return path.relative_to(BOOK).with_suffix("").as_posix()


def toc():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    entries = [{"file": contents["root"]}]
    for group in contents.get("parts", [contents]):
        entries += group.get("chapters", [])
    return [entry["file"].removeprefix("book/") for entry in entries]


@cache
def text(page):
    return (BOOK / f"{page}.md").read_text(encoding="utf-8")


@cache
def cells(page):
    """The code cells of a page."""
    return [cell for cell in jupytext.reads(text(page), fmt="md:myst").cells if cell.cell_type == "code"]


@cache
def outputs(page):
    """What each cell printed, as stored."""
    path = REFERENCE / f"{page}.ipynb"
    return [cell.outputs for cell in nbformat.read(path, as_version=4).cells] if path.exists() else []


def printed(cell_outputs):
    """All text of the outputs of one cell."""
    streams = [output.text for output in cell_outputs if output.output_type == "stream"]
    data = [value for output in cell_outputs for value in output.get("data", {}).values() if isinstance(value, str)]
    return "\n".join(streams + [value for value in data if not PICTURE.fullmatch(value)])


@cache
def parsed(source):
    return ast.parse(source)


@cache
def every_call(source):
    """Each call in the source, and the name of what it calls."""
    return [(ast.unparse(node.func), node) for node in ast.walk(parsed(source)) if isinstance(node, ast.Call)]


def calls(source, name):
    """Calls of `name`, such as plot.numbers, in the source."""
    return [node for found, node in every_call(source) if found == name]


@cache
def functions(path):
    """Names of the functions of a module."""
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


PAGES = sorted(part(path) for path in BOOK.rglob("*.md"))
CHAPTERS = [page for page in PAGES if "{code-cell}" in text(page)]
CLAIMS = claims.load()

every_page = pytest.mark.parametrize("page", PAGES)
every_chapter = pytest.mark.parametrize("page", CHAPTERS)
every_claim = pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())


# Pages


def test_table_of_contents_lists_every_page_once():
    assert not set(PAGES) - set(toc()), "list these in _toc.yml"
    assert sorted(toc()) == PAGES


def test_references_belong_to_chapters():
    assert sorted(path.relative_to(REFERENCE).with_suffix("").as_posix() for path in REFERENCE.rglob("*.*")) == CHAPTERS


@every_chapter
def test_header(page):
    assert text(page).startswith(HEADER), "copy the header of an existing chapter, without changes"


@every_page
def test_no_placeholders(page):
    found = re.findall(r"\b(?:TODO|FIXME|XXX|TBD|TBC|lorem ipsum|coming soon)\b|\?\?\?", text(page))
    assert not found


@every_page
def test_page_says_something(page):
    assert len(text(page).removeprefix(HEADER).split()) > 3, "the page is empty"


@every_page
def test_labels_are_unique_in_the_book(page):
    pattern = r"^\(([\w-]+)\)=|^:label: *([\w-]+)|\$\$ *\(([\w-]+)\)|^ *name: *([\w-]+)$"
    labels = {p: {"".join(m) for m in re.findall(pattern, text(p), re.MULTILINE)} for p in PAGES}
    shared = {label for other in PAGES if other != page for label in labels[page] & labels[other]}
    assert not shared - {"python3"}


@every_page
def test_displayed_equations_stand_alone(page):
    run_on = re.findall(r"^.*\S.*\n\$\$ .*\$\$ *\((eq-[\w-]+)\)", text(page), re.MULTILINE)
    assert not run_on, "without a blank line before it, an equation loses its label"


# Cells


@pytest.mark.thorough
@every_chapter
def test_cells_define_nothing(page):
    for number, cell in enumerate(cells(page)):
        defined = [n for n in ast.walk(parsed(cell.source)) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        assert not defined, f"cell {number} defines {defined[0].name}: move it to lib, with a test"


@every_chapter
def test_what_cells_import_is_there(page):
    """Found in a moment, and not by the chapter when it runs."""
    for cell in cells(page):
        for node in ast.walk(parsed(cell.source)):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] in ("dpreg", "lib"):
                module = importlib.import_module(node.module)
                for name in [alias.name for alias in node.names]:
                    place = f"{node.module}.{name}"
                    assert hasattr(module, name) or importlib.util.find_spec(place), f"there is no {place}"


@every_chapter
def test_figures(page):
    names = []
    for number, cell in enumerate(cells(page)):
        header = cell.metadata.get("mystnb", {})
        if not header.get("figure"):
            drawn = calls(cell.source, "plot.figure") + calls(cell.source, "play.Picture")
            assert not drawn, f"cell {number} draws, but its header has no caption"
            continue
        caption, name = header["figure"].get("caption", ""), header["figure"].get("name", "")
        alt = header.get("image", {}).get("alt", "")
        assert caption.strip(), f"cell {number}: the figure has no caption"
        assert name.startswith("fig-"), f"cell {number}: the figure has no name of the form fig-..."
        assert len(alt) >= SHORTEST_ALT, f"cell {number}: the alt text {alt!r} does not say what one sees"
        room = "play" if calls(cell.source, "play.Picture") else "plot"
        drawn = room == "play" or calls(cell.source, "plot.figure")
        assert drawn, f"cell {number}: figures are made with plot.figure() or play.Picture()"
        table = cells(page)[number + 1].source if number + 1 < len(cells(page)) else ""
        if "timing" in cell.metadata.get("tags", []):  # another run measures other times, so they are drawn only
            assert MEASURED_HERE in caption, f"cell {number}: the caption does not say {MEASURED_HERE!r}"
            assert not calls(table, "plot.numbers"), f"cell {number}: a time cannot be compared, so do not print it"
        else:
            assert calls(table, f"{room}.numbers"), f"cell {number}: next comes a table of {room}.numbers(...)"
        names.append(name)
    assert len(names) == len(set(names)), "two figures have the same name"


STOPWATCHES = {"process_time", "perf_counter", "monotonic", "fit_times"}
FILLS = {"append", "extend", "update", "add"}  # methods that put a value into what they belong to


def loaded(node):
    """Return the names that a piece of code reads, and its stopwatches; those of a comprehension are its own."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    inner = (part.target for part in ast.walk(node) if isinstance(part, ast.comprehension))
    found -= {one.id for target in inner for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found | STOPWATCHES & {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def stored(node):
    """Return the names that a piece of code gives a value; those of a comprehension live in it alone."""
    within = {
        id(one) for part in ast.walk(node) if isinstance(part, ast.comprehension) for one in ast.walk(part.target)
    }
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return {one.id for one in names if id(one) not in within}


def given(node):
    """Return the names that a piece of code gives a value, whole or in part."""
    found = stored(node)
    parts = [one for one in ast.walk(node) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    parts += [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr in FILLS]
    for part in parts:
        while isinstance(part, ast.Subscript | ast.Attribute):
            part = part.value
        found |= {part.id} if isinstance(part, ast.Name) else set()
    return found


def steps(statements):
    """Return statements one by one, in the order in which they run: of a loop its head, then its body."""
    for statement in statements:
        if isinstance(statement, ast.For):
            yield ast.Assign([statement.target], statement.iter, lineno=statement.lineno)
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With):
            yield from steps([*statement.body, *getattr(statement, "orelse", [])])
        else:
            yield statement


def judged_by_the_clock(page_cells):
    """Return the printed lines of a page that depend on a stopwatch, but for what is drawn in cells tagged timing."""
    tainted, found = set(STOPWATCHES), []
    for cell in page_cells:
        drawn, statements = "timing" in cell.metadata.get("tags", []), ast.parse(cell.source).body
        for statement in steps(statements):
            if isinstance(statement, ast.ImportFrom) and statement.module == "timeit":
                tainted |= {one.asname or one.name for one in statement.names}
            elif not loaded(statement) & tainted:
                tainted -= set().union(*map(stored, getattr(statement, "targets", [])))
            else:
                shown = {"print", "claims", "report"} & loaded(statement) or statement is statements[-1]
                if isinstance(statement, ast.Expr) and shown and not drawn:
                    found.append(ast.unparse(statement))
                tainted |= given(statement)
    return found


@every_page
def test_no_printed_line_depends_on_the_clock(page):
    assert not judged_by_the_clock(cells(page))


@pytest.mark.parametrize(
    "source",
    [
        "start = time.process_time()\nprint(time.process_time() - start > 1)",
        "frame = timing.fit_times([fm], X, y, box)\nratio = frame['seconds'][1]\nclaims.check('A', fast=ratio > 1)",
        "from timeit import repeat\nwork = []\nwork.append(min(repeat(run)))\nreport.table(work)",
        "start = [perf_counter()]\nfor one in start:\n    print(one)",
        "from timeit import timeit as watch\nseconds = {}\nseconds['a'] = watch(run)\nseconds",
    ],
)
def test_the_clock_is_noticed(source):
    cell = nbformat.v4.new_code_cell(source)
    assert judged_by_the_clock([cell])
    first, *rest = source.split("\n")
    assert judged_by_the_clock([nbformat.v4.new_code_cell(first), nbformat.v4.new_code_cell("\n".join(rest))])


@every_page
def test_exercises_have_solutions(page):
    exercises = re.findall(r"\{exercise(?:-start)?\}.*\n:label: *([\w-]+)", text(page))
    solutions = re.findall(r"\{solution(?:-start)?\} +([\w-]+)", text(page))
    assert len(exercises) == len(re.findall(r"\{exercise(?:-start)?\}", text(page))), "an exercise has no label"
    assert sorted(exercises) == sorted(solutions), "follow each exercise by one {solution} of its label"


@every_page
def test_exercises_are_graded(page):
    for label, words in re.findall(r"^:::+\{exercise\}[^\n]*\n:label: (\S+)\n\s*([^\n]*)", text(page), re.MULTILINE):
        assert re.match(r"\((Easy|Medium|Hard)\.\) ", words), (
            f"{label} has no grade: begin it with (Easy.), (Medium.) or (Hard.)"
        )


@every_chapter
def test_every_glued_number_is_shown(page):
    glued = {ast.literal_eval(call.args[0]) for cell in cells(page) for call in calls(cell.source, "glue")}
    shown = set(re.findall(r"\{glue:\w*\}`([\w.-]+)(?::[^`]*)?`", text(page)))
    assert glued == shown, "show what is glued, with {glue:text}, and glue what is shown"


# Stored outputs


@every_chapter
def test_outputs_are_stored_and_clean(page):
    stored = outputs(page)
    assert len(stored) == len(cells(page)), "run `make reference`"
    for number, cell_outputs in enumerate(stored):
        kinds = {output.get("name", output.output_type) for output in cell_outputs}
        assert not kinds & {"stderr", "error"}, f"cell {number} stores {kinds}"
        assert not (dirty := unstable(printed(cell_outputs))), f"cell {number} prints {dirty}"


def unstable(output):
    """What another machine, another day or another run would print differently."""
    patterns = (
        r"np\.(?:float|int|bool)\w*\(",
        r"<[\w.]+ object|\bat 0x[0-9a-f]+|<ipykernel|<ipython-input|<Figure",
        r"Traceback",
        r"(?<![\w.<>/\\])/(?:[\w.-]+/)+[\w.-]+",  # an absolute path
        r"\b\d+(?:\.\d+)? ?(?:ms|µs|seconds?|s)\b(?! of)",  # a wall-clock time
        r"\b\d\d:\d\d:\d\d\b",
        r"(?<![\w.])-?\d+\.\d{9,}",  # digits that are not the same everywhere
    )
    return [match.group() for pattern in patterns for match in re.finditer(pattern, output)]


@pytest.mark.parametrize(
    "output",
    [
        "np.float64(0.1)",
        "<lib.x.Y object at 0x7f>",
        "<Figure size 7x4>",
        "Traceback (most",
        "in /usr/lib/x.py",
        "took 1.2 s",
    ],
)
def test_unstable_output_is_recognised(output):
    assert unstable(output)


@pytest.mark.parametrize("output", ["0.5679", "2.06ω² − 2.34ω", "<td>1/2</td>", "train/test", "50 seeds", "1e-05"])
def test_stable_output_passes(output):
    assert not unstable(output)


# Claims


def evidence(tag):
    return [
        (page, number) for page in CHAPTERS for number, c in enumerate(cells(page)) if tag in c.metadata.get("tags", [])
    ]


@every_claim
def test_claim_has_one_cell_in_its_chapter(claim):
    places = evidence(claim.tag)
    assert [page for page, _ in places] == [claim.chapter], f"{claim.id}: cells tagged {claim.tag}: {places}"
    checks = calls(cells(claim.chapter)[places[0][1]].source, "claims.check")
    assert [call.args[0].value for call in checks] == [claim.id], f"{claim.id}: its cell must check it, and it alone"
    names = {keyword.arg for keyword in checks[0].keywords}
    assert None in names or names == set(claim.values), f"{claim.id}: other names than the record's"


@every_claim
def test_claim_prints_the_numbers_of_its_record(claim):
    page, number = evidence(claim.tag)[0]
    assert number < len(outputs(page)), f"{claim.id}: run `make reference`"
    start = f"{claim.id} ({claim.verdict}): "
    lines = [line for line in printed(outputs(page)[number]).splitlines() if line.startswith(start)]
    assert len(lines) == 1, f"{claim.id} prints no line of evidence"
    found = dict(pair.split(" = ") for pair in re.split(r", (?=\w+ = )", lines[0].removeprefix(start)))
    assert found.keys() == claim.values.keys()
    for name, value in claim.values.items():
        if isinstance(value, bool | str):
            assert found[name] == report.number(value), f"{claim.id}: {name}"
        else:
            rounding = 0.5001 * 10.0 ** -decimals(found[name])
            assert abs(float(found[name]) - value) <= claim.tolerances.get(name, 0) + rounding, f"{claim.id}: {name}"


def decimals(number):
    """Decimal places of a printed number; negative for 1.235e+06, whose last digit counts thousands."""
    mantissa, _, exponent = number.partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


@every_claim
def test_claim_has_a_test(claim):
    name, _, function = claim.test.partition("::")
    paths = [*TESTS.rglob(name)]  # a chapter and a module may have one name
    assert paths, f"{claim.id}: there is no {name} in tests"
    holds = [path for path in paths if function.partition("[")[0] in functions(path)]
    assert holds, f"{claim.id}: {name} has no {function}"
    assert len(holds) == 1, f"{claim.id}: {function} stands in several files {name}"


@every_chapter
def test_tags_and_checks_name_claims(page):
    tags = {claim.tag for claim in CLAIMS.values()}
    for cell in cells(page):
        marked = [tag for tag in cell.metadata.get("tags", []) if tag.startswith("claim-")]
        assert set(marked) <= tags, f"no claim stands behind {marked}"
        checked = [call.args[0].value for call in calls(cell.source, "claims.check")]
        assert [f"claim-{claim.lower()}" for claim in checked] == marked, f"{checked} without their tags"


@pytest.mark.parametrize("page", sorted({claim.chapter for claim in CLAIMS.values()}))
def test_chapter_with_claims_shows_its_own(page):
    boxes = [call for cell in cells(page) for call in calls(cell.source, "claims.box")]
    assert [box.args[0].value for box in boxes] == [page]


# Prose


def prose(page):
    """The words of a page: no code, mathematics, glue, targets or options, but the captions of figures."""
    captions = [
        cell.metadata["mystnb"]["figure"]["caption"]
        for cell in cells(page)
        if "figure" in cell.metadata.get("mystnb", {})
    ]
    body = text(page).removeprefix(HEADER)
    for pattern in (
        r"(?ms)^ *(`{3,})\{code-cell\}.*?^ *\1 *$",
        r"(?ms)^ *(`{3,})(?:\{code-block\}|\w|$).*?^ *\1 *$",
        r"(?ms)^ *%.*?$|<!--.*?-->",
        r"(?m)^ *:[\w-]+:.*$",
    ):
        body = re.sub(pattern, " ", body)
    body = "\n".join([body, *captions])
    for pattern in (
        r"(?s)\$\$.*?\$\$(?: *\([\w-]+\))?",
        r"(?s)\$.*?\$",
        r"\{[\w:]+\}`[^`]*`",
        r"`[^`]*`",
        r"(?<=\])\([^)]*\)",
        r"https?://\S+",
    ):
        body = re.sub(pattern, " ", body)
    return body


def typed_numbers(words):
    """Numbers with decimals, or of four digits and more, that prose states by hand."""
    for pattern in NAMES:
        words = re.sub(pattern, " ", words)
    return re.findall(r"(?<![\w.,/-])\d+(?:,\d{3})+(?:\.\d+)?|(?<![\w.,/-])\d+\.\d+|(?<![\w.,/-])\d{4,}", words)


@cache
def literals(page):
    """The numbers in the code of a page, cells and inline: choices that the reader can see, such as repeats."""
    nodes = [node for cell in cells(page) for node in ast.walk(parsed(cell.source)) if isinstance(node, ast.Constant)]
    inline = [number for code in re.findall(r"`([^`\n]*)`", text(page)) for number in re.findall(r"\d+\.?\d*", code)]
    return {float(node.value) for node in nodes if isinstance(node.value, int | float)} | set(map(float, inline))


@every_page
def test_no_number_is_typed_into_prose(page):
    typed = [number for number in typed_numbers(prose(page)) if float(number.replace(",", "")) not in literals(page)]
    assert not [number for number in typed if (page, number) not in ALLOWED], "print it in a cell and use glue"


@pytest.mark.parametrize("words", ["an error of 0.57", "1,234 records", "all 4898 wines", "(0.5)", "12.5 %"])
def test_typed_numbers_are_recognised(words):
    assert typed_numbers(words)


@pytest.mark.parametrize(
    "words",
    ["Section 4.2", "§6.1", "Figs. 2 and 4", "Theorem 2.1", "in 2012", "the 20–80 % band", "Eq. (2.1)", "Python 3.11"],
)
def test_names_and_years_pass(words):
    assert not typed_numbers(words)


# The whole repository

TOOLS = {".git", ".venv", "_build", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "__pycache__"}
TOOLS |= {".ipynb_checkpoints"}
SYSTEM = ("/usr/", "/bin/", "/dev/", "/etc/", "/lib/", "/proc/")
TEXT = {".md", ".py", ".yml", ".yaml", ".toml", ".txt", ".in", ".cfg", ".cff", ".bib", ".css", ".ipynb", ".svg", ""}


@cache
def everything():
    """Every file of the repository, but what tools have made."""
    found = []
    for folder, inner, names in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in TOOLS and not name.endswith(".egg-info")]
        found += [Path(folder, name) for name in names if name != ".git" and not name.startswith(".coverage")]
    return found


def files():
    return [path for path in everything() if path.suffix in TEXT]


def test_no_file_names_a_place_on_one_machine():
    pattern = re.compile(r"""(?<![\w.)\]}>:/"'*$\\<~-])/[a-z][\w.-]*/[\w./-]*""")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in files()
        if path.name != "test_book.py"
        for match in pattern.finditer(path.read_text(encoding="utf-8", errors="replace"))
        if not match.group().startswith(SYSTEM)
    ]
    assert not found


def test_files_that_pages_name_exist():
    known = [path.relative_to(ROOT).as_posix() for path in everything()]
    for path in files():
        if path.suffix == ".md":
            for name in re.findall(r"`([\w/.-]+\.(?:md|py|yml|toml|csv|bib|txt))`", path.read_text(encoding="utf-8")):
                wanted = "/" + name.removeprefix("./")
                assert any(f"/{k}".endswith(wanted) for k in known), (
                    f"{path.relative_to(ROOT)} names {name}, which is not here"
                )


def test_every_reference_is_cited():
    entries = set(re.findall(r"^@\w+\{([^,\s]+),", (BOOK / "references.bib").read_text(encoding="utf-8"), re.MULTILINE))
    cited = {
        key.strip()
        for page in PAGES
        for keys in re.findall(r"\{cite\w*(?::\w+)*\}`([^`]+)`", text(page))
        for key in keys.split(",")
    }
    assert entries == cited, "cite each entry of references.bib, and enter what is cited"
