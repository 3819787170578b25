"""The machinery that guards the book's numbers, proved by breaking what it guards, one thing at a time.

Each test works on its own copy of a small book: the real configuration, hooks and checks, two made-up chapters.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pypdf
import pytest

from tools import publish

ROOT = Path(__file__).resolve().parents[2]
TAKEN = ("conftest.py", "pyproject.toml", "_config.yml", "_ext", "_extra", "tools", "tests/build/test_book.py")
TAKEN += ("book/_static", "book/bibliography.md")
TAKEN += ("dpreg", "lib/__init__.py", "lib/pages")

pytestmark = pytest.mark.slow

PLACES = '["lib", "tests", "book"]'
RAN = "part/second: "  # what a build says of a chapter that it has run

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

FIRST = """(ch-first)=
# First

As {cite:t}`small` says, and {eq}`eq-first-one` repeats, the scale is {glue:text}`scale`; see [the other](second.md).

$$ a = b $$ (eq-first-one)

```{code-cell} ipython3
:tags: [claim-sm-one]
from myst_nb import glue

from lib.pages import claims, report
from lib import small

claims.check("SM-ONE", scale=small.SCALE)
glue("scale", report.number(small.SCALE), display=False)
```

```{code-cell} ipython3
claims.box("part/first")
```
"""

SECOND = """(ch-second)=
# Second

```{code-cell} ipython3
from lib import small

print("a third of the factor:", round(small.FACTOR / 3, 4))
```

```{code-cell} ipython3
:tags: [hide-input]
print("sum of the data:", small.total())
```
"""

THIRD = """(ch-third)=
# Third

```{code-cell} ipython3
---
mystnb:
  figure:
    caption: A line.
    name: fig-third-line
  image:
    alt: A straight line that rises from the origin.
---
from lib.pages import plot, report

fig, (axes,) = plot.figure()
plot.curves(axes, [0, 1, 2], {"line": [0.0, 1.0, 2.0]}, xlabel="x", ylabel="y")
```

```{code-cell} ipython3
report.table(plot.numbers(axes))
```
"""

SMALL = '''"""A library of one constant and one file."""

from pathlib import Path

from tqdm import tqdm

SCALE = 2.5
FACTOR = 2.0


def total():
    text = (Path(__file__).parents[1] / "data" / "small.csv").read_text()
    return sum(float(line) for line in tqdm(text.split()))  # shows a bar by hand, and none in the book
'''

CLAIM = """- id: SM-ONE
  source: "001"
  place: Section 1
  kind: constant
  claim: The scale is two and a half.
  verdict: holds
  truth: It is.
  test: test_small.py::test_scale
  values: {scale: 2.5}
"""

OTHER_CLAIM = CLAIM.replace("SM-ONE", "SM-TWO")

MADE = {
    "_toc.yml": "format: jb-book\nroot: book/index\nchapters:\n  - file: book/part/first\n  - file: book/part/second\n"
    "  - file: book/part/third\n  - file: book/part/status\n  - file: book/gallery\n  - file: book/bibliography\n",
    "book/index.md": "# A small book\n\nIt has [one](part/first.md), [two](part/second.md), [three](part/third.md).\n"
    "They take {times}`part/first, part/third`, and settle {claim}`SM-ONE`.\n",
    "book/gallery.md": "# Gallery\n\nEvery figure:\n\n```{gallery}\n```\n",
    "book/part/first.md": HEADER + FIRST,
    "book/part/second.md": HEADER + SECOND,
    "book/part/third.md": HEADER + THIRD,
    "book/part/status.md": "# Status\n\nWhat the chapters took to run:\n\n```{nb-exec-table}\n```\n",
    "book/references.bib": "@article{small, author={Small, Ann}, title={Small}, journal={Small}, year={2012}}\n",
    "book/verdicts/claims/part/first.yml": CLAIM,
    "data/small.csv": "1\n2\n",
    "lib/small.py": SMALL,
    "tests/test_small.py": "from lib import small\n\n\ndef test_scale():\n    assert small.SCALE > 0\n",
}


def run(copy, *command, **more):
    """Run a command in the copy. The environment has this checkout's library installed, and must not use it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV_", "COVERAGE", "PYTHONPATH"))}
    env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "NO_COLOR": "1"} | more
    done = subprocess.run(command, cwd=copy, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def check(copy, where="", workers=0):
    command = [sys.executable, "-m", "pytest", "--nbval", "-n", str(workers), "-p", "no:cacheprovider"]
    return run(copy, *command, *where.split())


def build(copy, *options, **more):
    book = Path(sys.executable).parent / "jupyter-book"
    return run(copy, str(book), "build", ".", "-W", "-n", "--keep-going", *options, **more)


def edit(copy, name, old, new):
    path = copy / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"nothing to break: {old!r} is not in {name}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def edit_both(copy, page, old, new):
    """Edit a cell and its stored copy, as someone does who hides a change."""
    edit(copy, f"book/{page}.md", old, new)
    edit(copy, f"tests/reference/{page}.ipynb", json.dumps(old)[1:-1], json.dumps(new)[1:-1])


def edit_reference(copy, page, change):
    path = copy / f"tests/reference/{page}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    change(notebook["cells"])
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The small book with its references, and a built site."""
    copy = tmp_path_factory.mktemp("original") / "repository"
    for name in TAKEN:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, copy / name)
    for name, text in MADE.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text, encoding="utf-8")
    edit(copy, "pyproject.toml", '["dpreg", "lib", "tests", "book"]', PLACES)  # the engine is there to be imported
    code, output = run(copy, sys.executable, "tools/reference.py")
    assert code == 0, output
    return copy


@pytest.fixture
def copy(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "repository"))


def never_run(cells):
    cells[0]["execution_count"] = None


def forget_output(cells):
    cells[1]["outputs"] = []


def forget_cell(cells):
    del cells[-1]


FIRST_PAGE, SECOND_PAGE, THIRD_PAGE = (f"book/part/{name}.md" for name in ("first", "second", "third"))
TIMES = "---\ntags: [timing]\nmystnb:\n  figure:\n    caption: Times on the computer that made this page."
SECOND_STORED = "tests/reference/part/second.ipynb"
CLAIMS = "book/verdicts/claims/part/first.yml"
TEST_BOOK = "tests/build/test_book.py"


def swap(name, old, new):
    return lambda copy: edit(copy, name, old, new)


def swap_both(old, new, page="part/second"):
    return lambda copy: edit_both(copy, page, old, new)


def spoil(change):
    return lambda copy: edit_reference(copy, "part/second", change)


# What is broken, how, where a run notices it ("" is everywhere: a bare run), and what it must say.
SABOTAGE = {
    "a page without the jupytext header": (swap(SECOND_PAGE, HEADER, ""), "", "no jupytext header"),
    "a page that is not in the contents": (swap("_toc.yml", "  - file: book/part/second\n", ""), "", "not in _toc.yml"),
    "a page without reference": (lambda copy: (copy / SECOND_STORED).unlink(), "", "is missing"),
    "a reference that was never run": (spoil(never_run), "", "never run"),
    "a reference without a cell": (spoil(forget_cell), "", "does not match"),
    "a reference without an output": (spoil(forget_output), SECOND_PAGE, "Unexpected output"),
    "testpaths without the book": (
        swap("pyproject.toml", PLACES, '["lib", "tests"]'),
        "",
        "second.md: 0 of 2 cells were run",
    ),
    "a page ignored by an option": (
        swap("pyproject.toml", "--strict-markers", "--strict-markers --ignore=book/part/second.md"),
        "book",
        "second.md: 0 of 2 cells were run",
    ),
    "a cell deselected by an option": (
        swap("pyproject.toml", 'addopts = "', 'addopts = "--deselect=book/part/second.md::Cell\\\\ 1 '),
        "book",
        "second.md: 1 of 2 cells were run",
    ),
    "an edited cell": (swap(SECOND_PAGE, "FACTOR / 3", "FACTOR/3"), "", "does not match"),
    "a removed tag": (swap(SECOND_PAGE, ":tags: [hide-input]\n", ""), "", "does not match"),
    "a cell tagged to be skipped": (swap_both("hide-input", "nbval-skip"), "", "nbval-skip"),
    "a cell tagged to be ignored": (swap_both("hide-input", "nbval-ignore-output"), "", "nbval-ignore-output"),
    "a cell allowed to raise": (swap_both("hide-input", "raises-exception"), "", "raises-exception"),
    "a comment that switches the check off": (
        swap_both('print("sum', '# NBVAL_IGNORE_OUTPUT\nprint("sum'),
        "",
        "NBVAL_IGNORE_OUTPUT",
    ),
    "a printed number moved in its last digit": (swap(SECOND_STORED, "0.6667", "0.6668"), SECOND_PAGE, "mismatch"),
    "a cell that raises": (swap("lib/small.py", "    text", "    raise OSError\n    text"), SECOND_PAGE, "OSError"),
    "a cell that writes to stderr": (
        swap("lib/small.py", "    text", "    import sys\n    print(1, file=sys.stderr)\n    text"),
        SECOND_PAGE,
        "stderr",
    ),
    "a changed constant in lib": (swap("lib/small.py", "FACTOR = 2.0", "FACTOR = 2.001"), SECOND_PAGE, "0.667"),
    "a changed data file": (swap("data/small.csv", "2", "2.5"), SECOND_PAGE, "mismatch"),
    "a series scaled while it is drawn": (
        swap("lib/pages/plot.py", "np.asarray(values), label", "1.01 * np.asarray(values), label"),
        THIRD_PAGE,
        "mismatch",
    ),
    "a number of a claim moved": (swap(CLAIMS, "{scale: 2.5}", "{scale: 2.6}"), FIRST_PAGE, "the ledger says 2.6"),
    "a verdict of a claim changed": (
        swap(CLAIMS, "verdict: holds", "verdict: holds, but loose"),
        FIRST_PAGE,
        "mismatch",
    ),
    "a claim without a cell": (
        lambda copy: (copy / CLAIMS).with_name("second.yml").write_text(OTHER_CLAIM),
        TEST_BOOK,
        "SM-TWO",
    ),
    "a cell without a claim": (lambda copy: (copy / CLAIMS).write_text(OTHER_CLAIM), TEST_BOOK, "claim-sm-one"),
    "a claim without a test": (swap("tests/test_small.py", "test_scale", "test_other"), TEST_BOOK, "has no test_scale"),
    "a figure without its table": (swap(THIRD_PAGE, "plot.numbers(axes)", "axes"), TEST_BOOK, "plot.numbers"),
    "a figure of times that does not say whose": (
        swap(THIRD_PAGE, "---\nmystnb", "---\ntags: [timing]\nmystnb"),
        TEST_BOOK,
        "computer that made this page",
    ),
    "a table of times": (
        swap(THIRD_PAGE, "---\nmystnb:\n  figure:\n    caption: A line.", TIMES),
        TEST_BOOK,
        "a time cannot be compared",
    ),
}


def test_the_small_book_is_green(copy):
    code, output = check(copy)
    assert code == 0, output


@pytest.mark.parametrize("what", SABOTAGE)
def test_sabotage_turns_the_suite_red(copy, what):
    change, where, reason = SABOTAGE[what]
    change(copy)
    code, output = check(copy, where)
    assert code != 0, f"{what}: the suite stayed green\n{output}"
    assert reason in output, f"{what}: red, but not for this reason\n{output}"


def test_missing_chapters_are_noticed_in_the_run_of_make_test(copy):
    edit(copy, "pyproject.toml", PLACES, '["tests"]')
    code, output = check(copy, "-rs --cov --cov-report=term:skip-covered", workers=2)
    assert code != 0, output
    assert "first.md: 0 of 2 cells were run" in output


def test_a_selection_may_leave_chapters_out(copy):
    code, output = check(copy, "-k test_scale")
    assert code == 0, output


@pytest.fixture(scope="module")
def site(original, tmp_path_factory):
    """The small book, built once; its tests share the warm cache, and put back what they change."""
    copy = Path(shutil.copytree(original, tmp_path_factory.mktemp("site") / "repository"))
    shutil.rmtree(copy / "_build")  # what the references were made from
    code, output = build(copy, "--all")
    assert code == 0, output
    assert RAN in output
    return copy


@pytest.fixture
def restored(site):
    """The built copy; after the test its sources are the original ones again."""
    before = {path: path.read_bytes() for name in ("book", "lib", "data") for path in (site / name).rglob("*.*")}
    yield site
    for path, content in before.items():
        path.write_bytes(content)


def shown(site):
    return (site / "_build/html/book/part/second.html").read_text(encoding="utf-8")


def caches(site):
    return list((site / "_build/chapters").iterdir())


def test_build_again_uses_the_cache(restored):
    code, output = build(restored, "--all")
    assert code == 0, output
    assert RAN not in output, "nothing had changed, but a chapter ran again"
    assert "0.6667" in shown(restored)


def test_status_page_has_every_chapter_also_when_outputs_come_from_the_cache(restored):
    code, output = build(restored, "--all")
    assert code == 0, output
    page = (restored / "_build/html/book/part/status.html").read_text(encoding="utf-8")
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    titles = [table.index(f'"{name}.html"') for name in ("first", "second", "third")]
    assert titles == sorted(titles), "not in the order of the book"
    assert table.count("<tr") == len(titles) + 2
    assert "not measured" not in table


@pytest.mark.parametrize(
    ("options", "name", "old", "new", "number"),
    [
        ((), "lib/small.py", "FACTOR = 2.0", "FACTOR = 4.0", "a third of the factor: 1.3333"),
        (("--all",), "lib/small.py", "FACTOR = 2.0", "FACTOR = 5.0", "a third of the factor: 1.6667"),
        ((), "data/small.csv", "2", "5.5", "sum of the data: 6.5"),
    ],
    ids=["library", "library, all pages", "data"],
)
def test_build_never_shows_outputs_of_an_older(restored, options, name, old, new, number):
    assert number not in shown(restored)
    edit(restored, name, old, new)
    code, output = build(restored, *options)
    assert code == 0, output
    assert number in shown(restored), f"stale output after a change of {name}\n{output}"
    assert len(caches(restored)) == 1, "caches of older libraries pile up"


# What is wrong with a page, where, and what a build must say. The faults of a group are told apart in one build.
FAULTS = {
    "cells": {
        "raises": (SECOND_PAGE, "small.total()", "small.total() / 0", "ZeroDivisionError"),
        "has a figure that cannot be drawn": (
            THIRD_PAGE,
            'xlabel="x"',
            'xlabel="$\\\\frac{$"',
            "cell 0 shows an error",
        ),
        "misses its claim": ("lib/small.py", "SCALE = 2.5", "SCALE = 2.6", "LedgerError"),
    },
    "stderr": {
        "writes to stderr": (
            SECOND_PAGE,
            'print("sum of',
            'import sys; print("x", file=sys.stderr); print("sum',
            "stderr",
        ),
    },
    "text": {
        "has a broken reference": (
            "book/index.md",
            "# A small book\n",
            "# A small book\n\nSee {eq}`eq-none`.\n",
            "eq-none",
        ),
        "has a broken link": ("book/index.md", "part/first.md", "part/gone.md", "part/gone.md"),
        "cites what is not there": ("book/index.md", "It has", "{cite:t}`nobody` It has", "nobody"),
        "names a claim that is not there": ("book/index.md", "{claim}`SM-ONE`", "{claim}`SM-GONE`", "SM-GONE"),
        "shows a key that no cell glued": (FIRST_PAGE, "{glue:text}`scale`", "{glue:text}`unglued`", "unglued"),
    },
    "times": {
        "times a page that is not there": ("book/index.md", "part/first, part", "part/never, part", "part/never"),
    },
}


@pytest.mark.parametrize("group", FAULTS)
def test_build_fails_for_every_page_that(restored, group):
    for name, old, new, _ in FAULTS[group].values():
        edit(restored, name, old, new)
    code, output = build(restored, "--all")
    assert code != 0, f"built without complaint: {group}\n{output}"
    silent = [what for what, (*_, reason) in FAULTS[group].items() if reason not in output]
    assert not silent, output


def page(site, name):
    return (site / "_build/html/book" / f"{name}.html").read_text(encoding="utf-8")


THUMBNAIL = re.compile(r'internal" href="([^"]*)"><img loading="lazy" alt="([^"]*)" src="../([^"]*)" /><span>([^<]*)')


@pytest.mark.parametrize("caption", ["A line.", "A straight line."], ids=["all pages", "one page has changed"])
def test_the_gallery_has_what_the_build_drew(restored, caption):
    edit(restored, THIRD_PAGE, "caption: A line.", f"caption: {caption}")
    code, output = build(restored)
    assert code == 0, output
    ((target, alt, picture, shown),) = THUMBNAIL.findall(page(restored, "gallery"))
    assert (target, shown) == ("part/third.html#fig-third-line", caption)
    assert alt == "A straight line that rises from the origin."
    assert (restored / "_build/html" / picture).exists()
    assert picture in page(restored, "part/third")


def test_the_search_has_the_texts_as_they_are_read(restored):
    edit(restored, SECOND_PAGE, "# Second", "# Second, changed")
    code, output = build(restored)  # only what changed is written again
    assert code == 0, output
    script = (restored / "_build/html/_static/texts.js").read_text(encoding="utf-8")
    texts = json.loads(script.partition("= ")[2].partition(";\n")[0])
    assert "As Small [2012] says" in texts["book/part/first"]
    assert "the scale is 2.5; see the other." in texts["book/part/first"]
    assert '<section id="second-changed" class="">Second, changed ' in texts["book/part/second"]
    search = (restored / "_build/html/search.html").read_text(encoding="utf-8")
    assert "_static/texts.js" in search
    assert "_static/texts.js" not in page(restored, "part/first")


def test_times_and_claims_in_the_text(restored):
    first = page(restored, "index")
    assert "They take about 5 minutes to read, 1 minute to run, and" in first
    assert '<a class="claim reference internal" href="verdicts/ledger.html#sm-one">SM-ONE</a>' in first


def titles(outline):
    """All entries of an outline of a PDF."""
    for entry in outline:
        yield from titles(entry) if isinstance(entry, list) else [entry.title]


@pytest.mark.browser
@pytest.mark.skipif(publish.chromium() is None, reason="no Chromium; with CI=true test_browser.py fails for that")
def test_the_book_can_be_printed(restored):
    code, output = run(restored, sys.executable, "tools/publish.py", "pdf")
    assert code == 0, output
    printed = pypdf.PdfReader(restored / "_build" / "book.pdf")
    text = "\n".join(page.extract_text() for page in printed.pages)
    assert "a third of the factor: 0.6667" in text
    assert "small.total()" in text, "what is folded on a page must be printed"
    assert {"A small book", "First", "Second", "Third", "Gallery"} <= set(titles(printed.outline))
    links = [link.get_object() for page in printed.pages for link in page.get("/Annots", [])]
    assert sum("/Dest" in link for link in links) > 5, "links between pages lead to places in the file"
    assert not [link for link in links if str(link.get("/A", {}).get("/URI", "")).startswith("file:")]
    assert sum(len(page.images) for page in printed.pages) >= 2


LAUNCH = re.compile(r'href="(https://[^"]*(?:binder|colab)[^"]*)"')


def test_every_chapter_can_be_downloaded_as_text_and_as_a_notebook(restored):
    """And is launched from nowhere, while the address of the repository is not known."""
    first = page(restored, "part/first")
    assert LAUNCH.findall(first) == []
    for name in ("first.md", "first.ipynb"):
        assert f'href="../../_sources/book/part/{name}"' in first
        assert (restored / "_build/html/_sources/book/part" / name).exists()
    notebook = json.loads((restored / "_build/html/_sources/book/part/first.ipynb").read_text(encoding="utf-8"))
    assert "SM-ONE (holds): scale = 2.5" in json.dumps(notebook["cells"])
    assert "colab" not in json.dumps(notebook)
    assert 'part/status.ipynb"' not in page(restored, "part/status"), "a page without cells is no notebook"


def test_an_address_in_one_place_launches_every_chapter_as_a_notebook(restored):
    before, address = (restored / "_config.yml").read_text(encoding="utf-8"), "https://github.com/user/name"
    edit(restored, "_config.yml", '  url: ""', f"  url: {address}")
    code, output = build(restored)
    (restored / "_config.yml").write_text(before, encoding="utf-8")
    assert code == 0, output
    assert LAUNCH.findall(page(restored, "part/first")) == [
        "https://mybinder.org/v2/gh/user/name/main?urlpath=lab/tree/book/part/first.md",
        "https://colab.research.google.com/github/user/name/blob/gh-pages/_sources/book/part/first.ipynb",
    ]
    assert LAUNCH.findall(page(restored, "part/status")) == []
    path = restored / "_build/html/_sources/book/part/first.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert f"git clone --quiet --depth 1 --branch main {address} " in "".join(notebook["cells"][0]["source"])


def test_what_failed_is_not_kept_and_the_next_build_is_good(restored):
    edit(restored, THIRD_PAGE, 'xlabel="x"', 'xlabel="$\\\\frac{$"')
    assert build(restored)[0] != 0
    assert build(restored)[0] != 0, "a broken figure was kept"
    edit(restored, THIRD_PAGE, 'xlabel="$\\\\frac{$"', 'xlabel="x"')
    code, output = build(restored)
    assert code == 0, output


def test_kept_outputs_are_compared_without_another_run(restored):
    """As `make test` does after `make book`."""
    build(restored)
    compare = [sys.executable, "-m", "pytest", "--nbval", "--kept", "-n", "0", "-p", "no:cacheprovider", "book"]
    code, output = run(restored, *compare)
    assert code == 0, output
    edit(restored, SECOND_STORED, "0.6667", "0.6668")
    code, output = run(restored, *compare)
    assert code != 0
    assert "mismatch" in output
    edit(restored, SECOND_STORED, "0.6668", "0.6667")
    edit(restored, "lib/small.py", "FACTOR = 2.0", "FACTOR = 3.0")
    code, output = run(restored, *compare)
    assert code != 0
    assert "`make book` runs it" in output


def test_nobodys_own_settings_reach_the_book(restored, tmp_path):
    """TeX in a matplotlibrc, a foreign kernel that cannot start, an IPython that fails, a home that is no folder."""
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "matplotlibrc").write_text("text.usetex: True\nfont.family: no such font\n")
    (tmp_path / "kernels" / "python3").mkdir(parents=True)
    foreign = {"argv": ["/no/such/python"], "display_name": "Python 3", "language": "python"}
    (tmp_path / "kernels" / "python3" / "kernel.json").write_text(json.dumps(foreign))
    (tmp_path / "profile_default" / "startup").mkdir(parents=True)
    (tmp_path / "profile_default" / "startup" / "00.py").write_text("raise SystemExit(1)\n")
    shutil.rmtree(restored / "_build")
    code, output = build(
        restored,
        MPLCONFIGDIR=str(tmp_path / "matplotlib"),
        MATPLOTLIBRC=str(tmp_path / "matplotlib" / "matplotlibrc"),
        MPLBACKEND="no such backend",
        JUPYTER_PATH=str(tmp_path),
        IPYTHONDIR=str(tmp_path),
        PYTHONPATH=str(tmp_path),
        HOME=os.devnull,
        LANG="tr_TR.UTF-8",
    )
    assert code == 0, output
