"""The API reference: all of the engine is in it, and names lead to it and back."""

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

from tools import chapters

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
reference = importlib.import_module("reference")

PAGES = {page: page.read_text(encoding="utf-8") for page in (ROOT / "book" / "reference").glob("*.md")}
MODULES = sorted(name for name in reference.modules() if reference.modules()[name].body and name.count("."))
CODE = re.compile(r"\b00[0-4]\b")


def test_every_module_stands_in_the_reference_once():
    shown = sorted(module for text in PAGES.values() for module in re.findall(r"automodule:: (\S+)", text))
    rooms = [name for name in MODULES if (ROOT / name.replace(".", "/")).is_dir()]
    wanted = {name for name in MODULES if name not in rooms}
    assert not (lost := wanted - set(shown)), f"no page of book/reference has {lost}: add an automodule to its room's"
    assert not (gone := set(shown) - wanted), f"{gone} no longer exist"
    assert len(shown) == len(wanted), "these pages show a module twice"
    assert {page.resolve() for page in PAGES} <= set(chapters.pages())


def test_every_module_stands_in_the_rooms_of_the_developers_page():
    text = (ROOT / "book" / "practice" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("## Rooms")[2].partition("\n## ")[0]
    shown = re.findall(r"`(\w+)`", "".join(row.split("|")[2] for row in table.splitlines() if row.startswith("| ")))
    files = [file for part in ("dpreg", "lib") for file in (ROOT / part).rglob("*.py") if file.stem != "__init__"]
    lost = set(file.stem for file in files) - set(shown)
    assert not lost, f"{lost} have no row in the table of rooms in book/practice/architecture.md: add one"
    assert sorted(shown) == sorted(file.stem for file in files), "the table of rooms names what is not there, or twice"


def documented():
    for module, tree in reference.modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{module}.{node.name}", ast.get_docstring(node) or ""


def test_a_docstring_that_quotes_a_paper_says_which_one_it_is():
    key = "\n".join(line for line in ast.get_docstring(reference.modules()["dpreg"]).splitlines() if line[:2] == "* ")
    assert sorted(CODE.findall(key)) == ["000", "000", "001", "002", "003", "004"]  # 002 are the slides to 000
    quoting = 0
    for name, doc in documented():
        prose, _, rest = re.sub(r"^ *(>>>|\.\.\.).*$", "", doc, flags=re.M).partition("References\n----------\n")
        codes = set(CODE.findall(prose)) | set(CODE.findall(rest.partition("Examples\n")[2]))
        listed = set(re.findall(r"^\* (00[0-4]): .+\.$", rest.partition("\n\n")[0], re.M))
        assert codes <= listed, f"{name} has no References section, or not of all it quotes"
        quoting += bool(codes)
    assert quoting > 30


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("|x| and 2 * y", r"\|x\| and 2 \* y"),
        ("theta_ and `theta_`", r"theta\_ and `theta_`"),
        ("coef_, intercept_ : arrays of |x|", r"coef_, intercept_ : arrays of \|x\|"),
        ("* 001: a * b", r"* 001: a \* b"),
        ("a sentence: with x_j", "a sentence: with x_j"),
    ],
)
def test_plain_text_stays_plain(line, text):
    assert reference.escaped(line) == text


def test_short_names_mean_one_thing():
    names = reference.names()
    assert names["certify"] == "dpreg.pipeline.laws.certify"
    assert names["repair.trim"] == names["trim"] == "dpreg.pipeline.repair.trim"
    assert names["Box.clip"] == "dpreg.pipeline.domain.Box.clip"
    assert names["release"] == "dpreg.pipeline.release.release"
    assert not {"wishart", "logistic"} & set(names)  # modules, and functions of other modules
    assert "clip" not in names  # of Box, of Ball, of Domain


@pytest.mark.thorough
def test_what_a_chapter_calls_is_found():
    called = reference.called()
    assert set(called) <= {page.relative_to(ROOT).with_suffix("").as_posix() for page in chapters.chapters()}
    assert "dpreg.pipeline.laws.certify" in called["book/mechanisms/linear"]
    assert "dpreg.audit.search.worst_pair" in called["book/mechanisms/sensitivity"]
    everything = {name for used in called.values() for name in used}
    assert len(everything) > 100
    assert everything <= set(reference.names().values())
